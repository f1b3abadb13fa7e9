/* The tables of a world: chunks, the blocks of their columns, and rows that come and go. src/storage/table.h has a
 * drawing and the rules of what may fail.
 *
 * A block is shared until its world writes it. Whether this world alone holds a block is seen by its version: one that
 * is newer than the world's fork_version was written after the last share. An older one may still be the world's own,
 * if all others have left; the tree of nodes knows that (reef__paged_base), under the lock. */
#include "storage/table.h"
#include "type/value.h"
#include "storage/archetype.h"
#include "storage/block_index.h"
#include "storage/cow_pages.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/quarantine.h"
#include "storage/row_bits.h"

/* ---- kinds of containers ---- */

static bool chunk_page_release(void *context, const void *page, const void *kept, uint64_t base, size_t index);

static bool chunk_page_copy(void *context, void *to, const void *from, size_t index)
{
    const chunk_page *p = from;
    chunk_page *copy = to;
    (void)context, (void)index;
    memcpy(copy->slots, p->slots, (size_t)p->used * REEF_UNIT_BYTES);
    copy->used = p->used;
    return true;
}

const paged_type reef__pages_records = {
    sizeof(uint64_t) * RECORDS_PER_PAGE, ARENA_RECORDS, MEMORY_INDEX, NULL, true, 0, NULL, reef__records_blank};
const paged_type reef__pages_chunks = {
    sizeof(chunk_page), ARENA_DIRECTORY, MEMORY_TABLES, chunk_page_release, false, 0, chunk_page_copy, NULL};
const paged_type reef__pages_tables = {
    sizeof(table) * TABLES_PER_PAGE, ARENA_DIRECTORY, MEMORY_TABLES, NULL, false, 0, NULL, NULL};
const paged_type reef__pages_ring = {
    sizeof(uint32_t) * RING_PER_PAGE, ARENA_DIRECTORY, MEMORY_INDEX, NULL, true, 0, NULL, NULL};
const paged_type reef__pages_bits = {sizeof(uint64_t) * BIT_WORDS, ARENA_BITS, MEMORY_BITS, NULL, false, 0, NULL, NULL};

const paged_type reef__pages_hashes = {
    sizeof(uint64_t) * 2 * HASHES_PER_PAGE, ARENA_DIRECTORY, MEMORY_HASHES, NULL, false, 0, NULL, NULL};
const paged_type reef__pages_tracks = {TRACK_PAGE_BYTES, ARENA_DIRECTORY, MEMORY_TRACKS, NULL, false, 0, NULL, NULL};
const paged_type reef__pages_events = {TRACK_PAGE_BYTES, ARENA_DIRECTORY, MEMORY_EVENTS, NULL, true, 0, NULL, NULL};

paged_owner reef__owner_of(family *f, const paged_type *t) { return (paged_owner){&f->memory, &f->lock, t, f}; }

bool reef__pages_grow(reef_world *w, reef_paged *p, const paged_type *t, uint32_t count)
{
    const paged_owner o = reef__owner_of(w->family, t);
    return reef__paged_grow(p, &o, count, w->hot.fork_version);
}

void *reef__page_own(reef_world *w, reef_paged *p, const paged_type *t, uint32_t i)
{
    void *ours = page_ours(p, i, w->hot.fork_version);
    if (LIKELY(ours && ours != t->blank)) return ours;
    const paged_owner o = reef__owner_of(w->family, t);
    if (i >= p->count && !reef__paged_grow(p, &o, i + 1, w->hot.fork_version)) return NULL;
    return reef__paged_own(p, &o, i, w->hot.version, w->hot.fork_version);
}

void reef__pages_drop(reef_world *w, reef_paged *p, const paged_type *t)
{
    const paged_owner o = reef__owner_of(w->family, t);
    reef__paged_drop(p, &o);
}

