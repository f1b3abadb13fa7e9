/* How the cost of an operation grows with the world: some rows, measured at many sizes. */
#include "bench.h"
#include <stdlib.h>

/* Bytes for each entity that reef touches in one pass. Where the sum exceeds the size of a cache, the curve bends.
 * Position and Velocity have 8 bytes each, and so do a handle and an index record; the caller's array of handles
 * counts. */
static const struct {
    uint32_t row;
    double work; /* operations in one run, at least: passes are repeated to reach it */
    double bytes;
} growing[] = {
    {ROW_create_2, 0, 16 + 8 + 8 + 8},
    {ROW_iter_2_1m, 8e6, 16},
    {ROW_get_rand, 2e6, 8 + 8 + 8},
    {ROW_add_remove_1, 0, 2 * (8 + 8) + 8 + 8 + 8},
};
enum { GROWING = sizeof growing / sizeof *growing, PANELS = GROWING + 1, TABLES_MAX = 65536, MEMORY_EACH = 200 };

static const char *const titles[PANELS] = {"create_2", "iter_2", "get_rand", "add_remove_1",
                                           "iter_frag, 100,000 entities"};

/* The smallest cache that holds this many bytes. */
static const char *cache_for(const machine_info *m, double bytes)
{
    static const char *const names[] = {"memory", "L1", "L2", "L3", "L4"};
    for (int i = 0; i < m->caches; i++)
        if (bytes <= (double)m->cache[i].bytes && m->cache[i].level <= 4) return names[m->cache[i].level];
    return names[0];
}

static bool measure_point(const bench_options *o, const bench_row *r, plot_panel *panel, double x)
{
    row_result *result = malloc(sizeof *result);
    bool good = result && run_row(o, r, result);
    if (good) {
        panel->x[panel->points] = x;
        panel->y[0][panel->points] = result->value_median;
        panel->y[1][panel->points++] = result->raw_median;
    }
    free(result);
    return good;
}

static void print_point(const plot_panel *p, const machine_info *m)
{
    int i = p->points - 1;
    printf("%12.0f %10.4g %10.4g %8.3f", p->x[i], p->y[0][i], p->y[1][i], p->y[0][i] / p->y[1][i]);
    if (p->bytes > 0) printf("  %s", cache_for(m, p->x[i] * p->bytes));
    putchar('\n');
    fflush(stdout);
}

static void print_title(const bench_options *o, const plot_panel *p)
{
    printf("\n%s, ns\n%12s %10s %10s %8s%s\n", p->title, p->axis, o->subject->name, o->baseline->name, "ratio",
           p->bytes > 0 ? "  fits" : "");
}

/* Sizes 1, 2, 5 times a power of ten, as far as half of the free memory goes. */
static bool grow(bench_options o, int which, const machine_info *m, plot_panel *panel)
{
    static const uint32_t steps[] = {1, 2, 5};
    double room = m->memory_available ? (double)m->memory_available / 2 : 1e9;
    for (uint32_t decade = N_1K; decade <= N_10M; decade *= 10)
        for (int k = 0; k < 3; k++) {
            uint32_t n = decade * steps[k];
            bench_row r = bench_rows[growing[which].row];
            if (n > N_10M || (double)n * MEMORY_EACH > room) return true;
            r.n = r.ops = n;
            r.passes = (double)n < growing[which].work ? (uint32_t)(growing[which].work / n) : 1;
            o.repeats = n <= N_10K ? 31 : n <= N_1M ? 7 : 3;
            if (!measure_point(&o, &r, panel, n)) return false;
            print_point(panel, m);
        }
    return true;
}

static bool fragment(bench_options o, const machine_info *m, plot_panel *panel)
{
    o.repeats = 5;
    for (uint32_t tables = 1; tables <= TABLES_MAX; tables *= 4) {
        bench_row r = bench_rows[ROW_iter_frag_1k];
        r.tables = tables;
        if (!measure_point(&o, &r, panel, tables)) return false;
        print_point(panel, m);
    }
    return true;
}

int scale(const bench_options *o, const char *svg_file)
{
    static plot_panel panels[PANELS];
    machine_info m;
    char title[2 * TEXT_MAX];
    bool good = true;
    machine_read(&m);
    snprintf(title, sizeof title, "%s, %s, %s", m.cpu, o->pages == HUGE_PAGES ? "2 MiB pages" : "4 KiB pages", m.date);
    puts(title);
    for (int i = 0; good && i < PANELS; i++) {
        bool tables = i == GROWING;
        panels[i] =
            (plot_panel){.title = titles[i], .axis = tables ? "tables" : "N", .bytes = tables ? 0 : growing[i].bytes};
        if (!contestant_row(o->subject, tables ? ROW_iter_frag_1k : growing[i].row)) continue;
        print_title(o, &panels[i]);
        good = tables ? fragment(*o, &m, &panels[i]) : grow(*o, i, &m, &panels[i]);
    }
    if (!good || !plot_svg(svg_file, title, o->subject->name, panels, PANELS)) return 1;
    printf("\npicture: %s\n", svg_file);
    return 0;
}
