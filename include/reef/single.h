/* Singletons: components of which a world has one.
 *
 *     reef_single_set(w, Gravity, 0, -9.81f);
 *     reef_single_mut(w, Gravity)->y *= 2;
 *     const Gravity *g = reef_single_get(w, Gravity);        NULL: there is none
 *
 * All singletons are components of one entity, which the world makes with the first singleton. It is an ordinary entity
 * with an ordinary id, so hooks, fields, queries, snapshots, forks, the hash and printing work for singletons as for
 * other components, and the entity is included where entities are counted. When it is destroyed (reef_destroy,
 * reef_world_clear ...) all singletons are gone, and the next one makes a new entity. Which entity it is belongs to the
 * state.
 *
 * A system must declare the singletons that it uses: `reads Gravity` allows reef_single_get(block->world, Gravity),
 * `writes Gravity` allows reef_single_mut, and reef_single_set of a singleton that is there. */
#ifndef REEF_SINGLE_H
#define REEF_SINGLE_H

#include "component.h"

REEF_BEGIN_C

/* Adds or replaces: ADDED or OK. Errors: as reef_set; LIMIT when the entity can't be made. In a loop with deferred
 * changes, making the entity and adding a singleton are recorded: the singleton is there when the loop has ended. */
REEF_API reef_status reef_single_set_id(reef_world *world, reef_component type, const void *value, size_t size);
/* The singleton, for reading; NULL: there is none. Takes a const world. The pointer lives as long as one from
 * reef_get. */
REEF_API const void *reef_single_get_id(const reef_world *world, reef_component type);
/* The same for writing: marks it as changed. NULL on failure: ABSENT, UNKNOWN_TYPE, NO_MEMORY. */
REEF_API void *reef_single_mut_id(reef_world *world, reef_component type);
/* Is there a singleton of this type? It may be a tag. */
REEF_API bool reef_single_has_id(const reef_world *world, reef_component type);
/* Removes a singleton. The entity stays, even without any singletons. Errors: ABSENT, and as reef_remove. */
REEF_API reef_status reef_single_remove_id(reef_world *world, reef_component type);

REEF_END_C

/* By the C name of a type; reef_single_set(w, Gravity, 0, -9.81f) takes the members of the value. */
#define reef_single_get(world, T) REEF_CAST(const T *, reef_single_get_id(world, reef_id(T)))
#define reef_single_mut(world, T) REEF_CAST(T *, reef_single_mut_id(world, reef_id(T)))
#define reef_single_has(world, T) reef_single_has_id(world, reef_id(T))
#define reef_single_remove(world, T) reef_single_remove_id(world, reef_id(T))
#ifndef __cplusplus
#define reef_single_set(world, T, ...) reef_single_set_id(world, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T))
#else
template <class T> static inline reef_status reef_single_set_value(reef_world *w, reef_component c, const T &value)
{
    return reef_single_set_id(w, c, &value, sizeof(T));
}
#define reef_single_set(world, T, ...) reef_single_set_value<T>(world, reef_id(T), T{__VA_ARGS__})
#endif

#endif
