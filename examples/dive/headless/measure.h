/* How long a tick takes with so many creatures. */
#ifndef DIVE_MEASURE_H
#define DIVE_MEASURE_H

#include "game.h"
#include <reef/pool.h>

/* Fills a sea with `creatures` creatures of all kinds around the diver, plays 60 ticks, measures the next `ticks`, and
 * prints how long they took (stopwatch.h). With `back`, each tick is followed by so many ticks back and again, which
 * are measured. The same arguments give the same states. */
bool measure(uint64_t creatures, uint64_t ticks, uint32_t back, reef_pool *pool);
/* Fills a sea so. False: no memory. */
bool measure_fill(game *g, uint64_t creatures);

#endif
