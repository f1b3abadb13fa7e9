/* The order in which the systems of each phase run (src/system/schedule_order.c). */
#ifndef REEF_SYSTEM_SCHEDULE_ORDER_H
#define REEF_SYSTEM_SCHEDULE_ORDER_H

#include "system/schedule.h"
#include "reef/status.h"

enum { STEPS_MAX = 8 }; /* the default for a phase */

/* Fills `order` and the phases' places in it, from the entries. BAD_ARGUMENT: `before` and `after` form a cycle;
 * `detail` (REEF_DETAIL_MAX bytes) gets its systems. NO_MEMORY. */
reef_status reef__schedule_sort(family *f, schedule *s, char *detail);

#endif
