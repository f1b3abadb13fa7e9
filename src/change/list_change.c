/* One row and a list of values whose table is known: `reef_change` and commands that do the same, and an entity that is
 * made of values that aren't all plain and in columns.
 *
 * The first such change of a table goes the general way: it checks the list, finds the table to which it leads, and
 * leaves the rest to apply.c. Where the list says all that comes and goes, and it comes and goes in tables or as a
 * switch, the table is remembered, and the next such change goes the way of a single component (row_change.c):
 *
 *   plan      list_plan: which slots the values have in both tables, and whether they are sound.
 *   reserve   list_reserve: everything that is written becomes this world's own.
 *   make      list_values_make: the values are made in the row behind the last one. A hook may refuse.
 *   commit    list_commit: the row goes over or comes, the last row fills the hole. Nothing fails.
 *
 * An entity that is made takes the same steps, with no table to leave. Columns may have hooks, rows may be tracked,
 * values may be switches or lie in stores, and observers may watch. (By the list of spawn.c, which serves any number of
 * rows in any home, it took 2,300 to 3,400 instructions, and takes 900 to 1,300.) What isn't of this shape goes on to
 * that list: relations, shared values and those in REEF_COLD, rows that match observers of queries, and rows of which
 * the observers of several components are told. */
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
#include "storage/sparse_store.h"
#include "storage/table.h"
#include "storage/unique_field.h"
#include "storage/world_data.h"
#include "change/apply.h"
#include "change/command.h"
#include "change/multi.h"
#include "change/row_move.h"
#include "change/row_reserve.h"
#include "change/spawn.h"
#include "change/spawn_row.h"
#include "reef/hooks.h"

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
    bool simple = count <= SPAWN_FEW && from > TABLE_EMPTY && to > TABLE_EMPTY && from != to &&
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

/* ---- a list whose table is known ---- */

/* What is known of the list before anything is done, and what is reserved for it. A slot is 0 where the table hasn't
 * got the component: it is a switch, or its values lie in a store; REEF_SLOT_TAG: it is a tag. */
typedef struct list_move {
    reef_world *w;
    reef_entity e;
    const shape *from, *to; /* `from` isn't set where the entity is made */
    uint32_t count;
    bool beside, tracked; /* does it name what lies beside the columns, or a type whose rows are tracked? */
    uint64_t replaced;    /* slots of `from` whose values don't go along: they go, or another one comes */
    row_place row;        /* where the entity is; not set where it is made */
    table *leaves, *comes;
    reef_value values[SPAWN_FEW];
    const type *type[SPAWN_FEW];
    uint32_t left[SPAWN_FEW], slot[SPAWN_FEW]; /* the slots in `from` and in `to` */
    stamp_page *stamps[SPAWN_FEW];             /* where a tracked component comes */
    bool logged[SPAWN_FEW];                    /* somebody reads that it goes */
} list_move;

INLINE bool list_goes(const list_move *x, uint32_t k) { return x->values[k].kind == REEF_VALUE_REMOVE; }
INLINE bool list_column(uint32_t slot) { return slot != 0 && slot != REEF_SLOT_TAG; }

/* May this value come as it is? Beside the columns come switches, and to new entities values in stores. */
INLINE bool list_fits(const type *t, const reef_value *v, uint32_t slot, bool made)
{
    const char *why;
    if (t->fixed) return false;
    if (slot == 0) return (made || !t->stored) && value_beside(t) && value_is_plain(t, v);
    if (t->hooked)
        return v->kind == VALUE_MOVED || (v->kind < VALUE_MOVED && reef__value_sound(v, true, 1, &why) == REEF_OK);
    return value_is_plain(t, v);
}

/* Finds out how the list leads from one table to another. False: it doesn't, or a value isn't sound. `made`, here and
 * below, is a constant: the entity is made by this. */
INLINE bool list_plan(list_move *x, const reef_value *values, uint32_t count, bool made)
{
    const reef_world *w = x->w;
    uint32_t components = made ? 0 : x->from->component_count;
    uint64_t seen = 0, replaced = 0;
    bool beside = false, tracked = false;
    for (uint32_t k = 0; k < count; k++) {
        const reef_value *v = &values[k];
        const type *t = reef__type_of(v->component.id);
        if (t == NULL || (made && value_again(values, k, &seen))) return false;
        const uint32_t left = made ? 0 : slot_find(w, t->id, x->from->table);
        const uint32_t slot = slot_find(w, t->id, x->to->table);
        x->values[k] = *v;
        x->type[k] = t, x->left[k] = left, x->slot[k] = slot;
        beside |= t->bit, tracked |= t->tracked;
        if (list_column(left)) replaced |= (uint64_t)1 << left;
        if (v->kind == REEF_VALUE_REMOVE ? slot != 0 || made : !list_fits(t, v, slot, made)) return false;
        components += (uint32_t)(slot != 0) - (uint32_t)(left != 0);
    }
    x->count = count, x->beside = beside, x->tracked = tracked, x->replaced = replaced;
    return components == x->to->component_count;
}

