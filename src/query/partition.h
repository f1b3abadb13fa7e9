/* Parts of a loop: what systems share with the public calls (`reef_slices_begin` and its kin). */
#ifndef REEF_QUERY_PARTITION_H
#define REEF_QUERY_PARTITION_H

#include "query/query.h"
#include "reef/loop.h"

/* Makes a block that stands before the first block of the part from `from` to `to`. The loop of a part locks and marks
 * nothing, and ending it unlocks nothing. q NULL: a block without rows. */
void reef__part_begin(reef_block *b, reef_world *w, query *q, const split_place *from, const split_place *to);

#endif
