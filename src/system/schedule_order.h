/* The order of systems in their phases: src/system/schedule_order.c. */
#ifndef REEF_SYSTEM_SCHEDULE_ORDER_H
#define REEF_SYSTEM_SCHEDULE_ORDER_H

#include "storage/family.h"
#include "system/schedule.h"
#include "reef/status.h"

enum { STEPS_MAX = 8 }; /* of a phase that doesn't say how many */

/* Makes `order` and the phases' places in it from the entries. BAD_ARGUMENT: `before` and `after` go in a circle,
 * which `detail` (REEF_DETAIL_MAX bytes) names; NO_MEMORY. */
reef_status reef__schedule_sort(family *f, schedule *s, char *detail);

#endif
