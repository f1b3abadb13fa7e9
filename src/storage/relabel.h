/* All rows of a table get one component more or less, and go to the table of the other set as they are. */
#ifndef REEF_STORAGE_RELABEL_H
#define REEF_STORAGE_RELABEL_H

#include "storage/layout.h"
#include "reef/world.h"

/* Moves all rows of a table to `to`, which has none, and which has one component more or less. The blocks stay; only
 * the chunks get another table. Neither table has hooks, and no row loses a mark. `value` is the value of the new
 * column, NULL: zero; it is written into all rows when the new blocks are made. reef__relabel_prepare answers false
 * when there is no memory; then cancel. After true commit or cancel. */
typedef struct relabel {
    table *from, *to;
    uint32_t slot, gone; /* slot: the column that comes, in `to`; gone: the one that goes, in `from`. 0: it is a tag. */
    uint32_t chunks, fresh_count, unit_count;
    void **fresh; /* for each chunk: the block of the column that comes or goes */
    /* for each chunk: its new unit, where chunks of `to` have more or fewer units; NULL: units stay, and no record
     * changes */
    uint32_t *unit;
} relabel;
bool reef__relabel_prepare(reef_world *w, relabel *r, uint32_t from, const edge *e, bool remove, const void *value);
void reef__relabel_cancel(reef_world *w, relabel *r);
void reef__relabel_commit(reef_world *w, relabel *r);

#endif
