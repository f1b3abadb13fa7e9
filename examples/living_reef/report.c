/* The progress bar and the closing table. */
#define _POSIX_C_SOURCE 200809L
#include "report.h"
#include <reef/stats.h>

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

void report_start(report *r, uint32_t ticks, uint32_t tick, bool quiet)
{
    *r = (report){.quiet = quiet,
                  .terminal = isatty(fileno(stderr)) == 1,
                  .ticks = ticks,
                  .start = now(),
                  .begun = tick,
                  .last_tick = tick};
    r->last = r->start;
}

static uint32_t fish_count(const ecosystem *e) { return reef_single_get(e->world, Census)->fish; }

static void print_bar(const report *r, const ecosystem *e)
{
    char bar[BAR_CHARACTERS + 1];
    uint32_t full = (uint32_t)((uint64_t)ecosystem_ticks(e) * BAR_CHARACTERS / r->ticks);
    memset(bar, '.', BAR_CHARACTERS);
    memset(bar, '#', full);
    bar[BAR_CHARACTERS] = '\0';
    fprintf(stderr, "\r[%s] tick %" PRIu32 " of %" PRIu32 "  %.1f ticks/s  %" PRIu32 " fish \033[K", bar,
            ecosystem_ticks(e), r->ticks, r->last_rate, fish_count(e));
}

/* Is another tenth of the run done, or the whole? */
static bool at_tenth(const report *r, uint32_t tick)
{
    return (uint64_t)tick * 10 / r->ticks != (uint64_t)(tick - 1) * 10 / r->ticks;
}

void report_tick(report *r, const ecosystem *e)
{
    if (r->quiet) return;
    double t = now();
    if (r->terminal ? t - r->last < 0.1 && ecosystem_ticks(e) != r->ticks : !at_tenth(r, ecosystem_ticks(e))) return;
    if (t > r->last) r->last_rate = (double)(ecosystem_ticks(e) - r->last_tick) / (t - r->last);
    r->last = t;
    r->last_tick = ecosystem_ticks(e);
    if (r->terminal) print_bar(r, e);
    else
        fprintf(stderr, "tick %" PRIu32 " of %" PRIu32 ": %.1f ticks/s, %" PRIu32 " fish\n", ecosystem_ticks(e),
                r->ticks, r->last_rate, fish_count(e));
}

void report_end(report *r)
{
    if (!r->quiet && r->terminal) fputs("\r\033[K", stderr);
}

/* ---- the fork ---- */

void report_fork_begin(report *r, const ecosystem *e)
{
    r->before_bytes = reef_world_stats(e->world).bytes_total;
    r->fork_start = now();
}

void report_fork_end(report *r, const ecosystem *e, uint32_t removed)
{
    r->fork_seconds = now() - r->fork_start;
    r->fork_bytes = reef_world_stats(e->world).bytes_total - r->before_bytes;
    if (r->quiet) return;
    report_end(r);
    fprintf(stderr, "tick %" PRIu32 ": the world is forked, and one future goes on without the %s (%s)\n",
            ecosystem_ticks(e), e->table->of[removed].common, e->table->of[removed].scientific);
}

/* ---- the closing table ---- */

static void print_species(const species *s, uint32_t i, const record *with, const record *without)
{
    const Sample *last = &with->samples[with->count - 1];
    printf("%-28s %-27s %10" PRIu32, s->common, s->scientific, with->samples[0].population[i]);
    if (without == NULL) {
        printf(" %10" PRIu32 "%s\n", last->population[i], last->population[i] == 0 ? "  died out" : "");
        return;
    }
    uint32_t left = without->samples[without->count - 1].population[i];
    const char *fate = last->population[i] == 0 || left == 0 ? "  died out" : "";
    if (i == without->removed) fate = "  taken out";
    printf(" %10" PRIu32 " %10" PRIu32 "%s\n", last->population[i], left, fate);
}

/* Prints a number for each future. */
static void print_numbers(const char *what, uint64_t with, const uint64_t *without)
{
    printf("%-56s %21" PRIu64, what, with);
    if (without != NULL) printf(" %10" PRIu64, *without);
    putchar('\n');
}

static void print_counts(const future *with, const future *without)
{
    static const char *const names[] = {"born", "died", "entities spawned", "entities destroyed", "structural changes"};
    uint64_t counts[2][5];
    for (int c = 0; c < (without != NULL ? 2 : 1); c++) {
        const future *column = c == 0 ? with : without;
        reef_stats s = reef_world_stats(column->e.world);
        counts[c][0] = reef_single_get(column->e.world, Tally)->born;
        counts[c][1] = reef_single_get(column->e.world, Tally)->died;
        counts[c][2] = s.spawned;
        counts[c][3] = s.destroyed;
        counts[c][4] = s.spawned + s.destroyed + s.moved;
    }
    for (int i = 0; i < 5; i++) print_numbers(names[i], counts[0][i], without != NULL ? &counts[1][i] : NULL);
}

/* Both worlds take their memory from one family, whose total is what is counted. */
static void print_fork(const report *r, const reef_stats *stats)
{
    printf("%-56s %18.1f us\n", "time of the fork", r->fork_seconds * 1e6);
    printf("%-56s %19" PRIu64 " B\n", "memory of the fork", r->fork_bytes);
    printf("%-56s %17.1f MiB\n", "memory before the fork", (double)r->before_bytes / 1048576.0);
    printf("%-56s %17.1f MiB\n", "memory of both worlds", (double)stats->bytes_total / 1048576.0);
}

void report_table(const report *r, const future *with, const future *without)
{
    if (r->quiet) return;
    const ecosystem *e = &with->e;
    reef_stats stats = reef_world_stats(e->world);
    double seconds = now() - r->start;
    uint32_t fork = without != NULL ? without->taken.samples[0].tick : r->ticks;
    uint32_t played = r->ticks - r->begun + (r->ticks - (fork > r->begun ? fork : r->begun));
    printf("%-56s %10s %10s%s\n", "species", "start", without != NULL ? "with" : "end",
           without != NULL ? "    without" : "");
    for (uint32_t i = 0; i < e->table->count; i++)
        print_species(&e->table->of[i], i, &with->taken, without != NULL ? &without->taken : NULL);
    uint64_t left = without != NULL ? fish_count(&without->e) : 0;
    print_numbers("all", fish_count(e), without != NULL ? &left : NULL);
    printf("\n%-56s %21.1f\n", without != NULL ? "ticks/s of both futures" : "ticks/s",
           seconds > 0 ? (double)played / seconds : 0);
    print_counts(with, without);
    if (without != NULL) print_fork(r, &stats);
    else printf("%-56s %17.1f MiB\n", "memory of the world", (double)stats.bytes_total / 1048576.0);
    printf("%-56s %21" PRId64 "\n", "energy, kept in every tick", e->energy);
}
