/* Enabling and disabling components and entities.
 *
 * A disabled component stays where it is, value and all: get, mut, set and has don't notice. Only queries do, which
 * skip it unless they ask for it, and those who ask here. The mark goes with the component, and stays when the value
 * is replaced. A whole entity can be disabled as well; that mark stays when all its components go, and goes with the
 * entity. Clones have the marks of their source. Costs about as much as turning a switch; nothing moves. */
#ifndef REEF_ENABLE_H
#define REEF_ENABLE_H

#include "entity.h"

REEF_BEGIN_C

/* Enables (`on`) or disables a component, a tag or a switch of an entity, with type {0} the whole entity. What is so
 * already stays so: OK, in an open loop as well. Errors: NOT_ALIVE, UNKNOWN_TYPE, ABSENT (the entity hasn't got the
 * component), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_enable_id(reef_world *world, reef_entity entity, reef_component type, bool on);
/* Is the entity alive, has it the component, and isn't that disabled? With type {0}: is it alive and not disabled as
 * a whole? Each of the two marks is asked for alone. Takes a const world, as reading does. */
REEF_API bool reef_is_enabled_id(const reef_world *world, reef_entity entity, reef_component type) REEF_PURE;

REEF_INLINE reef_component reef_null_component_(void)
{
    reef_component none = {0};
    return none;
}

/* By the C name of a type. */
#define reef_enable(world, entity, T) reef_enable_id(world, entity, reef_id(T), true)
#define reef_disable(world, entity, T) reef_enable_id(world, entity, reef_id(T), false)
#define reef_is_enabled(world, entity, T) reef_is_enabled_id(world, entity, reef_id(T))
#define reef_enable_entity(world, entity) reef_enable_id(world, entity, reef_null_component_(), true)
#define reef_disable_entity(world, entity) reef_enable_id(world, entity, reef_null_component_(), false)
#define reef_is_enabled_entity(world, entity) reef_is_enabled_id(world, entity, reef_null_component_())

REEF_END_C

#endif
