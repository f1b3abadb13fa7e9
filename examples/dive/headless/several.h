/* A dive with several players, without a window: bots play, in this process or over UDP. */
#ifndef DIVE_SEVERAL_H
#define DIVE_SEVERAL_H

#include "game.h"
#include <reef/pool.h>

typedef struct several {
    uint64_t seed, ticks;
    uint32_t players;                 /* in this process, over a simulated line; 0: one, over UDP */
    uint32_t round_ms, jitter_ms;     /* of the simulated line: there and back, and how much longer at most */
    uint32_t loss;                    /* of 1,000 datagrams */
    bool times;                       /* prints how long frames took */
    uint64_t creatures;               /* so many from the beginning; 0: as in a dive */
    const char *invitation, *address; /* over UDP: of whom it joins (NULL: it hosts); where others reach the host */
    uint16_t port;
    uint64_t silence_ms; /* over UDP: who isn't heard for so long is dropped; 0: the session's default */
    const char *record;  /* the session is recorded there; NULL: nowhere */
    const char *desync;  /* if worlds differ, a recording of that is written there; NULL: nowhere */
} several;

/* Plays until `ticks` are confirmed, and prints the state. False: something failed, and stderr says what. */
bool several_play(const several *s, reef_pool *pool);

/* Is this such a recording? */
bool several_recorded(const char *path);
/* Plays it up to a tick (0: all) and prints the hash of the state. */
bool several_replay(const char *path, uint64_t until, reef_pool *pool);

#endif