bool reef__ring_enlarge(reef_world *w, const paged_type *t, reef_paged *ring, uint64_t head, uint64_t tail,
                        uint64_t pages)
{
    uint64_t count = 2;
    while (count < pages) count *= 2;
    if (count > UINT32_MAX / 2) return false;
    reef_paged fresh = {0};
    bool ok = reef__pages_grow(w, &fresh, t, (uint32_t)count);
    for (uint64_t p = head / t->page_bytes; ok && head != tail && p <= (tail - 1) / t->page_bytes; p++) {
        void *page = reef__page_own(w, &fresh, t, (uint32_t)(p & (count - 1)));
        ok = page != NULL;
        if (ok) memcpy(page, ring->page[p & (ring->count - 1)], t->page_bytes);
    }
    reef_paged old = ok ? *ring : fresh;
    if (ok) *ring = fresh;
    reef__pages_drop(w, &old, t);
    return ok;
}

/* ---- values ---- */

void reef__row_destroy(const shape *s, reef_slot *slots, uint32_t row)
{
    if (!s->hooked) return;
    for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++) {
        value_destroy(s->columns[k].type, cell(slots, k, row, s->columns[k].size));
    }
}

/* ---- blocks ---- */

enum {
    GONE_AT_ONCE = 64, /* blocks that are freed under one lock */
    /* bytes to prefetch of a page that is freed: an old page is in no cache (a tick of rollback_60 took 15.3 us instead
     * of 20.9) */
    RELEASE_AHEAD = 32 * REEF_UNIT_BYTES
};

/* Called for a page of chunks that a dying node owns: frees the blocks that belong to the node and that `kept` doesn't
 * have. */
static bool chunk_page_release(void *context, const void *page, const void *kept, uint64_t base, size_t index)
{
    family *f = context;
    const chunk_page *p = page, *q = kept;
    memory_gone gone[GONE_AT_ONCE];
    uint32_t n = 0;
    for (uint32_t u = index == 0 ? 2 : 0; u < p->used;) {
        const reef_slot *slots = p->slots + u * REEF_UNIT_SLOTS;
        if (slots[0].head.table == TABLE_NONE) {
            u++;
            continue;
        }
        const shape *s = f->graph.shapes[slots[0].head.table];
        const uint32_t end = s->end_slot;
        const reef_slot *other = q && u + s->units <= q->used ? q->slots + u * REEF_UNIT_SLOTS : NULL;
        for (size_t line = RELEASE_AHEAD; line < RELEASE_AHEAD + 2 * REEF_UNIT_BYTES; line += REEF_UNIT_BYTES) {
            PREFETCH((const void *)((uintptr_t)slots + line));
            PREFETCH((const void *)((uintptr_t)other + line));
        }
        left_blocks *left = reef__quarantine_note(NULL, f, s, slots, 0);
        for (uint32_t k = SLOT_ENTITIES; k < end; k++) {
            if (slots[k].version <= base) continue;
            void *block = slots[k].block;
            if (other && other[k].block == block) continue;
            const column *c = &s->columns[k];
            reef__block_destroy_values(c, block, slots[0].head_more.count);
            if (reef__quarantine_take(left, c, block, slots[0].head_more.capacity)) continue;
            gone[n++] = (memory_gone){block, (size_t)c->size * slots[0].head_more.capacity, c->arena, c->align};
            if (n < GONE_AT_ONCE) continue;
            reef__memory_blocks_free(&f->memory, MEMORY_ROWS, gone, n);
            n = 0;
        }
        reef__quarantine_wait(left);
        u += s->units;
    }
    reef__memory_blocks_free(&f->memory, MEMORY_ROWS, gone, n);
    return false;
}

/* ---- units ---- */

static NOINLINE reef_slot *unit_own_shared(reef_world *w, uint32_t unit)
{
    if (w->hot.chunks.page[unit >> REEF_UNIT_BITS])
        reef__invalidate(w, INVALIDATE_TABLES_MADE); /* queries remember slots */
    reef_slot *page = reef__page_own(w, &w->hot.chunks, &reef__pages_chunks, unit >> REEF_UNIT_BITS);
    if (page == NULL) return NULL;
    reef__chunks_know_ours(w);
    return page + (unit & (UNITS_PER_PAGE - 1)) * REEF_UNIT_SLOTS;
}

static reef_slot *unit_own(reef_world *w, uint32_t unit)
{
    const bool ours = page_ours(&w->hot.chunks, unit >> REEF_UNIT_BITS, w->hot.fork_version) != NULL;
    return ours ? unit_slots(w, unit) : unit_own_shared(w, unit);
}

