/* Destroying: one entity, many, all.
 *
 * An entity that is destroyed leaves its row, and the last row of the table takes its place. Its index goes to the end
 * of the ring of free ids with the next generation. destroy_go is the fast path: it tests that this world alone
 * holds everything it writes, then needs no memory. destroy_run is the general one: it prepares everything that may
 * fail, and then changes the world. Around it entity_end tells observers: where one component is watched, directly, or
 * else by a plan. reef_world_clear collects all entities first, in visiting order, and prepares for all of them, so
 * that it does all or nothing; reef_destroy_many goes one by one. */
#include "change/destroy.h"
#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/layout.h"
#include "storage/name_index.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/read.h"
#include "storage/removal_log.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "storage/world_data.h"
#include "change/apply.h"
#include "change/command.h"
#include "change/relation.h"
#include "change/value_stage.h"
#include "reef/detail/access.h"
#include "reef/many.h"

typedef struct doomed { /* entities that were collected before anything changes, in visiting order */
    reef_entity *entities;
    uint64_t count, room;
} doomed;

/* ---- one ---- */

/* Who is told of an entity's end: nobody; the observers of one component in its row, of one kind of event, by
 * observe_tell (`type`, `whom`); or others, and then it is planned. */
typedef enum death_told { TOLD_NOBODY, TOLD_BY_PLAN, TOLD_SIMPLY } death_told;
typedef struct death {
    death_told told;
    uint32_t whom;
    const type *type;
} death;

static death death_of(const reef_world *w, reef_entity e)
{
    death x = {TOLD_NOBODY, 0, NULL};
    if (LIKELY(!observed(w))) return x;
    if (w->slow & SLOW_WATCHED) return x.told = TOLD_BY_PLAN, x;
    const observing_head *o = (const observing_head *)(const void *)w->observing;
    for (uint32_t i = 0; i < o->watched_count; i++) {
        const type *t = reef__type_of(o->watched[i]);
        const uint32_t kind = whom_either(o->asked[t->id]) & (REEF_ON_REMOVE | REEF_ON_DESTROY);
        if (kind == 0 || !has_itself(w, e, t)) continue;
        const bool another = x.told != TOLD_NOBODY;
        x = (death){TOLD_BY_PLAN, reef__type_whom(w, t, kind), t};
        if (another || !in_table(t) || t->split || kind == (REEF_ON_REMOVE | REEF_ON_DESTROY)) return x;
        if (x.whom != WHOM_BY_PLAN) x.told = TOLD_SIMPLY;
    }
    return x;
}

/* Like reef__row_destroy, where observers may still want the values. */
static void row_leave(reef_world *w, const shape *s, reef_slot *slots, uint32_t row)
{
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++)
        value_leave(w, s->columns[k].type, cell(slots, k, row, s->columns[k].size));
}

/* The general path of an entity that is alive, at `place`. False: no memory, and nothing changed. */
static bool destroy_run(reef_world *w, reef_entity e, uint32_t place, death_told told)
{
    if (!record_owned(w, e.index) && !reef__record_own(w, e.index)) return false;
    if (!reef__id_free_prepare(w)) return false;
    if (w->state.name_count && !reef__name_prepare_forget(w, e)) return false;
    if (stored_any(w) && !reef__stored_prepare_end(w, e)) return false;
    table *t = NULL;
    if (place == PLACE_EMPTY) {
        w->hot.empty_count--;
    } else {
        t = reef__row_leave_prepare(w, place);
        if (t == NULL || (t->bits && t->next - 1 == place && !reef__bits_prepare_clear(w, t->bits, place)))
            return false;
        if (t->shape->tracked && !reef__removals_prepare_row(w, t->shape)) return false;
        if (t->shape->tracked) reef__removals_log_row(w, t->shape, place, e);
        if (told == TOLD_BY_PLAN) row_leave(w, t->shape, reef_slots_at(&w->hot, place), place_row(place));
        else reef__row_destroy(t->shape, reef_slots_at(&w->hot, place), place_row(place));
        quarantine_because(w, "reef_destroy", 0, e);
    }
    if (w->state.name_count) reef__name_forget(w, e); /* while its parent is known */
    if (stored_any(w)) reef__stored_end(w, e);        /* while the row still says what the entity has */
    if (t) {
        reef__row_fill(w, t, place);
        reef__table_lease(w, t);
    }
    reef__ids_free(w, &e, 1);
    entities_ended(w, 1);
    return true;
}

