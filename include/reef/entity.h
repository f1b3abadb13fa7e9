/* Entities: making, changing, reading, destroying.
 *
 * Every typed macro calls a plain function that takes component ids, for tools and other languages:
 *
 *     reef_entity fish = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Velocity, 1, 2), reef_tag(Hungry));
 *     reef_set(w, fish, Position, 3, 4);              adds or replaces
 *     const Position *p = reef_get(w, fish, Position);
 *     reef_mut(w, fish, Position)->x += 1;
 *     reef_change(w, fish, reef_with(Dead, 7), reef_without(Velocity), reef_without(Hungry));     one move
 *     reef_destroy(w, fish);
 *
 * There are three ways to give an entity a component. `add` makes a zeroed or constructed value, and refuses if the
 * component is there (EXISTS). `set` takes a value, and adds or replaces (ADDED or OK). `ensure` returns the value that
 * is there, or makes it.
 *
 * Every call that changes an entity can fail with NOT_ALIVE, UNKNOWN_TYPE, LOCKED (a loop is open) or NO_MEMORY; the
 * comment of a call names its further errors. After an error everything is as it was. */
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
/* Makes `n` entities with the same components. Their handles are written to `entities`, which has room for n or is
 * NULL. Either all are made or none; on failure each of `entities` is as it was or null. */
REEF_API reef_status reef_spawn_many_values(reef_world *world, uint32_t n, reef_entity *entities,
                                            const reef_value *values, uint32_t count);
/* Makes a copy of `source` with all its components, but without its name. Null on failure; further errors:
 * NOT_COPYABLE, LIMIT. */
REEF_API reef_entity reef_clone(reef_world *world, reef_entity source);
/* Makes an entity without components. Null on failure: LIMIT, NO_MEMORY, LOCKED. */
REEF_API reef_entity reef_create_entity(reef_world *world);

/* ---- destroying ---- */

/* Destroys an entity with all its components; destroy hooks run. Its handle is dead from then on, and its index may be
 * used again with another generation. Relations to it end, and their sources may be destroyed with it, or it is REFUSED
 * (reef/relation.h). */
REEF_API reef_status reef_destroy(reef_world *world, reef_entity entity);

/* Makes an entity without components. Null on failure: LIMIT, NO_MEMORY, LOCKED. */
REEF_INLINE reef_entity reef_create(reef_world *world)
{
    reef_hot *h = REEF_RECAST(reef_hot *, world);
    const uint32_t index = h->index_count;
    if (REEF_UNLIKELY(index >= h->fresh_end)) return reef_create_entity(world);
    h->index_count = index + 1;
    h->empty_count++;
    h->fresh_page[index & ((1u << REEF_RECORD_BITS) - 1)] = REEF_CAST(uint64_t, 1) << 32 | 1u << REEF_ROW_BITS;
    return reef_unpacked(REEF_CAST(uint64_t, 1) << 32 | index);
}

/* ---- typed macros ---- */

/* reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Hungry)) makes an entity with these components; null on failure. */
#define reef_spawn(world, ...) reef_spawn_values(world, REEF_VALUES_(__VA_ARGS__))
/* reef_spawn_many(w, n, ids, reef_array(Position, positions), reef_with(Velocity, 1, 2)) */
#define reef_spawn_many(world, n, entities, ...) reef_spawn_many_values(world, n, entities, REEF_VALUES_(__VA_ARGS__))

REEF_END_C

#endif
