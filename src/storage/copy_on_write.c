/* The blocks of columns: memory for some rows of one column, the values in it, and copy on write.
 *
 * Blocks that are shared with a fork or snapshot become this world's own before it writes them.
 *
 * Usually the other holders keep the block and this world gets the copy. But where all other holders are snapshots,
 * they get the copy, and it goes past the caches: the blocks that every tick writes stay in the caches, and no memory
 * is read only to be overwritten. */
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

/* NULL: there is no memory, or a hook refused. */
static void *block_double(reef_world *w, const column *c, const reef_slot *slots, uint32_t k, uint32_t rows, bool away)
{
    const uint32_t capacity = slots[0].head_more.capacity;
    const void *old = slots[k].block;
    void *fresh = reef__block_take(w->family, c, capacity);
    if (fresh == NULL) return NULL;
    if (away) {
        pages_fetch(fresh, (size_t)rows * c->size);
        copy_away(fresh, old, (size_t)rows * c->size);
        COPY_ARRIVED();
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

bool reef__block_unshare(reef_world *w, const column *c, uint32_t unit, uint32_t k, uint32_t rows, uint64_t version)
{
    reef_slot *slots = unit_slots(w, unit), *s = &slots[k];
    const bool away = copy_given(w, c, rows, slots[0].head_more.capacity);
    void *fresh = block_double(w, c, slots, k, rows, away);
    if (UNLIKELY(fresh == NULL)) return false;
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

bool reef__slots_own(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count)
{
    if (!reef__chunk_page_own(w, unit)) return false;
    reef_slot *slots = unit_slots(w, unit);
    const uint32_t rows = chunk_rows(t, unit);
    reef__invalidate(w, INVALIDATE_WRITTEN);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t k = slot[i];
        const column *c = &t->shape->columns[k];
        const uint64_t was = slots[k].version;
        const bool ours = was > w->ours_after || (UNLIKELY(!c->type->plain_copy) && reef__block_is_ours(w, was));
        if (!ours && !reef__block_unshare(w, c, unit, k, rows, column_mark(w, c))) return false;
        slots[k].version = column_mark(w, c);
    }
    return true;
}
