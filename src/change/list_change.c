/* Several components of one entity at once: `reef_change`, and commands that do the same.
 *
 * The first such change of a table goes the general way: it checks the list, finds the table to which it leads, and
 * leaves the rest to apply.c. Where the list says all that comes and goes, and it comes and goes in tables or as a
 * switch, the table is remembered, and the next such change goes the way of a single component (row_change.c):
 *
 *   plan      list_plan: which slots the values have in both tables, and whether they are sound.
 *   reserve   list_reserve: everything that is written becomes this world's own.
 *   make      list_values_make: the values are made in the row behind the last one. A hook may refuse.
 *   commit    list_commit: the row goes over, the last row fills the hole. Nothing fails. */
#include "change/component.h"
#include "base/byte_hash.h"
#include "base/platform.h"
#include "type/type.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/layout.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/read.h"
#include "storage/removal_log.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/table.h"
#include "storage/world_data.h"
#include "change/apply.h"
#include "change/command.h"
#include "change/multi.h"
#include "change/row_move.h"
#include "change/row_reserve.h"
#include "change/spawn.h"

enum { LIST_FEW = 8 }; /* the most values of a list whose table is remembered */

/* The key of a list for an entity of a table: what comes and what goes, in any order. */
INLINE uint64_t list_key(uint32_t from, const reef_value *values, uint32_t count)
{
    uint64_t key = (uint64_t)from << 8 | count;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t id = (uint64_t)values[i].component.id * 2 + (values[i].kind == REEF_VALUE_REMOVE) + 1;
        key += hash_blend(id);
    }
    return hash_blend(key);
}

/* The table is remembered where the list is all that comes and goes, in tables and as switches. */
static void list_remember(reef_world *w, uint32_t from, uint32_t to, const reef_value *values, uint32_t count)
{
    bool simple = count <= LIST_FEW && from > TABLE_EMPTY && to > TABLE_EMPTY && from != to &&
                  shape_of(w->family, from)->end_slot <= 64;
    for (uint32_t i = 0; i < count && simple; i++) {
        const type *t = reef__type_of(values[i].component.id);
        simple = !t->stored && !t->split && !t->owner && !t->need_count;
    }
    if (simple) set_remember(w, list_key(from, values, count), to);
}

/* Goes the general way, and remembers where that led. */
static reef_status list_first(reef_world *w, const char *op, reef_entity e, const reef_value *values, uint32_t count)
{
    const uint32_t from = reef_slots_at(&w->hot, place_of(w, e))[0].head.table;
    uint32_t to = 0;
    const reef_status s = reef__list_apply(w, op, e, values, count, &to);
    if (s == REEF_OK) list_remember(w, from, to, values, count);
    return s;
}

/* ---- a list whose table is remembered ---- */

/* What is known of the list before anything is done. A slot is 0 where the table hasn't got the component, or it is a
 * switch; REEF_SLOT_TAG: it is a tag. */
typedef struct list_move {
    reef_world *w;
    reef_entity e;
    const shape *from, *to;
    uint32_t count;
    bool bits, tracked; /* does it name a switch, or a type whose rows are tracked? */
    uint64_t replaced;  /* slots of `from` whose values don't go along: they go, or another one comes */
    reef_value values[LIST_FEW];
    const type *type[LIST_FEW];
    uint32_t left[LIST_FEW], slot[LIST_FEW]; /* the slots in `from` and in `to` */
    stamp_page *stamps[LIST_FEW];            /* where a tracked component comes */
    bool logged[LIST_FEW];                   /* somebody reads that it goes */
} list_move;

INLINE bool list_goes(const list_move *x, uint32_t k) { return x->values[k].kind == REEF_VALUE_REMOVE; }
INLINE bool list_column(uint32_t slot) { return slot != 0 && slot != REEF_SLOT_TAG; }

/* May this value come as it is? */
INLINE bool list_fits(const type *t, const reef_value *v)
{
    const char *why;
    if (t->fixed) return false;
    if (t->hooked)
        return v->kind == VALUE_MOVED || (v->kind < VALUE_MOVED && reef__value_sound(v, true, 1, &why) == REEF_OK);
    return value_is_plain(t, v);
}

/* Finds out how the list leads from one table to another. False: it doesn't, or a value isn't sound. */
static bool list_plan(list_move *x, const reef_value *values, uint32_t count)
{
    const reef_world *w = x->w;
    uint32_t components = x->from->component_count;
    x->count = count;
    x->bits = x->tracked = false;
    x->replaced = 0;
    for (uint32_t k = 0; k < count; k++) {
        const reef_value *v = &values[k];
        const type *t = type_known(v->component.id);
        const uint32_t left = slot_find(w, t->id, x->from->table), slot = slot_find(w, t->id, x->to->table);
        x->values[k] = *v;
        x->type[k] = t, x->left[k] = left, x->slot[k] = slot;
        x->bits |= t->bit, x->tracked |= t->tracked;
        if (list_column(left)) x->replaced |= (uint64_t)1 << left;
        if (v->kind == REEF_VALUE_REMOVE ? slot != 0 : ((slot == 0) != t->bit || !list_fits(t, v))) return false;
        components += (uint32_t)(slot != 0) - (uint32_t)(left != 0);
    }
    return components == x->to->component_count;
}