static uint32_t run_class(uint32_t units) { return units <= RUN_SMALL ? units : RUN_SMALL - 4 + units / 8; }

uint32_t reef__unit_find(reef_world *w, uint32_t units)
{
    uint32_t unit = w->state.free_unit[run_class(units)];
    if (unit == 0) {
        unit = w->state.next_unit;
        if ((unit & (UNITS_PER_PAGE - 1)) + units > UNITS_PER_PAGE) unit = (unit | (UNITS_PER_PAGE - 1)) + 1;
        if (unit + units > UNIT_MAX) return 0;
    }
    if (!reef__pages_grow(w, &w->hot.chunks, &reef__pages_chunks, (unit >> REEF_UNIT_BITS) + 1)) return 0;
    return unit_own(w, unit) ? unit : 0;
}

void reef__unit_take(reef_world *w, uint32_t unit, uint32_t units)
{
    chunk_page *page = w->hot.chunks.page[unit >> REEF_UNIT_BITS];
    const uint32_t end = (unit & (UNITS_PER_PAGE - 1)) + units;
    if (page->used < end) page->used = end;
    reef__invalidate(w, INVALIDATE_STORES_MOVED);
    if (w->state.free_unit[run_class(units)] == unit)
        w->state.free_unit[run_class(units)] = unit_slots(w, unit)[0].head.next;
    /* The rest of a page that was skipped stays unused: at most 250 units of a page. */
    else w->state.next_unit = unit + units, units_note(w);
}

void reef__unit_give(reef_world *w, uint32_t unit, uint32_t units)
{
    reef_slot *slots = unit_slots(w, unit);
    for (uint32_t i = 0; i < units; i++) slots[i * REEF_UNIT_SLOTS].head.table = TABLE_NONE;
    slots[0].head.next = w->state.free_unit[run_class(units)];
    w->state.free_unit[run_class(units)] = unit;
}

/* ---- chunks ---- */

static bool blocks_take(reef_world *w, const shape *s, void **block, uint32_t rows)
{
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++) {
        block[k] = reef__block_take(w->family, &s->columns[k], rows);
        if (block[k] != NULL) continue;
        while (--k >= SLOT_ENTITIES) reef__block_give(w->family, &s->columns[k], block[k], rows);
        return false;
    }
    return true;
}

/* Makes a chunk with this capacity, on an owned page, the last one of its table. */
static bool chunk_link(reef_world *w, table *t, uint32_t unit, uint32_t rows)
{
    reef_slot *slots = unit_slots(w, unit);
    slots[0].head.next = 0;
    slots[0].head_more.previous = t->last;
    if (t->last) unit_slots(w, t->last)[0].head.next = unit;
    else t->first = unit;
    t->last = unit;
    t->chunks++;
    t->next = unit_place(unit);
    t->end = t->next + rows;
    return true;
}

/* Makes a new last chunk. */
static bool chunk_make(reef_world *w, table *t, uint32_t rows)
{
    void *block[REEF_COLUMNS_MAX + SLOT_COLUMNS];
    const shape *s = t->shape;
    uint32_t unit = reef__unit_find(w, s->units);
    if (unit == 0 || (t->last && !unit_own(w, t->last)) || !blocks_take(w, s, block, rows)) return false;
    mutex_lock(&w->family->lock); /* a relative that dies may be comparing pages */
    reef__unit_take(w, unit, s->units);
    reef_slot *slots = unit_slots(w, unit);
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++) {
        slots[k].block = block[k];
        slots[k].version = column_mark(w, &s->columns[k]);
    }
    slots[0].head.table = s->table;
    slots[0].head_more.capacity = (uint16_t)rows;
    slots[0].head_more.count = 0;
    chunk_note(w, s, unit, true);
    mutex_unlock(&w->family->lock);
    return chunk_link(w, t, unit, rows);
}

/* Marks all columns of a chunk as written now. */
INLINE void chunk_mark(const reef_world *w, const shape *s, reef_slot *slots)
{
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++) slots[k].version = w->hot.version;
    for (uint32_t k = SLOT_COLUMNS; UNLIKELY(s->tracked) && k < s->end_slot; k++)
        slots[k].version = column_mark(w, &s->columns[k]);
}

