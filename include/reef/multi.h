/* Several components of one type on one entity.
 *
 *     typedef struct { int32_t kind, left; } Buff;
 *     REEF_COMPONENT_IN(Buff, REEF_MULTI);
 *
 *     reef_append(w, knight, Buff, 1, 10);                 one more
 *     reef_append(w, knight, Buff, 2, 5);
 *     uint32_t n;
 *     Buff *buff = reef_mut_all(w, knight, Buff, &n);     all, in the order of adding
 *     for (uint32_t i = 0; i < n; i++) buff[i].left--;
 *     reef_remove_one(w, knight, Buff, 0);                 the others keep their order
 *
 * The values of an entity lie side by side, at most REEF_MULTI_MAX of them; they move when there are more than ever
 * before. For a type in REEF_MULTI, the other calls do this:
 *
 *     reef_add          adds one more, and returns it in `out`; never EXISTS; LIMIT if there are REEF_MULTI_MAX
 *     reef_set          writes the first, or adds it; so do spawn, reef_change, reef_set_where, reef_add_where
 *     reef_get, reef_mut, reef_ensure   return the first
 *     reef_remove       removes all; so does destroying the entity
 *     reef_clone        copies all
 *     reef_count        counts entities
 *
 * Visiting, printing, hashes, comparisons, snapshots and forks include all values, in their order. The calls of this
 * header also work for types in other homes, of which an entity has at most one value. */
#ifndef REEF_MULTI_PUBLIC_H
#define REEF_MULTI_PUBLIC_H

#include "loop.h"

REEF_BEGIN_C

/* All values of a type that the entity has, in the order of adding; their number is written to *count (`count` may be
 * NULL). NULL and 0: it has none, or is dead; a tag has no values. The pointer lives as long as one from reef_get.
 * Several threads may call it at once, as reading. */
REEF_API const void *reef_get_all_id(const reef_world *world, reef_entity entity, reef_component type, uint32_t *count);
/* The same for writing. Errors, and what is marked as changed, are as for reef_mut. */
REEF_API void *reef_mut_all_id(reef_world *world, reef_entity entity, reef_component type, uint32_t *count);
/* Number of values of the type that the entity has; for a tag, 1 or 0. */
REEF_API uint32_t reef_count_on_id(const reef_world *world, reef_entity entity, reef_component type);
/* Adds one more value and returns it. The value is copied; a value that can't be copied is moved out of `value`.
 * `value` may be one of the entity's own values. NULL on failure: NOT_ALIVE, UNKNOWN_TYPE, WRONG_SIZE, LIMIT (there are
 * as many as there can be), EXISTS (in another home than REEF_MULTI), BAD_ARGUMENT (a tag), LOCKED (a loop is open,
 * deferred or not), NO_MEMORY. */
REEF_API void *reef_append_id(reef_world *world, reef_entity entity, reef_component type, const void *value,
                              size_t size);
/* Removes value number i of the entity, counted from 0; the values after it move up. Removing the only value does what
 * reef_remove does. Errors: NOT_ALIVE, UNKNOWN_TYPE, ABSENT (it has no value i), LOCKED (a loop is open, deferred or
 * not), NO_MEMORY. */
REEF_API reef_status reef_remove_one_id(reef_world *world, reef_entity entity, reef_component type, uint32_t i);

/* All values of the entity in row `row` of a block whose query asks for the type; reef_in gives the first of each
 * row. NULL and 0: the row has none, there is no such row, or the query doesn't ask for it (UNDECLARED). */
REEF_API const void *reef_block_get_all_id(const reef_block *block, reef_component type, uint32_t row, uint32_t *count);
/* The same for writing. The query must write the term. */
REEF_API void *reef_block_mut_all_id(const reef_block *block, reef_component type, uint32_t row, uint32_t *count);

REEF_END_C

/* By the C name of a type: reef_append(w, e, Buff, 1, 10) takes the members of the value, and the others return
 * pointers to T. */
#define reef_get_all(world, entity, T, count) REEF_CAST(const T *, reef_get_all_id(world, entity, reef_id(T), count))
#define reef_mut_all(world, entity, T, count) REEF_CAST(T *, reef_mut_all_id(world, entity, reef_id(T), count))
#define reef_count_on(world, entity, T) reef_count_on_id(world, entity, reef_id(T))
#define reef_remove_one(world, entity, T, i) reef_remove_one_id(world, entity, reef_id(T), i)
#define reef_block_get_all(block, T, row, count) \
    REEF_CAST(const T *, reef_block_get_all_id(block, reef_id(T), row, count))
#define reef_block_mut_all(block, T, row, count) REEF_CAST(T *, reef_block_mut_all_id(block, reef_id(T), row, count))
#ifndef __cplusplus
#define reef_append(world, entity, T, ...) \
    REEF_CAST(T *, reef_append_id(world, entity, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T)))
#else
template <class T> static inline T *reef_append_value(reef_world *w, reef_entity e, reef_component c, const T &value)
{
    return static_cast<T *>(reef_append_id(w, e, c, &value, sizeof(T)));
}
#define reef_append(world, entity, T, ...) reef_append_value<T>(world, entity, reef_id(T), T{__VA_ARGS__})
#endif

#endif
