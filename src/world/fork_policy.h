/* Values that a snapshot or fork doesn't get, or that a rewind leaves alone (reef_on_fork). fork_policy.c explains
 * both. */
#ifndef REEF_WORLD_FORK_POLICY_H
#define REEF_WORLD_FORK_POLICY_H

#include "storage/family.h"
#include "reef/type.h"

typedef struct resets {
    struct reset *list; /* blocks of columns */
    uint32_t count, room;
    struct store_reset *stores;
    uint32_t store_count, store_room;
} resets;

/* Comes before the state is shared: default values take the place of the world's own. False: no memory, or a hook
 * refused; nothing changed. */
bool reef__resets_place(reef_world *w, resets *r);
/* Comes after the state was shared: the world takes its own values back. False: no memory; the caller frees the copy
 * and then calls reef__resets_undo. */
bool reef__resets_take_back(reef_world *w, resets *r);
void reef__resets_undo(reef_world *w, resets *r);

/* Does the world have values in stores whose types reset? */
bool reef__stores_reset(const reef_world *w);

/* Exchanging the values of REEF_FORK_SKIP types of all entities that have such a value in both worlds, in two steps.
 * Preparing takes room for one value and makes such columns and stores of `then` its own (false: no memory). Committing
 * can't fail, whatever happens to the other world in between. */
typedef struct skips_room {
    void *value; /* room for one value; NULL: there is no such type */
    size_t bytes;
    bool resets_too; /* values of REEF_FORK_RESET types as well */
} skips_room;

bool reef__skips_prepare(reef_world *then, skips_room *room);
void reef__skips_commit(reef_world *now, reef_world *then, const skips_room *room);
void reef__skips_free(family *f, skips_room *room);
/* Both steps. False: no memory; nothing changed. */
bool reef__skips_move(reef_world *now, reef_world *then, bool resets_too);

#endif
