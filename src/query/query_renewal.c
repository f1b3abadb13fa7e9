/* Queries whose types have other layouts now, and so are other types. A query that names one is made anew and takes the
 * slot of the old one, so that handles lead to it. */
#include "query/query_renewal.h"
#include "query/inherited_queries.h"
#include "query/sorted_query.h"

/* Does the query name a type that is another one now? Bound: it also depends on how the values lie: it compares them,
 * sorts by them, or names the columns of a split type. */
static COLD bool query_ages(const query *q, uint32_t (*now)(const void *context, uint32_t type), const void *context,
                            bool *bound)
{
    bool ages = false;
    for (uint32_t i = 0; i < q->asked_count; i++) {
        const reef_term *t = &q->asked[i];
        const bool other = now(context, t->component.id) != t->component.id || now(context, t->up.id) != t->up.id;
        ages |= other;
        const type *named = reef__type_of(t->component.id);
        *bound |= other && (t->conditions || (named && named->owner));
    }
    const uint32_t by = q->ranking ? order_component(reef__ranking_order(q->ranking)) : 0;
    *bound |= by && now(context, by) != by;
    return ages || *bound;
}

/* Exchanges the queries of two slots; handles stay with their slots, and so does whether forks have them. */
static COLD void queries_exchange(reef_world *w, uint32_t a, uint32_t b)
{
    query *x = w->queries[a].query, *y = w->queries[b].query;
    const uint32_t index = x->index, generation = x->generation;
    const bool handed_out = x->handed_out;
    reef__query_changed(x);
    reef__query_changed(y);
    w->queries[a].query = y;
    w->queries[b].query = x;
    x->index = y->index, x->generation = y->generation, x->handed_out = y->handed_out;
    y->index = index, y->generation = generation, y->handed_out = handed_out;
}

/* A query that can't be made anew goes when all is done. Until then it isn't handed on, as it names the old types. */
static COLD void query_lay_aside(reef_world *w, uint32_t index, bool aside)
{
    query *q = w->queries[index].query;
    reef__query_changed(q);
    q->handed_out = !aside;
    reef__query_changed(q);
}

/* Exchanged: the queries of each pair were. */
static COLD void renewal_settle(queries_renewal *r, bool exchanged, bool stays)
{
    reef_world *w = r->world;
    for (uint32_t i = 0; i < r->count && r->fresh; i++) {
        const bool goes = r->fresh[i].index == i;
        if (r->fresh[i].generation == 0) continue;
        if (exchanged && !stays && !goes) queries_exchange(w, i, r->fresh[i].index);
        if (goes && !stays) query_lay_aside(w, i, false);
        else (void)reef_query_free(w, r->fresh[i]);
    }
    if (r->fresh == NULL) return;
    reef__queries_forget(w); /* so that a type that is gone isn't remembered */
    reef__memory_free(&w->family->memory, MEMORY_OTHER, r->fresh, (r->count + 1) * sizeof *r->fresh);
    r->fresh = NULL;
}

COLD reef_status reef__queries_renew(queries_renewal *r, reef_world *w, const char *op,
                                     bool (*skip)(const reef_world *w, uint32_t index))
{
    reef_status s = REEF_OK;
    *r = (queries_renewal){.world = w, .now = r->now, .context = r->context, .loose = r->loose, .count = w->query_room};
    r->fresh = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, (r->count + 1) * sizeof *r->fresh);
    if (r->fresh == NULL || !reef__queries_arrive(w)) return REEF_NO_MEMORY;
    for (uint32_t i = 0; s == REEF_OK && i < r->count; i++) {
        query *q = w->queries[i].query;
        bool bound = false;
        if (q == NULL || q->derived || skip(w, i) || !query_ages(q, r->now, r->context, &bound)) continue;
        if (bound && r->loose && w->queries[i].world != w->hot.number) {
            query_lay_aside(w, i, true);
            r->fresh[i] = reef__query_handle(q);
            continue;
        }
        kept_query *k = bound ? NULL : reef__query_keep(q);
        query *copy = k ? reef__query_copied(w, op, k, r->now, r->context) : NULL;
        if (k) reef__kept_leave(w->family, k);
        r->bound |= bound;
        if (copy) r->fresh[i] = reef__query_handle(copy);
        else s = bound ? REEF_BAD_ARGUMENT : k ? w->error.status : REEF_NO_MEMORY;
    }
    for (uint32_t i = 0; i < r->count && s == REEF_OK; i++)
        if (r->fresh[i].generation && r->fresh[i].index != i) queries_exchange(w, i, r->fresh[i].index);
    if (s != REEF_OK) renewal_settle(r, false, false);
    return s;
}

COLD void reef__queries_renewed(queries_renewal *r, bool stays) { renewal_settle(r, true, stays); }
