/* Sorting storage: the rows of tables are moved, so that loops visit them in a useful order.
 *
 *     reef_sort_storage(w, &(reef_sort){0});                                           all tables, by entity
 *     reef_sort_storage(w, &(reef_sort){.order = {reef_id(Cell), cell_key}});          tables that have Cell, by cell
 *     reef_sort_storage(w, &(reef_sort){.grouped = true});                             by targets of relations
 *
 * Each table is sorted separately; the order of tables stays. Later changes disturb the order again: a row that is
 * removed is replaced by the table's last row, and new rows come last. The order of rows is part of the state: forks
 * and snapshots have it, and the hash of the world depends on it. An order by a relation takes those that are disabled
 * as any other: it is about what lies side by side, and no query. */
#ifndef REEF_SORT_H
#define REEF_SORT_H

#include "order.h"
#include "world.h"

REEF_BEGIN_C

/* Which tables are sorted, and by what; {0}: all tables, by entity. */
typedef struct reef_sort {
    reef_order order;
    /* only tables that have all of these types, which must be in REEF_TABLE or REEF_SPLIT; NULL: all tables */
    const reef_component *types;
    uint32_t type_count;
    bool exactly; /* only the table with exactly these types, which must include the order's component */
    /* rows are put into groups, as REEF_GROUPED asks for it (reef/relation.h); `order` must be {0}. reef_tick does this
     * by itself */
    bool grouped;
} reef_sort;

/* Sorts the rows of every table that has the order's component and the types. If the component is outside of the table,
 * at least one row must have it; rows that don't have it come last, by entity. All components of an entity move with
 * it; handles, names and free ids stay. Tables that are sorted already aren't touched. In the others, all columns of
 * the blocks with rows that move count as written, and are copied if a fork or snapshot shares them.
 *
 * Errors, after which every row is where it was: UNKNOWN_TYPE, DUPLICATE_TERM, BAD_ARGUMENT (an impossible order: no
 * data, no such field, a field that isn't a single number; a switch or another component outside of the table among the
 * types; `exactly`, without the order's component among the types), LIMIT (more than REEF_COMPONENTS_MAX types), LOCKED
 * (a loop is open), NO_MEMORY (also when a copy hook fails; the error names the type). Costs O(rows), and takes 6 bytes
 * for each row of the tables that change, and 32 for each row of the largest one (48 for groups). */
REEF_API reef_status reef_sort_storage(reef_world *world, const reef_sort *sort);

REEF_END_C

#endif
