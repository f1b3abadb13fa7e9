/* What a snapshot costs: the memory that it alone holds, beside a later state. A history keeps as many as its bytes
 * allow (src/time/history.c). */
#include "storage/archetype.h"
#include "storage/cow_pages.h"
#include "storage/state_kind.h"
#include "storage/table.h"
#include "world/snapshot.h"

/* Returns the bytes of those blocks of a page of chunks that the same page of another state (or NULL) doesn't hold.
 * Called under the lock: a fork on another thread may move what the snapshot has. */
static uint64_t blocks_beyond(const family *f, const chunk_page *page, const chunk_page *other, uint32_t index)
{
    uint64_t sum = 0;
    for (uint32_t u = index == 0 ? 2 : 0; u < page->used;) { /* units 0 and 1 have no blocks */
        const reef_slot *slots = page->slots + u * REEF_UNIT_SLOTS;
        const shape *s = slots[0].head.table == TABLE_NONE ? NULL : shape_of(f, slots[0].head.table);
        const bool both = s && other && u + s->units <= other->used;
        for (uint32_t k = SLOT_ENTITIES; s && k < s->end_slot; k++)
            if (!both || other->slots[u * REEF_UNIT_SLOTS + k].block != slots[k].block)
                sum += (uint64_t)s->columns[k].size * slots[0].head_more.capacity;
        u += s ? s->units : 1;
    }
    return sum;
}

COLD uint64_t reef__snapshot_beyond(reef_snapshot *s, reef_hot *next_hot, state *next)
{
    state_part x, y;
    const reef_paged none = {0};
    uint64_t sum = sizeof *s + reef__state_array_bytes(&s->state);
    for (uint32_t i = 0; reef__part_at(s->family, &s->hot, &s->state, i, &x); i++) {
        const paged_type *kind = x.owner.type;
        const reef_paged *p = x.pages, *q = &none;
        if (reef__part_at(s->family, next_hot, next, reef__part_like(&s->state, i, next), &y)) q = y.pages;
        if (p->node == q->node) continue;
        sum += p->count * (sizeof *p->page + sizeof *p->version);
        for (uint32_t k = 0; k < p->count; k++) {
            const void *page = p->page[k], *other = k < q->count ? q->page[k] : NULL;
            if (page == NULL || page == other) continue;
            sum += kind->page_bytes;
            if (kind != &reef__pages_chunks) continue;
            mutex_lock(&s->family->lock);
            sum += blocks_beyond(s->family, page, other, k);
            mutex_unlock(&s->family->lock);
        }
    }
    return sum;
}
