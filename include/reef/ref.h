/* References to components, which a program may keep outside of the world, and which stay valid.
 *
 *     reef_ref target = reef_ref_make(w, ship, Position);       in the caller's own memory: an array, a tree, a
 *                                                               socket's state
 *     ...
 *     const Position *p = reef_ref_get(w, &target, Position);    NULL: the ship is gone, or has no Position any more
 *     Position *q = reef_ref_mut(w, &target, Position);
 *
 * A reference is weak: it keeps nothing alive. It is a small value that contains the entity, the component and the
 * world, and remembers the address of the value. As long as nothing has moved in the world, get costs two loads and a
 * comparison, and doesn't look at the entity. After that it looks the entity up as reef_get does, and remembers the new
 * address. So a reference follows everything that moves rows: added and removed components, growth, sorting, blocks
 * copied after a fork, commands, operations on whole queries. Values outside of the rows (REEF_SPARSE, REEF_PAGED and
 * so on) are looked up in their store every time, which costs about as little.
 *
 * References are worthwhile in a world that is read more often than it changes. Where rows move between any two gets, a
 * reference costs slightly more than reef_get.
 *
 * A reference belongs to one world. It stays valid through reef_restore and the rewinds of a history: then it finds
 * what is in the restored state, also for an entity that had died since. On a fork, or any other world, it gives NULL;
 * reef_ref_make(fork, ref.entity, T) makes one for the fork. It may outlive its world, since it owns nothing. A
 * component that refers to another entity should store the reef_entity, not a reference, which would point into the
 * original world in each fork.
 *
 * Threads: get writes to the reference. So one thread at a time may use a reference, and where several jobs of a system
 * use one, each makes a copy. In systems, get and mut obey the declarations as reef_get and reef_mut do. */
#ifndef REEF_REF_H
#define REEF_REF_H

#include "component.h"

REEF_BEGIN_C

/* A reference. {0} is null, and gives NULL everywhere. Two references are the same if entity, component and world are;
 * what they remember may differ. A reference may be copied, and kept as bytes as long as the process lives. */
typedef struct reef_ref {
    reef_entity entity;
    reef_component component;
    uint32_t world;    /* number of the world; 0: none */
    const void *value; /* address of the value at the time `moves`; internal */
    uint64_t moves;    /* 0: nothing is remembered */
} reef_ref;

/* Makes a reference to a component of an entity, which need not have it now. It costs almost nothing: nothing is looked
 * up, and nothing is recorded in the world. Null if the world is NULL, or the component is {0} or beyond REEF_TYPES_MAX
 * (this is checked here, so that get needn't check it). Takes a const world. Any thread. */
REEF_INLINE reef_ref reef_ref_make_id(const reef_world *world, reef_entity entity, reef_component component)
{
    reef_ref ref;
    memset(&ref, 0, sizeof ref);
    if (world == NULL || component.id - 1 >= REEF_TYPES_MAX) return ref;
    ref.entity = entity;
    ref.component = component;
    ref.world = REEF_RECAST(const reef_hot *, world)->number;
    return ref;
}
/* Do the two name the same entity, component and world? */
REEF_INLINE bool reef_ref_equal(const reef_ref *a, const reef_ref *b)
{
    return reef_entity_equal(a->entity, b->entity) && a->component.id == b->component.id && a->world == b->world;
}
/* Is it {0}? */
REEF_INLINE bool reef_ref_is_null(const reef_ref *ref) { return ref->world == 0; }

/* The value, for reading. NULL if the entity isn't alive or doesn't have the component, if the component is a tag, if
 * the reference is null or of another world, or if the type isn't that of the reference. The pointer lives as long
 * as one from reef_get: until the next call that takes the world without const. No error is recorded. */
REEF_INLINE const void *reef_ref_get_id(const reef_world *world, reef_ref *ref);
/* The same for writing: marks the block as changed, and makes it the world's own if a fork or snapshot shares it.
 * Costs what reef_mut costs. NULL on failure: NOT_ALIVE, UNKNOWN_TYPE, ABSENT, NO_MEMORY; OTHER_WORLD; BAD_ARGUMENT
 * (the reference is null, or of another type). */
REEF_API void *reef_ref_mut_as(reef_world *world, const reef_ref *ref, reef_component component);
REEF_INLINE void *reef_ref_mut_id(reef_world *world, const reef_ref *ref)
{
    return reef_ref_mut_as(world, ref, ref->component);
}

/* reef_ref_make(w, e, Position), reef_ref_get(w, &ref, Position): const Position *, reef_ref_mut(w, &ref, Position):
 * Position * */
#define reef_ref_make(world, entity, T) reef_ref_make_id(world, entity, reef_id(T))
#define reef_ref_get(world, ref, T) \
    REEF_CAST(const T *, reef_ref_get_decl(world, ref, &reef_declared_by_REEF_COMPONENT_##T, sizeof(T)))
#define reef_ref_mut(world, ref, T) REEF_CAST(T *, reef_ref_mut_as(world, ref, reef_id(T)))

REEF_END_C

/* reef_ref_get is inlined. */
#include "detail/ref.h"

#endif
