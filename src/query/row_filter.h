/* query/row_filter: TODO */
#ifndef REEF_QUERY_ROW_FILTER_H
#define REEF_QUERY_ROW_FILTER_H

#include "query/query.h"

/* The words first ... end-1 of the rows that match. False: none in them. */
bool reef__look_rows(const look *l, uint64_t *words, uint32_t first, uint32_t end);

/* Terms outside of groups that are of other entities: do they hold? */
bool reef__fixed_hold(const query *q, uint64_t since);

#endif
