/* How long a tick takes with so many creatures. */
#ifndef DIVE_MEASURE_H
#define DIVE_MEASURE_H

#include "game.h"
#include <reef/pool.h>

/* Fills a sea with `creatures` creatures of all kinds around the diver, plays 60 ticks, measures the next `ticks`, and
 * prints how long they took (stopwatch.h). The same arguments give the same states. */
bool measure(uint64_t creatures, uint64_t ticks, reef_pool *pool);

#endif
