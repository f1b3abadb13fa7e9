/* One instance of a prefab, where copying is no more than memcpy. */
#ifndef REEF_CHANGE_INSTANCE_H
#define REEF_CHANGE_INSTANCE_H

#include "base/platform.h"
#include "reef/value.h"

/* Makes one instance of a prefab that is alive: `given` is the pending id of its root, NULL: the next one. The handle
 * of the root goes to *root (may be NULL). The values of the call were checked. False: nothing visible was done, and
 * the general path decides (src/change/instantiate.c). */
bool reef__instance_make(reef_world *w, reef_entity prefab, const reef_entity *given, reef_entity *root,
                         const reef_value *values, uint32_t count);

#endif
