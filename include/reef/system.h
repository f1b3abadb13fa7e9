/* Systems: functions that reef calls at every tick, on any number of threads, with the same result.
 *
 *     static void move(reef_block *b)
 *     {
 *         Position       *p = reef_inout(b, Position);
 *         const Velocity *v = reef_in(b, Velocity);
 *         for (uint32_t i = 0; i < b->count; i++) { p[i].x += v[i].x * b->dt; p[i].y += v[i].y * b->dt; }
 *     }
 *     ...
 *     reef_system(w, move, "Position, in Velocity");
 *     for (;;) reef_tick(w, 1.0f / 60.0f);
 *
 * The result of a tick is that of running the systems one at a time in their order on one thread. Systems whose
 * declarations don't collide run at the same time, and a system that touches only the rows that it is handed is
 * split into jobs; neither can be seen in the result.
 *
 * A system says beforehand what it touches: its query, and what else (others' components, events, what its commands
 * do). Structure is changed by commands (reef/command.h), which are done at the end of the phase. */
#ifndef REEF_SYSTEM_H
#define REEF_SYSTEM_H

#include "loop.h"

REEF_BEGIN_C

/* ---- what a system touches beside the rows that it is handed ---- */

/* In which way a system touches a type. */
typedef enum reef_touch_kind {
    REEF_READS = 1, /* reads the component of any entity, singletons too: reef_get, reef_has, reef_others */
    REEF_WRITES,    /* writes it as well: reef_mut, reef_set of what is there. Such a system is never split */
    REEF_SENDS,     /* sends events of the type */
    REEF_RECEIVES,  /* reads them */
    /* adds to a singleton: each job has a part of its own (reef_part), which desc.combine adds up in order. One type
     * a system */
    REEF_SUMS,
    /* What its commands do. Without a type: with every type. */
    REEF_SPAWNS, /* makes entities that have the component */
    REEF_ADDS,   /* adds it, or sets it where it may be missing */
    REEF_REMOVES,
    REEF_ENABLES,  /* enables or disables it; without a type: whole entities too */
    REEF_DESTROYS, /* destroys entities; always without a type */
    REEF_NAMES     /* names entities; always without a type */
} reef_touch_kind;

/* One declaration of what a system touches. */
typedef struct reef_touch {
    reef_touch_kind kind; /* 0: none */
    reef_component type;  /* {0}: every type, where the kind allows it */
} reef_touch;

/* ---- making systems ---- */

/* A system of a world. {0} is null. A removed one is refused by every call (NOT_ALIVE), another world's too
 * (OTHER_WORLD). A fork has the systems of its origin under other handles: reef_system_find; a fork of a snapshot
 * those of then. */
typedef struct reef_system_id {
    uint32_t index, generation, world;
} reef_system_id;
REEF_INLINE bool reef_system_is_null(reef_system_id system) { return system.generation == 0; }

/* A system to be made. Needed are a function and, if it is to stay, a name. */
typedef struct reef_system_desc {
    /* copied; unique in its world, 1 ... REEF_SYSTEM_NAME_MAX bytes, no spaces, commas, semicolons, quotes */
    const char *name;
    /* called for each block that matches; without a query once a run, with count 0 */
    void (*function)(reef_block *block);
    /* The query as a text, and behind a semicolon what else the system touches:
     *     "Position, in Velocity; reads Mass, sends Hit, spawns Spark Position, destroys"
     * NULL or without a query: the struct forms below. */
    const char *text;
    const reef_query_desc *query;         /* copied; NULL: no rows, unless the text has a query */
    reef_touch touches[REEF_TOUCHES_MAX]; /* up to the first of kind 0; beside those of the text */
    const char *phase;                    /* NULL: "update" */
    /* Systems of a phase run in the order in which they were added, as far as these allow: next is always the first
     * one that has to wait for no other. */
    /* names of systems of the same phase, separated by spaces; those that don't exist don't count */
    const char *before, *after;
    void *context; /* block->context; outside of snapshots and forks */
    /* called once, when the last world that has the system loses it; not for a system that is refused. NULL: it stays
     * yours */
    void (*context_free)(void *context);
    /* for REEF_SUMS: adds a part to the singleton; called in order of the parts */
    void (*combine)(void *total, const void *part);
    /* asked before each run, on the tick's thread: run now? NULL: yes */
    bool (*condition)(const reef_world *world, void *context);
    /* runs when so much time of the world went by since its last run; 0: with its phase */
    uint64_t interval_ns;
    bool main_thread; /* runs on the thread that called reef_tick */
    bool whole;       /* is never split into jobs */
    bool off;         /* begins switched off */
} reef_system_desc;

