/* What the person at the screen sees: progress on stderr, and a table on stdout at the end. Nothing of it goes into the
 * files, so the clock is allowed here. */
#ifndef LIVING_REEF_REPORT_H
#define LIVING_REEF_REPORT_H

#include "future.h"

struct report {
    bool quiet, terminal;
    uint32_t ticks, begun;         /* of the whole run; where it was resumed */
    double start, last, last_rate; /* s; s; ticks/s */
    uint32_t last_tick;
    double fork_start, fork_seconds;
    uint64_t fork_bytes, before_bytes; /* what the fork took, what there was before */
};

/* Of a run that was resumed, `tick` is where. */
void report_start(report *r, uint32_t ticks, uint32_t tick, bool quiet);
/* After each tick. Looks at the clock and prints at most ten times a second on a terminal, ten lines in all
 * elsewhere. */
void report_tick(report *r, const ecosystem *e);
/* Around the call that forks the world. */
void report_fork_begin(report *r, const ecosystem *e);
void report_fork_end(report *r, const ecosystem *e, uint32_t removed);
/* Takes the bar off the screen. */
void report_end(report *r);
/* The closing table. `without` is NULL when the world wasn't forked. */
void report_table(const report *r, const future *with, const future *without);

#endif
