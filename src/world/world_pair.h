/* Walks over the state of one world, or of two side by side. The hash, the comparison, the difference, merging and a
 * file's record of a difference take these.
 *
 *      tables by their type names         chunks of one pair of tables, each with the chunk of the same number
 *
 *      world 0    A    B        D         world 0    [0] [1] [2]
 *      world 1    A         C   D         world 1    [0] [1]
 *                 two  one each two
 *
 * Where both worlds hold the same block or the same page by the same pointer, neither has written it since they were
 * one state. Whoever walks a pair doesn't look into such memory. */
#ifndef REEF_WORLD_WORLD_PAIR_H
#define REEF_WORLD_WORLD_PAIR_H

#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/state_kind.h"
#include "reef/hash.h"

/* A chunk of a table in each of two worlds. Where a world has no such chunk its unit and its rows are 0. */
typedef struct chunk_pair {
    const reef_world *world[2]; /* NULL is allowed: this side has no chunks */
    const table *t[2];          /* NULL: the table has no rows in this world */
    uint32_t unit[2], rows[2];
    const reef_slot *slots[2];
    uint32_t number; /* of the chunk within its table */
} chunk_pair;

/* ---- tables ---- */

/* The tables with rows of two worlds, or of one (world[1] NULL), which are merged by their type names. */
typedef struct table_merge {
    const reef_world *world[2];
    const uint32_t *ids[2]; /* in the order of the names; tables without rows are passed over */
    uint32_t count[2], at[2];
} table_merge;

/* `b` NULL: of one world. False: no memory. reef__table_merge_end follows in both cases. */
bool reef__table_merge_begin(table_merge *m, const reef_world *a, const reef_world *b);
/* The next table that at least one of the worlds has, before its first chunks; false: there is none. */
bool reef__table_merge_next(table_merge *m, chunk_pair *next);
void reef__table_merge_end(table_merge *m);

/* ---- the parts of a state that can be observed ---- */

/* A walk over the parts of the state of one world, or of two side by side. Begins as the tables of the two, and 0. */
typedef struct part_walk {
    table_merge tables;
    reef_hash_part of; /* kind, table and component of the part; its rows and hash are 0 */
    chunk_pair table;  /* of a part that belongs to a table: before its first chunks */
    state_key key;     /* of bits, events and stores */
    uint32_t stage, column;
} part_walk;

/* The next part in the canonical order, which is that of the hash and of the comparison. False: there is none left. */
bool reef__part_next(part_walk *p);

/* ---- chunks ---- */

INLINE void chunk_pair_place(chunk_pair *p, int side, uint32_t unit)
{
    p->rows[side] = unit ? chunk_rows(p->t[side], unit) : 0;
    p->unit[side] = p->rows[side] ? unit : 0;
    p->slots[side] = p->rows[side] ? unit_slots(p->world[side], unit) : NULL;
}

/* Goes to the first pair of chunks. False: both tables are empty. */
INLINE bool chunk_pair_first(chunk_pair *p)
{
    p->number = 0;
    for (int side = 0; side < 2; side++) chunk_pair_place(p, side, p->t[side] ? p->t[side]->first : 0);
    return p->unit[0] || p->unit[1];
}

INLINE bool chunk_pair_next(chunk_pair *p)
{
    p->number++;
    for (int side = 0; side < 2; side++) {
        const bool more = p->unit[side] && p->unit[side] != p->t[side]->last;
        chunk_pair_place(p, side, more ? p->slots[side][0].head.next : 0);
    }
    return p->unit[0] || p->unit[1];
}

/* Neither world has written anything in these rows since they were one state. */
INLINE bool chunk_pair_shared(const chunk_pair *p) { return p->slots[0] == p->slots[1] && p->rows[0] == p->rows[1]; }

/* Set the bits of the rows whose values differ, of `rows` values that lie side by side: of a type, or with NULL of
 * handles; and of those whose bytes differ, also such that belong to no field. `e`: the handles of the rows, which are
 * prefetched where bytes differ. */
void reef__rows_differ(uint64_t *masks, const type *t, const char *a, const char *b, uint32_t rows,
                       const reef_entity *e);
void reef__bytes_differ(uint64_t *masks, const char *a, const char *b, size_t size, uint32_t rows,
                        const reef_entity *e);
/* The same for the rows that both chunks of a pair have, of the columns in these slots; and for the bits of a key,
 * which one of the worlds may never have used. False: both worlds share them. */
INLINE bool chunk_pair_differ(const chunk_pair *p, const type *t, uint32_t k, uint32_t other, uint64_t *masks)
{
    const uint32_t rows = p->rows[0] < p->rows[1] ? p->rows[0] : p->rows[1];
    if (rows == 0 || p->slots[0][k].block == p->slots[1][other].block) return false;
    reef__rows_differ(masks, t, p->slots[0][k].block, p->slots[1][other].block, rows, slot_entities(p->slots[0]));
    return true;
}
/* The words of bits of a key in both chunks. False: both worlds share them, or have none. */
INLINE bool chunk_pair_words(const chunk_pair *p, uint32_t key, const uint64_t *words[2])
{
    for (int side = 0; side < 2; side++)
        words[side] = p->unit[side] ? bit_words(bit_store_of(p->world[side], key), p->unit[side]) : NULL;
    return words[0] != words[1];
}
INLINE bool chunk_pair_bits_differ(const chunk_pair *p, uint32_t key, uint64_t *masks)
{
    const uint64_t *words[2];
    if (!chunk_pair_words(p, key, words)) return false;
    for (uint32_t i = 0; i < BIT_WORDS; i++) masks[i] |= (words[0] ? words[0][i] : 0) ^ (words[1] ? words[1][i] : 0);
    return true;
}
/* The first row that a mask names; REEF_BLOCK_ROWS: none. */
INLINE uint32_t mask_first(const uint64_t *masks)
{
    for (uint32_t i = 0; i < BIT_WORDS; i++)
        if (masks[i]) return i * 64 + bits_first(masks[i]);
    return REEF_BLOCK_ROWS;
}

/* ---- free ids ---- */

/* The queue of free ids of a world, without its holes. That of no world is empty. */
typedef struct free_queue {
    const reef_world *w;
    uint64_t at, end;
} free_queue;

INLINE free_queue free_queue_of(const reef_world *w)
{
    return w ? (free_queue){w, w->state.ring_head, w->state.ring_tail} : (free_queue){0};
}
/* The next id of the queue. Generation 0: the queue is at its end. */
reef_entity reef__free_next(free_queue *q);
/* How many ids follow that are the same in both queues. Both move on to behind them. */
uint64_t reef__free_same(free_queue *a, free_queue *b);

/* ---- names ---- */

/* Is name `number` on a page that both worlds hold? Then both have it. */
INLINE bool name_shared(const reef_world *w, const reef_world *other, uint32_t number)
{
    const uint32_t page = number / NAMES_PER_PAGE;
    return number < w->state.name_count && number < other->state.name_count &&
           w->state.name_entries.page[page] == other->state.name_entries.page[page];
}

/* A name of one world that the other one doesn't have for the same entity. Begins as {0}. */
typedef struct name_walk {
    uint32_t number; /* of the next name to look at */
    reef_entity entity;
    const char *text, *other; /* other: the entity's name in the other world, NULL: it has none */
} name_walk;

/* The next such name, in no order; false: there is none. Without another world (NULL) all names are such. */
bool reef__name_walk_next(const reef_world *w, const reef_world *other, name_walk *n);

#endif
