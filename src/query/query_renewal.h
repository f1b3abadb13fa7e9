/* Queries whose types have other layouts now (src/query/query_renewal.c). */
#ifndef REEF_QUERY_QUERY_RENEWAL_H
#define REEF_QUERY_QUERY_RENEWAL_H

#include "query/query.h"

/* Makes the same query in a world, with other types where `now` (may be NULL) says so. NULL: the error is recorded. */
struct kept_query;
query *reef__query_copied(reef_world *to, const char *op, const struct kept_query *k,
                          uint32_t (*now)(const void *context, uint32_t type), const void *context);

/* Types are other ones now: the world's queries that name them are made anew, and handles lead to the new ones. `now`
 * and `context` are set before. Renewed: ends it, and goes back if it doesn't stay. */
typedef struct queries_renewal {
    uint32_t (*now)(const void *context, uint32_t type);
    const void *context;
    reef_world *world;
    reef_query *fresh; /* by index; where the other query of the pair lies; the same: it has none, and goes */
    uint32_t count;
    bool loose; /* set before, too: one that can't be made anew is freed, if the world began with it */
    bool bound; /* a query can't be made anew: it compares or sorts by values of such a type, or names its columns */
} queries_renewal;
reef_status reef__queries_renew(queries_renewal *r, reef_world *w, const char *op,
                                bool (*skip)(const reef_world *w, uint32_t index));
void reef__queries_renewed(queries_renewal *r, bool stays);

#endif
