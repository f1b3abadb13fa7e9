/* raw's rows of relations: the target of each source, and for each target a list of its sources, which doubles. */
#include "raw.h"

typedef struct source_list {
    uint32_t *source;
    uint32_t n, cap;
} source_list;

typedef struct raw_relations {
    const bench_row *r;
    uint32_t *target; /* of each source */
    uint32_t *place;  /* of each source in its target's list, for the rows that take it out */
    source_list *list;
    uint64_t sum;
} raw_relations;

static void *relation_setup(const bench_row *r)
{
    raw_relations *w = mem_alloc(sizeof *w);
    w->r = r;
    w->sum = 0;
    w->target = mem_alloc(r->n * sizeof *w->target);
    w->list = raw_alloc_zero(r->tables * sizeof *w->list);
    w->place = NULL;
    memset(w->target, 0xFF, r->n * sizeof *w->target);
    return w;
}
static void relation_free(void *state)
{
    raw_relations *w = state;
    for (uint32_t t = 0; t < w->r->tables; t++) mem_free(w->list[t].source, w->list[t].cap * sizeof(uint32_t));
    mem_free(w->list, w->r->tables * sizeof *w->list);
    mem_free(w->target, w->r->n * sizeof *w->target);
    if (w->place) mem_free(w->place, w->r->n * sizeof *w->place);
    mem_free(w, sizeof *w);
}
INL void list_add(source_list *k, uint32_t source)
{
    if (unlikely(k->n == k->cap)) {
        const uint32_t cap = k->cap ? 2 * k->cap : 4;
        k->source = mem_realloc(k->source, k->cap * sizeof(uint32_t), cap * sizeof(uint32_t));
        k->cap = cap;
    }
    k->source[k->n++] = source;
}
static void relation_add_run(void *state)
{
    raw_relations *w = state;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) {
        const uint32_t t = bench_target(i, w->r->tables);
        w->target[i] = t;
        list_add(&w->list[t], i);
    }
}
static void relation_iter_run(void *state)
{
    raw_relations *w = state;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < w->r->passes; k++)
        for (uint32_t t = 0, n = w->r->tables; t < n; t++)
            for (uint32_t i = 0; i < w->list[t].n; i++) sum += w->list[t].source[i] ^ t;
    w->sum = sum;
}
static void *relation_iter_setup(const bench_row *r)
{
    raw_relations *w = relation_setup(r);
    relation_add_run(w);
    return w;
}
static uint64_t relation_sum(void *state)
{
    raw_relations *w = state;
    const uint64_t told = w->sum;
    relation_iter_run(w);
    return told ? told : w->sum / w->r->passes;
}

/* ---- sources that leave their target ---- */

static void *relation_placed_setup(const bench_row *r)
{
    raw_relations *w = relation_iter_setup(r);
    w->place = mem_alloc(r->n * sizeof *w->place);
    for (uint32_t t = 0; t < r->tables; t++)
        for (uint32_t i = 0; i < w->list[t].n; i++) w->place[w->list[t].source[i]] = i;
    return w;
}
/* The last one takes its place. */
INL void list_leave(raw_relations *w, uint32_t source)
{
    source_list *k = &w->list[w->target[source]];
    const uint32_t last = k->source[--k->n];
    k->source[w->place[last] = w->place[source]] = last;
}
static void relation_retarget_run(void *state)
{
    raw_relations *w = state;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) {
        const uint32_t t = bench_next_target(i, w->r->tables);
        list_leave(w, i);
        w->target[i] = t;
        w->place[i] = w->list[t].n;
        list_add(&w->list[t], i);
    }
}
static void relation_remove_run(void *state)
{
    raw_relations *w = state;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) {
        list_leave(w, i);
        w->target[i] = NO_ROW;
    }
}
/* How many are left, and that sum. */
static uint64_t relation_left(void *state)
{
    raw_relations *w = state;
    uint64_t left = 0;
    for (uint32_t i = 0; i < w->r->n; i++) left += w->target[i] != NO_ROW;
    relation_iter_run(w);
    return w->sum + (left << 40) + w->r->n;
}

/* ---- rows in groups ---- */

