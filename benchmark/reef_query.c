/* reef's rows about queries themselves: making one, looking for what changed. */
#include "reef_rows.h"
#include "kernels.h"
#include "mem.h"
#include <stdlib.h>

/* ---- query_build ---- */

static void *build_setup(const bench_row *r) { return frag_tables(r); }

/* Makes a query, visits every block once, but not its rows, and frees the query. */
static void build_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++) {
        reef_query q = reef_query_new(s->w, "in Position, in Velocity");
        for (reef_block b = reef_begin(s->w, q); reef_next(&b);) s->sum += b.count;
        reef_query_free(s->w, q);
    }
}
static uint64_t build_expected(const bench_row *r) { return (uint64_t)r->n * r->passes; }

/* ---- iter_changed ---- */

static void changed_pass(state *s)
{
    for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);)
        k_iter2(reef_inout(&b, Position), reef_in(&b, Velocity), b.count, bench_dt);
}

/* The query ran, and then every hundredth block was written. */
static void *changed_setup(const bench_row *r)
{
    state *s = state_pv(r, false);
    reef_query_free(s->w, s->query);
    s->query = reef_query_make(
        s->w,
        &(reef_query_desc){.terms = {{.component = reef_id(Position)},
                                     {.component = reef_id(Velocity), .access = REEF_IN, .since = REEF_IF_CHANGED}}});
    if (reef_query_is_null(s->query)) bench_fail(s->w, "reef_query_make");
    changed_pass(s);
    for (uint32_t i = 0; i < r->n; i += 100 * REEF_BLOCK_ROWS)
        reef_mut(s->w, reef_entity_at(s->w, i), Velocity)->x += 1;
    return s;
}
static void changed_run(void *p) { changed_pass(p); }

/* One pass over everything, and one over every hundredth block, whose first velocity is another one. */
static uint64_t changed_expected(const bench_row *r)
{
    const float dt = bench_dt;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        Position p = pos_of(i);
        Velocity v = vel_of(i);
        uint32_t block = i / REEF_BLOCK_ROWS;
        p.x += v.x * dt;
        p.y += v.y * dt;
        if (block % 100 == 0) {
            if (i % REEF_BLOCK_ROWS == 0) v.x += 1;
            p.x += v.x * dt;
            p.y += v.y * dt;
        }
        sum += pos_sum(p, 0);
    }
    return sum;
}

/* ---- changed_rows ---- */

typedef Position Tracked;
static const reef_hooks row_tracking = {.track_rows = true};
REEF_COMPONENT_HOOKS(Tracked, &row_tracking);

static void tracked_pass(state *s)
{
    uint64_t sum = 0;
    reef_each(s->w, s->query, row) sum += pos_sum(*reef_in_at(row, Tracked), 0);
    s->sum = sum;
}
/* The query ran, and everything is as it was. */
static void *tracked_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    uint32_t changes = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const Position at = pos_of(i);
        const reef_entity e = reef_spawn(s->w, reef_with(Tracked, at.x, at.y));
        if (bench_sparse(i)) s->handle[changes++] = e;
    }
    if (changes != r->ops) bench_fail(NULL, "bench_sparse");
    s->query = query_new(s, "changed in Tracked");
    tracked_pass(s);
    return s;
}
static void tracked_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->ops; i < n; i++) reef_mut(s->w, s->handle[i], Tracked)->y = 2;
    tracked_pass(s);
}
static uint64_t tracked_expected(const bench_row *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->n; i++)
        if (bench_sparse(i)) sum += pos_sum((Position){pos_of(i).x, 2}, 0);
    return sum;
}

/* ---- sort_repair ---- */

/* The x of row i; the second time it is another one. Rows that are neighbours in the order aren't neighbours in the
 * table. (7,919 and N are coprime.) */
static float repair_x(const bench_row *r, uint32_t i, uint32_t time)
{
    return (float)((uint64_t)i * 7919 % r->n) + (float)time * 0.5f;
}
static uint64_t repair_key(const void *value) { return reef_key_f32(((const Position *)value)->x); }
static void repair_pass(state *s)
{
    uint64_t sum = 0;
    for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);) {
        const Position *p = reef_in(&b, Position);
        for (uint32_t i = 0; i < b.count; i++) sum = sum * 31 + bits_of(p[i].x);
    }
    s->sum = sum;
}

/* Orders the query and runs a loop; then reverses the keys in every hundredth block. */
static void *repair_setup(const bench_row *r)
{
    state *s = state_pv(r, false);
    uint32_t i = 0;
    for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);)
        for (uint32_t k = 0; k < b.count; k++) reef_inout(&b, Position)[k].x = repair_x(r, i++, 0);
    reef_query_free(s->w, s->query);
    s->query = query_new(s, "in Position");
    if (reef_query_order(s->w, s->query, &(reef_order){.component = reef_id(Position), .key = repair_key}) < 0)
        bench_fail(s->w, "reef_query_order");
    repair_pass(s);
    for (i = 0; i < r->n; i++)
        if (i / REEF_BLOCK_ROWS % 100 == 0)
            reef_mut(s->w, reef_entity_at(s->w, i), Position)->x = repair_x(r, r->n - 1 - i, 1);
    return s;
}
static void repair_run(void *p) { repair_pass(p); }

static int float_compare(const void *a, const void *b)
{
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}
static uint64_t repair_expected(const bench_row *r)
{
    float *x = malloc(r->n * sizeof *x);
    uint64_t sum = 0;
    if (x == NULL) bench_fail(NULL, "malloc");
    for (uint32_t i = 0; i < r->n; i++)
        x[i] = i / REEF_BLOCK_ROWS % 100 == 0 ? repair_x(r, r->n - 1 - i, 1) : repair_x(r, i, 0);
    qsort(x, r->n, sizeof *x, float_compare);
    for (uint32_t i = 0; i < r->n; i++) sum = sum * 31 + bits_of(x[i]);
    free(x);
    return sum;
}

