/* Loops over the blocks of a query: what the kinds of loops share, what systems use to mark blocks that they write,
 * and the record of when a query ran last. */
#ifndef REEF_QUERY_ITERATE_H
#define REEF_QUERY_ITERATE_H

#include "query/query.h"

/* Where the chunk's slots are. The match remembers them as those of its first chunk, which may have become another
 * one. */
const reef_slot *reef__match_slots(const reef_block *b, const match *m, uint32_t unit);
void reef__run_forget(const query *q); /* the query is dropped: its entry for the last run goes */

/* Turns a block into one of a loop that looks at rows. */
void reef__walk_open(reef_block *b, const query *q);

/* The columns of a part's block that the loop writes. reef__part_claim makes them this world's own without marking
 * them; false: no memory. reef__part_mark marks them, and the rows' stamps, as written at `version`. While systems
 * run, several threads do this for different columns. */
bool reef__part_claim(reef_block *b, uint64_t version);
void reef__part_mark(reef_block *b, uint64_t version);

/* Prepares the stamps of all rows of a table that a loop writes. */
bool reef__tracks_prepare(query *q, const match *m);
bool reef__run_make(query *q); /* makes an entry for the query's last run in the state; false: no memory */
void reef__run_put(const query *q, uint64_t version);

/* Goes to the next chunk of a loop that looks at rows. The answer is its unit, 0 at the end. */
uint32_t reef__walk_step(reef_block *b);

/* Makes the columns that the loop writes in this chunk this world's own, and marks them. False: no memory, the loop
 * has ended. */
bool reef__walk_own(reef_block *b);

/* The same for everything that the block writes, also in stores. Where blocks have one row each, the call costs more
 * than the question whether the query writes anything (sort_repair: 2.5% of the instructions). */
bool reef__block_own(reef_block *b);
INLINE bool query_writes(const query *q)
{
    return q->head.write_count || q->optional_writes || q->tracked || (q->cut && q->cut->writes);
}

/* Goes to the next chunk with rows that match: b->mask is set then. It is for loops whose blocks are cut. False: the
 * end. */
bool reef__walk_chunk(reef_block *b);

/* Ends the loop because memory is short. The answer is false. */
COLD bool reef__walk_no_memory(reef_block *b);

/* The version that the loop's own writes get, so that they aren't new to its own next run: that of this run, if nobody
 * else looked since it began; otherwise 0. (A block of reef_query_row is no loop.) */
uint64_t reef__own_version(const reef_block *b, const query *q);

/* The version of the query's last run. 0: it never ran in this state. */
uint64_t reef__query_last_run(const query *q);

#endif
