/* The calls for several values of a type on one entity (REEF_MULTI). Their storage is src/storage/multi_store.c. */
#ifndef REEF_CHANGE_MULTI_H
#define REEF_CHANGE_MULTI_H

#include "type/type.h"
#include "reef/component.h"

/* One more of what an entity has. */
reef_status reef__multi_add(reef_world *w, const char *op, reef_entity e, const type *t, const reef_value *v,
                            void **out);

#endif
