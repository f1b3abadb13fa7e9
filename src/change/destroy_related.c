/* Destroying entities to which others are related: all that have to be destroyed with them, all relations that end, and
 * all that is refused are found first; then everything is prepared; then it happens, and can't fail. */
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
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
#include "storage/world_data.h"
#include "change/destroy.h"
#include "change/relation.h"
#include "reef/multi.h"
#include "reef/relation.h"

typedef struct relation_end { /* a relation whose target is destroyed */
    reef_entity source, target;
    const type *t;
} relation_end;

typedef struct closure {
    reef_world *w;
    const char *op;
    uint8_t *seen; /* a bit for each index: it is destroyed */
    size_t seen_bytes;
    reef_entity *dead;
    uint32_t dead_count, dead_room;
    relation_end *ends;
    uint32_t end_count, end_room;
} closure;

bool reef__related_to(const reef_world *w, reef_entity e)
{
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        const value_store *s = &w->state.stores[i];
        if (s->relation && s->count && reef__relation_sources(s, e)) return true;
    }
    return false;
}

static bool is_doomed(const closure *x, reef_entity e) { return x->seen[e.index / 8] >> (e.index & 7) & 1; }

static bool doom(closure *x, reef_entity e)
{
    if (is_doomed(x, e)) return true;
    if (!reef__array_room(&x->w->family->memory, MEMORY_OTHER, &x->dead, &x->dead_room, x->dead_count + 1,
                          sizeof *x->dead))
        return false;
    x->seen[e.index / 8] = (uint8_t)(x->seen[e.index / 8] | 1u << (e.index & 7));
    x->dead[x->dead_count++] = e;
    return true;
}

/* Calls `each` for every relation to an entity. */
static reef_status relations_to(closure *x, reef_entity target,
                                reef_status (*each)(closure *x, const type *t, reef_entity source, reef_entity target))
{
    for (uint32_t i = 1; i < x->w->state.store_count; i++) {
        const value_store *s = &x->w->state.stores[i];
        source_one one = {{0, 0}, 0};
        source_run run = {0};
        while (s->relation && reef__relation_after(s, target, one.place, one.source, &one, &run)) {
            for (uint32_t k = 0; k < run.count; k++) {
                const reef_status status = each(x, reef__type_of(s->component), run.sources[k], target);
                if (status != REEF_OK) return status;
            }
            one = (source_one){run.sources[run.count - 1], run.places[run.count - 1]};
        }
    }
    return REEF_OK;
}

static reef_status doom_source(closure *x, const type *t, reef_entity source, reef_entity target)
{
    (void)target;
    return (t->relation & REEF_CASCADE) == 0 || doom(x, source) ? REEF_OK : REEF_NO_MEMORY;
}

/* A relation to something doomed ends, unless its source is doomed as well. */
static reef_status end_relation(closure *x, const type *t, reef_entity source, reef_entity target)
{
    if (is_doomed(x, source)) return REEF_OK;
    if (t->relation & REEF_KEEPS_TARGET)
        return reef__failure(x->w, REEF_REFUSED, x->op, (reef_component){t->id}, source, 0);
    if (!reef__array_room(&x->w->family->memory, MEMORY_OTHER, &x->ends, &x->end_room, x->end_count + 1,
                          sizeof *x->ends))
        return REEF_NO_MEMORY;
    x->ends[x->end_count++] = (relation_end){source, target, t};
    return REEF_OK;
}

/* ---- preparing ---- */

/* Orders entities by their table, and in it as they were found. */
static bool table_before(const reef_world *w, reef_entity a, reef_entity b)
{
    return reef_slots_at(&w->hot, place_of(w, a))[0].head.table < reef_slots_at(&w->hot, place_of(w, b))[0].head.table;
}

/* Prepares rows to leave their tables: those of all that is doomed, and of entities that a relation alone keeps in the
 * table of entities without components. */
