/* The bytes that a value has on every machine: its fields one after the other, little-endian, or all of its bytes if
 * the type has no fields. Files contain them (docs/files/file-format.md), and the state hash is taken of them. */
#ifndef REEF_TYPE_PORTABLE_BYTES_H
#define REEF_TYPE_PORTABLE_BYTES_H

#include "type/type.h"
#include "reef/type.h"

/* Is the value in memory what its portable bytes are? True for a type without fields, and for one whose fields fill it
 * without gaps on a little-endian machine. */
bool reef__type_is_flat(const type *t);
/* The number of portable bytes of a value. */
uint32_t reef__portable_size(const type *t);
/* Copies elements of a kind that take `bytes` bytes, from memory or to memory. */
void reef__portable_copy(reef_kind kind, unsigned char *to, const unsigned char *from, size_t bytes);
/* Writes the portable bytes of n values that lie side by side in memory. */
void reef__portable_values(const type *t, unsigned char *to, const void *from, size_t n);

#endif
