/* Entities that are events: they have the component ReefBrief and are destroyed after one turn of all phases.
 * src/system/event_entity.c describes how. */
#ifndef REEF_SYSTEM_EVENT_ENTITY_H
#define REEF_SYSTEM_EVENT_ENTITY_H

#include "reef/type.h"

/* What such entities carry of the phase that made them. */
uint64_t reef__brief_mark(const char *name);
/* Begin: a tick begins, and its number is counted already. Entities that were made since the last tick count as made
 * by its last phase, which has this mark. Expire: the phase with this mark has ended and all its commands are done; the
 * entities that it made in the last tick are destroyed. NO_MEMORY, recorded: what wasn't done now is done the next
 * time. */
reef_status reef__events_expire_begin(reef_world *w, uint64_t mark);
reef_status reef__events_expire(reef_world *w, uint64_t mark);

#endif
