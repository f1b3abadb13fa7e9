/* Terms with a plus, which ask for a base or any of its subtypes: their expansion into a group, and which member of
 * the group a block gives. */
#ifndef REEF_QUERY_SUBTYPE_TERMS_H
#define REEF_QUERY_SUBTYPE_TERMS_H

#include "query/query.h"

/* Makes q->subs for the types that are known now, or makes it again. query_resolve has to be called then, to settle the
 * terms' facts. False: no memory, and the query is as it was. */
bool reef__subs_expand(query *q);

void reef__subs_drop(query *q);

/* True if the blocks of this table don't give member i of such a group, because the table has an earlier member. */
bool reef__sub_hidden(const query *q, uint32_t i, uint32_t table_id);

#endif
