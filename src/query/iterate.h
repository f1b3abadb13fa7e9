/* query/iterate: TODO */
#ifndef REEF_QUERY_ITERATE_H
#define REEF_QUERY_ITERATE_H

#include "base/platform.h"
#include "query/query.h"

/* of the first chunk, which is another one by now */
const reef_slot *reef__match_slots(const reef_block *b, const match *m, uint32_t unit);
void reef__run_forget(const query *q); /* of a query that goes: the place of its last run (src/query/iterate.c) */

/* The block becomes one of a loop that looks at rows. */
void reef__walk_open(reef_block *b, const query *q);

/* The columns of a part's block that the loop writes: ours without being marked (false: no memory); marked as
 * written at `version`, with the rows' stamps. While systems run several threads do this for different columns. */
bool reef__part_claim(reef_block *b, uint64_t version);
void reef__part_mark(reef_block *b, uint64_t version);

/* What the stamps of all rows of a table need where a loop writes it. */
bool reef__tracks_prepare(query *q, const match *m);
bool reef__run_make(query *q); /* a place for the query's last run in the state; false: no memory */
void reef__run_put(const query *q, uint64_t version);

/* The next chunk of such a loop: its unit, 0 at the end. */
uint32_t reef__walk_step(reef_block *b);

/* Its columns that the loop writes become ours and marked. False: no memory, the loop ended. */
bool reef__walk_own(reef_block *b);

/* The next chunk of such a loop, with rows that match: b->mask, which is set in a loop whose blocks are cut. False:
 * the end. */
bool reef__walk_chunk(reef_block *b);

/* The loop ends since memory is short: false. */
COLD bool reef__walk_no_memory(reef_block *b);

/* What the loop writes isn't new to its own next run: the version of this one, if nobody else looked since it began;
 * otherwise 0. */
uint64_t reef__own_version(const reef_block *b, const query *q);

/* The version of the last run, 0: it never ran in this state. */
uint64_t reef__query_last_run(const query *q);

#endif
