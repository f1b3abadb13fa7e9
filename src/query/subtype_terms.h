/* query/subtype_terms: TODO */
#ifndef REEF_QUERY_SUBTYPE_TERMS_H
#define REEF_QUERY_SUBTYPE_TERMS_H

#include "query/query.h"

/* Makes q->subs, or makes it anew, of what is known now; the terms' facts are then settled by query_settle. False:
 * no memory, and the query is as it was. */
bool reef__subs_expand(query *q);

void reef__subs_drop(query *q);

/* Member i of such a group isn't what the table's blocks give: another one before it is there. */
bool reef__sub_hidden(const query *q, uint32_t i, uint32_t table_id);

#endif
