/* The general path of a change of one entity, which may be made by it. It has three steps, and only the first two can
 * fail:
 *
 *   prepare   rows_prepare, bits_prepare, track_prepare, reef__stage_prepare. All memory is allocated, and all that is
 *             shared with a fork is copied, while the world still says what it said before.
 *   make      reef__stage_make. The new values are made where nobody sees them: in the row behind the last one of the
 *             new table, or aside if they replace values of the same row. Hooks may refuse here; then what was made is
 *             taken back.
 *   commit    track_commit, rows_commit, bits_commit, reef__stage_commit. The row moves, and its bits follow.
 *
 * Invariant: until the commit, no reader can find a trace of the change. */
#include "change/apply.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/removal_log.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "storage/table.h"
#include "change/command.h"
#include "change/value_stage.h"

/* ---- types and values ---- */

reef_status reef__values_check(reef_world *w, recorder *by, const char *op, reef_entity e, const reef_value *values,
                               uint32_t count, values_use use, uint32_t n)
{
    reef_component c = {0};
    uint64_t number = count, seen = 0; /* a bit for every 64th component */
    const char *why = count && values == NULL ? "the list of values is NULL" : NULL;
    reef_status s = count > REEF_COMPONENTS_MAX ? REEF_LIMIT : why ? REEF_BAD_ARGUMENT : REEF_OK;
    for (uint32_t i = 0; s == REEF_OK && i < count; i++) {
        c = values[i].component;
        number = i + 1;
        const uint64_t bit = 1ull << c.id % 64;
        for (uint32_t j = 0; UNLIKELY((seen & bit) != 0) && j < i; j++)
            if (values[j].component.id == c.id) s = REEF_DUPLICATE_TERM;
        seen |= bit;
        if (s == REEF_OK && by) s = reef__world_knows(w, c.id) ? REEF_OK : REEF_UNKNOWN_TYPE;
        if (s == REEF_OK && by == NULL && !type_is_ready(w, c.id)) s = reef__type_ready(w, c.id);
        why = NULL; /* reef__type_ready has given its own reason */
        if (s == REEF_OK) s = reef__value_sound(&values[i], use != VALUES_SPAWN, n, &why);
        if (s == REEF_WRONG_SIZE) number = values[i].size;
        if (s == REEF_OK && by && !by->calls->declares(by, &values[i], use == VALUES_CHANGE))
            s = REEF_UNDECLARED, number = 0;
    }
    if (s == REEF_OK) return s;
    if (s == REEF_BAD_ARGUMENT && by) by->why = why;
    if (s == REEF_BAD_ARGUMENT && !by && why) (void)refuse_because(w, why);
    return by ? by->calls->failure(by, s, op, c, e, number) : reef__failure(w, s, op, c, e, number);
}

reef_status reef__value_check(const reef_world *w, const reef_value *v, bool remove)
{
    const char *why;
    const reef_status s = reef__value_sound(v, remove, 1, &why);
    return s == REEF_BAD_ARGUMENT ? refuse_because(w, why) : s;
}

reef_status reef__value_put(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t i)
{
    const bool constructs = UNLIKELY(t->hooks.construct != NULL) && v->kind == REEF_VALUE_DEFAULT;
    if (constructs) world_hold(w);
    reef_status s = reef__value_make(w, e, t, slot, v, i);
    if (constructs) world_let_go(w);
    if (s == REEF_OK && UNLIKELY(t->hooks.unique != NULL)) {
        s = reef__uniques_by->enter(w, e, t, slot);
        if (s != REEF_OK) reef__value_take_back(t, slot, v, i);
    }
    if (s != REEF_OK) w->hook_failed.id = t->id;
    return s;
}

const type *reef__value_column(const reef_value *v)
{
    if (v->component.id & BIT_DISABLED) return NULL;
    const type *t = reef__type_of(v->component.id);
    return in_table(t) && type_column(t) && v->kind != REEF_VALUE_REMOVE ? t : NULL;
}

/* ---- one row moves ---- */

typedef struct row_change { /* one change of an entity, and what was prepared for it */
    reef_entity e;
    const reef_value *values;
    uint32_t count, n; /* n: of arrays, the number of the values */
    bool stored;       /* some values go to stores */
    bool stay;         /* it keeps its row, or has none before and after */
    bool row;          /* it has a row then */
    const shape *before, *after;
    table *from, *to; /* NULL: the entity has no row there, or stays */
    uint32_t place, to_place;
    reef_slot *slots, *to_slots;
    /* rows_commit; arrival_commit for an entity that is made. (So a program that only makes entities doesn't link what
     * moves rows.) */
    void (*commit)(reef_world *w, const struct row_change *x);
} row_change;

