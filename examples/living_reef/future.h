/* A future: an ecosystem that is played, and what is recorded of it. There is one future until the world is forked
 * half way. Then there are two, which share only what reef shares between a world and its fork. */
#ifndef LIVING_REEF_FUTURE_H
#define LIVING_REEF_FUTURE_H

#include "options.h"
#include "record.h"
#include <reef/pool.h>

typedef struct report report; /* what the person at the screen sees: report.h */

typedef struct future {
    ecosystem e;
    record taken;     /* at the end */
    uint32_t removed; /* the species that was taken out at the fork; SPECIES_MAX: none */
} future;

/* Makes the sea and records how it begins. False, here and below: see e.error. Must be freed in any case. */
bool future_new(future *f, const species_table *table, const options *o, reef_pool *pool);
void future_free(future *f);

/* Plays until tick `until`, records what is due, and saves where the options ask for it (save.h). */
bool future_play(future *f, const options *o, uint32_t until, report *screen);

/* Forks a future, and takes species `removed` out of the fork. */
bool future_fork(future *without, future *with, uint32_t removed, report *screen);

/* Plays both to the end, one tick of each in turns; if one is behind, it first plays alone. False: one or both failed;
 * the one that didn't fail has an empty e.error. */
bool future_play_both(future *with, future *without, const options *o, report *screen);

/* At the end: collects everything that was recorded. */
bool future_take(future *f, const options *o);

#endif