/* Adds a system at the end of its phase. Null on failure: as reef_query_new, and EXISTS (a system of that name),
 * BAD_ARGUMENT (no function, a bad name, no such phase, a circle of before and after: .detail is its path; sums
 * without combine; events or sums of a type whose values are more than their bytes), DUPLICATE_TERM (a touch twice),
 * LIMIT (REEF_SYSTEMS_MAX, REEF_TOUCHES_MAX), LOCKED (in a tick: use reef_cmd_system_new), NO_MEMORY. */
REEF_API reef_system_id reef_system_new(reef_world *world, const reef_system_desc *desc);
/* The short form: named as its function. */
#define reef_system(world, function, text) reef_system_add(world, #function, function, text)
REEF_API reef_system_id reef_system_add(reef_world *world, const char *name, void (*function)(reef_block *block),
                                        const char *text);
/* The system becomes another one and keeps its place and its handle; its interval and what it sees of changes begin
 * anew, events it reads on where the other one was.
 * Errors as reef_system_new, NOT_ALIVE, OTHER_WORLD; then it stays what it was. */
REEF_API reef_status reef_system_replace(reef_world *world, reef_system_id system, const reef_system_desc *desc);
/* Errors: NOT_ALIVE, OTHER_WORLD, LOCKED, NO_MEMORY. */
REEF_API reef_status reef_system_remove(reef_world *world, reef_system_id system);
/* A system that is off keeps its place and what it has still to see (changes, events). Errors: the same. */
REEF_API reef_status reef_system_switch(reef_world *world, reef_system_id system, bool on);
/* Is it on? False for one that isn't there. */
REEF_API bool reef_system_is_on(const reef_world *world, reef_system_id system);
/* The system of a name, null if there is none. */
REEF_API reef_system_id reef_system_find(const reef_world *world, const char *name);
/* Its name; NULL if it is none. Lives as long as the system. */
REEF_API const char *reef_system_name(const reef_world *world, reef_system_id system);

/* ---- phases ---- */

/* A world begins with the phases "begin", "update", "end". Commands of a phase are done at its end. */
typedef struct reef_phase_desc {
    const char *name;           /* copied; as names of systems */
    const char *before, *after; /* an existing phase; at most one of them. Neither: before "end" */
    /* 0: runs once a tick with the tick's time. Else it runs once for each so much time that went by, each time with
     * this as its time */
    uint64_t step_ns;
    uint32_t steps_max; /* at most so many times a tick; time beyond is dropped; 0: 8 */
} reef_phase_desc;
/* Errors: BAD_ARGUMENT, EXISTS, LIMIT (REEF_PHASES_MAX), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_phase_new(reef_world *world, const reef_phase_desc *desc);

/* ---- ticking ---- */

/* Runs all phases in order; `dt` are seconds, 0 ... 1e6. A failure stops the tick and says which system:
 * reef_last_error().system. The world is valid then, and what ran before has happened; what was requested by
 * commands and couldn't be done is done by reef_flush or the next tick. With reef_world_config.atomic_tick the world
 * is what it was before the tick instead. Commands that failed for their own reasons (NOT_ALIVE ...) don't stop a
 * tick: each goes to the log, the first in order is reef_last_error after it, and the answer is OK.
 * Errors: BAD_ARGUMENT, LOCKED (a loop is open, or in a tick), NO_MEMORY. */
REEF_API reef_status reef_tick(reef_world *world, float dt);
/* One phase alone, once, with its own time. The world's time and number of ticks stay. Errors: the same. */
REEF_API reef_status reef_tick_phase(reef_world *world, const char *phase, float dt);
/* Runs a system once, without adding it, in the same way (jobs, threads, commands). Its name may be NULL. Errors as
 * reef_system_new and reef_tick. */
