/* How long ticks take: by the clock on the wall, and in processor time of all threads, which the machine's other
 * programs don't disturb. */
#ifndef DIVE_STOPWATCH_H
#define DIVE_STOPWATCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct stopwatch {
    uint64_t *wall_ns, *processor_ns; /* of each tick */
    uint64_t count, most;
    uint64_t wall_began, processor_began;
} stopwatch;

/* For so many ticks; more aren't kept. False: no memory. */
bool stopwatch_new(stopwatch *s, uint64_t most);
void stopwatch_free(stopwatch *s);

void stopwatch_begin(stopwatch *s);
void stopwatch_end(stopwatch *s);
/* So many percent of what was measured took at most so many microseconds. */
double stopwatch_at(stopwatch *s, uint64_t percent);
/* Prints the median, the 99th percentile and the longest, in microseconds, without a new line. There must be one. */
void stopwatch_print(stopwatch *s);

#endif
