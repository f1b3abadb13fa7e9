/* Looking inside a dive with the browser: --inspect (docs/manual/inspector.md). Where the add-on reef_inspector isn't
 * built, look_begin refuses. */
#ifndef DIVE_LOOK_H
#define DIVE_LOOK_H

#include "game.h"
#include <reef/replay.h>

typedef struct look_config {
    uint16_t port; /* 0: any */
    /* The program does nothing but tick: it begins when the page is opened, plays in real time, and may be held. */
    bool waits;
    /* the input with which this world plays its next tick: that of the dive, or a fork of it, also of its past */
    Input (*input)(void *context, reef_world *w);
    reef_status (*next)(void *context); /* plays the next tick of the dive itself, for speeds above 1 */
    void *context;
} look_config;

typedef struct look look;

/* Starts the inspector of this world and says where its page is. NULL: `why` says why not; it has room for 200. */
look *look_begin(reef_world *w, const look_config *config, char *why);
/* Call it after each tick, and in each frame without one. NULL is allowed here and below. */
void look_tick(look *l);
/* The dive is in another world now; NULL: its world is going to be freed. */
void look_turn_to(look *l, reef_world *w);
/* The last seconds were played again with other rules: the page shows what came of both. */
void look_replayed(look *l, reef_replay *r);
/* The dive is over: is the page still open, so that it may be sent back? Waits a little, and looks after the page. */
bool look_stays(look *l);
void look_end(look *l);

#endif
