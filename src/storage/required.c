/* Required components are added where lists of values are completed. So what follows (the table that is chosen, the row
 * that moves once, hooks, observers, stamps) doesn't know that a component was required and not named.
 *
 * The fast paths never see a list. They aren't open where something is missing: an edge between tables is only kept in
 * a world's cache if the first table has all that comes along with the edge's component (edge_fetch in
 * src/change/component.c), a store of values outside of the rows isn't `direct` if its type requires something, and a
 * switch that requires something isn't turned by bits alone. */
#include "storage/required.h"
#include "storage/archetype.h"
#include "storage/read.h"
#include "storage/subtype.h"

bool reef__entity_meets(const reef_world *w, reef_entity e, const type *t)
{
    if (e.generation == 0) return false;
    return has_itself(w, e, t) || has_a_subtype(w, e, t);
}

bool reef__list_names(const reef_value *values, uint32_t count, const type *t)
{
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].component.id == t->id) return true;
        const type *named = values[i].component.id & BIT_DISABLED ? NULL : reef__type_of(values[i].component.id);
        if (named && named->base && values[i].kind != REEF_VALUE_REMOVE && reef__is_subtype(named, t)) return true;
    }
    return false;
}

bool reef__table_meets(const reef_world *w, uint32_t table_id, const type *t)
{
    for (uint32_t i = 0; i < t->need_count; i++)
        if (reef__slot_seek(w, t->needs[i], table_id) == 0) return false;
    return true;
}