table *reef__row_leave_prepare(reef_world *w, uint32_t place)
{
    table *t = reef__table_own(w, reef_slots_at(&w->hot, place)[0].head.table);
    if (t == NULL || !reef__chunk_own(w, t, place_unit(place))) return NULL;
    if (t->shape->hooked && !reef__chunk_own(w, t, t->last)) return NULL;
    const uint32_t last = t->next - 1;
    if (place_row(last) == 0 && !reef__table_prepare_pop(w, t)) return NULL;
    const reef_entity moved = slot_entities(unit_slots(w, t->last))[place_row(last)];
    if (!record_owned(w, moved.index) && reef__record_own(w, moved.index) == NULL) return NULL;
    return last == place || t->bits == 0 || reef__bits_prepare_move(w, t->bits, last, place) ? t : NULL;
}

static bool rows_prepare(reef_world *w, row_change *x)
{
    if (reef__record_own(w, x->e.index) == NULL) return false;
    if (x->row) {
        x->to = reef__table_own(w, x->after->table);
        if (x->to == NULL || !reef__table_room(w, x->to)) return false;
        x->to_place = x->to->next;
    }
    if (x->place != PLACE_EMPTY) {
        x->from = reef__row_leave_prepare(w, x->place);
        if (x->from == NULL) return false;
        uint64_t mask = x->from->bits;
        if (x->to && mask) {
            x->to->bits |= mask, x->to->lease = 0;
            if (!reef__bits_prepare_move(w, mask, x->place, x->to_place)) return false;
        } else if (!reef__bits_prepare_clear(w, mask, x->place)) {
            return false;
        }
    }
    x->slots = reef_slots_at(&w->hot, x->place);
    if (x->to) x->to_slots = unit_slots(w, x->to->last);
    return true;
}

bool reef__arrive_prepare(reef_world *w, uint32_t from, uint32_t to, uint64_t n)
{
    const uint64_t mask = table_read(w, from)->bits;
    if (to == TABLE_EMPTY && mask == 0 && (w->slow & SLOW_COLD) == 0) return true; /* the entities won't have a row */
    table *t = reef__table_own(w, to);
    if (t == NULL || n > UINT32_MAX || !reef__table_reserve(w, t, (uint32_t)n)) return false;
    t->bits |= mask;
    for (uint32_t unit = t->last; unit; unit = unit == t->last ? t->spare : unit_slots(w, unit)[0].head.next)
        if (!reef__bits_own_unit(w, mask, unit)) return false;
    return true;
}

static bool is_staged(const row_change *x, uint32_t component)
{
    for (uint32_t i = 0; i < x->count; i++)
        if (x->values[i].component.id == component) return reef__value_column(&x->values[i]) != NULL;
    return false;
}

/* Columns that both tables have move to the new row. Values that the entity loses are destroyed. */
static void columns_commit(reef_world *w, const row_change *x)
{
    const shape *s = x->from->shape;
    uint32_t row = place_row(x->place), to_row = x->to ? place_row(x->to_place) : 0;
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++) {
        const type *t = s->columns[k].type;
        void *old = cell(x->slots, k, row, t->size);
        uint32_t there = x->to ? reef__slot_seek(w, t->id, x->to->shape->table) : 0;
        if (there && !is_staged(x, t->id)) reef__value_move(t, cell(x->to_slots, there, to_row, t->size), old);
        else value_leave(w, t, old);
    }
}

/* The new row becomes the last one of its table. */
static void row_arrives(reef_world *w, const row_change *x)
{
    ((reef_entity *)x->to_slots[SLOT_ENTITIES].block)[place_row(x->to_place)] = x->e;
    reef__row_pushed(w, x->to);
}

static void arrival_commit(reef_world *w, const row_change *x)
{
    row_arrives(w, x);
    record_put(w, x->e, x->to_place);
}

static void rows_commit(reef_world *w, const row_change *x)
{
    if (x->from) columns_commit(w, x);
    if (x->to) {
        row_arrives(w, x);
        quarantine_move(w, x->to, place_unit(x->to_place));
        if (x->from) reef__bits_move(w, x->from->bits, x->place, x->to_place);
    } else if (x->from) {
        reef__bits_clear(w, x->from->bits, x->place);
    }
    if (x->from) reef__row_fill(w, x->from, x->place), reef__table_lease(w, x->from);
    record_put(w, x->e, x->to ? x->to_place : PLACE_EMPTY);
    if (!x->from) w->hot.empty_count--;
    if (!x->to) w->hot.empty_count++;
    if (!x->from || !x->to) record_mark(w, x->e.index);
    if (x->from && x->to) w->hot.moves++;
    else reef__invalidate(w, INVALIDATE_BLOCKS_MOVED);
}

