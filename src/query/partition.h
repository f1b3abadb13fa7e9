/* query/partition: TODO */
#ifndef REEF_QUERY_PARTITION_H
#define REEF_QUERY_PARTITION_H

#include "query/query.h"
#include "reef/loop.h"

/* The block, which reef__walk_open made one of a whole loop, becomes one of the part up to `to`: it marks nothing,
 * and its end unlocks nothing. (src/query/partition.c) */
void reef__part_open(reef_block *b, const split_place *from, const split_place *to);

#endif
