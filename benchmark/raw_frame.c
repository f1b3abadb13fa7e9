/* raw's rows of a frame: deferred changes, observers, systems, copies of the whole state. */
#include "raw.h"
#include "kernels.h"

/* ---- deferred changes and observers ---- */

/* Iterates and queues the changes, then applies them one by one; twice. */
static void deferred_run(void *state)
{
    raw *w = state;
    table a = w->a, b = w->b;
    idmap x = w->ix;
    uint32_t *queue = NULL, n = 0, cap = 0;
    for (uint32_t i = 0; i < a.n; i++) {
        if (unlikely(n == cap)) {
            queue = mem_realloc(queue, sizeof *queue * cap, sizeof *queue * doubled(cap));
            cap = doubled(cap);
        }
        queue[n++] = a.id[i];
    }
    for (uint32_t i = 0; i < n; i++) add_velocity(&a, &b, &x, queue[i], 1, (Velocity){0, 0});
    n = 0;
    for (uint32_t i = 0; i < b.n; i++) queue[n++] = b.id[i];
    for (uint32_t i = 0; i < n; i++) remove_velocity(&b, &a, &x, queue[i], 1);
    mem_free(queue, sizeof *queue * cap);
    w->a = a, w->b = b;
}

static uint64_t observed;
static void observer(uint32_t id)
{
    (void)id;
    observed++;
}
static void (*volatile observer_fn)(uint32_t) = observer;

static void observer_run(void *state)
{
    raw *w = state;
    table a = w->a, b = w->b;
    idmap x = w->ix;
    void (*notify)(uint32_t) = observer_fn;
    observed = 0;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) {
        move(&a, &b, &x, w->handle[i], 1);
        notify(w->handle[i]);
    }
    w->a = a, w->b = b;
}
static uint64_t observer_sum(void *state)
{
    raw *w = state;
    return observed + raw_sum_by_handle(&w->b, w) + w->a.n;
}

/* ---- systems ---- */

typedef struct system {
    void (*run)(Position *p, uint32_t n);
    Position *p;
    uint32_t n;
} system_;
typedef struct frame {
    const bench_row *r;
    system_ s[100];
} frame;

static void step(Position *p, uint32_t n) { k_step(p, n); }
static void (*volatile step_fn)(Position *, uint32_t) = step;

static void *empty_setup(const bench_row *r)
{
    frame *f = mem_alloc(sizeof *f);
    f->r = r;
    for (uint32_t i = 0; i < r->n; i++) {
        f->s[i] = (system_){step_fn, mem_alloc(sizeof(Position)), 1};
        *f->s[i].p = pos_of(i);
    }
    return f;
}
static void empty_run(void *state)
{
    frame *f = state;
    for (uint32_t k = 0; k < f->r->passes; k++)
        for (uint32_t i = 0; i < f->r->n; i++) f->s[i].run(f->s[i].p, f->s[i].n);
}
static uint64_t empty_sum(void *state)
{
    frame *f = state;
    uint64_t s = 0;
    for (uint32_t i = 0; i < f->r->n; i++) s += pos_sum(*f->s[i].p, i);
    return s;
}
static void empty_teardown(void *state)
{
    frame *f = state;
    for (uint32_t i = 0; i < f->r->n; i++) mem_free(f->s[i].p, sizeof(Position));
    mem_free(f, sizeof *f);
}

/* ---- snapshot and restore ---- */

static void copy_out(raw *w) /* P, V, Data, id, row */
{
    table *t = &w->a;
    size_t n = w->r->n;
    char *o = w->copy;
    memcpy(o, t->col[0], 8 * n), o += 8 * n;
    memcpy(o, t->col[1], 8 * n), o += 8 * n;
    memcpy(o, t->col[2], 32 * n), o += 32 * n;
    memcpy(o, t->id, 4 * n), o += 4 * n;
    memcpy(o, w->ix.row, 4 * n);
}
static void copy_back(raw *w)
{
    table *t = &w->a;
    size_t n = w->r->n;
    const char *o = w->copy;
    memcpy(t->col[0], o, 8 * n), o += 8 * n;
    memcpy(t->col[1], o, 8 * n), o += 8 * n;
    memcpy(t->col[2], o, 32 * n), o += 32 * n;
    memcpy(t->id, o, 4 * n), o += 4 * n;
    memcpy(w->ix.row, o, 4 * n);
}
static void write_pass(raw *w) { k_iter1(POS(&w->a), w->a.n); }

static void *copy_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    table *t = &w->a;
    raw_layout(t, 3, (const uint32_t[]){8, 8, 32});
    raw_handles(w);
    for (uint32_t i = 0; i < r->n; i++) {
        w->handle[i] = create_2(t, &w->ix, pos_of(i), vel_of(i));
        ((Data *)(void *)t->col[2])[i] = (Data){i, 1, 2, 3};
    }
    w->copy = mem_alloc((size_t)56 * r->n);
    memset(w->copy, 1, (size_t)56 * r->n);
    if (r->id == ROW_restore) copy_out(w);
    write_pass(w);
    return w;
}
static void snapshot_run(void *state) { copy_out(state); }
static void restore_run(void *state) { copy_back(state); }
static uint64_t copy_sum(void *state)
{
    raw *w = state;
    if (w->r->id == ROW_snapshot) {
        write_pass(w);
        copy_back(w);
    } /* what the snapshot kept */
    uint64_t s = raw_sum_by_handle(&w->a, w);
    for (uint32_t i = 0; i < w->r->n; i++) {
        uint32_t at = w->ix.row[w->handle[i]];
        s += bits_of(VEL(&w->a)[at].x) + ((Data *)(void *)w->a.col[2])[at].a * (i + 1);
    }
    return s;
}

const row_impl raw_frame_rows[] = {
    {ROW_empty_system, empty_setup, empty_run, empty_sum, empty_teardown, NULL},
    {ROW_deferred_ar, raw_ar_setup, deferred_run, raw_ar_sum, raw_free, NULL},
    {ROW_observer_add, raw_ar_setup, observer_run, observer_sum, raw_free, NULL},
    {ROW_snapshot, copy_setup, snapshot_run, copy_sum, raw_free, NULL},
    {ROW_restore, copy_setup, restore_run, copy_sum, raw_free, NULL},
    {0},
};
