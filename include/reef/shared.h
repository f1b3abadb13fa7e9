/* Shared components: one value that several entities have in common, and that may be held from outside of the world.
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
 * A value lives as long as somebody holds it: an entity of a world, a fork or a snapshot, or a pin. It ends once,
 * with the last of them, before the call returns that let it go.
 *
 *     reef_set, reef_add, reef_spawn, reef_change   give the entity a value of its own; others keep theirs
 *     reef_mut, loops and systems that write        write the value for all entities of this world that have it, and
 *                                                   for pins
 *     reef_get, reef_in                             the value; entities have the same one when the pointers are equal
 *     reef_clone                                    copies have the same value as their source
 *     reef_remove, reef_destroy                     let it go
 *
 * What is in common stays so in snapshots and forks: in each world by itself. A value that a fork or snapshot has as
 * well is copied before a world writes it (by the copy hook), and all entities of this world that had it have the
 * copy; so others never see the write, and a pin made before keeps the value that it had. Worlds without forks and
 * snapshots write in place. reef_hash, reef_equal and reef_print know the values and who has one in common with
 * whom.
 *
 * A value stays where it is when rows move, and while the world writes in place. Loops visit it under each entity,
 * one row a block. A system that writes a shared type runs in one job. Types with on_fork or track_rows can't be
 * shared (BAD_ARGUMENT). */
#ifndef REEF_SHARED_PUBLIC_H
#define REEF_SHARED_PUBLIC_H

#include "component.h"

REEF_BEGIN_C

/* A holder outside of worlds; {0} holds nothing. Each that reef_pin gives is given to reef_unpin once. */
typedef struct reef_pinned {
    const void *value;
} reef_pinned;
REEF_INLINE bool reef_pin_is_null(reef_pinned pin) { return pin.value == NULL; }

/* Gives `to` the value that `from` has: ADDED, or OK where it had another one, which it lets go. Errors: NOT_ALIVE,
 * UNKNOWN_TYPE, ABSENT (`from` has none), BAD_ARGUMENT (the type isn't in REEF_SHARED), LOCKED (in open loops; what
 * defers too), NO_MEMORY. */
REEF_API reef_status reef_share_id(reef_world *world, reef_entity from, reef_entity to, reef_component type);
/* Holds the value of an entity. Null: it has none, is dead, or the type isn't in REEF_SHARED. Takes a const world,
 * as reading does. */
REEF_API reef_pinned reef_pin_id(const reef_world *world, reef_entity entity, reef_component type);
/* Lets it go. Any thread, also when the world is gone; so the destroy hook may run on any thread, and the memory
 * goes back to the world's allocator there. Null does nothing. */
REEF_API void reef_unpin(reef_pinned pin);
/* The type of the value, {0} of null. Any thread. */
REEF_API reef_component reef_pin_type(reef_pinned pin);
/* Gives an entity of the world, or of one of its forks, the value of a pin: ADDED or OK as reef_share. A value that
 * came from another world than this one is written by neither in place from then on: the caller sees to it that the
 * other doesn't write it at that moment. Errors: BAD_ARGUMENT (null), NOT_ALIVE, OTHER_WORLD (no fork of the world
 * that the value is from), NOT_COPYABLE (from another world, without a copy hook), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_attach(reef_world *world, reef_entity entity, reef_pinned pin);

REEF_END_C

/* By the C name of a type. */
#define reef_share(world, from, to, T) reef_share_id(world, from, to, reef_id(T))
#define reef_pin(world, entity, T) reef_pin_id(world, entity, reef_id(T))
/* The value, for reading; lives as long as the pin. Whoever reads it on another thread sees to it that no world
 * writes it meanwhile. */
#define reef_pin_get(pin, T) ((const T *)(pin).value)

#endif
