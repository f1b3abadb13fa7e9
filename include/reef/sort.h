/* Sorting storage itself: rows change their places, so that a walk visits them in a useful order.
 *
 *     reef_sort_storage(w, &(reef_sort){0});                                           all tables, by entity
 *     reef_sort_storage(w, &(reef_sort){.order = {reef_id(Cell), cell_key}});          tables that have Cell, by cell
 *
 * Each table is sorted by itself; the order of tables stays. Later changes break the order again: a row that leaves is
 * replaced by its table's last one, new rows come last. The order of rows is state: forks and snapshots have it, and
 * the hash of the world changes with it. */
#ifndef REEF_SORT_H
#define REEF_SORT_H

#include "order.h"
#include "world.h"

REEF_BEGIN_C

/* Which tables are sorted, and by what; {0}: all, by entity. */
typedef struct reef_sort {
    reef_order order;
    /* only tables that have all of these, none of them outside of the table; NULL: all tables */
    const reef_component *types;
    uint32_t type_count;
    bool exactly; /* only the table of exactly this set, which must have the order's component */
} reef_sort;

/* Sorts the rows of every table that has the order's component and the types. (Of a component outside of the table:
 * some row has it; those that haven't come last, by entity.) All that an entity has moves with it; handles,
 * names and free ids stay. Of tables that are sorted already nothing is touched; in the others, all columns of the
 * blocks that have a row on the move count as written, and are copied if a fork or snapshot shares them.
 *
 * Errors, after which every row is where it was: UNKNOWN_TYPE, DUPLICATE_TERM, BAD_ARGUMENT (an order that can't be:
 * no data, no such field, a field that is no single number; a switch, or another component outside of the table,
 * among the types; a set that lacks the order's component), LIMIT (more than REEF_COMPONENTS_MAX types), LOCKED (a
 * loop is open), NO_MEMORY (also when a copy hook fails; the error names the type). Costs O(rows), and takes 6 bytes
 * for each row of the tables that change, 32 for each of the largest one. */
REEF_API reef_status reef_sort_storage(reef_world *world, const reef_sort *sort);

REEF_END_C

#endif
