/* A small game for the tests of reef_net: each player steers an avatar and fires shots, which fly, push others and end.
 * Entities are born and die in most ticks, and what happens depends on all inputs. */
#ifndef REEF_TESTS_NET_GAME_H
#define REEF_TESTS_NET_GAME_H

#include "reef_net.h"
#include "reef_net_sim.h"
#include <reef.h>
#include <reef/all.h>

typedef struct Keys {
    int8_t x, y;
    uint8_t fire;
} Keys;

typedef struct net_game {
    uint64_t seed, samples;  /* of this player's inputs */
    uint64_t confirmed;      /* as of the last update: earlier ticks must not be played again */
    uint64_t steps, late;    /* late: steps of confirmed ticks */
    uint64_t births, deaths; /* in ticks that were played again */
    uint64_t played_until;   /* ticks before this were played before */
    bool other_rule;         /* a system gives one unit in the last place more */
    bool fails;              /* the next step fails */
    void (*record)(void *context, const reef_net_tick *tick);
    void *record_context;
} net_game;

enum { NET_GAME_SHOT = 1, NET_GAME_END };

reef_component net_game_input(void);
/* Adds the systems. */
void net_game_begin(reef_world *world, const net_game *game);
reef_status net_game_step(void *context, reef_world *world, const reef_net_tick *tick);
void net_game_sample(void *context, void *input);
/* A signer whose keys only these tests can't take for each other: it shows who signs what, and keeps nobody out. */
reef_net_signer net_game_signer(uint64_t seed);

#endif