bool reef__block_is_ours(reef_world *w, uint64_t version)
{
    mutex_lock(&w->family->lock);
    bool ours = version > reef__paged_base(&w->hot.chunks);
    mutex_unlock(&w->family->lock);
    return ours;
}

void reef__values_relocate(reef_world *w, const char *old, const char *fresh, size_t bytes)
{
    for (uint32_t i = 0; i < w->value_count; i++) {
        const char *p = w->value[i].data;
        if (p && (uintptr_t)p - (uintptr_t)old < bytes) w->value[i].data = fresh + (p - old);
    }
}

/* Makes a block this world's own. The page of the chunk belongs to this world already. */
static bool block_own(reef_world *w, const shape *s, uint32_t unit, uint32_t k, uint32_t rows)
{
    const uint64_t was = unit_slots(w, unit)[k].version;
    const column *c = &s->columns[k];
    if (was > w->ours_after) return true;
    return (UNLIKELY(c->type && !c->type->plain_copy) && reef__block_is_ours(w, was)) ||
           reef__block_unshare(w, c, unit, k, rows, column_mark(w, c));
}

bool reef__column_is_ours(reef_world *w, uint32_t unit, uint32_t k)
{
    uint64_t version = unit_slots(w, unit)[k].version;
    return version > w->ours_after || reef__block_is_ours(w, version);
}

COLD void *reef__column_default(reef_world *w, const table *t, uint32_t unit, uint32_t k)
{
    const column *c = &t->shape->columns[k];
    void *block = reef__column_fresh(w, t, unit, k);
    if (block == NULL) return NULL;
    if (reef__block_construct(w, c, block, slot_entities(unit_slots(w, unit)), chunk_rows(t, unit))) return block;
    reef__column_drop(w, t, unit, k, block);
    return NULL;
}

COLD void reef__column_discard(reef_world *w, const shape *s, uint32_t unit, uint32_t k, void *block)
{
    const table *t = table_read(w, s->table);
    reef__block_destroy_values(&s->columns[k], block, chunk_rows(t, unit));
    reef__column_drop(w, t, unit, k, block);
}

void *reef__column_exchange(reef_world *w, uint32_t unit, uint32_t k, void *block)
{
    reef_slot *slots = unit_slots(w, unit);
    mutex_lock(&w->family->lock);
    void *was = slots[k].block;
    slots[k].block = block;
    column_note(w, shape_of(w->family, slots[0].head.table), unit, k, block);
    reef__invalidate(w, INVALIDATE_BLOCKS_MOVED);
    mutex_unlock(&w->family->lock);
    return was;
}

bool reef__column_take(reef_world *w, uint32_t unit, uint32_t k, void *block)
{
    reef_slot *slots = unit_own(w, unit);
    if (slots == NULL) return false;
    reef__column_exchange(w, unit, k, block);
    slots[k].version = column_mark(w, &shape_of(w->family, slots[0].head.table)->columns[k]);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return true;
}

bool reef__column_own(reef_world *w, const table *t, uint32_t unit, uint32_t k)
{
    const uint16_t slot = (uint16_t)k;
    return reef__slots_own(w, t, unit, &slot, 1, 0);
}

bool reef__block_own_at(reef_world *w, const table *t, uint32_t unit, uint32_t k)
{
    reef_slot *slots = unit_own(w, unit);
    return slots && block_own(w, t->shape, unit, k, chunk_rows(t, unit));
}

bool reef__chunk_page_own(reef_world *w, uint32_t unit) { return unit_own(w, unit) != NULL; }

void reef__chunks_know_ours(reef_world *w)
{
    if (w->hot.chunks.node == NULL) return;
    mutex_lock(&w->family->lock);
    w->ours_after = reef__paged_base(&w->hot.chunks);
    w->has_past = reef__paged_has_past(&w->hot.chunks);
    mutex_unlock(&w->family->lock);
}

bool reef__column_claim(reef_world *w, const table *t, uint32_t unit, uint32_t k, uint64_t version)
{
    return LIKELY(unit_slots(w, unit)[k].version > w->ours_after) ||
           reef__block_unshare(w, &t->shape->columns[k], unit, k, chunk_rows(t, unit), version);
}

