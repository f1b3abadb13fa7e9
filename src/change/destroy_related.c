/* Destroying entities to which others are related: all that have to be destroyed with them, all relations that end, and
 * all that is refused are found first; then everything is prepared; then it happens, and can't fail. */
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/multi_store.h"
#include "storage/name_index.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/relation_index.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "change/destroy.h"
#include "change/relation.h"
#include "reef/multi.h"
#include "reef/relation.h"

typedef struct relation_end { /* a relation whose target is destroyed */
    reef_entity source, target;
    const type *t;
} relation_end;

typedef struct relation_kind { /* a type that has relations */
    const value_store *store;
    const type *t;
} relation_kind;

typedef struct closure {
    reef_world *w;
    const char *op;
    relation_kind *kinds; /* first those that are cascading */
    uint32_t kind_count, cascading, kind_room;
    uint8_t *seen; /* a bit for each index: it is destroyed */
    size_t seen_bytes;
    reef_entity *dead;
    uint32_t dead_count, dead_room;
    relation_end *ends;
    uint32_t end_count, end_room;
    /* what is destroyed, by the number of its table (0: it has no row), and then as it was found; `dead` itself where
     * all are of one table */
    reef_entity *sorted;
    uint32_t *group_end; /* by the number of a table: where its entities end */
    uint32_t tables;
} closure;

bool reef__related_to(const reef_world *w, reef_entity e)
{
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        const value_store *s = &w->state.stores[i];
        if (s->relation && s->count && reef__relation_sources(s, e)) return true;
    }
    return false;
}

bool reef__related_any(const reef_world *w)
{
    if (!(w->slow & SLOW_RELATED)) return false;
    for (uint32_t i = 1; i < w->state.store_count; i++)
        if (w->state.stores[i].relation && w->state.stores[i].count) return true;
    return false;
}

static bool is_doomed(const closure *x, reef_entity e) { return x->seen[e.index / 8] >> (e.index & 7) & 1; }

static bool doom(closure *x, reef_entity e)
{
    if (is_doomed(x, e)) return true;
    if (x->dead_count == x->dead_room && !reef__array_room(&x->w->family->memory, MEMORY_OTHER, &x->dead, &x->dead_room,
                                                           x->dead_count + 1, sizeof *x->dead))
        return false;
    x->seen[e.index / 8] = (uint8_t)(x->seen[e.index / 8] | 1u << (e.index & 7));
    x->dead[x->dead_count++] = e;
    return true;
}

/* Finds the types that have relations, ordered by name, so that the order of what happens follows from the state. */
static bool kinds_find(closure *x)
{
    const reef_world *w = x->w;
    for (int pass = 0; pass < 2; pass++) {
        x->cascading = x->kind_count;
        for (uint32_t i = 1; i < w->state.store_count; i++) {
            const value_store *s = &w->state.stores[i];
            const type *t = s->relation && s->count ? reef__type_of(s->component) : NULL;
            if (t == NULL || ((t->relation & REEF_CASCADE) == 0) != pass) continue;
            if (!reef__array_room(&x->w->family->memory, MEMORY_OTHER, &x->kinds, &x->kind_room, x->kind_count + 1,
                                  sizeof *x->kinds))
                return false;
            uint32_t at = x->kind_count++;
            for (; at > x->cascading && reef__type_compare(x->kinds[at - 1].t, t) > 0; at--)
                x->kinds[at] = x->kinds[at - 1];
            x->kinds[at] = (relation_kind){s, t};
        }
    }
    return true;
}

static reef_status doom_sources(closure *x, const relation_kind *k, reef_entity target)
{
    uint64_t left = reef__relation_sources(k->store, target); /* mostly there are none */
    for (source_walk walk = {.run = {0}}; left && source_walk_next(&walk, k->store, target); left -= walk.run.count)
        for (uint32_t i = 0; i < walk.run.count; i++)
            if (!doom(x, walk.run.sources[i])) return REEF_NO_MEMORY;
    return REEF_OK;
}

