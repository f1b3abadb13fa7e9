/* Large blocks of the tests' allocators, kept for the next one of their size. A world begins with pieces of 256 KiB and
 * of 2 MiB, and a sweep makes thousands of worlds: fresh memory costs a fault for each page, and with the address
 * sanitizer a mapping and its shadow as well. Nobody may touch a block while it is kept: the sanitizer is told. */
#ifndef KEPT_H
#define KEPT_H

#include <stdbool.h>
#include <stddef.h>

/* A block with this alignment and size that was kept, with any bytes in it; NULL: there is none. */
void *kept_take(size_t align, size_t bytes);
/* False: the block isn't kept, and the caller frees it. */
bool kept_give(void *block, size_t align, size_t bytes);

#endif
