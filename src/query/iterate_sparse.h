/* query/iterate_sparse: TODO */
#ifndef REEF_QUERY_ITERATE_SPARSE_H
#define REEF_QUERY_ITERATE_SPARSE_H

#include "query/query.h"
#include "reef/loop.h"

bool reef__cutting_make(query *q); /* query.cut; false: no memory */
void reef__cutting_drop(query *q);

/* The next block of a loop whose blocks are cut. False: the end. */
/* the next value of the term with `each`; after the last the next block */
bool reef__each_next(reef_block *b, bool (*next)(reef_block *));
bool reef__cut_next(reef_block *b);
/* row by row: the next chunk, whose rows these are; NULL: it's reef__cut_next's */
const struct join_list *reef__gather_next(reef_block *b);
bool reef__run_next(reef_block *b);     /* while there are runs */
bool reef__cut_gathers(const query *q); /* row by row, blocks may be whole chunks */

/* How many of n rows side by side, which match, may be one block. */
uint32_t reef__cut_rows(const query *q, const reef_entity *e, uint32_t n);

/* Pages of the values that the block's rows have and the loop writes: ours and marked. False: no memory, the loop
 * ended. */
bool reef__stored_own_rows(reef_block *b);

/* For systems: room for the stamps of all who have a stored component (false: no memory). Pages of what the block
 * writes ours (false: no memory); marked as written at `version`: several threads may do this. */
bool reef__stored_track_prepare(reef_world *w, uint32_t component);
bool reef__stored_claim(reef_block *b, uint64_t version);
void reef__stored_mark(const reef_block *b, uint64_t version);

/* Room for the versions of the pages that the loop writes and asks about (`old` or larger; NULL: no memory); as they
 * are now. */
frozen_versions *reef__frozen_make(const query *q, frozen_versions *old);
void reef__frozen_fill(const query *q, frozen_versions *f);
void reef__frozen_drop(reef_world *w, frozen_versions *f);

/* Was the page of the entity's value, as term i wants it, written since? */
bool reef__value_changed(const look *l, uint32_t i, reef_entity e);

#endif