/* An entity ends, whoever is told of it. False: no memory, and nothing changed. */
static bool entity_end(reef_world *w, reef_entity e)
{
    const uint32_t place = place_of(w, e);
    const death x = death_of(w, e);
    if (x.told == TOLD_SIMPLY) {
        old_value old;
        const reef_slot *slots = reef_slots_at(&w->hot, place);
        const uint32_t k = slot_find(w, x.type->id, slots[0].head.table);
        if (x.type->size) bytes_copy(old.at, cell(slots, k, place_row(place), x.type->size), x.type->size);
        if (!destroy_run(w, e, place, x.told)) return false;
        (void)observe_tell(w, e, x.type, x.whom, NULL, x.type->size ? old.at : NULL);
        return true;
    }
    if (x.told == TOLD_BY_PLAN && !observe_destroy(w, e)) return false;
    const bool died = destroy_run(w, e, place, x.told);
    if (x.told == TOLD_BY_PLAN) observe_done(w, died);
    return died;
}

static COLD reef_status destroy_slow(reef_world *w, reef_entity e)
{
    static const char op[] = "reef_destroy";
    const reef_component none = {0};
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    if (w->commands && reef__command_knows(w, e))
        return reef__command_plain(w, w->commands, COMMAND_DESTROY, op, e, none);
    if (place_of(w, e) == PLACE_DEAD) return reef__failure(w, REEF_NOT_ALIVE, op, none, e, 0);
    if (w->locks) return reef__failure(w, REEF_LOCKED, op, none, e, 0);
    if (w->slow & SLOW_RELATED && !w->untargeted && reef__relations_by->related_to(w, e))
        return reef__relations_by->destroy(w, op, &e, 1);
    return entity_end(w, e) ? REEF_OK : reef__failure(w, REEF_NO_MEMORY, op, none, e, 0);
}

void reef__destroy_prepared(reef_world *w, reef_entity e)
{
    const bool died = entity_end(w, e);
    ASSERT(died);
    (void)died;
}

void reef__destroy_values(reef_world *w, const reef_entity *e, uint32_t n)
{
    bool tracked = reef__stores_tracked(w); /* then the log of removals is entity by entity */
    for (uint32_t i = 0; i < w->state.track_count; i++) tracked |= w->state.tracks[i].readers != 0;
    for (uint32_t i = n; tracked && i-- > 0;) {
        const uint32_t place = place_of(w, e[i]);
        const shape *s = place == PLACE_EMPTY ? NULL : shape_of(w->family, reef_slots_at(&w->hot, place)[0].head.table);
        if (s && s->tracked) reef__removals_log_row(w, s, place, e[i]);
        if (stored_any(w)) reef__stored_end(w, e[i]);
    }
    for (uint32_t i = n; w->state.name_count && i-- > 0;) reef__name_forget(w, e[i]);
    if (!tracked && stored_any(w)) reef__stored_end_many(w, e, n);
}

/* Destroys all rows of a table. `whole`: and with each what it has outside of the table, and its handle. */
static void rows_of_table_end(reef_world *w, table *t, bool whole)
{
    reef__quarantine_table(w, t);
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        const reef_entity *e = slot_entities(unit_slots(w, unit));
        const uint32_t rows = whole || t->shape->hooked ? chunk_rows(t, unit) : 0;
        for (uint32_t i = 0; i < rows; i++) {
            reef__row_destroy(t->shape, unit_slots(w, unit), i);
            if (!whole) continue;
            if (stored_any(w)) reef__stored_end(w, e[i]);
            reef__ids_free(w, &e[i], 1);
        }
        if (whole) entities_ended(w, rows);
        reef__bits_clear_unit(w, t->bits, unit);
    }
    reef__table_empty(w, t);
}

