/* Blocks beside loops: a block of one row, the head of blocks whose columns have to be looked up, and the search for
 * runs of bits. */
#ifndef REEF_QUERY_BLOCK_H
#define REEF_QUERY_BLOCK_H

#include "query/query.h"

/* A block that belongs to no loop and has no rows, for a call that refuses. */
reef_block reef__block_none(reef_world *w);

/* Makes a block of one row, which belongs to no loop. */
void reef__block_of_row(reef_block *b, reef_world *w, query *q, uint32_t unit, uint32_t row);

/* Where the values of a type begin in the block; NULL: the block doesn't have it. */
void *reef__block_values(const reef_block *b, const type *t);

extern const reef_query_head reef__no_keys; /* the head of a block whose columns the accessors look up in its chunk */

/* The first row, from `row` on, whose bit is `value`; `count` if there is none below that. */
uint32_t reef__row_seek(const uint64_t *words, uint32_t row, uint32_t count, bool value);

#endif
