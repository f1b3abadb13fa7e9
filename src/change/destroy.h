/* change/destroy: TODO */
#ifndef REEF_CHANGE_DESTROY_H
#define REEF_CHANGE_DESTROY_H

#include "base/platform.h"
#include "reef/type.h"

/* Names and room for free ids, so that these can be destroyed whose rows can leave their tables, and `more` that
 * have no names and aren't tracked. Destroys all rows of a table, in their order, when they are such and everything
 * of it is ours. (src/change/destroy.c) */
bool reef__destroy_prepare(reef_world *w, const reef_entity *e, uint64_t n, uint64_t more);
void reef__destroy_rows(reef_world *w, uint32_t id);

#endif
