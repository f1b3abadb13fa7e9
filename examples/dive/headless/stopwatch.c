#include "stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t processor(void) { return (uint64_t)((double)clock() * (1e9 / CLOCKS_PER_SEC)); }

static uint64_t wall(void)
{
#ifdef _WIN32 /* its old C library has no timespec_get, and its clock is that on the wall */
    return processor();
#else
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

bool stopwatch_new(stopwatch *s, uint64_t most)
{
    *s = (stopwatch){.most = most};
    s->wall_ns = calloc((size_t)most + 1, sizeof *s->wall_ns);
    s->processor_ns = calloc((size_t)most + 1, sizeof *s->processor_ns);
    return s->wall_ns != NULL && s->processor_ns != NULL;
}

void stopwatch_free(stopwatch *s)
{
    free(s->wall_ns);
    free(s->processor_ns);
}

void stopwatch_begin(stopwatch *s)
{
    s->processor_began = processor();
    s->wall_began = wall();
}

void stopwatch_end(stopwatch *s)
{
    if (s->count == s->most) return;
    s->wall_ns[s->count] = wall() - s->wall_began;
    s->processor_ns[s->count++] = processor() - s->processor_began;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void print(const char *before, uint64_t *ns, uint64_t count)
{
    qsort(ns, (size_t)count, sizeof *ns, compare);
    printf("%smedian_us %.1f  p99_us %.1f  longest_us %.1f", before, (double)ns[count / 2] / 1e3,
           (double)ns[count - 1 - count / 100] / 1e3, (double)ns[count - 1] / 1e3);
}

double stopwatch_at(stopwatch *s, uint64_t percent)
{
    if (s->count == 0) return 0;
    qsort(s->wall_ns, (size_t)s->count, sizeof *s->wall_ns, compare);
    return (double)s->wall_ns[(s->count - 1) * percent / 100] / 1e3;
}

void stopwatch_print(stopwatch *s)
{
    print("", s->wall_ns, s->count);
    print("  of processor time: ", s->processor_ns, s->count);
}
