/* Handles: how a program names entities, component types and worlds.
 *
 * A handle is a small struct, passed by value. Each kind of handle is a type of its own, so the compiler refuses one in
 * the place of another. {0} is null. */
#ifndef REEF_HANDLE_H
#define REEF_HANDLE_H

#include "status.h"

REEF_BEGIN_C

/* An entity. {0} is null and never alive. After the entity's death another entity may get the same `index`, with
 * another `generation`. A handle doesn't know its world: another world refuses it unless an entity there has the same
 * index and generation. */
typedef struct reef_entity {
    uint32_t index;
    uint32_t generation; /* 1 ... 2^32-1 */
} reef_entity;

/* A component type. {0} is none. An id is valid in the whole process until it ends. Ids depend on the order in which
 * types are first used, so nothing that reef shows, sorts, hashes or saves depends on them. */
typedef struct reef_component {
    uint32_t id;
} reef_component;

/* Are the two handles the same? This makes sense for handles of one world, since a handle doesn't know its world. */
REEF_INLINE bool reef_entity_equal(reef_entity a, reef_entity b)
{
    return a.index == b.index && a.generation == b.generation;
}
/* Is it {0}? A handle that isn't null may be dead: reef_is_alive. */
REEF_INLINE bool reef_entity_is_null(reef_entity e) { return e.generation == 0; }

/* A world: entities, their components and the memory for both (reef/world.h). */
typedef struct reef_world reef_world;

REEF_END_C

#endif
