/* How long a tick takes with so many creatures. */
#ifndef DIVE_MEASURE_H
#define DIVE_MEASURE_H

#include "game.h"
#include <reef/pool.h>

/* Fills a sea with `creatures` creatures of all kinds around the diver, plays 60 ticks, measures the next `ticks`, and
 * prints how long they took (stopwatch.h). The same arguments give the same states. */
bool measure(uint64_t creatures, uint64_t ticks, reef_pool *pool);
/* Measures `back` ticks back and again, beside the same ticks of a game without a history, so often in turn; prints
 * medians and the 99th percentile. False also if the two games differ in the end. */
bool measure_back(uint64_t creatures, uint64_t rounds, uint32_t back, reef_pool *pool);
/* Fills a sea so. False: no memory. */
bool measure_fill(game *g, uint64_t creatures);

#endif
