/* query/block: TODO */
#ifndef REEF_QUERY_BLOCK_H
#define REEF_QUERY_BLOCK_H

#include "query/query.h"

/* A block of one row, which is no loop's. */
void reef__block_of_row(reef_block *b, reef_world *w, query *q, uint32_t unit, uint32_t row);

extern const reef_query_head reef__no_keys; /* of a block whose columns the accessors look for in its chunk */

/* The first row from `row` on whose bit is `value`, at most `count`. */
uint32_t reef__row_seek(const uint64_t *words, uint32_t row, uint32_t count, bool value);

#endif
