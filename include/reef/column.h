/* More of a block: which of its rows match, arrays by the id of a type, bits of rows, arrays of single fields, values
 * of a fixed source, values of parents, one row. */
#ifndef REEF_COLUMN_H
#define REEF_COLUMN_H

#include "block.h"

REEF_BEGIN_C

/* The array of a component in this block, by the id of its type; otherwise as reef_in and reef_inout. */
REEF_API const void *reef_block_in(const reef_block *block, reef_component type);
REEF_API void *reef_block_inout(const reef_block *block, reef_component type);
/* The rows of the block that match: bit i % 64 of word i / 64 is row i; NULL if all of them do. Blocks without a
 * matching row are not visited. Valid until the next reef_next. */
REEF_INLINE const uint64_t *reef_block_mask(const reef_block *block)
{
#if defined(REEF_CHECKED)
    reef_block_asked_(block);
#endif
    return block && block->count ? block->loop.mask : NULL;
}

/* The rows of this block that have a component or switch which isn't disabled: bit i % 64 of word i / 64 is row i; bits
 * from count on are zero. Writes 16 words to `words` and returns it. The type need not be a term of the query. */
REEF_API const uint64_t *reef_block_bits(const reef_block *block, reef_component type, uint64_t *words);
/* The array of one field, which is named by its offset and size in the struct. For a type in REEF_SPLIT it is the
 * column of that field: block->count values side by side. For another type it works only if the field is the whole
 * struct, since an array never has gaps. Otherwise NULL and UNDECLARED. */
REEF_API const void *reef_block_field_in(const reef_block *block, reef_component type, size_t offset, size_t size);
REEF_API void *reef_block_field_inout(const reef_block *block, reef_component type, size_t offset, size_t size);

/* reef_in_field(b, Position, x) and reef_inout_field(b, Position, x): the field's array, as a pointer to the field's
 * type. */
#define reef_in_field(block, T, field) \
    REEF_CAST(const REEF_TYPE_OF_FIELD(T, field) *, \
              reef_block_field_in(block, reef_id(T), offsetof(T, field), sizeof(REEF_CAST(T *, 0)->field)))
#define reef_inout_field(block, T, field) \
    REEF_CAST(REEF_TYPE_OF_FIELD(T, field) *, \
              reef_block_field_inout(block, reef_id(T), offsetof(T, field), sizeof(REEF_CAST(T *, 0)->field)))

/* The component of a term with a fixed source, for reading or for writing. The pointer lives as long as one from
 * reef_get or reef_mut. NULL if an optional one isn't there, or if the query has no such term. The call for writing
 * marks it as changed. */
REEF_API const void *reef_block_fixed_in(const reef_block *block, reef_component type);
REEF_API void *reef_block_fixed_inout(const reef_block *block, reef_component type);

/* For a loop over a query in the order of a hierarchy (reef_order.relation). All rows of a block have the same depth,
 * and their parents lie in one chunk: reef_block_parents_in is the array of a component in that chunk, and the parent
 * of row i is at parent_rows[i]. So the parents' values are at hand, and they were visited before:
 *     const World *up = reef_parents_in(&b, World);
 *     const uint32_t *parent = reef_block_parent_rows(&b);
 *     for (uint32_t i = 0; up && i < b.count; i++) world[i] = times(up[parent[i]], local[i]);
 * The array is NULL where rows have no parent, or the parents don't have the component in their table. It lives as the
 * arrays of the block do. In a loop by target, all rows of a block have one target, which is their parent here. In
 * other loops both are NULL. */
REEF_API const void *reef_block_parents_in(const reef_block *block, reef_component type);
REEF_API const uint32_t *reef_block_parent_rows(const reef_block *block);

/* Makes a block of one row, that of `entity`, for the accessors above. False if the entity doesn't match. This is no
 * loop, and it needs no end. The block lives until the next call that takes the world without const. */
REEF_API bool reef_query_row(reef_world *world, reef_query query, reef_entity entity, reef_block *row);

/* By the C name of a type. */
#define reef_parents_in(block, T) REEF_CAST(const T *, reef_block_parents_in(block, reef_id(T)))
#define reef_bits(block, T, words) reef_block_bits(block, reef_id(T), words)
#define reef_fixed_in(block, T) REEF_CAST(const T *, reef_block_fixed_in(block, reef_id(T)))
#define reef_fixed_inout(block, T) REEF_CAST(T *, reef_block_fixed_inout(block, reef_id(T)))

REEF_END_C

#endif
