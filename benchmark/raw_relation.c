/* raw's rows of relations: the target of each source, and for each target a list of its sources, which doubles. */
#include "raw.h"

typedef struct source_list {
    uint32_t *source;
    uint32_t n, cap;
} source_list;

typedef struct raw_relations {
    const bench_row *r;
    uint32_t *target; /* of each source */
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
    memset(w->target, 0xFF, r->n * sizeof *w->target);
    return w;
}
static void relation_free(void *state)
{
    raw_relations *w = state;
    for (uint32_t t = 0; t < w->r->tables; t++) mem_free(w->list[t].source, w->list[t].cap * sizeof(uint32_t));
    mem_free(w->list, w->r->tables * sizeof *w->list);
    mem_free(w->target, w->r->n * sizeof *w->target);
    mem_free(w, sizeof *w);
}
static void relation_add_run(void *state)
{
    raw_relations *w = state;
    for (uint32_t i = 0, n = w->r->n; i < n; i++) {
        const uint32_t t = bench_target(i, w->r->tables);
        source_list *k = &w->list[t];
        if (unlikely(k->n == k->cap)) {
            const uint32_t cap = k->cap ? 2 * k->cap : 4;
            k->source = mem_realloc(k->source, k->cap * sizeof(uint32_t), cap * sizeof(uint32_t));
            k->cap = cap;
        }
        w->target[i] = t;
        k->source[k->n++] = i;
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

const row_impl raw_relation_rows[] = {
    {ROW_rel_add, relation_setup, relation_add_run, relation_sum, relation_free, NULL},
    {ROW_rel_iter, relation_iter_setup, relation_iter_run, relation_sum, relation_free, NULL},
    {0},
};
