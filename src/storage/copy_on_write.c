/* Blocks that are shared with a fork or snapshot become this world's own before it writes them.
 *
 * Usually the other holders keep the block and this world gets the copy. But where all other holders are snapshots,
 * they get the copy, and it goes past the caches: the blocks that every tick writes stay in the caches, and no memory
 * is read only to be overwritten.
 *
 *     loop        block 20                       block 21       22        23        block 24
 *                 20 ... 23 change hands         copy 25        copy 26   copy 27   24 ... 27 change hands
 *                 copy 24                                                           copy 28
 *
 * A loop over chunks in order copies ahead. A copy past the caches takes 100 to 130 ns to arrive, a copy into the
 * caches waits for memory, and the lock under which a block changes hands would wait for both. So the copies arrive
 * while the user's loop runs over the blocks before, and blocks change hands four at a time. (When they did so one at a
 * time, rollback_60 took 7 to 11% longer: each time there was nothing on its way.)
 *
 * A block that changed hands before the loop came to it keeps its version, by which the past would own it. So it is
 * marked as `there`, and goes back if the loop never comes to it: the past gets the block again, or, if another world
 * came from the past meanwhile, this world shares the copy with that world. */
#include "storage/copy_on_write.h"
#include "base/memory.h"
#include "base/platform.h"
#include "storage/block_index.h"
#include "storage/cow_pages.h"
#include "storage/invalidate.h"
#include "storage/layout.h"
#include "storage/place.h"
#include "storage/table.h"
#include "storage/world_data.h"
#include "reef/detail/layout.h"

enum {
    AHEAD_BYTES = 64 << 10, /* bytes of copies ahead for a column: a loop that ends early made them in vain */
#if defined(REEF_CHECKED)
    AHEAD_AFTER = 1 /* so that tests with small worlds reach it */
#else
    AHEAD_AFTER = 16 /* chunks; before that one chunk is copied ahead */
#endif
};

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
static bool goes_away(const reef_world *w, const column *c, uint32_t rows, uint32_t capacity)
{
    return w->has_past && rows == capacity && (c->type == NULL || (c->type->plain_copy && !c->type->resets));
}

/* Says that this world's block is another one from now on. Under the lock. */
static void block_moves(reef_world *w, const column *c, uint32_t unit, reef_slot *s, void *fresh, size_t bytes)
{
    void *old = s->block;
    s->block = fresh;
    if (c->type && !BUG(210)) block_note(w, c->type->id, unit, fresh);
    reef__values_relocate(w, old, fresh, bytes);
    w->shifted += !BUG(90);
    /* other threads read it, for references to blocks that nobody claims now */
    RELEASE_STORE(&w->hot.moves, w->hot.moves + !BUG(90));
}

/* ---- copies made ahead ---- */

/* The copy of this block; NULL: none was made. */
static struct ahead_copy *ahead_of(reef_world *w, const column *c, const reef_slot *s, uint32_t unit)
{
    for (uint32_t i = 0; i < w->ahead_count; i++) {
        if (w->ahead[i].column != c) continue;
        for (uint32_t n = 0; n < w->ahead_chunks; n++) {
            const uint32_t at = (w->ahead_first + n) % AHEAD_CHUNKS;
            struct ahead_copy *m = &w->ahead[i].made[at];
            if (m->copy && w->ahead_unit[at] == unit && m->of == s->block && m->version == s->version) return m;
        }
    }
    return NULL;
}

/* Gives the snapshots the copies that were made for them, under the lock that is held for another block of this
 * page. */
static void ahead_hand(reef_world *w, uint32_t unit)
{
    for (uint32_t i = 0; i < w->ahead_count; i++) {
        struct ahead *a = &w->ahead[i];
        for (uint32_t n = 0; n < w->ahead_chunks; n++) {
            const uint32_t at = (w->ahead_first + n) % AHEAD_CHUNKS, next = w->ahead_unit[at];
            struct ahead_copy *m = &a->made[at];
            const reef_slot *s = &unit_slots(w, next)[a->slot];
            if (!m->copy || m->there || !m->away || next >> REEF_UNIT_BITS != unit >> REEF_UNIT_BITS) continue;
            reef_slot *past =
                s->version == m->version && s->block == m->of ? slot_past(w, s, next, a->slot, m->of) : NULL;
            if (past == NULL) continue;
            past->block = m->copy;
            m->there = true;
        }
    }
}

