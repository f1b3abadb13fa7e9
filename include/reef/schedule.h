/* Looking at systems: what a schedule contains, as a text, a graph or structs (systems with what they touch and whom
 * they wait for, and observers), how long systems take, and watching what they really touch. */
#ifndef REEF_SCHEDULE_H
#define REEF_SCHEDULE_H

#include "observer.h"
#include "system.h"

REEF_BEGIN_C

/* A system of a schedule. The pointers live until the visitor returns, the names as long as the system. */
typedef struct reef_system_info {
    reef_system_id system;
    const char *name, *phase;
    const char *module; /* the module that it belongs to; NULL: none */
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
    const char *module;       /* the module that it belongs to; NULL: none */
    uint32_t events;          /* values of reef_observed, joined by | */
    reef_component component; /* {0}: it observes a query, or entities that are destroyed */
    bool collected;
} reef_observer_info;
/* Called once for each observer. Returns false to stop. */
typedef bool (*reef_observer_visitor)(void *context, const reef_observer_info *observer);
/* Visits all observers in the order in which they are called; as reef_visit_systems. */
REEF_API bool reef_visit_observers(const reef_world *world, reef_observer_visitor visit, void *context);

/* ---- as a text, and measured ---- */

/* The form of a schedule: a text, or a graph for Graphviz. */
typedef enum reef_explain { REEF_EXPLAIN_TEXT = 0, REEF_EXPLAIN_DOT } reef_explain;
/* Writes the schedule: phases and systems in their order, what each touches, which waits for which, and because of
 * which declaration. As snprintf, it writes at most `size` bytes with the zero, and returns the whole text's length. */
REEF_API size_t reef_schedule_explain(const reef_world *world, reef_explain form, char *text, size_t size);

/* Measurements of a system while statistics were on. */
typedef struct reef_system_stats {
    uint64_t runs, blocks, rows;  /* since statistics were turned on */
    uint64_t time_ns, longest_ns; /* time of all its jobs; of its longest run */
} reef_system_stats;
/* Turns statistics of systems on or off. They are off at first, and then no clock is read. Turning them on begins at
 * zero; turning them off keeps the numbers. The call has no effect while systems run or a loop is open. */
REEF_API void reef_measure_systems(reef_world *world, bool on);
/* The measurements of a system; all zeros if there are none, or no such system. */
REEF_API reef_system_stats reef_system_measured(const reef_world *world, reef_system_id system);
/* Measurements of whole ticks while statistics were on. */
typedef struct reef_tick_stats {
    uint64_t ticks; /* that ended well, since statistics were turned on */
    uint64_t time_ns, last_ns, longest_ns;
} reef_tick_stats;
/* The measurements of the ticks; all zeros if there are none. */
REEF_API reef_tick_stats reef_tick_measured(const reef_world *world);
/* Functions that are called before and after each job, on the job's thread, for profilers. {0}: none. */
typedef struct reef_profiler {
    void (*begin)(void *context, const char *system, uint32_t worker);
    void (*end)(void *context, const char *system, uint32_t worker);
    void *context;
} reef_profiler;
/* Sets the functions for profilers. *profiler is copied; NULL or {0}: none. The call has no effect while systems run or
 * a loop is open. */
REEF_API void reef_set_profiler(reef_world *world, const reef_profiler *profiler);

/* ---- watched ---- */

/* Turns the watching of systems on or off, which is on at first in the checked build (REEF_CHECKED). Systems that are
 * watched run one at a time on the thread that ticks, whatever pool the world has, and each is checked against its
 * declaration. These are UNDECLARED: a write outside of what was declared, a call that reads or writes another entity
 * without a declaration, and, where a system is run twice, a result that depends on other rows. The misuse hook is
 * called with system, component and entity, and it is the last error of the tick (docs/manual/checked-systems.md).
 * Watching costs a copy of all components for each system. A fork begins with the setting of its origin. Other builds
 * ignore this call; so does a world in a tick (LOCKED). */
REEF_API void reef_watch_systems(reef_world *world, bool on);
/* Answers NULL, or why a system mustn't read this value of another entity; the text is copied. */
typedef const char *(*reef_read_refusal)(const reef_world *world, reef_entity entity, reef_component type,
                                         void *context);
/* In the checked build: `refusal` is asked about each value that a watched system reads of an entity by its handle.
 * What it says is reported as a read that wasn't declared is. NULL: nobody is asked. For programs whose worlds hold
 * only a part of the whole. A fork begins without it. Other builds do nothing. */
REEF_API void reef_watch_reads(reef_world *world, reef_read_refusal refusal, void *context);

REEF_END_C

#endif
