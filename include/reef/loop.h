/* Loops visit all that a query matches, block by block or row by row, on one thread or on several. */
#ifndef REEF_LOOP_H
#define REEF_LOOP_H

#include "block.h"

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

/* Opens a loop. On failure the loop has no blocks, and the error is recorded: NOT_ALIVE, OTHER_WORLD, NO_MEMORY. */
REEF_API reef_block reef_begin(reef_world *world, reef_query query);
/* The same with settings. Further errors: BAD_ARGUMENT. */
REEF_API reef_block reef_begin_loop(reef_world *world, reef_query query, const reef_loop *loop);
/* Opens a loop over a query that is used once: it is made from the text, and freed when the loop ends. Errors: as
 * reef_query_new. */
REEF_API reef_block reef_begin_text(reef_world *world, const char *text);
/* Goes to the next block. False at the end, or when there is no memory to copy a block that is shared with a fork or a
 * snapshot. Then reef_last_error().status is NO_MEMORY; after a complete loop it is OK. */
REEF_INLINE bool reef_next(reef_block *block);
/* The same, as a function that other languages can call. */
REEF_API bool reef_next_block(reef_block *block);
/* Leaves a loop before its end. */
REEF_API void reef_end(reef_block *block);

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

/* Calls `function` for each block, in order. `context` becomes block->context. Errors: as reef_begin,
 * BAD_ARGUMENT (no function). */
REEF_API reef_status reef_run(reef_world *world, reef_query query, void (*function)(reef_block *block), void *context);

/* ---- row by row ----
 *     reef_each(w, q, row) reef_inout_at(row, Position)->x += reef_in_at(row, Velocity)->x;
 * visits only the matching rows. Leave it early by break; from further inside, call reef_end(&row.block) first. Where
 * matching rows don't lie side by side, this form is faster than a loop over blocks of one row each: it finds many rows
 * at a time. */
/* Opens such a loop, before its first row. Errors: as reef_begin; then there are no rows. */
REEF_API reef_row reef_rows(reef_world *world, reef_query query);
/* Goes to the next row: row->entity, at row->i of row->block. False: there is no more, or no memory, as for
 * reef_next. */
REEF_INLINE bool reef_row_next(reef_row *row);
/* Runs the statement for each row that matches; `row` is declared as a reef_row. (These are two loops, so that the
 * inner one calls nothing. A `break` leaves both.) */
#define reef_each(world, query, row) \
    for (reef_row row = reef_rows(world, query); reef_rows_more_(&row);) \
        while (reef_row_step(&row))
REEF_END_C

/* reef_next and reef_each are inlined. */
#include "detail/loop.h"

#endif
