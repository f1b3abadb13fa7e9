/* Whole queries at once: add, remove, set, enable, destroy for everything that a query matches.
 *
 *     uint64_t burnt;
 *     reef_status s = reef_add_where_id(w, burning, reef_id(Ash), &burnt);
 *
 * Each call does what the single call would do for every matching entity, one after the other in the query's order,
 * collected before anything changes: the same values, the same order of rows afterwards. But all or none: a failure
 * changes nothing. Where a whole table changes in the same way its blocks stay where they are, and only the new
 * column is written.
 *
 * Terms that ask for changes: since the query last ran; these calls are no run. Errors of all: NOT_ALIVE (a null or
 * freed query), OTHER_WORLD, LOCKED (a loop is open), NO_MEMORY, LIMIT. `changed`, which may be NULL, gets the
 * number of entities that were changed when the call succeeds. */
#ifndef REEF_BULK_H
#define REEF_BULK_H

#include "query.h"

REEF_BEGIN_C

/* Adds a zero or constructed component to those that haven't got it; the others are passed over. Further errors:
 * UNKNOWN_TYPE, and what the constructor says. */
REEF_API reef_status reef_add_where_id(reef_world *world, reef_query query, reef_component type, uint64_t *changed);
/* Takes it from those that have it. Further errors: UNKNOWN_TYPE. */
REEF_API reef_status reef_remove_where_id(reef_world *world, reef_query query, reef_component type, uint64_t *changed);
/* Adds or replaces it: a copy of `value` for each; all that match count as changed. Further errors: UNKNOWN_TYPE,
 * WRONG_SIZE, BAD_ARGUMENT (no value), NOT_COPYABLE (a type without copy, and more than one entity; for one the
 * value is moved out), NOT_MOVABLE (an address-bound type without move), and what the copy hook says. */
REEF_API reef_status reef_set_where_id(reef_world *world, reef_query query, reef_component type, const void *value,
                                       size_t size, uint64_t *changed);
/* Enables (`on`) or disables a component, a tag or a switch of those that have it, with type {0} whole entities;
 * those that are so already are passed over. A query skips what is disabled unless it asks for it ("disabled
 * Velocity", "either Velocity", "either *"). Further errors: UNKNOWN_TYPE, BAD_ARGUMENT (the part of a type that is
 * split by field). */
REEF_API reef_status reef_enable_where_id(reef_world *world, reef_query query, reef_component type, bool on,
                                          uint64_t *changed);
/* Destroys them. */
REEF_API reef_status reef_destroy_where(reef_world *world, reef_query query, uint64_t *destroyed);

/* By the C name of a type, without the number: reef_add_where(w, q, Ash). */
#define reef_add_where(world, query, T) reef_add_where_id(world, query, reef_id(T), NULL)
#define reef_remove_where(world, query, T) reef_remove_where_id(world, query, reef_id(T), NULL)
#define reef_enable_where(world, query, T) reef_enable_where_id(world, query, reef_id(T), true, NULL)
#define reef_disable_where(world, query, T) reef_enable_where_id(world, query, reef_id(T), false, NULL)
#define reef_enable_entities_where(world, query) reef_enable_where_id(world, query, reef_null_component_(), true, NULL)
#define reef_disable_entities_where(world, query) \
    reef_enable_where_id(world, query, reef_null_component_(), false, NULL)
/* reef_set_where(w, q, Velocity, 1, 2) */
#ifndef __cplusplus
#define reef_set_where(world, query, T, ...) \
    reef_set_where_id(world, query, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T), NULL)
#endif

REEF_END_C

#ifdef __cplusplus
template <class T>
static inline reef_status reef_set_where_value(reef_world *w, reef_query q, reef_component c, const T &value)
{
    return reef_set_where_id(w, q, c, &value, sizeof(T), NULL);
}
#define reef_set_where(world, query, T, ...) reef_set_where_value<T>(world, query, reef_id(T), T{__VA_ARGS__})
#endif

#endif
