/* Components of entities: adding, setting, removing, reading, enabling.
 *
 *     reef_set(w, fish, Position, 3, 4);              adds or replaces
 *     const Position *p = reef_get(w, fish, Position);
 *     reef_mut(w, fish, Position)->x += 1;
 *
 * Each typed macro calls a function that takes a component's id, for tools and other languages. Every call that changes
 * an entity can fail with NOT_ALIVE, UNKNOWN_TYPE, LOCKED (a loop is open) or NO_MEMORY; the comment of a call names
 * its further errors. After an error everything is as it was. */
#ifndef REEF_COMPONENT_H
#define REEF_COMPONENT_H

#include "entity.h"

REEF_BEGIN_C

/* ---- changing ---- */

/* Adds a component, which is zeroed or constructed. `args` is passed to the constructor. `out`, if not NULL, gets the
 * new component (NULL: it is a tag, or has a unique field). Errors: EXISTS. */
REEF_API reef_status reef_add_id(reef_world *world, reef_entity entity, reef_component type, const void *args,
                                 void **out);
/* Adds or replaces: ADDED or OK. The value is copied; the value of a type that can't be copied is moved out of `value`.
 * Errors: WRONG_SIZE. */
REEF_API reef_status reef_set_id(reef_world *world, reef_entity entity, reef_component type, const void *value,
                                 size_t size);
/* Returns the component for writing. If the entity doesn't have it, it is added first, zeroed or constructed with
 * `args`. NULL on failure and for tags. */
REEF_API void *reef_ensure_id(reef_world *world, reef_entity entity, reef_component type, const void *args);
/* Removes a component. Errors: ABSENT. */
REEF_API reef_status reef_remove_id(reef_world *world, reef_entity entity, reef_component type);
/* Removes all components; the entity lives on, and keeps its name. */
REEF_API reef_status reef_remove_all(reef_world *world, reef_entity entity);
/* Changes several components at once; the entity moves once. Components that are there are replaced, missing ones are
 * added, and those with REEF_VALUE_REMOVE are removed (it is no error if one of these is absent). A component named
 * twice is DUPLICATE_TERM. */
REEF_API reef_status reef_change_values(reef_world *world, reef_entity entity, const reef_value *values,
                                        uint32_t count);

/* ---- reading: these take a const world and may run on several threads ---- */

/* Does the handle name a living entity of this world? */
REEF_API bool reef_is_alive(const reef_world *world, reef_entity entity) REEF_PURE;
/* Does the entity have the component, disabled or not? For the base of subtypes: does it have the base or one of them?
 * False if the entity isn't alive. */
REEF_API bool reef_has_id(const reef_world *world, reef_entity entity, reef_component type) REEF_PURE;
/* The component, for reading. NULL if the entity isn't alive or doesn't have it, and for tags, which have no data. */
REEF_API const void *reef_get_id(const reef_world *world, reef_entity entity, reef_component type) REEF_PURE;
/* The same for writing: marks the block as changed. NULL on failure: NOT_ALIVE, UNKNOWN_TYPE, ABSENT, NO_MEMORY. */
REEF_API void *reef_mut_id(reef_world *world, reef_entity entity, reef_component type);
/* Number of entities that have the component, disabled or not. */
REEF_API uint64_t reef_count_id(const reef_world *world, reef_component type);
/* Number of living entities. */
REEF_API uint64_t reef_count_alive(const reef_world *world);

/* ---- typed macros ---- */

/* reef_change(w, e, reef_with(Position, 1, 2), reef_without(Velocity)): all of it in one move. */
#define reef_change(world, entity, ...) reef_change_values(world, entity, REEF_VALUES_(__VA_ARGS__))
/* These take the C name of a type. reef_ensure returns a T *. */
#define reef_ensure(world, entity, T) REEF_CAST(T *, reef_ensure_id(world, entity, reef_id(T), NULL))
#define reef_count(world, T) reef_count_id(world, reef_id(T))

/* reef_get_id, reef_mut_id and reef_has_id by the C name of a type. They return a const T *, a T * and a bool. */
#define reef_get(world, entity, T) \
    REEF_CAST(const T *, \
              REEF_STORED_(T) \
                  ? reef_get_stored(world, entity, &reef_declared_by_REEF_COMPONENT_##T, sizeof(T), \
                                    REEF_CAST(int, reef_home_by_REEF_COMPONENT_##T) == REEF_CAST(int, REEF_PAGED)) \
              : REEF_CAST(int, reef_home_by_REEF_COMPONENT_##T) == REEF_CAST(int, REEF_TABLE) \
                  ? reef_get_decl(world, entity, &reef_declared_by_REEF_COMPONENT_##T, sizeof(T)) \
                  : reef_get_slow_(world, entity, &reef_declared_by_REEF_COMPONENT_##T))
#define reef_mut(world, entity, T) \
    REEF_CAST(T *, REEF_STORED_(T) ? reef_mut_stored(world, entity, &reef_declared_by_REEF_COMPONENT_##T, sizeof(T), \
                                                     REEF_CAST(int, reef_home_by_REEF_COMPONENT_##T) == \
                                                         REEF_CAST(int, REEF_PAGED)) \
                                   : reef_mut_decl(world, entity, &reef_declared_by_REEF_COMPONENT_##T, sizeof(T)))
#define reef_has(world, entity, T) \
    REEF_TRUTH((REEF_CAST(int, reef_home_by_REEF_COMPONENT_##T) == REEF_CAST(int, REEF_TABLE) \
                    ? reef_has_decl(world, entity, &reef_declared_by_REEF_COMPONENT_##T) \
                    : reef_has_slow_(world, entity, &reef_declared_by_REEF_COMPONENT_##T)))

/* reef_set_id by the C name of a type. (C++ has no compound literals, so a template takes the value there.) */
#ifndef __cplusplus
#define reef_set(world, entity, T, ...) \
    reef_set_decl(world, entity, &reef_declared_by_REEF_COMPONENT_##T, &(const T){__VA_ARGS__}, sizeof(T), \
                  REEF_STORED_(T))
#else
#define reef_set(world, entity, T, ...) \
    reef_set_value<T>(world, entity, &reef_declared_by_REEF_COMPONENT_##T, T{__VA_ARGS__}, REEF_STORED_(T))
#endif
/* reef_add_id without args: adds the component, zeroed or as its constructor makes it; for a type in REEF_MULTI it adds
 * one more value. Returns OK; EXISTS if the entity has the component, which stays as it is; NOT_ALIVE, UNKNOWN_TYPE,
 * LOCKED, LIMIT (REEF_MULTI), NO_MEMORY, and what the constructor returns. */
#define reef_add(world, entity, T) reef_add_decl(world, entity, &reef_declared_by_REEF_COMPONENT_##T, NULL)
/* reef_remove_id: removes the component, and for a type in REEF_MULTI all its values. The value is destroyed, the
 * entity lives on. Returns OK; ABSENT if the entity doesn't have the component; NOT_ALIVE, UNKNOWN_TYPE, LOCKED,
 * NO_MEMORY. */
#define reef_remove(world, entity, T) reef_remove_decl(world, entity, &reef_declared_by_REEF_COMPONENT_##T)

REEF_END_C

/* reef_get, reef_mut and reef_has are inlined, and of reef_add, reef_set and reef_remove the half that finds the id. */
#include "detail/access.h"

#endif
