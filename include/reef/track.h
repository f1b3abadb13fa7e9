/* Which rows changed, and who lost a component: for types declared with track_rows.
 *
 *     static const reef_hooks tracked = {.track_rows = true};
 *     REEF_COMPONENT_HOOKS(Position, &tracked);
 *
 *     uint64_t before = reef_version(w);
 *     ...
 *     if (reef_changed_since(w, fish, Position, before)) send(fish);
 *
 * A component changes when it is added, set, handed out for writing (reef_mut, reef_ensure, a loop that writes it),
 * whatever is then done with the pointer. Setting a tag that is there changes nothing. Moving a row, and other
 * components, change nothing. A snapshot holds when each row changed, and a restore brings that back with the values
 * (a value that on_fork keeps from now brings its own): so ask with a version that belongs to the same past. A fork
 * begins with the same knowledge, and default values that it gets because of on_fork don't count as a change.
 *
 * Queries ask the same with the words `changed` and `added`. */
#ifndef REEF_TRACK_H
#define REEF_TRACK_H

#include "component.h"

REEF_BEGIN_C

/* Was the entity's component written, or added, after reef_version answered `since`? False for types without
 * track_rows, and where the entity is dead or hasn't got it. */
REEF_API bool reef_changed_since_id(const reef_world *world, reef_entity entity, reef_component type, uint64_t since);
REEF_API bool reef_added_since_id(const reef_world *world, reef_entity entity, reef_component type, uint64_t since);
#define reef_changed_since(world, entity, T, since) reef_changed_since_id(world, entity, reef_id(T), since)
#define reef_added_since(world, entity, T, since) reef_added_since_id(world, entity, reef_id(T), since)

/* ---- removals ---- */

/* A reader of all removals of one type. {0} is null. Dies with its world. Null and a freed one are refused by every
 * call (NOT_ALIVE), and so is that of another world (OTHER_WORLD). */
typedef struct reef_removals {
    uint32_t index, generation, world;
} reef_removals;
REEF_INLINE bool reef_removals_is_null(reef_removals removals) { return removals.generation == 0; }

/* From now on each removal of the type is told to this reader once: removed, destroyed, cleared; not the end of the
 * world, and not what a restore takes away. What everybody has read is dropped; a reader that never reads makes the
 * log grow: 8 bytes a removal, and the value where values are wanted. The log and the readers' places are part of
 * the state: after a restore a reader reads again what is removed after the snapshot, and one made after the
 * snapshot begins where the log of then ends. A fork begins without readers, and with an empty log. `values`: the
 * last values are kept as well.
 *
 * Null on failure: UNKNOWN_TYPE, BAD_ARGUMENT (a type without track_rows), NOT_COPYABLE (values of a type with copy,
 * move or destroy hooks are wanted), NO_MEMORY. */
REEF_API reef_removals reef_removals_new(reef_world *world, reef_component type, bool values);
/* Null is allowed and does nothing. Errors: NOT_ALIVE, OTHER_WORLD. */
REEF_API reef_status reef_removals_free(reef_world *world, reef_removals removals);
/* The oldest removal that this reader doesn't know: who lost the component (maybe dead by now), and its last value
 * into `value`, which has room for one. Either may be NULL. False: there is none, or the call was refused:
 * NOT_ALIVE, OTHER_WORLD, BAD_ARGUMENT (a value is wanted of a reader without). Allowed in open loops. */
REEF_API bool reef_removals_next(reef_world *world, reef_removals removals, reef_entity *entity, void *value);

REEF_END_C

#endif
