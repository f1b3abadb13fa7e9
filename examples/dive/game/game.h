/* The game: a world with its systems. Everything that happens is in reef_tick; this file makes worlds and forks them.
 *
 *     game g;
 *     if (!game_new(&g, seed, pool)) ...
 *     game_tick(&g, &(Input){.move = {100, 0}});
 *     game_free(&g);
 *
 * The world is all that there is: it can be forked, saved, rewound and compared like any other value. */
#ifndef DIVE_GAME_H
#define DIVE_GAME_H

#include "creatures.h"
#include <reef/module.h>
#include <reef/pool.h>

typedef struct game {
    reef_world *world;
} game;

/* What happens in a tick (rules.c): each world of the game uses it. */
extern const reef_module dive_rules;

/* A world at the start of a dive. The same seed gives the same sea. The pool may be NULL. False: no memory; here and
 * below, reef_last_error(g->world) says more where there is a world. */
bool game_new(game *g, uint64_t seed, reef_pool *pool);
/* A world with systems and without a sea, for loading a file. Call game_wake when it is loaded. */
bool game_blank(game *g, reef_pool *pool);
/* False also if what was loaded isn't a dive. */
bool game_wake(game *g);
/* Another world with the same state; of a snapshot's state. */
bool game_fork(game *g, game *from);
bool game_fork_snapshot(game *g, const reef_snapshot *from);
/* NULL and freed games are allowed. */
void game_free(game *g);

/* A tick of 1/60 second. */
reef_status game_tick(game *g, const Input *in);
/* The same as a reef_step, for histories: `input` is an Input; the context isn't used. */
reef_status game_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t input_bytes);

#endif
