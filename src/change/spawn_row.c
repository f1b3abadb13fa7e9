/* One new row whose table is known, as are the slots of its values: columns may have hooks, rows may be tracked, values
 * may be switches or lie in stores, and observers may watch. (By the list of spawn.c, which serves any number of rows
 * in any home, it took 2,300 to 3,400 instructions, and takes 900 to 1,300.)
 *
 * What isn't of this shape goes on to that list: relations, shared values and those in REEF_COLD, rows that match
 * observers of queries, and rows of which the observers of several components are told. */
#include "change/spawn_row.h"
#include "base/platform.h"
#include "type/type.h"
#include "type/value.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/row_stamps.h"
#include "storage/table.h"
#include "storage/unique_field.h"
#include "storage/world_data.h"
#include "change/apply.h"
#include "change/outside_value.h"
#include "change/spawn.h"
#include "reef/hooks.h"

/* A new row, and what is known of it. */
typedef struct new_row {
    const shape *s;
    const reef_value *values;
    const uint32_t *slot; /* where each of the values goes; 0: it is a tag; SLOT_OUTSIDE */
    uint32_t count;
    bool outside; /* some values go outside of the table */
} new_row;

/* Where a value is made; NULL: it has no bytes. */
INLINE char *row_cell(const reef_world *w, const new_row *x, reef_slot *slots, uint32_t place, reef_entity e,
                      uint32_t k, const type *t)
{
    if (UNLIKELY(x->slot[k] == SLOT_OUTSIDE)) return outside_value_raw(w, t, e);
    return x->slot[k] ? cell(slots, x->slot[k], place_row(place), t->size) : NULL;
}

/* Makes the values of the row behind the last one. What a hook made is taken back if a later one refuses. */
static reef_status row_make(reef_world *w, const new_row *x, reef_slot *slots, uint32_t place, reef_entity e)
{
    for (uint32_t k = 0; k < x->count; k++) {
        const type *t = type_known(x->values[k].component.id);
        char *at = row_cell(w, x, slots, place, e, k, t);
        if (at == NULL) continue;
        const reef_status status = LIKELY(!t->hooked) ? plain_write(at, &x->values[k], t->size)
                                                      : reef__value_put(w, e, t, at, &x->values[k], 0);
        if (status == REEF_OK) continue;
        while (k-- > 0) {
            const type *made = type_known(x->values[k].component.id);
            at = made->hooked ? row_cell(w, x, slots, place, e, k, made) : NULL;
            if (at) reef__value_take_back(made, at, &x->values[k], 0);
        }
        return status;
    }
    return REEF_OK;
}

static bool outside_reserve(reef_world *w, const new_row *x, reef_entity e, uint32_t place)
{
    for (uint32_t k = 0; k < x->count; k++)
        if (x->slot[k] == SLOT_OUTSIDE &&
            !outside_value_prepare(w, type_known(x->values[k].component.id), e, x->s->table, place))
            return false;
    return true;
}

/* The three steps: what is written becomes this world's own; the values are made; the row comes, and nothing fails. */
static reef_status row_come(reef_world *w, const new_row *x, reef_entity *e)
{
    const shape *s = x->s;
    reef_status status = reef__ids_prepare(w, 1);
    if (status != REEF_OK) return status;
    table *t = reef__table_own(w, s->table);
    if (t == NULL || !reef__table_room(w, t)) return REEF_NO_MEMORY;
    *e = reef__id_peek(w, 0);
    reef_slot *slots = unit_slots(w, t->last);
    const uint32_t place = t->next;
    const bool ready =
        (!s->tracked || reef__track_prepare_row(w, s, *e)) && (LIKELY(!x->outside) || outside_reserve(w, x, *e, place));
    status = ready ? row_make(w, x, slots, place, *e) : REEF_NO_MEMORY;
    if (status != REEF_OK) return reef__table_trim(w, t), status;
    handle_put(slots, place_row(place), handle_of(*e));
    record_put(w, *e, place);
    reef__row_pushed(w, t);
    for (uint32_t k = 0; k < x->count && x->outside; k++)
        if (x->slot[k] == SLOT_OUTSIDE) outside_value_commit(w, type_known(x->values[k].component.id), *e, place);
    if (s->tracked) reef__track_stamp_row(w, s, e->index);
    reef__ids_commit(w, 1);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return REEF_OK;
}