/* A relation to something doomed ends, unless its source is doomed as well. */
static reef_status end_relations(closure *x, const relation_kind *k, reef_entity target)
{
    uint64_t left = reef__relation_sources(k->store, target);
    for (source_walk walk = {.run = {0}}; left && source_walk_next(&walk, k->store, target); left -= walk.run.count)
        for (uint32_t i = 0; i < walk.run.count; i++) {
            const reef_entity source = walk.run.sources[i];
            if (is_doomed(x, source)) continue;
            if (k->t->relation & REEF_KEEPS_TARGET) {
                x->w->refused = (relation_refusal){REEF_REFUSED, {k->t->id}, target, NULL};
                return reef__failure(x->w, REEF_REFUSED, x->op, (reef_component){k->t->id}, source, 0);
            }
            if (!reef__array_room(&x->w->family->memory, MEMORY_OTHER, &x->ends, &x->end_room, x->end_count + 1,
                                  sizeof *x->ends))
                return REEF_NO_MEMORY;
            x->ends[x->end_count++] = (relation_end){source, target, k->t};
        }
    return REEF_OK;
}

/* ---- preparing ---- */

/* The number of an entity's table; 0: it has no row. */
static uint32_t table_of(const reef_world *w, reef_entity e)
{
    const uint32_t place = place_of(w, e);
    return place == PLACE_EMPTY ? 0 : reef_slots_at(&w->hot, place)[0].head.table;
}

/* The same, where the entity before often lies in the same chunk. */
typedef struct table_last {
    uint32_t unit, table;
} table_last;
static uint32_t table_near(const reef_world *w, reef_entity e, table_last *last)
{
    const uint32_t unit = place_unit(place_of(w, e));
    if (unit != last->unit) *last = (table_last){unit, table_of(w, e)};
    return last->table;
}

static uint32_t group_begin(const closure *x, uint32_t id) { return id ? x->group_end[id - 1] : 0; }

/* Sorts what is destroyed by table, by counting. */
static bool closure_sort(closure *x)
{
    const reef_world *w = x->w;
    table_last last = {0, 0};
    memory *m = &x->w->family->memory;
    x->tables = w->state.tables.count * TABLES_PER_PAGE;
    x->group_end = reef__memory_zeroed(m, MEMORY_OTHER, (x->tables + (size_t)1) * sizeof *x->group_end);
    if (x->group_end == NULL) return false;
    for (uint32_t i = 0; i < x->dead_count; i++) x->group_end[table_near(w, x->dead[i], &last) + 1]++;
    const bool one = x->group_end[last.table + 1] == x->dead_count;
    for (uint32_t id = 1; id <= x->tables; id++) x->group_end[id] += x->group_end[id - 1];
    if (one) x->group_end[last.table] = x->dead_count;
    x->sorted = one ? x->dead : reef__memory_zeroed(m, MEMORY_OTHER, x->dead_count * sizeof *x->sorted);
    if (one || x->sorted == NULL) return one;
    for (uint32_t i = 0; i < x->dead_count; i++) {
        const uint32_t id = table_near(w, x->dead[i], &last);
        x->sorted[x->group_end[id]++] = x->dead[i];
    }
    return true;
}

/* Prepares entities that a relation alone keeps in the table of entities without components to leave it, together with
 * what is destroyed there. */
static bool ends_prepare_rows(closure *x)
{
    reef_world *w = x->w;
    memory *m = &w->family->memory;
    const uint32_t first = group_begin(x, TABLE_EMPTY), dead = x->group_end[TABLE_EMPTY] - first;
    const size_t bytes = ((size_t)dead + x->end_count) * sizeof(reef_entity);
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->end_count; i++) n += table_of(w, x->ends[i].source) == TABLE_EMPTY;
    if (n + dead == 0) return true;
    reef_entity *leaving = reef__memory_zeroed(m, MEMORY_OTHER, bytes);
    if (leaving == NULL) return false;
    memcpy(leaving, x->sorted + first, dead * sizeof *leaving);
    n = dead;
    for (uint32_t i = 0; i < x->end_count; i++)
        if (table_of(w, x->ends[i].source) == TABLE_EMPTY) leaving[n++] = x->ends[i].source;
    const bool ok = reef__leave_prepare(w, TABLE_EMPTY, leaving, n);
    reef__memory_free(m, MEMORY_OTHER, leaving, bytes);
    return ok;
}

