/* The blocks of columns: memory for some rows of one column, the values in it, and copy on write.
 *
 * Blocks that are shared with a fork or snapshot become this world's own before it writes them.
 *
 * Usually the other holders keep the block and this world gets the copy. But where all other holders are snapshots,
 * they get the copy, and it goes past the caches: the blocks that every tick writes stay in the caches, and no memory
 * is read only to be overwritten.
 *
 * For snapshots a loop over chunks in order copies one chunk ahead: a copy past the caches takes 100 to 130 ns to
 * arrive, and it arrives while the user's loop runs over the chunk before. What was copied for a chunk that the loop
 * never comes to is dropped. (rollback_60 took 2.4 times as long as raw instead of 2.9. Where other worlds share the
 * blocks it gained nothing: fork_first_write took 1.8 times as long as raw without, 2.0 with copies ahead.) */
#include "storage/copy_on_write.h"
#include "type/value.h"
#include "storage/block_index.h"
#include "storage/cow_pages.h"
#include "storage/invalidate.h"
#include "storage/place.h"
#include "storage/table.h"

/* ---- memory and values ---- */

void *reef__block_take(family *f, const column *c, uint32_t rows)
{
    size_t bytes;
    if (!reef__size_multiply(c->size, rows, 0, &bytes)) return NULL; /* only fails with 32 bits: 4 MiB * 1,024 */
    return reef__memory_block(&f->memory, MEMORY_ROWS, c->arena, bytes, c->align);
}

void reef__block_give(family *f, const column *c, void *block, uint32_t rows)
{
    reef__memory_block_free(&f->memory, MEMORY_ROWS, c->arena, block, (size_t)c->size * rows, c->align);
}

void reef__block_destroy_values(const column *c, void *block, uint32_t rows)
{
    if (c->type == NULL || c->type->hooks.destroy == NULL) return;
    for (uint32_t i = 0; i < rows; i++) value_destroy(c->type, (char *)block + (size_t)i * c->size);
}

bool reef__block_construct(reef_world *w, const column *c, void *to, const reef_entity *e, uint32_t rows)
{
    const reef_hooks *h = &c->type->hooks;
    memset(to, 0, (size_t)rows * c->size);
    for (uint32_t i = 0; h->construct && i < rows; i++) {
        if (h->construct(h->context, w, e[i], (char *)to + (size_t)i * c->size, NULL) == REEF_OK) continue;
        w->hook_failed.id = c->type->id;
        reef__block_destroy_values(c, to, i);
        return false;
    }
    return true;
}

/* Copies values to raw memory, for another holder of these entities. False: there is no memory, or a hook refused, and
 * the memory is raw still. */
static bool block_copy(reef_world *w, const column *c, void *to, const void *from, const reef_entity *e, uint32_t rows)
{
    /* a copy for another holder gets default values */
    if (c->type && c->type->resets) return reef__block_construct(w, c, to, e, rows);
    if (c->type == NULL || c->type->hooks.copy == NULL) {
        memcpy(to, from, (size_t)rows * c->size);
        return true;
    }
    for (uint32_t i = 0; i < rows; i++) {
        size_t at = (size_t)i * c->size;
        if (reef__value_copy(c->type, (char *)to + at, (const char *)from + at) != REEF_OK) {
            w->hook_failed.id = c->type->id;
            reef__block_destroy_values(c, to, i);
            return false;
        }
    }
    return true;
}

void reef__block_move(const column *c, char *to, char *from, uint32_t rows, uint32_t raw)
{
    if (c->type == NULL || c->type->plain_move) {
        memcpy(to, from, (size_t)rows * c->size);
        return;
    }
    for (uint32_t i = 0; i < rows; i++)
        if (i != raw) reef__value_move(c->type, to + (size_t)i * c->size, from + (size_t)i * c->size);
}

/* ---- a block changes hands ---- */

enum { AHEAD_BYTES = 64 << 10 }; /* larger blocks aren't copied ahead: a loop that ends early made them in vain */

/* The slot in the past (src/storage/cow_pages.h) with this shared block. Under the lock. */
static reef_slot *slot_past(const reef_world *w, const reef_slot *slot, uint32_t unit, uint32_t k, const void *block)
{
    reef_slot *page = reef__paged_past(&w->hot.chunks, unit >> REEF_UNIT_BITS, slot->version);
    if (page) page += (unit & (UNITS_PER_PAGE - 1)) * REEF_UNIT_SLOTS + k;
    return page && page->block == block ? page : NULL;
}

