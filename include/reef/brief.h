/* Events as entities.
 *
 *     reef_cmd_spawn(b, reef_default(ReefBrief), reef_with(Explosion, .where = p, .power = 7));
 *     reef_system(w, shake, "in Explosion; ...");
 *
 * An entity with this component lives for one tick: from the end of the phase in which it was made until the end of
 * that phase in the next tick. So each system that runs once a tick sees it exactly once: systems of later phases in
 * the same tick, the others in the next tick. A system of a phase with steps of its own sees it in each step in
 * between. An entity that is made between two ticks is seen only in the next tick. In everything else it is an ordinary
 * entity, which queries find.
 *
 * reef sets the values: add the component as reef_default(ReefBrief). An entity that loses the component in time lives
 * on; a clone ends with its source. Only reef_tick destroys these entities; reef_tick_phase and reef_system_once
 * don't. */
#ifndef REEF_BRIEF_H
#define REEF_BRIEF_H

#include "type.h"

REEF_BEGIN_C

/* The component of such an entity. */
typedef struct ReefBrief {
    uint64_t phase; /* phase in which it was made, as a hash of its name; 0: the phase hasn't ended yet */
    uint64_t tick;
} ReefBrief;
REEF_COMPONENT(ReefBrief);
REEF_FIELDS(ReefBrief, phase, tick);

REEF_END_C

#endif