/* Takes back a block that had changed hands and that the loop never came to. `copy` is what is free in the end. Under
 * the lock. */
static COLD void ahead_return(reef_world *w, const struct ahead *a, struct ahead_copy *m, uint32_t unit)
{
    reef_slot *s = &unit_slots(w, unit)[a->slot];
    if (s->version > reef__paged_base(&w->hot.chunks)) { /* the past is gone, and the copy went with it */
        m->copy = NULL;
        return;
    }
    reef_slot *past = slot_past(w, s, unit, a->slot, m->copy);
    if (past) {
        past->block = m->of;
        return;
    }
    /* another world has the block meanwhile: this one shares the copy with it */
    block_moves(w, a->column, unit, s, m->copy, (size_t)a->column->size * REEF_BLOCK_ROWS);
    m->copy = m->of;
}

/* Drops a copy that the loop didn't use. */
static COLD void ahead_leave(reef_world *w, const struct ahead *a, struct ahead_copy *m, uint32_t unit)
{
    if (m->there && !BUG(145)) {
        ASSERT(unit_slots(w, unit)[a->slot].version == m->version && unit_slots(w, unit)[a->slot].block == m->of);
        mutex_lock(&w->family->lock);
        ahead_return(w, a, m, unit);
        mutex_unlock(&w->family->lock);
    }
    if (m->copy) reef__block_give(w->family, a->column, m->copy, REEF_BLOCK_ROWS);
    m->copy = NULL;
}

/* Removes the first chunk of the ring, which is no longer ahead. */
INLINE void ahead_pass(reef_world *w)
{
    const uint32_t at = w->ahead_first;
    for (uint32_t i = 0; i < w->ahead_count; i++)
        if (UNLIKELY(w->ahead[i].made[at].copy != NULL))
            ahead_leave(w, &w->ahead[i], &w->ahead[i].made[at], w->ahead_unit[at]);
    w->ahead_first = (at + 1) % AHEAD_CHUNKS;
    w->ahead_chunks--;
}

