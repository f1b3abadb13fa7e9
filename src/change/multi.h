/* Several values of one type on one entity (REEF_MULTI): adding one more. The public calls are in
 * include/reef/multi.h, the storage is src/storage/multi_store.c. */
#ifndef REEF_CHANGE_MULTI_H
#define REEF_CHANGE_MULTI_H

#include "type/type.h"
#include "reef/component.h"

/* Adds one more value of type t to an entity that already has one. *out gets its address. */
reef_status reef__multi_add(reef_world *w, const char *op, reef_entity e, const type *t, const reef_value *v,
                            void **out);

#endif
