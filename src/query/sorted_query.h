/* Ordered queries: the list of a query's rows in their order, and loops over it (src/query/sorted_query.c). */
#ifndef REEF_QUERY_SORTED_QUERY_H
#define REEF_QUERY_SORTED_QUERY_H

#include "query/query.h"
#include "reef/loop.h"

typedef struct ranking ranking;

/* A list by the same order for another query. False: no memory. */
bool reef__ranking_copy(query *q, const ranking *from);
void reef__ranking_drop(query *q);

/* A loop over an ordered query keeps its place in fields that the visible order doesn't need: walk_unit is the next
 * place in the list, end_unit the one behind the last, end a list of this loop's own, if it needs one. */

/* The list is brought up to date, and what else the loop needs is reserved. False: no memory. */
bool reef__ranking_begin(reef_block *b, query *q);
/* Where the loop begins and ends; b->since, skip and left are set. Can't fail. */
void reef__ranking_open(reef_block *b, const reef_loop *loop);
/* The next block: rows that stand side by side in a chunk and in the list. False: the end. */
bool reef__ranking_next(reef_block *b);
void reef__ranking_end(reef_block *b);
/* For explanations: the component, 0: by entity. */
uint32_t reef__ranking_component(const ranking *r, bool *descending);

#endif
