/* raw's rows about hierarchies: a column with the row of the parent, and rows in parents-first order. */
#include "raw.h"
#include "kernels.h"

#define PARENT(t) ((uint32_t *)(void *)(t)->col[2])

static const uint32_t size_tree[] = {8, 8, 4};

/* Entities are numbered level by level, so creating them in turn puts parents first. */
static void build(raw *w)
{
    for (uint32_t i = 0, n = w->r->n; i < n; i++) {
        const uint32_t id = create_2(&w->a, &w->ix, (Position){0, 0}, vel_of(i));
        w->handle[i] = id;
        PARENT(&w->a)[w->ix.row[id]] = i ? w->ix.row[w->handle[bench_tree_parent(i)]] : NO_ROW;
    }
}
static void *empty_setup(const bench_row *r)
{
    raw *w = raw_world(r);
    raw_layout(&w->a, 3, size_tree);
    raw_handles(w);
    return w;
}
static void *tree_setup(const bench_row *r)
{
    raw *w = empty_setup(r);
    build(w);
    return w;
}
static void build_run(void *p) { build(p); }
static uint64_t build_sum(void *p)
{
    const raw *w = p;
    uint64_t sum = w->a.n;
    for (uint32_t i = 1; i < w->r->n; i++) {
        const uint32_t row = w->ix.row[w->handle[i]];
        sum += pos_sum((Position){VEL(&w->a)[row].x, (float)w->a.id[PARENT(&w->a)[row]]}, i);
    }
    return sum;
}

static void walk_run(void *p)
{
    raw *w = p;
    for (uint32_t k = 0; k < w->r->passes; k++) {
        POS(&w->a)[0] = (Position){VEL(&w->a)[0].x, VEL(&w->a)[0].y};
        k_tree(POS(&w->a) + 1, POS(&w->a), VEL(&w->a) + 1, PARENT(&w->a) + 1, w->a.n - 1);
    }
}
static uint64_t walk_sum(void *p)
{
    raw *w = p;
    return raw_sum_by_handle(&w->a, w);
}

/* ---- after some have moved ---- */

/* Rows stay where they are. `handle` becomes the rows by depth, and those of one depth in their order. */
static void *moved_setup(const bench_row *r)
{
    raw *w = tree_setup(r);
    uint32_t *parent = PARENT(&w->a), n = r->n, count[64] = {0};
    uint32_t *depth = raw_alloc_zero(sizeof *depth * n);
    for (uint32_t k = 0, node, to; k < n / 10; k++)
        if (bench_tree_move(parent, n, k, &node, &to)) parent[node] = to;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t up = i; up; up = parent[up]) depth[i]++;
        count[depth[i] + 1]++;
    }
    for (uint32_t d = 1; d < 64; d++) count[d] += count[d - 1];
    for (uint32_t i = 0; i < n; i++) w->handle[count[depth[i]]++] = i;
    mem_free(depth, sizeof *depth * n);
    return w;
}
static void moved_run(void *p)
{
    raw *w = p;
    for (uint32_t k = 0; k < w->r->passes; k++) {
        POS(&w->a)[0] = (Position){VEL(&w->a)[0].x, VEL(&w->a)[0].y};
        k_tree_listed(POS(&w->a), VEL(&w->a), PARENT(&w->a), w->handle + 1, w->a.n - 1);
    }
}
static uint64_t moved_sum(void *p) /* row i is entity i */
{
    const raw *w = p;
    uint64_t sum = w->a.n;
    for (uint32_t i = 0; i < w->r->n; i++) sum += pos_sum(POS(&w->a)[i], i);
    return sum;
}

/* ---- other parents ---- */

typedef struct tree_links {
    const bench_row *r;
    uint32_t *parent, *first, *next, *before; /* of each node; NO_ROW: none */
    uint32_t *move;                           /* the nodes that move, and their parents to be */
} tree_links;

static void link_node(tree_links *w, uint32_t node, uint32_t to)
{
    const uint32_t next = w->first[to];
    w->parent[node] = to;
    w->next[node] = next;
    w->before[node] = NO_ROW;
    if (next != NO_ROW) w->before[next] = node;
    w->first[to] = node;
}
static void *links_setup(const bench_row *r)
{
    tree_links *w = mem_alloc(sizeof *w);
    const uint32_t n = r->n;
    uint32_t *parent = mem_alloc(sizeof *parent * n);
    w->r = r;
    w->parent = mem_alloc(4 * sizeof *w->parent * n);
    w->first = w->parent + n;
    w->next = w->first + n;
    w->before = w->next + n;
    w->move = mem_alloc(2 * sizeof *w->move * r->ops);
    memset(w->parent, 0xFF, 4 * sizeof *w->parent * n);
    for (uint32_t i = 1; i < n; i++) link_node(w, i, parent[i] = bench_tree_parent(i));
    for (uint32_t k = 0, moved = 0, node, to; moved < r->ops; k++) {
        if (!bench_tree_move(parent, n, k, &node, &to)) continue;
        parent[node] = to;
        w->move[2 * moved] = node;
        w->move[2 * moved++ + 1] = to;
    }
    mem_free(parent, sizeof *parent * n);
    return w;
}
static void links_free(void *p)
{
    tree_links *w = p;
    mem_free(w->parent, 4 * sizeof *w->parent * w->r->n);
    mem_free(w->move, 2 * sizeof *w->move * w->r->ops);
    mem_free(w, sizeof *w);
}
static void reparent_run(void *p)
{
    tree_links *w = p;
    for (uint32_t k = 0, n = w->r->ops; k < n; k++) {
        const uint32_t node = w->move[2 * k], to = w->move[2 * k + 1];
        uint32_t up = to;
        while (up != NO_ROW && up != node) up = w->parent[up];
        if (up == node) continue;
        const uint32_t next = w->next[node], before = w->before[node];
        if (next != NO_ROW) w->before[next] = before;
        if (before != NO_ROW) w->next[before] = next;
        else w->first[w->parent[node]] = next;
        link_node(w, node, to);
    }
}
static uint64_t reparent_sum(void *p)
{
    const tree_links *w = p;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->r->n; i++) {
        if (i) sum += (uint64_t)(w->parent[i] + 1) * i;
        for (uint32_t k = w->first[i]; k != NO_ROW; k = w->next[k]) sum += (uint64_t)k ^ i;
    }
    return sum;
}

