/* The blocks of columns: memory for some rows of one column, and the values in it. A shared block becomes this world's
 * own before it is written, and a loop copies the blocks of its next chunk ahead; who holds a block is said by the
 * chunk that has it (src/storage/table.h). */
#ifndef REEF_STORAGE_COPY_ON_WRITE_H
#define REEF_STORAGE_COPY_ON_WRITE_H

#include "storage/world_data.h"

/* Raw memory for this many rows. NULL: there is none. */
void *reef__block_take(family *f, const column *c, uint32_t rows);
void reef__block_give(family *f, const column *c, void *block, uint32_t rows);
/* Makes default values for these entities in raw memory. False: a hook refused, and the memory is raw still. */
bool reef__block_construct(reef_world *w, const column *c, void *to, const reef_entity *e, uint32_t rows);
/* Moves the values of all rows but `raw`, which has none (UINT32_MAX: no such row). */
void reef__block_move(const column *c, char *to, char *from, uint32_t rows, uint32_t raw);
void reef__block_destroy_values(const column *c, void *block, uint32_t rows);

/* Makes a shared block this world's own, written at `version`. The page of its chunk belongs to this world already.
 * False: there is no memory. Several threads may do this for different columns. */
bool reef__block_unshare(reef_world *w, const column *c, uint32_t unit, uint32_t slot, uint32_t rows, uint64_t version);

/* Makes several columns of a chunk this world's own, as reef__column_own. `next` is the chunk in which the loop writes
 * the same columns next; its shared blocks are copied now. 0: there is none. Copies that the loop never comes to are
 * freed by reef__ahead_drop before it ends. */
bool reef__slots_own(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count, uint32_t next);
void reef__ahead_drop(reef_world *w);

#endif
