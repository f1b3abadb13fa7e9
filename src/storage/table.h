/* Tables of one world: chunks of up to 1,024 rows, their blocks, rows coming and going.
 *
 *   table ─first─► chunk (unit 7) ─next─► chunk (unit 9) ... ─► last          head: {table, next}, {previous, capacity, rows}
 *                    │ [1] entity handles  ──► block
 *                    │ [2] column          ──► block                          rows of all chunks but the last: 1,024
 *
 * Growth never moves rows, but for the first chunk, which grows from 8 rows to 1,024 by doubling. A chunk that becomes empty
 * is unlinked and kept as the table's spare; the second one is freed: memory comes back, a border crossed to and fro
 * costs nothing.
 *
 * Everything that can fail is called ..._prepare or ..._own and changes nothing visible; what commits can't fail.
 * Unshare first, then count: a copy of a block takes live rows only, so a count that ran ahead would copy garbage. */
#ifndef REEF_TABLE_H
#define REEF_TABLE_H

#include "storage/state.h"

extern const paged_type pages_records, pages_chunks, pages_tables, pages_ring, pages_bits, pages_names, pages_buckets, pages_hashes,
    pages_tracks, pages_events;
paged_owner owner_of(family *f, const paged_type *t);
paged_owner owner_records(const reef_world *w);
paged_owner owner_chunks(const reef_world *w);
paged_owner owner_ring(const reef_world *w);
paged_owner owner_bits(const reef_world *w);

/* A table for writing; makes the world's side of it on first use. NULL: no memory. */
table *table_own(reef_world *w, uint32_t id);
/* Room for a row at t->next, in a last chunk that is ours and marked as written. */
bool table_room(reef_world *w, table *t);
/* Lets the straight paths work at the end of this table, if nothing speaks against it. t is ours. */
void table_lease(reef_world *w, table *t);
/* All columns of a chunk ours and marked as written now. What is marked at the world's version is what the inlined mut writes without
 * a call; so where a column is tracked, marking it makes a new version: no such column carries the present one. */
