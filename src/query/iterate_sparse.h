/* Loops over queries that ask for values in stores: their blocks are cut where the values don't lie side by side. And
 * what such loops write: whose pages become this world's own, and how they are marked. */
#ifndef REEF_QUERY_ITERATE_SPARSE_H
#define REEF_QUERY_ITERATE_SPARSE_H

#include "query/query.h"
#include "reef/loop.h"

bool reef__cutting_make(query *q); /* makes query.cut if a term asks for stored data; false: no memory */
void reef__cutting_drop(query *q);

/* The next block. reef__each_next hands out the values of the term with `each` one by one and then takes the next
 * block from `next`; reef__cut_next takes the next block of rows. False: the end. */
bool reef__each_next(reef_block *b, bool (*next)(reef_block *));
bool reef__cut_next(reef_block *b);
/* For loops row by row: goes to the table's next chunk whose rows are remembered, and gives back these rows. NULL: the
 * next step is reef__cut_next's. */
const struct join_list *reef__gather_next(reef_block *b);
bool reef__run_next(reef_block *b);     /* the next block of a chunk whose rows are remembered, while there are any */
bool reef__cut_gathers(const query *q); /* may blocks be whole chunks, in a loop row by row? */

/* How many of n rows that lie side by side, and match, may be one block. */
uint32_t reef__cut_rows(const query *q, const reef_entity *e, uint32_t n);

/* Makes the pages of the values that the block's rows have, and the loop writes, this world's own and marks them.
 * False: no memory, the loop has ended. */
bool reef__stored_own_rows(reef_block *b);

/* For systems. reef__stored_track_prepare makes room for the stamps of all entities that have a stored component, and
 * reef__stored_claim makes the pages that the block writes this world's own; false: no memory. reef__stored_mark marks
 * them as written at `version`. Several threads may call the last two. */
bool reef__stored_track_prepare(reef_world *w, uint32_t component);
bool reef__stored_claim(reef_block *b, uint64_t version);
void reef__stored_mark(const reef_block *b, uint64_t version);

/* reef__frozen_make makes room for the versions of the pages that the loop both writes and asks about, in `old` or a
 * larger piece of memory; NULL: no memory. reef__frozen_fill copies the versions as they are now. */
frozen_versions *reef__frozen_make(const query *q, frozen_versions *old);
void reef__frozen_fill(const query *q, frozen_versions *f);
void reef__frozen_drop(reef_world *w, frozen_versions *f);

/* Was the page of the entity's value, as term i wants it, written since? */
bool reef__value_changed(const look *l, uint32_t i, reef_entity e);

/* A match whose columns are the cells of a block: with it the accessors find cells where they find slots otherwise. */
extern const match *const reef__cells_match;

#endif
