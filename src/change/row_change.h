/* Changes of one component of one entity in tables, whatever the row needs (row_change.c). True: it is done, or failed;
 * `*status` says so. False: this isn't a change of this shape, and nothing was done. */
#ifndef REEF_CHANGE_ROW_CHANGE_H
#define REEF_CHANGE_ROW_CHANGE_H

#include "storage/world_data.h"
#include "reef/component.h"
#include "reef/entity.h"

/* The component comes with a default value. `out` (NULL: nobody asks): where the value is. */
bool reef__row_add(reef_world *w, const char *op, reef_entity e, reef_component c, const void *args, void **out,
                   reef_status *status);
/* The same for a component that observers watch, if it may come as plain bytes along a cached edge. False: nothing was
 * done, and reef__row_add may do it. */
bool reef__row_add_watched(reef_world *w, reef_entity e, reef_component c, void **out);
/* The component comes with this value, or gets it. */
bool reef__row_set(reef_world *w, const char *op, reef_entity e, reef_component c, const void *value, size_t size,
                   reef_status *status);
bool reef__row_remove(reef_world *w, const char *op, reef_entity e, reef_component c, reef_status *status);

#endif
