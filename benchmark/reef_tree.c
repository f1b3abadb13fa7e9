/* reef's rows about hierarchies: Position is the place in the world, Velocity the place beside the parent. */
#include "kernels.h"
#include "mem.h"
#include "reef_rows.h"

static void build(state *s)
{
    for (uint32_t i = 0, n = s->r->n; i < n; i++) {
        const values v = {.v = vel_of(i)};
        s->handle[i] = reef_spawn_bundle(s->w, s->bundle, &v);
        if (i) reef_relate(s->w, s->handle[i], ChildOf, s->handle[bench_tree_parent(i)]);
    }
}
/* Each node by one call. */
static void build_spawn_run(void *p)
{
    state *s = p;
    for (uint32_t i = 0, n = s->r->n; i < n; i++) {
        const Velocity v = vel_of(i);
        s->handle[i] = i == 0 ? reef_spawn(s->w, reef_with(Position, 0, 0), reef_with(Velocity, v.x, v.y))
                              : reef_spawn(s->w, reef_with(ChildOf, .target = s->handle[bench_tree_parent(i)]),
                                           reef_with(Position, 0, 0), reef_with(Velocity, v.x, v.y));
    }
}
static void *empty_setup(const bench_row *r)
{
    state *s = state_new(r, true);
    s->bundle = bundle_new(s, 2);
    return s;
}
static void build_run(void *p) { build(p); }
static uint64_t build_sum(void *p)
{
    const state *s = p;
    uint64_t sum = reef_count(s->w, Position);
    for (uint32_t i = 1; i < s->r->n; i++)
        sum += pos_sum(
            (Position){reef_get(s->w, s->handle[i], Velocity)->x, (float)reef_parent(s->w, s->handle[i]).index}, i);
    return sum;
}

static void *tree_setup(const bench_row *r)
{
    state *s = empty_setup(r);
    build(s);
    s->query = query_new(s, "Position, in Velocity");
    if (reef_query_order(s->w, s->query, &(reef_order){.relation = reef_id(ChildOf)}) != REEF_OK)
        bench_fail(s->w, "reef_query_order");
    return s;
}
static void walk(state *s)
{
    for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);) {
        Position *p = reef_inout(&b, Position);
        const Velocity *v = reef_in(&b, Velocity);
        const Position *up = reef_parents_in(&b, Position);
        if (up) k_tree(p, up, v, reef_block_parent_rows(&b), b.count);
        else
            for (uint32_t i = 0; i < b.count; i++) p[i] = (Position){v[i].x, v[i].y};
    }
}
static void *walk_setup(const bench_row *r)
{
    state *s = tree_setup(r);
    walk(s);
    return s;
}
static void walk_run(void *p)
{
    state *s = p;
    for (uint32_t k = 0; k < s->r->passes; k++) walk(s);
}
static uint64_t walk_sum(void *p) { return sum_by_handle(p) + ((state *)p)->r->n; }

static void move_some(state *s)
{
    const uint32_t n = s->r->n;
    uint32_t *parent = mem_alloc(sizeof *parent * n), node, to;
    for (uint32_t i = 1; i < n; i++) parent[i] = bench_tree_parent(i);
    for (uint32_t k = 0; k < n / 10; k++) {
        if (!bench_tree_move(parent, n, k, &node, &to)) continue;
        parent[node] = to;
        reef_relate(s->w, s->handle[node], ChildOf, s->handle[to]);
    }
    mem_free(parent, sizeof *parent * n);
}
static void *moved_setup(const bench_row *r)
{
    state *s = tree_setup(r);
    move_some(s);
    walk(s);
    return s;
}

/* ---- other parents ---- */

