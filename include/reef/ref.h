/* References: a way to a component that is kept outside of the world and stays right.
 *
 *     reef_ref target = reef_ref_make(w, ship, Position);       in the caller's own memory: an array, a tree, a
 *                                                               socket's state
 *     ...
 *     const Position *p = reef_ref_get(w, &target, Position);    NULL: the ship is gone, or has no Position any more
 *     Position *q = reef_ref_mut(w, &target, Position);
 *
 * A reference is weak: it keeps nothing alive. It is a small value that knows the entity, the component and the
 * world, and remembers where the value was. As long as nothing moved in the world, get costs two loads and a
 * compare, and no look at the entity at all; after that it looks the entity up as reef_get does and remembers anew.
 * So it follows everything that moves rows: added and removed components, growth, sorting, blocks copied after a
 * fork, commands, whole queries. Values outside of the rows (REEF_SPARSE, REEF_PAGED and the like) are looked up in
 * their store every time, which costs about as little.
 *
 * What makes references pay is a world that is looked at more often than it changes. Where rows move between any two
 * gets, a reference costs what reef_get costs, and a little for remembering.
 *
 * A reference belongs to one world. It goes with that world through reef_restore and through the history's rewinds:
 * then it answers with what the state that came back says, also for an entity that had died meanwhile. On a fork, or
 * any other world, it answers NULL; reef_ref_make(fork, ref.entity, T) makes one for there. It may outlive its
 * world: it holds nothing. A component that refers to another entity stores the reef_entity, not a reference, so
 * that copies of the world hold nothing of each other.
 *
 * Threads: get writes into the reference what it learns. So a reference belongs to one thread at a time, and what
 * several jobs of a system use is copied by each. In systems, get and mut obey the declarations as reef_get and
 * reef_mut do. */
#ifndef REEF_REF_H
#define REEF_REF_H

#include "component.h"

REEF_BEGIN_C

/* {0} is null, and answers NULL everywhere. Two references are the same when entity, component and world are; what they
 * remember may differ. May be copied, and kept as bytes for as long as the process lives. */
typedef struct reef_ref {
    reef_entity entity;
    reef_component component;
    uint32_t world;    /* number of the world, 0: none */
    const void *value; /* as of `moves`; not for use */
    uint64_t moves;    /* 0: nothing is remembered */
} reef_ref;

/* A reference to a component of an entity, whether the entity has it now or not. Costs nothing: nothing is looked
 * up, and the world doesn't know of it. Null when the world is NULL, or the component none or beyond REEF_TYPES_MAX:
 * that is asked here, so that get needn't. Takes a const world; any thread. */
REEF_INLINE reef_ref reef_ref_make_id(const reef_world *world, reef_entity entity, reef_component component)
{
    reef_ref ref;
    memset(&ref, 0, sizeof ref);
    if (world == NULL || component.id - 1 >= REEF_TYPES_MAX) return ref;
    ref.entity = entity;
    ref.component = component;
    ref.world = ((const reef_hot *)world)->number;
    return ref;
}
/* Are they of the same entity, component and world? */
REEF_INLINE bool reef_ref_equal(const reef_ref *a, const reef_ref *b)
{
    return reef_entity_equal(a->entity, b->entity) && a->component.id == b->component.id && a->world == b->world;
}
/* Is it {0}? */
REEF_INLINE bool reef_ref_is_null(const reef_ref *ref) { return ref->world == 0; }

/* The value, or NULL: the entity isn't alive or hasn't got the component, the component is a tag, the reference is
 * of another world or null. (With a type that isn't the reference's: NULL too.) The pointer lives as long as one
 * from reef_get: until the next call that takes the world without const. Errors can't be told: see reef_ref_mut. */
REEF_API const void *reef_ref_seek(const reef_world *world, reef_ref *ref, reef_component component, size_t size);
REEF_INLINE const void *reef_ref_get_id(const reef_world *world, reef_ref *ref)
{
    const reef_hot *h = (const reef_hot *)world;
    if (REEF_LIKELY(ref->moves == REEF_DEPENDENT(&h->moves) && ref->world == h->number) && !REEF_HELD_(world))
        return ref->value;
    return reef_ref_seek(world, ref, ref->component, 0);
}
/* The same for writing: marks the block as changed, and makes it the world's own if a fork or snapshot shares it.
 * Costs what reef_mut costs. NULL on failure: NOT_ALIVE, UNKNOWN_TYPE, ABSENT, NO_MEMORY; OTHER_WORLD; BAD_ARGUMENT
 * (the reference is null, or of another type). */
REEF_API void *reef_ref_mut_as(reef_world *world, const reef_ref *ref, reef_component component);
REEF_INLINE void *reef_ref_mut_id(reef_world *world, const reef_ref *ref)
{
    return reef_ref_mut_as(world, ref, ref->component);
}

REEF_INLINE const void *reef_ref_get_decl(const reef_world *world, reef_ref *ref, reef_type_decl *decl, size_t size)
{
    const reef_hot *h = (const reef_hot *)world;
    if (REEF_LIKELY(ref->moves == REEF_DEPENDENT(&h->moves) && ref->world == h->number &&
                    ref->component.id == reef_id_now(decl).id) &&
        !REEF_HELD_(world))
        return ref->value;
    return reef_ref_seek(world, ref, reef_id_of(decl), size);
}

/* reef_ref_make(w, e, Position), reef_ref_get(w, &ref, Position): const Position *, reef_ref_mut(w, &ref, Position):
 * Position * */
#define reef_ref_make(world, entity, T) reef_ref_make_id(world, entity, reef_id(T))
#define reef_ref_get(world, ref, T) ((const T *)reef_ref_get_decl(world, ref, reef_decl_of_##T(), sizeof(T)))
#define reef_ref_mut(world, ref, T) ((T *)reef_ref_mut_as(world, ref, reef_id(T)))

REEF_END_C

#endif