void reef__ahead_drop(reef_world *w)
{
    while (w->ahead_chunks) ahead_pass(w);
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
    size_t bytes = 1;
    reef__ahead_drop(w);
    for (uint32_t i = 0; i < count; i++) {
        const column *c = &s->columns[slot[i]];
        w->ahead[i] = (struct ahead){.column = c, .slot = slot[i]};
        if (bytes < (size_t)REEF_BLOCK_ROWS * c->size) bytes = (size_t)REEF_BLOCK_ROWS * c->size;
    }
    w->ahead_most = bytes * AHEAD_CHUNKS <= AHEAD_BYTES ? AHEAD_CHUNKS : 1;
    w->ahead_count = count;
    w->ahead_done = 0;
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

/* Copies the columns of a full chunk. */
static void ahead_copy(reef_world *w, const table *t, uint32_t unit)
{
    const reef_slot *slots = unit_slots(w, unit);
    const uint32_t at = (w->ahead_first + w->ahead_chunks++) % AHEAD_CHUNKS;
    w->ahead_unit[at] = unit;
    for (uint32_t i = 0; i < w->ahead_count; i++) {
        struct ahead *a = &w->ahead[i];
        const column *c = a->column;
        const reef_slot *s = &slots[a->slot];
        struct ahead_copy *m = &a->made[at];
        const size_t bytes = (size_t)REEF_BLOCK_ROWS * c->size;
        m->copy = NULL;
        if (s->version > w->ours_after || !c->type->plain_copy || c->type->resets || bytes > AHEAD_BYTES) continue;
        void *copy = ahead_block(w, a, t->chunks);
        if (copy == NULL) continue; /* whoever needs the block reports the failure */
        *m = (struct ahead_copy){copy, s->block, s->version, w->has_past, false};
        if (m->away) copy_away(copy, s->block, bytes);
        else copy_near(copy, s->block, bytes);
        /* the memory of the next copy, which is written after the user's loop */
        if (m->away && a->spare_at != a->spare_end) pages_fetch(a->spare[a->spare_at], bytes);
    }
}

/* The loop now writes to `unit`: use its copies, and make those of later chunks. */
static void ahead_go(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count, uint32_t next)
{
    if (!ahead_is_for(w, t->shape, slot, count)) ahead_begin(w, t->shape, slot, count);
    if (w->ahead_chunks && w->ahead_unit[w->ahead_first] == unit) ahead_pass(w);
    /* what was made belongs to another loop */
    if (UNLIKELY(w->ahead_chunks && w->ahead_unit[w->ahead_first] != next)) ahead_begin(w, t->shape, slot, count);
    const uint32_t most = w->ahead_done++ >= AHEAD_AFTER && w->has_past ? w->ahead_most : 1;
    while (w->ahead_chunks < most) {
        const uint32_t last = w->ahead_unit[(w->ahead_first + w->ahead_chunks - 1) % AHEAD_CHUNKS];
        const uint32_t more = w->ahead_chunks ? unit_slots(w, last)[0].head.next : next;
        if (more == 0 || more == t->last) return; /* the last chunk may have fewer rows */
        ahead_copy(w, t, more);
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
    if (away) pages_fetch(fresh, (size_t)rows * c->size);
    if (away) return copy_away(fresh, old, (size_t)rows * c->size), fresh;
    if (reef__block_copy(w, c, fresh, old, slot_entities(slots), rows)) return fresh;
    return reef__block_give(w->family, c, fresh, capacity), NULL;
}

/* Frees a copy that isn't needed: the last other holder has left meanwhile, or long ago. */
static NOINLINE void copy_wasted(reef_world *w, const column *c, const reef_slot *slots, uint32_t rows, void *fresh)
{
    if (!w->running) reef__chunks_know_ours(w);
    reef__block_destroy_values(c, fresh, rows);
    reef__block_give(w->family, c, fresh, slots[0].head_more.capacity);
}

INLINE bool unshare(reef_world *w, const column *c, reef_slot *slots, uint32_t unit, uint32_t k, uint32_t rows,
                    uint64_t version)
{
    reef_slot *s = &slots[k];
    struct ahead_copy *made = ahead_of(w, c, s, unit);
    if (made && made->there) {
        made->copy = NULL;
        s->version = version;
        return true;
    }
    const bool away = goes_away(w, c, rows, slots[0].head_more.capacity);
    const bool streams = made ? made->away : away;
    void *fresh = made ? made->copy : copy_now(w, c, slots, k, rows, away);
    if (UNLIKELY(fresh == NULL)) return false;
    if (made) made->copy = NULL;
    if (streams) COPY_ARRIVED();
    mutex_lock(&w->family->lock);
    reef_slot *past = away ? slot_past(w, s, unit, k, s->block) : NULL;
    const bool ours = !past && s->version > reef__paged_base(&w->hot.chunks);
    if (!ours) s->version = version;
    if (past) {
        past->block = fresh;
        slot_fetch(past, unit, slots[0].head.next);
        if (streams) ahead_hand(w, unit); /* what was copied has arrived by now */
    } else if (!ours) {
        block_moves(w, c, unit, s, fresh, (size_t)rows * c->size);
    }
    mutex_unlock(&w->family->lock);
    if (UNLIKELY(ours)) copy_wasted(w, c, slots, rows, fresh);
    return true;
}

bool reef__block_unshare(reef_world *w, const column *c, uint32_t unit, uint32_t k, uint32_t rows, uint64_t version)
{
    return unshare(w, c, unit_slots(w, unit), unit, k, rows, version);
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
        bool ours = was > w->ours_after || BUG(18) || (UNLIKELY(!c->type->plain_copy) && reef__block_is_ours(w, was));
        if (!ours) ours = unshare(w, c, slots, unit, k, rows, w->hot.version);
        if (UNLIKELY(!ours)) return false;
        slots[k].version = w->hot.version;
        if (UNLIKELY(c->type->tracked)) reef__invalidate(w, INVALIDATE_BLOCKS_MARKED);
    }
    if (next) ahead_go(w, t, unit, slot, count < AHEAD_COLUMNS ? count : AHEAD_COLUMNS, next);
    return true;
}
