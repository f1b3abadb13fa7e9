/* Orders by a hierarchy: parents before their children (src/query/tree_order.c). */
#ifndef REEF_QUERY_TREE_ORDER_H
#define REEF_QUERY_TREE_ORDER_H

#include "type/type.h"
#include "query/query.h"
#include "query/sort_key.h"
#include "reef/hierarchy.h"

/* Are the relations of a type trees? */
INLINE bool relation_is_tree(const type *t)
{
    enum { TREE = REEF_EXCLUSIVE | REEF_ACYCLIC };
    return (t->relation & TREE) == TREE;
}

/* Lists all rows of a query's tables by depth, and those of one depth in the visible order: {depth, place of the
 * parent's row or 0, place of the row}. `rows` and `scratch` have room for `count` rows, as many as there are. The list
 * is in one of the two, which is given back. NULL: there is no memory. */
order_row *reef__tree_list(const query *q, const type *relation, order_row *rows, order_row *scratch, size_t count);
/* For each row of such a list: the row of its parent within the parent's chunk, and how many rows from here on lie side
 * by side, with the same depth, and with parents in one chunk. */
void reef__tree_runs(const order_row *rows, size_t count, uint32_t *up, uint32_t *run);
/* Numbers all entities of the world level by level, siblings in their order; entities without a parent keep the visible
 * order. The array is by entity index and has w->hot.index_count + 1 elements; the caller frees it. NULL: there is no
 * memory. */
uint32_t *reef__tree_ranks(reef_world *w, const type *relation);

#endif
