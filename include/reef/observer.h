/* Observers: functions that reef calls when components are added, changed and removed, when entities are destroyed, and
 * when an entity begins or ceases to match a query.
 *
 *     static void burning(const reef_notice *n)
 *     {
 *         for (uint32_t i = 0; i < n->count; i++) reef_add(n->world, n->entities[i], Smoking);
 *     }
 *     ...
 *     reef_observe(w, burning, REEF_ON_ADD, Burning);
 *
 * What is observed are operations: calls on the world, commands, and operations on whole queries, each with everything
 * that it does. For a component of an entity, an operation does one of these:
 *
 *   - It adds the component, also by a spawn, a clone or a set.
 *   - It sets the component, which means that it replaces the value. Writes in place don't count: by reef_mut, by a
 *     loop, or by reef_set on the world inside a system. A value more or fewer of a type in REEF_MULTI counts as set
 *     if the entity has other values of it. Notices are about the first value of such a type: there is an old value
 *     only if the first one was replaced or removed.
 *   - It removes the component, also when the entity is destroyed.
 *
 * For a type of relations the same holds for each relation of an entity: one that comes is added, one that goes is
 * removed, and an exclusive one that gets another target is set. (If one of several gets another target, that is a
 * removal and an addition.) Both targets are in the notice, and `target` asks for the relations to one entity only.
 *
 * Enabling and disabling a component only changes which queries match. A restore, a fork and the end of a world are no
 * operations: observers aren't called, but hooks run.
 *
 * An observer is called when the operation is complete. An *immediate* observer is called at once, before the call
 * returns. A *collected* observer is called at the next flush, which is the end of the phase, or of the loop that
 * records changes; outside of both, each call is its own flush. It is called for the net effect: not for a component
 * that was added and removed again.
 *
 * While observers are called, structural changes by calls on the world are recorded, and so is reef_set of a component
 * that is there. They are applied right after the operation, in their order, and are observed in turn. (If a loop is
 * open, they are applied when it ends.) So an observer may change anything, but its changes don't affect the notices of
 * the current operation. reef_mut, loops and everything that only reads work as usual. Snapshots, forks, restores,
 * ticks and changes to the schedule return LOCKED.
 *
 * Observers are called one at a time, in the order in which they were made, on the thread that makes the call or the
 * tick; the result of a tick is the same on any number of threads. They belong to the schedule as systems do: forks and
 * snapshots contain them. */
#ifndef REEF_OBSERVER_H
#define REEF_OBSERVER_H

#include "loop.h"

REEF_BEGIN_C

/* An observer of a world. {0} is null. Every call refuses a removed observer (NOT_ALIVE) and one of another world
 * (OTHER_WORLD). A fork has the observers of its origin under the same handles; from then on each world's are its
 * own. */
typedef struct reef_observer_id {
    uint32_t index, generation, world;
} reef_observer_id;
REEF_INLINE bool reef_observer_is_null(reef_observer_id observer) { return observer.generation == 0; }

/* The kinds of notices, as bits to be joined by |. */
typedef enum reef_observed {
    REEF_ON_ADD = 1,    /* the component was added; `values` are the current ones */
    REEF_ON_SET = 2,    /* a value was replaced. This doesn't happen to tags */
    REEF_ON_REMOVE = 4, /* the component was removed; `olds` are the last values */
    /* entities with the component were destroyed; without a component, any entities. This comes after REEF_ON_REMOVE
     * for all their components */
    REEF_ON_DESTROY = 8,
    REEF_ON_MATCH = 16,  /* entities begin to match the query, also because of enabling or a switch */
    REEF_ON_UNMATCH = 32 /* entities cease to match the query */
} reef_observed;

/* A notice, which an observer is called with. Everything in it lives until the function returns. */
typedef struct reef_notice {
    reef_world *world;
    void *context;               /* reef_observer_desc.context */
    reef_observed kind;          /* one of the kinds that the observer asked for */
    reef_component component;    /* {0} if the observer has none */
    uint32_t count;              /* number of entities, 1 ... REEF_BLOCK_ROWS */
    const reef_entity *entities; /* in the order in which they were changed */
    /* for REEF_ON_ADD and REEF_ON_SET: the array of the current values, if those of all entities lie side by side (with
     * one entity they always do). Otherwise NULL: use reef_notice_value. NULL for tags */
    const void *values;
    /* for REEF_ON_SET, REEF_ON_REMOVE and REEF_ON_DESTROY: the array of the values before, in the same way; otherwise
     * use reef_notice_old */
    const void *olds;
    /* for a type of relations: the target of each; of REEF_ON_REMOVE the former one. Otherwise NULL */
    const reef_entity *targets;
    bool existing; /* this is about what was there when the observer was made */
    /* The members from here on are internal. */
    const void *const *old;
    uint32_t size;
} reef_notice;

