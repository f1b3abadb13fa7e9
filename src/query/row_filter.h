/* Which rows of a chunk match a query, for all loops and questions that look at rows. */
#ifndef REEF_QUERY_ROW_FILTER_H
#define REEF_QUERY_ROW_FILTER_H

#include "query/query.h"

/* Computes the words from `first` to `end` - 1 of the rows that match. False: no row matches in them. */
bool reef__look_rows(const look *l, uint64_t *words, uint32_t first, uint32_t end);

/* Does the row at a place match? */
bool reef__look_row(const query *q, uint32_t place, uint64_t since);

/* Do the terms outside of groups that ask about other entities hold? They decide for all rows at once. */
bool reef__fixed_hold(const query *q, uint64_t since);

#endif
