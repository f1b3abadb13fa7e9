/* reef's rows of values outside of the rows. */
#include "reef_rows.h"
#include "kernels.h"

typedef Velocity VelocitySparse, VelocityPaged;
typedef Position PositionPaged;
REEF_COMPONENT_IN(VelocitySparse, REEF_SPARSE);
REEF_COMPONENT_IN(VelocityPaged, REEF_PAGED);
REEF_COMPONENT_IN(PositionPaged, REEF_PAGED);

static void sparse_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_set(s->w, s->handle[i], VelocitySparse, 1, 1);
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_remove(s->w, s->handle[i], VelocitySparse);
}
static void paged_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_set(s->w, s->handle[i], VelocityPaged, 1, 1);
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_remove(s->w, s->handle[i], VelocityPaged);
}
static void *sparse_8_setup(const bench_row *r)
{
    state *s = ar_8_setup(r);
    sparse_run(s);
    return s;
}
static uint64_t gone(const state *s) { return reef_count(s->w, VelocitySparse) + reef_count(s->w, VelocityPaged); }
static uint64_t home_sum(void *p) { return ar_sum(p) + gone(p); }
static uint64_t home_8_sum(void *p) { return ar_8_sum(p) + gone(p); }

static void *rand_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    for (uint32_t i = 0; i < r->n; i++) {
        const Position at = pos_of(i);
        s->handle[i] = reef_spawn(s->w, reef_with(PositionPaged, at.x, at.y));
    }
    shuffle_handles(s);
    return s;
}
static void get_rand_run(void *p)
{
    state *s = p;
    const reef_world *w = s->w;
    const reef_entity *h = s->handle;
    uint64_t sum = 0;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) {
        const Position *at = reef_get(w, h[i], PositionPaged);
        sum += bits_of(at->x) + bits_of(at->y);
    }
    s->sum = sum;
}
static void set_rand_run(void *p)
{
    state *s = p;
    reef_world *w = s->w;
    const reef_entity *h = s->handle;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) *reef_mut(w, h[i], PositionPaged) = (Position){(float)i, 2};
}
static uint64_t set_rand_sum(void *p)
{
    state *s = p;
    uint64_t sum = reef_count(s->w, PositionPaged);
    for (uint32_t i = 0; i < s->r->n; i++) sum += pos_sum(*reef_get(s->w, s->handle[i], PositionPaged), i);
    return sum;
}

static void *join_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    s->bundle = bundle_new(s, 1);
    for (uint32_t i = 0; i < r->n; i++) {
        const values v = {.p = pos_of(i)};
        const reef_entity e = reef_spawn_bundle(s->w, s->bundle, &v);
        const Velocity x = vel_of(i);
        if (bench_sparse(i)) reef_set(s->w, e, VelocitySparse, x.x, x.y);
    }
    s->query = query_new(s, "Position, in VelocitySparse");
    return s;
}
static void join_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++) reef_each(s->w, s->query, row)
        {
            Position *at = reef_inout_at(row, Position);
            const Velocity *v = reef_in_at(row, VelocitySparse);
            at->x += v->x * bench_dt;
            at->y += v->y * bench_dt;
        }
}

const row_impl reef_home_rows[] = {
    {ROW_add_remove_sparse, ar_setup, sparse_run, home_sum, state_free, NULL},
    {ROW_add_remove_paged, ar_setup, paged_run, home_sum, state_free, NULL},
    {ROW_add_remove_8_sparse, sparse_8_setup, sparse_run, home_8_sum, state_free, NULL},
    {ROW_iter_sparse, join_setup, join_run, sum_rows, state_free, NULL},
    {ROW_get_rand_paged, rand_setup, get_rand_run, sum_run, state_free, NULL},
    {ROW_set_rand_paged, rand_setup, set_rand_run, set_rand_sum, state_free, NULL},
    {0},
};
