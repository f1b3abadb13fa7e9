/* Questions to a query without a loop: what observers and systems share with the public calls. */
#ifndef REEF_QUERY_QUERY_ANSWERS_H
#define REEF_QUERY_QUERY_ANSWERS_H

#include "query/query.h"

/* The query of a handle, up to date. NULL: it was refused, and the reason is recorded. */
query *reef__query_ask(reef_world *w, const char *op, reef_query which);

/* The number of rows that match. The query has to be up to date. */
uint64_t reef__query_count(const query *q);

/* Does the row at `place` match? The query has to be up to date. */
bool reef__query_place_matches(const query *q, uint32_t place);

#endif
