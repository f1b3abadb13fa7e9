/* Shortens a failing list of operations by delta debugging. Each try runs in a child process, so crashes, failing
 * assertions and endless loops count as failures too. */
#define _DEFAULT_SOURCE
#include "shrink.h"
#include <stdlib.h>
#include <time.h>
#if MODEL_HAS_CHILDREN
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

double seconds_now(void)
{
#if MODEL_HAS_CHILDREN
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
#else
    return (double)clock() / CLOCKS_PER_SEC;
#endif
}

void list_add(op_list *list, const op *o)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 1024;
        list->op = realloc(list->op, list->capacity * sizeof *list->op);
        if (!list->op) abort();
    }
    list->op[list->count++] = *o;
}

/* ---- children ---- */

#if !MODEL_HAS_CHILDREN

report *report_make(void) { return calloc(1, sizeof(report)); }

bool child_run(report *r, unsigned limit_seconds, child_function run, void *context)
{
    (void)limit_seconds;
    memset(r, 0, sizeof *r);
    run(r, context);
    return !r->failed;
}

#else

report *report_make(void)
{
    void *p = mmap(NULL, sizeof(report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : (report *)p;
}

bool child_run(report *r, unsigned limit_seconds, child_function run, void *context)
{
    int status = 0;
    memset(r, 0, sizeof *r);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(limit_seconds);
        run(r, context);
        fflush(NULL);
        if (r->failed) _exit(1); /* memory that a failed run leaves is no leak */
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        perror("model: fork");
        exit(2);
    }
    if (WIFSIGNALED(status)) {
        r->failed = true;
        snprintf(r->message, sizeof r->message, WTERMSIG(status) == SIGALRM ? "no end after %u s" : "died of signal %u",
                 WTERMSIG(status) == SIGALRM ? limit_seconds : (unsigned)WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0 && !r->failed) {
        r->failed = true;
        snprintf(r->message, sizeof r->message, "the process ended with status %d", WEXITSTATUS(status));
    }
    return !r->failed;
}

#endif

typedef struct list_run {
    const op_list *list;
    const run_options *o;
} list_run;

static void run_list(report *r, void *context)
{
    const list_run *l = context;
    model m;
#if MODEL_HAS_CHILDREN
    if (freopen("/dev/null", "w", stderr) == NULL) r->at = 0;
#endif
    if (!model_start(&m, l->o->seed, l->o->types, true)) {
        r->failed = true;
        return;
    }
    for (r->at = 0; r->at < l->list->count && !m.failed; r->at++) {
        model_apply(&m, &l->list->op[r->at]);
        if (!m.failed && r->at % l->o->every == l->o->every - 1) model_compare(&m, true);
    }
    if (!m.failed) model_compare(&m, true);
    if (!m.failed) model_stop(&m);
    r->failed = m.failed;
    if (m.failed && r->at > 0) r->at--;
    memcpy(r->message, m.failure, sizeof m.failure);
}

bool list_fails(const op_list *list, const run_options *o, uint32_t *at, char *message, size_t size)
{
    static report *r;
    list_run l = {list, o};
    if (!r) r = report_make();
    if (!r) exit(2);
    bool fails = !child_run(r, 60, run_list, &l);
    *at = r->at < list->count ? r->at : list->count - 1;
    if (fails) snprintf(message, size, "%s", r->message);
    return fails;
}

/* ---- shrinking ---- */

typedef struct shrinker {
    op_list *list;
    run_options o;
    double end;
    char message[600];
} shrinker;

static bool still_fails(shrinker *s, op_list *candidate)
{
    uint32_t at;
    if (candidate->count == 0 || !list_fails(candidate, &s->o, &at, s->message, sizeof s->message)) return false;
    candidate->count = at + 1;
    return true;
}

/* Tries the list without the operations start ... start + n - 1. */
static bool without(shrinker *s, uint32_t start, uint32_t n)
{
    op_list c = {malloc(s->list->count * sizeof(op)), 0, s->list->count};
    if (!c.op) abort();
    for (uint32_t i = 0; i < s->list->count; i++)
        if (i < start || i >= start + n) c.op[c.count++] = s->list->op[i];
    if (!still_fails(s, &c)) {
        free(c.op);
        return false;
    }
    free(s->list->op);
    *s->list = c;
    return true;
}

/* Tries one operation with a smaller argument. */
static bool with(shrinker *s, uint32_t i, const op *smaller)
{
    op before = s->list->op[i];
    op_list same = *s->list;
    if (memcmp(&before, smaller, sizeof before) == 0) return false;
    s->list->op[i] = *smaller;
    if (still_fails(s, &same)) {
        s->list->count = same.count;
        return true;
    }
    s->list->op[i] = before;
    return false;
}

static void simplify(shrinker *s, uint32_t i)
{
    op o = s->list->op[i];
    if (o.fail_at) {
        o.fail_at = 0;
        o.fail_on = 0;
        with(s, i, &o);
    }
    while (i < s->list->count && s->list->op[i].n > 0 && seconds_now() < s->end) {
        o = s->list->op[i];
        o.n /= 2;
        if (with(s, i, &o)) continue;
        o.n = s->list->op[i].n - 1;
        if (!with(s, i, &o)) break;
    }
    for (uint32_t k = 0; i < s->list->count && k < s->list->op[i].count && seconds_now() < s->end;) {
        o = s->list->op[i];
        if (o.count == 1) break;
        o.count--;
        for (uint32_t j = k; j < o.count; j++) {
            o.type[j] = o.type[j + 1];
            o.how[j] = o.how[j + 1];
        }
        if (!with(s, i, &o)) k++;
    }
}

static void pass(shrinker *s)
{
    for (uint32_t n = s->list->count / 2 > 0 ? s->list->count / 2 : 1;; n = n > 1 ? n / 2 : 1) {
        bool shorter = false;
        s->o.every = 1 + s->list->count / 50; /* short lists are compared more often, so they end earlier */
        for (uint32_t start = 0; start < s->list->count && seconds_now() < s->end;) {
            if (without(s, start, n)) shorter = true;
            else start += n;
        }
        if ((n == 1 && !shorter) || seconds_now() >= s->end) return;
    }
}

void shrink(op_list *list, const run_options *o, double seconds)
{
    shrinker s = {list, *o, seconds_now() + seconds, ""};
    if (!still_fails(&s, list)) return;
    pass(&s);
    for (uint32_t i = 0; i < list->count && seconds_now() < s.end; i++) simplify(&s, i);
    pass(&s);
}
