/* The inside of a snapshot, for src/snapshot.c and src/history.c. */
#ifndef REEF_SNAPSHOT_INTERNAL_H
#define REEF_SNAPSHOT_INTERNAL_H

#include "change.h"

struct reef_snapshot {
    family           *family;
    reef_world_config config;
    uint64_t          moved, destroyed;
    reef_hot          hot;
    state             state;
};

/* Container i of a state, with the kind of its pages; false behind the last. */
bool part_at(reef_hot *h, state *s, uint32_t i, reef_paged **part, const paged_type **kind);

/* The states of two worlds of one family change places; nothing is copied, so it can't fail. Values of types that a rewind
 * leaves alone go with their state: skips_move (reset.h) comes first. */
void state_exchange(reef_world *w, reef_world *other);

#endif