/* The current value of entity number i, and its value before; NULL: there is none. For a type in REEF_SPLIT the current
 * value is NULL: use reef_read_id. */
REEF_API const void *reef_notice_value(const reef_notice *notice, uint32_t i);
REEF_API const void *reef_notice_old(const reef_notice *notice, uint32_t i);
#define reef_now(notice, T, i) REEF_CAST(const T *, reef_notice_value(notice, i))
#define reef_was(notice, T, i) REEF_CAST(const T *, reef_notice_old(notice, i))

/* An observer to be made. It needs a function, a name and events. */
typedef struct reef_observer_desc {
    const char *name; /* copied; follows the rules for names of systems; unique among the observers of a world */
    void (*function)(const reef_notice *notice);
    /* values of reef_observed, joined by |. REEF_ON_MATCH and REEF_ON_UNMATCH can't be joined with the others */
    uint32_t events;
    /* the component that is observed; {0} if `events` is only REEF_ON_DESTROY, or for a query */
    reef_component component;
    reef_entity target; /* of a type of relations: only those to this entity, or from it to another; null: all */
    const char *text;   /* for REEF_ON_MATCH and REEF_ON_UNMATCH: the query as a text, */
    const reef_query_desc *query; /* or as a struct (copied); without terms about changes or other entities */
    bool collected;
    /* also call the function at once for what is there already, block by block in the visible order, as REEF_ON_ADD or
     * REEF_ON_MATCH */
    bool existing;
    void *context; /* becomes notice->context; not copied by snapshots and forks */
    /* called once, when the last world that has the observer loses it; not called if reef_observer_new fails. NULL: the
     * caller keeps the context */
    void (*context_free)(void *context);
} reef_observer_desc;

/* Makes an observer, which is called after those that exist. Null on failure: BAD_ARGUMENT (no function, a bad name,
 * events that can't be joined, a target for what is no type of relations), NOT_ALIVE (the target), EXISTS (an observer
 * of that name), UNKNOWN_TYPE, LIMIT (REEF_OBSERVERS_MAX), LOCKED (a loop is open, commands are being applied, in a
 * tick, in an observer), NO_MEMORY, and those of reef_query_new. Operations of a world with observers take a slower
 * path: 20 to 100 ns more each. */
REEF_API reef_observer_id reef_observer_new(reef_world *world, const reef_observer_desc *desc);
/* The short form, for an immediate observer. reef_observe(w, function, REEF_ON_ADD | REEF_ON_REMOVE, Burning) gives it
 * the name of its function. */
#define reef_observe(world, function, events, T) reef_observer_add(world, #function, function, events, reef_id(T))
REEF_API reef_observer_id reef_observer_add(reef_world *world, const char *name,
                                            void (*function)(const reef_notice *notice), uint32_t events,
                                            reef_component type);
/* Removes an observer. Errors: NOT_ALIVE, OTHER_WORLD, LOCKED, NO_MEMORY. */
REEF_API reef_status reef_observer_remove(reef_world *world, reef_observer_id observer);
/* The observer with this name; null if there is none. */
REEF_API reef_observer_id reef_observer_find(const reef_world *world, const char *name);
/* An observer's name; NULL if there is no such observer. The pointer lives as long as the observer. */
REEF_API const char *reef_observer_name(const reef_world *world, reef_observer_id observer);

/* When a call by an observer fails, reef_last_error has the observer's name as `system`; a recorded call that fails
 * when it is applied is logged as well. The observed call has succeeded and returns so, but after it the first failure
 * is the last error. At a flush it counts as a command that failed.
 *
 * Cascades are bounded: the changes that observers make are applied in rounds, and in the last of REEF_CASCADE_ROUNDS
 * rounds the structural calls of observers return LIMIT.
 *
 * When memory runs out, the observed call returns NO_MEMORY before any observer is called, and has no effect. Changes
 * by observers that can't be applied are kept for reef_flush, as those of loops are. Making and removing an observer
 * applies them first. */

REEF_END_C

#endif