/* Everything that the change writes becomes this world's own. */
static bool list_reserve(list_move *x, row_place *row, table *from, table *to)
{
    reef_world *w = x->w;
    if (!moving_reserve(w, row, from, to)) return false;
    const uint64_t mask = from->bits;
    const uint32_t last = from->next - 1, place = to->next, id = x->to->table;
    if (mask) {
        to->bits |= mask;
        to->lease = 0;
        if (last != row->place && !reef__bits_prepare_move(w, mask, last, row->place)) return false;
        if (!reef__bits_prepare_move(w, mask, row->place, place)) return false;
    }
    for (uint32_t k = 0; k < x->count && (mask || x->bits || x->tracked); k++) {
        const type *t = x->type[k];
        const bool goes = list_goes(x, k);
        if (t->bit && !reef__bit_prepare(w, t->id, id, place, !goes)) return false;
        if (goes && mask && !reef__bit_prepare(w, t->id | BIT_DISABLED, id, place, false)) return false;
        if (!t->tracked) continue;
        x->logged[k] = goes && x->left[k] && removals_read(w, t);
        x->stamps[k] = NULL;
        if (x->logged[k] && !reef__removals_prepare(w, t->id, 1)) return false;
        if (goes || (x->left[k] && !list_column(x->slot[k]))) continue;
        x->stamps[k] = reef__track_page(w, t->id, x->e.index);
        if (x->stamps[k] == NULL) return false;
    }
    return true;
}

/* Makes the values that come, in the row behind the last one. What was made is taken back if a hook refuses. */
static reef_status list_values_make(list_move *x, const table *to)
{
    const uint32_t row = place_row(to->next);
    for (uint32_t k = 0; k < x->count; k++) {
        const type *t = x->type[k];
        if (!list_column(x->slot[k])) continue;
        char *at = cell(to->tail, x->slot[k], row, t->size);
        if (LIKELY(!t->hooked)) {
            (void)plain_write(at, &x->values[k], t->size);
            continue;
        }
        const reef_status s = reef__value_put(x->w, x->e, t, at, &x->values[k], 0);
        if (s == REEF_OK) continue;
        while (k-- > 0)
            if (list_column(x->slot[k]) && x->type[k]->hooked)
                reef__value_take_back(x->type[k], cell(to->tail, x->slot[k], row, x->type[k]->size), &x->values[k], 0);
        return s;
    }
    return REEF_OK;
}

/* The row goes over, with the values that it keeps; the others leave. */
static void list_columns(const list_move *x, const row_place *row, const table *to)
{
    const uint32_t at = place_row(row->place), to_row = place_row(to->next);
    for (uint32_t k = SLOT_COLUMNS; k < x->from->end_slot; k++) {
        const type *t = x->from->columns[k].type;
        char *old = cell(row->slots, k, at, t->size);
        if (x->replaced >> k & 1) {
            if (t->hooked || observed(x->w)) value_leave(x->w, t, old);
            continue;
        }
        char *fresh = cell(to->tail, slot_find(x->w, t->id, x->to->table), to_row, t->size);
        if (LIKELY(t->plain_move)) bytes_copy(fresh, old, t->size);
        else reef__value_move(t, fresh, old);
    }
}

static void list_commit(const list_move *x, const row_place *row, table *from, table *to)
{
    reef_world *w = x->w;
    const uint32_t place = to->next;
    const uint64_t mask = from->bits;
    for (uint32_t k = 0; k < x->count && x->tracked; k++) {
        if (!x->type[k]->tracked) continue;
        if (x->logged[k]) reef__removal_log(w, x->type[k], row->place, x->e);
        if (x->stamps[k]) stamps_write(x->stamps[k], x->e.index, w->hot.version, x->left[k] ? 0 : w->hot.version);
    }
    list_columns(x, row, to);
    handle_put(to->tail, place_row(place), row->h);
    reef__row_pushed(w, to);
    if (UNLIKELY(mask != 0)) reef__bits_move(w, mask, row->place, place);
    reef__row_fill(w, from, row->place);
    record_replace(w, HANDLE_INDEX(row->h), place);
    for (uint32_t k = 0; k < x->count && (mask || x->bits); k++) {
        if (x->type[k]->bit) reef__bit_commit(w, x->type[k]->id, place, !list_goes(x, k));
        if (mask && list_goes(x, k)) reef__bit_commit(w, x->type[k]->id | BIT_DISABLED, place, false);
    }
    w->hot.moves++;
    reef__invalidate(w, INVALIDATE_WRITTEN | INVALIDATE_ROWS_CHANGED);
    reef__table_lease(w, from);
}

