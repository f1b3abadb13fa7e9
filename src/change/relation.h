/* Relations when they are made: whether their targets may be related to, whatever call makes them. */
#ifndef REEF_CHANGE_RELATION_H
#define REEF_CHANGE_RELATION_H

#include "storage/relation_index.h"
#include "reef/value.h"

INLINE value_store *relation_store(const reef_world *w, const type *t)
{
    return (value_store *)(uintptr_t)store_of(w, t->id);
}
/* The relation of a source to a target. NULL: there is none. */
INLINE relation_value *relation_of(const reef_world *w, const type *t, reef_entity source, reef_entity target)
{
    return (relation_value *)(uintptr_t)reef__relation_find(store_of(w, t->id), source, target, NULL);
}
/* Makes a relation that isn't there and may be made, or gives an exclusive one another target. `data` is the whole
 * data, NULL: zeroes; place 0: behind all others of the target. */
reef_status reef__relate_one(reef_world *w, reef_entity source, const type *t, reef_entity target, const void *data,
                             uint64_t place);
/* Ends a relation, if it is there. */
reef_status reef__unrelate_one(reef_world *w, reef_entity source, const type *t, reef_entity target);

/* May the entity get this value of a type of relations? `replaces`: in the place of its first one. REEF_OK, NOT_ALIVE
 * (its target isn't), CYCLE, EXISTS (it has that target), BAD_ARGUMENT (no target; a symmetric relation that isn't made
 * by reef_relate), NO_MEMORY. */
reef_status reef__relation_check(reef_world *w, reef_entity e, const type *t, const reef_value *v, uint32_t n,
                                 bool replaces);
/* reef_set and reef_remove of a relation, on the straight path: OK, ADDED; ABSENT, false: nothing was done. */
reef_status reef__relation_set(reef_world *w, reef_component c, reef_entity source, const void *value, size_t size);
bool reef__relation_remove(reef_world *w, reef_component c, reef_entity source);
/* A new entity gets a relation on the straight path, in a row of table `id`. reef__relation_comes: the store of the
 * relation, and everything is ready; NULL: the general path decides. When the row is made, reef__relation_came makes
 * the relation, which can't fail. */
reef_store *reef__relation_comes(reef_world *w, const reef_value *v, reef_entity source, uint32_t id, uint32_t place);
void reef__relation_came(reef_world *w, reef_store *s, reef_entity source, uint32_t place, const reef_value *v);
/* An entity that gets this relation gets others along. REEF_OK; EXISTS: one of them has the same target. */
reef_status reef__relation_differs(reef_world *w, const type *t, const reef_value *v, uint32_t n,
                                   const reef_value *others);
/* Takes the place from what was made of a value, so that it gets a new one when it becomes visible. `was`: the relation
 * that it replaced, whose place it keeps if the target is the same; NULL: none. */
void reef__relation_unplace(const reef_world *w, const type *t, void *made, const reef_value *v,
                            const relation_value *was);

/* Is the source related to the target, of transitive relations also by way of others? (False if there is no memory for
 * that search.) No way leads over an entity whose row has its bit in `ends`, except that every way begins at the
 * source; NULL: none has. */
bool reef__relation_leads(const reef_world *w, const type *t, reef_entity source, reef_entity target,
                          const bit_store *ends);
/* Is somebody related to this entity, is anybody related at all? (src/change/destroy_related.c) */
bool reef__related_to(const reef_world *w, reef_entity e);
bool reef__related_any(const reef_world *w);
/* Destroys n entities, all or none, and whoever is destroyed with them, and ends all other relations to them. Errors
 * are recorded: REFUSED, NO_MEMORY. */
reef_status reef__destroy_related(reef_world *w, const char *op, const reef_entity *e, uint64_t n);
/* Prepares each of these different entities to lose a relation of a type that it has. False: there is no memory. */
bool reef__relations_prepare_end(reef_world *w, const type *t, const reef_entity *e, uint32_t n);
/* Ends all relations to entities that aren't alive, after a change by which such relations may have come about. False:
 * there is no memory. */
bool reef__relations_end_dead(reef_world *w);

#endif
