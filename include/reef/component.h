/* Components of entities: adding, setting, removing, reading, enabling.
 *
 *     reef_set(w, fish, Position, 3, 4);              adds or replaces
 *     const Position *p = reef_get(w, fish, Position);
 *     reef_mut(w, fish, Position)->x += 1;
 *
 * Each typed macro stands over a function that takes a component's id, for tools and other languages. Errors of every
 * call that changes an entity: NOT_ALIVE, UNKNOWN_TYPE, LOCKED (a loop is open), NO_MEMORY; further ones stand beside
 * the call. After an error everything is as it was. */
#ifndef REEF_COMPONENT_H
#define REEF_COMPONENT_H

#include "entity.h"

REEF_BEGIN_C

/* ---- changing ---- */

/* Adds a zero or constructed component. `args` go to the constructor. `out`, if not NULL, gets the new component (for a
 * tag: NULL). Errors: EXISTS. */
REEF_API reef_status reef_add_id(reef_world *world, reef_entity entity, reef_component type, const void *args,
                                 void **out);
/* Adds or replaces: ADDED or OK. The value is copied; a type without copy is moved out of `value`. Errors:
 * WRONG_SIZE. */
REEF_API reef_status reef_set_id(reef_world *world, reef_entity entity, reef_component type, const void *value,
                                 size_t size);
/* The same, quicker for types outside of tables: reef_set takes it for them. */
REEF_API reef_status reef_set_stored(reef_world *world, reef_entity entity, reef_component type, const void *value,
                                     size_t size);
/* The component that is there, or a new one (zero or constructed with `args`). NULL on failure and for tags. */
REEF_API void *reef_ensure_id(reef_world *world, reef_entity entity, reef_component type, const void *args);
/* Errors: ABSENT. */
REEF_API reef_status reef_remove_id(reef_world *world, reef_entity entity, reef_component type);
/* Removes all components; the entity lives on, and keeps its name. */
REEF_API reef_status reef_remove_all(reef_world *world, reef_entity entity);
/* Several at once in one move: values that are there are replaced, missing ones added, REEF_VALUE_REMOVE ones taken
 * away (those that are absent are no error here). A component named twice is DUPLICATE_TERM. */
REEF_API reef_status reef_change_values(reef_world *world, reef_entity entity, const reef_value *values,
                                        uint32_t count);

/* ---- reading: these take a const world and may run on several threads ---- */

/* Is the handle that of a living entity of this world? */
REEF_API bool reef_is_alive(const reef_world *world, reef_entity entity) REEF_PURE;
/* Has the entity the component, disabled or not? Of the base of subtypes: it or one of them. False if the entity
 * isn't alive. */
REEF_API bool reef_has_id(const reef_world *world, reef_entity entity, reef_component type) REEF_PURE;
/* The component, or NULL if the entity isn't alive or hasn't got it. Tags have no data: NULL. */
REEF_API const void *reef_get_id(const reef_world *world, reef_entity entity, reef_component type) REEF_PURE;
/* The same for writing: marks the block as changed. NULL on failure: NOT_ALIVE, UNKNOWN_TYPE, ABSENT, NO_MEMORY. */
REEF_API void *reef_mut_id(reef_world *world, reef_entity entity, reef_component type);
/* Number of entities that have the component. */
REEF_API uint64_t reef_count_id(const reef_world *world, reef_component type);
/* The living entity of an index, null if there is none. */
REEF_API reef_entity reef_entity_at(const reef_world *world, uint32_t index);
/* Number of living entities. */
REEF_API uint64_t reef_count_alive(const reef_world *world);

/* Copies the value of a component out, whichever home it has, also one that is split by field (whose struct lies
 * nowhere, so that reef_get is NULL). False, and nothing is written: the entity hasn't got it or isn't alive, `size`
 * isn't that of the type, or the type has hooks that copy or destroy. */
REEF_API bool reef_read_id(const reef_world *world, reef_entity entity, reef_component type, void *out, size_t size);

/* ---- many at random: faster than one by one, since memory is fetched ahead ---- */

/* Copies the components of n entities to `out`, `size` bytes each. Entities that are dead or haven't got it leave their
 * place in `out` as it was. Returns how many were copied. Types with a copy hook: 0. */
REEF_API uint32_t reef_get_many_id(const reef_world *world, reef_component type, const reef_entity *entities,
                                   uint32_t n, void *out, size_t size);
