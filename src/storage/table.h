/* Tables of one world: chunks of up to 1,024 rows, their blocks, rows coming and going.
 *
 *   table ─first─► chunk (unit 7) ─next─► chunk (unit 9) ... ─► last          head: {table, next}, {previous,
 *                                                                             capacity, rows}
 *                    │ [1] entity handles  ──► block
 *                    │ [2] column          ──► block                          rows of all chunks but the last: 1,024
 *
 * Growth never moves rows, but for the first chunk, which grows from 8 rows to 1,024 by doubling. A chunk that
 * becomes empty is unlinked and kept as the table's spare; the second one is freed: memory comes back, a border
 * crossed to and fro costs nothing.
 *
 * Everything that can fail is called ..._prepare or ..._own and changes nothing visible; what commits can't fail.
 * Unshare first, then count: a copy of a block takes live rows only, so a count that ran ahead would copy garbage. */
#ifndef REEF_STORAGE_TABLE_H
#define REEF_STORAGE_TABLE_H

#include "base/platform.h"
#include "type/value.h"
#include "storage/cow_pages.h"
#include "storage/family.h"
#include "storage/layout.h"
#include "reef/detail/layout.h"

extern const paged_type reef__pages_records, reef__pages_chunks, reef__pages_tables, reef__pages_ring, reef__pages_bits,
    reef__pages_names, reef__pages_buckets, reef__pages_hashes, reef__pages_tracks, reef__pages_events;
paged_owner reef__owner_of(family *f, const paged_type *t);
paged_owner reef__owner_records(const reef_world *w);
paged_owner reef__owner_chunks(const reef_world *w);
paged_owner reef__owner_ring(const reef_world *w);
paged_owner reef__owner_bits(const reef_world *w);

/* A table for writing; makes the world's side of it on first use. NULL: no memory. */
table *reef__table_own(reef_world *w, uint32_t id);
/* Room for a row at t->next, in a last chunk that is ours and marked as written. */
bool reef__table_room(reef_world *w, table *t);
/* Lets the straight paths work at the end of this table, if nothing speaks against it. t is ours. */
void reef__table_lease(reef_world *w, table *t);
/* All columns of a chunk ours and marked as written now. What is marked at the world's version is what the inlined
 * mut writes without a call; so where a column is tracked, marking it makes a new version: no such column carries
 * the present one. */