typedef struct raw_groups {
    const bench_row *r;
    Position *at;
    uint32_t *id, *target, *row; /* of each row; the row of each source */
    uint32_t *first;             /* of each target, and behind the last one */
} raw_groups;

static void groups_sort(raw_groups *w)
{
    const uint32_t n = w->r->n, targets = w->r->tables;
    Position *at = mem_alloc(n * sizeof *at);
    uint32_t *id = mem_alloc(n * sizeof *id), *target = mem_alloc(n * sizeof *target);
    memset(w->first, 0, (targets + 2) * sizeof *w->first);
    for (uint32_t i = 0; i < n; i++) w->first[w->target[i] + 2]++;
    for (uint32_t t = 2; t < targets + 2; t++) w->first[t] += w->first[t - 1];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t to = w->first[w->target[i] + 1]++;
        at[to] = w->at[i];
        target[to] = w->target[i];
        w->row[id[to] = w->id[i]] = to;
    }
    mem_free(w->at, n * sizeof *at);
    mem_free(w->id, n * sizeof *id);
    mem_free(w->target, n * sizeof *target);
    w->at = at;
    w->id = id;
    w->target = target;
}
static void *groups_setup(const bench_row *r)
{
    raw_groups *w = mem_alloc(sizeof *w);
    w->r = r;
    w->at = mem_alloc(r->n * sizeof *w->at);
    w->id = mem_alloc(r->n * sizeof *w->id);
    w->target = mem_alloc(r->n * sizeof *w->target);
    w->row = mem_alloc(r->n * sizeof *w->row);
    w->first = mem_alloc((r->tables + 2) * sizeof *w->first);
    for (uint32_t i = 0; i < r->n; i++) {
        w->at[i] = pos_of(i);
        w->id[i] = i;
        w->target[i] = bench_target(i, r->tables);
    }
    groups_sort(w);
    return w;
}
static void groups_free(void *state)
{
    raw_groups *w = state;
    mem_free(w->at, w->r->n * sizeof *w->at);
    mem_free(w->id, w->r->n * sizeof *w->id);
    mem_free(w->target, w->r->n * sizeof *w->target);
    mem_free(w->row, w->r->n * sizeof *w->row);
    mem_free(w->first, (w->r->tables + 2) * sizeof *w->first);
    mem_free(w, sizeof *w);
}
static void grouped_run(void *state)
{
    const raw_groups *w = state;
    for (uint32_t k = 0; k < w->r->passes; k++)
        for (uint32_t t = 0, n = w->r->tables; t < n; t++) {
            const float x = (float)(t & 7);
            for (uint32_t i = w->first[t]; i < w->first[t + 1]; i++) w->at[i].x += x;
        }
}
static uint64_t grouped_sum(void *state)
{
    const raw_groups *w = state;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->r->n; i++) sum += bits_of(w->at[w->row[i]].x) ^ i;
    return sum;
}
static void *group_setup(const bench_row *r)
{
    raw_groups *w = groups_setup(r);
    for (uint32_t k = 0; k < r->n / 100; k++)
        w->target[w->row[bench_moved_source(k, r->n)]] = bench_moved_target(k, r->tables);
    return w;
}
static void group_run(void *state) { groups_sort(state); }
static uint64_t group_sum(void *state)
{
    const raw_groups *w = state;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->r->n; i++) {
        sum += (uint64_t)w->id[i] * (w->target[i] + 1);
        sum += (uint64_t)(i == 0 || w->target[i] != w->target[i - 1]) << 40;
    }
    return sum;
}

const row_impl raw_relation_rows[] = {
    {ROW_rel_add, relation_setup, relation_add_run, relation_sum, relation_free, NULL},
    {ROW_rel_retarget, relation_placed_setup, relation_retarget_run, relation_left, relation_free, NULL},
    {ROW_rel_remove, relation_placed_setup, relation_remove_run, relation_left, relation_free, NULL},
    {ROW_rel_iter, relation_iter_setup, relation_iter_run, relation_sum, relation_free, NULL},
    {ROW_rel_grouped, groups_setup, grouped_run, grouped_sum, groups_free, NULL},
    {ROW_rel_group, group_setup, group_run, group_sum, groups_free, NULL},
    {0},
};
