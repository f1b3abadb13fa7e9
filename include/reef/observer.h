/* Observers: functions that reef calls when components come, change and go, when entities die, and when an entity
 * begins or ceases to match a query.
 *
 *     static void burning(const reef_notice *n)
 *     {
 *         for (uint32_t i = 0; i < n->count; i++) reef_add(n->world, n->entities[i], Smoking);
 *     }
 *     ...
 *     reef_observe(w, burning, REEF_ON_ADD, Burning);
 *
 * What is observed are operations: calls on the world, commands, operations on whole queries, each with all that it
 * does. A component that an operation brings to an entity is *added*, also by a spawn, a clone or a set; one whose
 * value it replaces is
 * *set* (never one that is written in place, by reef_mut, by a loop, or in a system by reef_set on the world; of a
 * type in REEF_MULTI one value more or fewer, beside others, is told as set, without an old value); one that it
 * takes away is *removed*, also when the entity dies. No operation does two of these with one component of one
 * entity. Turning a component off and on again (reef_disable) changes only what matches. A restore, a fork and the
 * end of a world are no operations: nobody is told of them (hooks run).
 *
 * Observers are called when the operation is complete. An *immediate* one is called then, before the call returns; a
 * *collected* one at the next flush: the end of the phase, or of the loop that records; where neither is under way,
 * each call is its own flush. A collected one hears of the net effect: of what was added and removed again, nothing.
 *
 * While they are called, structural changes by calls on the world are recorded, also reef_set of what is there, and
 * done right after the operation, first in, first out; what observers do by them is again observed. (In a loop that
 * is open they are done when it ends.) So observers may change anything, but not what is being told. reef_mut, loops
 * and all that only reads work as always. Snapshots, forks, restores, ticks and changes to the schedule answer
 * LOCKED.
 *
 * Observers are called one at a time, in the order in which they were made, on the thread that makes the call or
 * ticks; the result of a tick is the same on any number of threads. They belong to the schedule as systems do: forks
 * and snapshots have them. */
#ifndef REEF_OBSERVER_H
#define REEF_OBSERVER_H

#include "loop.h"

REEF_BEGIN_C

/* An observer of a world. {0} is null. A removed one is refused by every call (NOT_ALIVE), another world's too
 * (OTHER_WORLD). A fork has those of its origin under other handles: reef_observer_find. */
typedef struct reef_observer_id {
    uint32_t index, generation, world;
} reef_observer_id;
REEF_INLINE bool reef_observer_is_null(reef_observer_id observer) { return observer.generation == 0; }

/* What is told of; bits, to be joined by |. */
typedef enum reef_observed {
    REEF_ON_ADD = 1,    /* entities got the component: its values are what they have now */
    REEF_ON_SET = 2,    /* a value was replaced by another. Tags have none */
    REEF_ON_REMOVE = 4, /* they lost it; the values that went are there until the function returns */
    /* they died, and had the component; without a component: any died. After the REEF_ON_REMOVE of all that they had */
    REEF_ON_DESTROY = 8,
    REEF_ON_MATCH = 16,  /* they match the query, and didn't before: also by being enabled, or by a switch */
    REEF_ON_UNMATCH = 32 /* they matched it before, and don't any more */
} reef_observed;

/* What an observer is told. Everything in it lives until the function returns. */
typedef struct reef_notice {
    reef_world *world;
    void *context;               /* of the observer */
    reef_observed kind;          /* one of those that it asked for */
    reef_component component;    /* {0} where it asked for none */
    uint32_t count;              /* of entities, 1 ... REEF_BLOCK_ROWS */
    const reef_entity *entities; /* in the order in which it happened to them */
    /* of REEF_ON_ADD and REEF_ON_SET, what is there now, when the values of all entities lie side by side (that of
     * one always does); else, and for tags, NULL: reef_notice_value */
    const void *values;
    /* of REEF_ON_SET, REEF_ON_REMOVE, REEF_ON_DESTROY, what was there before; the same: reef_notice_old */
    const void *olds;
    bool existing; /* of what was there when the observer was made */
    /* reef's own */
    const void *const *old;
    uint32_t size;
} reef_notice;

