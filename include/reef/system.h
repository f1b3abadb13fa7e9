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
 * declarations don't conflict run at the same time, and a system that touches only its own rows is split into jobs;
 * neither changes the result.
 *
 * A system declares what it touches: its query, and everything else (components of other entities, events, what its
 * commands do). It changes structure by commands (reef/command.h), which are applied at the end of the phase. */
#ifndef REEF_SYSTEM_H
#define REEF_SYSTEM_H

#include "loop.h"

REEF_BEGIN_C

/* ---- what a system touches beside its own rows ---- */

/* How a system touches a type. */
typedef enum reef_touch_kind {
    REEF_READS = 1, /* reads the component of any entity, singletons too: reef_get, reef_has, reef_others */
    REEF_WRITES,    /* writes it as well: reef_mut, reef_set if it is there. Such a system is never split */
    REEF_SENDS,     /* sends events of the type */
    REEF_RECEIVES,  /* receives events of the type */
    /* adds to a singleton: each job has its own part (reef_part), and desc.combine adds the parts up in order. A system
     * may declare one such type */
    REEF_SUMS,
    /* These declare what the system's commands do. Without a type they mean every type. */
    REEF_SPAWNS, /* makes entities that have the component */
    REEF_ADDS,   /* adds the component, or sets it where it may be missing */
    REEF_REMOVES,
    REEF_ENABLES,  /* enables or disables the component; without a type: whole entities too */
    REEF_DESTROYS, /* destroys entities; always without a type */
    REEF_NAMES,    /* names entities; always without a type */
    /* The same for types of relations; without a type: every type of relations. */
    REEF_RELATES,   /* relates entities, or gives a relation another target or place */
    REEF_UNRELATES, /* ends relations */
    /* asks the picture of the type's place that is made when the system begins: reef_placed (reef/place.h). "reads
     * Position as placed" in a text. The system may write the type in its own rows and is split nevertheless */
    REEF_PLACED
} reef_touch_kind;

/* One declaration of what a system touches. */
typedef struct reef_touch {
    reef_touch_kind kind; /* 0: none */
    reef_component type;  /* {0}: every type, where the kind allows it */
} reef_touch;

/* ---- making systems ---- */

/* A system of a world. {0} is null. Every call refuses a removed system (NOT_ALIVE) and one of another world
 * (OTHER_WORLD). A fork has the systems of its origin, and a fork of a snapshot those of the time when it was taken,
 * under the same handles; from then on each world's are its own. */
typedef struct reef_system_id {
    uint32_t index, generation, world;
} reef_system_id;
REEF_INLINE bool reef_system_is_null(reef_system_id system) { return system.generation == 0; }

/* A system to be made. It needs a function, and a name except for reef_system_once. */
typedef struct reef_system_desc {
    /* copied; unique in its world, 1 ... REEF_SYSTEM_NAME_MAX bytes, no spaces, commas, semicolons, quotes */
    const char *name;
    /* called for each block that matches; without a query called once in each run, with count 0 */
    void (*function)(reef_block *block);
    /* The query as a text, and after a semicolon what else the system touches:
     *     "Position, in Velocity; reads Mass, sends Hit, spawns Spark Position, destroys"
     *     "World, in Local, cascade(ChildOf)"                                      parents before their children
     *     "Position, Velocity; reads Position as placed"                           neighbours: reef/place.h
     * If it is NULL or has no query, `query` is used. */
    const char *text;
    const reef_query_desc *query;         /* copied; NULL: no query, unless the text has one */
    reef_touch touches[REEF_TOUCHES_MAX]; /* up to the first of kind 0; in addition to those of the text */
    const char *phase;                    /* NULL: "update" */
    /* Systems of a phase run in the order in which they were added, as far as `before` and `after` allow: the next one
     * is always the first that doesn't have to wait for another. */
    /* names of systems of the same phase, separated by spaces; names of systems that don't exist are ignored */
    const char *before, *after;
    void *context; /* becomes block->context; not copied by snapshots and forks */
    /* called once, when the last world that has the system loses it; not called if reef_system_new fails. NULL: the
     * caller keeps the context */
    void (*context_free)(void *context);
    /* for REEF_SUMS: adds a part to the singleton; called in the order of the parts */
    void (*combine)(void *total, const void *part);
    /* called before each run, on the thread that ticks; if it returns false, the system doesn't run. NULL: it always
     * runs */
    bool (*condition)(const reef_world *world, void *context);
    /* the system runs when this much world time has passed since its last run; 0: each time that its phase runs. Its dt
     * is that of the phase */
    uint64_t interval_ns;
    bool main_thread; /* runs on the thread that called reef_tick */
    bool whole;       /* is never split into jobs */
    bool off;         /* begins disabled */
} reef_system_desc;

