/* One new row whose table is known, as are the slots of its values: columns may have hooks, rows may be tracked, and
 * observers may watch. (By the list of spawn.c, which serves any number of rows in any home, it took 2,600 to 3,100
 * instructions, and takes 900 to 1,100.)
 *
 * What isn't of this shape goes on to that list: values in stores, switches, rows that match observers of queries, and
 * rows of which the observers of several components are told. */
#include "change/spawn_row.h"
#include "base/platform.h"
#include "type/type.h"
#include "type/value.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/known_types.h"
#include "storage/observed.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/row_stamps.h"
#include "storage/table.h"
#include "storage/unique_field.h"
#include "storage/world_data.h"
#include "change/apply.h"
#include "change/spawn.h"
#include "reef/hooks.h"

/* Makes the values of the row behind the last one. What a hook made is taken back if a later one refuses. */
static reef_status row_make(reef_world *w, const shape *s, reef_slot *slots, uint32_t place, reef_entity e,
                            const reef_value *values, uint32_t count, const uint32_t *slot)
{
    for (uint32_t k = 0; k < count; k++) {
        const type *t = s->columns[slot[k]].type;
        if (slot[k] == 0 || !t->hooked) {
            value_fill(s, slots, slot[k], place, &values[k]);
            continue;
        }
        const reef_status status =
            reef__value_put(w, e, t, cell(slots, slot[k], place_row(place), t->size), &values[k], 0);
        if (status == REEF_OK) continue;
        while (k-- > 0) {
            const type *made = s->columns[slot[k]].type;
            if (slot[k] && made->hooked)
                reef__value_take_back(made, cell(slots, slot[k], place_row(place), made->size), &values[k], 0);
        }
        return status;
    }
    return REEF_OK;
}

/* The three steps: what is written becomes this world's own; the values are made; the row comes, and nothing fails. */
static reef_status row_come(reef_world *w, const shape *s, const reef_value *values, uint32_t count,
                            const uint32_t *slot, reef_entity *e)
{
    reef_status status = reef__ids_prepare(w, 1);
    if (status != REEF_OK) return status;
    table *t = reef__table_own(w, s->table);
    if (t == NULL || !reef__table_room(w, t)) return REEF_NO_MEMORY;
    *e = reef__id_peek(w, 0);
    reef_slot *slots = unit_slots(w, t->last);
    const uint32_t place = t->next;
    status = s->tracked && !reef__track_prepare_row(w, s, *e) ? REEF_NO_MEMORY
                                                              : row_make(w, s, slots, place, *e, values, count, slot);
    if (status != REEF_OK) return reef__table_trim(w, t), status;
    handle_put(slots, place_row(place), handle_of(*e));
    record_put(w, *e, place);
    reef__row_pushed(w, t);
    if (s->tracked) reef__track_stamp_row(w, s, e->index);
    reef__ids_commit(w, 1);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return REEF_OK;
}

/* How observers are told of a row with these values: nobody is, or the observers of one component, by observe_tell; or
 * there is more to tell, which has to be planned. */
static bool row_told(const reef_world *w, const reef_value *values, uint32_t count, uint32_t *one)
{
    *one = count;
    if (w->slow & SLOW_WATCHED) return false;
    for (uint32_t k = 0; k < count; k++) {
        if (!watched(w, values[k].component.id)) continue;
        if (*one != count || !told_simply(w, reef__type_of(values[k].component.id), REEF_ON_ADD)) return false;
        *one = k;
    }
    return true;
}

/* Do these values come to a row? This state has to know the table, and the types need hooks that can copy the
 * values. */
static bool row_sound(const reef_world *w, const shape *s, const reef_value *values, uint32_t count,
                      const uint32_t *slot)
{
    const char *why;
    const table *t = table_read(w, s->table);
    bool sound = w->locks == 0 && t && t->shape;
    for (uint32_t k = 0; k < count && s->hooked && sound; k++)
        sound = slot[k] == 0 || !s->columns[slot[k]].type->hooked ||
                reef__value_sound(&values[k], false, 1, &why) == REEF_OK;
    return sound;
}

/* The slots of values of which each has another column of the table, or is a tag there. False: they aren't so. */
static bool slots_find(const reef_world *w, const shape *s, const reef_value *values, uint32_t count, uint32_t *slot)
{
    uint64_t seen = 0;
    bool fit = count <= SPAWN_FEW;
    for (uint32_t k = 0; k < count && fit; k++)
        fit = value_fits(w, s, &values[k], &slot[k]) && !value_again(values, k, &seen);
    return fit;
}

bool reef__row_spawn(reef_world *w, const char *op, const shape *s, const reef_value *values, uint32_t count,
                     const uint32_t *slot, reef_entity *e)
{
    uint32_t found[SPAWN_FEW], one = count;
    reef_value list[SPAWN_FEW];
    *e = (reef_entity){0, 0};
    if (count == 0 || (slot == NULL && !slots_find(w, s, values, count, found))) return false;
    if (slot == NULL) slot = found;
    if (!row_sound(w, s, values, count, slot)) return false;
    memcpy(list, values, count * sizeof *list);
    if (quarantine_on(w) || (observed(w) && !row_told(w, values, count, &one))) {
        if (reef__spawn_listed(w, op, s->table, list, count, 1, e, NULL) != REEF_OK) *e = (reef_entity){0, 0};
        return true;
    }
    w->value = list, w->value_count = count; /* they may lie in the table, which may grow */
    values_begin(w);
    const reef_status status = row_come(w, s, list, count, slot, e);
    w->value_count = 0;
    if (status != REEF_OK) {
        *e = (reef_entity){0, 0};
        (void)reef__failure(w, status, op, w->hook_failed, *e, 1);
    } else if (one != count) {
        const type *t = type_known(values[one].component.id);
        const uint32_t place = place_of(w, *e);
        void *made = slot[one] ? cell(reef_slots_at(&w->hot, place), slot[one], place_row(place), t->size) : NULL;
        (void)observe_tell(w, *e, t, REEF_ON_ADD, made, NULL);
    }
    return true;
}

void reef_bring_hooks_(void)
{
    if (reef__uniques_by) return;
    reef__row_spawner = reef__row_spawn; /* under the lock of the list of types */
    reef__uniques_by = &reef__unique_calls;
}
