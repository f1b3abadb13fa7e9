/* Values as they are in files: their fields, little-endian, one after the other (docs/files/file-format.md). */
#ifndef REEF_FILE_PACK_H
#define REEF_FILE_PACK_H

#include "type/type.h"
#include "reef/type.h"

/* Can values of the type be written? OK; NOT_COPYABLE: they own something and have no fields; NOT_PORTABLE: they
 * have no fields, and `raw` isn't allowed. */
reef_status reef__pack_allowed(const type *t, bool raw);
/* Bytes of one value in a file: 0 for what isn't written (tags, what a copy of the world doesn't get, what isn't
 * allowed). */
uint32_t reef__pack_bytes(const type *t, bool raw);
/* n values that lie side by side in memory, one after the other; the type isn't flat. */
void reef__pack_values(const type *t, unsigned char *to, const void *from, size_t n);
/* One field of a value. */
void reef__pack_field(const reef_field *f, unsigned char *to, const unsigned char *from);
/* Would both be the same in the file? */
bool reef__pack_equal(const type *t, const void *p, const void *q);

#endif
