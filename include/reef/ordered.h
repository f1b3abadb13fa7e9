/* Queries in an order of their own, and groups of rows with equal keys. */
#ifndef REEF_ORDERED_H
#define REEF_ORDERED_H

#include "order.h"
#include "query.h"

REEF_BEGIN_C

/* From now on loops over this query visit the matching rows in the order of their keys (reef/order.h), and rows with
 * equal keys in the order of their entities. NULL: in the visible order again. A block is then a run of rows that are
 * side by side in their table and in the order: one row at worst. The order's component must be a term that every match
 * has: not in a group, not optional, and of the entity that is visited. {0} orders by entity. The query keeps a sorted
 * list, 16 bytes a row, and repairs it when a loop begins: it checks the version of each block, and sorts only the rows
 * of blocks that were written and merges them in. The list isn't part of the world's state; a copy of the query has the
 * same order and a list of its own. A loop that is open goes on in the order that it began with, and so does a loop
 * over the same query inside it. The other calls with the query (count, first, pick ...) ignore the order. A query with
 * an order can't be cut into slices. Errors: NOT_ALIVE, OTHER_WORLD, UNKNOWN_TYPE, BAD_ARGUMENT (no such term, no such
 * field), LOCKED (a loop over it is open), NO_MEMORY. */
REEF_API reef_status reef_query_order(reef_world *world, reef_query query, const reef_order *order);

/* The rows of an ordered query whose keys are equal are a group. One group is found by binary search, and visited by
 *     reef_begin_loop(w, q, &(reef_loop){.grouped = true, .group = key})
 * A group without rows is an empty loop. This visits all groups in the query's order:
 *     for (reef_group g = {0}; reef_query_next_group(w, q, &g);) ... */
typedef struct reef_group {
    uint64_t key;
    uint64_t count; /* rows that match, at least 1 */
    bool begun;     /* false: the next group is the first one */
} reef_group;
/* Writes the group after *group, or the first one, to *group. False: there is none, and *group isn't changed. Of a
 * group with `begun` only `key` matters, and no group needs to have this key. It also returns false on errors:
 * NOT_ALIVE, OTHER_WORLD, BAD_ARGUMENT (no order), NO_MEMORY. */
REEF_API bool reef_query_next_group(reef_world *world, reef_query query, reef_group *group);
/* The number of matching rows of a group; 0 if there is no such group. It also returns 0 on the same errors. */
REEF_API uint64_t reef_query_group_count(reef_world *world, reef_query query, uint64_t group);

REEF_END_C

#endif
