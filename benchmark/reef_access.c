/* reef's rows that reach entities by their handles in random order. */
#include "mem.h"
#include "reef_rows.h"

enum { BATCH = 500 };

static void *rand_setup(const bench_row *r)
{
    state *s = state_pv(r, true);
    shuffle_handles(s);
    return s;
}

static void get_rand_run(void *p)
{
    state *s = p;
    const reef_world *w = s->w;
    const reef_entity *h = s->handle;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < s->r->passes; k++) {
        for (uint32_t i = 0, n = s->r->n; i < n; i++) {
            const Position *at = reef_get(w, h[i], Position);
            sum += bits_of(at->x) + bits_of(at->y);
        }
        BENCH_BARRIER();
    }
    s->sum = sum;
}
static void get_many_run(void *p)
{
    state *s = p;
    Position buffer[BATCH];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->r->n; i += BATCH) {
        uint32_t n = s->r->n - i < BATCH ? s->r->n - i : BATCH;
        reef_get_many(s->w, Position, s->handle + i, n, buffer);
        for (uint32_t k = 0; k < n; k++) sum += bits_of(buffer[k].x) + bits_of(buffer[k].y);
    }
    s->sum = sum;
}

/* The references are in the caller's memory, in the order of use, as the handles are in other rows. */
typedef struct ref_state {
    state *s;
    reef_ref *ref;
} ref_state;

static void *ref_setup(const bench_row *r)
{
    ref_state *x = mem_calloc(1, sizeof *x);
    x->s = rand_setup(r);
    x->ref = mem_alloc(sizeof *x->ref * r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        x->ref[i] = reef_ref_make(x->s->w, x->s->handle[i], Position);
        if (reef_ref_get(x->s->w, &x->ref[i], Position) == NULL) bench_fail(x->s->w, "reef_ref_get");
    }
    return x;
}
static void ref_get_run(void *p)
{
    ref_state *x = p;
    const reef_world *w = x->s->w;
    reef_ref *ref = x->ref;
    uint64_t sum = 0;
    for (uint32_t i = 0, n = x->s->r->n; i < n; i++) {
        const Position *at = reef_ref_get(w, &ref[i], Position);
        sum += bits_of(at->x) + bits_of(at->y);
    }
    x->s->sum = sum;
}
static uint64_t ref_sum(void *p) { return ((ref_state *)p)->s->sum; }
static void ref_free(void *p)
{
    ref_state *x = p;
    mem_free(x->ref, sizeof *x->ref * x->s->r->n);
    state_free(x->s);
    mem_free_unsized(x);
}

static void set_rand_run(void *p)
{
    state *s = p;
    reef_world *w = s->w;
    const reef_entity *h = s->handle;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) *reef_mut(w, h[i], Position) = (Position){(float)i, 2};
}
static uint64_t set_rand_sum(void *p)
{
    state *s = p;
    return sum_by_handle(s) + reef_count(s->w, Position);
}

/* Odd entities with Velocity, even ones without. */
static void *has_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    reef_bundle *one = bundle_new(s, 1);
    s->bundle = bundle_new(s, 2);
    for (uint32_t i = 0; i < r->n; i++) {
        values v = {.p = pos_of(i), .v = vel_of(i)};
        s->handle[i] = reef_spawn_bundle(s->w, i & 1 ? s->bundle : one, &v);
    }
    reef_bundle_free(one);
    shuffle_handles(s);
    return s;
}
static void has_run(void *p)
{
    state *s = p;
    const reef_world *w = s->w;
    const reef_entity *h = s->handle;
    uint64_t sum = 0;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) sum += reef_has(w, h[i], Velocity);
    s->sum = sum;
}

const row_impl reef_access_rows[] = {
    {ROW_get_rand, rand_setup, get_rand_run, sum_run, state_free, NULL},
    {ROW_get_rand_small, rand_setup, get_rand_run, sum_run, state_free, NULL},
    {ROW_get_rand_many, rand_setup, get_many_run, sum_run, state_free, NULL},
    {ROW_ref_get, ref_setup, ref_get_run, ref_sum, ref_free, NULL},
    {ROW_set_rand, rand_setup, set_rand_run, set_rand_sum, state_free, NULL},
    {ROW_has_rand, has_setup, has_run, sum_run, state_free, NULL},
    {0},
};
