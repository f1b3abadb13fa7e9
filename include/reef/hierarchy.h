/* Hierarchies: entities that are parts of others.
 *
 *     reef_relate(w, turret, ChildOf, ship);                 the turret is a child of the ship
 *     reef_relate(w, barrel, ChildOf, turret);
 *     reef_parent(w, barrel)                                 the turret
 *     for (reef_sources s = reef_sources_of(w, ship, ChildOf); reef_sources_next(&s);)
 *         for (uint32_t i = 0; i < s.count; i++) ...         the ship's children, in their order
 *     reef_relate_before(w, mast, ChildOf, ship, turret);    a child in front of another one, also to move it there
 *     reef_relate(w, turret, ChildOf, dock);                 another parent; all that is below the turret comes along
 *     reef_unrelate(w, turret, ChildOf, dock);               no parent
 *     reef_destroy(w, ship);                                 with all that is below it
 *
 * ChildOf is a type of relations that is always there (reef/relation.h). An entity has one parent at most; its children
 * have an order; what would make an entity a part of itself is refused with CYCLE; and whoever loses its parent by
 * reef_destroy is destroyed, too. */
#ifndef REEF_HIERARCHY_H
#define REEF_HIERARCHY_H

#include "relation.h"

REEF_BEGIN_C

/* Its source is a child of its target. */
REEF_RELATION(ChildOf, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE);

REEF_END_C

/* The parent of an entity. Null: it has none, or isn't alive. */
#define reef_parent(world, entity) reef_target_id(world, entity, reef_id(ChildOf))

#endif
