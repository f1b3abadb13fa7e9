#define _POSIX_C_SOURCE 200809L
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CHARACTERS = 30 };

static double now(void)
{
    struct timespec t = {0, 0};
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void report_start(report *r, uint32_t ticks, bool quiet)
{
    *r = (report){.quiet = quiet, .terminal = isatty(fileno(stderr)) == 1, .ticks = ticks, .start = now()};
    r->last = r->start;
}

static uint32_t fish_count(const ecosystem *e)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < e->table.count; i++) total += e->fish.population[i];
    return total;
}

static void print_bar(const report *r, const ecosystem *e)
{
    char     bar[BAR_CHARACTERS + 1];
    uint32_t full = (uint32_t)((uint64_t)e->tick * BAR_CHARACTERS / r->ticks);
    memset(bar, '.', BAR_CHARACTERS);
    memset(bar, '#', full);
    bar[BAR_CHARACTERS] = '\0';
    fprintf(stderr, "\r[%s] tick %" PRIu32 " of %" PRIu32 "  %.1f ticks/s  %" PRIu32 " fish \033[K", bar, e->tick,
            r->ticks, r->last_rate, fish_count(e));
}

/* A tenth of the run is done, or the whole. */
static bool at_tenth(const report *r, uint32_t tick)
{
    return (uint64_t)tick * 10 / r->ticks != (uint64_t)(tick - 1) * 10 / r->ticks;
}

void report_tick(report *r, const ecosystem *e)
{
    if (r->quiet) return;
    double t = now();
    if (r->terminal ? t - r->last < 0.1 && e->tick != r->ticks : !at_tenth(r, e->tick)) return;
    if (t > r->last) r->last_rate = (double)(e->tick - r->last_tick) / (t - r->last);
    r->last = t;
    r->last_tick = e->tick;
    if (r->terminal) print_bar(r, e);
    else
        fprintf(stderr, "tick %" PRIu32 " of %" PRIu32 ": %.1f ticks/s, %" PRIu32 " fish\n", e->tick, r->ticks,
                r->last_rate, fish_count(e));
}

void report_end(report *r)
{
    if (!r->quiet && r->terminal) fputs("\r\033[K", stderr);
}

void report_table(const report *r, const record *taken, const ecosystem *e)
{
    if (r->quiet) return;
    const sample *first = &taken->samples[0], *last = &taken->samples[taken->count - 1];
    reef_stats    stats = reef_world_stats(e->world);
    double        seconds = now() - r->start, rate = seconds > 0 ? (double)r->ticks / seconds : 0;
    printf("%-28s %10s %10s\n", "species", "start", "end");
    for (uint32_t i = 0; i < e->table.count; i++)
        printf("%-28s %10" PRIu32 " %10" PRIu32 "%s\n", e->table.of[i].scientific, first->population[i],
               last->population[i], last->population[i] == 0 ? "  died out" : "");
    printf("%-28s %10s %10" PRIu32 "\n\n", "all", "", fish_count(e));
    printf("%-28s %21.1f\n", "ticks/s", rate);
    printf("%-28s %21" PRIu64 "\n", "born", last->born);
    printf("%-28s %21" PRIu64 "\n", "died", last->died);
    printf("%-28s %21" PRIu64 "\n", "entities spawned", stats.spawned);
    printf("%-28s %21" PRIu64 "\n", "entities destroyed", stats.destroyed);
    printf("%-28s %21" PRIu64 "\n", "structural changes", stats.spawned + stats.destroyed + stats.moved);
    printf("%-28s %17.1f MiB\n", "memory of the world", (double)stats.bytes_total / 1048576.0);
    printf("%-28s %21" PRId64 "\n", "energy, kept in every tick", e->books.total);
}
