/* One row of a set of types whose table is remembered: how its values find their columns, and the code for rows that
 * have hooks or stamps, or that observers watch (list_change.c). */
#ifndef REEF_CHANGE_SPAWN_ROW_H
#define REEF_CHANGE_SPAWN_ROW_H

#include "base/platform.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/layout.h"
#include "storage/place.h"
#include "storage/world_data.h"
#include "reef/component.h"

enum { SPAWN_FEW = 16 }; /* the most values of one entity that these ways take */

/* Makes one entity of these values, which are all that is in a row of the table with this shape, and maybe some beside
 * it. True: it was done, or *e is null and the failure is reported. False: the values aren't so, or the world is
 * locked, and nothing was done. */
typedef bool (*row_spawner)(reef_world *w, const char *op, const shape *s, const reef_value *values, uint32_t count,
                            reef_entity *e);
bool reef__row_spawn(reef_world *w, const char *op, const shape *s, const reef_value *values, uint32_t count,
                     reef_entity *e);
/* The same function; NULL as long as all types are plain ones in tables. A type with hooks or in another home brings it
 * along (reef_bring_hooks_, reef_bring_rows_), so that a program without such types is linked without it. Observers
 * reach it by a table of their own. */
extern row_spawner reef__row_spawner;

/* May values of this type come to a new row beside its columns in this way? Those that entities have in common,
 * relations, and REEF_COLD go the general way. */
INLINE bool value_beside(const type *t)
{
    return t->bit && !t->relation && t->home != REEF_SHARED && !t->need_count && !t->fixed;
}

/* May the fast path take this value? Then *slot is where it goes, 0 for a tag. */
INLINE bool value_fits(const reef_world *w, const shape *s, const reef_value *v, uint32_t *slot)
{
    uint32_t k = slot_find(w, v->component.id, s->table);
    if (UNLIKELY(k == 0)) return false;
    *slot = k == REEF_SLOT_TAG ? 0 : k;
    if (v->kind == REEF_VALUE_DEFAULT) return true;
    return v->kind == REEF_VALUE_ONE && (*slot ? v->size == s->columns[k].size && v->data != NULL : v->size == 0);
}

/* Was the component of value k named before? `seen` has a bit for every 64th component. */
bool reef__value_twice(const reef_value *values, uint32_t k);
INLINE bool value_again(const reef_value *values, uint32_t k, uint64_t *seen)
{
    const uint64_t bit = (uint64_t)1 << values[k].component.id % 64, was = *seen;
    *seen = was | bit;
    return UNLIKELY((was & bit) != 0) && reef__value_twice(values, k);
}

/* Writes a value to the slot of a row; slot 0: it has none. */
INLINE void value_fill(const shape *s, const reef_slot *slots, uint32_t slot, uint32_t place, const reef_value *v)
{
    if (slot == 0) return;
    const size_t size = s->columns[slot].size;
    (void)plain_write(cell(slots, slot, place_row(place), size), v, size);
}

#endif