/* Prepares rows to leave their tables. */
static bool closure_rows_prepare(closure *x)
{
    for (uint32_t i = 0; i < x->group_end[0]; i++)
        if (reef__record_own(x->w, x->sorted[i].index) == NULL) return false;
    for (uint32_t id = 1; id < x->tables; id++) {
        const uint32_t first = group_begin(x, id), n = x->group_end[id] - first;
        if (n == 0 || id == TABLE_EMPTY) continue;
        const bool whole = n == table_rows(table_read(x->w, id));
        if (whole ? !reef__table_own_all(x->w, id) : !reef__leave_prepare(x->w, id, x->sorted + first, n)) return false;
    }
    return ends_prepare_rows(x);
}

/* Prepares what a source needs to lose a relation, but for the row that it may leave. */
static bool end_prepare(reef_world *w, const type *t, reef_entity source)
{
    const uint32_t c = t->id, place = place_of(w, source), id = reef_slots_at(&w->hot, place)[0].head.table;
    return reef__store_prepare_drop(w, c, source) && reef__record_own(w, source.index) &&
           reef__bit_prepare(w, c, id, place, false) && reef__bit_prepare(w, c | BIT_DISABLED, id, place, false);
}

bool reef__relations_prepare_end(reef_world *w, const type *t, const reef_entity *e, uint32_t n)
{
    reef_entity leaving[4];
    uint32_t count = 0;
    ASSERT(n <= 4);
    for (uint32_t i = 0; i < n; i++) {
        if (!end_prepare(w, t, e[i])) return false;
        if (reef_slots_at(&w->hot, place_of(w, e[i]))[0].head.table == TABLE_EMPTY) leaving[count++] = e[i];
    }
    return count == 0 || reef__leave_prepare(w, TABLE_EMPTY, leaving, count);
}

static bool closure_prepare(closure *x)
{
    bool ok = closure_sort(x) && closure_rows_prepare(x) && reef__destroy_prepare(x->w, x->dead, x->dead_count, 0);
    /* what an observer is told of a relation that ends is less than what it is told of a death */
    if (ok && observed(x->w)) ok = observe_reserve_deaths(x->w, (uint64_t)x->dead_count + x->end_count);
    for (uint32_t i = 0; ok && i < x->end_count; i++) ok = end_prepare(x->w, x->ends[i].t, x->ends[i].source);
    return ok;
}

/* ---- the call ---- */

static reef_status closure_find(closure *x, const reef_entity *e, uint64_t n)
{
    reef_status s = REEF_OK;
    x->seen_bytes = x->w->hot.index_count / 8 + 1;
    x->seen = reef__memory_zeroed(&x->w->family->memory, MEMORY_OTHER, x->seen_bytes);
    if (x->seen == NULL || !reef__relations_ready(x->w) || !kinds_find(x)) return REEF_NO_MEMORY;
    for (uint64_t i = 0; i < n; i++)
        if (!doom(x, e[i])) return REEF_NO_MEMORY;
    for (uint32_t i = 0; s == REEF_OK && i < x->dead_count; i++)
        for (uint32_t k = 0; s == REEF_OK && k < x->cascading; k++) s = doom_sources(x, &x->kinds[k], x->dead[i]);
    for (uint32_t i = 0; s == REEF_OK && i < x->dead_count; i++)
        for (uint32_t k = x->cascading; s == REEF_OK && k < x->kind_count; k++)
            s = end_relations(x, &x->kinds[k], x->dead[i]);
    return s;
}

