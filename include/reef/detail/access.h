/* The inlined half of get, mut and has: from a handle to a value (reef/detail/layout.h draws the way). This is no
 * interface: what stands here may change with every version. */
#ifndef REEF_DETAIL_ACCESS_H
#define REEF_DETAIL_ACCESS_H

#include "../component.h"
#include "layout.h"

REEF_BEGIN_C

REEF_INLINE const uint64_t *reef_record_at(const reef_hot *h, uint32_t index)
{
    return (const uint64_t *)h->records.page[index >> REEF_RECORD_BITS] + (index & ((1u << REEF_RECORD_BITS) - 1));
}
/* The slots of a place's chunk. */
REEF_INLINE reef_slot *reef_slots_in(void *const *chunks, uint32_t place)
{
    return (
        reef_slot *)(void *)((char *)chunks[place >> (REEF_ROW_BITS + REEF_UNIT_BITS)] +
                             (place >> (REEF_ROW_BITS - REEF_UNIT_BYTES_BITS) & (REEF_PAGE_BYTES - REEF_UNIT_BYTES)));
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
    way.block = (void *const *)(const void *)(x + 1);
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
    way.slot = (const uint16_t *)(m + 1) + 1;
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
    const char *record =
        (const char *)records[e.index >> REEF_RECORD_BITS] + (size_t)(e.index & ((1u << REEF_RECORD_BITS) - 1)) * 8;
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

/* What reading a value of a store needs of it. What doesn't depend on the entity is read without a branch, as for
 * reef_way. */
typedef struct reef_store_way {
    void *const *values, *const *index;
    const uint64_t *version;
    uint32_t count, bits, offset; /* count: of the pages that entities point into */
} reef_store_way;

REEF_INLINE reef_store_way reef_store_way_to(const reef_store *s, bool paged)
{
    reef_store_way way;
    way.values = s->values.page;
    way.index = s->index.page;
    way.version = s->values.version;
    way.count = paged ? s->values.count : s->index.count;
    way.bits = s->bits;
    way.offset = s->offset;
    return way;
}
/* The value of an entity in a store, of several the first; NULL: none, or the handle is dead. *page is that of the
 * value. Of the REEF_PAGED home: two loads, of the generation and of the value, which don't wait for each other. */
REEF_INLINE const void *reef_store_at(const reef_store_way *way, reef_entity e, size_t size, bool paged, uint32_t *page)
{
    const uint64_t packed = reef_handle(e);
    const uint32_t index = (uint32_t)packed, generation = (uint32_t)(packed >> 32),
                   part = index >> (paged ? way->bits : (uint32_t)REEF_INDEX_BITS);
    if (REEF_UNLIKELY(part >= way->count)) return NULL;
    const char *at = (const char *)(paged ? way->values : way->index)[part];
    if (REEF_UNLIKELY(at == NULL || generation == 0)) return NULL;
    uint32_t slot = index & ((1u << way->bits) - 1);
    *page = part;
    if (paged)
        return REEF_LIKELY(((const uint32_t *)(const void *)at)[slot] == generation) ? at + way->offset + slot * size
                                                                                     : NULL;
    const uint64_t x = ((const uint64_t *)(const void *)at)[index & ((1u << REEF_INDEX_BITS) - 1)];
    if ((uint32_t)(x >> 32) != generation) return NULL;
    slot = (uint32_t)x;
    *page = slot >> way->bits;
    return (const char *)way->values[*page] + way->offset + (slot & ((1u << way->bits) - 1)) * size;
}
REEF_INLINE const void *reef_store_find(const reef_store *s, reef_entity e)
{
    uint32_t page;
    const reef_store_way way = reef_store_way_to(s, s->paged);
    const void *p = reef_store_at(&way, e, s->size, s->paged, &page);
    return s->shared && p ? *(const void *const *)p : p;
}

/* By declaration: its id is not tested, since an id that isn't known yet (0) finds nothing, and the slow half
 * resolves it. */
REEF_API const void *reef_get_slow(const reef_world *world, reef_entity entity, reef_type_decl *decl) REEF_PURE;
/* Makes the component ready to be written; then where it is, NULL when it wasn't made ready. */
REEF_API void reef_mut_slow(reef_world *world, reef_entity entity, reef_type_decl *decl);
REEF_API void *reef_mut_done(const reef_world *world, reef_entity entity, reef_type_decl *decl) REEF_PURE;
REEF_API bool reef_has_slow(const reef_world *world, reef_entity entity, reef_type_decl *decl) REEF_PURE;
/* One call in 64 of those that found no index asks for one. Which ones do depends on the handle alone, so that nothing
 * is counted in the user's loop. */
REEF_API void reef_index_ask(const reef_world *world, reef_type_decl *decl);
REEF_INLINE bool reef_asks(reef_entity e) { return e.index % 64 == 0; }

REEF_INLINE reef_component reef_id_now(const reef_type_decl *decl)
{
    reef_component c;
    c.id = REEF_DEPENDENT(&decl->id);
    return c;
}

/* By the index of blocks. False: it can't say. */
REEF_INLINE bool reef_get_short(const reef_way *way, reef_entity e, size_t size, const void **at)
{
    uint32_t place;
    *at = NULL;
    if (REEF_UNLIKELY(e.index >= way->limit)) return false;
    if (REEF_UNLIKELY(!reef_place_in(way->records, e, &place))) return true;
    const char *block = (const char *)way->block[place >> REEF_ROW_BITS];
    if (REEF_UNLIKELY(block == NULL)) return way->whole != 0;
    *at = block + reef_row_at(place, size);
    return true;
}
REEF_INLINE bool reef_mut_short(const reef_way *way, reef_entity e, size_t size, uint64_t version, void **at)
{
    uint32_t place;
    if (REEF_UNLIKELY(e.index >= way->limit || !reef_place_in(way->records, e, &place))) return false;
    *at = (char *)way->block[place >> REEF_ROW_BITS] + reef_row_at(place, size);
    return REEF_LIKELY(way->version[place >> REEF_ROW_BITS] == version);
}
REEF_INLINE bool reef_has_short(const reef_way *way, reef_entity e, bool *has)
{
    uint32_t place;
    if (REEF_UNLIKELY(e.index >= way->limit)) return false;
    *has = REEF_LIKELY(reef_place_in(way->records, e, &place)) &&
           REEF_DEPENDENT(&way->block[place >> REEF_ROW_BITS]) != NULL; /* no branch: it is anybody's guess */
    return true;
}

/* After each call that may write, the way is gone once more: so no call stands between what one get or mut reads of the
 * head and what the next one does, and the compiler keeps that in registers over the user's loop. (Returning the slow
 * half's pointer: 18 loads an entity of mut instead of 9, set at random 60 ns instead of 45.) */
REEF_INLINE const void *reef_get_decl(const reef_world *world, reef_entity e, reef_type_decl *decl, size_t size)
{
    for (bool again = false;; again = true) {
        const reef_way way = reef_way_to((const reef_hot *)world, reef_id_now(decl), false);
        const void *p;
        if (REEF_HELD_(world)) return reef_get_slow(world, e, decl);
        if (REEF_LIKELY(reef_get_short(&way, e, size, &p))) return p;
        if (!reef_asks(e)) {
            const reef_slot *slots = NULL;
            const reef_long_way by_chunk = reef_long_way_to((const reef_hot *)world, way.map);
            uint32_t place = 0, k = reef_slot_at(&by_chunk, e, &place, &slots);
            if (REEF_UNLIKELY(k == 0)) return reef_get_slow(world, e, decl);
            return (const char *)slots[k].block + reef_row_at(place, size);
        }
        if (again) return reef_get_slow(world, e, decl);
        reef_index_ask(world, decl);
    }
}
REEF_INLINE void *reef_mut_decl(reef_world *world, reef_entity e, reef_type_decl *decl, size_t size)
{
    for (bool again = false;; again = true) {
        const reef_way way = reef_way_to((const reef_hot *)world, reef_id_now(decl), false);
        const uint64_t version = ((const reef_hot *)world)->version;
        void *p;
        if (REEF_LIKELY(reef_mut_short(&way, e, size, version, &p))) return p;
        if (way.limit == 0 && (again || !reef_asks(e))) {
            const reef_slot *slots = NULL;
            const reef_long_way by_chunk = reef_long_way_to((const reef_hot *)world, way.map);
            uint32_t place = 0, k = reef_slot_at(&by_chunk, e, &place, &slots);
            if (REEF_LIKELY(k != 0 && slots[k].version == version))
                return (char *)slots[k].block + reef_row_at(place, size);
        }
        if (again) return reef_mut_done(world, e, decl);
        reef_mut_slow(world, e, decl);
    }
}
REEF_INLINE bool reef_has_decl(const reef_world *world, reef_entity e, reef_type_decl *decl)
{
    for (bool again = false;; again = true) {
        const reef_way way = reef_way_to((const reef_hot *)world, reef_id_now(decl), true);
        bool has;
        if (REEF_LIKELY(reef_has_short(&way, e, &has))) return has;
        if (REEF_DEPENDENT(&way.map->elsewhere) != 0 || reef_id_now(decl).id == 0) return reef_has_slow(world, e, decl);
        if (!reef_asks(e)) {
            const reef_long_way by_chunk = reef_long_way_to((const reef_hot *)world, way.map);
            uint32_t place;
            if (REEF_UNLIKELY(!reef_place_at(&by_chunk, e, &place))) return false;
            const uint32_t d = reef_slots_in(by_chunk.chunks, place)[0].head.table - (by_chunk.lowest - 1);
            return (by_chunk.slot - 1)[d & (0u - (d < by_chunk.capacity + 1))] != 0;
        }
        if (again) return reef_has_slow(world, e, decl);
        reef_index_ask(world, decl);
    }
}

/* The same for types that live in stores: known when compiled, as is whether they are paged. */
REEF_INLINE reef_store_way reef_store_now(const reef_world *world, const reef_type_decl *decl, bool paged)
{
    const reef_hot *h = (const reef_hot *)world;
    const uint32_t id = REEF_DEPENDENT(&decl->id);
    return reef_store_way_to(&h->stores[h->store_number[id & (0u - (id < h->store_room))]], paged);
}
REEF_INLINE const void *reef_get_stored(const reef_world *world, reef_entity e, reef_type_decl *decl, size_t size,
                                        bool paged)
{
    const reef_store_way way = reef_store_now(world, decl, paged);
    uint32_t page;
    const void *p = reef_store_at(&way, e, size, paged, &page);
    return REEF_UNLIKELY(p == NULL) || REEF_HELD_(world) ? reef_get_slow(world, e, decl) : p;
}
REEF_INLINE void *reef_mut_stored(reef_world *world, reef_entity e, reef_type_decl *decl, size_t size, bool paged)
{
    for (bool again = false;; again = true) {
        const reef_store_way way = reef_store_now(world, decl, paged);
        const uint64_t version = ((const reef_hot *)world)->version;
        uint32_t page = 0;
        const void *p = reef_store_at(&way, e, size, paged, &page);
        if (REEF_LIKELY(p != NULL && way.version[page] == version)) return (void *)(uintptr_t)p;
        if (again) return reef_mut_done(world, e, decl);
        reef_mut_slow(world, e, decl);
    }
}

/* The same by id, for bindings. (A tag, which has no value, has no index for get and mut.) */
REEF_INLINE const void *reef_get_fast(const reef_world *world, reef_entity e, reef_component c, size_t size)
{
    const reef_way way = reef_way_to((const reef_hot *)world, c, false);
    const void *p;
    if (REEF_HELD_(world)) return reef_get_id(world, e, c);
    return REEF_LIKELY(reef_get_short(&way, e, size, &p)) ? p : reef_get_id(world, e, c);
}
REEF_INLINE void *reef_mut_fast(reef_world *world, reef_entity e, reef_component c, size_t size)
{
    const reef_way way = reef_way_to((const reef_hot *)world, c, false);
    void *p;
    return REEF_LIKELY(reef_mut_short(&way, e, size, ((const reef_hot *)world)->version, &p))
               ? p
               : reef_mut_id(world, e, c);
}
REEF_INLINE bool reef_has_fast(const reef_world *world, reef_entity e, reef_component c)
{
    const reef_way way = reef_way_to((const reef_hot *)world, c, true);
    bool has;
    return REEF_LIKELY(reef_has_short(&way, e, &has)) ? has : reef_has_id(world, e, c);
}

REEF_END_C

#endif
