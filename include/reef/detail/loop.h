/* The inlined half of loops: from one block to the next, and from row to row. This is no interface: what stands here
 * may change with every version. */
#ifndef REEF_DETAIL_LOOP_H
#define REEF_DETAIL_LOOP_H

#include "../loop.h"
#include "column.h"

REEF_BEGIN_C

enum { REEF_MATCHES_AHEAD = 4 };

/* The halves of reef_next that are no hot path: making the block's columns the world's own (false: no memory);
 * tables that aren't quick, the end of a loop, and loops with a look at rows. */
REEF_API bool reef_block_own(reef_block *block);
REEF_API bool reef_block_more(reef_block *block);

/* In reef_block.next_unit, beside units, which begin at 2: a loop that isn't open or looks at rows; one that comes
 * to its next table. */
enum { REEF_GO_CALL = 0, REEF_GO_TABLE = 1 };

/* The columns that the loop writes are marked, and ours. (Mostly it's one: with a loop around it compilers forgot
 * what they knew of the block.) */
REEF_INLINE bool reef_block_mark(reef_block *b, const reef_query_head *q)
{
    const reef_hot *h = (const reef_hot *)b->world;
    const uint64_t now = h->version, fork = h->fork_version;
    const uint32_t n = q->write_count;
    const reef_slot *slot = b->column;
    for (uint32_t i = 0; i < n; slot = reef_block_slot(b, i)) {
        if (REEF_UNLIKELY(slot->version <= fork)) return reef_block_own(b);
        *(uint64_t *)(uintptr_t)&slot->version = now;
        if (REEF_LIKELY(++i == n)) break;
    }
    return true;
}

/* The next chunk of a table, b->next_unit. The slots of the one that follows are found and fetched a step early, so
 * that the next block's addresses don't wait for it (3 ns a block of 1,024); while pages are shared with a fork they
 * may move meanwhile. Fetching the following columns ahead made it slower. */
REEF_INLINE bool reef_chunk_next(reef_block *b)
{
    const reef_query_head *q = b->head;
    const reef_match *m = (const reef_match *)b->match;
    const reef_hot *h = (const reef_hot *)b->world;
    const reef_slot *slots =
        REEF_LIKELY(q->remembers) ? b->next_slots : reef_slots_at(h, b->next_unit << REEF_ROW_BITS);
    const uint32_t next = slots[0].head.next;
    b->column = reef_slot_of(slots, m, 0);
    b->entities = (const reef_entity *)slots[1].block;
    b->count = REEF_BLOCK_ROWS;
    if (REEF_UNLIKELY(next == 0)) {
        b->count = (m->rows - 1) % REEF_BLOCK_ROWS + 1;
        b->next_unit = REEF_GO_TABLE;
        b->next = reef_match_after(q, m, 1);
    } else {
        b->next_slots = reef_slots_at(h, next << REEF_ROW_BITS);
        REEF_PREFETCH(b->next_slots);
        b->next_unit = next;
    }
    return reef_block_mark(b, q);
}

/* A table of few rows is bound by how long it takes from here to the rows: so the match is known from the step
 * before, what there is to find out about it was found out before (reef_match.quick), and none is compared with the
 * last: an empty one follows that. (A table of 20 rows took 5.4 ns where the match was found in this step, and takes
 * 4.9.) */
REEF_INLINE bool reef_next(reef_block *b)
{
    const reef_match *m = (const reef_match *)b->next;
    if (REEF_UNLIKELY(m == NULL))
        return REEF_LIKELY(b->next_unit > REEF_GO_TABLE) ? reef_chunk_next(b) : reef_block_more(b);
    const uint32_t rows = m->quick;
    if (REEF_UNLIKELY(rows == 0)) return reef_block_more(b);
    const reef_query_head *q = b->head;
    const reef_slot *at = m->column;
    const uint32_t n = q->write_count;
    b->match = m;
    b->column = at;
    b->next = reef_match_after(q, m, 1);
    b->entities = m->entities;
    b->count = rows;
    if (n == 0) return true;
    const uint64_t now = ((const reef_hot *)b->world)->version;
    *(uint64_t *)(uintptr_t)&at->version = now; /* mostly the only one */
    for (uint32_t i = 1; REEF_UNLIKELY(i < n); i++) *(uint64_t *)(uintptr_t)&reef_slot_beside(at, m, i)->version = now;
    return true;
}

/* Row by row. Of rows side by side one after the other; or where it is remembered which rows of the chunk have a
 * value, they; else it's the library's turn. (The entity is copied half by half: over a copy as a whole, as over a
 * call that may write, compilers keep nothing of the row in registers.) */
REEF_API bool reef_rows_more(reef_row *row);
/* in reef_row.i, between the last row of a block and the first one of the next: the caller didn't break off */
#define REEF_NO_ROW 0xFFFFFFFFu
REEF_INLINE bool reef_row_step(reef_row *row)
{
    const uint32_t i = row->i + 1;
    const reef_entity *e;
    if (REEF_LIKELY(i < row->end)) {
        row->i = i;
        e = row->block.entities + i;
    } else {
        const struct reef_cut *cut = row->cut;
        if (cut == row->cut_end) {
            row->i = REEF_NO_ROW;
            return false;
        }
        const reef_store *s = (const reef_store *)row->block.cells[0].from;
        row->block.cells[0].values = (void *)((uintptr_t)s->values.page[cut->page] + (uintptr_t)(intptr_t)cut->at);
        row->i = cut->row;
        row->cut = cut + 1;
        e = &cut->entity;
    }
    row->entity.index = e->index;
    row->entity.generation = e->generation;
    return true;
}
REEF_INLINE bool reef_row_next(reef_row *row)
{
    return reef_row_step(row) || (reef_rows_more(row) && reef_row_step(row));
}

REEF_END_C

#endif
