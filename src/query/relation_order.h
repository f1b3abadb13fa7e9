/* Orders by a relation: parents before their children, or by target (src/query/relation_order.c). */
#ifndef REEF_QUERY_RELATION_ORDER_H
#define REEF_QUERY_RELATION_ORDER_H

#include "query/query.h"
#include "query/sort_key.h"
#include "reef/hierarchy.h"

/* Are the relations of a type trees? */
INLINE bool relation_is_tree(const type *t)
{
    enum { TREE = REEF_EXCLUSIVE | REEF_ACYCLIC };
    return (t->relation & TREE) == TREE;
}

/* Lists the rows of a query's tables by depth or by target, and those of one depth or target in the visible order:
 * {depth or target, place of the parent's row or 0, place of the row}. (The target is the parent.) `rows` and `scratch`
 * have room for *count rows, as many as there are; then *count is how many are listed: `named`, only those that have
 * the relation. The list is in one of the two, which is given back. NULL: there is no memory. */
order_row *reef__relation_list(const query *q, const type *relation, bool named, order_row *rows, order_row *scratch,
                               size_t *count);
/* For each row of such a list: the row of its parent within the parent's chunk, and how many rows from here on lie side
 * by side, with the same depth, and with parents in one chunk. */
void reef__relation_runs(const order_row *rows, size_t count, uint32_t *up, uint32_t *run);
/* Numbers all entities of the world as storage is sorted: of a tree level by level, siblings in their order, and
 * entities without a parent keep the visible order; else by target, sources in their order, and all others have
 * UINT32_MAX. The array is by entity index and has w->hot.index_count + 1 elements; the caller frees it. NULL: there is
 * no memory. */
uint32_t *reef__relation_ranks(reef_world *w, const type *relation);

#endif
