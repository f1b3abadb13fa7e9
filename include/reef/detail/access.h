/* The inlined half of get, mut and has, as reef/detail/layout.h draws it. It may change with every version. */
#ifndef REEF_DETAIL_ACCESS_H
#define REEF_DETAIL_ACCESS_H

#include "../component.h"
#include "way.h"

REEF_BEGIN_C

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
    const uint32_t index = REEF_CAST(uint32_t, packed), generation = REEF_CAST(uint32_t, packed >> 32),
                   part = index >> (paged ? way->bits : REEF_CAST(uint32_t, REEF_INDEX_BITS));
    if (REEF_UNLIKELY(part >= way->count)) return NULL;
    const char *at = REEF_CAST(const char *, (paged ? way->values : way->index)[part]);
    if (REEF_UNLIKELY(at == NULL || generation == 0)) return NULL;
    uint32_t slot = index & ((1u << way->bits) - 1);
    *page = part;
    if (paged)
        return REEF_LIKELY(REEF_CAST(const uint32_t *, REEF_CAST(const void *, at))[slot] == generation)
                   ? at + way->offset + slot * size
                   : NULL;
    const uint64_t x = REEF_CAST(const uint64_t *, REEF_CAST(const void *, at))[index & ((1u << REEF_INDEX_BITS) - 1)];
    if (REEF_CAST(uint32_t, x >> 32) != generation) return NULL;
    slot = REEF_CAST(uint32_t, x);
    *page = slot >> way->bits;
    return REEF_CAST(const char *, way->values[*page]) + way->offset + (slot & ((1u << way->bits) - 1)) * size;
}
REEF_INLINE const void *reef_store_find(const reef_store *s, reef_entity e)
{
    uint32_t page;
    const reef_store_way way = reef_store_way_to(s, s->paged);
    const void *p = reef_store_at(&way, e, s->size, s->paged, &page);
    return s->shared && p ? *REEF_CAST(const void *const *, p) : p;
}

/* By declaration: its id is not tested, since an id that isn't known yet (0) finds nothing, and the slow half
 * resolves it. */
REEF_API const void *reef_get_slow_(const reef_world *world, reef_entity entity, reef_type_decl *decl) REEF_PURE;
/* Makes the component ready to be written; then where it is, NULL when it wasn't made ready. */
REEF_API void reef_mut_slow_(reef_world *world, reef_entity entity, reef_type_decl *decl);
REEF_API void *reef_mut_done_(const reef_world *world, reef_entity entity, reef_type_decl *decl) REEF_PURE;
REEF_API bool reef_has_slow_(const reef_world *world, reef_entity entity, reef_type_decl *decl) REEF_PURE;
/* One call in 64 of those that found no index asks for one. Which ones do depends on the handle alone, so that nothing
 * is counted in the user's loop. */
REEF_API void reef_index_ask_(const reef_world *world, reef_type_decl *decl);
REEF_INLINE bool reef_asks(reef_entity e) { return e.index % 64 == 0; }

REEF_INLINE reef_component reef_id_now(const reef_type_decl *decl)
{
    reef_component c;
    c.id = REEF_DEPENDENT(&decl->shown);
    return c;
}

/* The id of a type for a call with this world; {0} if another copy of reef in the program has made the world, and this
 * copy has made none. */
REEF_API reef_component reef_resolve_with_(const reef_world *world, reef_type_decl *decl) REEF_PURE;
REEF_INLINE reef_component reef_id_with(const reef_world *world, reef_type_decl *decl)
{
    const reef_component c = reef_id_now(decl);
    return REEF_LIKELY(c.id != 0) ? c : reef_resolve_with_(world, decl);
}

