/* The rows of playing together: processes of their own measure them and tell the results. */
#include "bench.h"
#include "raw.h"
#include "reef_rows.h"

#if defined(REEF_BENCH_GAME) || defined(REEF_BENCH_NET)
/* Times of the last run that only one contestant has taken; `taken` by whom. */
static struct {
    double ns[2]; /* the other contestant's, reef's */
    uint32_t row;
    int taken; /* 1 + the contestant; 0: nobody */
} told;

/* Runs the program unless its last run has told this time; `format` reads reef's time and the other one. */
static void told_take(const bench_row *r, char **arguments, const char *format, double unit_ns, int reefs)
{
    if (told.row != r->id || told.taken == 0 || told.taken == 1 + reefs) {
        int process;
        FILE *output = child_start(arguments[0], arguments, false, &process);
        const bool good = output && fscanf(output, format, &told.ns[1], &told.ns[0]) == 2;
        if (output == NULL || child_end(output, process) != 0 || !good) bench_fail(NULL, arguments[0]);
        told.row = r->id;
        told.taken = 1 + reefs;
    } else {
        told.taken = 0;
    }
    bench_told_ns = told.ns[reefs] * unit_ns;
}

static void *told_setup(const bench_row *r) { return (void *)(uintptr_t)r; }
static uint64_t told_sum(void *p) { return ((const bench_row *)p)->ops; }
static void told_teardown(void *p) { (void)p; }
#endif

#ifdef REEF_BENCH_GAME
static void rollback(void *p, int reefs)
{
    char *arguments[] = {REEF_BENCH_GAME, "--measure", "10000",     "--ticks", "150",
                         "--back",        "8",         "--threads", "2",       NULL};
    told_take(p, arguments, "again_us %lf alone_us %lf", 1e3, reefs);
}
static void rollback_again(void *p) { rollback(p, 1); }
static void rollback_alone(void *p) { rollback(p, 0); }
#endif

#ifdef REEF_BENCH_NET
static void net_tick(void *p, int reefs)
{
    char *arguments[] = {REEF_BENCH_NET, NULL};
    told_take(p, arguments, "signed_ns %lf plain_ns %lf", 1, reefs);
}
static void view(void *p, int reefs)
{
    char *arguments[] = {REEF_BENCH_VIEW, NULL};
    told_take(p, arguments, "view_ns %lf all_ns %lf", 1, reefs);
}
static void view_shown(void *p) { view(p, 1); }
static void view_all(void *p) { view(p, 0); }
static void net_signed(void *p) { net_tick(p, 1); }
static void net_plain(void *p) { net_tick(p, 0); }
#endif

const row_impl reef_net_rows[] = {
#ifdef REEF_BENCH_GAME
    {ROW_rollback_8, told_setup, rollback_again, told_sum, told_teardown, NULL},
#endif
#ifdef REEF_BENCH_NET
    {ROW_net_tick, told_setup, net_signed, told_sum, told_teardown, NULL},
    {ROW_view_64, told_setup, view_shown, told_sum, told_teardown, NULL},
#endif
    {0},
};

const row_impl reef_alone_net_rows[] = {
#ifdef REEF_BENCH_GAME
    {ROW_rollback_8, told_setup, rollback_alone, told_sum, told_teardown, NULL},
#endif
#ifdef REEF_BENCH_NET
    {ROW_net_tick, told_setup, net_plain, told_sum, told_teardown, NULL},
    {ROW_view_64, told_setup, view_all, told_sum, told_teardown, NULL},
#endif
    {0},
};
