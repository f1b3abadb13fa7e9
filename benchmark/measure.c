/* Runs a row: both contestants take turns, in alternating order; their checksums are compared, and no memory is
 * kept. */
#define _GNU_SOURCE
#include "bench.h"
#include "mem.h"
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

const bench_row bench_rows[ROW_COUNT] = {
#define X(name, n, tables, passes, ops, unit) {#name, ROW_##name, n, tables, passes, ops, unit},
    ROWS(X)
#undef X
};

double bench_told_ns;

uint32_t bench_matched(uint32_t n)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) k += bench_tags(i) & 1;
    return k;
}

void bench_shuffle(void *handles, uint32_t n, size_t handle_size)
{
    char *h = handles, t[8];
    for (uint32_t i = n - 1; i > 0; i--) {
        uint32_t j = (uint32_t)(bench_mix(i + 0x1234567ull) % (i + 1));
        memcpy(t, h + i * handle_size, handle_size);
        memcpy(h + i * handle_size, h + j * handle_size, handle_size);
        memcpy(h + j * handle_size, t, handle_size);
    }
}

bool bench_tree_move(const uint32_t *parent, uint32_t n, uint32_t k, uint32_t *node, uint32_t *to)
{
    *node = 1 + (uint32_t)(bench_mix(k) % (n - 1));
    *to = (uint32_t)(bench_mix(k + 0x7654321ull) % n);
    for (uint32_t up = *to; up; up = parent[up])
        if (up == *node) return false;
    return parent[*node] != *to;
}

const row_impl *contestant_row(const contestant *c, uint32_t id)
{
    for (const row_impl *const *list = c->lists; *list; list++)
        for (const row_impl *f = *list; f->setup; f++)
            if (f->id == id) return f;
    return NULL;
}

void progress(const char *format, ...)
{
    static int terminal = -1;
    if (terminal < 0) terminal = isatty(STDERR_FILENO);
    if (!terminal) return;
    va_list arguments;
    va_start(arguments, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    fflush(stderr);
    va_end(arguments);
}

/* The processor time of this thread, including page faults; time that other programs take isn't counted. Rows with
 * several threads are measured in real time. */
static uint64_t now_ns(const bench_row *r)
{
    const bool wall = r->id == ROW_spawn_par || r->id == ROW_par_heavy_1 || r->id == ROW_par_heavy_2 ||
                      r->id == ROW_frame_mixed || r->id == ROW_pairs_2;
    struct timespec t;
    clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

void run_subject(void (*run)(void *), void *state)
{
    run(state);
    __asm__ volatile("" ::: "memory"); /* it comes back here: no jump at the end */
}

/* Does one repeat of one contestant. The result is the nanoseconds of the run, or the bytes that it allocated. */
static double measure(const contestant *c, const bench_row *r, uint64_t *sum)
{
    const row_impl *f = contestant_row(c, r->id);
    size_t held = mem_live();
    void *state = f->setup(r);
    size_t bytes = mem_live();
    bench_told_ns = 0;
    uint64_t t0 = now_ns(r);
    if (c == &contestant_raw) f->run(state);
    else run_subject(f->run, state);
    uint64_t t1 = now_ns(r);
    bytes = mem_live() - bytes;
    *sum = f->checksum(state);
    f->teardown(state);
    mem_cool();
    if (mem_live() != held) {
        fprintf(stderr, "\n%s: %s keeps %zd bytes after teardown\n", r->name, c->name, (ssize_t)(mem_live() - held));
        exit(1);
    }
    if (bench_told_ns > 0) return bench_told_ns;
    return r->unit == BYTES ? (double)bytes : (double)(t1 - t0);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(const double *v, int n)
{
    double sorted[REPEATS_MAX];
    memcpy(sorted, v, sizeof *v * (size_t)n);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    return n & 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

bool row_playable(const bench_options *o, const bench_row *r)
{
    const row_impl *f = contestant_row(o->subject, r->id);
    return f && (f->expected || contestant_row(o->baseline, r->id));
}

/* Repeats one contestant once more and compares its checksum. */
static bool repeat(const contestant *c, const bench_row *r, double *value, uint64_t *want, bool *known)
{
    uint64_t sum;
    *value = measure(c, r, &sum);
    if (!*known) *want = sum;
    *known = true;
    if (sum == *want) return true;
    fprintf(stderr, "\n%s: checksum %016llx of %s, want %016llx\n", r->name, (unsigned long long)sum, c->name,
            (unsigned long long)*want);
    return false;
}

double bench_operations(const bench_row *r) { return (double)(r->ops ? r->ops : bench_matched(r->n)) * r->passes; }

bool run_row(const bench_options *o, const bench_row *r, row_result *result)
{
    const contestant *both[2] = {o->baseline, o->subject};
    const row_impl *subject = contestant_row(o->subject, r->id);
    bool known = subject->expected != NULL;
    uint64_t want = known ? subject->expected(r) : 0;
    double ops = bench_operations(r) * (r->unit == US ? 1e3 : 1);
    result->row = r;
    result->repeats = o->repeats;
    result->has_raw = contestant_row(o->baseline, r->id) != NULL;
    for (int i = 0; i < o->repeats; i++) {
        progress("%s %u/%d", r->name, i + 1, o->repeats);
        for (int k = 0; k < 2; k++) {
            int c = (i + k) & 1;
            double *v = c ? &result->value[i] : &result->raw[i];
            if (c == 0 && !result->has_raw) continue;
            if (!repeat(both[c], r, v, &want, &known)) return false;
            *v /= ops;
        }
    }
    progress("%s", "");
    for (int i = 0; r->unit == SPEEDUPS && i < o->repeats; i++) result->value[i] = result->raw[i] / result->value[i];
    result->value_median = median(result->value, o->repeats);
    result->raw_median = result->has_raw ? median(result->raw, o->repeats) : 0;
    return true;
}
