/* model: random operations on reef and on the reference.
 *
 *     model [--seeds N] [--ops N] [--first-seed S] [--seed S] [--types N] [--forks N] [--homes BITS] [--pairs]
 *     [--every N] [--shrink SECONDS] [--verbose]
 *
 * The home of each type is drawn by the seed; --homes says which may be: a bit each, by reef_home. Every seed runs
 * in a child process. When one fails, its operations are made again (without reef), shrunk, and printed as a C
 * program. With --pairs it prints how often each pair of features met, and fails if one never did. With --forks N at
 * least N forks must have lived at the same time in one of the seeds. Status: 0 all agree, 1 a difference, 2 wrong
 * use. Worlds are compared as a whole every N operations. */
#define _DEFAULT_SOURCE
#include "fork.h"
#include "shrink.h"
#include <stdlib.h>
#if MODEL_HAS_CHILDREN
#include <unistd.h>
#define PROCESS_NUMBER() ((long)getpid())
#else
#define PROCESS_NUMBER() 0L
#endif

enum { COMPARE_EVERY = 256, SEED_SECONDS = 600 };

typedef struct options {
    uint64_t seeds, first_seed, ops, types, forks, homes, pairs, every;
    uint64_t shrink_seconds;
    bool verbose;
} options;

typedef struct seed_run {
    const options *o;
    uint64_t seed;
} seed_run;

static void count(report *r, const model *m, const op *o)
{
    r->counts[o->kind]++;
    r->refused[o->kind] += m->want.status < REEF_OK;
    r->starved = m->starved;
    if (m->reference.living_count > r->most_living) r->most_living = m->reference.living_count;
    if (o->kind != OP_FORK && o->kind != OP_SNAPSHOT_FORK) return;
    uint32_t forks = forks_live(m);
    if (forks > r->most_forks) r->most_forks = forks;
}

static void run_seed(report *r, void *context)
{
    const seed_run *s = context;
    model m;
    generator g;
    op o;
    if (!types_make(seed_homes(s->seed)) || !model_start(&m, s->seed, (uint32_t)s->o->types, true)) {
        r->failed = true;
        snprintf(r->message, sizeof r->message, "no world");
        return;
    }
    generator_start(&g, s->seed);
    for (r->at = 0; r->at < s->o->ops && !m.failed; r->at++) {
        generate(&g, &m, &o);
        model_apply(&m, &o);
        count(r, &m, &o);
        if (!m.failed && r->at % s->o->every == s->o->every - 1) model_compare(&m, true);
    }
    if (!m.failed) model_compare(&m, true);
    if (!m.failed) model_stop(&m);
    if (m.failed && r->at > 0) r->at--;
    r->pairs = pairs_counted;
    r->failed = m.failed;
    memcpy(r->message, m.failure, sizeof m.failure);
}

/* The operations of a seed up to and including number `last`. */
static op_list list_again(const seed_run *s, uint32_t last)
{
    model m;
    generator g;
    op o;
    op_list list = {NULL, 0, 0};
    if (!types_make(seed_homes(s->seed))) exit(1);
    model_start(&m, s->seed, (uint32_t)s->o->types, false);
    generator_start(&g, s->seed);
    for (uint32_t i = 0; i <= last && i < s->o->ops; i++) {
        generate(&g, &m, &o);
        model_refer(&m, &o);
        list_add(&list, &o);
    }
    model_stop(&m);
    return list;
}

static void explain(const seed_run *s, const report *r)
{
    run_options o = {s->seed, (uint32_t)s->o->types, (uint32_t)s->o->every};
    op_list list = list_again(s, r->at);
    char message[600];
    uint32_t at;
    printf("seed %llu, operation %u: %s\n", (unsigned long long)s->seed, r->at, r->message);
    if (s->o->shrink_seconds == 0 || !MODEL_HAS_CHILDREN) {
        free(list.op);
        return;
    }
    printf("shrinking %u operations (%llu s at most) ...\n", list.count, (unsigned long long)s->o->shrink_seconds);
    shrink(&list, &o, (double)s->o->shrink_seconds);
    o.every = 1 + list.count / 50;
    if (!list_fails(&list, &o, &at, message, sizeof message))
        printf("a second run of the same operations does not fail\n");
    else print_program(stdout, &list, &o, message);
    free(list.op);
}