/* Destroys all that was found, without observers: first the values outside of the rows, while the rows say what each
 * entity has, then the rows of one table after the other, then the handles. */
static void dead_end(closure *x)
{
    reef_world *w = x->w;
    reef__destroy_values(w, x->dead, x->dead_count);
    w->hot.empty_count -= x->group_end[0];
    for (uint32_t id = 1; id < x->tables; id++) {
        const uint32_t first = group_begin(x, id), n = x->group_end[id] - first;
        if (n) reef__destroy_some_rows(w, id, x->sorted + first, n);
    }
    reef__ids_free(w, x->dead, x->dead_count);
    entities_ended(w, x->dead_count);
}

static void closure_do(closure *x)
{
    reef_world *w = x->w;
    observe_open(w);
    w->doomed = x->seen;
    for (uint32_t i = 0; i < x->end_count; i++) {
        const relation_end *k = &x->ends[i];
        uint32_t number = 0;
        (void)reef__relation_find(store_of(w, k->t->id), k->source, k->target, &number);
        const reef_status s = reef_remove_one_id(w, k->source, (reef_component){k->t->id}, number);
        ASSERT(s == REEF_OK);
        (void)s;
    }
    if (observed(w))
        for (uint32_t i = x->dead_count; i-- > 0;) reef__destroy_prepared(w, x->dead[i]);
    else dead_end(x);
    w->doomed = NULL;
    for (uint32_t i = 1; i < w->state.store_count; i++)
        if (w->state.stores[i].relation) reef__relation_end(w, &w->state.stores[i], x->dead, x->dead_count);
    observe_close(w);
}

reef_status reef__destroy_related(reef_world *w, const char *op, const reef_entity *e, uint64_t n)
{
    closure x = {.w = w, .op = op};
    if (n == 0) return REEF_OK;
    reef_status s = closure_find(&x, e, n);
    if (s == REEF_OK && !closure_prepare(&x)) s = REEF_NO_MEMORY;
    if (s == REEF_OK) closure_do(&x);
    memory *m = &w->family->memory;
    reef__memory_free(m, MEMORY_OTHER, x.kinds, x.kind_room * sizeof *x.kinds);
    reef__memory_free(m, MEMORY_OTHER, x.seen, x.seen ? x.seen_bytes : 0);
    reef__memory_free(m, MEMORY_OTHER, x.ends, x.end_room * sizeof *x.ends);
    if (x.sorted != x.dead)
        reef__memory_free(m, MEMORY_OTHER, x.sorted, x.sorted ? x.dead_count * sizeof *x.sorted : 0);
    reef__memory_free(m, MEMORY_OTHER, x.dead, x.dead_room * sizeof *x.dead);
    reef__memory_free(m, MEMORY_OTHER, x.group_end, x.group_end ? (x.tables + (size_t)1) * sizeof *x.group_end : 0);
    return s == REEF_NO_MEMORY ? reef__failure(w, s, op, (reef_component){0}, e[0], 0) : s;
}

/* ---- relations to nobody ---- */

static bool source_end_dead(reef_world *w, reef_component c, reef_entity e)
{
    for (uint32_t n = reef_count_on_id(w, e, c); n-- > 0;) {
        const relation_value *v = reef__store_nth(store_of(w, c.id), e, n);
        if (!reef_is_alive(w, v->target) && reef_remove_one_id(w, e, c, n) != REEF_OK) return false;
    }
    return true;
}

COLD bool reef__relations_end_dead(reef_world *w)
{
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        const reef_component c = {w->state.stores[i].component};
        store_place at = {.page = 0};
        while (w->state.stores[i].relation && reef__store_next(&w->state.stores[i], &at))
            if (!reef_is_alive(w, ((const relation_value *)at.value)->target) && !source_end_dead(w, c, at.entity))
                return false;
    }
    return reef__names_reindex(w);
}