/* ---- switches and marks ---- */

/* Prepares the bits of the row that will be at `place`, as the values say. A component that goes takes the mark that it
 * is disabled along. */
static bool bits_prepare(reef_world *w, const row_change *x, uint32_t place)
{
    const uint32_t id = x->after->table;
    for (uint32_t i = 0; i < x->count; i++) {
        const uint32_t c = x->values[i].component.id;
        const bool remove = x->values[i].kind == REEF_VALUE_REMOVE;
        if (value_is_bit(&x->values[i]) && !reef__bit_prepare(w, c, id, place, !remove)) return false;
        if (remove && !reef__bit_prepare(w, c | BIT_DISABLED, id, place, false)) return false;
    }
    return true;
}

static void bits_commit(reef_world *w, const row_change *x, uint32_t place)
{
    for (uint32_t i = 0; i < x->count; i++) {
        const uint32_t c = x->values[i].component.id;
        const bool remove = x->values[i].kind == REEF_VALUE_REMOVE;
        if (value_is_bit(&x->values[i])) reef__bit_commit(w, c, place, !remove);
        if (remove) reef__bit_commit(w, c | BIT_DISABLED, place, false);
    }
}

/* ---- rows that are tracked ---- */

/* Makes ready all that track_commit needs. */
static bool track_prepare(reef_world *w, const row_change *x)
{
    const shape *from = x->before, *to = x->after;
    for (uint32_t i = 0; i < to->component_count; i++) {
        const uint32_t c = to->component[i];
        if (!reef__type_of(c)->tracked || (reef__slot_seek(w, c, from->table) && !is_staged(x, c))) continue;
        if (!reef__track_prepare(w, c, &x->e, 1)) return false;
    }
    for (uint32_t i = 0; i < from->component_count; i++) {
        const uint32_t c = from->component[i];
        if (reef__type_of(c)->tracked && reef__slot_seek(w, c, to->table) == 0 && !reef__removals_prepare(w, c, 1))
            return false;
    }
    return true;
}

/* Logs removals and stamps the row. It runs before the commit, while the values that go are still in the row. */
static void track_commit(reef_world *w, const row_change *x)
{
    const shape *from = x->before, *to = x->after;
    for (uint32_t i = 0; i < from->component_count; i++) {
        const type *t = reef__type_of(from->component[i]);
        if (t->tracked && reef__slot_seek(w, t->id, to->table) == 0) reef__removal_log(w, t, x->place, x->e);
    }
    for (uint32_t i = 0; i < to->component_count; i++) {
        const uint32_t c = to->component[i];
        if (!reef__type_of(c)->tracked) continue;
        if (reef__slot_seek(w, c, from->table) == 0) reef__track_stamp(w, c, x->e.index, true);
        else if (is_staged(x, c)) reef__track_stamp(w, c, x->e.index, false);
    }
}

/* ---- the steps ---- */

/* Does the change, of which the rows are prepared. */
static reef_status change_run(reef_world *w, const row_change *x)
{
    const bool tracked = x->before->tracked || x->after->tracked;
    const uint32_t at = x->stay ? x->place : x->to_place;
    value_stage stage;
    if (x->row && !bits_prepare(w, x, at)) return REEF_NO_MEMORY;
    if (tracked && !track_prepare(w, x)) return REEF_NO_MEMORY;
    stage_begin(&stage, w, x->e, x->values, x->count, x->n, x->after->table, at, !x->stay, x->stored);
    if ((x->stored || x->stay) && !reef__stage_prepare(&stage)) return REEF_NO_MEMORY;
    const reef_status s = reef__stage_make(&stage);
    if (s != REEF_OK) return s;
    if (tracked) track_commit(w, x);
    if (!x->stay) x->commit(w, x);
    if (x->row) bits_commit(w, x, at);
    reef__stage_commit(&stage);
    return REEF_OK;
}

reef_status reef__row_make(reef_world *w, table *t, reef_entity e, const reef_value *values, uint32_t count, uint32_t n,
                           bool stored)
{
    if (!reef__table_room(w, t)) return REEF_NO_MEMORY;
    row_change x = {.e = e, .values = values, .count = count, .n = n, .stored = stored, .row = true};
    x.before = shape_of(w->family, TABLE_EMPTY), x.after = t->shape;
    x.to = t, x.to_place = t->next, x.to_slots = unit_slots(w, t->last);
    x.commit = arrival_commit;
    return change_run(w, &x);
}

