/* The entity index: a record for each index, which holds the generation and the place of its entity's row, and the ring
 * of free ids. New ids come from the ring, the oldest first, and then from indices that were never used. */
#ifndef REEF_STORAGE_ENTITY_INDEX_H
#define REEF_STORAGE_ENTITY_INDEX_H

#include "storage/cow_pages.h"
#include "storage/invalidate.h"
#include "reef/detail/access.h"

INLINE uint64_t record_read(const reef_world *w, uint32_t index) { return *reef_record_at(&w->hot, index); }
/* For commits, whose page belongs to this world already. */
INLINE void record_put(reef_world *w, reef_entity e, uint32_t place)
{
    ((uint64_t *)w->hot.records.page[e.index >> REEF_RECORD_BITS])[e.index & (RECORDS_PER_PAGE - 1)] =
        (uint64_t)e.generation << 32 | place;
}
/* For an entity that has no row, or will have none. The hash takes such records page by page and sees by the version of
 * the page that one changed. (Rows are hashed where they lie.) */
INLINE void record_mark(reef_world *w, uint32_t index)
{
    w->hot.records.version[index >> REEF_RECORD_BITS] = w->hot.version;
    reef__invalidate(w, INVALIDATE_WRITTEN);
}
INLINE void record_put_rowless(reef_world *w, reef_entity e, uint32_t place)
{
    record_put(w, e, place);
    record_mark(w, e.index);
}
INLINE bool record_owned(const reef_world *w, uint32_t index)
{
    return paged_owned(&w->hot.records, index >> REEF_RECORD_BITS, w->hot.fork_version);
}
/* Are all records of a page the same in both worlds? False: that isn't known. */
INLINE bool records_same(const reef_world *w, const reef_world *other, uint32_t page)
{
    const reef_paged *p = &w->hot.records, *q = &other->hot.records;
    return page < p->count && page < q->count && p->page[page] == q->page[page];
}
/* The record of a reserved id whose index was never used. Pages that have nothing else show one page of constants and
 * take no memory. */
#define RECORD_RESERVED ((uint64_t)1 << 32 | PLACE_RESERVED)
extern uint64_t reef__records_blank[RECORDS_PER_PAGE];
INLINE bool records_are_blank(const reef_world *w, uint32_t page)
{
    return w->hot.records.page[page] == reef__records_blank;
}
INLINE void handle_record_put(reef_world *w, handle h, uint32_t place)
{
    ((uint64_t *)w->hot.records.page[HANDLE_INDEX(h) >> REEF_RECORD_BITS])[HANDLE_INDEX(h) & (RECORDS_PER_PAGE - 1)] =
        HANDLE_RECORD(h, place);
}
/* Gives a living entity another place. */
INLINE void record_replace(reef_world *w, uint32_t index, uint32_t place)
{
    char *page = w->hot.records.page[index >> REEF_RECORD_BITS];
    memcpy(page + (size_t)(index & (RECORDS_PER_PAGE - 1)) * 8 + 4 * REEF_RECORD_PLACE, &place, 4);
}
/* The place of a living entity; PLACE_DEAD for all others. */
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

/* The end of the page of an index, or of all indices if that comes first. */
INLINE uint32_t records_end(const reef_world *w, uint32_t index)
{
    const uint64_t end = ((uint64_t)index | (RECORDS_PER_PAGE - 1)) + 1;
    return end < w->hot.index_count ? (uint32_t)end : w->hot.index_count;
}
/* Are all ids of the page reserved, with generation 1? `index` is the first one of the page. */
bool reef__records_reserved(const reef_world *w, uint32_t index);
/* Makes these indices, one or more, reserved ids with generation 1; they follow all others. False: there is no
 * memory. */
bool reef__records_add(reef_world *w, uint32_t from, uint32_t end);

/* A record for writing; the index must have one. NULL: there is no memory. */
uint64_t *reef__record_own(reef_world *w, uint32_t index);

/* n new ids: first the free ids, the oldest first, then fresh indices. reef__ids_prepare makes sure that there are n,
 * reef__id_peek(k) names the one with number k (0 <= k < n), and reef__ids_commit takes them. The caller writes their
 * records before or after the commit. */
reef_status reef__ids_prepare(reef_world *w, uint32_t n);
reef_entity reef__id_peek(const reef_world *w, uint32_t k);
/* Names several of them; answers how many are recycled. */
uint32_t reef__ids_peek(const reef_world *w, uint32_t first, uint32_t n, reef_entity *e);
void reef__ids_commit(reef_world *w, uint32_t n);

/* The fast path: gives out the id that waits longest in the ring. False: none waits, or the world is in an unusual
 * state. */
bool reef__id_recycle(reef_world *w, reef_entity *e);

/* The number of ids that can still be given out. */
uint64_t reef__ids_left(const reef_world *w);

/* For lanes. In this order: makes records for all indices below `end`, and makes those from `from` on this world's own;
 * removes the holes of the ring; makes room for n more ids in the ring; makes the ring's pages for these positions this
 * world's own. False: there is no memory. */
bool reef__records_reserve(reef_world *w, uint32_t from, uint32_t end);
bool reef__ring_squeezed(reef_world *w);
bool reef__ring_room(reef_world *w, uint64_t n);
bool reef__ring_own(reef_world *w, uint64_t from, uint64_t to);

/* Makes room for one more free id. */
bool reef__id_free_prepare(reef_world *w);
bool reef__ids_free_prepare(reef_world *w, uint64_t n); /* the same for n more */
/* Frees the indices of n entities that die, the last one first, after one of these two; the pages of their records
 * belong to this world. */
void reef__ids_free(reef_world *w, const reef_entity *e, uint32_t n);

/* Takes the n new ids that reef__ids_peek named, after reef__ids_prepare, for entities that a command makes later: they
 * are pending. */
void reef__ids_pend(reef_world *w, const reef_entity *e, uint32_t n);
bool reef__id_pending(const reef_world *w, reef_entity e);

/* For lanes: writes the records of n fresh indices from `index` on, all in one page; `out`: as pending, else as free.
 * It doesn't mark the page as written. */
void reef__records_fresh(reef_world *w, uint32_t index, uint32_t n, bool out);

/* Frees a pending id whose entity doesn't come; it gets the next generation. False: there is no memory. */
bool reef__id_unpend(reef_world *w, reef_entity e);

/* Validates the index. *placed is the number of entities that say that they have a row. reef__tables_validate checks
 * that each row belongs to its entity, so both together are right when there are as many rows. */
reef_status reef__index_validate(const reef_world *w, uint64_t *placed, char *message, size_t size);

#endif
