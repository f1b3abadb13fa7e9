/* Entities: making, changing, reading, destroying.
 *
 * Every typed macro stands over a plain function that takes component ids, for tools and other languages:
 *
 *     reef_entity fish = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 1, 2), reef_tag(Hungry));
 *     reef_set(w, fish, Position, 3, 4);              adds or replaces
 *     const Position *p = reef_get(w, fish, Position);
 *     reef_mut(w, fish, Position)->x += 1;
 *     reef_change(w, fish, reef_with(Dead, 7), reef_without(Velocity), reef_without(Hungry));     one move
 *     reef_destroy(w, fish);
 *
 * Which word when: `add` makes a zero or constructed value and refuses if it is there (EXISTS); `set` takes a value and
 * adds or replaces (ADDED or OK); `ensure` gives the one that is there, or makes it.
 *
 * Errors of every call that changes an entity: NOT_ALIVE, UNKNOWN_TYPE, LOCKED (a loop is open), NO_MEMORY; further
 * ones stand beside the call. After an error everything is as it was. */
#ifndef REEF_ENTITY_H
#define REEF_ENTITY_H

#include "value.h"
#include "world.h"
#include "detail/layout.h"

REEF_BEGIN_C

/* ---- making ---- */

/* Makes an entity with these components in one step. A component named twice is DUPLICATE_TERM. Further errors: LIMIT,
 * WRONG_SIZE, BAD_ARGUMENT. Returns null on failure. */
REEF_API reef_entity reef_spawn_values(reef_world *world, const reef_value *values, uint32_t count);
/* Makes `n` entities with the same set; ids go to `entities` (room for n, NULL: not wanted). All or none; where it
 * fails, `entities` is as it was or null. */
REEF_API reef_status reef_spawn_many_values(reef_world *world, uint32_t n, reef_entity *entities,
                                            const reef_value *values, uint32_t count);
/* Makes `n` copies of `source`: all components, not the name. Further errors: NOT_COPYABLE, LIMIT. All or none, as
 * above. */
REEF_API reef_status reef_clone_many(reef_world *world, reef_entity source, uint32_t n, reef_entity *entities);
/* One copy. Null on failure: the same. */
REEF_API reef_entity reef_clone(reef_world *world, reef_entity source);
/* An entity without components. Null on failure. */
REEF_API reef_entity reef_create_entity(reef_world *world);

/* Takes an id out of circulation without making the entity: for handing out ids ahead. It is not alive until
 * reef_create_as makes it so; reef_release_id puts it back. Null on failure. */
REEF_API reef_entity reef_reserve_id(reef_world *world);
/* Puts a reserved id back; its index is given out again with the next generation. Errors: BAD_ARGUMENT (it isn't
 * reserved), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_release_id(reef_world *world, reef_entity reserved);
/* Makes the entity of a given id, without components: reserved before, or from a file or the network. Errors: EXISTS
 * (the index is alive; its owner keeps everything), BAD_ARGUMENT (null, or a generation that was used up before),
 * LIMIT. Costs O(free ids) when the id wasn't reserved, O(gap) when the index is new. */
REEF_API reef_status reef_create_as(reef_world *world, reef_entity wanted);

/* A prepared set for spawning the same kind of entity many times: the values lie one after the other in the caller's
 * struct or array, at the offsets given. Freed with its world or by reef_bundle_free. NULL on failure. */
typedef struct reef_bundle reef_bundle;
typedef struct reef_bundle_part {
    reef_component component;
    uint32_t offset; /* of the value in the struct given to reef_spawn_bundle */
} reef_bundle_part;
/* Prepares one of these parts, at most REEF_BUNDLE_MAX. The world owns it; `parts` is read during the call only.
 * NULL on failure: UNKNOWN_TYPE, DUPLICATE_TERM, LIMIT, BAD_ARGUMENT, NO_MEMORY. */
REEF_API reef_bundle *reef_bundle_new(reef_world *world, const reef_bundle_part *parts, uint32_t count);
/* Before its world is freed, not after. NULL is allowed. */
REEF_API void reef_bundle_free(reef_bundle *bundle);
/* Makes one entity of the bundle's set with the values in `packed`. Further errors: OTHER_WORLD. Null on failure. */
REEF_API reef_entity reef_spawn_bundle(reef_world *world, const reef_bundle *bundle, const void *packed);

/* ---- destroying ---- */

/* Destroys an entity with all that it has; destroy hooks run. Its handle is dead from then on, its index may be
 * given out again with another generation. */
REEF_API reef_status reef_destroy(reef_world *world, reef_entity entity);
/* Destroys those that are alive, in the array's order; returns how many died. Null and dead ones are skipped.
 * LOCKED: 0. */
REEF_API uint32_t reef_destroy_many(reef_world *world, const reef_entity *entities, uint32_t n);
/* Destroys every entity that has all of these components (an empty list: every entity). `destroyed` may be NULL. */
REEF_API reef_status reef_destroy_with_types(reef_world *world, const reef_component *types, uint32_t count,
                                             uint64_t *destroyed);
/* Takes a component away from every entity that has it. `removed` may be NULL. */
REEF_API reef_status reef_clear_type(reef_world *world, reef_component type, uint64_t *removed);

/* Makes an entity without components. Null on failure: LIMIT, NO_MEMORY, LOCKED. */
REEF_INLINE reef_entity reef_create(reef_world *world)
{
    reef_hot *h = (reef_hot *)world;
    const uint32_t index = h->index_count;
    if (REEF_UNLIKELY(index >= h->fresh_end)) return reef_create_entity(world);
    h->index_count = index + 1;
    h->empty_count++;
    h->fresh_page[index & ((1u << REEF_RECORD_BITS) - 1)] = (uint64_t)1 << 32 | 1u << REEF_ROW_BITS;
    return reef_unpacked((uint64_t)1 << 32 | index);
}

/* ---- the typed words ---- */

/* reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Hungry)): an entity with these, null on failure. */
#define reef_spawn(world, ...) reef_spawn_values(world, REEF_VALUES_(__VA_ARGS__))
/* reef_spawn_many(w, n, ids, reef_array(Position, positions), reef_with(Velocity, 1, 2)) */
#define reef_spawn_many(world, n, entities, ...) reef_spawn_many_values(world, n, entities, REEF_VALUES_(__VA_ARGS__))
/* reef_destroy_with(w, reef_id(Enemy), reef_id(Dead)) */
#define reef_destroy_with(world, ...) reef_destroy_with_types(world, REEF_TYPES_(__VA_ARGS__), NULL)

REEF_END_C

#endif