/* The value of entity number i that is there now (of a split type NULL: reef_read_id), and that which was there
 * before; NULL: there is none. */
REEF_API const void *reef_notice_value(const reef_notice *notice, uint32_t i);
REEF_API const void *reef_notice_old(const reef_notice *notice, uint32_t i);
#define reef_now(notice, T, i) ((const T *)reef_notice_value(notice, i))
#define reef_was(notice, T, i) ((const T *)reef_notice_old(notice, i))

/* An observer to be made. Needed are a function, a name and events. */
typedef struct reef_observer_desc {
    const char *name; /* copied; as names of systems, unique among the observers of a world */
    void (*function)(const reef_notice *notice);
    /* reef_observed, joined by |; those of queries and the others don't go together */
    uint32_t events;
    /* whose adding, setting, removing is observed; {0}: REEF_ON_DESTROY alone, or a query */
    reef_component component;
    const char *text;             /* of REEF_ON_MATCH and REEF_ON_UNMATCH: the query, */
    const reef_query_desc *query; /* or so (copied). It may not ask for changes, nor of entities that it names */
    bool collected;
    /* tells of what is there already, at once, by block in the visible order, as REEF_ON_ADD or REEF_ON_MATCH */
    bool existing;
    void *context; /* notice->context; outside of snapshots and forks */
    /* called once, when the last world that has the observer loses it; not for one that is refused. NULL: it stays
     * yours */
    void (*context_free)(void *context);
} reef_observer_desc;

/* Makes an observer, the last in order. Null on failure: BAD_ARGUMENT (no function, a bad name, events that don't go
 * together), EXISTS (an observer of that name), UNKNOWN_TYPE, LIMIT (REEF_OBSERVERS_MAX), LOCKED (a loop is open,
 * commands are being done, in a tick, in an observer), NO_MEMORY, and those of reef_query_new. Operations of a world
 * that has observers take a longer way: 20 to 100 ns more each. */
REEF_API reef_observer_id reef_observer_new(reef_world *world, const reef_observer_desc *desc);
/* The short form: immediate, named as its function. reef_observe(w, function, REEF_ON_ADD | REEF_ON_REMOVE, Burning) */
#define reef_observe(world, function, events, T) reef_observer_add(world, #function, function, events, reef_id(T))
REEF_API reef_observer_id reef_observer_add(reef_world *world, const char *name,
                                            void (*function)(const reef_notice *notice), uint32_t events,
                                            reef_component type);
/* Errors: NOT_ALIVE, OTHER_WORLD, LOCKED, NO_MEMORY. */
REEF_API reef_status reef_observer_remove(reef_world *world, reef_observer_id observer);
/* The observer of a name, null if there is none. */
REEF_API reef_observer_id reef_observer_find(const reef_world *world, const char *name);
/* Its name; NULL if it is none. Lives as long as the observer. */
REEF_API const char *reef_observer_name(const reef_world *world, reef_observer_id observer);

/* Calls by observers that fail go to reef_last_error, with the observer's name as `system`; what fails when it is
 * done goes to the log as well. The call that was observed has succeeded all the same, and says so; after it the
 * first failure is the last error. At a flush it counts as a command that failed.
 *
 * Cascades are bounded: what observers ask for is done in rounds, and in the last of REEF_CASCADE_ROUNDS rounds
 * their structural calls answer LIMIT.
 *
 * When memory runs out, the call that is observed answers NO_MEMORY before anybody is told, and has no effect. What
 * observers asked for and couldn't be done is kept for reef_flush, as the commands of loops are. Making and removing
 * an observer does it first. */

REEF_END_C

#endif
