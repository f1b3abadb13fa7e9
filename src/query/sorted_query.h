/* Sorted queries: the list of a query's rows in order, and loops over it (src/query/sorted_query.c). */
#ifndef REEF_QUERY_SORTED_QUERY_H
#define REEF_QUERY_SORTED_QUERY_H

#include "query/query.h"
#include "query/sort_key.h"
#include "reef/loop.h"
#include "reef/loop_settings.h"

typedef struct ranking ranking;

/* Gives a query a list with this order. False: no memory. */
bool reef__ranking_put(query *q, const ordering *by);
const ordering *reef__ranking_order(const ranking *r);
/* Parents first, by a relation of which this was checked. False: there is no memory. */
bool reef__ranking_cascade(query *q, reef_component relation);
/* The relation by which parents come first; {0}: it is another order. */
reef_component reef__order_cascade(const ordering *by);
reef_component reef__query_cascade(const query *q);
void reef__ranking_drop(query *q);

/* A loop over a sorted query keeps its place in fields that other loops use differently: walk_unit is the next place
 * in the list, end_unit the place behind the last one, and end a list of this loop's own if it needs one. */

/* Brings the list up to date and reserves what else the loop needs. False: no memory. */
bool reef__ranking_begin(reef_block *b, query *q);
/* Sets where the loop begins and ends; b->since, skip and left are set already. It can't fail. */
void reef__ranking_open(reef_block *b, const reef_loop *loop);
/* The next block: rows that are side by side both in a chunk and in the list. False: the end. */
bool reef__ranking_next(reef_block *b);
void reef__ranking_end(reef_block *b);

/* For systems, whose jobs are parts of a list by depth. reef__ranking_ready brings it up to date; false: no memory. */
bool reef__ranking_ready(query *q);
uint32_t reef__ranking_rows(const query *q);
/* The end of a piece of the list that begins at `first` and has at least `rows` rows if there are as many. Its last row
 * is the last one of a depth, or of a chunk in the depth in which the piece begins: then *within is true. */
uint32_t reef__ranking_piece(const query *q, uint32_t first, uint32_t rows, bool *within);
/* Opens a part that begins and ends at these rows of the list. */
void reef__ranking_part(reef_block *b, uint32_t first, uint32_t end);

#endif
