/* Changing what an entity has: one path for add, set, ensure, remove and several at once. */
#ifndef REEF_CHANGE_APPLY_H
#define REEF_CHANGE_APPLY_H

#include "type/type.h"
#include "reef/component.h"

/* A list of values is sound: known types, no doubles, sizes. Fills in nothing. `n`: entities to be made. */
reef_status reef__values_check(reef_world *w, const char *op, reef_entity e, const reef_value *values, uint32_t count,
                               bool remove, uint32_t n);
/* Puts value i of `v` into the raw memory `slot` of entity e. */
reef_status reef__value_put(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t i);
/* Moves e to table `to`, where `values` (of table and bit home, removals included for bits) are put. All or nothing. */
reef_status reef__change_apply(reef_world *w, const char *op, reef_entity e, uint32_t place, uint32_t to,
                               reef_value *values, uint32_t count);

#endif