COLD void reef__destroy_rows(reef_world *w, uint32_t id)
{
    table *t = reef__table_own(w, id);
    lease_end(t);
    quarantine_because(w, "reef_destroy", 0, (reef_entity){0, 0});
    rows_of_table_end(w, t, true);
    reef__table_lease(w, t);
}

void reef__destroy_some_rows(reef_world *w, uint32_t id, const reef_entity *e, uint32_t n)
{
    table *t = reef__table_own(w, id);
    lease_end(t);
    quarantine_because(w, "reef_destroy", 0, e[0]);
    if (n == table_rows(t)) {
        rows_of_table_end(w, t, false);
    } else {
        for (uint32_t i = n; i-- > 0;) {
            const uint32_t place = place_of(w, e[i]);
            reef__row_destroy(t->shape, reef_slots_at(&w->hot, place), place_row(place));
            reef__row_fill(w, t, place);
        }
    }
    reef__table_lease(w, t);
}

/* The fast path. False: nothing was done. `narrow` is a constant: all columns are 8 bytes wide. */
INLINE bool destroy_go(reef_world *w, handle h, uint64_t *record, uint64_t gate, bool narrow)
{
    const uint64_t value = *record;
    const uint32_t place = (uint32_t)value;
    reef_slot *slots = reef_slots_at(&w->hot, place);
    /* a dead entity, or one without a row, is in no chunk of this version */
    if (UNLIKELY(slots[SLOT_ENTITIES].version != gate)) return false;
    const uint32_t id = slots[0].head.table;
    struct edge_entry *cached = &w->edge_cache[EDGE_CACHE + 2];
    if (UNLIKELY(cached->key != id)) return false;
    table *t = cached->from;
    const uint32_t last = t->next - 1;
    if (UNLIKELY(t->lease != gate || place_row(last) == 0 || w->ring_next == w->ring_end)) return false;
    if (UNLIKELY(HANDLE_GENERATION(h) == UINT32_MAX || (narrow && !t->shape->narrow))) return false;
    const reef_slot *tail = t->tail;
    const size_t word = place_word(place), last_word = place_word(last);
    t->next = last;
    reef__invalidate(w, INVALIDATE_INDICES_CHANGED);
    *w->ring_next++ = HANDLE_INDEX(h);
    if (LIKELY(place != last)) {
        if (narrow) row_copy_words(t->shape, slots, word, tail, last_word);
        else row_copy(t->shape, slots, place_row(place), tail, place_row(last));
        handle moved;
        memcpy(&moved, (const char *)tail[SLOT_ENTITIES].block + last_word, sizeof moved);
        memcpy((char *)slots[SLOT_ENTITIES].block + word, &moved, sizeof moved);
        record_replace(w, HANDLE_INDEX(moved), place);
    }
    *record = (uint64_t)(HANDLE_GENERATION(h) + 1) << 32 | PLACE_DEAD;
    w->state.ring_tail++;
    entities_ended(w, 1);
    return true;
}

/* The fast path knows one table, the last one from which it destroyed an entity. It isn't open to tables without a
 * lease, nor to those that observers watch. */
static bool destroy_table_cache(reef_world *w, uint32_t id, uint64_t gate)
{
    struct edge_entry *cached = &w->edge_cache[EDGE_CACHE + 2];
    table *t = (table *)w->state.tables.page[id / TABLES_PER_PAGE] + id % TABLES_PER_PAGE;
    if (t->lease != gate || (cached->key != id && reef__table_watched(w, id))) return false;
    cached->key = id;
    cached->from = t;
    w->edges_cached = true;
    return true;
}

static NOINLINE reef_status destroy_wide(reef_world *w, reef_entity e)
{
    /* In a world with names, cold values or relations, the fast path is open to an entity that has no name and no
     * cold value and is no target. (Tables whose rows have bits have no lease, so they never take it.) */
    const uint64_t gate = w->slow & SLOW_BOUND && reef_name(w, e) == NULL &&
                                  !(w->slow & SLOW_COLD && reef__cold_some(w, e)) &&
                                  !(w->slow & SLOW_RELATED && reef__relations_by->related_to(w, e))
                              ? w->hot.gate_move
                              : w->gate_destroy;
    const uint32_t place = place_of(w, e);
    if (place >= 2 * PLACE_EMPTY && destroy_table_cache(w, reef_slots_at(&w->hot, place)[0].head.table, gate)) {
        uint64_t *record = (uint64_t *)(uintptr_t)reef_record_at(&w->hot, e.index);
        if (destroy_go(w, handle_of(e), record, gate, false)) return REEF_OK;
    }
    return destroy_slow(w, e);
}

