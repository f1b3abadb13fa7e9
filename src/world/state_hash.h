/* Hashing bytes and values: the parts of the state hash that others use. */
#ifndef REEF_HASH_H
#define REEF_HASH_H

#include "storage/table.h"

uint64_t hash_bytes(const void *bytes, size_t count);
uint64_t number_hash(uint64_t number); /* a bijection: 0 stays 0 */
/* Do the bytes of a value, as they lie in memory, stand for it? (Else its fields do, one after the other.) */
bool type_is_flat(const type *t);

#endif
