/* Which rows of a chunk match a query, for all loops and questions that look at rows. */
#ifndef REEF_QUERY_ROW_FILTER_H
#define REEF_QUERY_ROW_FILTER_H

#include "query/query.h"

/* Where the rows of a block are looked at, which is a whole chunk. */
INLINE look block_look(const reef_block *b)
{
    return (look){.q = b->loop.query,
                  .table_id = b->loop.slots[0].head.table,
                  .unit = b->loop.unit,
                  .count = b->count,
                  .since = b->loop.since,
                  .entities = b->entities,
                  .frozen = b->loop.frozen};
}
/* Keeps those rows of words[first] to words[end - 1] that are marked. NULL: none is. */
INLINE void rows_keep(uint64_t *words, const uint64_t *marked, uint32_t first, uint32_t end)
{
    for (uint32_t k = first; k < end; k++) words[k] = marked ? words[k] & marked[k] : 0;
}
/* Does term i hold for this entity? reef__rows_ask keeps the rows of words[first] to words[end - 1] for which it
 * does. */
typedef bool (*row_test)(const look *l, uint32_t i, reef_entity e);
void reef__rows_ask(const look *l, uint32_t i, row_test holds, uint64_t *words, uint32_t first, uint32_t end);

/* Computes the words from `first` to `end` - 1 of the rows that match. False: no row matches in them. */
bool reef__look_rows(const look *l, uint64_t *words, uint32_t first, uint32_t end);

/* Does the row at a place match? */
bool reef__look_row(const query *q, uint32_t place, uint64_t since);

/* Do the terms outside of groups that ask about other entities hold? They decide for all rows at once. */
bool reef__fixed_hold(const query *q, uint64_t since);

#endif