reef_status reef_destroy(reef_world *w, reef_entity e)
{
    const handle h = handle_of(e);
    if (UNLIKELY(!WORLD_GIVEN_SHORT(w) || HANDLE_INDEX(h) >= w->hot.index_count)) return destroy_slow(w, e);
    uint64_t *record = (uint64_t *)(uintptr_t)reef_record_at(&w->hot, HANDLE_INDEX(h));
    if (UNLIKELY((uint32_t)(*record >> 32) != HANDLE_GENERATION(h))) return destroy_slow(w, e);
    return LIKELY(destroy_go(w, h, record, w->gate_destroy, true)) ? REEF_OK : destroy_wide(w, e);
}

/* ---- many ---- */

enum { AHEAD_RECORD = 24, AHEAD_ROW = 12, DOOMED_FEW = 256 };

static void row_prefetch(const reef_world *w, reef_entity e)
{
    uint32_t place = place_of(w, e);
    if (place < 2 * PLACE_EMPTY) return;
    const reef_slot *slots = reef_slots_at(&w->hot, place);
    const shape *s = shape_of(w->family, slots[0].head.table);
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot && k < 8; k++)
        PREFETCH_WRITE((const char *)slots[k].block + (size_t)place_row(place) * s->columns[k].size);
}

uint32_t reef_destroy_many(reef_world *w, const reef_entity *es, uint32_t n)
{
    uint32_t died = 0;
    if (!WORLD_GIVEN(w) || es == NULL) return 0;
    if (w->commands) return reef__command_destroy_many(w, w->commands, "reef_destroy_many", es, n);
    if (w->locks)
        return reef__failure(w, REEF_LOCKED, "reef_destroy_many", (reef_component){0}, (reef_entity){0, 0}, n), 0;
    observe_open(w);
    for (uint32_t i = 0; i < n; i++) {
        if (i + AHEAD_RECORD < n && es[i + AHEAD_RECORD].index < w->hot.index_count)
            PREFETCH(reef_record_at(&w->hot, es[i + AHEAD_RECORD].index));
        if (i + AHEAD_ROW < n) row_prefetch(w, es[i + AHEAD_ROW]);
        if (place_of(w, es[i]) == PLACE_DEAD) continue;
        if (reef_destroy(w, es[i]) != REEF_OK) break;
        died++;
    }
    observe_close(w);
    return died;
}

/* ---- what the end of many needs ---- */

bool reef__chunk_prepare(reef_world *w, const table *t, uint32_t unit)
{
    return reef__chunk_own(w, t, unit) && reef__bits_own_unit(w, t->bits, unit);
}

bool reef__leave_prepare(reef_world *w, uint32_t from, const reef_entity *e, uint64_t count)
{
    const table *t = reef__table_own(w, from);
    uint32_t owned = 0;
    uint64_t n = 0;
    if (t == NULL) return false;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t unit = place_unit(place_of(w, e[i]));
        if (unit_slots(w, unit)[0].head.table != from) continue;
        n++;
        if (unit != owned && !reef__chunk_prepare(w, t, unit)) return false;
        owned = unit;
        if (!record_owned(w, e[i].index) && reef__record_own(w, e[i].index) == NULL) return false;
    }
    if (n == 0) return true;
    /* including the row that will be the last one */
    const uint64_t rows = table_rows(t), first = rows > n ? rows - n - 1 : 0;
    uint64_t chunk = t->chunks - 1;
    for (uint32_t unit = t->last;; unit = unit_slots(w, unit)[0].head_more.previous, chunk--) {
        if (!reef__chunk_prepare(w, t, unit)) return false;
        const reef_entity *x = slot_entities(unit_slots(w, unit));
        for (uint32_t i = 0; i < chunk_rows(t, unit); i++)
            if (!record_owned(w, x[i].index) && reef__record_own(w, x[i].index) == NULL) return false;
        if (chunk * REEF_BLOCK_ROWS <= first) return true;
    }
}