COLD void *reef__column_fresh(reef_world *w, const table *t, uint32_t unit, uint32_t k)
{
    const reef_slot *slots = unit_own(w, unit);
    const column *c = &t->shape->columns[k];
    void *block = slots ? reef__block_take(w->family, c, chunk_capacity(slots)) : NULL;
#if defined(REEF_CHECKED)
    /* shows a value that isn't written */
    if (block) memset(block, 0xA5, (size_t)chunk_rows(t, unit) * c->size);
#endif
    return block;
}

COLD void reef__column_drop(reef_world *w, const table *t, uint32_t unit, uint32_t k, void *fresh)
{
    reef__block_give(w->family, &t->shape->columns[k], fresh, chunk_capacity(unit_slots(w, unit)));
}

COLD void reef__column_replace(reef_world *w, const table *t, uint32_t unit, uint32_t k, void *fresh)
{
    reef_slot *slots = unit_slots(w, unit);
    mutex_lock(&w->family->lock);
    w->ours_after = reef__paged_base(&w->hot.chunks);
    const bool ours = slots[k].version > w->ours_after; /* the last other holder has left meanwhile */
    if (!ours) slots[k].block = fresh, column_note(w, t->shape, unit, k, fresh);
    slots[k].version = column_mark(w, &t->shape->columns[k]);
    reef__invalidate(w, INVALIDATE_BLOCKS_MOVED);
    mutex_unlock(&w->family->lock);
    if (ours) reef__column_drop(w, t, unit, k, fresh);
    reef__invalidate(w, INVALIDATE_WRITTEN);
}

bool reef__chunk_own(reef_world *w, const table *t, uint32_t unit)
{
    reef_slot *slots = unit_slots(w, unit);
    if (LIKELY(slots[SLOT_ENTITIES].version == w->hot.version)) return true; /* then all columns have this version */
    const shape *s = t->shape;
    uint32_t rows = chunk_rows(t, unit);
    slots = unit_own(w, unit);
    if (slots == NULL) return false;
    const void *handles = slots[SLOT_ENTITIES].block; /* the last block that is copied, and queries remember it */
    for (uint32_t k = s->end_slot; k-- > SLOT_ENTITIES;) {
        if (!block_own(w, s, unit, k, rows)) return false;
    }
    chunk_mark(w, s, slots);
    if (slots[SLOT_ENTITIES].block != handles) reef__invalidate(w, INVALIDATE_ROWS_CHANGED);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return true;
}

bool reef__chunk_rehouse(reef_world *w, const table *t, uint32_t unit, uint32_t room, uint32_t raw)
{
    void *block[REEF_COLUMNS_MAX + SLOT_COLUMNS];
    const shape *s = t->shape;
    const uint32_t rows = chunk_rows(t, unit);
    reef_slot *slots = unit_slots(w, unit);
    if (!blocks_take(w, s, block, room)) return false;
    left_blocks *left = reef__quarantine_note(w, w->family, s, slots, rows);
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++) {
        const column *c = &s->columns[k];
        char *old = slots[k].block;
        reef__block_move(c, block[k], old, rows, raw);
        reef__values_relocate(w, old, block[k], (size_t)rows * c->size);
        mutex_lock(&w->family->lock); /* a relative that dies may be comparing pages */
        slots[k].block = block[k];
        column_note(w, s, unit, k, block[k]);
        mutex_unlock(&w->family->lock);
        if (!reef__quarantine_take(left, c, old, chunk_capacity(slots)))
            reef__block_give(w->family, c, old, chunk_capacity(slots));
    }
    reef__quarantine_wait(left);
    slots[0].head_more.capacity = (uint16_t)room;
    reef__invalidate(w, INVALIDATE_BLOCKS_MOVED);
    return true;
}

/* Gives the only chunk of a table more room. No other growth moves rows. */
static COLD bool chunk_enlarge(reef_world *w, table *t)
{
    const uint32_t unit = t->last;
    if (!reef__chunk_own(w, t, unit)) return false;
    const uint32_t twice = chunk_capacity(unit_slots(w, unit)) * 2,
                   room = twice < REEF_BLOCK_ROWS ? twice : REEF_BLOCK_ROWS;
    if (!reef__chunk_rehouse(w, t, unit, room, UINT32_MAX)) return false;
    t->end = unit_place(unit) + room;
    return true;
}

