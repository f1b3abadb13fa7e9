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
 * takes it out of the user's loop (get at random: 26 instructions an entity instead of 48). `limit` is the number of
 * indices, 0: there is no index of blocks. */
typedef struct reef_way {
    void *const *records, *const *block;
    const uint64_t *version;
    uint32_t limit, whole; /* whole != 0: what has no block is absent */
} reef_way;

REEF_INLINE reef_way reef_way_to(const reef_hot *h, reef_component c, bool has)
{
    const reef_block_entry *all = REEF_DEPENDENT(&h->blocks);
    const reef_block_index *x = REEF_DEPENDENT(&all[c.id & (0u - (c.id < all[0].asked))].index);
    reef_way way;
    way.records = h->records.page;
    way.block = (void *const *)(const void *)(x + 1);
    way.version = x->version;
    way.limit = *(has ? x->has : x->get);
    way.whole = x->whole;
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
/* The place of an entity whose index is below the limit. False: the handle is dead, or was never given out. */
REEF_INLINE bool reef_place_at(const reef_way *way, reef_entity e, uint32_t *place)
{
    const uint32_t index = e.index;
    uint32_t generation;
    const char *record =
        (const char *)way->records[index >> REEF_RECORD_BITS] + (size_t)(index & ((1u << REEF_RECORD_BITS) - 1)) * 8;
    memcpy(&generation, record + 4 * REEF_RECORD_GENERATION, 4);
    memcpy(place, record + 4 * REEF_RECORD_PLACE, 4);
    return REEF_LIKELY(generation == e.generation);
}
/* The component's block for a place; where the place's row lies in a block. */
REEF_INLINE char *reef_block_at(const reef_way *way, uint32_t place)
{
    return (char *)way->block[place >> REEF_ROW_BITS];
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
/* Asks for an index of the component's blocks. */
REEF_API void reef_index_ask(const reef_world *world, reef_type_decl *decl);

REEF_INLINE reef_component reef_id_now(const reef_type_decl *decl)
{
    reef_component c;
    c.id = REEF_DEPENDENT(&decl->id);
    return c;
}

/* The value; NULL: it is absent, or `unknown` is true. */
REEF_INLINE const void *reef_get_try(const reef_world *world, reef_entity e, reef_component c, size_t size,
                                     bool *unknown)
{
    const reef_way way = reef_way_to((const reef_hot *)world, c, false);
    uint32_t place;
    *unknown = false;
    if (REEF_LIKELY(e.index < way.limit) && !REEF_HELD_(world)) {
        if (REEF_UNLIKELY(!reef_place_at(&way, e, &place))) return NULL;
        const char *block = reef_block_at(&way, place);
        if (REEF_LIKELY(block != NULL)) return block + reef_row_at(place, size);
        *unknown = !way.whole;
    } else {
        *unknown = true;
    }
    return NULL;
}
/* The value for writing; NULL: the slow half has to make it ready. */
REEF_INLINE void *reef_mut_try(const reef_world *world, reef_entity e, reef_component c, size_t size)
{
    const reef_way way = reef_way_to((const reef_hot *)world, c, false);
    const uint64_t version = ((const reef_hot *)world)->version;
    uint32_t place;
    return REEF_LIKELY(e.index < way.limit && reef_place_at(&way, e, &place) &&
                       way.version[place >> REEF_ROW_BITS] == version)
               ? reef_block_at(&way, place) + reef_row_at(place, size)
               : NULL;
}
REEF_INLINE bool reef_has_try(const reef_world *world, reef_entity e, reef_component c, bool *unknown)
{
    const reef_way way = reef_way_to((const reef_hot *)world, c, true);
    uint32_t place;
    *unknown = e.index >= way.limit;
    return !REEF_UNLIKELY(*unknown) && reef_place_at(&way, e, &place) &&
           REEF_DEPENDENT(&way.block[place >> REEF_ROW_BITS]) != NULL;
}

/* After the slow half, the path is gone once more: so no call stands between what one get or mut reads of the head and
 * what the next one does, and the compiler keeps that in registers over the user's loop. (Returning the slow half's
 * pointer: 18 loads an entity of mut instead of 9, set at random 60 ns instead of 45.) */
REEF_INLINE const void *reef_get_decl(const reef_world *world, reef_entity e, reef_type_decl *decl, size_t size)
{
    bool unknown;
    const void *p = reef_get_try(world, e, reef_id_now(decl), size, &unknown);
    if (REEF_LIKELY(!unknown)) return p;
    reef_index_ask(world, decl);
    p = reef_get_try(world, e, reef_id_now(decl), size, &unknown);
    return unknown ? reef_get_slow(world, e, decl) : p;
}
REEF_INLINE void *reef_mut_decl(reef_world *world, reef_entity e, reef_type_decl *decl, size_t size)
{
    void *p = reef_mut_try(world, e, reef_id_now(decl), size);
    if (REEF_LIKELY(p != NULL)) return p;
    reef_mut_slow(world, e, decl);
    p = reef_mut_try(world, e, reef_id_now(decl), size);
    return p ? p : reef_mut_done(world, e, decl);
}
REEF_INLINE bool reef_has_decl(const reef_world *world, reef_entity e, reef_type_decl *decl)
{
    bool unknown, has = reef_has_try(world, e, reef_id_now(decl), &unknown);
    if (REEF_LIKELY(!unknown)) return has;
    reef_index_ask(world, decl);
    has = reef_has_try(world, e, reef_id_now(decl), &unknown);
    return unknown ? reef_has_slow(world, e, decl) : has;
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

/* The same by id, for bindings. */
REEF_INLINE const void *reef_get_fast(const reef_world *world, reef_entity e, reef_component c, size_t size)
{
    bool unknown;
    const void *p = reef_get_try(world, e, c, size, &unknown);
    return REEF_UNLIKELY(unknown) ? reef_get_id(world, e, c) : p;
}
REEF_INLINE void *reef_mut_fast(reef_world *world, reef_entity e, reef_component c, size_t size)
{
    void *p = reef_mut_try(world, e, c, size);
    return REEF_LIKELY(p != NULL) ? p : reef_mut_id(world, e, c);
}
REEF_INLINE bool reef_has_fast(const reef_world *world, reef_entity e, reef_component c)
{
    bool unknown, has = reef_has_try(world, e, c, &unknown);
    return REEF_UNLIKELY(unknown) ? reef_has_id(world, e, c) : has;
}

REEF_END_C

#endif