/* Replaces the components of n entities, in the array's order, by the values in `in`. Entities that are dead or haven't
 * got it are skipped. Returns how many were written; fewer than possible when memory ran out (see reef_last_error). */
REEF_API uint32_t reef_write_many_id(reef_world *world, reef_component type, const reef_entity *entities, uint32_t n,
                                     const void *in, size_t size);

/* ---- the typed words ---- */

/* reef_change(w, e, reef_with(Position, 1, 2), reef_without(Velocity)): all of it in one move. */
#define reef_change(world, entity, ...) reef_change_values(world, entity, REEF_VALUES_(__VA_ARGS__))
/* By the C name of a type, with the status of the function: reef_add_with hands args to the constructor; reef_ensure
 * gives a T *; reef_read and the two of many entities take pointers to T. */
#define reef_add_with(world, entity, T, args) reef_add_id(world, entity, reef_id(T), args, NULL)
#define reef_ensure(world, entity, T) ((T *)reef_ensure_id(world, entity, reef_id(T), NULL))
#define reef_count(world, T) reef_count_id(world, reef_id(T))
#define reef_clear_all(world, T) reef_clear_type(world, reef_id(T), NULL)
#define reef_read(world, entity, T, out) reef_read_id(world, entity, reef_id(T), REEF_CHECK_MUTABLE_(T, out), sizeof(T))
#define reef_get_many(world, T, entities, n, out) \
    reef_get_many_id(world, reef_id(T), entities, n, REEF_CHECK_MUTABLE_(T, out), sizeof(T))
#define reef_write_many(world, T, entities, n, in) \
    reef_write_many_id(world, reef_id(T), entities, n, REEF_CHECK_POINTER_(T, in), sizeof(T))

/* reef_get_id, reef_mut_id and reef_has_id by the C name of a type, as a const T *, a T * and a bool. */
#define reef_get(world, entity, T) \
    ((const T *)(REEF_STORED_(T) ? reef_get_stored(world, entity, reef_decl_of_##T(), sizeof(T), \
                                                   (int)reef_home_of_##T == (int)REEF_PAGED) \
                                 : reef_get_decl(world, entity, reef_decl_of_##T(), sizeof(T))))
#define reef_mut(world, entity, T) \
    ((T *)(REEF_STORED_(T) ? reef_mut_stored(world, entity, reef_decl_of_##T(), sizeof(T), \
                                             (int)reef_home_of_##T == (int)REEF_PAGED) \
                           : reef_mut_decl(world, entity, reef_decl_of_##T(), sizeof(T))))
#define reef_has(world, entity, T) reef_has_decl(world, entity, reef_decl_of_##T())

/* reef_set_id, reef_add_id and reef_remove_id by the C name of a type. (The value in C++: a template, since it has no
 * compound literals.) */
#ifndef __cplusplus
#define reef_set(world, entity, T, ...) \
    (REEF_STORED_(T) ? reef_set_stored(world, entity, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T)) \
                     : reef_set_id(world, entity, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T)))
#else
REEF_END_C
template <class T, bool stored>
static inline reef_status reef_set_value(reef_world *w, reef_entity e, reef_component c, const T &value)
{
    if constexpr (stored) return reef_set_stored(w, e, c, &value, sizeof(T));
    else return reef_set_id(w, e, c, &value, sizeof(T));
}
REEF_BEGIN_C
#define reef_set(world, entity, T, ...) reef_set_value<T, REEF_STORED_(T)>(world, entity, reef_id(T), T{__VA_ARGS__})
#endif
/* reef_add_id without args: gives the entity the component, zero or as its constructor makes it; of REEF_MULTI one
 * value more. OK; EXISTS where the entity has it, and it stays as it is; NOT_ALIVE, UNKNOWN_TYPE, LOCKED, LIMIT
 * (REEF_MULTI), NO_MEMORY, and what the constructor answered. */
#define reef_add(world, entity, T) reef_add_id(world, entity, reef_id(T), NULL, NULL)
/* reef_remove_id: takes the component away, of REEF_MULTI all its values; the value ends, the entity lives on. OK;
 * ABSENT where the entity hasn't got it; NOT_ALIVE, UNKNOWN_TYPE, LOCKED, NO_MEMORY. */
#define reef_remove(world, entity, T) reef_remove_id(world, entity, reef_id(T))

REEF_END_C

/* reef_get, reef_mut and reef_has are inlined. */
#include "detail/access.h"

#endif
