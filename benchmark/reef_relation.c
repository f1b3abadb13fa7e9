/* reef's rows of relations. */
#include "reef_rows.h"
#include "mem.h"

REEF_RELATION(OrbitsTarget, REEF_EXCLUSIVE);
REEF_RELATION(DockedAt, REEF_EXCLUSIVE | REEF_GROUPED);

/* The handles of the sources, and behind them those of the targets. */
static void *relation_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    const uint32_t all = r->n + r->tables;
    s->handle = mem_alloc(all * sizeof *s->handle);
    for (uint32_t i = 0; i < all; i++) {
        const Position at = pos_of(i);
        s->handle[i] = reef_spawn(s->w, reef_with(Position, at.x, at.y));
    }
    return s;
}
static void relation_free(void *p)
{
    state *s = p;
    mem_free(s->handle, (s->r->n + s->r->tables) * sizeof *s->handle);
    s->handle = NULL;
    state_free(s);
}
static void relation_add_run(void *p)
{
    state *s = p;
    const reef_entity *source = s->handle, *target = source + s->r->n;
    for (uint32_t i = 0, n = s->r->n; i < n; i++)
        reef_relate(s->w, source[i], OrbitsTarget, target[bench_target(i, s->r->tables)]);
}
/* For each target the sum of its sources' numbers, by their place in its list. */
static void relation_iter_run(void *p)
{
    state *s = p;
    uint64_t sum = 0;
    const reef_entity *target = s->handle + s->r->n;
    for (uint32_t k = 0; k < s->r->passes; k++)
        for (uint32_t t = 0, n = s->r->tables; t < n; t++)
            for (reef_sources x = reef_sources_of(s->w, target[t], OrbitsTarget); reef_sources_next(&x);)
                for (uint32_t i = 0; i < x.count; i++) sum += x.sources[i].index ^ t;
    s->sum = sum;
}
static void *relation_iter_setup(const bench_row *r)
{
    state *s = relation_setup(r);
    relation_add_run(s);
    return s;
}
static uint64_t relation_sum(void *p)
{
    state *s = p;
    const uint64_t told = s->sum;
    if (reef_count(s->w, OrbitsTarget) != s->r->n) bench_fail(s->w, "reef_relate");
    relation_iter_run(s);
    return told ? told : s->sum / s->r->passes;
}

/* ---- sources that leave their target ---- */

static void relation_retarget_run(void *p)
{
    state *s = p;
    const uint32_t targets = s->r->tables;
    const reef_entity *source = s->handle, *target = source + s->r->n;
    for (uint32_t i = 0, n = s->r->n; i < n; i++)
        reef_retarget(s->w, source[i], OrbitsTarget, target[bench_target(i, targets)],
                      target[bench_next_target(i, targets)]);
}
static void relation_remove_run(void *p)
{
    state *s = p;
    const reef_entity *source = s->handle, *target = source + s->r->n;
    for (uint32_t i = 0, n = s->r->n; i < n; i++)
        if (i & 1) reef_remove(s->w, source[i], OrbitsTarget);
        else reef_unrelate(s->w, source[i], OrbitsTarget, target[bench_target(i, s->r->tables)]);
}
/* How many are left, and the sum of relation_iter_run. */
static uint64_t relation_left(void *p)
{
    state *s = p;
    relation_iter_run(s);
    return s->sum + (reef_count(s->w, OrbitsTarget) << 40) + s->r->n;
}

/* ---- the same by commands ---- */

static void relate_some(reef_block *b)
{
    const reef_entity *target = b->context;
    const Position *number = reef_in(b, Position);
    for (uint32_t i = 0; i < b->count; i++)
        reef_cmd_relate(b, b->entities[i], OrbitsTarget, target[(uint32_t)number[i].x]);
}
/* Each source has the number of its target in Position. */
static void *relation_command_setup(const bench_row *r)
{
    state *s = relation_setup(r);
    const reef_system_desc desc = {.name = "relate",
                                   .function = relate_some,
                                   .text = "in Position, with Tag1; relates OrbitsTarget",
                                   .context = s->handle + r->n};
    for (uint32_t i = 0; i < r->n; i++) {
        reef_set(s->w, s->handle[i], Position, (float)bench_target(i, r->tables), 0);
        reef_add(s->w, s->handle[i], Tag1);
    }
    if (reef_system_is_null(reef_system_new(s->w, &desc))) bench_fail(s->w, "reef_system_new");
    return s;
}
static void relation_tick_run(void *p)
{
    state *s = p;
    if (reef_tick(s->w, 0) != REEF_OK) bench_fail(s->w, "reef_tick");
}

