/* Enabling and disabling components and entities.
 *
 * A disabled component stays where it is, with its value, and get, mut, set and has treat it like any other. Only
 * queries skip it, unless they ask for it, and reef_is_enabled tells. A component stays disabled when its value is
 * replaced; removing it and adding it again gives an enabled one. A whole entity can be disabled too, and stays so when
 * it loses all its components. What is disabled in an entity is also disabled in its clones. Enabling and disabling
 * cost about as much as turning a switch; nothing moves.
 *
 *     reef_disable(w, fish, Velocity);        one component
 *     reef_disable(w, fish);                  the whole entity
 *
 * A relation that is disabled still holds, for all calls about single entities (reef/relation.h, reef/hierarchy.h). No
 * query follows it, in whatever way: it ends each way that would lead over it. */
#ifndef REEF_ENABLE_H
#define REEF_ENABLE_H

#include "component.h"

REEF_BEGIN_C

/* Enables (`on`) or disables a component, a tag or a switch of an entity, or with type {0} the whole entity. If it is
 * in that state already, the call returns OK, also in an open loop. Errors: NOT_ALIVE, UNKNOWN_TYPE, ABSENT (the entity
 * doesn't have the component), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_enable_id(reef_world *world, reef_entity entity, reef_component type, bool on);
/* Is the entity alive, and does it have the component, enabled? With type {0}: is it alive and enabled as a whole? The
 * two are independent: a component of a disabled entity may be enabled. Takes a const world, as reading does. */
REEF_API bool reef_is_enabled_id(const reef_world *world, reef_entity entity, reef_component type) REEF_PURE;

REEF_INLINE reef_component reef_null_component_(void)
{
    reef_component none = {0};
    return none;
}

/* A type that isn't known here has no id, and mustn't stand for the whole entity. */
REEF_INLINE reef_status reef_enable_decl(reef_world *world, reef_entity entity, reef_type_decl *decl, bool on)
{
    reef_component c = reef_id_with(world, decl);
    if (REEF_UNLIKELY(c.id == 0)) c.id = UINT32_MAX;
    return reef_enable_id(world, entity, c, on);
}

/* By the C name of a type, or without one for the whole entity: reef_enable(w, e, Velocity), reef_disable(w, e). */
#define reef_enable(world, ...) \
    REEF_TWO_OR_THREE_(world, __VA_ARGS__, REEF_ENABLE_TYPE_, REEF_ENABLE_ALL_, 0)(true, world, __VA_ARGS__)
#define reef_disable(world, ...) \
    REEF_TWO_OR_THREE_(world, __VA_ARGS__, REEF_ENABLE_TYPE_, REEF_ENABLE_ALL_, 0)(false, world, __VA_ARGS__)
#define reef_is_enabled(world, ...) \
    REEF_TWO_OR_THREE_(world, __VA_ARGS__, REEF_IS_ENABLED_TYPE_, REEF_IS_ENABLED_ALL_, 0)(world, __VA_ARGS__)
#define REEF_ENABLE_TYPE_(on, world, entity, T) \
    reef_enable_decl(world, entity, &reef_declared_by_REEF_COMPONENT_##T, on)
#define REEF_ENABLE_ALL_(on, world, entity) reef_enable_id(world, entity, reef_null_component_(), on)
#define REEF_IS_ENABLED_TYPE_(world, entity, T) reef_is_enabled_id(world, entity, reef_id(T))
#define REEF_IS_ENABLED_ALL_(world, entity) reef_is_enabled_id(world, entity, reef_null_component_())

REEF_END_C

#endif
