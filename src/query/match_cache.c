/* Remembers, from one loop of a query to the next, which rows have a value in a store, and where it lies.
 *
 *   chunk, by its unit     list: rows  . . x . . . x x . . x     what a loop would find by the bits, the rows' handles
 *                                slots     7       8 9     3     and the store's index: a cache line each
 *
 * Invariant: a list is proved right before it is used, without a look at the rows. The rows' handles and bits are as
 * they were if their versions are, since everybody who writes them marks them, as for the state hash. The values are
 * theirs if no value moved in the store since then, or else if the slots still belong to the same entities; the owners
 * of slots lie side by side. So a row that comes or goes costs its own chunk a new list, and so does a value that
 * moves to another slot.
 *
 * Versions tell that something was written, but not how often. What was written at the world's current version may be
 * written again at the same version, so it isn't remembered; the next loop makes a new version. The versions of a
 * state that comes from elsewhere belong to another history, so then everything is forgotten. Jobs of systems read
 * lists and make none. */
#include "query/match_cache.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "query/chunk_cursor.h"
#include "query/query.h"

static size_t list_bytes(uint32_t rows)
{
    const size_t bytes = offsetof(join_list, row) + rows * sizeof(join_row), part = _Alignof(join_list);
    return (bytes + part - 1) / part * part;
}

static size_t joining_bytes(void) { return sizeof(joining) + list_bytes(JOIN_ROWS); }

static joining *joining_of(query *q)
{
    joining *j = q->cut->join;
    if (LIKELY(j != NULL)) return j;
    j = q->cut->join = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, joining_bytes());
    if (j) j->scratch = (join_list *)(void *)(j + 1);
    return j;
}

static void list_free(memory *m, join_list *l)
{
    if (l) reef__memory_block_free(m, MEMORY_OTHER, ARENA_BITS, l, list_bytes(l->room), BLOCK_ALIGN);
}

COLD void reef__joins_drop(query *q)
{
    memory *m = &q->world->family->memory;
    joining *j = q->cut->join;
    if (j == NULL) return;
    for (uint32_t i = 0; i < j->units; i++) list_free(m, j->list[i]);
    if (j->list) reef__memory_free(m, MEMORY_OTHER, j->list, j->units * sizeof *j->list);
    reef__memory_free(m, MEMORY_OTHER, j, joining_bytes());
    q->cut->join = NULL;
}

/* ---- is a list still right? ---- */

/* Do the slots still belong to the same entities? */
static bool owners_hold(const join_list *l, const value_store *s)
{
    uint32_t slot = l->first;
    for (const join_row *r = l->row, *end = r + l->rows; r < end; r++, slot++) {
        if (!l->straight)
            slot = ((uint32_t)r->page << s->bits) +
                   ((uint32_t)(r->at + (int32_t)(r->row * s->size)) - s->offset) / s->size;
        if (!slot_follows(s, slot, &r->entity)) return false;
    }
    return true;
}

const join_list *reef__join_find(const query *q, const reef_slot *slots, const bit_store *bits, uint32_t unit,
                                 bool shared)
{
    join_list *l = join_of_rows(q->cut->join, q->world, slots, bits, unit);
    if (UNLIKELY(l == NULL)) return NULL;
    const value_store *s = store_of(q->world, q->cut->term[0].component);
    ASSERT(l->moves != s->moves || owners_hold(l, s));
    if (LIKELY(l->moves == s->moves)) return l;
    if (!owners_hold(l, s)) return NULL;
    if (!shared) l->moves = s->moves;
    return l;
}

/* ---- making lists ---- */

/* Lists the rows whose bit is set. The answer is how many, or more than JOIN_ROWS. A word mostly has few of them, and
 * the processor can't predict how many: so two are written for each word, without a branch. */
static uint32_t rows_find(uint16_t *row, const uint64_t *words)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < BIT_WORDS; k++) {
        uint64_t word = words[k];
        const uint32_t count = bits_count(word);
        if (n + count > JOIN_ROWS) return JOIN_ROWS + 1;
        for (uint32_t i = 0; i < 2; i++, word &= word - 1)
            row[n + i] = (uint16_t)(k * 64 + bits_first(word | 1ull << 63));
        for (uint32_t i = 2; UNLIKELY(i < count); i++, word &= word - 1)
            row[n + i] = (uint16_t)(k * 64 + bits_first(word));
        n += count;
    }
    return n;
}

/* Fetches the addresses of the pages of a chunk whose rows are searched next: otherwise all rows on a page would wait
 * for its translation. (A first loop with pages of 4 KiB: 46 ns a row -> 32. It is inlined by force: to a compiler, a
 * function that only fetches does nothing.) */
INLINE void chunk_pages_fetch(const query *q, const match *m, uint32_t unit)
{
    const cutting *c = q->cut;
    if (unit == 0) return;
    const reef_slot *slots = unit_slots(q->world, unit);
    pages_fetch(slot_entities(slots), REEF_BLOCK_ROWS * sizeof(reef_entity));
    for (const cut_term *t = &c->term[c->stored_count], *end = &c->term[c->cell_count]; t < end; t++)
        if (t->column != CUT_ELSEWHERE && t->size <= JOIN_PAGE_SIZE)
            pages_fetch(reef_slot_of(slots, m, t->column)->block, REEF_BLOCK_ROWS * t->size);
}

