/* Prefabs: entities with their children as templates, of which any number of copies are made at once.
 *
 *     reef_entity turret = reef_spawn(w, reef_with(Health, 50), reef_with(Armour, 7));
 *     reef_entity barrel = reef_spawn(w, reef_with(Length, 3));
 *     reef_relate(w, barrel, ChildOf, turret);
 *     reef_make_prefab(w, turret);                              a template, hidden from queries
 *
 *     reef_entity made[1000];
 *     reef_instantiate(w, turret, 1000, made);                  1,000 turrets with a barrel each
 *     reef_instantiate_with(w, turret, 1, made, reef_with(Health, 80));     its Health is another one
 *
 * A copy has the components of its template, with their values, and so has each of its children those of the template's
 * child. Relations between entities of the template become relations between those of the copy, and relations to others
 * are kept. So are handles in fields of kind REEF_ENTITY, of types without hooks. Children have their names. The root
 * of a copy is related to its template, `InstanceOf`; when the template dies, this relation ends, and the copy stays.
 *
 * Scripts of a template don't run, and those of a copy start anew (reef/script.h).
 *
 * Values are copied. Of a type in REEF_SHARED the copies hold the value of the template itself: reef_mut of the
 * template changes it for all copies, except for those that got another value by reef_set (reef/shared.h).
 *
 * A template is hidden: queries don't match an entity that has the tag ReefPrefab, unless they name that tag in some
 * term ("Position, ?ReefPrefab" matches both). A variant is a copy that became a template itself, by reef_make_prefab;
 * a template may also contain copies of other templates. */
#ifndef REEF_PREFAB_H
#define REEF_PREFAB_H

#include "hierarchy.h"

REEF_BEGIN_C

/* The tag of templates and of everything below them. Copies don't get it. */
REEF_TAG(ReefPrefab);
/* Its source is a copy of its target. */
REEF_RELATION_BUILT_IN_(InstanceOf, REEF_EXCLUSIVE | REEF_ACYCLIC);

/* Makes an entity and everything below it a template. Call it again when children have come; those that have the tag
 * keep it. All or none. Errors: NOT_ALIVE, LOCKED, LIMIT, NO_MEMORY. */
REEF_API reef_status reef_make_prefab(reef_world *world, reef_entity root);

/* Makes n copies of an entity and of everything below it, which is mostly a template but needn't be. Their roots are
 * written to `roots`, which has room for n or is NULL; on failure each is as it was or null. `values` replace
 * components of the root, come in addition, or take one away, as with reef_change (of several values of a type in
 * REEF_MULTI the first is replaced); those of kind REEF_VALUE_ARRAY have one value for each copy. The roots have no
 * parent. All are made or none. Handles are given out by entities of the template, level by level (reef_descendants):
 * first all roots, then all copies of the first child, and so on. Errors: NOT_ALIVE, NOT_COPYABLE, LIMIT, LOCKED,
 * NO_MEMORY, and those of reef_spawn_values. */
REEF_API reef_status reef_instantiate_values(reef_world *world, reef_entity prefab, uint32_t n, reef_entity *roots,
                                             const reef_value *values, uint32_t count);
/* The same without values. */
REEF_API reef_status reef_instantiate(reef_world *world, reef_entity prefab, uint32_t n, reef_entity *roots);
/* Makes n clones of an entity and of everything below it. They aren't copies of a template: the roots have the parent
 * of the original, and no InstanceOf that it hasn't got; a clone of a template is a template. Errors: as above. */
REEF_API reef_status reef_clone_tree(reef_world *world, reef_entity root, uint32_t n, reef_entity *roots);

REEF_END_C

/* reef_instantiate_with(w, turret, n, made, reef_with(Health, 80)) */
#define reef_instantiate_with(world, prefab, n, roots, ...) \
    reef_instantiate_values(world, prefab, n, roots, REEF_VALUES_(__VA_ARGS__))

#endif
