/* The parts of the state hash that other files use. reef_hash itself is public (reef/snapshot.h). */
#ifndef REEF_WORLD_STATE_HASH_H
#define REEF_WORLD_STATE_HASH_H

#include "type/type.h"
#include "reef/type.h"

/* The hash of ticks, time, seed and clocks. 0: the world never ticked and has no seed. */
uint64_t reef__clocks_hash(const reef_world *w);

#endif