NOINLINE void reef__join_ahead(joining *j, const query *q, const match *m, const reef_slot *slots,
                               const bit_store *bits, uint32_t unit)
{
    const cutting *c = q->cut;
    const uint32_t next = slots[0].head.next;
    const uint64_t *after = bit_words(bits, next);
    if (after) PREFETCH(after), PREFETCH(after + BIT_WORDS / 2);

    chunk_pages_fetch(q, m, next);
    join_found *f = &j->found[j->turn];
    j->turn ^= 1;
    f->unit = unit;
    f->rows = rows_find(f->row, bits->words.page[unit]);
    if (f->rows > JOIN_ROWS) return;
    for (uint32_t i = 0; i < f->rows; i++) PREFETCH_ONCE(slot_entities(slots) + f->row[i]);
    for (const cut_term *t = &c->term[c->stored_count], *end = &c->term[c->cell_count]; t < end; t++) {
        if (t->column == CUT_ELSEWHERE) continue;
        const char *block = reef_slot_of(slots, m, t->column)->block;
        for (uint32_t i = 0; i < f->rows; i++) PREFETCH(block + f->row[i] * t->size);
    }
}

/* Fills in the list of the rows that were found. False: the number of a page is too large for it. */
static bool list_fill(joining *j, const join_found *f, join_list *l, const value_store *s, const reef_slot *slots)
{
    const reef_entity *handles = slot_entities(slots);
    uint32_t next = j->next, first = 0, most = 0;
    bool straight = true;
    for (uint32_t i = 0; i < f->rows; i++) {
        const uint32_t row = f->row[i];
        const reef_entity e = handles[row];
        const uint32_t slot = slot_follows(s, next, &e) ? next : slot_of(s, e), page = slot >> s->bits;
        const int32_t at = (int32_t)s->offset + ((int32_t)(slot & slot_mask(s)) - (int32_t)row) * (int32_t)s->size;
        l->row[i] = (join_row){e, (uint16_t)row, (uint16_t)page, at};
        if (i == 0) first = slot;
        straight &= slot == first + i;
        most = page > most ? page : most;
        next = slot + 1;
    }
    l->rows = (uint16_t)f->rows;
    l->first = first;
    l->straight = straight && first >> s->bits == most;
    j->next = next;
    return most <= UINT16_MAX;
}

/* Makes room for the list of a unit with so many rows. NULL: no memory. */
static join_list *joined_room(const query *q, joining *j, uint32_t unit, uint32_t rows)
{
    memory *m = &q->world->family->memory;
    if (unit >= j->units) {
        const uint32_t units = unit < q->world->state.next_unit ? q->world->state.next_unit : unit + 1;
        if (!reef__array_room(m, MEMORY_OTHER, &j->list, &j->units, units, sizeof *j->list)) return NULL;
    }
    join_list *l = j->list[unit];
    if (l && l->room >= rows) return l;
    join_list *more = reef__memory_block(m, MEMORY_OTHER, ARENA_BITS, list_bytes(rows), BLOCK_ALIGN);
    if (more == NULL) return NULL;
    list_free(m, l);
    more->room = (uint16_t)rows;
    return j->list[unit] = more;
}

/* Marks all lists as wrong, because they belong to another state. */
static COLD void lists_forget(joining *j, uint64_t epoch)
{
    for (uint32_t i = 0; i < j->units; i++)
        if (j->list[i]) j->list[i]->rows_at = JOIN_NEVER;
    j->epoch = epoch;
}

NOINLINE const join_list *reef__join_make(query *q, const match *m, const reef_slot *slots, const bit_store *bits,
                                          uint32_t unit, uint64_t settled)
{
    const reef_world *w = q->world;
    const value_store *s = store_of(w, q->cut->term[0].component);
    joining *j = joining_of(q);
    if (j == NULL) return NULL;
    if (j->epoch != w->state_epoch) lists_forget(j, w->state_epoch);
    if (!join_is_found(j, unit)) reef__join_ahead(j, q, m, slots, bits, unit);
    join_found *f = &j->found[j->found[1].unit == unit];
    f->unit = 0;
    if (f->rows > JOIN_ROWS) return NULL;
    const uint64_t rows_at = slots[SLOT_ENTITIES].version, bits_at = bits->words.version[unit];
    const bool kept = !q->once && rows_at <= settled && bits_at <= settled;
    j->young |= !kept;
    join_list *l = kept ? joined_room(q, j, unit, f->rows) : NULL;
    if (l == NULL) l = j->scratch;
    l->rows_at = rows_at;
    l->bits_at = bits_at;
    l->moves = s->moves;
    if (LIKELY(list_fill(j, f, l, s, slots))) return l;
    l->rows_at = JOIN_NEVER;
    return NULL;
}

void reef__joins_prepare(query *q, uint64_t settled)
{
    const reef_world *w = q->world;
    if (!query_joins(q)) return;
    join_forget_ahead(q);
    const bit_store *bits = bit_store_of(w, q->cut->term[0].component);
    for (chunk_cursor c = {.q = q}; chunk_next(&c);)
        if (bit_words(bits, c.unit) && reef__join_find(q, c.slots, bits, c.unit, false) == NULL)
            reef__join_make(q, c.match, c.slots, bits, c.unit, settled);
}
