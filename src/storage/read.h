/* Reading values: one of an entity, and whether it is there, or all values of a type. */
#ifndef REEF_STORAGE_READ_H
#define REEF_STORAGE_READ_H

#include "storage/entity_index.h"
#include "storage/sparse_store.h"
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

/* Entities that have a value of a type: those of a chunk, or of a type in a store a single one. */
typedef struct value_run {
    const reef_entity *entities;
    const char *values; /* side by side; NULL: the type has no data, or is split by field */
    uint32_t count;
    uint32_t table, unit;
    store_place at; /* in a store */
} value_run;

/* The next of all entities with a value, which begin as {0}; of REEF_MULTI with each of its values. No value may come
 * or go in between. False: there is none left. */
bool reef__value_run_next(const reef_world *w, const type *t, value_run *r);

#endif
