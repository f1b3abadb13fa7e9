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
 * reef_destroy is destroyed, too. A name is unique among the children of one parent, and paths of names go over ChildOf
 * (reef/world.h). Depth is a matter of memory alone: nothing here recurses.
 *
 * The calls below take any type of relations that is both exclusive and acyclic. For others they find nothing. They
 * follow a relation that is disabled (reef/enable.h) as any other; only queries don't. Reading takes a const world, and
 * any number of threads may do it at the same time. */
#ifndef REEF_HIERARCHY_H
#define REEF_HIERARCHY_H

#include "relation.h"

REEF_BEGIN_C

/* Its source is a child of its target. Relating is also refused with NAME_TAKEN (the parent has another child of that
 * name) and BAD_TEXT (the name has a dot), and reef_unrelate with NAME_TAKEN (another entity without a parent has the
 * name). Where something else takes the parent away, a name that is taken is lost. */
REEF_RELATION_BUILT_IN_(ChildOf, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_CASCADE);

/* ---- up ---- O(generations) */

/* Number of ancestors; 0 also for a dead entity. */
REEF_API uint32_t reef_depth_id(const reef_world *world, reef_entity entity, reef_component relation);
/* The ancestor that has no parent; the entity itself if it has none. Null for a dead entity. */
REEF_API reef_entity reef_root_id(const reef_world *world, reef_entity entity, reef_component relation);
/* Is the first one an ancestor of the second one? (An entity isn't its own.) */
REEF_API bool reef_is_above_id(const reef_world *world, reef_entity ancestor, reef_entity entity,
                               reef_component relation);
/* The nearest entity that is or has below it both of these. Null: there is none. */
REEF_API reef_entity reef_common_ancestor_id(const reef_world *world, reef_entity a, reef_entity b,
                                             reef_component relation);

/* ---- down ---- */

/* A walk over an entity and all that is below it, depth-first: each entity before its children, and these in their
 * order.
 *
 *     for (reef_walk x = reef_walk_from(w, ship, ChildOf); reef_walk_next(&x);)
 *         printf("%*s%s\n", 2 * (int)x.depth, "", reef_name(w, x.entity));
 *
 * The world may change between two steps. The walk goes on from the entity where it is; it ends early if that one was
 * destroyed or isn't below the root any more. A walk needs no memory and no end. */
typedef struct reef_walk {
    reef_entity entity; /* where the walk is */
    uint32_t depth;     /* below the root, which has 0 */
    bool leaving;       /* all that is below this entity was visited; only with `leaves` */
    bool leaves;        /* set it before the first step: each entity comes a second time, behind all that is below it */
    bool skip;          /* set it at an entity: nothing below it is visited. The next step clears it */
    bool begun;         /* this and the following members are internal */
    const reef_world *world;
    reef_entity root;
    reef_component relation;
} reef_walk;
REEF_API reef_walk reef_walk_from_id(const reef_world *world, reef_entity root, reef_component relation);
/* The next entity. False: there is none. */
REEF_API bool reef_walk_next(reef_walk *walk);
/* Writes all that is below an entity, level by level (breadth-first): the children in their order, then their children,
 * and so on. Returns how many there are; more than `room` aren't written. `entities` may be NULL. O(answer). */
REEF_API uint64_t reef_descendants_id(const reef_world *world, reef_entity root, reef_component relation,
                                      reef_entity *entities, uint64_t room);

/* As reef_find, below an ancestor: reef_find_below(w, ship, "turret.barrel"). With a null ancestor it is reef_find. */
REEF_API reef_entity reef_find_below(const reef_world *world, reef_entity ancestor, const char *path);
/* Writes the path of an entity. As snprintf, it writes at most `size` bytes with the zero, and returns the whole path's
 * length. 0: the entity isn't alive, or it or one of its ancestors has no name. */
REEF_API size_t reef_path(const reef_world *world, reef_entity entity, char *text, size_t size);

REEF_END_C

/* The parent of an entity. Null: it has none, or isn't alive. */
#define reef_parent(world, entity) reef_target_id(world, entity, reef_id(ChildOf))
/* By the C name of a type. */
#define reef_depth(world, entity, R) reef_depth_id(world, entity, reef_id(R))
#define reef_root(world, entity, R) reef_root_id(world, entity, reef_id(R))
#define reef_is_above(world, ancestor, entity, R) reef_is_above_id(world, ancestor, entity, reef_id(R))
#define reef_common_ancestor(world, a, b, R) reef_common_ancestor_id(world, a, b, reef_id(R))
#define reef_walk_from(world, root, R) reef_walk_from_id(world, root, reef_id(R))
#define reef_descendants(world, root, R, entities, room) reef_descendants_id(world, root, reef_id(R), entities, room)

#endif
