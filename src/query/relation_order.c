/* Orders by a relation. If it is a hierarchy, parents come before their children:
 *
 *   sorted query     by depth, and within a depth in the visible order. So rows that lie side by side are visited side
 *                    by side, whoever their parents are.
 *   sorted storage   by depth, then by the parent's place, then in the order of siblings. So the children of a parent
 *                    lie side by side, and those of neighbours too.
 *
 * In storage that was sorted so, a sorted query visits whole chunks, whose parents lie in one chunk or two. By any
 * other exclusive relation, the sources of one target come together:
 *
 *   sorted query     by the target's handle, and those of one target in the visible order
 *   sorted storage   by the target's index, and those of one target in the order of its sources
 *
 * Rows without a target come last. */
#include "query/relation_order.h"
#include "storage/entity_index.h"
#include "storage/place.h"
#include "storage/relation_index.h"
#include "storage/sparse_store.h"
#include "query/chunk_cursor.h"
#include "query/relation_path.h"
#include "reef/order.h"

/* ---- the list of a sorted query ---- */

/* The depth of an entity, from 1. `depth` holds the known ones by index, 0: not known yet, and gets those of all that
 * is on the way up. */
static uint32_t depth_seek(const relation_path *p, uint32_t *depth, reef_entity e)
{
    const relation_value *v;
    reef_entity x = e;
    uint32_t steps = 0;
    for (; depth[x.index] == 0 && (v = path_next(p, x)) != NULL; steps++) x = v->target;
    if (depth[x.index] == 0) depth[x.index] = 1;
    const uint32_t found = depth[x.index] + steps;
    for (uint32_t d = found; steps-- > 0; d--) {
        depth[e.index] = d;
        e = ((const relation_value *)reef_store_find(p->s, e))->target;
    }
    return found;
}

/* Lists the rows in the visible order; the answer is how many. Their keys are depths, of which *most becomes the
 * largest, from 1; `depth` NULL: they are targets. */
static size_t rows_list(const query *q, const relation_path *p, bool named, uint32_t *depth, order_row *rows,
                        uint32_t *most)
{
    order_row *to = rows;
    const reef_world *w = q->world;
    uint32_t below = 0, up = 0;
    reef_entity parent = {0, 0}; /* the last one: siblings often lie side by side */
    for (chunk_cursor c = {.q = q}; chunk_next(&c);) {
        const reef_entity *e = slot_entities(c.slots);
        for (uint32_t i = 0; i < c.rows; i++) {
            const relation_value *v = path_next(p, e[i]);
            if (v && !reef_entity_equal(v->target, parent)) {
                parent = v->target;
                if (depth) below = depth_seek(p, depth, parent);
                up = place_of(w, parent) < 2 * PLACE_EMPTY ? 0 : place_of(w, parent);
            }
            const uint32_t d = v ? below + 1 : 1;
            if (depth) depth[e[i].index] = d;
            if (named && v == NULL && reef_store_find(p->s, e[i]) == NULL) continue;
            if (d > *most) *most = d;
            const uint64_t target = v ? reef_key_entity(parent) : UINT64_MAX;
            *to++ = (order_row){depth ? d - 1 : target, v ? up : 0, unit_place(c.unit) + i};
        }
    }
    return (size_t)(to - rows);
}

order_row *reef__relation_list(const query *q, const type *relation, bool named, order_row *rows, order_row *scratch,
                               size_t *count)
{
    const reef_world *w = q->world;
    const relation_path p = path_by(w, relation->id);
    memory *m = &w->family->memory;
    const bool tree = relation_is_tree(relation);
    const size_t depth_bytes = w->hot.index_count * sizeof(uint32_t);
    uint32_t most = 1, *depth = tree ? reef__memory_zeroed(m, MEMORY_OTHER, depth_bytes) : NULL;
    if (tree && depth == NULL) return NULL;
    const size_t n = rows_list(q, &p, named, depth, rows, &most);
    ASSERT(named ? n <= *count : n == *count);
    *count = n;
    if (depth == NULL) return reef__order_rows(rows, scratch, n); /* rows of one target have the same index here */
    reef__memory_free(m, MEMORY_OTHER, depth, depth_bytes);
    if (most == 1) return rows;
    const size_t bytes = ((size_t)most + 1) * sizeof(uint32_t);
    uint32_t *at = reef__memory_zeroed(m, MEMORY_OTHER, bytes); /* where the next row of a depth goes */
    if (at == NULL) return NULL;
    for (size_t i = 0; i < n; i++) at[rows[i].key + 1]++;
    for (uint32_t d = 1; d <= most; d++) at[d] += at[d - 1];
    for (size_t i = 0; i < n; i++) scratch[at[rows[i].key]++] = rows[i];
    reef__memory_free(m, MEMORY_OTHER, at, bytes);
    return scratch;
}