/* Frees the blocks of an unlinked, empty chunk on a page that this world owns. */
static void chunk_free(reef_world *w, const shape *s, uint32_t unit)
{
    reef_slot *slots = unit_slots(w, unit);
    mutex_lock(&w->family->lock);
    uint64_t base = reef__paged_base(&w->hot.chunks);
    chunk_note(w, s, unit, false);
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot; k++) {
        void *block = slots[k].block;
        slots[k].block = NULL;
        if (slots[k].version > base) reef__block_give(w->family, &s->columns[k], block, chunk_capacity(slots));
    }
    reef__unit_give(w, unit, s->units);
    mutex_unlock(&w->family->lock);
}

/* Makes the first spare chunk the last chunk. Its blocks hold no rows, so shared ones are replaced, not copied. */
static bool chunk_relink(reef_world *w, table *t)
{
    uint32_t unit = t->spare;
    if (!unit_own(w, t->last) || !unit_own(w, unit)) return false;
    reef_slot *slots = unit_slots(w, unit);
    for (uint32_t k = SLOT_ENTITIES; k < t->shape->end_slot; k++)
        if (!block_own(w, t->shape, unit, k, 0)) return false;
    chunk_mark(w, t->shape, slots);
    t->spare = slots[0].head.next;
    return chunk_link(w, t, unit, chunk_capacity(slots));
}

static bool table_grow(reef_world *w, table *t)
{
    lease_end(t);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    if (t->chunks == 0) return chunk_make(w, t, t->shape->first_rows);
    if (t->chunks == 1 && t->end - unit_place(t->last) < REEF_BLOCK_ROWS) return chunk_enlarge(w, t);
    return t->spare ? chunk_relink(w, t) : chunk_make(w, t, REEF_BLOCK_ROWS);
}

/* ---- tables ---- */

table *reef__table_own(reef_world *w, uint32_t id)
{
    reef_paged *p = &w->state.tables;
    uint32_t page = id / TABLES_PER_PAGE;
    const void *before = page < p->count ? p->page[page] : NULL;
    table *t = reef__page_own(w, p, &reef__pages_tables, page);
    if (t == NULL) return NULL;
    if (before && before != t) {
        edges_forget(w); /* it points into pages, as queries do */
        reef__invalidate(w, INVALIDATE_TABLES_MADE);
    }
    t += id % TABLES_PER_PAGE;
    reef__invalidate(w, INVALIDATE_ROWS_CHANGED);
    if (t->shape) return t;
    t->shape = shape_of(w->family, id);
    w->tables_begun++;
    if (w->queries_tell) w->queries_tell(w, t->shape);
    return t;
}

bool reef__table_room(reef_world *w, table *t)
{
    if (t->next == t->end && !table_grow(w, t)) return false;
    if (!reef__chunk_own(w, t, t->last)) return false;
    reef__quarantine_open(w, t, t->last);
    reef__table_lease(w, t);
    return true;
}

void reef__table_lease(reef_world *w, table *t)
{
    const shape *s = t->shape;
    if (t->append == w->hot.version || GUARDED(w) || s->hooked || s->tracked || t->chunks == 0 ||
        !reef__chunk_own(w, t, t->last))
        return;
    t->tail = unit_slots(w, t->last);
    t->append = w->hot.version;
    /* a new row has no bits, and bits behind the last row are zero */
    t->lease = t->bits ? 0 : w->hot.version;
    reef__invalidate(w, INVALIDATE_ROWS_CHANGED);
}

bool reef__table_prepare_pop(reef_world *w, const table *t)
{
    if (!unit_own(w, t->last)) return false;
    if (t->next - unit_place(t->last) > 1 || t->chunks == 1) return true;
    return unit_own(w, unit_slots(w, t->last)[0].head_more.previous);
}

