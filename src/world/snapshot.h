/* The inside of a snapshot, and what other files do with whole states: walk their containers, take a world aside,
 * exchange the states of two worlds. */
#ifndef REEF_WORLD_SNAPSHOT_H
#define REEF_WORLD_SNAPSHOT_H

#include "storage/cow_pages.h"
#include "storage/sparse_store.h"
#include "reef/detail/layout.h"
#include "reef/snapshot.h"

struct reef_snapshot {
    family *family;
    family_member member; /* in the list of all snapshots */
    reef_world_config config;
    uint64_t moved, destroyed;
    uint64_t converted; /* which conversion of the process made it what it is, from 1; 0: it is as it was taken */
    struct schedule *schedule;  /* for forks of the snapshot */
    struct query_list *queries; /* with which they begin; NULL: there are none */
    uint64_t script_serial;     /* of the script reader; 0: there is none */
    reef_hot hot;
    state state;
};

/* A fork, and a fork of a snapshot, from which the world may take its state back. They have the log of removals, with
 * which a user's fork doesn't begin. NULL as for reef_fork. */
reef_world *reef__world_restorable(reef_world *w);
reef_world *reef__snapshot_restorable(const reef_snapshot *s);
/* `a` holds what `b` held, whose types became others; b is to be freed then. Both are of one family. */
void reef__snapshot_become(reef_snapshot *a, reef_snapshot *b);
/* An empty world of the same family, configuration and schedule. NULL: no memory. */
reef_world *reef__world_blank(reef_world *w);

/* Exchanges the states of two worlds of one family. Nothing is copied, so it can't fail. Values of types that a rewind
 * leaves alone go with their state, unless reef__skips_move (fork_policy.h) comes first. */
void reef__state_exchange(reef_world *w, reef_world *other);

/* Gives `w` the state of `other`, a world of its family; `other` gets that of `w` and is freed with it. An entity that
 * has a value of a REEF_FORK_SKIP type in both worlds keeps the one of `w`, and with `resets_too` so it is for
 * REEF_FORK_RESET types. False: no memory; both worlds are as before. */
bool reef__world_adopt(reef_world *w, reef_world *other, bool resets_too);

/* The bytes that a snapshot holds and the state after it doesn't. One comparison for each container, page and block
 * finds what wasn't written in between. */
uint64_t reef__snapshot_beyond(reef_snapshot *s, reef_hot *next_hot, state *next);

#endif
