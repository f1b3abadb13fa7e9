/* Blocks that are shared with a fork or a snapshot, and become the world's own when it writes to them.
 *
 * Who shares a block keeps it, and the world gets the copy; but where only snapshots do, they get the copy, which goes past the caches: what each
 * tick writes stays there, and no memory is read to be written over.
 *
 *     loop        block 6                    block 7                    block 8
 *                 6 changes hands, copy 7    7 changes hands, copy 8    ...
 *
 * A straight loop copies one block ahead. A copy past the caches takes 130 ns to arrive, and one into them waits for memory that isn't there; the
 * lock under which a block changes hands waits for both. So they arrive while the user's loop runs over the block before. */
#include "table.h"

enum { AHEAD_BYTES = 64 << 10 }; /* of a block: a loop that is left early copied one in vain */

/* Of a shared block: the slot in the past (paged.h) that has it too. Under the lock. */
static reef_slot *slot_past(const reef_world *w, const reef_slot *slot, uint32_t unit, uint32_t k)
{
    reef_slot *page = paged_past(&w->hot.chunks, unit >> REEF_UNIT_BITS, slot->version);
    if (page) page += (unit & (UNITS_PER_PAGE - 1)) * REEF_UNIT_SLOTS + k;
    return page && page->block == slot->block ? page : NULL;
}

/* A loop comes to another chunk next, and writes to the same slot of it, most likely on the same page. */
static void slot_fetch(const reef_slot *s, uint32_t unit, uint32_t next)
{
    PREFETCH_WRITE((const void *)((uintptr_t)s + ((uintptr_t)next - unit) * REEF_UNIT_BYTES));
}

/* May snapshots get the copy? Only of a full block: the rows of another one may have been more when it was shared. */
static bool goes_away(const reef_world *w, const column *c, uint32_t rows, uint32_t capacity)
{
    return w->has_past && rows == capacity && (c->type == NULL || (c->type->plain_copy && !c->type->resets));
}

/* ---- copies made ahead ---- */

/* The copy of this block; NULL: none was made. */
static void *ahead_take(reef_world *w, const reef_slot *s, uint32_t unit, uint32_t k, bool *away)
{
    for (uint32_t i = 0; i < w->ahead_count; i++) {
        struct ahead *a = &w->ahead[i];
        if (a->copy == NULL || a->unit != unit || a->slot != k || a->of != s->block || a->version != s->version) continue;
        void *copy = a->copy;
        a->copy = NULL;
        *away = a->away;
        return copy;
    }
    return NULL;
}

void ahead_drop(reef_world *w)
{
    while (w->ahead_count) {
        struct ahead *a = &w->ahead[--w->ahead_count];
        if (a->copy) block_give(w->family, a->column, a->copy, REEF_BLOCK_ROWS);
        while (a->spare_at < a->spare_end) block_give(w->family, a->column, a->spare[--a->spare_end], REEF_BLOCK_ROWS);
    }
    w->slow &= ~SLOW_AHEAD;
}

/* The columns that the loop writes. */
static void ahead_begin(reef_world *w, const shape *s, const uint16_t *slot, uint32_t count)
{
    bool same = w->ahead_count == count;
    for (uint32_t i = 0; same && i < count; i++) same = w->ahead[i].column == &s->columns[slot[i]];
    if (same) return;
    ahead_drop(w);
    for (uint32_t i = 0; i < count; i++) w->ahead[i] = (struct ahead){.column = &s->columns[slot[i]]};
    w->ahead_count = count;
    w->slow |= SLOW_AHEAD;
}

/* Memory for a copy; NULL: none. */
static void *ahead_block(reef_world *w, struct ahead *a, uint32_t chunks)
{
    const column *c = a->column;
    if (a->spare_at == a->spare_end) {
        const uint32_t most = chunks < AHEAD_SPARES ? chunks : AHEAD_SPARES;
        a->spare_at = 0;
        a->spare_end = memory_blocks(&w->family->memory, MEMORY_ROWS, c->arena, (size_t)c->size * REEF_BLOCK_ROWS, c->align, a->spare, most);
    }
    return a->spare_at == a->spare_end ? NULL : a->spare[a->spare_at++];
}