void reef__row_pushed(reef_world *w, table *t)
{
    if (UNLIKELY(t->shape->hooked)) unit_slots(w, t->last)[0].head_more.count++;
    t->next++, reef__invalidate(w, INVALIDATE_ROWS_CHANGED);
}

void reef__row_pop(reef_world *w, table *t)
{
    t->next--, reef__invalidate(w, INVALIDATE_ROWS_CHANGED);
    reef_slot *slots = unit_slots(w, t->last);
    if (UNLIKELY(t->shape->hooked)) slots[0].head_more.count--;
    reef__quarantine_close(w, t);
    if (UNLIKELY(t->next == unit_place(t->last))) reef__table_trim(w, t);
}

void reef__table_trim(reef_world *w, table *t)
{
    if (t->chunks <= 1 || t->next != unit_place(t->last)) return;
    reef_slot *slots = unit_slots(w, t->last);
    uint32_t empty = t->last;
    t->last = slots[0].head_more.previous;
    t->chunks--;
    unit_slots(w, t->last)[0].head.next = 0;
    t->next = t->end = unit_place(t->last) + REEF_BLOCK_ROWS;
    lease_end(t);
    if (t->spare) {
        chunk_free(w, t->shape, empty);
    } else {
        slots[0].head.next = 0;
        t->spare = empty;
    }
}

void reef__table_empty(reef_world *w, table *t)
{
    for (;;) {
        t->next = unit_place(t->last);
        unit_slots(w, t->last)[0].head_more.count = 0;
        if (t->chunks <= 1) return;
        reef__table_trim(w, t);
    }
}

void reef__row_fill(reef_world *w, table *t, uint32_t place)
{
    const shape *s = t->shape;
    uint32_t last = t->next - 1;
    reef__quarantine_fill(w, t, place);
    if (place != last) {
        reef_slot *to = reef_slots_at(&w->hot, place), *from = unit_slots(w, t->last);
        uint32_t to_row = place_row(place), from_row = place_row(last);
        reef_entity moved = slot_entities(from)[from_row];
        ((reef_entity *)to[SLOT_ENTITIES].block)[to_row] = moved;
        record_put(w, moved, place);
        if (!s->hooked) row_copy(s, to, to_row, from, from_row);
        else
            for (uint32_t k = SLOT_COLUMNS; k < s->end_slot; k++)
                reef__value_move(s->columns[k].type, cell(to, k, to_row, s->columns[k].size),
                                 cell(from, k, from_row, s->columns[k].size));
        if (UNLIKELY(t->bits != 0)) reef__bits_move(w, t->bits, last, place);
    } else if (UNLIKELY(t->bits != 0)) {
        reef__bits_clear(w, t->bits, place);
    }
    reef__row_pop(w, t);
}

/* Makes one more spare chunk: a new last chunk, which is then put before the spare ones. */
static COLD bool spare_make(reef_world *w, table *t)
{
    table was = *t;
    if (!chunk_make(w, t, REEF_BLOCK_ROWS)) return false;
    uint32_t unit = t->last;
    *t = was;
    t->spare = unit;
    unit_slots(w, unit)[0].head.next = was.spare;
    unit_slots(w, was.last)[0].head.next = 0;
    return true;
}

COLD bool reef__table_reserve(reef_world *w, table *t, uint32_t rows)
{
    lease_end(t);
    while (t->chunks <= 1 && t->end - t->next < rows && t->end - unit_place(t->last) < REEF_BLOCK_ROWS)
        if (!table_grow(w, t)) return false;
    uint64_t room = t->end - t->next;
    for (uint32_t unit = t->spare; unit; unit = unit_slots(w, unit)[0].head.next) room += REEF_BLOCK_ROWS;
    for (; room < rows; room += REEF_BLOCK_ROWS)
        if (!spare_make(w, t)) return false;
    for (uint32_t unit = t->spare; unit; unit = unit_slots(w, unit)[0].head.next) {
        if (!unit_own(w, unit)) return false;
        for (uint32_t k = SLOT_ENTITIES; k < t->shape->end_slot; k++)
            if (!block_own(w, t->shape, unit, k, 0)) return false;
    }
    return reef__chunk_own(w, t, t->last);
}