/* One relation was made before, so that the run counts only the memory of further targets. */
static void *relation_memory_setup(const bench_row *r)
{
    state *s = relation_setup(r);
    reef_relate(s->w, s->handle[0], OrbitsTarget, s->handle[r->n]);
    return s;
}
static uint64_t relation_memory_expected(const bench_row *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) sum += i ^ bench_target(i, r->tables);
    return sum;
}

/* ---- grouped relations ---- */

static void tick(state *s)
{
    if (reef_tick(s->w, 0) != REEF_OK) bench_fail(s->w, "reef_tick");
}

static void *grouped_setup(const bench_row *r)
{
    state *s = relation_setup(r);
    const reef_entity *target = s->handle + r->n;
    for (uint32_t i = 0; i < r->n; i++) reef_relate(s->w, s->handle[i], DockedAt, target[bench_target(i, r->tables)]);
    tick(s);
    s->query = query_new(s, "Position");
    reef_query_order(s->w, s->query, &(reef_order){.relation = reef_id(DockedAt)});
    return s;
}
/* The same query, which also names the relation. */
static void *named_setup(const bench_row *r)
{
    state *s = grouped_setup(r);
    reef_query_free(s->w, s->query);
    s->query = query_new(s, "Position, with DockedAt");
    reef_query_order(s->w, s->query, &(reef_order){.relation = reef_id(DockedAt)});
    return s;
}
static void grouped_run(void *p)
{
    state *s = p;
    const reef_entity *target = s->handle + s->r->n;
    for (uint32_t k = 0; k < s->r->passes; k++)
        for (uint32_t t = 0, n = s->r->tables; t < n; t++) {
            const reef_loop at = {.grouped = true, .group = reef_key_entity(target[t])};
            const float x = (float)(t & 7);
            for (reef_block b = reef_begin_loop(s->w, s->query, &at); reef_next(&b);) {
                Position *at_target = reef_inout(&b, Position);
                for (uint32_t i = 0; i < b.count; i++) at_target[i].x += x;
            }
        }
}
static uint64_t grouped_sum(void *p)
{
    state *s = p;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->r->n; i++) sum += bits_of(reef_get(s->w, s->handle[i], Position)->x) ^ i;
    return sum;
}

static void *group_setup(const bench_row *r)
{
    state *s = grouped_setup(r);
    const reef_entity *target = s->handle + r->n;
    for (uint32_t k = 0; k < r->n / 100; k++)
        reef_relate(s->w, s->handle[bench_moved_source(k, r->n)], DockedAt, target[bench_moved_target(k, r->tables)]);
    return s;
}
static void group_run(void *p) { tick(p); }
static uint64_t group_sum(void *p)
{
    state *s = p;
    uint64_t sum = 0;
    uint32_t last = UINT32_MAX;
    const reef_query q = query_new(s, "in Position, with DockedAt");
    reef_each(s->w, q, row)
    {
        const uint32_t t = reef_target(s->w, row.entity, DockedAt).index - s->handle[s->r->n].index;
        sum += (uint64_t)(row.entity.index - s->handle[0].index) * (t + 1);
        sum += (uint64_t)(t != last) << 40;
        last = t;
    }
    reef_query_free(s->w, q);
    return sum;
}

const row_impl reef_relation_rows[] = {
    {ROW_rel_add, relation_setup, relation_add_run, relation_sum, relation_free, NULL},
    {ROW_rel_retarget, relation_iter_setup, relation_retarget_run, relation_left, relation_free, NULL},
    {ROW_rel_remove, relation_iter_setup, relation_remove_run, relation_left, relation_free, NULL},
    {ROW_rel_iter, relation_iter_setup, relation_iter_run, relation_sum, relation_free, NULL},
    {ROW_rel_grouped, grouped_setup, grouped_run, grouped_sum, relation_free, NULL},
    {ROW_rel_group_named, named_setup, grouped_run, grouped_sum, relation_free, NULL},
    {ROW_rel_group, group_setup, group_run, group_sum, relation_free, NULL},
    {ROW_mem_rel, relation_memory_setup, relation_add_run, relation_sum, relation_free, relation_memory_expected},
    {ROW_cmd_relate, relation_command_setup, relation_tick_run, relation_sum, relation_free, NULL},
    {0},
};

/* Relations made by calls, and a query that doesn't name its relation. Rows are compared with them instead of raw. */
const row_impl reef_alone_relation_rows[] = {
    {ROW_rel_group_named, grouped_setup, grouped_run, grouped_sum, relation_free, NULL},
    {ROW_cmd_relate, relation_setup, relation_add_run, relation_sum, relation_free, NULL},
    {0},
};