/* By the index of blocks. False: it can't say. */
REEF_INLINE bool reef_get_short(const reef_way *way, reef_entity e, size_t size, const void **at)
{
    uint32_t place;
    *at = NULL;
    if (REEF_UNLIKELY(e.index >= way->limit)) return false;
    if (REEF_UNLIKELY(!reef_place_in(way->records, e, &place))) return true;
    const char *block = REEF_CAST(const char *, way->block[place >> REEF_ROW_BITS]);
    if (REEF_UNLIKELY(block == NULL)) return way->whole != 0;
    *at = block + reef_row_at(place, size);
    return true;
}
REEF_INLINE bool reef_mut_short(const reef_way *way, reef_entity e, size_t size, uint64_t version, void **at)
{
    uint32_t place;
    if (REEF_UNLIKELY(e.index >= way->limit || !reef_place_in(way->records, e, &place))) return false;
    if (REEF_UNLIKELY(way->version[place >> REEF_ROW_BITS] != version)) return false; /* there may be no block */
    *at = REEF_CAST(char *, way->block[place >> REEF_ROW_BITS]) + reef_row_at(place, size);
    return true;
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
        const reef_way way = reef_way_to(REEF_RECAST(const reef_hot *, world), reef_id_now(decl), false);
        const void *p;
        if (REEF_HELD_(world)) return reef_get_slow_(world, e, decl);
        if (REEF_LIKELY(reef_get_short(&way, e, size, &p))) return p;
        if (!reef_asks(e)) {
            const reef_slot *slots = NULL;
            const reef_long_way by_chunk = reef_long_way_to(REEF_RECAST(const reef_hot *, world), way.map);
            uint32_t place = 0, k = reef_slot_at(&by_chunk, e, &place, &slots);
            if (REEF_UNLIKELY(k == 0)) return reef_get_slow_(world, e, decl);
            return REEF_CAST(const char *, slots[k].block) + reef_row_at(place, size);
        }
        if (again) return reef_get_slow_(world, e, decl);
        reef_index_ask_(world, decl);
    }
}
REEF_INLINE void *reef_mut_decl(reef_world *world, reef_entity e, reef_type_decl *decl, size_t size)
{
    for (bool again = false;; again = true) {
        const reef_way way = reef_way_to(REEF_RECAST(const reef_hot *, world), reef_id_now(decl), false);
        const uint64_t version = REEF_RECAST(const reef_hot *, world)->version;
        void *p;
        if (REEF_LIKELY(reef_mut_short(&way, e, size, version, &p))) return p;
        if (way.limit == 0 && (again || !reef_asks(e))) {
            const reef_slot *slots = NULL;
            const reef_long_way by_chunk = reef_long_way_to(REEF_RECAST(const reef_hot *, world), way.map);
            uint32_t place = 0, k = reef_slot_at(&by_chunk, e, &place, &slots);
            if (REEF_LIKELY(k != 0 && slots[k].version == version))
                return REEF_CAST(char *, slots[k].block) + reef_row_at(place, size);
        }
        if (again) return reef_mut_done_(world, e, decl);
        reef_mut_slow_(world, e, decl);
    }
}
REEF_INLINE bool reef_has_decl(const reef_world *world, reef_entity e, reef_type_decl *decl)
{
    for (bool again = false;; again = true) {
        const reef_way way = reef_way_to(REEF_RECAST(const reef_hot *, world), reef_id_now(decl), true);
        bool has;
        if (REEF_LIKELY(reef_has_short(&way, e, &has))) return has;
        if (REEF_DEPENDENT(&way.map->elsewhere) != 0 || reef_id_now(decl).id == 0)
            return reef_has_slow_(world, e, decl);
        if (!reef_asks(e)) {
            const reef_long_way by_chunk = reef_long_way_to(REEF_RECAST(const reef_hot *, world), way.map);
            uint32_t place;
            if (REEF_UNLIKELY(!reef_place_at(&by_chunk, e, &place))) return false;
            const uint32_t d = reef_slots_in(by_chunk.chunks, place)[0].head.table - (by_chunk.lowest - 1);
            return (by_chunk.slot - 1)[d & (0u - (d < by_chunk.capacity + 1))] != 0;
        }
        if (again) return reef_has_slow_(world, e, decl);
        reef_index_ask_(world, decl);
    }
}

/* The same for types that live in stores: known when compiled, as is whether they are paged. */
REEF_INLINE reef_store_way reef_store_now(const reef_world *world, const reef_type_decl *decl, bool paged)
{
    const reef_hot *h = REEF_RECAST(const reef_hot *, world);
    const uint32_t id = REEF_DEPENDENT(&decl->shown);
    return reef_store_way_to(&h->stores[h->store_number[id & (0u - (id < h->store_room))]], paged);
}
REEF_INLINE const void *reef_get_stored(const reef_world *world, reef_entity e, reef_type_decl *decl, size_t size,
                                        bool paged)
{
    const reef_store_way way = reef_store_now(world, decl, paged);
    uint32_t page;
    const void *p = reef_store_at(&way, e, size, paged, &page);
    return REEF_UNLIKELY(p == NULL) || REEF_HELD_(world) ? reef_get_slow_(world, e, decl) : p;
}
REEF_INLINE void *reef_mut_stored(reef_world *world, reef_entity e, reef_type_decl *decl, size_t size, bool paged)
{
    for (bool again = false;; again = true) {
        const reef_store_way way = reef_store_now(world, decl, paged);
        const uint64_t version = REEF_RECAST(const reef_hot *, world)->version;
        uint32_t page = 0;
        const void *p = reef_store_at(&way, e, size, paged, &page);
        if (REEF_LIKELY(p != NULL && way.version[page] == version))
            return REEF_RECAST(void *, REEF_RECAST(uintptr_t, p));
        if (again) return reef_mut_done_(world, e, decl);
        reef_mut_slow_(world, e, decl);
    }
}

/* The same by id, for bindings. (A tag, which has no value, has no index for get and mut.) */
REEF_INLINE const void *reef_get_fast(const reef_world *world, reef_entity e, reef_component c, size_t size)
{
    const reef_way way = reef_way_to(REEF_RECAST(const reef_hot *, world), c, false);
    const void *p;
    if (REEF_HELD_(world)) return reef_get_id(world, e, c);
    return REEF_LIKELY(reef_get_short(&way, e, size, &p)) ? p : reef_get_id(world, e, c);
}
REEF_INLINE void *reef_mut_fast(reef_world *world, reef_entity e, reef_component c, size_t size)
{
    const reef_hot *h = REEF_RECAST(const reef_hot *, world);
    const reef_way way = reef_way_to(h, c, false);
    void *p;
    return REEF_LIKELY(reef_mut_short(&way, e, size, h->version, &p)) ? p : reef_mut_id(world, e, c);
}
REEF_INLINE bool reef_has_fast(const reef_world *world, reef_entity e, reef_component c)
{
    const reef_way way = reef_way_to(REEF_RECAST(const reef_hot *, world), c, true);
    bool has;
    return REEF_LIKELY(reef_has_short(&way, e, &has)) ? has : reef_has_id(world, e, c);
}

REEF_END_C

#include "change.h"

#endif
