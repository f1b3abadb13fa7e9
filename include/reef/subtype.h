/* Subtypes: components that also count as another component.
 *
 *     typedef struct { float speed; } Moving;
 *     typedef struct { Moving base; float x, y; } AxisMoving;     its struct begins with a Moving
 *     REEF_COMPONENT(Moving);
 *     REEF_SUBTYPE(AxisMoving, Moving);
 *
 *     reef_entity e = reef_spawn(w, reef_with(AxisMoving, {2}, 1, 0));
 *     reef_get(w, e, Moving)->speed                                 2: the AxisMoving, seen as a Moving
 *     reef_query_new(w, "Moving+")                                 all entities with a Moving or a subtype of it
 *
 * A subtype may have subtypes, to any depth. Each is a separate component type with its own home: an entity may have a
 * Moving and an AxisMoving, or two subtypes of one base. A call with a base means this:
 *
 *     reef_get, reef_mut     (also reef_read, reef_get_all and references) the base itself, or the only subtype if the
 *                            entity doesn't have the base. With several subtypes: NULL (reef_mut records AMBIGUOUS).
 *                            The pointer is to the base's struct, with which the subtype's struct begins
 *     reef_has               (also reef_count_on) the base or any subtype
 *     reef_remove            (also reef_remove_one) the base, or the only subtype; AMBIGUOUS with several
 *     reef_ensure            the base, or the only subtype; AMBIGUOUS with several. If there is none, it adds the base
 *     Moving+ in a query     the base or any subtype
 *
 * Everything else means only the type itself: add, set, spawn, change, enable, count, clear, share, reef_get_many and
 * reef_write_many, tracked rows, observers, events, a plain name in a query, bundles. A type may be declared after
 * tables and queries were made; they find it. */
#ifndef REEF_SUBTYPE_H
#define REEF_SUBTYPE_H

#include "loop.h"

REEF_BEGIN_C

/* ---- declaring ---- */

/* A component that also counts as a Base. Its struct begins with a Base: the first member is one, or the first members
 * are the same. The base is declared first. Both may have any home except REEF_SPLIT and REEF_MULTI. */
#define REEF_SUBTYPE(T, Base) REEF_SUBTYPE_IN_HOOKS(T, Base, REEF_TABLE, 0)
#define REEF_SUBTYPE_IN(T, Base, home) REEF_SUBTYPE_IN_HOOKS(T, Base, home, 0)
#define REEF_SUBTYPE_IN_HOOKS(T, Base, home, hooks) \
    typedef char reef_subtype_is_as_large_##T[sizeof(T) >= sizeof(Base) ? 1 : -1]; \
    REEF_DECLARE_AS_(T, REEF_CAST(uint32_t, sizeof(T)), REEF_CAST(uint32_t, REEF_ALIGNOF(T)), home, hooks, 0, \
                     &reef_declared_by_REEF_COMPONENT_##Base, reef_bring_subtypes_)
/* A tag that also counts as a Base, which is a tag too. */
#define REEF_SUBTAG(Name, Base) \
    REEF_TAG_STRUCT_(Name) \
    REEF_DECLARE_AS_(Name, 0, 1, REEF_TABLE, 0, 0, &reef_declared_by_REEF_COMPONENT_##Base, reef_bring_subtypes_)
/* Lets the library find its code of subtypes. Only declarations name this. */
REEF_API void reef_bring_subtypes_(void);

/* ---- asking ---- */

/* Is `type` a subtype of `base`, to any depth? False for the base itself, and for an id that isn't a type. Any
 * thread. */
REEF_API bool reef_is_subtype(reef_component type, reef_component base);
/* The subtypes of a base, to any depth, ordered by name. The first `room` of them are written to `types`, which may be
 * NULL. Returns how many there are. Costs O(n log n). Any thread. */
REEF_API uint32_t reef_subtypes(reef_component base, reef_component *types, uint32_t room);

/* Finds the component that reef_get of a base returns: the base itself, or the only subtype of it. It is written to
 * *found (`found` may be NULL), and the call returns OK. Otherwise *found is {0}, and the call returns NOT_ALIVE,
 * UNKNOWN_TYPE (no such type, or not known to a strict world), ABSENT, or AMBIGUOUS (several subtypes, and not the base
 * itself). No error is recorded. Takes a const world, as reading does. */
REEF_API reef_status reef_find_sub_id(const reef_world *world, reef_entity entity, reef_component base,
                                      reef_component *found);
/* Finds which of the base and its subtypes the entity has, ordered by name. `types` and `room`, and the result, are as
 * for reef_subtypes. 0: none, or the entity isn't alive. */
REEF_API uint32_t reef_find_subs_id(const reef_world *world, reef_entity entity, reef_component base,
                                    reef_component *types, uint32_t room);

/* By the C name of a type. */
#define reef_find_sub(world, entity, T, found) reef_find_sub_id(world, entity, reef_id(T), found)
#define reef_find_subs(world, entity, T, types, room) reef_find_subs_id(world, entity, reef_id(T), types, room)

/* ---- in blocks ----
 *
 * In one block of a query with Moving+ the values may be Movings, and in the next one AxisMovings, which are larger. So
 * they are accessed with the block's stride; reef_in and reef_inout refuse a term with a plus (NULL, UNDECLARED).
 *
 *     for (reef_block b = reef_begin(w, q); reef_next(&b);) {
 *         const reef_strided m = reef_inout_sub(&b, Moving);
 *         for (uint32_t i = 0; i < b.count; i++) reef_sub(m, Moving, i)->speed *= 0.9f;
 *     }
 *
 * If an entity has several of them, the block gives the base itself if the entity has it, otherwise the first subtype
 * by name; reef_find_subs finds the others. Only the values that the block gives count as written. */
/* An array whose values are `stride` bytes apart. */
typedef struct reef_strided {
    void *first;         /* NULL: there are none (the term is optional or in an any-of) */
    size_t stride;       /* bytes from one value to the next */
    reef_component type; /* what the values are: the base, or a subtype */
} reef_strided;

/* The values of a term with a plus in this block, for reading or for writing, valid until the next reef_next. {NULL, 0,
 * {0}} and UNDECLARED if the query has no such term with that access. */
REEF_API reef_strided reef_block_sub(const reef_block *block, reef_component base, bool write);

/* Value `i` of the array, for i less than the block's count; NULL if there are no values. */
REEF_INLINE void *reef_sub_cell(reef_strided values, uint32_t i)
{
    return values.first ? REEF_CAST(char *, values.first) + i * values.stride : NULL;
}
/* reef_in_sub(b, Moving) for reading and reef_inout_sub(b, Moving) for writing return a reef_strided, whose values
 * reef_sub_in and reef_sub give. */
#define reef_in_sub(block, T) reef_block_sub(block, reef_id(T), false)
#define reef_inout_sub(block, T) reef_block_sub(block, reef_id(T), true)
/* Value i of a reef_strided, for writing and for reading. */
#define reef_sub(values, T, i) REEF_CAST(T *, reef_sub_cell(values, i))
#define reef_sub_in(values, T, i) REEF_CAST(const T *, reef_sub_cell(values, i))
/* The same for the row of a reef_each. */
#define reef_inout_at_sub(row, T) REEF_CAST(T *, reef_sub_cell(reef_block_sub(&(row).block, reef_id(T), true), (row).i))
#define reef_in_at_sub(row, T) \
    REEF_CAST(const T *, reef_sub_cell(reef_block_sub(&(row).block, reef_id(T), false), (row).i))

REEF_END_C

#endif
