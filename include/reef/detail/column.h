/* The inlined half of a block's accessors: from a block or a row to the values of a component. This isn't part of the
 * interface, and may change with every version. */
#ifndef REEF_DETAIL_COLUMN_H
#define REEF_DETAIL_COLUMN_H

#include "../block.h"
#include "access.h"

REEF_BEGIN_C

/* The values of a component that isn't in the query's head: an optional one, one in a block that is part of a chunk, or
 * one that the query doesn't name. */
REEF_API const void *reef_block_other_(const reef_block *block, reef_component type, bool write);
/* The same for a declared type, whose id may not be known yet. It is pure, so that the loop's position stays in
 * registers across the call. */
REEF_API const void *reef_block_slow_(const reef_block *block, reef_type_decl *decl, bool write) REEF_PURE;

/* Notes in the checked build that the loop asks which rows match. */
REEF_API void reef_block_asked_(const reef_block *block);

/* A column's slot, from the chunk's slots (reef_slot_of), or from the slot of the first column, which is known without
 * reading the match (reef_slot_beside). */
REEF_INLINE uint32_t reef_column_at(const reef_match *m, size_t i)
{
    return (REEF_CAST(const uint16_t *,
                      REEF_CAST(const void *, REEF_RECAST(const char *, m) +
                                                  offsetof(reef_match, columns))))[i]; /* maybe more than two */
}
REEF_INLINE const reef_slot *reef_slot_of(const reef_slot *slots, const reef_match *m, size_t i)
{
    return REEF_CAST(const reef_slot *,
                     REEF_CAST(const void *, REEF_RECAST(const char *, slots) + reef_column_at(m, i)));
}
REEF_INLINE const reef_slot *reef_slot_beside(const reef_slot *at, const reef_match *m, size_t i)
{
    return REEF_CAST(const reef_slot *, REEF_CAST(const void *, REEF_RECAST(const char *, at) +
                                                                    (REEF_CAST(ptrdiff_t, reef_column_at(m, i)) -
                                                                     REEF_CAST(ptrdiff_t, reef_column_at(m, 0)))));
}
/* The match `n` places after `m`. */
REEF_INLINE const reef_match *reef_match_after(const reef_query_head *q, const void *m, size_t n)
{
    return REEF_CAST(const reef_match *, REEF_CAST(const void *, REEF_CAST(const char *, m) + n * q->match_bytes));
}
REEF_INLINE const reef_slot *reef_block_slot(const reef_block *b, uint32_t i)
{
    return reef_slot_beside(b->loop.column, REEF_CAST(const reef_match *, b->loop.match), i);
}

/* The column that the caller asks for. If there are many tables, it also prefetches the same column of the next table,
 * and with the first column the slots of the third next. (Fetching columns or slots in reef_next took half of the time
 * of loops that don't use them. With few tables, the jump over the prefetch takes 0.3 ns of the 4.5 ns of a table of 20
 * rows.) */
REEF_INLINE void *reef_match_column(const reef_query_head *q, const reef_slot *at, const reef_match *m, uint32_t i)
{
    if (REEF_UNLIKELY(q->ahead)) {
        const reef_match *next = reef_match_after(q, m, 1);
        REEF_PREFETCH(reef_slot_beside(next->column, next, i)->block);
        if (i == 0) REEF_PREFETCH(reef_match_after(q, next, 2)->column);
    }
    return reef_slot_beside(at, m, i)->block;
}
REEF_INLINE void *reef_block_column(const reef_block *b, const reef_query_head *q, uint32_t i)
{
    return reef_match_column(q, b->loop.column, REEF_CAST(const reef_match *, b->loop.match), i);
}
/* The first two terms are tried without checking how many there are: the key of a term that isn't there matches no
 * component. */
