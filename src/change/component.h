/* change/component: TODO */
#ifndef REEF_CHANGE_COMPONENT_H
#define REEF_CHANGE_COMPONENT_H

#include "base/platform.h"
#include "reef/component.h"

/* The same with a command's values, which were checked: reef_change, reef_set, reef_add (`absent`: EXISTS if it is
 * there). */
reef_status reef__change_held(reef_world *w, const char *op, reef_entity e, reef_value *values, uint32_t count,
                              bool absent);

#endif