/* The columns of a chunk, which is full. */
INLINE void ahead_copy(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count)
{
    const reef_slot *slots = unit_slots(w, unit);
    ahead_begin(w, t->shape, slot, count);
    for (uint32_t i = 0; i < count; i++) {
        struct ahead *a = &w->ahead[i];
        const column *c = a->column;
        const reef_slot *s = &slots[slot[i]];
        const size_t bytes = (size_t)REEF_BLOCK_ROWS * c->size;
        if (s->version > w->ours_after || !c->type->plain_copy || c->type->resets || bytes > AHEAD_BYTES) continue;
        if (a->copy == NULL) a->copy = ahead_block(w, a, t->chunks); /* else the one of a block that was ours in the end */
        if (a->copy == NULL) return; /* who needs the block says so */
        a->of = s->block;
        a->version = s->version;
        a->unit = unit;
        a->slot = slot[i];
        a->away = w->has_past;
        if (a->away) copy_away(a->copy, s->block, bytes);
        else copy_near(a->copy, s->block, bytes);
    }
}

/* ---- a block changes hands ---- */

/* None was made ahead. NULL: no memory, or a hook refused. */
static NOINLINE void *copy_now(reef_world *w, const column *c, const reef_slot *slots, uint32_t k, uint32_t rows, bool away)
{
    const uint32_t capacity = slots[0].head_more.capacity;
    const void *old = slots[k].block;
    void *fresh = block_take(w->family, c, capacity);
    if (fresh == NULL) return NULL;
    if (away) return copy_away(fresh, old, (size_t)rows * c->size), fresh;
    if (block_copy(w, c, fresh, old, slot_entities(slots), rows)) return fresh;
    return block_give(w->family, c, fresh, capacity), NULL;
}

/* The last other holder left meanwhile, or long ago: one copy was in vain. */
static NOINLINE void copy_wasted(reef_world *w, const column *c, const reef_slot *slots, uint32_t rows, void *fresh)
{
    if (!w->running) chunks_know_ours(w);
    block_destroy_values(c, fresh, rows);
    block_give(w->family, c, fresh, slots[0].head_more.capacity);
}

INLINE bool unshare(reef_world *w, const column *c, reef_slot *slots, uint32_t unit, uint32_t k, uint32_t rows, uint64_t version)
{
    reef_slot *s = &slots[k];
    const bool away = goes_away(w, c, rows, slots[0].head_more.capacity);
    bool streams = away;
    void *fresh = ahead_take(w, s, unit, k, &streams);
    if (UNLIKELY(fresh == NULL)) fresh = copy_now(w, c, slots, k, rows, away);
    if (UNLIKELY(fresh == NULL)) return false;
    if (streams) COPY_ARRIVED();
    mutex_lock(&w->family->lock);
    reef_slot *past = away ? slot_past(w, s, unit, k) : NULL;
    const bool ours = !past && s->version > paged_base(&w->hot.chunks);
    if (!ours) s->version = version;
    if (past) {
        past->block = fresh;
        slot_fetch(past, unit, slots[0].head.next);
    } else if (!ours) {
        void *old = s->block;
        s->block = fresh;
        values_relocate(w, old, fresh, (size_t)rows * c->size);
        w->shifted += !BUG(90);
        RELEASE_STORE(&w->hot.moves, w->hot.moves + !BUG(90)); /* others read it, for refs to what isn't claimed now */
    }
    mutex_unlock(&w->family->lock);
    if (UNLIKELY(ours)) copy_wasted(w, c, slots, rows, fresh);
    return true;
}

bool block_unshare(reef_world *w, const column *c, uint32_t unit, uint32_t k, uint32_t rows, uint64_t version)
{
    return unshare(w, c, unit_slots(w, unit), unit, k, rows, version);
}

bool slots_own(reef_world *w, const table *t, uint32_t unit, const uint16_t *slot, uint32_t count, uint32_t next)
{
    if (!chunk_page_own(w, unit)) return false;
    reef_slot *slots = unit_slots(w, unit);
    const shape *s = t->shape;
    const uint32_t rows = chunk_rows(t, unit);
    world_touch(w);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t k = slot[i];
        const column *c = &s->columns[k];
        const uint64_t was = slots[k].version;
        bool ours = was > w->ours_after || BUG(18) || (UNLIKELY(!c->type->plain_copy) && block_is_ours(w, was));
        if (!ours) ours = unshare(w, c, slots, unit, k, rows, w->hot.version);
        if (UNLIKELY(!ours)) return false;
        slots[k].version = w->hot.version;
        if (UNLIKELY(c->type->tracked)) version_advance(w);
    }
    if (next && next != t->last) ahead_copy(w, t, next, slot, count < AHEAD_COLUMNS ? count : AHEAD_COLUMNS); /* the last one may have fewer rows */
    return true;
}