bool reef__chunk_own(reef_world *w, const table *t, uint32_t unit);
/* One column. */
bool reef__column_own(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
/* The same without marking it: what is copied carries the world's version. Column 1, the handles, too. */
bool reef__block_own_at(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
/* While systems run, on a page that is ours: the block ours, and if it wasn't, written at `version`; not marked
 * otherwise. Several threads may do this for different columns. Values are copied in any case: another claim of the
 * same system may fail, and then it doesn't run. */
bool reef__column_claim(reef_world *w, const table *t, uint32_t unit, uint32_t slot, uint64_t version);
/* Before: the page of a chunk ours. It may move. */
bool reef__chunk_page_own(reef_world *w, uint32_t unit);
void reef__chunks_know_ours(reef_world *w); /* what reef__column_claim goes by: after the pages */
/* A plain column whose values will all be written: a block to take the place of one that is shared (NULL: no memory;
 * the page is ours then), and putting it there. */
void *reef__column_fresh(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
void reef__column_replace(reef_world *w, const table *t, uint32_t unit, uint32_t slot, void *fresh);
void reef__column_drop(reef_world *w, const table *t, uint32_t unit, uint32_t slot, void *fresh); /* it isn't needed */
/* Of a chunk's column: is the block this world's alone? A block of default values for its rows (NULL: no memory, or
 * a hook refused; the page is ours); that block destroyed; another block in its place, on a page that is ours: the
 * old one; a block of our own in its place, whoever shares the page. (src/world/fork_policy.c) */
bool reef__column_is_ours(reef_world *w, uint32_t unit, uint32_t slot);
void *reef__column_default(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
void reef__column_discard(reef_world *w, const shape *s, uint32_t unit, uint32_t slot, void *block);
void *reef__column_exchange(reef_world *w, uint32_t unit, uint32_t slot, void *block);
bool reef__column_take(reef_world *w, uint32_t unit, uint32_t slot, void *block);
/* Blocks of a column, and their values. take: NULL: no memory. copy: false: no memory, or a hook refused; `to` is
 * raw memory. Values of the running call that lie in a block which is about to be freed are found in `fresh` then. */
void *reef__block_take(family *f, const column *c, uint32_t rows);
void reef__block_give(family *f, const column *c, void *block, uint32_t rows);
bool reef__block_copy(reef_world *w, const column *c, void *to, const void *from, const reef_entity *e, uint32_t rows);
void reef__block_destroy_values(const column *c, void *block, uint32_t rows);
void reef__values_relocate(reef_world *w, const char *old, const char *fresh, size_t bytes);
/* Is the block of a slot ours, though it was last written before the last fork? (The others may be gone.) */
bool reef__block_is_ours(reef_world *w, uint64_t version);
/* What reef__row_pop may touch. */
bool reef__table_prepare_pop(reef_world *w, const table *t);

/* Commits. */
void reef__row_pushed(reef_world *w, table *t); /* the row at t->next is complete */
/* forgets the last row: its values were moved or destroyed */
void reef__row_pop(reef_world *w, table *t);
/* A last chunk without rows is unlinked (its page and the one before are ours): after reef__row_pop, and when the
 * row that reef__table_room made room for doesn't come. */
void reef__table_settle(reef_world *w, table *t);
/* forgets all rows; everything of the table is ours */
void reef__table_empty(reef_world *w, table *t);
/* the last row moves into `place`, whose values are raw; then reef__row_pop */
void reef__row_fill(reef_world *w, table *t, uint32_t place);
void reef__row_destroy(const shape *s, reef_slot *slots, uint32_t row); /* destroy hooks of a row */

/* Frees the spare chunks, and the only chunk if it is empty. */
bool reef__table_shrink(reef_world *w, uint32_t id);
/* Room for `rows` more rows; then reef__table_room can't fail for so many (as long as nothing is shared anew). */
bool reef__table_reserve(reef_world *w, table *t, uint32_t rows);
/* Everything of a table ours: chunks, bits, the records of its rows. Then moving and destroying its rows can't fail. */
bool reef__table_own_all(reef_world *w, uint32_t id);

/* All rows of a table become those of `to`, which has none, with one component more or less: the blocks stay, chunks
 * get another table. Neither table has hooks, and no row loses a mark. `value`: of the new column, NULL: zero. The
 * rows of a new block are written when it is made. False: no memory, then cancel; else commit, or cancel. */
typedef struct relabel {
    table *from, *to;
    uint32_t slot, gone; /* of the column that comes, in `to`; of the one that goes, in `from`; 0: a tag */
    uint32_t chunks, fresh_count, unit_count;
    void **fresh; /* of each chunk, the block of the column that comes or goes */
    /* of each chunk, where `to` has more or fewer units a chunk; NULL: they stay, and no record changes */
    uint32_t *unit;
} relabel;
bool reef__relabel_prepare(reef_world *w, relabel *r, uint32_t from, const edge *e, bool remove, const void *value);
void reef__relabel_cancel(reef_world *w, relabel *r);
void reef__relabel_commit(reef_world *w, relabel *r);
reef_status reef__tables_validate(const reef_world *w, char *message, size_t size);
/* Of a row the columns of 8 bytes, at these bytes of each. The first ones have a load of their own each: a processor
 * that fetches ahead goes by the load that asks, and one load in a loop reads two columns in turn (destroying in the
 * order of creation 9.4 ns -> 7.2). */
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
/* A row of plain columns from one chunk of a table to another place in the same table. */
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
