/* The order of systems in their phases: src/system/schedule_order.c. */
#ifndef REEF_SCHEDULE_ORDER_H
#define REEF_SCHEDULE_ORDER_H

#include "system/schedule.h"

enum { STEPS_MAX = 8 }; /* of a phase that doesn't say how many */

/* Makes `order` and the phases' places in it from the entries. BAD_ARGUMENT: `before` and `after` go in a circle, which `detail`
 * (REEF_DETAIL_MAX bytes) names; NO_MEMORY. */
reef_status schedule_sort(family *f, schedule *s, char *detail);

#endif