/* The tables and chunks that the row leaves and to which it comes. */
INLINE bool list_rows_reserve(list_move *x, bool made)
{
    reef_world *w = x->w;
    x->comes = table_reserve(w, x->to->table);
    if (x->comes == NULL) return false;
    if (made) {
        if (!reef__table_room(w, x->comes)) return false;
        x->comes->tail = unit_slots(w, x->comes->last);
        return true;
    }
    x->leaves = table_reserve(w, x->from->table);
    if (x->leaves) x->comes = table_reserve(w, x->to->table); /* its page may have become another one */
    return x->leaves && moving_reserve(w, &x->row, x->leaves, x->comes);
}

/* Everything that the change writes becomes this world's own. */
INLINE bool list_reserve(list_move *x, bool made)
{
    reef_world *w = x->w;
    if (!list_rows_reserve(x, made)) return false;
    const uint64_t mask = made ? 0 : x->leaves->bits;
    const uint32_t place = x->comes->next, id = x->to->table;
    for (uint32_t k = 0; k < x->count && (mask || x->beside || x->tracked); k++) {
        const type *t = x->type[k];
        const bool goes = list_goes(x, k);
        if (t->bit && !reef__bit_prepare(w, t->id, id, place, !goes)) return false;
        if (made && t->stored && !reef__store_prepare_add(w, t->id, &x->e, 1)) return false;
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

/* Where value k is made, behind the last row or in a store; NULL: it has no bytes. */
INLINE char *list_cell(const list_move *x, uint32_t k, bool made)
{
    const type *t = x->type[k];
    if (list_column(x->slot[k])) return cell(x->comes->tail, x->slot[k], place_row(x->comes->next), t->size);
    return made && UNLIKELY(t->stored && t->size) ? reef__store_raw(x->w, t->id, x->e) : NULL;
}

/* Makes the values that come. What was made is taken back if a hook refuses. */
INLINE reef_status list_values_make(list_move *x, bool made)
{
    for (uint32_t k = 0; k < x->count; k++) {
        const type *t = x->type[k];
        char *at = list_cell(x, k, made);
        if (at == NULL) continue;
        const reef_status s = LIKELY(!t->hooked) ? plain_write(at, &x->values[k], t->size)
                                                 : reef__value_put(x->w, x->e, t, at, &x->values[k], 0);
        if (s == REEF_OK) continue;
        while (k-- > 0)
            if (x->type[k]->hooked && (at = list_cell(x, k, made)) != NULL)
                reef__value_take_back(x->type[k], at, &x->values[k], 0);
        return s;
    }
    return REEF_OK;
}

/* The row goes over, with the values that it keeps; the others leave. */
static void list_columns(const list_move *x)
{
    const uint32_t at = place_row(x->row.place), to_row = place_row(x->comes->next);
    for (uint32_t k = SLOT_COLUMNS; k < x->from->end_slot; k++) {
        const type *t = x->from->columns[k].type;
        char *old = cell(x->row.slots, k, at, t->size);
        if (x->replaced >> k & 1) {
            if (t->hooked || observed(x->w)) value_leave(x->w, t, old);
            continue;
        }
        char *fresh = cell(x->comes->tail, slot_find(x->w, t->id, x->to->table), to_row, t->size);
        if (LIKELY(t->plain_move)) bytes_copy(fresh, old, t->size);
        else reef__value_move(t, fresh, old);
    }
}

INLINE void list_commit(const list_move *x, bool made)
{
    reef_world *w = x->w;
    const uint32_t place = x->comes->next;
    for (uint32_t k = 0; k < x->count && x->tracked; k++) {
        if (!x->type[k]->tracked) continue;
        if (x->logged[k]) reef__removal_log(w, x->type[k], x->row.place, x->e);
        if (x->stamps[k]) stamps_write(x->stamps[k], x->e.index, w->hot.version, x->left[k] ? 0 : w->hot.version);
    }
    const uint64_t mask = made ? 0 : x->leaves->bits;
    if (made) {
        handle_put(x->comes->tail, place_row(place), handle_of(x->e));
        reef__row_pushed(w, x->comes);
        record_put(w, x->e, place);
        reef__ids_commit(w, 1);
    } else {
        list_columns(x);
        moving_commit(w, &x->row, x->leaves, x->comes);
    }
    for (uint32_t k = 0; k < x->count && (mask || x->beside); k++) {
        const type *t = x->type[k];
        if (t->bit) reef__bit_commit(w, t->id, place, !list_goes(x, k));
        if (made && t->stored) reef__store_commit_add(w, t->id, x->e);
        if (mask && list_goes(x, k)) reef__bit_commit(w, t->id | BIT_DISABLED, place, false);
    }
    reef__invalidate(w, INVALIDATE_WRITTEN | (made ? 0 : INVALIDATE_ROWS_CHANGED));
    if (!made) reef__table_lease(w, x->leaves);
}

/* The three steps. */
INLINE reef_status list_go(list_move *x, bool made)
{
    reef_world *w = x->w;
    reef_status s = REEF_OK;
    w->value = x->values, w->value_count = x->count; /* they may lie in a table that grows */
    values_begin(w);
    const bool told = !made && observed(w) &&
                      (values_watched(w, x->values, x->count) || reef__leave_watched(w, x->from->table, x->to->table));
    if (made) s = reef__ids_prepare(w, 1), x->e = reef__id_peek(w, 0);
    if (told && !observe_change(w, x->e, x->to->table, x->values, x->count)) s = REEF_NO_MEMORY;
    const bool planned = told && s == REEF_OK;
    x->comes = NULL;
    if (s == REEF_OK && !list_reserve(x, made)) s = REEF_NO_MEMORY;
    if (s == REEF_OK) s = list_values_make(x, made);
    w->value_count = 0;
    if (s == REEF_OK) list_commit(x, made);
    else if (x->comes) reef__table_trim(w, x->comes);
    if (planned) observe_done(w, s == REEF_OK);
    return s;
}

/* Changes the entity where the list's table is remembered. False: it isn't, or this isn't a change of this shape, and
 * nothing was done. */
static bool list_known(reef_world *w, const char *op, reef_entity e, const reef_value *values, uint32_t count,
                       reef_status *status)
{
    list_move x;
    if (count - 1 >= SPAWN_FEW || values == NULL || w->locks || w->running || quarantine_on(w)) return false;
    if (!row_place_find(w, &x.row, e) || x.row.place <= PLACE_EMPTY) return false;
    const uint32_t from = x.row.slots[0].head.table, to = set_recall(w, list_key(from, values, count));
    if (to == 0 || (observed(w) && !observers_known(w))) return false;
    x.w = w, x.e = e, x.from = shape_of(w->family, from), x.to = shape_of(w->family, to);
    if (!list_plan(&x, values, count, false)) return false;
    *status = list_go(&x, false);
    if (*status != REEF_OK) (void)reef__failure(w, *status, op, w->hook_failed, e, 0);
    return true;
}

/* ---- entities that are made ---- */

/* How observers are told of a row with these values: nobody is, or the observers of one component, by observe_tell; or
 * there is more to tell, which has to be planned. */
static bool row_told(const list_move *x, uint32_t *one, uint32_t *whom)
{
    if (x->w->slow & SLOW_WATCHED) return false;
    for (uint32_t k = 0; k < x->count; k++) {
        if (!watched(x->w, x->type[k]->id)) continue;
        if (*one != x->count) return false;
        *one = k;
        *whom = reef__type_whom(x->w, x->type[k], REEF_ON_ADD);
    }
    return *whom != WHOM_BY_PLAN;
}

bool reef__row_spawn(reef_world *w, const char *op, const shape *s, const reef_value *values, uint32_t count,
                     reef_entity *e)
{
    list_move x;
    uint32_t one = count, whom = 0;
    const table *t = table_read(w, s->table);
    *e = (reef_entity){0, 0};
    if (count - 1 >= SPAWN_FEW || w->locks || t == NULL || t->shape == NULL) return false;
    x.w = w, x.to = s;
    if (!list_plan(&x, values, count, true)) return false;
    if (quarantine_on(w) || (observed(w) && !row_told(&x, &one, &whom))) {
        if (reef__spawn_listed(w, op, s->table, x.values, count, 1, e, NULL) != REEF_OK) *e = (reef_entity){0, 0};
        return true;
    }
    const reef_status status = list_go(&x, true);
    if (status != REEF_OK) return (void)reef__failure(w, status, op, w->hook_failed, *e, 1), true;
    *e = x.e;
    if (one == count) return true;
    const type *told = x.type[one];
    const uint32_t place = place_of(w, *e);
    void *made = list_column(x.slot[one])
                     ? cell(reef_slots_at(&w->hot, place), x.slot[one], place_row(place), told->size)
                     : NULL;
    if (told->stored && told->size) made = (void *)(uintptr_t)store_find(w, told->id, *e);
    (void)observe_tell(w, *e, told, whom, made, NULL);
    return true;
}

void reef_bring_rows_(void) { reef__row_spawner = reef__row_spawn; } /* under the lock of the list of types */

void reef_bring_hooks_(void)
{
    reef_bring_rows_();
    reef__uniques_by = &reef__unique_calls;
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
