/* The rows of the inspector: a process of its own plays the living reef with it and without it (inspect/inspect.c), and
 * tells both times. So one run serves both contestants. */
#include "bench.h"
#include "raw.h"
#include "reef_rows.h"

#ifdef REEF_BENCH_INSPECT
/* Times of the last run that only one contestant has taken; `taken` by whom. */
static struct {
    double ns[2]; /* without, with */
    uint32_t row;
    int taken; /* 1 + the contestant; 0: nobody */
} told;

static void inspect_measure(const bench_row *r, int with)
{
    char *arguments[] = {REEF_BENCH_INSPECT, r->id == ROW_inspect_open ? "open" : "idle", NULL};
    if (told.row != r->id || told.taken == 0 || told.taken == 1 + with) {
        int process;
        FILE *output = child_start(REEF_BENCH_INSPECT, arguments, false, &process);
        const bool good = output && fscanf(output, "without_ns %lf with_ns %lf", &told.ns[0], &told.ns[1]) == 2;
        if (output == NULL || child_end(output, process) != 0 || !good) bench_fail(NULL, REEF_BENCH_INSPECT);
        told.row = r->id;
        told.taken = 1 + with;
    } else {
        told.taken = 0;
    }
    bench_told_ns = told.ns[with];
}

static void *inspect_setup(const bench_row *r) { return (void *)(uintptr_t)r; }
static void inspect_with(void *p) { inspect_measure(p, 1); }
static void inspect_without(void *p) { inspect_measure(p, 0); }
static uint64_t inspect_sum(void *p) { return ((const bench_row *)p)->ops; }
static void inspect_teardown(void *p) { (void)p; }
#endif

const row_impl reef_inspect_rows[] = {
#ifdef REEF_BENCH_INSPECT
    {ROW_inspect_idle, inspect_setup, inspect_with, inspect_sum, inspect_teardown, NULL},
    {ROW_inspect_open, inspect_setup, inspect_with, inspect_sum, inspect_teardown, NULL},
#endif
    {0},
};

const row_impl reef_alone_inspect_rows[] = {
#ifdef REEF_BENCH_INSPECT
    {ROW_inspect_idle, inspect_setup, inspect_without, inspect_sum, inspect_teardown, NULL},
    {ROW_inspect_open, inspect_setup, inspect_without, inspect_sum, inspect_teardown, NULL},
#endif
    {0},
};