/* ---- query_join ---- */

REEF_RELATION(DockedTo, REEF_EXCLUSIVE);

static void *join_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    reef_entity *ship = mem_alloc(sizeof *ship * r->n), *port = mem_alloc(sizeof *port * JOIN_PORTS);
    for (uint32_t i = 0; i < r->n; i++) {
        const Position p = pos_of(i);
        ship[i] = reef_spawn(s->w, reef_with(Position, p.x, p.y));
    }
    for (uint32_t k = 0; k < JOIN_PORTS; k++) {
        const Velocity v = vel_of(k);
        port[k] = join_open(k) ? reef_spawn(s->w, reef_with(Velocity, v.x, v.y)) : reef_spawn(s->w, reef_tag(Tag1));
    }
    for (uint32_t i = 0; i < r->n; i++)
        if (reef_relate(s->w, ship[i], DockedTo, port[join_port(i)]) < 0) bench_fail(s->w, "reef_relate");
    mem_free(ship, sizeof *ship * r->n);
    mem_free(port, sizeof *port * JOIN_PORTS);
    s->query = query_new(s, "Position, DockedTo($port), in Velocity($port)");
    return s;
}
static void join_run(void *p)
{
    state *s = p;
    const Velocity *room[REEF_BLOCK_ROWS];
    for (uint32_t k = 0; k < s->r->passes; k++)
        for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);)
            k_join(reef_inout(&b, Position), reef_reach(&b, Velocity, 1, room), reef_block_mask(&b), b.count, bench_dt);
}

/* ---- value_term ---- */

typedef struct {
    int32_t of;
} Level;
REEF_COMPONENT(Level);
REEF_FIELDS(Level, of);

static int32_t level_of(uint32_t i) { return (int32_t)((i * 2654435761u >> 8) % 100); }

static void *value_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    for (uint32_t i = 0; i < r->n; i++)
        if (reef_entity_is_null(reef_spawn(s->w, reef_with(Level, level_of(i))))) bench_fail(s->w, "reef_spawn");
    s->query = query_new(s, "Level(of < 50)");
    return s;
}
static void value_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++) s->sum += reef_query_count(s->w, s->query);
}
static uint64_t value_expected(const bench_row *r)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) n += level_of(i) < 50;
    return n * r->passes;
}

/* ---- match_new ---- */

/* An entity with Position, two tags and, if `more`, a third one. The k-th pair of tags is another one for each k. */
static void match_spawn(state *s, uint32_t k, bool more)
{
    const Position at = pos_of(k);
    const uint32_t first = k % PART_TAGS, second = (first + 1 + k / PART_TAGS) % PART_TAGS;
    const reef_value parts[] = {reef_value_make(reef_id(Position), REEF_VALUE_ONE, sizeof at, &at),
                                reef_value_make(s->part[first], REEF_VALUE_DEFAULT, 0, NULL),
                                reef_value_make(s->part[second], REEF_VALUE_DEFAULT, 0, NULL),
                                reef_value_make(reef_id(Tag1), REEF_VALUE_DEFAULT, 0, NULL)};
    if (reef_entity_is_null(reef_spawn_values(s->w, parts, more ? 4 : 3))) bench_fail(s->w, "reef_spawn_values");
}

static void *match_setup(const bench_row *r)
{
    state *s = state_new(r, false);
    reef_query_desc d = {
        .terms = {{.component = reef_id(Position), .access = REEF_IN}, {.access = REEF_WITH}, {.access = REEF_WITH}}};
    for (uint32_t t = 0; t < PART_TAGS; t++) s->part[t] = tag_type(t);
    s->queries = mem_alloc(r->n * sizeof *s->queries);
    for (uint32_t k = 0; k < r->n; k++) {
        d.terms[1].component = s->part[k % PART_TAGS];
        d.terms[2].component = s->part[(k % PART_TAGS + 1 + k / PART_TAGS) % PART_TAGS];
        s->queries[k] = reef_query_make(s->w, &d);
        if (reef_query_is_null(s->queries[k])) bench_fail(s->w, "reef_query_make");
        match_spawn(s, k, false);
    }
    for (uint32_t k = 0; k < r->n; k++) (void)reef_query_count(s->w, s->queries[k]);
    return s;
}
static void match_free(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->n; k++) reef_query_free(s->w, s->queries[k]);
    mem_free(s->queries, s->r->n * sizeof *s->queries);
    state_free(s);
}
static void match_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++) {
        match_spawn(s, k, true);
        for (uint32_t i = 0; i < s->r->n; i++) s->sum += reef_query_count(s->w, s->queries[i]);
    }
}
static uint64_t match_expected(const bench_row *r)
{
    return (uint64_t)r->passes * r->n + (uint64_t)r->passes * (r->passes + 1) / 2;
}

const row_impl reef_query_rows[] = {
    {ROW_query_build, build_setup, build_run, sum_run, state_free, build_expected},
    {ROW_iter_changed, changed_setup, changed_run, sum_rows, state_free, changed_expected},
    {ROW_query_join, join_setup, join_run, sum_rows, state_free, NULL},
    {ROW_value_term, value_setup, value_run, sum_run, state_free, value_expected},
    {ROW_match_new, match_setup, match_run, sum_run, match_free, match_expected},
    {ROW_changed_rows, tracked_setup, tracked_run, sum_run, state_free, tracked_expected},
    {ROW_sort_repair, repair_setup, repair_run, sum_run, state_free, repair_expected},
    {0},
};
