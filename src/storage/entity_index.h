/* storage/entity_index: TODO */
#ifndef REEF_STORAGE_ENTITY_INDEX_H
#define REEF_STORAGE_ENTITY_INDEX_H

#include "base/platform.h"
#include "storage/cow_pages.h"
#include "storage/invalidate.h"
#include "storage/layout.h"
#include "storage/world_data.h"
#include "reef/detail/access.h"

/* The records of entities that never had anything: of a whole page of them nothing is kept but that it is one. */
extern const uint64_t reef__records_blank[RECORDS_PER_PAGE];
INLINE bool records_are_blank(const reef_world *w, uint32_t page)
{
    return w->hot.records.page[page] == (const void *)reef__records_blank;
}
INLINE uint64_t record_read(const reef_world *w, uint32_t index) { return *reef_record_at(&w->hot, index); }
/* For commits: the page was owned before. */
INLINE void record_put(reef_world *w, reef_entity e, uint32_t place)
{
    ((uint64_t *)w->hot.records.page[e.index >> REEF_RECORD_BITS])[e.index & (RECORDS_PER_PAGE - 1)] =
        (uint64_t)e.generation << 32 | place;
}
/* For an entity that has no row or won't have one: the hash takes such records page by page, and sees by the page's
 * version that one changed. (Rows are hashed where they are.) */
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
    return paged_owned(&w->hot.records, index >> REEF_RECORD_BITS, w->hot.fork_version) &&
           !records_are_blank(w, index >> REEF_RECORD_BITS);
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
INLINE uint32_t ring_slot(const reef_world *w, uint64_t position)
{
    return (uint32_t)(position / RING_PER_PAGE) & (w->state.ring.count - 1);
}
INLINE uint32_t *ring_at(const reef_world *w, uint64_t position)
{
    return (uint32_t *)w->state.ring.page[ring_slot(w, position)] + position % RING_PER_PAGE;
}
/* The record of a pending id. */
INLINE uint64_t record_pending(reef_entity e) { return (uint64_t)e.generation << 32 | PLACE_PENDING; }
/* The next index is one of a page of entities that have nothing, for which no memory is needed: it begins such a
 * page, or is in one. (Making entities without components took 1.9 times as long, half of that for the first touch
 * of their records.) Not the first page: most worlds have no other. False: it isn't so, or there is no memory. */
bool reef__blank_ready(reef_world *w);

/* A record for writing; its index must have one. NULL: no memory. */
uint64_t *reef__record_own(reef_world *w, uint32_t index);

/* n new ids in the sequence "free ids oldest first, then fresh indices": prepare makes sure of them,
 * reef__id_peek(k) names them (0 <= k < n), reef__ids_commit takes them; their records must be put in between or
 * after. */
reef_status reef__ids_prepare(reef_world *w, uint32_t n);
reef_entity reef__id_peek(const reef_world *w, uint32_t k);
/* several; how many of them are recycled */
uint32_t reef__ids_peek(const reef_world *w, uint32_t first, uint32_t n, reef_entity *e);
void reef__ids_commit(reef_world *w, uint32_t n);

/* The straight path: the id that waits longest in the ring is given out. False: none waits, or something is unusual. */
bool reef__id_recycle(reef_world *w, reef_entity *e);

/* How many ids can still be given out. */
uint64_t reef__ids_left(const reef_world *w);

/* For lanes: records of indices up to (not with) `end`, and those from `from` on ours; the ring without its holes;
 * with room for n more; its pages of these positions ours. False: no memory. */
bool reef__records_reserve(reef_world *w, uint32_t from, uint32_t end);
bool reef__ring_squeezed(reef_world *w);
bool reef__ring_room(reef_world *w, uint64_t n);
bool reef__ring_own(reef_world *w, uint64_t from, uint64_t to);

/* Room for one more free id. */
bool reef__id_free_prepare(reef_world *w);
bool reef__ids_free_prepare(reef_world *w, uint64_t n); /* room for n more */
void reef__id_free(reef_world *w, reef_entity e);       /* the index of a dying entity; its record's page is ours */

/* Takes the n new ids that reef__ids_peek named, after reef__ids_prepare, for entities that a command makes later:
 * they are pending. */
void reef__ids_pend(reef_world *w, const reef_entity *e, uint32_t n);
void reef__id_pend(reef_world *w, reef_entity e); /* its entity is undone */
bool reef__id_pending(const reef_world *w, reef_entity e);

/* For lanes: the records of n fresh indices from `index` on, all in one page, which are out, or free. Without a
 * mark. */
void reef__records_fresh(reef_world *w, uint32_t index, uint32_t n, bool out);

/* Its entity doesn't come: the id is free again, with the next generation. False: no memory. */
bool reef__id_unpend(reef_world *w, reef_entity e);

/* *placed: how many entities say that they have a row. (Each row is its entity's: reef__tables_validate. So when
 * there are as many rows, all is said.) */
reef_status reef__index_validate(const reef_world *w, uint64_t *placed, char *message, size_t size);

#endif