/* Prefetches the same slot of the next chunk, which the loop will write, and which is most likely on the same page. */
static void slot_fetch(const reef_slot *s, uint32_t unit, uint32_t next)
{
    PREFETCH_WRITE((const void *)((uintptr_t)s + ((uintptr_t)next - unit) * REEF_UNIT_BYTES));
}

/* May the copy go to the snapshots? Only if the block is full: another block may have had more rows when it was
 * shared. */
static bool copy_given(const reef_world *w, const column *c, uint32_t rows, uint32_t capacity)
{
    return w->has_past && rows == capacity && (c->type == NULL || (c->type->plain_copy && !c->type->resets));
}

/* Says that this world's block is another one from now on. Under the lock. */
static void block_moves(reef_world *w, const column *c, uint32_t unit, reef_slot *s, void *fresh, size_t bytes)
{
    void *old = s->block;
    s->block = fresh;
    if (c->type) block_note(w, c->type->id, unit, fresh);
    reef__values_relocate(w, old, fresh, bytes);
    w->shifted++;
    /* other threads read it, for references to blocks that nobody claims now */
    RELEASE_STORE(&w->hot.moves, w->hot.moves + 1);
}

/* ---- copies made ahead ---- */

/* Takes the copy of this block; NULL: none was made. */
static void *ahead_take(reef_world *w, const column *c, const reef_slot *s, uint32_t unit)
{
    for (uint32_t i = 0; i < w->ahead_count && w->ahead_unit == unit; i++) {
        struct ahead *a = &w->ahead[i];
        void *copy = a->copy;
        if (copy == NULL || a->column != c || a->of != s->block || a->version != s->version) continue;
        a->copy = NULL;
        return copy;
    }
    return NULL;
}

/* Drops the copies that the loop didn't use. */
INLINE void ahead_pass(reef_world *w)
{
    for (uint32_t i = 0; i < w->ahead_count; i++) {
        struct ahead *a = &w->ahead[i];
        if (UNLIKELY(a->copy != NULL)) reef__block_give(w->family, a->column, a->copy, REEF_BLOCK_ROWS);
        a->copy = NULL;
    }
}

void reef__ahead_drop(reef_world *w)
{
    ahead_pass(w);
    while (w->ahead_count) {
        struct ahead *a = &w->ahead[--w->ahead_count];
        while (a->spare_at < a->spare_end)
            reef__block_give(w->family, a->column, a->spare[--a->spare_end], REEF_BLOCK_ROWS);
    }
    w->slow &= ~SLOW_AHEAD;
}

/* Notes the columns that a loop writes. */
static NOINLINE void ahead_begin(reef_world *w, const shape *s, const uint16_t *slot, uint32_t count)
{
    reef__ahead_drop(w);
    for (uint32_t i = 0; i < count; i++) w->ahead[i] = (struct ahead){.column = &s->columns[slot[i]], .slot = slot[i]};
    w->ahead_count = count;
    w->slow |= SLOW_AHEAD;
}

static bool ahead_is_for(const reef_world *w, const shape *s, const uint16_t *slot, uint32_t count)
{
    bool same = w->ahead_count == count;
    for (uint32_t i = 0; same && i < count; i++) same = w->ahead[i].column == &s->columns[slot[i]];
    return same;
}

/* Memory for a copy; NULL: there is none. */
static void *ahead_block(reef_world *w, struct ahead *a, uint32_t chunks)
{
    const column *c = a->column;
    if (a->spare_at == a->spare_end) {
        const uint32_t most = chunks < AHEAD_SPARES ? chunks : AHEAD_SPARES;
        a->spare_at = 0;
        a->spare_end = reef__memory_blocks(&w->family->memory, MEMORY_ROWS, c->arena, (size_t)c->size * REEF_BLOCK_ROWS,
                                           c->align, a->spare, most);
    }
    return a->spare_at == a->spare_end ? NULL : a->spare[a->spare_at++];
}

