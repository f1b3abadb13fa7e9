/* The ways from a handle to a row: a short one by the component's index of blocks, and one by the chunk (layout.h draws
 * them). This is no interface: what stands here may change with every version. */
#ifndef REEF_DETAIL_WAY_H
#define REEF_DETAIL_WAY_H

#include "layout.h"

REEF_BEGIN_C

REEF_INLINE const uint64_t *reef_record_at(const reef_hot *h, uint32_t index)
{
    return REEF_CAST(const uint64_t *, h->records.page[index >> REEF_RECORD_BITS]) +
           (index & ((1u << REEF_RECORD_BITS) - 1));
}
/* The slots of a place's chunk. */
REEF_INLINE reef_slot *reef_slots_in(void *const *chunks, uint32_t place)
{
    return REEF_CAST(
        reef_slot *,
        REEF_CAST(void *, REEF_CAST(char *, chunks[place >> (REEF_ROW_BITS + REEF_UNIT_BITS)]) +
                              (place >> (REEF_ROW_BITS - REEF_UNIT_BYTES_BITS) & (REEF_PAGE_BYTES - REEF_UNIT_BYTES))));
}
REEF_INLINE reef_slot *reef_slots_at(const reef_hot *h, uint32_t place) { return reef_slots_in(h->chunks.page, place); }
/* What get, mut and has read at first doesn't depend on the entity: said without a branch, so that the compiler
 * takes it out of the user's loop. `limit` is the number of indices where the component has an index of blocks, else
 * it is 0. */
typedef struct reef_way {
    void *const *records, *const *block;
    const uint64_t *version;
    const reef_map *map;
    uint32_t limit, whole;
} reef_way;

REEF_INLINE reef_way reef_way_to(const reef_hot *h, reef_component c, bool has)
{
    const reef_map *m = REEF_DEPENDENT(&h->maps[c.id >> 8 & 511][c.id & 255]);
    const reef_block_index *x = REEF_DEPENDENT(&REEF_DEPENDENT(&h->blocks)[REEF_DEPENDENT(&m->number)]);
    reef_way way;
    way.map = m;
    way.records = h->records.page;
    way.block = REEF_CAST(void *const *, REEF_CAST(const void *, x + 1));
    way.version = x->version;
    way.limit = *(has ? x->has : x->get);
    way.whole = x->whole;
    return way;
}
/* The same without an index: by the chunk's slots and the map. */
typedef struct reef_long_way {
    void *const *records, *const *chunks;
    const uint16_t *slot;
    uint32_t index_count, lowest, capacity;
} reef_long_way;

REEF_INLINE reef_long_way reef_long_way_to(const reef_hot *h, const reef_map *m)
{
    reef_long_way way;
    way.records = h->records.page;
    way.chunks = h->chunks.page;
    way.index_count = h->index_count;
    way.lowest = m->lowest;
    way.capacity = m->capacity;
    way.slot = REEF_RECAST(const uint16_t *, m + 1) + 1;
    return way;
}
/* The halves of a record, read one by one. What waits for a record that isn't in the cache fills the processor's
 * queues, and few instructions waiting mean many entities under way: has at random 20 ns -> 13 with this and 13 of
 * them instead of 19. And where the k-th eight of a word's 64 bits are: k ^ REEF_BYTE_OF_WORD. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { REEF_RECORD_GENERATION = 0, REEF_RECORD_PLACE = 1, REEF_BYTE_OF_WORD = 7 };
#else
enum { REEF_RECORD_PLACE = 0, REEF_RECORD_GENERATION = 1, REEF_BYTE_OF_WORD = 0 };
#endif
/* The place of an entity whose record exists. False: the handle is dead. */
REEF_INLINE bool reef_place_in(void *const *records, reef_entity e, uint32_t *place)
{
    uint32_t generation;
    const char *record = REEF_CAST(const char *, records[e.index >> REEF_RECORD_BITS]) +
                         REEF_CAST(size_t, e.index & ((1u << REEF_RECORD_BITS) - 1)) * 8;
    memcpy(&generation, record + 4 * REEF_RECORD_GENERATION, 4);
    memcpy(place, record + 4 * REEF_RECORD_PLACE, 4);
    return REEF_LIKELY(generation == e.generation);
}
/* The place of an entity. False: the handle is dead, or was never given out. */
REEF_INLINE bool reef_place_at(const reef_long_way *way, reef_entity e, uint32_t *place)
{
    return REEF_LIKELY(e.index < way->index_count) && reef_place_in(way->records, e, place);
}
/* The place of an entity; its slots; the slot of the component there. 0: it isn't there, or the handle is dead. */
REEF_INLINE uint32_t reef_slot_at(const reef_long_way *way, reef_entity e, uint32_t *place, const reef_slot **slots)
{
    if (REEF_UNLIKELY(!reef_place_at(way, e, place))) return 0;
    *slots = reef_slots_in(way->chunks, *place);
    const uint32_t d = (*slots)[0].head.table - way->lowest;
    return REEF_LIKELY(d < way->capacity) ? way->slot[d] : 0;
}

REEF_INLINE size_t reef_row_at(uint32_t place, size_t size) { return (place & (REEF_BLOCK_ROWS - 1)) * size; }

REEF_END_C

#endif