COLD bool reef__table_own_all(reef_world *w, uint32_t id)
{
    table *t = reef__table_own(w, id);
    if (t == NULL) return false;
    for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next) {
        if (!reef__chunk_own(w, t, unit) || !reef__bits_own_unit(w, t->bits, unit)) return false;
        const reef_entity *e = slot_entities(unit_slots(w, unit));
        for (uint32_t i = 0; i < chunk_rows(t, unit); i++)
            if (!record_owned(w, e[i].index) && reef__record_own(w, e[i].index) == NULL) return false;
    }
    return true;
}

COLD bool reef__table_shrink(reef_world *w, uint32_t id)
{
    const table *seen = table_read(w, id);
    if (seen == NULL || (seen->spare == 0 && (seen->chunks != 1 || table_rows(seen) != 0))) return true;
    table *t = reef__table_own(w, id);
    if (t == NULL) return false;
    lease_end(t);
    while (t->spare) {
        uint32_t unit = t->spare;
        if (!unit_own(w, unit)) return false;
        t->spare = unit_slots(w, unit)[0].head.next;
        chunk_free(w, t->shape, unit);
    }
    if (t->chunks == 1 && table_rows(t) == 0) {
        if (!unit_own(w, t->last)) return false;
        chunk_free(w, t->shape, t->last);
        t->first = t->last = t->chunks = t->next = t->end = 0;
    }
    return true;
}

/* ---- validation ---- */

static reef_status chunk_validate(const reef_world *w, const table *t, uint32_t unit, uint32_t previous, char *message,
                                  size_t size)
{
    const reef_slot *slots = unit_slots(w, unit);
    const shape *s = t->shape;
    uint32_t rows = chunk_rows(t, unit);
    const char *what = NULL;
    if (slots[0].head.table != s->table) what = "a chunk of another table";
    else if (slots[0].head_more.previous != previous) what = "a wrong link back";
    else if (rows > slots[0].head_more.capacity) what = "more rows than room";
    else if (s->hooked && slots[0].head_more.count != rows) what = "a wrong number of values with hooks";
    for (uint32_t k = SLOT_ENTITIES; k < s->end_slot && !what; k++) {
        if (slots[k].block == NULL || (uintptr_t)slots[k].block % (s->columns[k].align))
            what = "a block that is missing or misaligned";
        if (slots[k].version > w->hot.version) what = "a write that is newer than the world";
    }
    for (uint32_t i = 0; i < rows && !what; i++)
        if (place_of(w, slot_entities(slots)[i]) != unit_place(unit) + i)
            what = "a row whose entity has another place in the index";
    if (what == NULL) return REEF_OK;
    return reef__corrupt(message, size, "table %u, unit %u: %s", s->table, unit, what);
}

COLD reef_status reef__tables_validate(const reef_world *w, char *message, size_t size)
{
    EACH_TABLE(w, t)
    {
        uint32_t chunks = 0, previous = 0;
        const uint32_t id = t->shape->table;
        for (uint32_t unit = t->first; unit; unit = unit_slots(w, unit)[0].head.next, chunks++) {
            if (chunk_validate(w, t, unit, previous, message, size) != REEF_OK) return REEF_CORRUPT;
            previous = unit;
        }
        bool ok = chunks == t->chunks && previous == t->last && t->next <= t->end &&
                  (t->chunks <= 1 || t->next > unit_place(t->last));
        if (t->lease == w->hot.version && (t->bits || t->append != t->lease)) ok = false;
        if (t->append == w->hot.version && (t->shape->hooked || t->shape->tracked || t->tail != unit_slots(w, t->last)))
            ok = false;
        if (!reef__shape_signed(t->shape)) ok = false;
        for (uint32_t i = 0; i < t->shape->component_count; i++) {
            const type *c = type_known(t->shape->component[i]);
            if (reef__slot_seek(w, c->id, id) == 0 || (c->owner && reef__slot_seek(w, c->owner, id) == 0)) ok = false;
            for (uint32_t k = 0; k < c->part_count; k++)
                if (reef__slot_seek(w, c->parts[k], id) == 0) ok = false;
        }
        if (ok) continue;
        return reef__corrupt(message, size, "table %u: chunks, ends, lease, signature or maps don't agree", id);
    }
    return REEF_OK;
}
