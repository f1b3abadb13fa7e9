/* The tables of one world: chunks of up to 1,024 rows, their blocks, and rows that come and go.
 *
 *   table ─first─► chunk (unit 7) ─next─► chunk (unit 9) ... ─► last          head: {table, next}, {previous,
 *                                                                             capacity, rows}
 *                    │ [1] entity handles  ──► block
 *                    │ [2] column          ──► block                          every chunk but the last has 1,024 rows
 *
 * Growth never moves rows, except in the first chunk of a table, which grows from 8 rows to 1,024 by doubling. A chunk
 * that becomes empty is unlinked and kept as the table's spare chunk; a second one is freed. So memory comes back, and
 * a table whose last row comes and goes at the border of a chunk pays nothing.
 *
 * A function that can fail is called ..._prepare or ..._own and changes nothing visible; commits can't fail. A block is
 * made this world's own before a count changes: a copy of a block takes living rows only, so a count that ran ahead
 * would copy garbage.
 *
 * "Own" always means: this world alone holds the block or page, so that it may be written. */
#ifndef REEF_STORAGE_TABLE_H
#define REEF_STORAGE_TABLE_H

#include "type/value.h"
#include "storage/copy_on_write.h"
#include "storage/cow_pages.h"
#include "reef/detail/layout.h"

extern const paged_type reef__pages_records, reef__pages_chunks, reef__pages_tables, reef__pages_ring, reef__pages_bits,
    reef__pages_names, reef__pages_buckets, reef__pages_hashes, reef__pages_stamps, reef__pages_tracks,
    reef__pages_events;
paged_owner reef__owner_of(family *f, const paged_type *t);
/* reef__paged_grow, reef__paged_own and reef__paged_drop for a container of this world. reef__page_own makes more slots
 * first where there are too few; page_own, for types without a blank page, is the same with its commonest case inlined.
 */
bool reef__pages_grow(reef_world *w, reef_paged *p, const paged_type *t, uint32_t count);
void *reef__page_own(reef_world *w, reef_paged *p, const paged_type *t, uint32_t i);
INLINE void *page_own(reef_world *w, reef_paged *p, const paged_type *t, uint32_t i)
{
    void *page = page_ours(p, i, w->hot.fork_version);
    return LIKELY(page != NULL) ? page : reef__page_own(w, p, t, i);
}
void reef__pages_drop(reef_world *w, reef_paged *p, const paged_type *t);
/* A ring of bytes on pages: byte `at` lies on page (at / bytes of a page) modulo the number of pages, a power of two.
 * Gives it this many pages at least; what lies between head and tail stays at its position. False: no memory. */
bool reef__ring_enlarge(reef_world *w, const paged_type *t, reef_paged *ring, uint64_t head, uint64_t tail,
                        uint64_t pages);

