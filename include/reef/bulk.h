/* Whole queries at once: add, remove, set, enable, destroy for everything that a query matches.
 *
 *     uint64_t burnt;
 *     reef_status s = reef_add_where_id(w, burning, reef_id(Ash), &burnt);
 *
 * Each call does what the call for one entity would do for every matching entity, one after the other in the query's
 * order. The matching entities are collected before anything changes, and the values and the order of rows afterwards
 * are the same. Either all are changed or none: a failure changes nothing. Where all rows of a table change in the same
 * way, its blocks stay where they are, and only the new column is written.
 *
 * Terms that ask for changes refer to the time since the query last ran; these calls don't count as runs. All calls can
 * fail with NOT_ALIVE (a null or freed query), OTHER_WORLD, LOCKED (a loop is open), NO_MEMORY and LIMIT. When a call
 * succeeds, it writes the number of entities that it changed to *changed, which may be NULL. */
#ifndef REEF_BULK_H
#define REEF_BULK_H

#include "enable.h"
#include "query.h"

REEF_BEGIN_C

/* Adds a zeroed or constructed component to the entities that don't have it, and skips the others. Further errors:
 * UNKNOWN_TYPE, and what the constructor returns. */
REEF_API reef_status reef_add_where_id(reef_world *world, reef_query query, reef_component type, uint64_t *changed);
/* Removes a component from the entities that have it. Further errors: UNKNOWN_TYPE. */
REEF_API reef_status reef_remove_where_id(reef_world *world, reef_query query, reef_component type, uint64_t *changed);
/* Adds or replaces a component with a copy of `value`; all entities that match count as changed. Further errors:
 * UNKNOWN_TYPE, WRONG_SIZE, BAD_ARGUMENT (no value), NOT_COPYABLE (a type without copy, and more than one entity; for
 * one the value is moved out), NOT_MOVABLE (an address-bound type without move), and what the copy hook returns. */
REEF_API reef_status reef_set_where_id(reef_world *world, reef_query query, reef_component type, const void *value,
                                       size_t size, uint64_t *changed);
/* Enables (`on`) or disables a component, a tag or a switch of the entities that have it, or with type {0} whole
 * entities. Those that are in that state already are skipped. A query skips what is disabled unless it asks for it
 * ("disabled Velocity", "either Velocity", "either *"). Further errors: UNKNOWN_TYPE, BAD_ARGUMENT (a part of a type in
 * REEF_SPLIT). */
REEF_API reef_status reef_enable_where_id(reef_world *world, reef_query query, reef_component type, bool on,
                                          uint64_t *changed);
/* Destroys all entities that match. */
REEF_API reef_status reef_destroy_where(reef_world *world, reef_query query, uint64_t *destroyed);

/* By the C name of a type, without the number of entities: reef_add_where(w, q, Ash). Enabling and disabling without a
 * type are about whole entities: reef_disable_where(w, q). */
#define reef_add_where(world, query, T) reef_add_where_id(world, query, reef_id(T), NULL)
#define reef_remove_where(world, query, T) reef_remove_where_id(world, query, reef_id(T), NULL)
#define reef_enable_where(world, ...) \
    REEF_TWO_OR_THREE_(world, __VA_ARGS__, REEF_ENABLE_TYPE_WHERE_, REEF_ENABLE_ALL_WHERE_, 0)(true, world, __VA_ARGS__)
#define reef_disable_where(world, ...) \
    REEF_TWO_OR_THREE_(world, __VA_ARGS__, REEF_ENABLE_TYPE_WHERE_, REEF_ENABLE_ALL_WHERE_, 0) \
    (false, world, __VA_ARGS__)
#define REEF_ENABLE_TYPE_WHERE_(on, world, query, T) reef_enable_where_id(world, query, reef_id(T), on, NULL)
#define REEF_ENABLE_ALL_WHERE_(on, world, query) reef_enable_where_id(world, query, reef_null_component_(), on, NULL)
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
