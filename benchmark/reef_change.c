/* reef's rows that add and remove components. */
#include "reef_rows.h"

static void ar_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_set(s->w, s->handle[i], Velocity, 1, 1);
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_remove(s->w, s->handle[i], Velocity);
}
static void ar_tag_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_add(s->w, s->handle[i], Tag1);
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_remove(s->w, s->handle[i], Tag1);
}
static void ar_bit_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_add(s->w, s->handle[i], Bit1);
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_remove(s->w, s->handle[i], Bit1);
}

/* n entities with Position alone. */
void *ar_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    s->bundle = bundle_new(s, 1);
    for (uint32_t i = 0; i < r->n; i++) {
        values v = {.p = pos_of(i)};
        s->handle[i] = reef_spawn_bundle(s->w, s->bundle, &v);
    }
    if (r->id == ROW_add_remove_1_warm) ar_run(s);
    return s;
}
/* n entities with Position and C3..C8, after a first pass. */
void *ar_8_setup(const bench_row *r)
{
    const reef_bundle_part parts[] = {
        {reef_id(Position), offsetof(values, p)}, {reef_id(C3), offsetof(values, c[0])},
        {reef_id(C4), offsetof(values, c[1])},    {reef_id(C5), offsetof(values, c[2])},
        {reef_id(C6), offsetof(values, c[3])},    {reef_id(C7), offsetof(values, c[4])},
        {reef_id(C8), offsetof(values, c[5])},
    };
    state *s = state_new(r, true);
    s->bundle = reef_bundle_new(s->w, parts, 7);
    if (!s->bundle) bench_fail(s->w, "reef_bundle_new");
    for (uint32_t i = 0; i < r->n; i++) {
        values v = {.p = pos_of(i)};
        for (int c = 0; c < 6; c++) v.c[c] = (Vec4){{(float)(c + 1), 1, 1, (float)(i & 63)}};
        s->handle[i] = reef_spawn_bundle(s->w, s->bundle, &v);
    }
    if (r->id == ROW_add_remove_8) ar_run(s);
    return s;
}

uint64_t ar_sum(void *p)
{
    state *s = p;
    return sum_by_handle(s) + reef_count(s->w, Position) + reef_count(s->w, Velocity) + reef_count(s->w, Tag1) +
           reef_count(s->w, Bit1);
}
uint64_t ar_8_sum(void *p)
{
    state *s = p;
    const reef_component c[] = {reef_id(C3), reef_id(C4), reef_id(C5), reef_id(C6), reef_id(C7), reef_id(C8)};
    uint64_t sum = ar_sum(p);
    for (uint32_t i = 0; i < s->r->n; i++)
        for (uint32_t k = 0; k < 6; k++)
            sum += bits_of(((const Vec4 *)reef_get_id(s->w, s->handle[i], c[k]))->v[3]) * (i + k + 1);
    return sum;
}

/* ---- observers ---- */

static uint64_t observed;
static void count_added(const reef_notice *n) { observed += n->count; }

static void *observer_setup(const bench_row *r)
{
    state *s = ar_setup(r);
    if (reef_observer_is_null(reef_observe(s->w, count_added, REEF_ON_ADD, Tag1))) bench_fail(s->w, "reef_observe");
    return s;
}
static void observer_run(void *p)
{
    state *s = p;
    observed = 0;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) reef_add(s->w, s->handle[i], Tag1);
}
static uint64_t observer_sum(void *p)
{
    state *s = p;
    return observed + sum_by_handle(s) + reef_count(s->w, Tag1);
}

/* ---- whole queries ---- */

static void bulk_add_run(void *p)
{
    state *s = p;
    if (reef_add_where(s->w, s->query, Velocity) != REEF_OK) bench_fail(s->w, "reef_add_where");
}
static void *bulk_add_setup(const bench_row *r)
{
    state *s = ar_setup(r);
    s->query = query_new(s, "Position");
    if (r->id == ROW_bulk_add_cold) return s;
    bulk_add_run(s);
    if (reef_remove_where(s->w, s->query, Velocity) != REEF_OK) bench_fail(s->w, "reef_remove_where");
    return s;
}
static uint64_t bulk_add_sum(void *p)
{
    state *s = p;
    uint64_t sum = sum_by_handle(s), i = 0;
    reef_query q = query_new(s, "in Velocity");
    for (reef_block b = reef_begin(s->w, q); reef_next(&b);)
        for (uint32_t k = 0; k < b.count; k++) sum += pos_sum((Position){reef_in(&b, Velocity)[k].x + 1, 2}, i++);
    return sum;
}
static uint64_t bulk_add_expected(const bench_row *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) sum += pos_sum(pos_of(i), i) + pos_sum((Position){1, 2}, i);
    return sum;
}

const row_impl reef_change_rows[] = {
    {ROW_add_remove_1, ar_setup, ar_run, ar_sum, state_free, NULL},
    {ROW_add_remove_1_warm, ar_setup, ar_run, ar_sum, state_free, NULL},
    {ROW_add_remove_8, ar_8_setup, ar_run, ar_8_sum, state_free, NULL},
    {ROW_add_remove_tag, ar_setup, ar_tag_run, ar_sum, state_free, NULL},
    {ROW_add_remove_tag_bit, ar_setup, ar_bit_run, ar_sum, state_free, NULL},
    {ROW_observer_add, observer_setup, observer_run, observer_sum, state_free, NULL},
    {ROW_bulk_add_query, bulk_add_setup, bulk_add_run, bulk_add_sum, state_free, bulk_add_expected},
    {ROW_bulk_add_cold, bulk_add_setup, bulk_add_run, bulk_add_sum, state_free, bulk_add_expected},
    {0},
};
