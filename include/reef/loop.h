/* Loops visit all that a query matches, block by block or row by row, on one thread or on several. */
#ifndef REEF_LOOP_H
#define REEF_LOOP_H

#include "block.h"

REEF_BEGIN_C

/* Opens a loop. On failure the loop has no blocks, and the error is recorded: NOT_ALIVE, OTHER_WORLD, NO_MEMORY. */
REEF_API reef_block reef_begin(reef_world *world, reef_query query);
/* Opens a loop over a query that is used once: it is made from the text, and freed when the loop ends. Errors: as
 * reef_query_new. */
REEF_API reef_block reef_begin_text(reef_world *world, const char *text);
/* Goes to the next block. False at the end, or when there is no memory to copy a block that is shared with a fork or a
 * snapshot. Then reef_last_error().status is NO_MEMORY; after a complete loop it is OK. */
REEF_INLINE bool reef_next(reef_block *block);
/* Leaves a loop before its end. */
REEF_API void reef_end(reef_block *block);

/* ---- row by row ----
 *     reef_each(w, q, row) reef_inout_at(row, Position)->x += reef_in_at(row, Velocity)->x;
 * visits only the matching rows. Leave it early by break; from further inside, call reef_end(&row.block) first. Where
 * matching rows don't lie side by side, this form is faster than a loop over blocks of one row each: it finds many rows
 * at a time. */
/* Opens such a loop, before its first row. Errors: as reef_begin; then there are no rows. */
REEF_API reef_row reef_rows(reef_world *world, reef_query query);
/* Runs the statement for each row that matches; `row` is declared as a reef_row. (These are two loops, so that the
 * inner one calls nothing. A `break` leaves both.) */
#define reef_each(world, query, row) \
    for (reef_row row = reef_rows(world, query); reef_rows_more_(&row);) \
        while (reef_row_step(&row))
REEF_END_C

/* reef_next and reef_each are inlined. */
#include "detail/loop.h"

#endif