/* Behind the handles of all nodes stand those of the nodes that move, and of their parents to be. */
static void *reparent_setup(const bench_row *r)
{
    state *s = tree_setup(r);
    const uint32_t n = r->n, all = n + 2 * r->ops;
    uint32_t *parent = mem_alloc(sizeof *parent * n), node, to;
    s->handle = mem_realloc(s->handle, n * sizeof *s->handle, all * sizeof *s->handle);
    for (uint32_t i = 1; i < n; i++) parent[i] = bench_tree_parent(i);
    for (uint32_t k = 0, moved = 0; moved < r->ops; k++) {
        if (!bench_tree_move(parent, n, k, &node, &to)) continue;
        parent[node] = to;
        s->handle[n + 2 * moved] = s->handle[node];
        s->handle[n + 2 * moved++ + 1] = s->handle[to];
    }
    mem_free(parent, sizeof *parent * n);
    return s;
}
static void reparent_run(void *p)
{
    state *s = p;
    const reef_entity *move = s->handle + s->r->n;
    for (uint32_t k = 0, n = s->r->ops; k < n; k++) reef_relate(s->w, move[2 * k], ChildOf, move[2 * k + 1]);
}
/* Of all nodes the parent's number, and of all parents that of their children. */
static uint64_t reparent_sum(void *p)
{
    state *s = p;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->r->n; i++) {
        const reef_entity up = reef_parent(s->w, s->handle[i]);
        if (i) sum += (uint64_t)(up.index - s->handle[0].index + 1) * i;
        for (reef_sources x = reef_sources_of(s->w, s->handle[i], ChildOf); reef_sources_next(&x);)
            for (uint32_t k = 0; k < x.count; k++) sum += (uint64_t)(x.sources[k].index - s->handle[0].index) ^ i;
    }
    return sum;
}
static void reparent_free(void *p)
{
    state *s = p;
    mem_free(s->handle, (s->r->n + 2 * s->r->ops) * sizeof *s->handle);
    s->handle = NULL;
    state_free(s);
}

static void *sort_setup(const bench_row *r)
{
    state *s = tree_setup(r);
    const reef_entity last = {0, 0};
    move_some(s);
    /* siblings in the order of their rows, as raw lists them */
    for (uint32_t i = 1; i < r->n; i++)
        reef_relate_before(s->w, s->handle[i], ChildOf, reef_parent(s->w, s->handle[i]), last);
    return s;
}
static void sort_run(void *p)
{
    state *s = p;
    reef_sort_storage(s->w, &(reef_sort){.order = {.relation = reef_id(ChildOf)}});
}
static uint64_t sort_sum(void *p)
{
    state *s = p;
    uint64_t sum = 0, row = 0;
    reef_query q = query_new(s, "in Position");
    for (reef_block b = reef_begin(s->w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) sum += ++row * b.entities[i].index;
    reef_query_free(s->w, q);
    walk_run(s);
    return sum + sum_by_handle(s) + s->r->n;
}

static void *destroy_setup(const bench_row *r)
{
    state *s = empty_setup(r);
    build(s);
    return s;
}
static void destroy_run(void *p)
{
    state *s = p;
    reef_destroy(s->w, s->handle[0]);
}
static uint64_t destroy_sum(void *p)
{
    const state *s = p;
    uint64_t sum = reef_count(s->w, Position) + reef_count_alive(s->w);
    for (uint32_t i = 0; i < s->r->n; i++) sum += !reef_is_alive(s->w, s->handle[i]);
    return sum;
}

const row_impl reef_tree_rows[] = {
    {ROW_hier_build, empty_setup, build_run, build_sum, state_free, NULL},
    {ROW_tree_build_spawn, empty_setup, build_spawn_run, build_sum, state_free, NULL},
    {ROW_tree_reparent, reparent_setup, reparent_run, reparent_sum, reparent_free, NULL},
    {ROW_hier_walk, walk_setup, walk_run, walk_sum, state_free, NULL},
    {ROW_hier_walk_moved, moved_setup, walk_run, walk_sum, state_free, NULL},
    {ROW_hier_sort, sort_setup, sort_run, sort_sum, state_free, NULL},
    {ROW_destroy_tree, destroy_setup, destroy_run, destroy_sum, state_free, NULL},
    {0},
};
