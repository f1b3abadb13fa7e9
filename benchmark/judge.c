/* Compares whole runs with the targets. There are WHOLE_RUNS runs for each page policy, each in its own process, since
 * the policy belongs to the process; the policies take turns. Every figure is the median of the runs. */
#include "bench.h"
#include <errno.h>
#include <stdlib.h>

/* INSTRUCTIONS can't be measured here: scripts/instructions --each counts them. */
typedef enum target_unit {
    RATIO,
    NANOSECONDS,
    MICROSECONDS,
    BYTES_EACH,
    SPEEDUP,
    INSTRUCTIONS,
    TARGET_UNITS
} target_unit;
static const char *const target_unit_names[TARGET_UNITS] = {"ratio", "ns", "us", "bytes", "speedup", "instr"};

typedef struct target {
    bool present;
    target_unit unit;
    double goal, must; /* at most; SPEEDUP: at least */
} target;

typedef struct figure {
    bool has_raw;
    char unit[8];
    double value[WHOLE_RUNS], raw[WHOLE_RUNS], ratio[WHOLE_RUNS];
} figure;

typedef struct judgement {
    target targets[ROW_COUNT];
    figure figures[POLICIES][ROW_COUNT];
} judgement;

static const char *const policy_names[POLICIES] = {"4 KiB pages", "2 MiB pages"};

/* ---- the targets ---- */

static int find_row(const char *name)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (strcmp(bench_rows[i].name, name) == 0) return i;
    return -1;
}

/* Reads a line: row, unit, goal, must, and whatever follows, separated by tabs. False: it can't be read. Rows that this
 * program doesn't have are skipped. */
static bool read_target(judgement *j, const char *line)
{
    char name[ROW_NAME_MAX], unit[16];
    target t = {.present = true, .unit = 0};
    if (sscanf(line, "%31[^\t]\t%15[^\t]\t%lf\t%lf", name, unit, &t.goal, &t.must) != 4) return false;
    while (t.unit < TARGET_UNITS && strcmp(unit, target_unit_names[t.unit]) != 0) t.unit++;
    if (t.unit == TARGET_UNITS) return false;
    int row = find_row(name);
    t.present = t.unit != INSTRUCTIONS;
    if (row >= 0) j->targets[row] = t;
    return true;
}

static bool read_targets(judgement *j, const char *file)
{
    char own[4096], line[1024];
    int number = 0;
    bool good = true;
    if (!file && bench_source_file(own, sizeof own, "targets.tsv")) file = own;
    FILE *f = file ? fopen(file, "r") : NULL;
    if (!f) {
        fprintf(stderr, "reef-bench: can't open the targets %s: %s\n", file ? file : "", strerror(errno));
        return false;
    }
    while (good && fgets(line, sizeof line, f)) {
        number++;
        if (line[0] == '#' || line[0] == '\n') continue;
        good = read_target(j, line);
        if (!good)
            fprintf(stderr,
                    "reef-bench: %s:%d: expected row, unit (ratio, ns, us, bytes, speedup, instr), goal, must\n", file,
                    number);
    }
    fclose(f);
    return good;
}

/* ---- whole runs ---- */

static bool read_figure(judgement *j, page_policy policy, int run, const char *line)
{
    char name[ROW_NAME_MAX], raw[32], ratio[32], unit[8];
    unsigned n;
    double value;
    if (sscanf(line, "%31s %u %lf %31s %31s %7s", name, &n, &value, raw, ratio, unit) != 6) return false;
    int row = find_row(name);
    if (row < 0) return false;
    figure *f = &j->figures[policy][row];
    f->has_raw = strcmp(raw, "-") != 0;
    f->value[run] = value;
    f->raw[run] = f->has_raw ? strtod(raw, NULL) : 0;
    f->ratio[run] = f->has_raw ? strtod(ratio, NULL) : 0;
    memcpy(f->unit, unit, sizeof unit);
    return true;
}

