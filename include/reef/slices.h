/* A loop that is cut into slices, for threads of the caller's own. */
#ifndef REEF_SLICES_H
#define REEF_SLICES_H

#include "loop_settings.h"

REEF_BEGIN_C

/* A loop that is cut into `count` slices for different threads. Each is visited by the same code as a whole loop:
 *     reef_slices *s = reef_slices_begin(w, q, NULL, 4);
 *     ... on thread i: for (reef_block b = reef_slice(s, i); reef_next(&b);) ...
 *     reef_slices_end(s);
 * reef_slices_begin copies all shared blocks that will be written (for REEF_OUT too) and marks them as changed, so the
 * slices never fail and never wait. Slices are runs of blocks in the visible order, with about equal numbers of rows,
 * and depend on the state and `count` alone. Between begin and end, only the blocks of the slices and calls on a const
 * world may be used. NULL on failure: as reef_begin_loop, and BAD_ARGUMENT for count 0 or above REEF_SLICES_MAX, for a
 * loop with offset, limit, groups or deferred changes, for an ordered query, and for a query that writes a component
 * and also asks inside a group whether it changed. */
typedef struct reef_slices reef_slices;
/* Cuts a loop, as above; NULL on failure. The slices live until reef_slices_end. */
REEF_API reef_slices *reef_slices_begin(reef_world *world, reef_query query, const reef_loop *loop, uint32_t count);
/* Opens the loop over slice `number`, 0 ... count - 1; any other has no blocks. Any thread; each slice is visited
 * once. */
REEF_API reef_block reef_slice(reef_slices *slices, uint32_t number);
/* Ends the loop. Call it when all threads are done with their slices. NULL is allowed. */
REEF_API void reef_slices_end(reef_slices *slices);

REEF_END_C

#endif
