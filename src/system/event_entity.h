/* system/event_entity: TODO */
#ifndef REEF_SYSTEM_EVENT_ENTITY_H
#define REEF_SYSTEM_EVENT_ENTITY_H

#include "system/schedule.h"
#include "reef/type.h"

/* Entities that are events (src/system/event_entity.c). The tick begins, its number is counted: those that were made
 * since the last one are of its last phase. A phase had its turn, all its commands are done: those that it made the
 * last time go. NO_MEMORY, recorded: what wasn't done is done the next time. */
reef_status reef__events_expire_begin(reef_world *w, const phase *last);
reef_status reef__events_expire(reef_world *w, const phase *ended);

#endif
