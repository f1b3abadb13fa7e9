/* Reading one value of one entity, and asking whether it is there. */
#ifndef REEF_STORAGE_READ_H
#define REEF_STORAGE_READ_H

#include "base/platform.h"
#include "type/type.h"
#include "storage/entity_index.h"
#include "storage/layout.h"
#include "storage/sparse_store.h"
#include "storage/world_data.h"
#include "reef/detail/access.h"

/* Does a living entity have the component itself? Calls that ask for a base (reef_has_id) find its subtypes as well;
 * what makes, writes, counts or tells of one component means that component alone. False for a dead handle, also while
 * the world has no entities or chunks yet. */
INLINE bool has_itself(const reef_world *w, reef_entity e, const type *t)
{
    const uint32_t place = place_of(w, e);
    return (place != PLACE_DEAD) && component_there(w, t, e, place, reef_slots_at(&w->hot, place)[0].head.table);
}

/* The address of the component's own value; NULL: there is none, or the type has no data. */
const void *reef__value_itself(const reef_world *w, reef_entity e, reef_component c);

#endif
