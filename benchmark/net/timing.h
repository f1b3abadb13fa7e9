/* Times of the processor in nanoseconds, and their median. */
#ifndef REEF_BENCHMARK_NET_TIMING_H
#define REEF_BENCHMARK_NET_TIMING_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t processor_ns(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline int time_compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the times. */
static inline uint64_t median_of(uint64_t *all, uint32_t count)
{
    qsort(all, count, sizeof *all, time_compare);
    return all[count / 2];
}

#endif
