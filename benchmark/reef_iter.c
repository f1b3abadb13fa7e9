/* reef's rows of loops over everything that matches. */
#include "reef_rows.h"
#include "kernels.h"
#include "mem.h"

static void *iter_setup(const bench_row *r) { return state_pv(r, false); }

static void *iter_1_setup(const bench_row *r)
{
    state *s = state_pv(r, false);
    reef_query_free(s->w, s->query);
    s->query = query_new(s, "Position");
    return s;
}
static void iter_1_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++)
        for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);) k_iter1(reef_inout(&b, Position), b.count);
}
static void iter_2_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++)
        for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);)
            k_iter2(reef_inout(&b, Position), reef_in(&b, Velocity), b.count, bench_dt);
}

/* Even entities with Velocity, odd ones without. */
static void *half_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    reef_bundle *one = bundle_new(s, 1);
    s->bundle = bundle_new(s, 2);
    for (uint32_t i = 0; i < r->n; i++) {
        values v = {.p = pos_of(i), .v = vel_of(i)};
        reef_spawn_bundle(s->w, i & 1 ? one : s->bundle, &v);
    }
    reef_bundle_free(one);
    s->query = query_new(s, "Position, in Velocity");
    return s;
}

static void *iter_5_setup(const bench_row *r)
{
    const reef_value more[] = {reef_with(C3, {2, 1, 1, 1}), reef_with(C4, {3, 1, 1, 1}), reef_with(C5, {4, 1, 1, 1})};
    state *s = state_new(r, false);
    for (uint32_t i = 0; i < r->n; i += SETUP_BATCH) batch_spawn(s, i, NULL, more, 3);
    s->query = query_new(s, "Position, in Velocity, in C3, in C4, in C5");
    return s;
}
static void iter_5_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++)
        for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);)
            k_iter5(reef_inout(&b, Position), reef_in(&b, Velocity), reef_in(&b, C3), reef_in(&b, C4), reef_in(&b, C5),
                    b.count);
}

/* ---- many tables ---- */

/* Each table has one component that no other table has, beside Position. */
static void *frag_26_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    uint32_t each = r->n / r->tables;
    for (uint32_t i = 0; i < r->tables; i++) {
        char name[16];
        snprintf(name, sizeof name, "Own%u", i);
        reef_component own = reef_type_new(&(reef_type_desc){.name = name, .size = 4}, NULL);
        for (uint32_t k = 0; k < each; k++) {
            Position p = pos_of(i * each + k);
            const reef_value v[] = {reef_value_make(reef_id(Position), REEF_VALUE_ONE, sizeof p, &p),
                                    reef_value_make(own, REEF_VALUE_DEFAULT, 0, NULL)};
            reef_spawn_values(s->w, v, 2);
        }
    }
    s->query = query_new(s, "Position");
    return s;
}
static void frag_26_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++) {
        float f = k & 1 ? 0.5f : 2.0f;
        for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);) k_scale(reef_inout(&b, Position), b.count, f);
        BENCH_BARRIER();
    }
}

/* A bundle of Position, Velocity and the tags that are the bits of `set`. */
static reef_bundle *tagged_bundle(state *s, uint32_t set)
{
    reef_bundle_part parts[2 + 16] = {{reef_id(Position), offsetof(values, p)},
                                      {reef_id(Velocity), offsetof(values, v)}};
    uint32_t n = 2;
    for (uint32_t t = 0; t < 16; t++)
        if (set >> t & 1) parts[n++].component = tag_type(t);
    reef_bundle *b = reef_bundle_new(s->w, parts, n);
    if (!b) bench_fail(s->w, "reef_bundle_new");
    return b;
}
state *frag_tables(const bench_row *r)
{
    state *s = state_new(r, false);
    reef_bundle **bundles = mem_alloc(sizeof *bundles * r->tables);
    for (uint32_t i = 0; i < r->tables; i++) bundles[i] = tagged_bundle(s, i);
    for (uint32_t i = 0; i < r->n; i++) {
        values v = {.p = pos_of(i), .v = vel_of(i)};
        reef_spawn_bundle(s->w, bundles[i % r->tables], &v);
    }
    for (uint32_t i = 0; i < r->tables; i++) reef_bundle_free(bundles[i]);
    mem_free(bundles, sizeof *bundles * r->tables);
    s->query = query_new(s, "Position, in Velocity");
    return s;
}

static void *frag_1k_setup(const bench_row *r) { return frag_tables(r); }

/* ---- bits: switches made at run time, Switch0 is asked for ---- */

static void *bits_setup(const bench_row *r)
{
    const uint32_t switches = r->id == ROW_iter_bit ? 1 : 10;
    reef_component types[10];
    state *s = state_new(r, false);
    for (uint32_t t = 0; t < switches; t++) {
        char name[16];
        snprintf(name, sizeof name, "Switch%u", t);
        types[t] = reef_type_new(&(reef_type_desc){.name = name, .home = REEF_BIT}, NULL);
    }
    for (uint32_t first = 0; first < r->n; first += SETUP_BATCH) {
        reef_entity e[SETUP_BATCH], on[SETUP_BATCH];
        const uint32_t n = batch_spawn(s, first, e, NULL, 0);
        for (uint32_t t = 0; t < switches; t++) {
            uint32_t count = 0;
            for (uint32_t i = 0; i < n; i++) { /* without a branch, which would be mispredicted half of the time */
                on[count] = e[i];
                count += bench_tags(first + i) >> t & 1;
            }
            for (uint32_t i = 0; i < count; i++) reef_add_id(s->w, on[i], types[t], NULL, NULL);
        }
    }
    s->query = query_new(s, "Position, in Velocity, with Switch0");
    return s;
}
static void bits_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++)
        for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);) {
            const uint64_t *mask = reef_block_mask(&b);
            if (mask) k_iter2_bits(reef_inout(&b, Position), reef_in(&b, Velocity), mask, b.count, bench_dt);
            else k_iter2(reef_inout(&b, Position), reef_in(&b, Velocity), b.count, bench_dt);
        }
}

const row_impl reef_iter_rows[] = {
    {ROW_iter_1, iter_1_setup, iter_1_run, sum_rows, state_free, NULL},
    {ROW_iter_2_1k, iter_setup, iter_2_run, sum_rows, state_free, NULL},
    {ROW_iter_2_10k, iter_setup, iter_2_run, sum_rows, state_free, NULL},
    {ROW_iter_2_1m, iter_setup, iter_2_run, sum_rows, state_free, NULL},
    {ROW_iter_2_10m, iter_setup, iter_2_run, sum_rows, state_free, NULL},
    {ROW_iter_2_half, half_setup, iter_2_run, sum_rows, state_free, NULL},
    {ROW_iter_5, iter_5_setup, iter_5_run, sum_rows, state_free, NULL},
    {ROW_iter_frag_26, frag_26_setup, frag_26_run, sum_rows, state_free, NULL},
    {ROW_iter_frag_1k, frag_1k_setup, iter_2_run, sum_rows, state_free, NULL},
    {ROW_iter_frag_1k_bit, bits_setup, bits_run, sum_rows, state_free, NULL},
    {ROW_iter_bit, bits_setup, bits_run, sum_rows, state_free, NULL},
    {0},
};