/* Adds a system at the end of its phase. Null on failure: as reef_query_new, and EXISTS (a system of that name),
 * BAD_ARGUMENT (no function, a bad name, no such phase; a circle of before and after, whose path is in .detail; sums
 * without combine; events or sums of a type with hooks), DUPLICATE_TERM (a touch is declared twice), LIMIT
 * (REEF_SYSTEMS_MAX, REEF_TOUCHES_MAX), LOCKED (in a tick: use reef_cmd_system_new), NO_MEMORY. */
REEF_API reef_system_id reef_system_new(reef_world *world, const reef_system_desc *desc);
/* The short form. reef_system gives the system the name of its function. */
#define reef_system(world, function, text) reef_system_add(world, #function, function, text)
REEF_API reef_system_id reef_system_add(reef_world *world, const char *name, void (*function)(reef_block *block),
                                        const char *text);

/* ---- phases ---- */

/* A phase to be made. A world begins with the phases "begin", "update" and "end". The commands of a phase are applied
 * at its end. */
typedef struct reef_phase_desc {
    const char *name;           /* copied; follows the rules for names of systems */
    const char *before, *after; /* name of an existing phase; at most one of the two. Neither: before "end" */
    /* 0: the phase runs once in a tick, with the tick's time step. Otherwise it has a fixed step: it runs once for each
     * step_ns nanoseconds that have passed, with this time step */
    uint64_t step_ns;
    uint32_t steps_max; /* largest number of steps in a tick; time beyond that is dropped; 0: 8 */
} reef_phase_desc;
/* Makes a phase. Errors: BAD_ARGUMENT, EXISTS, LIMIT (REEF_PHASES_MAX), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_phase_new(reef_world *world, const reef_phase_desc *desc);

/* ---- ticking ---- */

/* Runs all phases in order. `dt` is the time step in seconds, 0 ... 1e6. A failure stops the tick, and
 * reef_last_error().system names the system. The world is valid then, and the effects of what has run remain; commands
 * that couldn't be applied are applied by reef_flush or the next tick. With reef_world_config.atomic_tick the world is
 * as it was before the tick instead. A command that fails because of the state (NOT_ALIVE ...) doesn't stop a tick:
 * each such failure is logged, the first one is reef_last_error after the tick, and reef_tick returns OK. Errors:
 * BAD_ARGUMENT, LOCKED (a loop is open, or in a tick), NO_MEMORY. */
REEF_API reef_status reef_tick(reef_world *world, float dt);
/* Runs a system once, without adding it, in the same way (jobs, threads, commands). Its name may be NULL. Errors: as
 * reef_system_new and reef_tick. */
REEF_API reef_status reef_system_once(reef_world *world, const reef_system_desc *desc, float dt);

/* Number of ticks, which is part of the state; in a tick that of the tick itself, which is 1 in the first one. */
REEF_API uint64_t reef_tick_count(const reef_world *world);

/* ---- for systems ---- */

/* Opens a loop inside a system, over rows other than those that the system was given:
 *     for (reef_block o = reef_others(b, enemies); reef_next(&o);) ... reef_in(&o, Position) ...
 * The query is made outside of the system. The loop only reads, and the system declares `reads` for each component
 * whose values the query names. It sees the results of the systems that come before this one in the phase. It may be
 * left early by break. On failure the loop has no blocks, and the job fails: UNDECLARED (a component isn't declared, or
 * would be written), NOT_ALIVE, OTHER_WORLD, BAD_ARGUMENT (the query asks for changes, has an order, or parameters that
 * were never set; `block` isn't a system's), NO_MEMORY (only for the first loop over a query in a fork). Two such loops
 * may be nested. */
REEF_API reef_block reef_others(const reef_block *block, reef_query query);

/* The job's own part of a singleton for which the system declares `sums`. It is zero when the job begins, and valid
 * until the function returns. Otherwise NULL and UNDECLARED. */
REEF_API void *reef_part_id(const reef_block *block, reef_component type);
#define reef_part(block, T) REEF_CAST(T *, reef_part_id(block, reef_id(T)))

REEF_END_C

#endif
