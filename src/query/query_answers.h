/* query/query_answers: TODO */
#ifndef REEF_QUERY_QUERY_ANSWERS_H
#define REEF_QUERY_QUERY_ANSWERS_H

#include "query/query.h"

/* Does the row at `place` match? The query is up to date. (src/query/query_answers.c) */
bool reef__query_place_matches(const query *q, uint32_t place);

#endif
