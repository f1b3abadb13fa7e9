/* Parts of a loop: what systems share with the public calls (`reef_split_begin` and its kin). */
#ifndef REEF_QUERY_PARTITION_H
#define REEF_QUERY_PARTITION_H

#include "query/query.h"
#include "reef/loop.h"

/* Turns the block, which reef__walk_open made one of a whole loop, into one of the part from `from` to `to`. Such a
 * block marks nothing, and ending it unlocks nothing. */
void reef__part_open(reef_block *b, const split_place *from, const split_place *to);

#endif
