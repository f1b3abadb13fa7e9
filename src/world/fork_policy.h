/* What a copy of the world doesn't get: see reset.c. */
#ifndef REEF_WORLD_FORK_POLICY_H
#define REEF_WORLD_FORK_POLICY_H

#include "storage/family.h"
#include "reef/type.h"

typedef struct resets {
    struct reset *list; /* of columns */
    uint32_t count, room;
    struct store_reset *stores;
    uint32_t store_count, store_room;
} resets;

/* Around sharing a state. Places default values; false: no memory, or a hook refused: nothing changed. */
bool reef__resets_place(reef_world *w, resets *r);
/* The world has its own values again; false: no memory: then the copy must go, and reef__resets_undo follows. */
bool reef__resets_take_back(reef_world *w, resets *r);
void reef__resets_undo(reef_world *w, resets *r);

/* Has the world values in stores of types that reset? */
bool reef__stores_reset(const reef_world *w);

/* Values of REEF_FORK_SKIP types, with `resets_too` those of REEF_FORK_RESET types too, of entities that have them
 * in both worlds, change places. False: no memory, nothing changed. */
bool reef__skips_move(reef_world *now, reef_world *then, bool resets_too);

/* The same in two steps. Room for a value, and such columns of `then` its own: false: no memory. Then values can
 * change places whatever becomes of the other world meanwhile. */
typedef struct skips_room {
    void *value; /* NULL: there is no such type */
    size_t bytes;
} skips_room;

bool reef__skips_prepare(reef_world *then, skips_room *room);
void reef__skips_commit(reef_world *now, reef_world *then, const skips_room *room);
void reef__skips_free(family *f, skips_room *room);

#endif