void reef__relation_runs(const order_row *rows, size_t count, uint32_t *up, uint32_t *run)
{
    for (size_t i = count; i-- > 0;) {
        const order_row *x = &rows[i], *y = x + 1;
        const bool beside = i + 1 < count && y->row == x->row + 1 && place_row(y->row) != 0 && y->key == x->key &&
                            place_unit(y->index) == place_unit(x->index);
        up[i] = place_row(x->index);
        run[i] = beside ? run[i + 1] + 1 : 1;
    }
}

/* ---- the ranks of all entities ---- */

/* The entities without a parent, in the visible order; then those without a row that have children. */
static size_t roots_list(const reef_world *w, const value_store *s, const uint32_t *ids, uint32_t tables,
                         uint32_t *rank, reef_entity *to)
{
    size_t n = 0;
    for (uint32_t i = 0; i < tables; i++) {
        const table *t = table_read(w, ids[i]);
        for (uint32_t unit = t->first; unit && table_rows(t); unit = unit_slots(w, unit)[0].head.next) {
            const reef_entity *e = slot_entities(unit_slots(w, unit));
            for (uint32_t k = 0; k < chunk_rows(t, unit); k++)
                if (reef_store_find(s, e[k]) == NULL) rank[e[k].index] = 1, to[n++] = e[k];
        }
    }
    for (store_place at = {.page = 0}; reef__store_next(s, &at);) {
        const reef_entity e = ((const relation_value *)at.value)->target;
        if (rank[e.index] == 0 && place_of(w, e) < 2 * PLACE_EMPTY) rank[e.index] = 1, to[n++] = e;
    }
    return n;
}

static uint32_t *target_ranks(reef_world *w, const value_store *s)
{
    const uint32_t count = w->hot.index_count;
    uint32_t *rank =
        reef__memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, ((size_t)count + 1) * sizeof *rank, PLAIN_ALIGN);
    const bool ok = rank && reef__relation_ready(w, (value_store *)(uintptr_t)s);
    if (rank) memset(rank, 0xFF, ((size_t)count + 1) * sizeof *rank);
    for (uint32_t index = 0, n = 0; ok && index < count; index++) {
        const reef_entity target = {index, (uint32_t)(record_read(w, index) >> 32)};
        for (source_walk x = {.run = {0}}; place_of(w, target) != PLACE_DEAD && source_walk_next(&x, s, target);)
            for (uint32_t i = 0; i < x.run.count; i++) rank[x.run.sources[i].index] = n++;
    }
    if (ok) return rank;
    reef__memory_free(&w->family->memory, MEMORY_OTHER, rank, rank ? ((size_t)count + 1) * sizeof *rank : 0);
    return NULL;
}

uint32_t *reef__relation_ranks(reef_world *w, const type *relation)
{
    if (!relation_is_tree(relation)) return target_ranks(w, store_of(w, relation->id));
    memory *m = &w->family->memory;
    const size_t count = (size_t)w->hot.index_count + 1;
    const size_t rank_bytes = count * sizeof(uint32_t), list_bytes = count * sizeof(reef_entity);
    uint32_t tables, *ids = reef__tables_sorted(w, &tables);
    uint32_t *rank = reef__memory_zeroed(m, MEMORY_OTHER, rank_bytes);
    reef_entity *list = reef__memory_zeroed(m, MEMORY_OTHER, list_bytes);
    const value_store *s = store_of(w, relation->id);
    const bool ok = (ids || tables == 0) && rank && list && reef__relation_ready(w, (value_store *)(uintptr_t)s);
    size_t n = ok ? roots_list(w, s, ids, tables, rank, list) : 0;
    for (size_t i = 0; i < n; i++) { /* what was listed is the queue */
        rank[list[i].index] = (uint32_t)i + 1;
        for (source_walk x = {.run = {0}}; source_walk_next(&x, s, list[i]); n += x.run.count)
            memcpy(list + n, x.run.sources, x.run.count * sizeof *list);
    }
    if (ids) reef__memory_free(m, MEMORY_OTHER, ids, tables * sizeof *ids);
    reef__memory_free(m, MEMORY_OTHER, list, list ? list_bytes : 0);
    if (ok) return rank;
    reef__memory_free(m, MEMORY_OTHER, rank, rank ? rank_bytes : 0);
    return NULL;
}