static bool whole_run(judgement *j, const bench_options *o, page_policy policy, int run)
{
    char repeats[16], *argv[8 + ROW_COUNT], line[256];
    int n = 0, process;
    bool good = true;
    snprintf(repeats, sizeof repeats, "%d", o->repeats);
    argv[n++] = (char *)"reef-bench";
    argv[n++] = (char *)"--tsv";
    argv[n++] = (char *)"--repeats";
    argv[n++] = repeats;
    if (policy == HUGE_PAGES) argv[n++] = (char *)"--huge";
    if (o->subject_option) argv[n++] = (char *)(uintptr_t)o->subject_option;
    for (int i = 0; i < ROW_COUNT; i++)
        if (o->wanted[i]) argv[n++] = (char *)(uintptr_t)bench_rows[i].name;
    argv[n] = NULL;
    FILE *f = child_start("/proc/self/exe", argv, false, &process);
    if (!f) {
        perror("reef-bench: can't start a run");
        return false;
    }
    while (fgets(line, sizeof line, f)) good &= read_figure(j, policy, run, line);
    int status = child_end(f, process);
    if (status != 0)
        fprintf(stderr, "reef-bench: run %d with %s ended with status %d\n", run + 1, policy_names[policy], status);
    return good && status == 0;
}

static bool whole_runs(judgement *j, const bench_options *o)
{
    for (int run = 0; run < WHOLE_RUNS; run++)
        for (page_policy p = 0; p < POLICIES; p++) {
            progress("whole run %d of %d, %s\n", run + 1, WHOLE_RUNS, policy_names[p]);
            if (!whole_run(j, o, p, run)) return false;
        }
    return true;
}

/* NULL, with a message, on failure. */
static judgement *judge(const bench_options *o, const char *file)
{
    judgement *j = calloc(1, sizeof *j);
    if (j && read_targets(j, file) && whole_runs(j, o)) return j;
    free(j);
    return NULL;
}

/* ---- verdicts ---- */

typedef enum verdict { AT_GOAL, AT_MUST, MISSES, NO_TARGET } verdict;

static bool reaches(target_unit unit, double figure_, double bound)
{
    return unit == SPEEDUP ? figure_ >= bound : figure_ <= bound;
}

/* The figure that the target is about: the ratio, or the value. */
static double judged(const target *t, const figure *f)
{
    return median(t->unit == RATIO ? f->ratio : f->value, WHOLE_RUNS);
}

static verdict verdict_of(const target *t, const figure *f)
{
    if (!t->present) return NO_TARGET;
    double figure_ = judged(t, f);
    return reaches(t->unit, figure_, t->goal) ? AT_GOAL : reaches(t->unit, figure_, t->must) ? AT_MUST : MISSES;
}

/* Checks that a row's target and figure have the same unit. */
static bool units_agree(const judgement *j, int row)
{
    const target *t = &j->targets[row];
    const figure *f = &j->figures[SMALL_PAGES][row];
    bool agree = t->unit == RATIO ? f->has_raw : t->unit == SPEEDUP || strcmp(target_unit_names[t->unit], f->unit) == 0;
    if (!t->present || agree) return true;
    fprintf(stderr, "reef-bench: %s is measured in %s, its target is a %s\n", bench_rows[row].name, f->unit,
            target_unit_names[t->unit]);
    return false;
}

static void print_figure(const target *t, const figure *f)
{
    static const char *const names[] = {"goal", "must", "MISSES", "-"};
    printf(" | %9.4g ", median(f->value, WHOLE_RUNS));
    if (f->has_raw) printf("%9.4g %7.4g", median(f->raw, WHOLE_RUNS), median(f->ratio, WHOLE_RUNS));
    else printf("%9s %7s", "-", "-");
    printf(" %-6s", names[verdict_of(t, f)]);
}

static void print_head(const bench_options *o)
{
    machine_info m;
    machine_read(&m);
    printf("%s, %d cores, %s\n%s, %s\ncommit %s, %s, median of %d whole runs, each the median of %d repeats\n\n", m.cpu,
           m.cores, m.system, m.compiler, m.flags, m.commit, m.date, WHOLE_RUNS, o->repeats);
    printf("%-18s %5s", "", "");
    for (int p = 0; p < POLICIES; p++) printf(" | %-34s", policy_names[p]);
    printf(" |\n%-18s %5s", "row", "unit");
    for (int p = 0; p < POLICIES; p++) printf(" | %9s %9s %7s %-6s", o->subject->name, o->baseline->name, "ratio", "");
    printf(" | %8s %8s  of\n", "must", "goal");
}

