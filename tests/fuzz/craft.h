/* Crafting files: a file is taken apart into its sections, values in them are changed, and it is put together again
 * with right sums. So readers see files that lie in any place, and that no sum gives away. Which value means what
 * follows from docs/files/file-format.md. */
#ifndef REEF_TESTS_FUZZ_CRAFT_H
#define REEF_TESTS_FUZZ_CRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct craft_bytes {
    unsigned char *data;
    size_t size;
} craft_bytes;

/* A number below n; n > 0. The seed goes on. */
uint32_t craft_below(uint64_t *seed, uint32_t n);

/* A whole number that is likely to lead astray where `was` stood: at an edge of a type, near `was`, or any. */
uint64_t craft_number(uint64_t *seed, uint64_t was);

/* Makes a file by a few changes of `file`. `other` is a file from which sections and elements may come; it may be the
 * same. The caller frees the data. */
craft_bytes craft_file(craft_bytes file, craft_bytes other, uint64_t *seed);

/* Changes some bytes of anything by numbers of 1 to 8 bytes, cuts it or repeats a part of it. */
craft_bytes craft_blob(craft_bytes blob, uint64_t *seed);

/* A copy of bytes. */
craft_bytes craft_copy(const void *data, size_t size);

#endif
