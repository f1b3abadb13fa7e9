/* What the person at the screen sees: progress on stderr, and a table on stdout at the end. Nothing of it goes into the
 * files, so the clock is allowed here. */
#ifndef LIVING_REEF_REPORT_H
#define LIVING_REEF_REPORT_H

#include "record.h"

typedef struct report {
    bool     quiet, terminal;
    uint32_t ticks;                  /* of the whole run */
    double   start, last, last_rate; /* s; s; ticks/s */
    uint32_t last_tick;
} report;

void report_start(report *r, uint32_t ticks, bool quiet);
/* After each tick. Looks at the clock and prints at most ten times a second on a terminal, ten lines in all
 * elsewhere. */
void report_tick(report *r, const ecosystem *e);
/* Takes the bar off the screen. */
void report_end(report *r);
/* The closing table. */
void report_table(const report *r, const record *taken, const ecosystem *e);

#endif