bool chunk_own(reef_world *w, const table *t, uint32_t unit);
/* One column. */
bool column_own(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
/* The same without marking it: what is copied carries the world's version. Column 1, the handles, too. */
bool block_own_at(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
/* While systems run, on a page that is ours: the block ours, and if it wasn't, written at `version`; not marked otherwise. Several
 * threads may do this for different columns. Values are copied in any case: another claim of the same system may fail, and then
 * it doesn't run. */
bool column_claim(reef_world *w, const table *t, uint32_t unit, uint32_t slot, uint64_t version);
/* Before: the page of a chunk ours. It may move. */
bool chunk_page_own(reef_world *w, uint32_t unit);
void chunks_know_ours(reef_world *w); /* what column_claim goes by: after the pages */
/* A plain column whose values will all be written: a block to take the place of one that is shared (NULL: no memory; the page is
 * ours then), and putting it there. */
void *column_fresh(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
void column_replace(reef_world *w, const table *t, uint32_t unit, uint32_t slot, void *fresh);
void column_drop(reef_world *w, const table *t, uint32_t unit, uint32_t slot, void *fresh); /* it isn't needed */
/* Of a chunk's column: is the block this world's alone? A block of default values for its rows (NULL: no memory, or a hook
 * refused; the page is ours); that block destroyed; another block in its place, on a page that is ours: the old one; a block of
 * our own in its place, whoever shares the page. (src/world/fork_policy.c) */
bool column_is_ours(reef_world *w, uint32_t unit, uint32_t slot);
void *column_default(reef_world *w, const table *t, uint32_t unit, uint32_t slot);
void column_discard(reef_world *w, const shape *s, uint32_t unit, uint32_t slot, void *block);
void *column_exchange(reef_world *w, uint32_t unit, uint32_t slot, void *block);
bool column_take(reef_world *w, uint32_t unit, uint32_t slot, void *block);
/* Blocks of a column, and their values. take: NULL: no memory. copy: false: no memory, or a hook refused; `to` is raw memory. Values of
 * the running call that lie in a block which is about to be freed are found in `fresh` then. */
void *block_take(family *f, const column *c, uint32_t rows);
void block_give(family *f, const column *c, void *block, uint32_t rows);
bool block_copy(reef_world *w, const column *c, void *to, const void *from, const reef_entity *e, uint32_t rows);
void block_destroy_values(const column *c, void *block, uint32_t rows);
void values_relocate(reef_world *w, const char *old, const char *fresh, size_t bytes);
/* A shared block, on a page that is ours, becomes the world's own, written at `version`. False: no memory. Several threads may do this for
 * different columns. (src/storage/copy_on_write.c) */
bool block_unshare(reef_world *w, const column *c, uint32_t unit, uint32_t slot, uint32_t rows, uint64_t version);
/* Is the block of a slot ours, though it was last written before the last fork? (The others may be gone.) */
bool block_is_ours(reef_world *w, uint64_t version);
/* Some columns, as column_own. `next`: the chunk of which a loop writes the same columns next: what of them is shared is copied now; 0: none is.
 * What isn't fetched is dropped by ahead_drop, before the loop ends. (src/storage/copy_on_write.c) */
bool slots_own(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count, uint32_t next);
void ahead_drop(reef_world *w);
/* What row_pop may touch. */
bool table_prepare_pop(reef_world *w, const table *t);

/* Commits. */
void row_pushed(reef_world *w, table *t);                    /* the row at t->next is complete */
void row_pop(reef_world *w, table *t);                       /* forgets the last row: its values were moved or destroyed */
/* A last chunk without rows is unlinked (its page and the one before are ours): after row_pop, and when the row that table_room
 * made room for doesn't come. */
void table_settle(reef_world *w, table *t);
void table_empty(reef_world *w, table *t);                   /* forgets all rows; everything of the table is ours */
void row_fill(reef_world *w, table *t, uint32_t place);      /* the last row moves into `place`, whose values are raw; then row_pop */
void row_destroy(const shape *s, reef_slot *slots, uint32_t row); /* destroy hooks of a row */

/* Frees the spare chunks, and the only chunk if it is empty. */
bool table_shrink(reef_world *w, uint32_t id);
/* Room for `rows` more rows; then table_room can't fail for so many (as long as nothing is shared anew). */
bool table_reserve(reef_world *w, table *t, uint32_t rows);
/* Everything of a table ours: chunks, bits, the records of its rows. Then moving and destroying its rows can't fail. */
bool table_own_all(reef_world *w, uint32_t id);

/* All rows of a table become those of `to`, which has none, with one component more or less: the blocks stay, chunks get another
 * table. Neither table has hooks, and no row loses a mark. `value`: of the new column, NULL: zero. The rows of a new block are
 * written when it is made. False: no memory, then cancel; else commit, or cancel. */
typedef struct relabel {
    table    *from, *to;
    uint32_t  slot, gone; /* of the column that comes, in `to`; of the one that goes, in `from`; 0: a tag */
    uint32_t  chunks, fresh_count, unit_count;
    void    **fresh; /* of each chunk, the block of the column that comes or goes */
    uint32_t *unit;  /* of each chunk, where `to` has more or fewer units a chunk; NULL: they stay, and no record changes */
} relabel;
bool relabel_prepare(reef_world *w, relabel *r, uint32_t from, const edge *e, bool remove, const void *value);
void relabel_cancel(reef_world *w, relabel *r);
void relabel_commit(reef_world *w, relabel *r);
reef_status tables_validate(const reef_world *w, char *message, size_t size);

/* Moving, copying, destroying one value; plain types cost a memcpy. */
void value_move(const type *t, void *to, void *from);
reef_status value_copy(const type *t, void *to, const void *from); /* REEF_OK, or what the hook says */
bool value_equal(const type *t, const char *p, const char *q); /* by its fields, where it has some (src/world/compare.c) */
void values_fill(void *block, const void *value, size_t size, uint32_t rows); /* the same plain value in each row */
INLINE void value_destroy(const type *t, void *p)
{
    if (UNLIKELY(t->hooks.destroy != NULL)) t->hooks.destroy(t->hooks.context, p);
}

static inline void bytes_copy(void *restrict to, const void *restrict from, size_t size)
{
    switch (size) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 12: memcpy(to, from, 12); break;
    case 16: memcpy(to, from, 16); break;
    case 32: memcpy(to, from, 32); break;
    default: memcpy(to, from, size); break;
    }
}
INLINE char *cell(const reef_slot *slots, uint32_t slot, uint32_t row, size_t size)
{
    return (char *)slots[slot].block + row * size;
}
/* Of a row the columns of 8 bytes, at these bytes of each. The first ones have a load of their own each: a processor that fetches ahead goes by the load that asks, and one
 * load in a loop reads two columns in turn (destroying in the order of creation 9.4 ns -> 7.2). */
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

/* ---- entity index (src/storage/entity_index.c) ---- */

/* A record for writing; its index must have one. NULL: no memory. */
uint64_t *record_own(reef_world *w, uint32_t index);
/* The records of entities that never had anything: of a whole page of them nothing is kept but that it is one. */
extern const uint64_t records_blank[RECORDS_PER_PAGE];
INLINE bool records_are_blank(const reef_world *w, uint32_t page) { return w->hot.records.page[page] == (const void *)records_blank; }
INLINE uint64_t record_read(const reef_world *w, uint32_t index) { return *reef_record_at(&w->hot, index); }
/* For commits: the page was owned before. */
INLINE void record_put(reef_world *w, reef_entity e, uint32_t place)
{
    ((uint64_t *)w->hot.records.page[e.index >> REEF_RECORD_BITS])[e.index & (RECORDS_PER_PAGE - 1)] =
        (uint64_t)e.generation << 32 | place;
}
/* For an entity that has no row or won't have one: the hash takes such records page by page, and sees by the page's version
 * that one changed. (Rows are hashed where they are.) */
INLINE void record_mark(reef_world *w, uint32_t index)
{
    w->hot.records.version[index >> REEF_RECORD_BITS] = w->hot.version;
    world_touch(w);
}
INLINE void record_put_rowless(reef_world *w, reef_entity e, uint32_t place)
{
    record_put(w, e, place);
    record_mark(w, e.index);
}
INLINE bool record_owned(const reef_world *w, uint32_t index)
{
    return paged_owned(&w->hot.records, index >> REEF_RECORD_BITS, w->hot.fork_version) && !records_are_blank(w, index >> REEF_RECORD_BITS);
}
/* Are all records of a page the same in both? False: nobody knows. */
INLINE bool records_same(const reef_world *w, const reef_world *other, uint32_t page)
{
    const reef_paged *p = &w->hot.records, *q = &other->hot.records;
    return page < p->count && page < q->count && p->page[page] == q->page[page] &&
           (!records_are_blank(w, page) || w->hot.index_count == other->hot.index_count || BUG(142));
}
INLINE void handle_record_put(reef_world *w, handle h, uint32_t place)
{
    ((uint64_t *)w->hot.records.page[HANDLE_INDEX(h) >> REEF_RECORD_BITS])[HANDLE_INDEX(h) & (RECORDS_PER_PAGE - 1)] =
        HANDLE_RECORD(h, place);
}
/* Of a living entity: another place. */
INLINE void record_replace(reef_world *w, uint32_t index, uint32_t place)
{
    char *page = w->hot.records.page[index >> REEF_RECORD_BITS];
    memcpy(page + (size_t)(index & (RECORDS_PER_PAGE - 1)) * 8 + 4 * REEF_RECORD_PLACE, &place, 4);
}
/* The place of a living entity, PLACE_DEAD for all others. */
INLINE uint32_t place_of(const reef_world *w, reef_entity e)
{
    if (e.index >= w->hot.index_count) return PLACE_DEAD;
    uint64_t r = record_read(w, e.index);
    return (uint32_t)(r >> 32) == e.generation && (uint32_t)r >= PLACE_EMPTY ? (uint32_t)r : PLACE_DEAD;
}

/* n new ids in the sequence "free ids oldest first, then fresh indices": prepare makes sure of them, id_peek(k) names them
 * (0 <= k < n), ids_commit takes them; their records must be put in between or after. */
reef_status ids_prepare(reef_world *w, uint32_t n);
reef_entity id_peek(const reef_world *w, uint32_t k);
uint32_t ids_peek(const reef_world *w, uint32_t first, uint32_t n, reef_entity *e); /* several; how many of them are recycled */
void ids_commit(reef_world *w, uint32_t n);
/* The straight path: the id that waits longest in the ring is given out. False: none waits, or something is unusual. */
bool id_recycle(reef_world *w, reef_entity *e);
/* How many ids can still be given out. */
uint64_t ids_left(const reef_world *w);
/* For lanes: records of indices up to (not with) `end`, and those from `from` on ours; the ring without its holes; with room for n more;
 * its pages of these positions ours. False: no memory. */
bool records_reserve(reef_world *w, uint32_t from, uint32_t end);
bool ring_squeezed(reef_world *w);
bool ring_room(reef_world *w, uint64_t n);
bool ring_own(reef_world *w, uint64_t from, uint64_t to);
INLINE uint32_t ring_slot(const reef_world *w, uint64_t position)
{
    return (uint32_t)(position / RING_PER_PAGE) & (w->state.ring.count - 1);
}
INLINE uint32_t *ring_at(const reef_world *w, uint64_t position)
{
    return (uint32_t *)w->state.ring.page[ring_slot(w, position)] + position % RING_PER_PAGE;
}
/* Room for one more free id. */
bool id_free_prepare(reef_world *w);
bool ids_free_prepare(reef_world *w, uint64_t n); /* room for n more */
void id_free(reef_world *w, reef_entity e); /* the index of a dying entity; its record's page is ours */
/* Takes the n new ids that ids_peek named, after ids_prepare, for entities that a command makes later: they are pending. */
void ids_pend(reef_world *w, const reef_entity *e, uint32_t n);
void id_pend(reef_world *w, reef_entity e); /* its entity is undone */
bool id_pending(const reef_world *w, reef_entity e);
/* For lanes: the records of n fresh indices from `index` on, all in one page, which are out, or free. Without a mark. */
void records_fresh(reef_world *w, uint32_t index, uint32_t n, bool out);
/* The record of a pending id. */
INLINE uint64_t record_pending(reef_entity e) { return (uint64_t)e.generation << 32 | PLACE_PENDING; }
/* Its entity doesn't come: the id is free again, with the next generation. False: no memory. */
bool id_unpend(reef_world *w, reef_entity e);
/* *placed: how many entities say that they have a row. (Each row is its entity's: tables_validate. So when there are as many rows, all is said.) */
reef_status index_validate(const reef_world *w, uint64_t *placed, char *message, size_t size);

/* ---- bits (src/storage/row_bits.c) ---- */

/* Of store `number` in table.bits: one bit says which of 32 it is, another one which 32. So a table that knows a few of the first 1,024
 * stores names them and maybe some others, which have no bit in its rows. */
INLINE uint64_t bit_mask(uint32_t number) { return 1ull << number % 32 | 1ull << (32 + number / 32 % 32); }
INLINE bool bit_named(uint64_t mask, uint32_t number) { return (~mask & bit_mask(number)) == 0; }
/* The stores that a mask names, in order of first use. */
typedef struct bit_walk {
    uint64_t   mask;
    uint32_t   turn, of, base, in; /* of 1,024 stores, of the 32 among them, and in those: bits that are still to come */
    bit_store *store;
} bit_walk;

INLINE bool bit_next(const reef_world *w, bit_walk *x)
{
    while (x->in == 0) {
        if (x->of == 0) x->turn += 1024, x->of = (uint32_t)(x->mask >> 32);
        if (x->of == 0) return false;
        x->base = x->turn + bits_first(x->of) * 32;
        if (x->base >= w->state.bit_count) return false;
        x->of &= x->of - 1;
        x->in = (uint32_t)x->mask;
    }
    const uint32_t number = x->base + bits_first(x->in);
    x->in &= x->in - 1;
    x->store = &w->state.bits[number];
    return number < w->state.bit_count;
}
INLINE bit_walk bit_walk_of(uint64_t mask) { return (bit_walk){.mask = mask, .of = (uint32_t)(mask >> 32)}; }
#define EACH_BIT_STORE(w, mask, b) \
    for (bit_walk b##_ = bit_walk_of(mask); bit_next(w, &b##_);) \
        for (bit_store *b = b##_.store; b; b = NULL)
/* The mask of the table of a row; 0: there is no row at `place`. */
INLINE uint64_t bits_of(const reef_world *w, uint32_t place)
{
    const table *t = place < 2 * PLACE_EMPTY ? NULL : table_read(w, reef_slots_at(&w->hot, place)[0].head.table);
    return t ? t->bits : 0;
}
/* Owns what bits_move touches. `mask` is the table.bits of the source. */
bool bits_prepare_move(reef_world *w, uint64_t mask, uint32_t from, uint32_t to);
void bits_move(reef_world *w, uint64_t mask, uint32_t from, uint32_t to); /* to := from, from := 0 */
/* Rows change places in cycles: each place gets the row of the one behind it in the list, the last of a cycle that of the first; 0
 * ends a cycle. The words of all their units are ours. */
void bits_cycle(reef_world *w, uint64_t mask, const uint32_t *places, size_t count);
bool bits_prepare_clear(reef_world *w, uint64_t mask, uint32_t place);
void bits_clear(reef_world *w, uint64_t mask, uint32_t place);
/* Has the row a switch or a mark that these values don't take away? */
bool bits_remain(const reef_world *w, uint64_t mask, uint32_t place, const reef_value *values, uint32_t count);
bool bit_has(const reef_world *w, uint32_t key, uint32_t place);
/* Is this value a bit of its row, a switch or a mark? (What reef makes itself names marks by their keys.) */
INLINE bool value_is_bit(const reef_value *v) { return v->component.id & BIT_DISABLED || type_of(v->component.id)->bit; }
/* Everything that setting or clearing the bit of the row at `place` of table `id` needs; then do it. */
bool bit_prepare(reef_world *w, uint32_t key, uint32_t id, uint32_t place, bool on);
/* May rows of table `id` have this switch? */
bool bit_known(const reef_world *w, const bit_store *b, uint32_t id);
void bit_commit(reef_world *w, uint32_t key, uint32_t place, bool on);
/* Own the words of a unit in all types of the mask. */
bool bits_own_unit(reef_world *w, uint64_t mask, uint32_t unit);
/* All bits of a unit go to another one, whose bits are zero; both are ours. */
void bits_move_unit(reef_world *w, uint64_t mask, uint32_t from, uint32_t to);
void bits_clear_unit(reef_world *w, uint64_t mask, uint32_t unit); /* its words are ours */
/* Of one store and many rows of a unit at once: as bit_prepare and bit_commit. */
bool bits_prepare_rows(reef_world *w, uint32_t key, uint32_t id, uint32_t unit, const uint64_t *rows, bool on);
void bits_commit_rows(reef_world *w, uint32_t key, uint32_t unit, const uint64_t *rows, bool on);
reef_status bits_validate(const reef_world *w, char *message, size_t size);
uint64_t bit_count_rows(const reef_world *w, uint32_t key);
uint64_t bit_sum(const reef_world *w, uint32_t key); /* the same, counted anew */

#endif
