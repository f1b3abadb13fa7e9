/* The types that each table of a query has, by which a world finds the queries that a new table concerns:
 *
 *     type ──% 64──► query_types ─► query_types ...       each query is filed once, under the type that the fewest
 *                                                         tables and queries have
 *
 * A query knows its tables until it is told that one which has all these types was used for the first time. So a new
 * table costs nothing for all other queries. (Asking each of 256 queries took 480 instructions a query.) */
#ifndef REEF_STORAGE_QUERY_TYPES_H
#define REEF_STORAGE_QUERY_TYPES_H

#include "storage/layout.h"

enum {
    QUERY_TYPES = 8,   /* of a query; further ones aren't asked */
    QUERY_TOLD = 4,    /* tables that it is told of one by one */
    QUERY_BUCKETS = 64 /* and one more, for queries that need no type */
};

typedef struct query_types {
    struct query_types *next, **at; /* at: where the list names this one */
    /* world.tables_epoch, when the query's pointers were taken. UINT64_MAX: it has to look at tables; `looked` stays as
     * it was where it was told of all of them */
    uint64_t epoch, looked;
    uint32_t told_count, told[QUERY_TOLD]; /* tables that it hasn't looked at; QUERY_TOLD + 1: more than are listed */
    uint64_t left;                         /* world.tables_begun, when it left */
    uint32_t count, id[QUERY_TYPES];       /* types; it is filed under the first one */
} query_types;

/* The place of a query in the world. */
struct query_slot {
    struct reef_query_data *query;
    struct kept_query *kept;    /* of a query that the world began with and that wasn't used yet; query is NULL */
    uint32_t generation, world; /* of its handle */
};

/* Files a query, whose epochs are UINT64_MAX at first. One that comes again has to look at all tables if some were used
 * for the first time meanwhile. The caller holds the family's lock. */
void reef__query_types_file(reef_world *w, query_types *x);
void reef__query_types_leave(reef_world *w, query_types *x);
#endif