/* Copies the columns of a full chunk that the loop writes next. */
static void ahead_go(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count)
{
    if (!ahead_is_for(w, t->shape, slot, count)) ahead_begin(w, t->shape, slot, count);
    else ahead_pass(w);          /* what is left was made for another loop */
    if (unit == t->last) return; /* the last chunk may have fewer rows */
    w->ahead_unit = unit;
    for (uint32_t i = 0; i < count; i++) {
        struct ahead *a = &w->ahead[i];
        const column *c = a->column;
        const reef_slot *s = &unit_slots(w, unit)[a->slot];
        const size_t bytes = (size_t)REEF_BLOCK_ROWS * c->size;
        if (s->version > w->ours_after || !c->type->plain_copy || c->type->resets || bytes > AHEAD_BYTES) continue;
        void *copy = ahead_block(w, a, t->chunks);
        if (copy == NULL) continue; /* whoever needs the block reports the failure */
        a->copy = copy, a->of = s->block, a->version = s->version;
        copy_away(copy, s->block, bytes);
        /* the memory of the next copy, which is written after the user's loop */
        if (a->spare_at != a->spare_end) pages_fetch(a->spare[a->spare_at], bytes);
    }
}

/* ---- a block changes hands ---- */

/* Copies a block for which no copy was made ahead. NULL: there is no memory, or a hook refused. */
static NOINLINE void *copy_now(reef_world *w, const column *c, const reef_slot *slots, uint32_t k, uint32_t rows,
                               bool away)
{
    const uint32_t capacity = slots[0].head_more.capacity;
    const void *old = slots[k].block;
    void *fresh = reef__block_take(w->family, c, capacity);
    if (fresh == NULL) return NULL;
    if (away) {
        pages_fetch(fresh, (size_t)rows * c->size);
        copy_away(fresh, old, (size_t)rows * c->size);
        return fresh;
    }
    if (block_copy(w, c, fresh, old, slot_entities(slots), rows)) return fresh;
    return reef__block_give(w->family, c, fresh, capacity), NULL;
}

/* Frees a copy that isn't needed: the last other holder has left meanwhile, or long ago. */
static NOINLINE void copy_wasted(reef_world *w, const column *c, const reef_slot *slots, uint32_t rows, void *fresh)
{
    if (!w->running) reef__chunks_know_ours(w);
    reef__block_destroy_values(c, fresh, rows);
    reef__block_give(w->family, c, fresh, slots[0].head_more.capacity);
}

INLINE bool column_unshare(reef_world *w, const column *c, reef_slot *slots, uint32_t unit, uint32_t k, uint32_t rows,
                           uint64_t version)
{
    reef_slot *s = &slots[k];
    const bool away = copy_given(w, c, rows, slots[0].head_more.capacity);
    void *made = ahead_take(w, c, s, unit), *fresh = made ? made : copy_now(w, c, slots, k, rows, away);
    if (UNLIKELY(fresh == NULL)) return false;
    if (made || away) COPY_ARRIVED();
    mutex_lock(&w->family->lock);
    reef_slot *past = away ? slot_past(w, s, unit, k, s->block) : NULL;
    const bool ours = !past && s->version > reef__paged_base(&w->hot.chunks);
    if (!ours) s->version = version;
    if (past) {
        past->block = fresh;
        slot_fetch(past, unit, slots[0].head.next);
    } else if (!ours) {
        block_moves(w, c, unit, s, fresh, (size_t)rows * c->size);
    }
    mutex_unlock(&w->family->lock);
    if (UNLIKELY(ours)) copy_wasted(w, c, slots, rows, fresh);
    return true;
}

bool reef__block_unshare(reef_world *w, const column *c, uint32_t unit, uint32_t k, uint32_t rows, uint64_t version)
{
    return column_unshare(w, c, unit_slots(w, unit), unit, k, rows, version);
}

bool reef__slots_own(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count, uint32_t next)
{
    if (!reef__chunk_page_own(w, unit)) return false;
    reef_slot *slots = unit_slots(w, unit);
    const shape *s = t->shape;
    const uint32_t rows = chunk_rows(t, unit);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t k = slot[i];
        const column *c = &s->columns[k];
        const uint64_t was = slots[k].version;
        bool ours = was > w->ours_after || (UNLIKELY(!c->type->plain_copy) && reef__block_is_ours(w, was));
        if (!ours) ours = column_unshare(w, c, slots, unit, k, rows, column_mark(w, c));
        if (UNLIKELY(!ours)) return false;
        slots[k].version = column_mark(w, c);
    }
    if (next && w->has_past) ahead_go(w, t, next, slot, count < AHEAD_COLUMNS ? count : AHEAD_COLUMNS);
    return true;
}
