/* Required components (REEF_REQUIRES): whether they are there. Lists of values get those that aren't by
 * reef__spread_make (src/storage/split_columns.h). */
#ifndef REEF_STORAGE_REQUIRED_H
#define REEF_STORAGE_REQUIRED_H

#include "storage/world_data.h"
#include "reef/value.h"

/* Has the entity the component, or a subtype of it? False for the null entity, which stands for a new one. */
bool reef__entity_meets(const reef_world *w, reef_entity e, const type *t);
/* Does the list name the type? A subtype that comes will do as well. */
bool reef__list_names(const reef_value *values, uint32_t count, const type *t);
/* Does a table have everything that comes along with t? Then adding t along its edge is all there is to do. */
bool reef__table_meets(const reef_world *w, uint32_t table_id, const type *t);

#endif