/* A table for writing. The first use makes the world's part of it. NULL: there is no memory. */
table *reef__table_own(reef_world *w, uint32_t id);
/* Makes room for a row at t->next, in a last chunk that this world owns and that is marked as written. */
bool reef__table_room(reef_world *w, table *t);
/* Lets the fast paths work at the end of this table, if nothing speaks against it. This world owns t. */
void reef__table_lease(reef_world *w, table *t);
/* Makes all columns of a chunk this world's own and marks them as written now (column_mark). */
bool reef__chunk_own(reef_world *w, const table *t, uint32_t unit);
/* The same for one column. */
bool reef__column_own(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
/* The same without marking: only what is copied carries the world's version. It also takes column 1, the handles. */
bool reef__block_own_at(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
/* Makes a block this world's own while systems run, on a page that it owns. If the block was shared, it counts as
 * written at `version`; otherwise nothing is marked. Several threads may do this for different columns. The values are
 * copied in any case, since another claim of the same system may fail, and then the system doesn't run. */
bool reef__column_claim(reef_world *w, const table *t, uint32_t unit, uint32_t slot, uint64_t version);
/* To be called before reef__column_claim: makes the page of a chunk this world's own. The page may move. */
bool reef__chunk_page_own(reef_world *w, uint32_t unit);
/* to be called after the pages are owned, too: notes which blocks belong to this world, for reef__column_claim */
void reef__chunks_know_ours(reef_world *w);
/* For a plain column whose values will all be written. reef__column_fresh gives a block that can take the place of a
 * shared one (NULL: there is no memory; the page is owned then), reef__column_replace puts it there, and
 * reef__column_drop frees it when it isn't needed. */
void *reef__column_fresh(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
void reef__column_replace(reef_world *w, const table *t, uint32_t unit, uint32_t slot, void *fresh);
void reef__column_drop(reef_world *w, const table *t, uint32_t unit, uint32_t slot, void *fresh);
/* For src/world/fork_policy.c, about a block of a chunk's column. In this order: does this world alone hold it; a new
 * block of default values for its rows (NULL: there is no memory, or a hook refused; the page is owned then); destroys
 * such a block; puts another block in its place, on an owned page, and answers the old one; puts a block in its place,
 * whoever shares the page. */
bool reef__column_is_ours(reef_world *w, uint32_t unit, uint32_t slot);
void *reef__column_default(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
void reef__column_discard(reef_world *w, const shape *s, uint32_t unit, uint32_t slot, void *block);
void *reef__column_exchange(reef_world *w, uint32_t unit, uint32_t slot, void *block);
bool reef__column_take(reef_world *w, uint32_t unit, uint32_t slot, void *block);
/* Values of the running call that lie in the block `old`, which is about to be freed, are found in `fresh` from then
 * on. */
void reef__values_relocate(reef_world *w, const char *old, const char *fresh, size_t bytes);
/* Does this world alone hold a block that was last written at `version`, before the last fork? (The other holders may
 * be gone.) */
bool reef__block_is_ours(reef_world *w, uint64_t version);
/* Makes everything that reef__row_pop may touch this world's own. */
bool reef__table_prepare_pop(reef_world *w, const table *t);

/* Commits: */
void reef__row_pushed(reef_world *w, table *t); /* the row at t->next is complete */
/* Forgets the last row, whose values were moved or destroyed. */
void reef__row_pop(reef_world *w, table *t);
/* Unlinks a last chunk without rows; its page and the one before it are owned. To be called after reef__row_pop, and
 * when the row that reef__table_room made room for doesn't come. */
void reef__table_trim(reef_world *w, table *t);
/* Forgets all rows. This world owns everything of the table. */
void reef__table_empty(reef_world *w, table *t);
/* Moves the last row to `place`, whose values are raw; reef__row_pop comes next. */
void reef__row_fill(reef_world *w, table *t, uint32_t place);
void reef__row_destroy(const shape *s, reef_slot *slots, uint32_t row); /* runs the destroy hooks of a row */

/* Frees the spare chunks, and the only chunk if it is empty. */
bool reef__table_shrink(reef_world *w, uint32_t id);
/* Makes room for `rows` more rows. After that reef__table_room can't fail for that many rows, until something is shared
 * anew. */
bool reef__table_reserve(reef_world *w, table *t, uint32_t rows);
/* Moves the rows of a chunk, all blocks of which are this world's own, to new blocks with this much room; row `raw` has
 * no values (UINT32_MAX: no such row). False: there is no memory. */
bool reef__chunk_rehouse(reef_world *w, const table *t, uint32_t unit, uint32_t room, uint32_t raw);
INLINE uint32_t chunk_capacity(const reef_slot *slots) { return slots[0].head_more.capacity; }
/* Runs of units, for chunks. reef__unit_find: one in a page that this world owns; 0: there is no memory, or no unit is
 * left. Nothing is taken until reef__unit_take. reef__unit_give takes it back. The last two under the lock. */
uint32_t reef__unit_find(reef_world *w, uint32_t units);
void reef__unit_take(reef_world *w, uint32_t unit, uint32_t units);
void reef__unit_give(reef_world *w, uint32_t unit, uint32_t units);

/* Makes everything of a table this world's own: chunks, bits, and the records of its rows. After that moving and
 * destroying its rows can't fail. */
bool reef__table_own_all(reef_world *w, uint32_t id);

reef_status reef__tables_validate(const reef_world *w, char *message, size_t size);
/* Copies the columns of 8 bytes of a row, at these bytes of each block. The first columns have a load instruction of
 * their own each: a processor predicts addresses by the load instruction, and one load in a loop would read two columns
 * in turn (destroying in the order of creation took 7.2 ns instead of 9.4). */
INLINE void slot_copy_word(const reef_slot *to, size_t to_word, const reef_slot *from, size_t from_word)
{
    memcpy((char *)to->block + to_word, (const char *)from->block + from_word, 8);
}
INLINE void row_copy_words(const shape *s, const reef_slot *to, size_t to_word, const reef_slot *from, size_t from_word)
{
    const uint32_t end = s->end_8;
    uint32_t k = SLOT_COLUMNS;
    if (LIKELY(k < end)) slot_copy_word(&to[k], to_word, &from[k], from_word), k++;
    if (k < end) slot_copy_word(&to[k], to_word, &from[k], from_word), k++;
    if (k < end) slot_copy_word(&to[k], to_word, &from[k], from_word), k++;
    if (k < end) slot_copy_word(&to[k], to_word, &from[k], from_word), k++;
    for (; UNLIKELY(k < end); k++) slot_copy_word(&to[k], to_word, &from[k], from_word);
}
/* Copies a row of plain columns to another place in the same table. */
INLINE void row_copy(const shape *s, reef_slot *to, size_t to_row, const reef_slot *from, size_t from_row)
{
    row_copy_words(s, to, to_row * 8, from, from_row * 8);
    size_t k = s->end_8, end = s->end_16;
    for (; k < end; k++) memcpy((char *)to[k].block + to_row * 16, (const char *)from[k].block + from_row * 16, 16);
    for (end = s->end_slot; k < end; k++) {
        size_t size = s->columns[k].size;
        bytes_copy((char *)to[k].block + to_row * size, (const char *)from[k].block + from_row * size, size);
    }
}

#endif
