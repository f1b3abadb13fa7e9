/* Dives of several players that were recorded: played again without a session, tick by tick. */
#ifndef DIVE_PAST_H
#define DIVE_PAST_H

#include "game.h"
#include <reef_net_recording.h>

typedef struct past {
    game now;
    reef_net_recording *recording;
    reef_net_recorded about;
    uint64_t tick; /* the next one */
} past;

/* Is the file such a recording? */
bool past_is(const char *path);
/* Reads it and loads the state that it begins with. False: `why`, which has room for REEF_NET_REASON_MAX bytes, says
 * what failed; past_end is still allowed. */
bool past_begin(past *p, const char *path, reef_pool *pool, char *why);
/* Plays the next tick. False: there is none, or it can't be played. */
bool past_tick(past *p);
void past_end(past *p);

#endif