REEF_INLINE const void *reef_block_in_fast(const reef_block *block, reef_component c)
{
    const reef_query_head *q = block->loop.head;
    if (REEF_LIKELY(q->key[0] >> 1 == c.id)) return reef_block_column(block, q, 0);
    if (REEF_LIKELY(q->key[1] >> 1 == c.id)) return reef_block_column(block, q, 1);
    for (uint32_t i = 2; i < q->column_count; i++)
        if (q->key[i] >> 1 == c.id) return reef_block_column(block, q, i);
    return reef_block_other_(block, c, false);
}
REEF_INLINE void *reef_block_inout_fast(const reef_block *block, reef_component c)
{
    const reef_query_head *q = block->loop.head;
    if (REEF_LIKELY(q->key[0] == c.id << 1)) return reef_block_column(block, q, 0);
    if (REEF_LIKELY(q->key[1] == c.id << 1)) return reef_block_column(block, q, 1);
    for (uint32_t i = 2; i < q->write_count; i++)
        if (q->key[i] == c.id << 1) return reef_block_column(block, q, i);
    return REEF_RECAST(void *, REEF_RECAST(uintptr_t, reef_block_other_(block, c, true)));
}
/* By declaration. It doesn't check whether the id is known, since 0 matches no key. */
REEF_INLINE const void *reef_block_in_rest(const reef_block *block, reef_type_decl *decl)
{
    const reef_query_head *q = block->loop.head;
    const uint32_t id = reef_id_now(decl).id;
    for (uint32_t i = 2; i < q->column_count; i++)
        if (q->key[i] >> 1 == id) return reef_block_column(block, q, i);
    return reef_block_slow_(block, decl, false);
}
REEF_INLINE void *reef_block_inout_rest(const reef_block *block, reef_type_decl *decl)
{
    const reef_query_head *q = block->loop.head;
    const uint32_t id = reef_id_now(decl).id;
    for (uint32_t i = 2; i < q->write_count; i++)
        if (q->key[i] == id << 1) return reef_block_column(block, q, i);
    return REEF_RECAST(void *, REEF_RECAST(uintptr_t, reef_block_slow_(block, decl, true)));
}
/* The loop's position is read before anything is compared, so the compiler sees that each path to the rows needs it,
 * and passes it on in registers. (When it was read after the comparison, it was passed through memory: a table of 20
 * rows took 5.0 ns instead of 4.6.) */
REEF_INLINE const void *reef_block_in_decl(const reef_block *block, reef_type_decl *decl)
{
    const reef_query_head *q = block->loop.head;
    const reef_match *m = REEF_CAST(const reef_match *, block->loop.match);
    const reef_slot *at = block->loop.column;
    const uint32_t id = reef_id_now(decl).id;
    if (REEF_LIKELY(q->key[0] >> 1 == id)) return reef_match_column(q, at, m, 0);
    if (REEF_LIKELY(q->key[1] >> 1 == id)) return reef_match_column(q, at, m, 1);
    return reef_block_in_rest(block, decl);
}
REEF_INLINE void *reef_block_inout_decl(const reef_block *block, reef_type_decl *decl)
{
    const reef_query_head *q = block->loop.head;
    const reef_match *m = REEF_CAST(const reef_match *, block->loop.match);
    const reef_slot *at = block->loop.column;
    const uint32_t id = reef_id_now(decl).id;
    if (REEF_LIKELY(q->key[0] == id << 1)) return reef_match_column(q, at, m, 0);
    if (REEF_LIKELY(q->key[1] == id << 1)) return reef_match_column(q, at, m, 1);
    return reef_block_inout_rest(block, decl);
}

REEF_INLINE void *reef_row_cell(uint32_t i, void *values, size_t size)
{
    return values ? REEF_CAST(char *, values) + i * size : NULL;
}
REEF_INLINE const void *reef_row_cell_in(uint32_t i, const void *values, size_t size)
{
    return values ? REEF_CAST(const char *, values) + i * size : NULL;
}
/* The row's value in column `k` of the query. */
REEF_INLINE void *reef_row_column(const reef_row *row, uint32_t k, size_t size)
{
    return reef_row_cell(row->i, reef_block_slot(&row->block, k)->block, size); /* may be NULL in a cut block */
}
REEF_INLINE const void *reef_row_in(const reef_row *row, reef_type_decl *decl, size_t size)
{
    const reef_query_head *q = row->block.loop.head;
    const uint32_t id = reef_id_now(decl).id;
    if (REEF_LIKELY(q->key[0] >> 1 == id)) return reef_row_column(row, 0, size);
    if (REEF_LIKELY(q->key[1] >> 1 == id)) return reef_row_column(row, 1, size);
    return reef_row_cell_in(row->i, reef_block_in_rest(&row->block, decl), size);
}
REEF_INLINE void *reef_row_inout(const reef_row *row, reef_type_decl *decl, size_t size)
{
    const reef_query_head *q = row->block.loop.head;
    const uint32_t id = reef_id_now(decl).id;
    if (REEF_LIKELY(q->key[0] == id << 1)) return reef_row_column(row, 0, size);
    if (REEF_LIKELY(q->key[1] == id << 1)) return reef_row_column(row, 1, size);
    return reef_row_cell(row->i, reef_block_inout_rest(&row->block, decl), size);
}

REEF_END_C

#endif
