/* What the rows of a block lead to: the entities that are bound to the variables of a query, and components of these
 * entities, of ancestors and of relations.
 *
 *     reef_query q = reef_query_new(w, "in Fuel, DockedTo($port), in Price($port), in Position up(ChildOf)");
 *     for (reef_block b = reef_begin(w, q); reef_next(&b);) {
 *         const Fuel     *fuel = reef_in(&b, Fuel);
 *         const Price    *price[REEF_BLOCK_ROWS];
 *         const Position *above[REEF_BLOCK_ROWS];
 *         reef_reach(&b, Price, reef_variable(&b, "port"), price);
 *         reef_reach(&b, Position, 0, above);
 *         for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
 *             for (uint32_t i = first; i < first + n; i++) pay(fuel[i], price[i]->coins, above[i]);
 *     }
 *
 * A row that matches with several bindings is visited once for each. docs/manual/relation-queries.md */
#ifndef REEF_REACH_H
#define REEF_REACH_H

#include "block.h"

REEF_BEGIN_C

/* The number of the variable with this name, from 1, in the block's query. It is the same for all blocks of a query: in
 * a text, variables are numbered in the order in which they first appear. 0: there is none. */
REEF_API uint32_t reef_variable(const reef_block *block, const char *name);

/* The entities that are bound to a variable: that of row i at [i], for each row that matches. The array lives until the
 * next reef_next. NULL: the query has no such variable, or the block is none of a loop. */
REEF_API const reef_entity *reef_bound(const reef_block *block, uint32_t variable);

/* Writes to to[i], for each row i of the block, where the value is that row i leads to, by a term with this component:
 *     variable n    "in Price($port)": that of the entity bound to the variable; of a relation with the variable as its
 *                   target, "in Owes($x)": the relation to the entity
 *     variable 0    "in Position up(ChildOf)": that of the nearest ancestor; "in Owes(bob)": the relation to Bob
 * `to` is an array of REEF_BLOCK_ROWS pointers. NULL stands there for a row that doesn't match, where an optional term
 * finds nothing, and where a transitive relation leads to Bob only by way of others. The values are only read, and live
 * until something is changed. Returns `to`; NULL and UNDECLARED if the query has no such term with `in`. Any thread
 * that has the block. */
REEF_API const void *const *reef_block_reach(const reef_block *block, reef_component type, uint32_t variable,
                                             const void **to);

REEF_END_C

/* By the C name of a type; `to` is an array of const T *. */
#define reef_reach(block, T, variable, to) \
    REEF_CAST( \
        const T *const *, \
        REEF_RECAST(void *, \
                    REEF_RECAST(uintptr_t, \
                                reef_block_reach(block, reef_id(T), variable, \
                                                 REEF_CAST(const void **, \
                                                           REEF_CAST(void *, 1 ? (to) : REEF_CAST(const T **, 0)))))))

#endif
