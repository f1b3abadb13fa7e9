/* Tracking of rows: which entities' components changed, and which entities lost a component. It works for types with
 * track_rows.
 *
 *     static const reef_hooks tracked = {.track_rows = true};
 *     REEF_COMPONENT_HOOKS(Position, &tracked);
 *
 *     uint64_t before = reef_version(w);
 *     ...
 *     if (reef_changed_since(w, fish, Position, before)) send(fish);
 *
 * A component changes when it is added, set, or accessed for writing (reef_mut, reef_ensure, a loop that writes it),
 * whatever is then done with the pointer. Setting a tag that is there is no change, and neither is moving the row or
 * changing other components. A snapshot contains when each row changed, and a restore brings that back with the values
 * (a value that REEF_FORK_SKIP keeps also keeps the time of its change). So compare with a version from the same past.
 * A fork begins with the same times, and default values that it gets because of on_fork don't count as changes.
 *
 * In queries, the words `changed` and `added` do the same. */
#ifndef REEF_TRACK_H
#define REEF_TRACK_H

#include "component.h"
#include "hooks.h"

REEF_BEGIN_C

/* A point in time for "changed since": what is written from now on is newer. Points of a world can be compared with
 * those of a fork made later. A restore brings back when things were written, but doesn't set back the time. 0 is
 * before everything. Don't call it in the middle of a loop: what the loop still writes to its current block may count
 * as older. The call costs little, but the first write to each table and block after it takes a slower path. NULL:
 * 0. */
REEF_API uint64_t reef_version(reef_world *world);

/* Was the entity's component written, or added, after reef_version returned `since`? False for types without
 * track_rows, and if the entity is dead or doesn't have the component. */
REEF_API bool reef_changed_since_id(const reef_world *world, reef_entity entity, reef_component type, uint64_t since);
REEF_API bool reef_added_since_id(const reef_world *world, reef_entity entity, reef_component type, uint64_t since);
#define reef_changed_since(world, entity, T, since) reef_changed_since_id(world, entity, reef_id(T), since)
#define reef_added_since(world, entity, T, since) reef_added_since_id(world, entity, reef_id(T), since)

/* ---- removals ---- */

/* A reader of all removals of one type. {0} is null. It ends with its world. Every call refuses null and a freed reader
 * (NOT_ALIVE), and one of another world (OTHER_WORLD). */
typedef struct reef_removals {
    uint32_t index, generation, world;
} reef_removals;
REEF_INLINE bool reef_removals_is_null(reef_removals removals) { return removals.generation == 0; }

/* Makes a reader. From now on it gets each removal of the type once: by removing the component, destroying the entity
 * or clearing the world, but not by freeing the world, and not by a restore. A removal that all readers have read is
 * dropped; a reader that never reads makes the log grow by 8 bytes for each removal, and the size of the value if
 * `values` is true. With `values` the last values are kept too. The log and the readers' positions are part of the
 * state: after a restore a reader gets the removals that happen after the snapshot again, and a reader made after the
 * snapshot begins at the end of the snapshot's log. A fork begins without readers and with an empty log.
 *
 * Null on failure: UNKNOWN_TYPE, BAD_ARGUMENT (a type without track_rows), NOT_COPYABLE (`values`, and the type has
 * copy, move or destroy hooks), NO_MEMORY. */
REEF_API reef_removals reef_removals_new(reef_world *world, reef_component type, bool values);
/* Frees a reader. Null is allowed and does nothing. Errors: NOT_ALIVE, OTHER_WORLD. */
REEF_API reef_status reef_removals_free(reef_world *world, reef_removals removals);
/* Reads the oldest removal that this reader hasn't read: writes the entity that lost the component (it may be dead by
 * now) to *entity, and the last value to `value`, which has room for one. Either may be NULL. False: there is none, or
 * the call failed: NOT_ALIVE, OTHER_WORLD, BAD_ARGUMENT (`value` isn't NULL, and the reader has no values). Allowed in
 * open loops. */
REEF_API bool reef_removals_next(reef_world *world, reef_removals removals, reef_entity *entity, void *value);

REEF_END_C

#endif
