/* Hashing bytes and values: the parts of the state hash that others use. */
#ifndef REEF_WORLD_STATE_HASH_H
#define REEF_WORLD_STATE_HASH_H

#include "type/type.h"
#include "reef/type.h"

/* Do the bytes of a value, as they lie in memory, stand for it? (Else its fields do, one after the other.) */
bool reef__type_is_flat(const type *t);

/* What the hash covers of time; 0 when the world never ticked and has no seed. */
uint64_t reef__clocks_hash(const reef_world *w);

#endif