static verdict worse(verdict a, verdict b) { return a > b ? a : b; }

static void print_missing(const judgement *j, const bool *wanted)
{
    for (int i = 0; i < ROW_COUNT; i++)
        for (page_policy p = 0; wanted[i] && p < POLICIES; p++) {
            const target *t = &j->targets[i];
            const figure *f = &j->figures[p][i];
            if (verdict_of(t, f) != MISSES) continue;
            printf("misses: %s, %s: %.4g, must be %s %.4g %s\n", bench_rows[i].name, policy_names[p], judged(t, f),
                   t->unit == SPEEDUP ? "at least" : "at most", t->must, target_unit_names[t->unit]);
        }
}

int judge_targets(const bench_options *o, const char *file)
{
    int counts[NO_TARGET + 1] = {0}, status = 0;
    judgement *j = judge(o, file);
    if (!j) return 2;
    print_head(o);
    for (int i = 0; i < ROW_COUNT; i++) {
        const target *t = &j->targets[i];
        if (!o->wanted[i]) continue;
        if (!units_agree(j, i)) status = 2;
        printf("%-18s %5s", bench_rows[i].name, j->figures[SMALL_PAGES][i].unit);
        for (page_policy p = 0; p < POLICIES; p++) print_figure(t, &j->figures[p][i]);
        if (t->present) printf(" | %8.4g %8.4g  %s\n", t->must, t->goal, target_unit_names[t->unit]);
        else printf(" | %8s %8s\n", "-", "-");
        counts[worse(verdict_of(t, &j->figures[SMALL_PAGES][i]), verdict_of(t, &j->figures[HUGE_PAGES][i]))]++;
    }
    printf("\n%d rows: %d at goal in both page policies, %d more at must, %d miss", counts[0] + counts[1] + counts[2],
           counts[AT_GOAL], counts[AT_MUST], counts[MISSES]);
    if (counts[NO_TARGET]) printf(" (%d without a target)", counts[NO_TARGET]);
    putchar('\n');
    print_missing(j, o->wanted);
    free(j);
    return status ? status : counts[MISSES] ? 1 : 0;
}

/* ---- the table of docs/rules/performance.md ---- */

static void markdown_figure(const figure *f)
{
    printf(" %.3g | ", median(f->value, WHOLE_RUNS));
    const double ratio = median(f->ratio, WHOLE_RUNS);
    if (f->has_raw) printf("%.3g | %.*f |", median(f->raw, WHOLE_RUNS), ratio < 0.1 ? 4 : 2, ratio);
    else printf("- | - |");
}

int judge_markdown(const bench_options *o, const char *file)
{
    machine_info m;
    judgement *j = judge(o, file);
    if (!j) return 2;
    machine_read(&m);
    printf("%s, %d cores, %s; %s, `%s`; commit %s, %s. Median of %d whole runs, each the median of %d repeats.\n\n",
           m.cpu, m.cores, m.system, m.compiler, m.flags, m.commit, m.date, WHOLE_RUNS, o->repeats);
    printf("| row | unit | 4 KiB: %s | %s | ratio | 2 MiB: %s | %s | ratio | must | goal | of |\n", o->subject->name,
           o->baseline->name, o->subject->name, o->baseline->name);
    puts("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for (int i = 0; i < ROW_COUNT; i++) {
        const target *t = &j->targets[i];
        if (!o->wanted[i]) continue;
        printf("| %s | %s |", bench_rows[i].name, j->figures[SMALL_PAGES][i].unit);
        for (page_policy p = 0; p < POLICIES; p++) markdown_figure(&j->figures[p][i]);
        if (t->present) printf(" %.4g | %.4g | %s |\n", t->must, t->goal, target_unit_names[t->unit]);
        else puts(" - | - | - |");
    }
    free(j);
    return 0;
}