/* Will the entity have a row? */
static bool has_row_after(const reef_world *w, const row_change *x)
{
    bool row = x->after->table != TABLE_EMPTY;
    for (uint32_t i = 0; !row && i < x->count; i++)
        row = value_is_outside(&x->values[i]) && x->values[i].kind != REEF_VALUE_REMOVE;
    return row || (x->place != PLACE_EMPTY &&
                   (reef__bits_remain(w, table_read(w, x->before->table)->bits, x->place, x->values, x->count) ||
                    reef__cold_remains(w, x->e, x->values, x->count)));
}

static reef_status change_entity(reef_world *w, reef_entity e, uint32_t place, uint32_t to, const reef_value *values,
                                 uint32_t count)
{
    row_change x = {.e = e, .values = values, .count = count, .place = place, .commit = rows_commit};
    x.stored = reef__values_stored(values, count);
    x.before = shape_of(w->family, reef_slots_at(&w->hot, place)[0].head.table), x.after = shape_of(w->family, to);
    x.row = has_row_after(w, &x);
    x.stay = x.before == x.after && x.row == (place != PLACE_EMPTY);
    const reef_status s = x.stay || rows_prepare(w, &x) ? change_run(w, &x) : REEF_NO_MEMORY;
    if (s != REEF_OK && x.to) reef__table_trim(w, x.to);
    return s;
}

reef_status reef__change_apply(reef_world *w, const char *op, reef_entity e, uint32_t place, uint32_t to,
                               reef_value *values, uint32_t count)
{
    w->value = values;
    w->value_count = count;
    values_begin(w);
    quarantine_because(w, op, count == 1 ? values->component.id : 0, e);
    const bool told = observed(w) && (values_watched(w, values, count) ||
                                      reef__leave_watched(w, reef_slots_at(&w->hot, place)[0].head.table, to));
    reef_status s = told && !observe_change(w, e, to, values, count) ? REEF_NO_MEMORY : REEF_OK;
    const bool planned = told && s == REEF_OK;
    if (s == REEF_OK) s = change_entity(w, e, place, to, values, count);
    w->value_count = 0;
    if (planned) observe_done(w, s == REEF_OK);
    reef_component named = w->hook_failed.id || count != 1 ? w->hook_failed : values->component;
    named.id &= ~BIT_DISABLED;
    return s == REEF_OK ? s : reef__failure(w, s, op, named, e, 0);
}

/* ---- a list ---- */

uint32_t reef__set_after(const reef_world *w, uint32_t from, const reef_value *values, uint32_t count, uint32_t *ids)
{
    const shape *s = shape_of(w->family, from);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->component_count; i++) {
        bool named = false;
        for (uint32_t j = 0; j < count && !named; j++) named = values[j].component.id == s->component[i];
        if (!named) ids[n++] = s->component[i];
    }
    for (uint32_t j = 0; j < count; j++)
        if (values[j].kind != REEF_VALUE_REMOVE && in_table(reef__type_of(values[j].component.id)))
            ids[n++] = values[j].component.id;
    return n;
}

reef_status reef__list_apply(reef_world *w, const char *op, reef_entity e, const reef_value *values, uint32_t count,
                             uint32_t *led)
{
    uint32_t ids[2 * REEF_COMPONENTS_MAX], place = place_of(w, e);
    uint32_t from = reef_slots_at(&w->hot, place)[0].head.table, to = from;
    bool moves = false;
    spread x;
    reef_status s = reef__spread_make(w, &x, e, values, count);
    if (s != REEF_OK) return reef__failure(w, s, op, (reef_component){0}, e, 0);
    for (uint32_t i = 0; i < x.count; i++) {
        uint32_t c = x.values[i].component.id;
        if (component_there(w, reef__type_of(c), e, place, from) == (x.values[i].kind == REEF_VALUE_REMOVE))
            moves = true;
    }
    if (w->locks && (moves || w->notifying)) s = REEF_LOCKED;
    else if (moves) to = reef__graph_table(w, ids, reef__set_after(w, from, x.values, x.count, ids), &s);
    s = s == REEF_OK && to ? reef__change_apply(w, op, e, place, to, x.values, x.count)
                           : reef__failure(w, s, op, (reef_component){0}, e, 0);
    *led = x.count == count ? to : 0;
    reef__spread_free(w, &x);
    return s;
}
