/* Terms with `near`: only entities within a radius around a centre. Whenever a loop or a question begins, the picture
 * of the place is asked, and the rows of those that it finds are marked in words of bits, by chunk. All else is as for
 * other terms that depend on the row. */
#ifndef REEF_QUERY_NEAR_TERM_H
#define REEF_QUERY_NEAR_TERM_H

#include "base/text_out.h"
#include "query/query.h"
#include "query/relation_plan.h"
#include "reef/place.h"

typedef struct near_terms {
    uint32_t component;
    reef_place_ask ask; /* the centre and the radius */
    reef_status status; /* of the last look */
    uint64_t found;
    row_set rows;
} near_terms;

/* Why a term can't have `near`; NULL: it can. */
const char *reef__near_check(const query_text *l, uint32_t i);
/* Makes query.near if a term has it. False: no memory. */
bool reef__near_make(query *q);
void reef__near_drop(query *q);
/* Marks the rows. False: query.near->status says why it can't. */
bool reef__near_look(query *q);
/* Of the rows in words[first] to words[end - 1], keeps those that are marked. */
void reef__near_rows(const look *l, uint64_t *words, uint32_t first, uint32_t end);
void reef__near_explain(text_out *o, const query *q);

#endif
