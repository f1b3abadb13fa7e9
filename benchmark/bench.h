/* The parts of reef-bench: measuring (measure.c), printing (report.c), judging whole runs (judge.c), scaling (scale.c,
 * plot.c), the machine (machine.c). rows.h defines the rows. */
#ifndef BENCH_H
#define BENCH_H
#include "rows.h"
#include <stdio.h>

enum { REPEATS_MAX = 101, ROW_NAME_MAX = 32, WHOLE_RUNS = 3 };

/* The page policies of mem.h. */
typedef enum page_policy { SMALL_PAGES, HUGE_PAGES, POLICIES } page_policy;

typedef struct bench_options {
    const contestant *baseline, *subject; /* subject: reef, or what stands in its place */
    const char *subject_option;           /* "--limit", "--self" or NULL: how a child process gets the same subject */
    page_policy pages;
    int repeats;
    bool wanted[ROW_COUNT];
} bench_options;

/* ---- measure.c ---- */

/* The times of one row, for one operation, in the row's unit. */
typedef struct row_result {
    const bench_row *row;
    bool has_raw;
    int repeats;
    double value[REPEATS_MAX], raw[REPEATS_MAX]; /* in the order measured */
    double value_median, raw_median;
} row_result;

double median(const double *v, int n);
bool row_playable(const bench_options *o, const bench_row *r);
double bench_operations(const bench_row *r); /* how many a run does */
/* Runs a row. False, with a message on stderr: a checksum was wrong. */
bool run_row(const bench_options *o, const bench_row *r, row_result *result);
/* Calls the timed part of a row of reef. scripts/instructions finds it by its name, and lets valgrind count there. */
void run_subject(void (*run)(void *), void *state) __attribute__((noinline));
/* Writes a line on stderr that the next one overwrites, if stderr is a terminal. An empty text clears it. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- report.c: one whole run ---- */

const char *unit_name(row_unit unit);
int report_table(const bench_options *o);
int report_tsv(const bench_options *o);
int report_json(const bench_options *o);

/* ---- judge.c: whole runs in child processes, in both page policies ---- */

/* Reads the targets (NULL: the repository's benchmark/targets.tsv), measures, prints and returns the exit status. */
int judge_targets(const bench_options *o, const char *file);
int judge_markdown(const bench_options *o, const char *file);

/* ---- scale.c, plot.c ---- */

int scale(const bench_options *o, const char *svg_file);

enum { POINTS_MAX = 32 };
typedef struct plot_panel {
    const char *title, *axis; /* axis: what x counts */
    int points;
    double x[POINTS_MAX], y[2][POINTS_MAX]; /* y[0]: the subject's ns, y[1]: raw's */
    double bytes; /* bytes that a pass touches for each unit of x, for the cache marks; 0: no marks */
} plot_panel;
bool plot_svg(const char *file, const char *title, const char *subject, const plot_panel *panels, int count);

/* ---- machine.c ---- */

typedef struct cache_level {
    int level;
    size_t bytes;
} cache_level;
enum { CACHES_MAX = 4, TEXT_MAX = 256 };

typedef struct machine_info {
    char cpu[TEXT_MAX], system[TEXT_MAX], compiler[TEXT_MAX], flags[TEXT_MAX], commit[TEXT_MAX], date[32];
    int cores;
    size_t memory, memory_available; /* bytes; 0: unknown */
    int caches;
    cache_level cache[CACHES_MAX]; /* data caches of one core, smallest first */
} machine_info;

void machine_read(machine_info *m);
/* The path of a file in the source folder benchmark/; false if the name is too long. */
bool bench_source_file(char *path, size_t size, const char *name);
/* Starts a program whose stdout is the file that is returned (quiet: without stderr). `process` is for child_end, which
 * returns its exit status (-1: it was killed). argv ends with NULL. NULL on failure. */
FILE *child_start(const char *program, char *const *argv, bool quiet, int *process);
int child_end(FILE *output, int process);

#endif
