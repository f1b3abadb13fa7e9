/* Loops: walking over all that a query matches, block by block or row by row, by one thread or by several. */
#ifndef REEF_LOOP_H
#define REEF_LOOP_H

#include "block.h"

REEF_BEGIN_C

/* How to walk; {0}: everything, in the visible order. */
typedef struct reef_loop {
    uint64_t offset; /* matching rows to skip at the beginning */
    uint64_t limit;  /* matching rows to visit at most; 0: all */
    /* for terms REEF_IF_CHANGED and REEF_IF_ADDED: a version of reef_version; 0: since this query last ran */
    uint64_t since;
    bool grouped; /* of an ordered query (reef_query_order): only the rows whose key is `group` */
    uint64_t group;
    /* structural changes by calls on the world are recorded, and done when the loop ends: see below */
    bool deferred;
} reef_loop;

/* Opens a loop. A query that is refused gives a loop without blocks, and the error is recorded: NOT_ALIVE,
 * OTHER_WORLD, NO_MEMORY. */
REEF_API reef_block reef_begin(reef_world *world, reef_query query);
/* The same with a say in how. Further errors: BAD_ARGUMENT. */
REEF_API reef_block reef_begin_loop(reef_world *world, reef_query query, const reef_loop *loop);
/* A loop over a query that is asked once: made from the text, freed at the loop's end. Errors as reef_query_new. */
REEF_API reef_block reef_begin_text(reef_world *world, const char *text);
/* The next block; false at the end, or when memory for unsharing a block ran out (then reef_last_error().status is
 * NO_MEMORY; it is OK after a whole loop). */
REEF_INLINE bool reef_next(reef_block *block);
/* The same as a function that other languages can call. */
REEF_API bool reef_next_block(reef_block *block);
/* Leaves a loop before its end. */
REEF_API void reef_end(reef_block *block);

/* ---- changing the structure inside of a loop ----
 *
 *     for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);) ... reef_destroy(w,
 *     e) ...
 *
 * While such a loop is open, these calls are recorded and answer OK: making (also by a bundle, and clones),
 * destroying, add, remove, remove_all, enabling and disabling; set and change where they would do more than write
 * what is there. They are done when the last open loop ends, in the order of the calls, and mean what they would
 * mean if they were made then, one by one; docs/rules/deferred.md has the table. What can be told at once is refused at
 * once: dead handles, unknown types, sizes, doubles; what depends on the state is decided when it is done (EXISTS,
 * ABSENT, NOT_ALIVE since a call before it destroyed the entity). A call that fails then has no effect, the others
 * are done; each goes to the log as a warning, and the first is reef_last_error after the loop. All other structural
 * calls, and reef_ensure of what isn't there, go on answering LOCKED.
 *
 * Making gives the handles at once: they are good for all of these calls, and not alive until the loop's end. Ids
 * are taken when the call is made: an index that becomes free by a destroy in the same loop isn't taken again in it,
 * and a call that makes an entity and fails in the end has taken one (its index is free then, with the next
 * generation). Values are copied at once (moved out of the caller's where there is no copy), and destroyed if their
 * call fails in the end. What a constructor is given args for is constructed at once.
 *
 * Loops inside of one another: calls are recorded while any loop is open that asked for it, and done when none is
 * open any more. */

/* Does what is left when memory ran out at a loop's end: then reef_last_error().status is NO_MEMORY, and the call
 * that failed so and all behind it are kept for the end of the next loop, or for this. Until nothing is left,
 * snapshots and forks are refused (LOCKED); a restore, and the end of the world, forget what is left. OK: all is
 * done, also if there was nothing. NO_MEMORY: some are left. LOCKED: a loop is open. Otherwise all is done, and this
 * is what the first call that failed would have answered. */
REEF_API reef_status reef_flush(reef_world *world);

/* Calls `function` for each block, in order: any function, once, without registering it. `context` is
 * block->context. */
REEF_API reef_status reef_run(reef_world *world, reef_query query, void (*function)(reef_block *block), void *context);

/* ---- row by row ----
 *     reef_each(w, q, row) reef_at(row, Position)->x += reef_at_in(row, Velocity)->x;
 * visits the matching rows only. Leave it early by break, or from further inside by reef_end(&row.block) first.
 * Where rows lie apart, this is the quicker form: blocks of one row are found once for each, rows many at a time. */
/* Opens such a walk, before its first row. Errors as reef_begin; then there are no rows. */
REEF_API reef_row reef_rows(reef_world *world, reef_query query);
/* The next row: row->entity, at row->i of row->block. False: no more, or no memory, as reef_next. */
REEF_INLINE bool reef_row_next(reef_row *row);
/* For each row that matches; `row` is a reef_row of the loop. (Two loops, so that the inner one calls nothing.) */
#define reef_each(world, query, row) \
    for (reef_row row = reef_rows(world, query); reef_rows_more(&row);) \
        while (reef_row_step(&row))
/* ---- shares for the caller's own threads ---- */

/* A loop split into `count` parts that are walked on different threads, each by the same code as a whole loop:
 *     reef_split *s = reef_split_begin(w, q, NULL, 4);
 *     ... on thread i: for (reef_block b = reef_split_part(s, i); reef_next(&b);) ...
 *     reef_split_end(s);
 * begin unshares (by copying, REEF_OUT too) and marks everything that will be written, so the parts never fail and
 * never wait. Parts are runs of blocks in the visible order, about equal in rows, and depend on the state and
 * `count` alone. Between begin and end only the blocks of the parts and calls on a const world may be used. NULL on
 * failure: as reef_begin_loop, and BAD_ARGUMENT for count 0 or above REEF_SPLIT_MAX, for a loop with offset, limit,
 * groups or deferred changes, for an ordered query, and for one that asks inside a group whether a component changed
 * that it writes. */
typedef struct reef_split reef_split;
/* Makes such a split, as above; NULL on failure. It lives until reef_split_end. */
REEF_API reef_split *reef_split_begin(reef_world *world, reef_query query, const reef_loop *loop, uint32_t count);
/* The loop over part `part`, 0 ... count - 1; any other has no blocks. Any thread; each part is walked once. */
REEF_API reef_block reef_split_part(reef_split *split, uint32_t part);
/* Ends the split when all threads are done with their parts. NULL is allowed. */
REEF_API void reef_split_end(reef_split *split);

REEF_END_C

/* reef_next and reef_each are inlined. */
#include "detail/loop.h"

#endif