/* ---- back in order ---- */

static void *sort_setup(const bench_row *r)
{
    raw *w = tree_setup(r);
    uint32_t *parent = PARENT(&w->a);
    for (uint32_t k = 0, node, to; k < r->n / 10; k++)
        if (bench_tree_move(parent, r->n, k, &node, &to)) parent[node] = to;
    return w;
}
/* Children of a row as a list by counting, then level by level. */
static void sort_run(void *p)
{
    raw *w = p;
    table *t = &w->a, to = {0};
    const uint32_t n = t->n, *parent = PARENT(t);
    uint32_t *first = raw_alloc_zero(sizeof *first * (n + 2)), *child = mem_alloc(sizeof *child * n);
    uint32_t *order = mem_alloc(sizeof *order * n), *now = mem_alloc(sizeof *now * n), end = 1;
    for (uint32_t i = 1; i < n; i++) first[parent[i] + 2]++;
    for (uint32_t i = 2; i < n + 2; i++) first[i] += first[i - 1];
    for (uint32_t i = 1; i < n; i++) child[first[parent[i] + 1]++] = i;
    order[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = first[order[i]]; k < first[order[i] + 1]; k++) order[end++] = child[k];
    raw_layout(&to, 3, size_tree);
    table_reserve(&to, t->cap);
    to.n = n;
    for (uint32_t i = 0; i < n; i++) now[order[i]] = i;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t was = order[i];
        POS(&to)[i] = POS(t)[was];
        VEL(&to)[i] = VEL(t)[was];
        PARENT(&to)[i] = i ? now[parent[was]] : NO_ROW;
        to.id[i] = t->id[was];
        w->ix.row[to.id[i]] = i;
    }
    table_reserve(t, 0);
    *t = to;
    mem_free(first, sizeof *first * (n + 2));
    mem_free(child, sizeof *child * n);
    mem_free(order, sizeof *order * n);
    mem_free(now, sizeof *now * n);
}
static uint64_t sort_sum(void *p) /* the order of rows, and then a walk */
{
    raw *w = p;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->a.n; i++) sum += (uint64_t)(i + 1) * w->a.id[i];
    walk_run(w);
    return sum + walk_sum(w);
}

/* ---- destroying ---- */

/* One pass: what is below the root is marked, the others close up and stay in order. */
static void destroy_run(void *p)
{
    raw *w = p;
    table *t = &w->a;
    const uint32_t n = t->n, root = w->ix.row[w->handle[0]];
    uint32_t *now = mem_alloc(sizeof *now * n), left = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t up = PARENT(t)[i];
        if (i == root || (up != NO_ROW && now[up] == NO_ROW)) {
            now[i] = NO_ROW;
            w->ix.row[t->id[i]] = NO_ROW;
            continue;
        }
        now[i] = left;
        POS(t)[left] = POS(t)[i];
        VEL(t)[left] = VEL(t)[i];
        PARENT(t)[left] = up == NO_ROW ? NO_ROW : now[up];
        w->ix.row[t->id[left] = t->id[i]] = left;
        left++;
    }
    t->n = left;
    mem_free(now, sizeof *now * n);
}
static uint64_t destroy_sum(void *p)
{
    const raw *w = p;
    uint64_t sum = w->a.n;
    for (uint32_t i = 0; i < w->r->n; i++) sum += w->ix.row[w->handle[i]] == NO_ROW;
    return sum;
}

const row_impl raw_tree_rows[] = {
    {ROW_hier_build, empty_setup, build_run, build_sum, raw_free, NULL},
    {ROW_tree_build_spawn, empty_setup, build_run, build_sum, raw_free, NULL},
    {ROW_tree_reparent, links_setup, reparent_run, reparent_sum, links_free, NULL},
    {ROW_hier_walk, tree_setup, walk_run, walk_sum, raw_free, NULL},
    {ROW_hier_walk_moved, moved_setup, moved_run, moved_sum, raw_free, NULL},
    {ROW_hier_sort, sort_setup, sort_run, sort_sum, raw_free, NULL},
    {ROW_destroy_tree, tree_setup, destroy_run, destroy_sum, raw_free, NULL},
    {0},
};
