/* The components of one entity: the path that changes several of them at once, for commands that are done. The public
 * calls (`reef_add_id`, `reef_set_id`, `reef_remove_id` and so on) are declared in include/reef/entity.h and defined
 * in component.c. */
#ifndef REEF_CHANGE_COMPONENT_H
#define REEF_CHANGE_COMPONENT_H

#include "base/platform.h"
#include "reef/component.h"
#include "reef/detail/layout.h"

/* Changes an entity's components by values that were checked when the command was recorded: `reef_change`, `reef_set`
 * and `reef_add`. With `absent` the answer is EXISTS if the entity already has the component. */
reef_status reef__change_held(reef_world *w, const char *op, reef_entity e, const reef_value *values, uint32_t count,
                              bool absent);

/* The edge of the table graph for a key of edge_key. It also enters the edge in the world's cache, so that the fast
 * paths find it the next time. NULL: *status says why. */
const struct edge *reef__edge_fetch(reef_world *w, uint64_t key, reef_status *status);
/* One component comes, is set, or goes, for callers that row_change.c can't serve: it checks everything, then records a
 * command or takes the general path. */
reef_status reef__add_general(reef_world *w, const char *op, reef_entity e, reef_component c, const void *args,
                              void **out);
reef_status reef__set_general(reef_world *w, reef_entity e, reef_component c, const void *value, size_t size);
reef_status reef__remove_general(reef_world *w, reef_entity e, reef_component c);

/* The value's address, for writing, after observers ran. NULL: an observer removed the component, or it is a tag. */
void *reef__cell_now(reef_world *w, reef_entity e, reef_component c);

/* The fast path for a value that comes to a store, in any chunk: the entity gets its bit, and a value that the caller
 * writes to the address that is returned. It applies where nothing has to be allocated or copied; the caller makes sure
 * that nobody observes. NULL: nothing was done. */
char *reef__stored_add_fast(reef_world *w, reef_store *s, reef_entity e);
/* The same for a value that goes. False: nothing was done. */
bool reef__stored_leave_fast(reef_world *w, reef_store *s, reef_entity e);

#endif
