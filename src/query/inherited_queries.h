/* The queries that a fork begins with: its origin's, under the same handles, with their parameters, centres and orders.
 *
 *   origin:  slot ── query ── kept_query ◄──┐      what it asks, apart from any world
 *                                           ├── query_list: made at the first fork or snapshot after a query came, went
 *   fork:    slot ──────────────────────────┘       or was changed, and held by worlds and snapshots
 *               └─ at its first use: a query of the fork
 *
 * So a fork costs a copy of the slots, and a query in it what making one costs, but only if it is used. Lists and what
 * they keep never change, so several threads may hold and read them.
 *
 * A handle names the world that made the query. A slot knows that world, too, and so a handle is good in the origin and
 * in all forks that began with the query, and nowhere else. */
#ifndef REEF_QUERY_INHERITED_QUERIES_H
#define REEF_QUERY_INHERITED_QUERIES_H

#include "query/query_text.h"
#include "query/sort_key.h"
#include "query/value_term.h"
#include "reef/place.h"

/* What a query asks. One block of memory, in which all pointers lead. */
typedef struct kept_query {
    size_t bytes;
    uint32_t holders;
    uint32_t count; /* of terms */
    uint64_t serial;
    reef_enabled entities;
    bool since, ordered, near_missing;
    ordering by;
    reef_place_ask near;
    variable_names names;
    uint64_t missing; /* parameters that were never set, as bits */
    value_test *tests;
    term_facts *facts;
    reef_term terms[];
} kept_query;

/* By index; a slot without `kept` is free. */
typedef struct query_list {
    uint32_t holders, count;
    struct query_slot slot[];
} query_list;

/* What other files do only in worlds that are forks or have some, so that other programs are linked without it. */
typedef struct inheritance_calls {
    /* A query that the world began with is used for the first time. NULL: it was freed, or *s becomes NO_MEMORY. */
    query *(*arrive)(reef_world *w, uint32_t index, reef_status *s);
    bool (*forget)(reef_world *w, reef_query q); /* frees such a query. False: it isn't one */
    void (*change)(query *q);                    /* reef__query_changed */
    void (*drop)(reef_world *w);                 /* the world ends; its slots stay */
} inheritance_calls;

/* What the query asks now, for one holder more. NULL: no memory. */
kept_query *reef__query_keep(const query *q);
void reef__kept_leave(family *f, kept_query *k);

/* The queries of a world as they are, for one holder more; *list is NULL if there are none. False: no memory. */
bool reef__queries_hand_on(reef_world *w, query_list **list);
void reef__query_list_leave(family *f, query_list *l); /* NULL is allowed */
/* A new world begins with these, or with those of its origin. False: no memory. */
bool reef__queries_inherit(reef_world *w, query_list *list);
bool reef__queries_follow(reef_world *fork, reef_world *origin);
/* Makes all queries that the world began with and that weren't used yet. False: no memory. */
bool reef__queries_arrive(reef_world *w);

#endif
