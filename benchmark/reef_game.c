/* The row of the game in examples/dive: a process of its own measures it and tells the result. */
#include "bench.h"
#include "reef_rows.h"

#ifdef REEF_BENCH_GAME
static void *game_setup(const bench_row *r)
{
    static bool played;
    (void)r;
    played = false;
    return &played;
}

static void game_run(void *p)
{
    char *arguments[] = {REEF_BENCH_GAME, "--measure", "10000", "--ticks", "600", "--threads", "2", NULL};
    int process;
    double median_us = 0, worst_us = 0;
    FILE *output = child_start(REEF_BENCH_GAME, arguments, false, &process);
    bool good = output != NULL && fscanf(output, "median_us %lf p99_us %lf", &median_us, &worst_us) == 2;
    if (output == NULL || child_end(output, process) != 0 || !good) bench_fail(NULL, REEF_BENCH_GAME);
    bench_told_ns = worst_us * 1e3;
    *(bool *)p = good;
}

static uint64_t game_sum(void *p) { return *(bool *)p; }
static uint64_t game_expected(const bench_row *r) { return r->ops; }
static void game_teardown(void *p) { (void)p; }
#endif

const row_impl reef_game_rows[] = {
#ifdef REEF_BENCH_GAME
    {ROW_game_10k, game_setup, game_run, game_sum, game_teardown, game_expected},
#endif
    {0},
};
