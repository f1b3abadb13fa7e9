/* storage/copy_on_write: TODO */
#ifndef REEF_STORAGE_COPY_ON_WRITE_H
#define REEF_STORAGE_COPY_ON_WRITE_H

#include "storage/layout.h"
#include "reef/type.h"

/* A shared block, on a page that is ours, becomes the world's own, written at `version`. False: no memory. Several
 * threads may do this for different columns. (src/storage/copy_on_write.c) */
bool reef__block_unshare(reef_world *w, const column *c, uint32_t unit, uint32_t slot, uint32_t rows, uint64_t version);

/* Some columns, as reef__column_own. `next`: the chunk of which a loop writes the same columns next: what of them is
 * shared is copied now; 0: none is. What isn't fetched is dropped by reef__ahead_drop, before the loop ends.
 * (src/storage/copy_on_write.c) */
bool reef__slots_own(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count, uint32_t next);
void reef__ahead_drop(reef_world *w);

#endif
