/* What the user sees: progress on stderr, and a table on stdout at the end. None of this goes into the files, so the
 * clock may be used here. */
#ifndef LIVING_REEF_REPORT_H
#define LIVING_REEF_REPORT_H

#include "future.h"

struct report {
    bool quiet, terminal;
    uint32_t ticks, begun;         /* ticks of the whole run; the tick at which it was resumed */
    double start, last, last_rate; /* s; s; ticks/s */
    uint32_t last_tick;
    double fork_start, fork_seconds;
    uint64_t fork_bytes, before_bytes; /* bytes that the fork took; bytes before it */
};

/* For a run that was resumed, `tick` is where it goes on. */
void report_start(report *r, uint32_t ticks, uint32_t tick, bool quiet);
/* Call it after each tick. It looks at the clock, and prints at most ten times a second on a terminal, and ten lines
 * in all elsewhere. */
void report_tick(report *r, const ecosystem *e);
/* Call these before and after the call that forks the world. */
void report_fork_begin(report *r, const ecosystem *e);
void report_fork_end(report *r, const ecosystem *e, uint32_t removed);
/* Removes the progress bar from the screen. */
void report_end(report *r);
/* Prints the closing table. `without` is NULL if the world wasn't forked. */
void report_table(const report *r, const future *with, const future *without);

#endif
