/* What a query remembers for loops over stored values, whose blocks end where values lie elsewhere
 * (src/query/iterate_sparse.c). */
#ifndef REEF_QUERY_CUT_TERMS_H
#define REEF_QUERY_CUT_TERMS_H

#include "reef/detail/loop.h"

enum { CUT_ELSEWHERE = UINT16_MAX };

/* A term with data. */
typedef struct cut_term {
    uint32_t component, size;
    uint16_t term;
    uint16_t column; /* its place in query.head; CUT_ELSEWHERE: none */
    bool stored;     /* otherwise it is a column */
    bool packed;     /* its store has slots without holes */
    bool writes;
    bool sure; /* every row that matches has it */
} cut_term;

/* For a query that asks for stored data: its terms with data, the stored ones first. */
typedef struct cutting {
    reef_query_head head; /* the head of its blocks: key i is that of cell i */
    uint32_t count, stored_count, cell_count;
    uint32_t each;        /* the component whose values are visited one by one; 0: none */
    bool writes;          /* some stored term is written */
    bool shared;          /* it writes values that entities have in common, so only one job may */
    bool quick;           /* it has one stored term, without holes, in every match; and a cell for each term */
    bool freezes;         /* it asks which of the stored values changed that it also writes */
    struct joining *join; /* what it remembers of chunks (src/query/match_cache.h) */
    cut_term term[];
} cutting;

/* The versions of a store's pages as they were when a loop began, for each term that asks, in order. */
typedef struct frozen_versions {
    size_t bytes;
    uint64_t version[];
} frozen_versions;

#endif
