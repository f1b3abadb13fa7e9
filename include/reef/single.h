/* Singletons: what a world has one of.
 *
 *     reef_single_set(w, Gravity, 0, -9.81f);
 *     reef_single_mut(w, Gravity)->y *= 2;
 *     const Gravity *g = reef_single_get(w, Gravity);        NULL: there is none
 *
 * A singleton of a type is that component of one entity, which the world makes with the first singleton: an ordinary
 * entity with an ordinary id. So hooks, fields, queries, snapshots, forks, the hash and printing know singletons
 * without a word more, and the entity counts where entities are counted. When it is destroyed (reef_destroy,
 * reef_world_clear ...) all singletons are gone, and the next one makes another. Which entity it is belongs to the
 * state.
 *
 * In a system, singletons are others' components: `reads Gravity` allows reef_single_get(block->world, Gravity),
 * `writes Gravity` reef_single_mut, and reef_single_set of one that is there. */
#ifndef REEF_SINGLE_H
#define REEF_SINGLE_H

#include "component.h"

REEF_BEGIN_C

/* Adds or replaces: ADDED or OK. Errors: as reef_set; LIMIT when the entity can't be made. In a loop that defers the
 * making, and the adding of what isn't there, are recorded: the singleton is there when the loop ends. */
REEF_API reef_status reef_single_set_id(reef_world *world, reef_component type, const void *value, size_t size);
/* NULL: there is none. Takes a const world, and lives as a pointer from reef_get does. */
REEF_API const void *reef_single_get_id(const reef_world *world, reef_component type);
/* The same for writing: marks it as changed. NULL on failure: ABSENT, UNKNOWN_TYPE, NO_MEMORY. */
REEF_API void *reef_single_mut_id(reef_world *world, reef_component type);
/* Is it there? Tags have no data to get. */
REEF_API bool reef_single_has_id(const reef_world *world, reef_component type);
/* The entity stays, also without any singleton. Errors: ABSENT, and as reef_remove. */
REEF_API reef_status reef_single_remove_id(reef_world *world, reef_component type);
/* The entity that has the singletons, for all that the calls above don't do. Null: there is none, as in a new world. */
REEF_API reef_entity reef_single_entity(const reef_world *world);

REEF_END_C

/* By the C name of a type; reef_single_set(w, Gravity, 0, -9.81f) takes the value written out. */
#define reef_single_get(world, T) ((const T *)reef_single_get_id(world, reef_id(T)))
#define reef_single_mut(world, T) ((T *)reef_single_mut_id(world, reef_id(T)))
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