static void print_counts(const report *total)
{
    printf("%-14s %10s %10s\n", "operation", "done", "refused");
    for (uint32_t i = 0; i < OP_COUNT; i++)
        printf("%-14s %10llu %10llu\n", op_name((op_kind)i), (unsigned long long)total->counts[i],
               (unsigned long long)total->refused[i]);
}

static void add_counts(report *total, const report *r)
{
    for (uint32_t i = 0; i < OP_COUNT; i++) {
        total->counts[i] += r->counts[i];
        total->refused[i] += r->refused[i];
    }
    pairs_add(&total->pairs, &r->pairs);
    total->starved += r->starved;
    if (r->most_living > total->most_living) total->most_living = r->most_living;
    if (r->most_forks > total->most_forks) total->most_forks = r->most_forks;
}

static bool run_all(const options *o)
{
    static report total;
    report *r = report_make();
    double start = seconds_now();
    if (!r) return false;
    for (uint64_t i = 0; i < o->seeds; i++) {
        seed_run s = {o, o->first_seed + i};
        bool good = child_run(r, SEED_SECONDS, run_seed, &s);
        if (o->verbose)
            printf("seed %llu: %s, %u operations, at most %llu living, %llu forks\n", (unsigned long long)s.seed,
                   good ? "ok" : "FAILED", r->at, (unsigned long long)r->most_living,
                   (unsigned long long)r->most_forks);
        if (!good) {
            report copy = *r;
            explain(&s, &copy);
            return false;
        }
        add_counts(&total, r);
    }
    if (o->verbose) print_counts(&total);
    if (o->verbose || o->pairs) pairs_print(&total.pairs);
    printf("model: %llu seeds x %llu operations agree (%.1f s, at most %llu entities, %llu forks, %llu calls without "
           "memory)\n",
           (unsigned long long)o->seeds, (unsigned long long)o->ops, seconds_now() - start,
           (unsigned long long)total.most_living, (unsigned long long)total.most_forks,
           (unsigned long long)total.starved);
    if (total.most_forks < o->forks) printf("too few forks: %llu wanted\n", (unsigned long long)o->forks);
    const bool met = !o->pairs || pairs_missing(&total.pairs) == 0;
    return met && total.most_forks >= o->forks;
}

static bool option(const char *name, const char *given, const char *value, uint64_t *out)
{
    char *end;
    if (strcmp(name, given) != 0 || !value) return false;
    *out = strtoull(value, &end, 10);
    return end != value && *end == 0;
}

int main(int argc, char **argv)
{
    options o = {20, 1, 100000, TYPES_MAX, 0, UINT32_MAX, 0, COMPARE_EVERY, 60, false};
    uint64_t seed = 0;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--verbose") == 0) {
            o.verbose = true;
            continue;
        }
        if (strcmp(argv[i], "--pairs") == 0) {
            o.pairs = 1;
            continue;
        }
        if (option("--seed", argv[i], value, &seed)) {
            o.first_seed = seed;
            o.seeds = 1;
        } else if (!option("--seeds", argv[i], value, &o.seeds) &&
                   !option("--first-seed", argv[i], value, &o.first_seed) && !option("--ops", argv[i], value, &o.ops) &&
                   !option("--types", argv[i], value, &o.types) && !option("--forks", argv[i], value, &o.forks) &&
                   !option("--homes", argv[i], value, &o.homes) && !option("--every", argv[i], value, &o.every) &&
                   !option("--shrink", argv[i], value, &o.shrink_seconds)) {
            fprintf(stderr, "model [--seeds N] [--ops N] [--first-seed S] [--seed S] [--types N] [--forks N] [--homes "
                            "BITS] [--pairs] [--every N] [--shrink SECONDS] "
                            "[--verbose]\n");
            return 2;
        }
        i++;
    }
    if (o.every == 0) o.every = COMPARE_EVERY;
    setvbuf(stdout, NULL, _IOLBF, 0);
    homes_allowed = (uint32_t)o.homes;
    snprintf(model_path, MODEL_PATH, "model_%ld.journal", PROCESS_NUMBER());
    const bool good = run_all(&o);
    (void)remove(model_path);
    return good ? 0 : 1;
}
