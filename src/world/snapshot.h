/* The inside of a snapshot, for src/world/snapshot.c and src/time/history.c. */
#ifndef REEF_WORLD_SNAPSHOT_H
#define REEF_WORLD_SNAPSHOT_H

#include "storage/cow_pages.h"
#include "storage/family.h"
#include "storage/sparse_store.h"
#include "storage/state.h"
#include "reef/detail/layout.h"
#include "reef/snapshot.h"

struct reef_snapshot {
    family *family;
    reef_world_config config;
    uint64_t moved, destroyed;
    struct schedule *schedule; /* for forks of it */
    uint64_t script_serial;    /* of the reader of scripts, 0: none */
    reef_hot hot;
    state state;
};

/* A container of a state, with what its calls need. */
typedef struct state_part {
    reef_paged *pages;
    paged_owner owner;
    store_pages values; /* of a store's pages of values: the owner points here */
} state_part;

/* Number i of them; false behind the last. */
bool reef__part_at(family *f, reef_hot *h, state *s, uint32_t i, state_part *part);

/* The number in state `to` of what is container i of `from`: that of no container where `to` has no such one. */
uint32_t reef__part_like(const state *from, uint32_t i, const state *to);

/* A fork and a fork of a snapshot from which the world may take its state back: with the log of removals. (A fork of
 * the user's begins without one.) NULL as for reef_fork. */
reef_world *reef__world_aside(reef_world *w);
reef_world *reef__snapshot_aside(const reef_snapshot *s);
/* A world of the same family, config and schedule without anything in it. NULL: no memory. */
reef_world *reef__world_blank(reef_world *w);

/* The states of two worlds of one family change places; nothing is copied, so it can't fail. Values of types that a
 * rewind leaves alone go with their state: reef__skips_move (reset.h) comes first. */
void reef__state_exchange(reef_world *w, reef_world *other);

/* `w` gets the state of `aside`, a world of its family, and `aside` that of `w`, to be freed with it. Entities that
 * have a value of a REEF_FORK_SKIP type in both, with `resets_too` also of a REEF_FORK_RESET type, keep the one that
 * they have in `w`. False: no memory; both are as before. */
bool reef__world_adopt(reef_world *w, reef_world *aside, bool resets_too);

/* A holder of this state leaves; it is empty afterwards. (src/world/snapshot.c) */
void reef__state_drop(family *f, reef_hot *h, state *s);

#endif
