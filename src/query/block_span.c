/* What a block gives where a column isn't an array of whole values: several values of a type on one entity, and single
 * fields of a split type. */
#include "storage/multi_store.h"
#include "storage/sparse_store.h"
#include "storage/split_columns.h"
#include "reef/multi.h"
#include "reef/column.h"

const void *reef_block_get_all_id(const reef_block *b, reef_component c, uint32_t row, uint32_t *count)
{
    const char *values = reef_block_in(b, c);
    const type *t = reef__type_of(c.id);
    if (count) *count = 0;
    if (values == NULL || row >= b->count) return NULL;
    const bool several = t->home == REEF_MULTI;
    const void *first = several ? store_find(b->world, c.id, b->entities[row]) : values + (size_t)row * t->size;
    return reef__span_of(b->world, b->entities[row], c, first, count);
}

void *reef_block_mut_all_id(const reef_block *b, reef_component c, uint32_t row, uint32_t *count)
{
    const bool ours = reef_block_inout(b, c) != NULL;
    if (!ours && count) *count = 0;
    return ours ? (void *)(uintptr_t)reef_block_get_all_id(b, c, row, count) : NULL;
}

const void *reef_block_field_in(const reef_block *b, reef_component c, size_t offset, size_t size)
{
    return reef_block_in(b, reef__field_type(c, offset, size));
}

void *reef_block_field_inout(const reef_block *b, reef_component c, size_t offset, size_t size)
{
    return reef_block_inout(b, reef__field_type(c, offset, size));
}
