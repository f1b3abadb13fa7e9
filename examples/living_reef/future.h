/* A future: an ecosystem that plays, and what is recorded of it. There is one until the world is forked, half way; then
 * there are two, which share nothing but what reef shares between a world and its fork. */
#ifndef LIVING_REEF_FUTURE_H
#define LIVING_REEF_FUTURE_H

#include "options.h"
#include "record.h"

typedef struct report report; /* what the person at the screen sees: report.h */

typedef struct future {
    ecosystem e;
    record    taken;
} future;

/* Makes the sea and records how it begins. False, here and below: see e.error. Must be freed in any case. */
bool future_new(future *f, const species_table *table, const options *o, reef_pool *pool);
void future_free(future *f);

/* Plays until tick `until`, and records what is due. */
bool future_play(future *f, const options *o, uint32_t until, report *screen);

/* Forks a future, and takes species `removed` out of the fork. */
bool future_fork(future *without, future *with, uint32_t removed, report *screen);

/* Plays both to the end, tick by tick in turns. False: one failed, or both; an empty e.error tells who didn't. */
bool future_play_both(future *with, future *without, const options *o, report *screen);

#endif
