/* Shared components: one value that several entities have in common, and that code outside of the world may hold.
 *
 *     typedef struct { Mesh *mesh; } Collider;
 *     REEF_COMPONENT_IN_HOOKS(Collider, REEF_SHARED, &collider_hooks);
 *
 *     reef_set(w, stone, Collider, mesh);                   a value of its own
 *     reef_share(w, stone, copy, Collider);                 copy has the same value as stone
 *     reef_pinned pin = reef_pin(w, stone, Collider);       it lives on when both are dead
 *     ...
 *     reef_unpin(pin);                                      the last holder is gone: the destroy hook runs
 *
 * A value lives as long as something holds it: an entity of a world, a fork or a snapshot, or a pin. It is destroyed
 * once, when the last holder releases it, before that call returns.
 *
 *     reef_set, reef_add, reef_spawn, reef_change   give the entity a new value; the other entities keep the old one
 *     reef_mut, loops and systems that write        write the value for all entities of this world that have it, and
 *                                                   for pins
 *     reef_get, reef_in                             read the value; entities with the same value get the same pointer
 *     reef_clone                                    gives the copies the same value as their source
 *     reef_remove, reef_destroy                     release the value
 *
 * Entities that share a value also share it in snapshots and forks, in each world separately. If a fork or snapshot has
 * a value as well, it is copied (by the copy hook) before a world writes it, and all entities of this world that had it
 * get the copy. So the others never see the write, and a pin made before keeps the old value. Worlds without forks and
 * snapshots write in place. reef_hash, reef_equal and reef_print include the values and which entities share them.
 *
 * A value keeps its address when rows move, and while the world writes in place. Loops visit it for each entity, in
 * blocks of one row. A system that writes a shared type runs in one job. Types with on_fork or track_rows can't be
 * shared (BAD_ARGUMENT). */
#ifndef REEF_SHARED_PUBLIC_H
#define REEF_SHARED_PUBLIC_H

#include "component.h"

REEF_BEGIN_C

/* A pin holds a value outside of worlds; {0} holds nothing. Each pin from reef_pin must be given to reef_unpin once. */
typedef struct reef_pinned {
    const void *value;
} reef_pinned;
REEF_INLINE bool reef_pin_is_null(reef_pinned pin) { return pin.value == NULL; }

/* Gives `to` the value that `from` has: ADDED, or OK if `to` had another value, which it releases. Errors: NOT_ALIVE,
 * UNKNOWN_TYPE, ABSENT (`from` has none), BAD_ARGUMENT (the type isn't in REEF_SHARED), LOCKED (a loop is open,
 * deferred or not), NO_MEMORY. */
REEF_API reef_status reef_share_id(reef_world *world, reef_entity from, reef_entity to, reef_component type);
/* Holds the value of an entity. Null if the entity has none or is dead, or the type isn't in REEF_SHARED. Takes a const
 * world, as reading does. */
REEF_API reef_pinned reef_pin_id(const reef_world *world, reef_entity entity, reef_component type);
/* Releases the value. It may be called on any thread, also after the world was freed; so the destroy hook may run on
 * any thread, and the world's allocator is called there. Null does nothing. */
REEF_API void reef_unpin(reef_pinned pin);
/* The type of the value; {0} for null. Any thread. */
REEF_API reef_component reef_pin_type(reef_pinned pin);
/* Gives an entity the value of a pin: ADDED or OK as reef_share. The world must be the one that the value comes from,
 * or a fork of the same origin. If it isn't the value's own world, neither world writes the value in place from then
 * on; the caller must make sure that the other world doesn't write it during this call. Errors: BAD_ARGUMENT (null),
 * NOT_ALIVE, OTHER_WORLD (the world isn't related to the value's), NOT_COPYABLE (from another world, and there is no
 * copy hook), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_attach(reef_world *world, reef_entity entity, reef_pinned pin);

REEF_END_C

/* By the C name of a type. */
#define reef_share(world, from, to, T) reef_share_id(world, from, to, reef_id(T))
#define reef_pin(world, entity, T) reef_pin_id(world, entity, reef_id(T))
/* The value of a pin, for reading. The pointer lives as long as the pin. While another thread reads the value, no world
 * may write it. */
#define reef_pin_get(pin, T) REEF_CAST(const T *, (pin).value)

#endif
