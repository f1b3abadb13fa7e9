/* Dives that several players share, in a window: --two on one machine, --host and --join over UDP. */
#ifndef DIVE_WINDOW_SEVERAL_H
#define DIVE_WINDOW_SEVERAL_H

#include "script.h"
#include <SDL.h>
#include <reef/pool.h>

typedef struct shared {
    uint64_t seed;
    bool two;               /* both halves of the window, over a simulated line */
    const char *address;    /* hosts, and says where others reach it; NULL: it doesn't host */
    const char *invitation; /* joins; NULL: it doesn't */
    uint16_t port;
    uint32_t round_ms, loss_percent; /* of the simulated line, at the beginning; there and back */
} shared;

/* Plays until the window is closed. With a script, the second player of two is a bot. False: something failed, and
 * stderr says what. */
bool shared_play(const shared *o, SDL_Window *window, reef_pool *pool, script *from);

/* Is this a recording of such a dive? */
bool shared_recorded(const char *path);
/* Shows it. Where it says that two programs differed, it stops before that tick. */
bool shared_replay(const char *path, SDL_Window *window, reef_pool *pool, script *from);

#endif
