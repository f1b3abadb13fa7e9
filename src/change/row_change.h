/* Changes of one component of one entity in tables, whatever the row needs (row_change.c). What isn't a change of this
 * shape goes on to reef__add_general and its kin (component.c). */
#ifndef REEF_CHANGE_ROW_CHANGE_H
#define REEF_CHANGE_ROW_CHANGE_H

#include "storage/world_data.h"
#include "reef/component.h"
#include "reef/entity.h"

/* The call by which a component comes: with a value, or with a default value, for which there may be arguments. */
typedef enum coming { COMES_SET, COMES_ADD, COMES_ENSURE } coming;

/* The component comes with a default value. `out` (NULL: nobody asks): where the value is. */
reef_status reef__row_add(reef_world *w, coming how, reef_entity e, reef_component c, const void *args, void **out);
/* The component comes with this value, or gets it. */
reef_status reef__row_set(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size);
/* The same where the entity hasn't got it and nobody watches it; the value has the size of the type. */
reef_status reef__row_comes(reef_world *w, reef_entity e, reef_component c, const void *value);
/* The same for a component that observers watch. */
reef_status reef__row_set_watched(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size);
reef_status reef__row_remove(reef_world *w, reef_entity e, reef_component c);

#endif
