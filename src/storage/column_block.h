/* The blocks of columns: memory for some rows of one column, and the values in it. Who holds a block, and who may write
 * it, is said by the chunk that has it (src/storage/table.h). */
#ifndef REEF_STORAGE_COLUMN_BLOCK_H
#define REEF_STORAGE_COLUMN_BLOCK_H

#include "storage/world_data.h"

/* Raw memory for this many rows. NULL: there is none. */
void *reef__block_take(family *f, const column *c, uint32_t rows);
void reef__block_give(family *f, const column *c, void *block, uint32_t rows);
/* Makes default values for these entities in raw memory. False: a hook refused, and the memory is raw still. */
bool reef__block_construct(reef_world *w, const column *c, void *to, const reef_entity *e, uint32_t rows);
/* Copies values to raw memory, for another holder of these entities. False: there is no memory, or a hook refused, and
 * the memory is raw still. */
bool reef__block_copy(reef_world *w, const column *c, void *to, const void *from, const reef_entity *e, uint32_t rows);
/* Moves the values of all rows but `raw`, which has none (UINT32_MAX: no such row). */
void reef__block_move(const column *c, char *to, char *from, uint32_t rows, uint32_t raw);
void reef__block_destroy_values(const column *c, void *block, uint32_t rows);

#endif