/* ---- all ---- */

static bool doomed_room(reef_world *w, doomed *d, uint64_t more)
{
    return reef__list_room(w, &d->entities, d->count, &d->room, more, sizeof *d->entities);
}

static void doomed_free(reef_world *w, doomed *d)
{
    reef__memory_free(&w->family->memory, MEMORY_OTHER, d->entities, (size_t)(d->room) * sizeof *d->entities);
}

/* Collects the rows of a table. */
static bool collect_table(reef_world *w, uint32_t id, doomed *d)
{
    const table *t = table_read(w, id);
    if (!doomed_room(w, d, table_rows(t))) return false;
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        const reef_entity *e = slot_entities(unit_slots(w, unit));
        uint32_t rows = chunk_rows(t, unit);
        for (uint32_t row = 0; row < rows; row++) d->entities[d->count++] = e[row];
    }
    return true;
}

static COLD bool collect_rowless(reef_world *w, doomed *d)
{
    if (!doomed_room(w, d, w->hot.empty_count)) return false;
    for (uint32_t i = 0; i < w->hot.index_count; i++) {
        if ((uint32_t)record_read(w, i) != PLACE_EMPTY) continue;
        const reef_entity e = reef_entity_at(w, i);
        if (reef__record_own(w, i) == NULL) return false;
        d->entities[d->count++] = e;
    }
    return true;
}

/* Collects all entities, and makes each table this world's own, so that destroying needs no memory for it. */
static COLD reef_status collect(reef_world *w, doomed *d)
{
    uint32_t n, *ids = reef__tables_sorted(w, &n);
    reef_status s = n && ids == NULL ? REEF_NO_MEMORY : REEF_OK;
    for (uint32_t i = 0; s == REEF_OK && i < n; i++)
        if (!reef__table_own_all(w, ids[i]) || !collect_table(w, ids[i], d)) s = REEF_NO_MEMORY;
    if (ids) reef__memory_free(&w->family->memory, MEMORY_OTHER, ids, n * sizeof *ids);
    return s == REEF_OK && !collect_rowless(w, d) ? REEF_NO_MEMORY : s;
}

COLD bool reef__destroy_prepare(reef_world *w, const reef_entity *e, uint64_t n, uint64_t more)
{
    bool named = false;
    /* one by one the pages of a few are found, which may be much less to copy after a fork */
    const bool few = more == 0 && n < DOOMED_FEW;
    if (few ? !reef__stored_prepare_end_many(w, e, (uint32_t)n) : !reef__stored_prepare_end_all(w)) return false;
    if (!reef__ids_free_prepare(w, n + more) || !reef__removals_prepare_many(w, e, n)) return false;
    for (uint64_t i = 0; !named && w->state.name_count && i < n; i++) named = reef_name(w, e[i]) != NULL;
    if (named && !reef__names_own_all(w)) return false; /* a name that is forgotten may renumber another one */
    return !observed(w) || observe_reserve_deaths(w, n);
}

COLD reef_status reef_world_clear(reef_world *w)
{
    static const char op[] = "reef_world_clear";
    const reef_entity null = {0, 0};
    doomed d = {0};
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->locks || w->time_owner) return reef__failure(w, REEF_LOCKED, op, (reef_component){0}, null, 0);
    reef_status s = collect(w, &d);
    const bool related = s == REEF_OK && reef__related_any(w);
    if (related) s = reef__relations_by->destroy(w, op, d.entities, d.count);
    else if (s == REEF_OK && !reef__destroy_prepare(w, d.entities, d.count, 0)) s = REEF_NO_MEMORY;
    if (s == REEF_OK && !related) {
        observe_open(w);
        for (uint64_t i = 0; s == REEF_OK && i < d.count; i++) s = reef_destroy(w, d.entities[i]);
        observe_close(w);
    }
    doomed_free(w, &d);
    return s == REEF_OK || related ? s : reef__failure(w, s, op, (reef_component){0}, null, 0);
}
