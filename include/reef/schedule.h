/* What a schedule contains, for tools: systems with what they touch and whom they wait for, and observers.
 * (reef_schedule_explain writes the same as a text or a graph.) */
#ifndef REEF_SCHEDULE_H
#define REEF_SCHEDULE_H

#include "observer.h"
#include "system.h"

REEF_BEGIN_C

/* A system of a schedule. The pointers live until the visitor returns, the names as long as the system. */
typedef struct reef_system_info {
    reef_system_id system;
    const char *name, *phase;
    /* What it touches, sorted by kind and by the type's name: REEF_READS and REEF_WRITES for components with data, of
     * its own rows and of others, and all that it declares. Each kind and type is there once. */
    const reef_touch *touches;
    uint32_t touch_count;
    /* The systems that it waits for: their numbers in the order of the visit, from 0, ascending. All of them stand
     * before it in its phase and touch something that it touches too, one of the two by writing. */
    const uint32_t *waits_for;
    uint32_t waits_for_count;
    bool on;          /* it is enabled */
    bool split;       /* its rows are split into jobs */
    bool main_thread; /* it runs on the thread that called reef_tick */
    uint64_t interval_ns;
} reef_system_info;
/* Called once for each system. Returns false to stop. */
typedef bool (*reef_system_visitor)(void *context, const reef_system_info *system);
/* Visits all systems, phase by phase, in the order in which they run. The visitor must not change the schedule; it
 * returns false to stop. Costs a comparison for each two systems of a phase. False: the visitor stopped. */
REEF_API bool reef_visit_systems(const reef_world *world, reef_system_visitor visit, void *context);

/* An observer of a schedule. */
typedef struct reef_observer_info {
    reef_observer_id observer;
    const char *name;         /* lives as long as the observer */
    uint32_t events;          /* values of reef_observed, joined by | */
    reef_component component; /* {0}: it observes a query, or entities that are destroyed */
    bool collected;
} reef_observer_info;
/* Called once for each observer. Returns false to stop. */
typedef bool (*reef_observer_visitor)(void *context, const reef_observer_info *observer);
/* Visits all observers in the order in which they are called; as reef_visit_systems. */
REEF_API bool reef_visit_observers(const reef_world *world, reef_observer_visitor visit, void *context);

REEF_END_C

#endif