static bool closure_rows_prepare(closure *x, reef_entity *sorted)
{
    const reef_world *w = x->w;
    uint32_t count = x->dead_count;
    for (uint32_t i = 0; i < count; i++) sorted[i] = x->dead[i];
    for (uint32_t i = 0; i < x->end_count; i++)
        if (reef_slots_at(&w->hot, place_of(w, x->ends[i].source))[0].head.table == TABLE_EMPTY)
            sorted[count++] = x->ends[i].source;
    /* Shell's sort (1959): tables are few, so almost everything is in order. */
    for (uint32_t gap = count / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < count; i++)
            for (uint32_t k = i; k >= gap && table_before(w, sorted[k], sorted[k - gap]); k -= gap) {
                const reef_entity moved = sorted[k];
                sorted[k] = sorted[k - gap];
                sorted[k - gap] = moved;
            }
    for (uint32_t i = 0, n; i < count; i += n) {
        uint32_t rows = 0;
        for (n = 0; i + n < count && !table_before(w, sorted[i], sorted[i + n]); n++) {
            if (reef__record_own(x->w, sorted[i + n].index) == NULL) return false;
            if (place_of(w, sorted[i + n]) != PLACE_EMPTY) sorted[i + rows++] = sorted[i + n];
        }
        const uint32_t id = reef_slots_at(&w->hot, place_of(w, sorted[i]))[0].head.table;
        if (rows && !reef__leave_prepare(x->w, id, sorted + i, rows)) return false;
    }
    return true;
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
    memory *m = &x->w->family->memory;
    const size_t bytes = ((size_t)x->dead_count + x->end_count) * sizeof(reef_entity);
    reef_entity *sorted = reef__memory_zeroed(m, MEMORY_OTHER, bytes);
    bool ok = sorted && closure_rows_prepare(x, sorted) && reef__destroy_prepare(x->w, x->dead, x->dead_count, 0);
    /* what an observer is told of a relation that ends is less than what it is told of a death */
    if (ok && observed(x->w)) ok = observe_reserve_deaths(x->w, (uint64_t)x->dead_count + x->end_count);
    for (uint32_t i = 0; ok && i < x->end_count; i++) ok = end_prepare(x->w, x->ends[i].t, x->ends[i].source);
    reef__memory_free(m, MEMORY_OTHER, sorted, bytes);
    return ok;
}

/* ---- the call ---- */

static reef_status closure_find(closure *x, const reef_entity *e, uint64_t n)
{
    reef_status s = REEF_OK;
    x->seen_bytes = x->w->hot.index_count / 8 + 1;
    x->seen = reef__memory_zeroed(&x->w->family->memory, MEMORY_OTHER, x->seen_bytes);
    if (x->seen == NULL || !reef__relations_ready(x->w)) return REEF_NO_MEMORY;
    for (uint64_t i = 0; i < n; i++)
        if (!doom(x, e[i])) return REEF_NO_MEMORY;
    for (uint32_t i = 0; s == REEF_OK && i < (BUG(197) ? n : x->dead_count); i++)
        s = relations_to(x, x->dead[i], doom_source);
    for (uint32_t i = 0; s == REEF_OK && i < x->dead_count; i++) s = relations_to(x, x->dead[i], end_relation);
    return s;
}

static void closure_do(closure *x)
{
    reef_world *w = x->w;
    observe_open(w);
    for (uint32_t i = 0; i < x->end_count; i++) {
        const relation_end *k = &x->ends[i];
        uint32_t number = 0;
        while (((const relation_value *)reef__store_nth(store_of(w, k->t->id), k->source, number))->target.index !=
               k->target.index)
            number++;
        const reef_status s = reef_remove_one_id(w, k->source, (reef_component){k->t->id}, number);
        ASSERT(s == REEF_OK);
        (void)s;
    }
    for (uint32_t i = x->dead_count; i-- > 0;) reef__destroy_prepared(w, x->dead[i]);
    observe_close(w);
}

reef_status reef__destroy_related(reef_world *w, const char *op, const reef_entity *e, uint64_t n)
{
    closure x = {.w = w, .op = op};
    reef_status s = closure_find(&x, e, n);
    if (s == REEF_OK && !closure_prepare(&x)) s = REEF_NO_MEMORY;
    if (s == REEF_OK) closure_do(&x);
    memory *m = &w->family->memory;
    reef__memory_free(m, MEMORY_OTHER, x.seen, x.seen ? x.seen_bytes : 0);
    reef__memory_free(m, MEMORY_OTHER, x.dead, x.dead_room * sizeof *x.dead);
    reef__memory_free(m, MEMORY_OTHER, x.ends, x.end_room * sizeof *x.ends);
    return s == REEF_NO_MEMORY ? reef__failure(w, s, op, (reef_component){0}, n ? e[0] : (reef_entity){0, 0}, 0) : s;
}

/* ---- relations to nobody ---- */

static bool settle_source(reef_world *w, reef_component c, reef_entity e)
{
    for (uint32_t n = reef_count_on_id(w, e, c); n-- > 0;) {
        const relation_value *v = reef__store_nth(store_of(w, c.id), e, n);
        if (!reef_is_alive(w, v->target) && reef_remove_one_id(w, e, c, n) != REEF_OK) return false;
    }
    return true;
}

COLD bool reef__relations_settle(reef_world *w)
{
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        const reef_component c = {w->state.stores[i].component};
        for (uint32_t page = 0; w->state.stores[i].relation && page < w->state.stores[i].values.count; page++) {
            store_place at = {.slot = 0};
            while (w->state.stores[i].values.page[page] && reef__store_each(&w->state.stores[i], page, &at))
                if (!reef_is_alive(w, ((const relation_value *)at.value)->target) && !settle_source(w, c, at.entity))
                    return false;
        }
    }
    return reef__names_settle(w);
}
