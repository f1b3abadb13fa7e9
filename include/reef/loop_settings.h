/* Loops with settings: a part of what matches, what changed since a point in time, groups, changes of the structure.
 * Also loops that call a function, and the steps of reef_each. */
#ifndef REEF_LOOP_SETTINGS_H
#define REEF_LOOP_SETTINGS_H

#include "loop.h"

REEF_BEGIN_C

/* What a loop visits; {0}: everything, in the visible order. */
typedef struct reef_loop {
    uint64_t offset; /* matching rows to skip at the beginning */
    uint64_t limit;  /* matching rows to visit at most; 0: all */
    /* for terms with REEF_IF_CHANGED and REEF_IF_ADDED: a point in time from reef_version; 0: since this query last
     * ran */
    uint64_t since;
    bool grouped; /* for an ordered query (reef_query_order): visit only the rows whose key is `group` */
    uint64_t group;
    /* structural changes by calls on the world are recorded, and applied when the loop ends: see below */
    bool deferred;
} reef_loop;

/* reef_begin with settings. Further errors: BAD_ARGUMENT. */
REEF_API reef_block reef_begin_loop(reef_world *world, reef_query query, const reef_loop *loop);
/* Calls `function` for each block, in order. `context` becomes block->context. Errors: as reef_begin,
 * BAD_ARGUMENT (no function). */
REEF_API reef_status reef_run(reef_world *world, reef_query query, void (*function)(reef_block *block), void *context);

/* Goes to the next row: row->entity, at row->i of row->block. False: there is no more, or no memory, as for
 * reef_next. */
REEF_INLINE bool reef_row_next(reef_row *row)
{
    return reef_row_step(row) || (reef_rows_more_(row) && reef_row_step(row));
}

/* ---- changing the structure inside a loop ----
 *
 *     for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);) ... reef_destroy(w,
 *     e) ...
 *
 * While such a loop is open, these calls are recorded and return OK: making entities (also by bundles and clones),
 * destroying, add, remove, remove_all, enabling and disabling; set and change only where they would do more than write
 * values that are there. The calls are applied one by one, in their order, when the last open loop ends;
 * docs/rules/deferred.md has the table. Mistakes that don't depend on the state are refused at once: dead handles,
 * unknown types, wrong sizes, a component named twice. Everything else is decided when a call is applied (EXISTS,
 * ABSENT, NOT_ALIVE because an earlier call destroyed the entity). A call that fails then has no effect, and the others
 * are still applied; each failure goes to the log as a warning, and the first one is reef_last_error after the loop.
 * All other structural calls, and reef_ensure of a component that isn't there, still return LOCKED.
 *
 * Calls that make entities return the handles at once. They can be used in all of these calls, and the entities are
 * alive when the loop has ended. Ids are taken at the call: an index that a destroy frees in the same loop isn't used
 * again in it, and if the call fails later, its index is free again with the next generation. Values are copied at once
 * (those that can't be copied are moved out of the caller's), and destroyed if their call fails later. A component
 * whose constructor gets args is constructed at once.
 *
 * Loops may be nested: calls are recorded while any loop with `deferred` is open, and applied when no loop is open any
 * more. */

/* Applies the recorded calls that are left. When memory runs out at a loop's end, reef_last_error().status is
 * NO_MEMORY, and the call that failed and all calls after it are kept for the end of the next loop, or for this
 * function. Until nothing is left, snapshots and forks are refused (LOCKED); a restore and the end of the world drop
 * what is left. Returns OK if everything is applied, also if there was nothing; NO_MEMORY if some calls are left;
 * LOCKED if a loop is open. Any other status means that everything is applied, and is the status of the first call that
 * failed. */
REEF_API reef_status reef_flush(reef_world *world);

REEF_END_C

#endif
