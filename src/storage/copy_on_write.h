/* Blocks of columns under copy-on-write: a shared block becomes this world's own before it is written. */
#ifndef REEF_STORAGE_COPY_ON_WRITE_H
#define REEF_STORAGE_COPY_ON_WRITE_H

#include "storage/layout.h"
#include "reef/type.h"

/* Makes a shared block this world's own, written at `version`. The page of its chunk belongs to this world already.
 * False: there is no memory. Several threads may do this for different columns. */
bool reef__block_unshare(reef_world *w, const column *c, uint32_t unit, uint32_t slot, uint32_t rows, uint64_t version);

/* Makes several columns of a chunk this world's own, as reef__column_own. */
bool reef__slots_own(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count);

#endif