REEF_API reef_status reef_system_once(reef_world *world, const reef_system_desc *desc, float dt);

/* While a world is paused reef_tick does nothing and answers OK; reef_step_once ticks all the same. Not part of the
 * state. */
REEF_API void reef_pause(reef_world *world, bool paused);
/* Is the world paused? */
REEF_API bool reef_is_paused(const reef_world *world);
/* A tick, paused or not. Errors as reef_tick. */
REEF_API reef_status reef_step_once(reef_world *world, float dt);

/* Ticks that the world has seen, and the time of all of them in nanoseconds. Part of the state. */
REEF_API uint64_t reef_tick_count(const reef_world *world);
REEF_API uint64_t reef_time_ns(const reef_world *world);

/* In the checked build (REEF_CHECKED) systems are watched unless this turns it off: they run one at a time on the
 * thread that ticks, whatever pool the world has, and each is held against its declaration. What it wrote elsewhere,
 * read or wrote of others by calls without declaring it, and, where it runs twice, what depends on other rows, is
 * UNDECLARED: told to the misuse hook with system, component and entity, and the last error of the tick
 * (docs/manual/checked-systems.md). It costs a copy of all components a system. A fork begins as its origin. Without
 * effect in other builds; LOCKED in a tick. */
REEF_API void reef_watch_systems(reef_world *world, bool on);

/* ---- for systems ---- */

/* Inside of a system, a loop over rows that aren't its own:
 *     for (reef_block o = reef_others(b, enemies); reef_next(&o);) ... reef_in(&o, Position) ...
 * The query was made outside. It only reads, and the system declares `reads` for each component whose values it
 * names. It sees what systems before this one in the phase left. Leave it early by break. A refused one has no
 * blocks, and the failure is the job's: UNDECLARED (a component isn't declared, or would be written), NOT_ALIVE,
 * OTHER_WORLD, BAD_ARGUMENT (the query asks for changes or has an order; `block` isn't a system's). Two such loops
 * may be inside of one another. */
REEF_API reef_block reef_others(const reef_block *block, reef_query query);

/* The job's own part of a singleton that the system SUMS: zero at the job's beginning. NULL and UNDECLARED
 * otherwise. Valid until the function returns. */
REEF_API void *reef_part_id(const reef_block *block, reef_component type);
#define reef_part(block, T) ((T *)reef_part_id(block, reef_id(T)))

/* ---- looking at the schedule ---- */

/* In which form the schedule is written: in words, or as a graph for Graphviz. */
typedef enum reef_explain { REEF_EXPLAIN_TEXT = 0, REEF_EXPLAIN_DOT } reef_explain;
/* Phases and systems in their order, what each touches, which wait for which, and for the sake of which declaration.
 * As snprintf: at most `size` bytes with the zero; returns the whole text's length. */
REEF_API size_t reef_schedule_explain(const reef_world *world, reef_explain form, char *text, size_t size);

/* What was counted of a system while statistics were on. */
typedef struct reef_system_stats {
    uint64_t runs, blocks, rows;  /* since statistics were turned on */
    uint64_t time_ns, longest_ns; /* of all its jobs; of its longest run */
} reef_system_stats;
/* Off at first; then no clock is read. Turned on, it counts from zero; turned off, what was counted stays. Without
 * effect while systems run or a loop is open. */
REEF_API void reef_measure_systems(reef_world *world, bool on);
/* What was counted of a system; all zeroes where nothing was, or there is no such system. */
REEF_API reef_system_stats reef_system_measured(const reef_world *world, reef_system_id system);
/* Called before and after each job, on the job's thread: for profilers. {0}: none. */
typedef struct reef_trace {
    void (*begin)(void *context, const char *system, uint32_t worker);
    void (*end)(void *context, const char *system, uint32_t worker);
    void *context;
} reef_trace;
/* *trace is copied; NULL or {0}: none. Without effect while systems run or a loop is open. */
REEF_API void reef_set_trace(reef_world *world, const reef_trace *trace);

REEF_END_C

#endif