/* How observers are told of a row with these values: nobody is, or the observers of one component, by observe_tell; or
 * there is more to tell, which has to be planned. */
static bool row_told(const reef_world *w, const reef_value *values, uint32_t count, uint32_t *one, uint32_t *whom)
{
    if (w->slow & SLOW_WATCHED) return false;
    for (uint32_t k = 0; k < count; k++) {
        if (!watched(w, values[k].component.id)) continue;
        if (*one != count) return false;
        *one = k;
        *whom = reef__type_whom(w, reef__type_of(values[k].component.id), REEF_ON_ADD);
    }
    return *whom != WHOM_BY_PLAN;
}

/* Do these values come to a row? This state has to know the table, and the types need hooks that can copy the
 * values. `hooks`: some of them may have hooks. */
static bool row_sound(const reef_world *w, const shape *s, const reef_value *values, uint32_t count,
                      const uint32_t *slot, bool hooks)
{
    const char *why;
    const table *t = table_read(w, s->table);
    bool sound = w->locks == 0 && t && t->shape;
    for (uint32_t k = 0; k < count && hooks && sound; k++)
        sound = slot[k] == 0 || !type_known(values[k].component.id)->hooked ||
                reef__value_sound(&values[k], false, 1, &why) == REEF_OK;
    return sound;
}

/* The slots of values of which each has another column of the table, is a tag there, or goes outside. False: they
 * aren't so, or the table has more than they name: it was remembered for another list with the same key. */
static bool slots_find(const reef_world *w, const shape *s, const reef_value *values, uint32_t count, uint32_t *slot,
                       bool *outside)
{
    uint64_t seen = 0;
    uint32_t there = 0;
    bool fit = count <= SPAWN_FEW;
    for (uint32_t k = 0; k < count && fit; k++) {
        const bool in_row = value_fits(w, s, &values[k], &slot[k]);
        fit = !value_again(values, k, &seen);
        there += in_row;
        if (!fit || in_row) continue;
        const type *t = reef__type_of(values[k].component.id);
        fit = t && outside_value_fits(t, &values[k]);
        slot[k] = SLOT_OUTSIDE;
        *outside = true;
    }
    return fit && there == s->component_count;
}

bool reef__row_spawn(reef_world *w, const char *op, const shape *s, const reef_value *values, uint32_t count,
                     const uint32_t *slot, reef_entity *e)
{
    uint32_t found[SPAWN_FEW], one = count, whom = 0;
    bool outside = false;
    reef_value list[SPAWN_FEW];
    *e = (reef_entity){0, 0};
    if (count == 0 || (slot == NULL && !slots_find(w, s, values, count, found, &outside))) return false;
    if (slot == NULL) slot = found;
    if (!row_sound(w, s, values, count, slot, s->hooked || outside)) return false;
    memcpy(list, values, count * sizeof *list);
    if (quarantine_on(w) || (observed(w) && !row_told(w, values, count, &one, &whom))) {
        if (reef__spawn_listed(w, op, s->table, list, count, 1, e, NULL) != REEF_OK) *e = (reef_entity){0, 0};
        return true;
    }
    w->value = list, w->value_count = count; /* they may lie in the table, which may grow */
    values_begin(w);
    const new_row row = {s, list, slot, count, outside};
    const reef_status status = row_come(w, &row, e);
    w->value_count = 0;
    if (status != REEF_OK) {
        *e = (reef_entity){0, 0};
        (void)reef__failure(w, status, op, w->hook_failed, *e, 1);
    } else if (one != count) {
        const type *t = type_known(values[one].component.id);
        const uint32_t place = place_of(w, *e);
        void *made = slot[one] && slot[one] != SLOT_OUTSIDE
                         ? cell(reef_slots_at(&w->hot, place), slot[one], place_row(place), t->size)
                         : NULL;
        if (slot[one] == SLOT_OUTSIDE && t->stored && t->size) made = (void *)(uintptr_t)store_find(w, t->id, *e);
        (void)observe_tell(w, *e, t, whom, made, NULL);
    }
    return true;
}

void reef_bring_rows_(void) { reef__row_spawner = reef__row_spawn; } /* under the lock of the list of types */

void reef_bring_hooks_(void)
{
    reef_bring_rows_();
    reef__uniques_by = &reef__unique_calls;
}