/* The three steps of row_change.c, for a list. */
static reef_status list_go(list_move *x, const char *op, row_place *row)
{
    reef_world *w = x->w;
    w->value = x->values, w->value_count = x->count; /* they may lie in a table that grows */
    values_begin(w);
    const bool told =
        observed(w) && (values_watched(w, x->values, x->count) || reef__leave_watched(w, x->from->table, x->to->table));
    reef_status s = told && !observe_change(w, x->e, x->to->table, x->values, x->count) ? REEF_NO_MEMORY : REEF_OK;
    const bool planned = told && s == REEF_OK;
    table *to = s == REEF_OK ? table_reserve(w, x->to->table) : NULL;
    table *from = to ? table_reserve(w, x->from->table) : NULL;
    if (from) to = table_reserve(w, x->to->table); /* its page may have become another one */
    if (from == NULL || !list_reserve(x, row, from, to)) s = REEF_NO_MEMORY;
    if (s == REEF_OK) s = list_values_make(x, to);
    w->value_count = 0;
    if (s == REEF_OK) list_commit(x, row, from, to);
    else if (from) reef__table_trim(w, to);
    if (planned) observe_done(w, s == REEF_OK);
    return s == REEF_OK ? s : reef__failure(w, s, op, w->hook_failed, x->e, 0);
}

/* Changes the entity where the list's table is remembered. False: it isn't, or this isn't a change of this shape, and
 * nothing was done. */
static bool list_known(reef_world *w, const char *op, reef_entity e, const reef_value *values, uint32_t count,
                       reef_status *status)
{
    row_place row;
    list_move x;
    if (count - 1 >= LIST_FEW || values == NULL || w->locks || w->running || quarantine_on(w)) return false;
    if (!row_place_find(w, &row, e) || row.place <= PLACE_EMPTY) return false;
    const uint32_t from = row.slots[0].head.table, to = set_recall(w, list_key(from, values, count));
    if (to == 0 || (observed(w) && !observers_known(w))) return false;
    x.w = w, x.e = e, x.from = shape_of(w->family, from), x.to = shape_of(w->family, to);
    if (!list_plan(&x, values, count)) return false;
    *status = list_go(&x, op, &row);
    return true;
}

/* ---- the calls ---- */

/* True if the change only writes components that the entity already has. */
static COLD bool all_there(const reef_world *w, reef_entity e, const reef_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const reef_component c = values[i].component;
        const bool has = has_itself(w, e, reef__type_of(c.id));
        if (values[i].kind == REEF_VALUE_REMOVE || !has) return false;
    }
    return place_of(w, e) != PLACE_DEAD;
}

COLD reef_status reef__change_held(reef_world *w, const char *op, reef_entity e, const reef_value *values,
                                   uint32_t count, bool absent)
{
    const reef_component c = {count == 1 ? values->component.id : 0};
    reef_status s;
    if (!absent && list_known(w, op, e, values, count, &s)) return s;
    if (place_of(w, e) == PLACE_DEAD) return reef__failure(w, REEF_NOT_ALIVE, op, c, e, 0);
    const bool more = absent && has_itself(w, e, reef__type_of(c.id));
    if (more && reef__type_of(c.id)->home != REEF_MULTI) return reef__failure(w, REEF_EXISTS, op, c, e, 0);
    if (more) return reef__multi_add(w, op, e, reef__type_of(c.id), values, NULL);
    return list_first(w, op, e, values, count);
}

reef_status reef_change_values(reef_world *w, reef_entity e, const reef_value *values, uint32_t count)
{
    static const char op[] = "reef_change";
    reef_status s;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (list_known(w, op, e, values, count, &s)) return s;
    if (w->running) return reef__failure(w, REEF_LOCKED, op, (reef_component){0}, e, 0);
    if (place_of(w, e) == PLACE_DEAD && !(w->commands && reef__id_pending(w, e)))
        return reef__failure(w, REEF_NOT_ALIVE, op, (reef_component){0}, e, 0);
    s = reef__values_check(w, NULL, op, e, values, count, VALUES_CHANGE, 1);
    if (s != REEF_OK) return s;
    if (w->commands && (w->notifying || !all_there(w, e, values, count)))
        return reef__command_values(w, w->commands, COMMAND_CHANGE, op, e, values, count);
    return list_first(w, op, e, values, count);
}
