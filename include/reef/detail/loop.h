/* The inlined half of loops: from one block to the next, and from row to row. This isn't part of the interface, and may
 * change with every version. */
#ifndef REEF_DETAIL_LOOP_H
#define REEF_DETAIL_LOOP_H

#include "../loop.h"
#include "column.h"

REEF_BEGIN_C

enum { REEF_MATCHES_AHEAD = 4 };

/* The slow paths of reef_next. reef_block_own_ copies the block's columns that are shared with a fork or snapshot
 * (false: no memory). reef_block_more_ handles the first block of a table that isn't `quick`, the end of a loop, and
 * loops that look at rows. */
REEF_API bool reef_block_own_(reef_block *block);
REEF_API bool reef_block_more_(reef_block *block);

/* Values of reef_block.next_unit that are no units, which begin at 2. REEF_GO_CALL: the loop isn't open, or looks at
 * rows. REEF_GO_TABLE: the loop goes to its next table. */
enum { REEF_GO_CALL = 0, REEF_GO_TABLE = 1 };

/* Marks the columns that the loop writes as changed, and makes sure that this world alone holds them. (Usually it is
 * one column. With an ordinary loop, compilers read the block's members again.) */
REEF_INLINE bool reef_block_mark(reef_block *b, const reef_query_head *q)
{
    const reef_hot *h = REEF_RECAST(const reef_hot *, b->world);
    const uint64_t now = h->version, fork = h->fork_version;
    const uint32_t n = q->write_count;
    const reef_slot *slot = b->loop.column;
    for (uint32_t i = 0; i < n; slot = reef_block_slot(b, i)) {
        if (REEF_UNLIKELY(slot->version <= fork)) return reef_block_own_(b);
        *REEF_RECAST(uint64_t *, REEF_RECAST(uintptr_t, &slot->version)) = now;
        if (REEF_LIKELY(++i == n)) break;
    }
    return true;
}

/* Goes to the next chunk of a table, b->next_unit. The slots of the chunk after it are found and fetched one step
 * early, so that the next block's addresses don't wait for them (3 ns for each block of 1,024 rows); while pages are
 * shared with a fork, slots may move in between. Fetching the next columns ahead made it slower. */
REEF_INLINE bool reef_chunk_next(reef_block *b)
{
    const reef_query_head *q = b->loop.head;
    const reef_match *m = REEF_CAST(const reef_match *, b->loop.match);
    const reef_hot *h = REEF_RECAST(const reef_hot *, b->world);
    const reef_slot *slots =
        REEF_LIKELY(q->remembers) ? b->loop.next_slots : reef_slots_at(h, b->loop.next_unit << REEF_ROW_BITS);
    const uint32_t next = slots[0].head.next;
    b->loop.column = reef_slot_of(slots, m, 0);
    b->entities = REEF_CAST(const reef_entity *, slots[1].block);
    b->count = REEF_BLOCK_ROWS;
    if (REEF_UNLIKELY(next == 0)) {
        b->count = (m->rows - 1) % REEF_BLOCK_ROWS + 1;
        b->loop.next_unit = REEF_GO_TABLE;
        b->loop.next = reef_match_after(q, m, 1);
    } else {
        b->loop.next_slots = reef_slots_at(h, next << REEF_ROW_BITS);
        REEF_PREFETCH(b->loop.next_slots);
        b->loop.next_unit = next;
    }
    return reef_block_mark(b, q);
}

/* For a table of few rows, the latency from here to the rows decides. So the step before has already found the match,
 * its properties are known in advance (reef_match.quick), and no comparison finds the end: an empty match follows the
 * last one. (A table of 20 rows took 5.4 ns when the match was found in this step, and takes 4.9 now.) */
REEF_INLINE bool reef_next(reef_block *b)
{
    const reef_match *m = REEF_CAST(const reef_match *, b->loop.next);
    if (REEF_UNLIKELY(m == NULL))
        return REEF_LIKELY(b->loop.next_unit > REEF_GO_TABLE) ? reef_chunk_next(b) : reef_block_more_(b);
    const uint32_t rows = m->quick;
    if (REEF_UNLIKELY(rows == 0)) return reef_block_more_(b);
    const reef_query_head *q = b->loop.head;
    const reef_slot *at = m->column;
    const uint32_t n = q->write_count;
    b->loop.match = m;
    b->loop.column = at;
    b->loop.next = reef_match_after(q, m, 1);
    b->entities = m->entities;
    b->count = rows;
    if (n == 0) return true;
    const uint64_t now = REEF_RECAST(const reef_hot *, b->world)->version;
    *REEF_RECAST(uint64_t *, REEF_RECAST(uintptr_t, &at->version)) = now; /* usually the only one */
    for (uint32_t i = 1; REEF_UNLIKELY(i < n); i++)
        *REEF_RECAST(uint64_t *, REEF_RECAST(uintptr_t, &reef_slot_beside(at, m, i)->version)) = now;
    return true;
}

/* Row by row. The next row is the neighbour in a run of matching rows, or the next of the chunk's remembered rows;
 * after these reef_rows_more_ is called. (The entity is copied in two halves: across a copy of the whole struct, as
 * across a call that may write, compilers keep nothing of the row in registers.) */
REEF_API bool reef_rows_more_(reef_row *row);
/* reef_row.i between the last row of a block and the first row of the next: the caller didn't leave the loop */
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
        const reef_store *s = REEF_CAST(const reef_store *, row->block.loop.cells[0].from);
        row->block.loop.cells[0].values = REEF_RECAST(void *, REEF_RECAST(uintptr_t, s->values.page[cut->page]) +
                                                                  REEF_CAST(uintptr_t, REEF_CAST(intptr_t, cut->at)));
        row->i = cut->row;
        row->cut = cut + 1;
        e = &cut->entity;
    }
    row->entity.index = e->index;
    row->entity.generation = e->generation;
    return true;
}

REEF_END_C

#endif
