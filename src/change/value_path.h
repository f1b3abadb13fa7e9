/* The fast paths on which a value outside of the rows, or a switch, comes and goes.
 *
 * A fast path is taken where nothing has to be made, copied or announced: the type has neither hooks nor stamps of
 * rows, nobody observes it, and the entity's row lies in the chunk where a bit of the same type was turned last. That
 * chunk's words of bits, the page of values and the page of the index are remembered in the store (`reef_store`), and
 * of a switch in the world (`reef_cached_bits`). Each function that refuses has changed nothing; the caller then takes
 * the general path. */
#ifndef VALUE_PATH_H
#define VALUE_PATH_H

#include "reef/detail/access.h"
#include "storage/sparse_store.h"

/* A row of the chunk that begins at place `first`; REEF_BLOCK_ROWS and more: the handle is dead, or the row
 * elsewhere. (Of a dead record, which has the next generation, the place is 0: in no chunk.) */
INLINE uint64_t row_in_chunk(const reef_hot *h, uint64_t packed, uint64_t first)
{
    const uint32_t index = (uint32_t)packed;
    return *reef_record_at(h, index) - (packed - index) - first;
}
/* Turns a switch in the chunk where one was turned last. False: nothing was done, for a reason that the slow half
 * knows. (Byte by byte: what was written just now is read again some 8 cycles later, and of a word's 64 switches
 * each waited for the one before: 3.9 ns a pair instead of 3.5.) */
INLINE bool switch_turn(reef_world *world, reef_entity e, reef_component c, bool on)
{
    reef_hot *h = (reef_hot *)world;
    const uint64_t packed = reef_handle(e);
    if (UNLIKELY((uint32_t)packed >= h->index_count || h->cached.component != c.id)) return false;
    const uint64_t row = row_in_chunk(h, packed, h->cached.first);
    if (UNLIKELY(row >= REEF_BLOCK_ROWS)) return false;
    uint8_t *byte = (uint8_t *)h->cached.words + (row / 8 ^ REEF_BYTE_OF_WORD);
    const uint32_t bit = 1u << (row & 7);
    if (UNLIKELY(((*byte & bit) != 0) == on)) return false;
    *byte = (uint8_t)(*byte ^ bit);
    *h->cached.count += on ? 1 : UINT64_MAX;
    return true;
}
/* The store of a type for writing, or an empty one, which isn't written. */
INLINE reef_store *store_writable(const reef_world *w, reef_component c)
{
    return (reef_store *)(uintptr_t)store_of(w, c.id);
}

/* Makes the store remember the page of a slot, in `page`. The answer is the slot's number there; UINT32_MAX: the page
 * isn't open to the fast path. */
INLINE uint32_t slot_cached(const reef_hot *h, const reef_store *s, reef_page_near *page, uint32_t slot)
{
    const uint32_t i = slot - page->first;
    if (LIKELY(i < page->slots)) return i;
    return reef__page_cached(h, s, page, slot) ? slot - page->first : UINT32_MAX;
}

/* A value comes; the row's bit is the caller's. Where the caller writes it, which can't fail; NULL: nothing was
 * done. */
INLINE char *store_add_paged(const reef_hot *h, reef_store *s, uint64_t packed, size_t size)
{
    const uint32_t i = slot_cached(h, s, &s->cached, (uint32_t)packed);
    if (UNLIKELY(i == UINT32_MAX)) return NULL;
    char *block = s->cached.block;
    uint32_t *generations = (uint32_t *)(void *)block;
    char *at = block + s->offset + (size_t)i * size;
    generations[i] = (uint32_t)(packed >> 32);
    generations[s->cached.slots]++; /* how many are there */
    s->count++;
    return at;
}
INLINE char *store_add_packed(const reef_hot *h, reef_store *s, reef_entity e, size_t size)
{
    const uint64_t packed = reef_handle(e), slot = s->count;
    const uint32_t i = slot_cached(h, s, &s->cached, (uint32_t)slot);
    uint32_t k = (uint32_t)packed - s->cached_index;
    if (UNLIKELY(i == UINT32_MAX)) return NULL;
    if (UNLIKELY(k >= s->cached_indices)) {
        if (!reef__index_cached(h, s, (uint32_t)packed)) return NULL;
        k = (uint32_t)packed - s->cached_index;
    }
    uint64_t *entry = s->cached_entries + k;
    char *block = s->cached.block, *at = block + s->offset + (size_t)i * size;
    s->count = slot + 1;
    memcpy(block + (size_t)i * sizeof e, &e, sizeof e);
    *entry = packed - (uint32_t)packed + slot;
    return at;
}

/* A value goes. False: nothing was done. The last one takes its place. `word` and `left`: the bits of rows, and what
 * stays of them. `shared` is a constant: also where pages of the index are shared, and where one value has nothing
 * to do with the one before. */
INLINE bool leave_paged(const reef_hot *h, reef_store *s, uint64_t packed, uint64_t *word, uint64_t left)
{
    const uint32_t i = slot_cached(h, s, &s->cached, (uint32_t)packed);
    if (UNLIKELY(i == UINT32_MAX)) return false;
    uint32_t *generations = (uint32_t *)(void *)s->cached.block, *live = &generations[s->cached.slots];
    if (UNLIKELY(*live == 1)) return false;
    *word = left;
    generations[i] = 0;
    --*live;
    s->count--;
    return true;
}
INLINE bool leave_packed(const reef_hot *h, reef_store *s, uint32_t index, size_t size, uint64_t *word, uint64_t left,
                         bool shared)
{
    const uint64_t last = s->count - 1;
    const uint32_t k = slot_cached(h, s, &s->cached, (uint32_t)last);
    if (UNLIKELY(k == UINT32_MAX)) return false;
    uint64_t *entry = index_entry(s, index);
    const uint32_t slot = (uint32_t)*entry;
    if (UNLIKELY(shared ? s->values.version[slot >> s->bits] != h->version : s->index.shared != 0)) return false;
    const uint32_t i = shared ? slot & slot_mask(s) : slot_cached(h, s, &s->hole, slot);
    if (UNLIKELY(i == UINT32_MAX)) return false;
    char *block = shared ? (char *)s->values.page[slot >> s->bits] : s->hole.block;
    char *end = s->cached.block;
    const size_t offset = s->offset;
    reef_entity moved;
    memcpy(&moved, end + (size_t)k * sizeof moved, sizeof moved);
    if (shared && s->index.shared &&
        (s->index.version[index >> REEF_INDEX_BITS] <= h->fork_version ||
         s->index.version[moved.index >> REEF_INDEX_BITS] <= h->fork_version))
        return false;
    *word = left;
    const uint64_t packed = reef_handle(moved);
    uint64_t *entry_moved = index_entry(s, moved.index);
    memcpy(block + (size_t)i * sizeof moved, &moved, sizeof moved);
    memset(end + (size_t)k * sizeof moved, 0, sizeof moved);
    *entry_moved = packed - (uint32_t)packed + slot;
    *entry = 0;
    s->count = last;
    s->moves++;
    memmove(block + offset + (size_t)i * size, end + offset + (size_t)k * size, size);
    return true;
}

/* A value and its bit come to row `row` of the chunk that the store remembers. The answer is where the caller writes
 * the value; NULL: nothing was done. They go; false: nothing was done. `paged` is a constant, and the type's, as is its
 * size; `shared` is that of leave_packed. */
INLINE char *store_add_row(const reef_hot *h, reef_store *s, reef_entity e, uint64_t row, size_t size, bool paged)
{
    if (UNLIKELY(row >= REEF_BLOCK_ROWS)) return NULL;
    uint64_t *word = &s->cached_words[row / 64];
    const uint64_t was = *word;
    if (UNLIKELY(was >> (row & 63) & 1)) return NULL;
    char *at = paged ? store_add_paged(h, s, reef_handle(e), size) : store_add_packed(h, s, e, size);
    if (LIKELY(at != NULL)) *word = was | (uint64_t)1 << (row & 63);
    return at;
}
INLINE bool store_remove_row(const reef_hot *h, reef_store *s, reef_entity e, uint64_t row, size_t size, bool paged,
                             bool shared)
{
    if (UNLIKELY(row >= REEF_BLOCK_ROWS)) return false;
    uint64_t *word = &s->cached_words[row / 64];
    const uint64_t was = *word, left = was & ~((uint64_t)1 << (row & 63));
    if (UNLIKELY(left == was)) return false;
    return paged ? leave_paged(h, s, reef_handle(e), word, left)
                 : leave_packed(h, s, e.index, size, word, left, shared);
}
/* The entity's row in the chunk that the store remembers; REEF_BLOCK_ROWS and more: it isn't there, or the straight
 * path isn't open. (The store of id 0 has no gate.) */
INLINE uint64_t row_cached(const reef_hot *h, const reef_store *s, reef_entity e)
{
    const uint64_t packed = reef_handle(e);
    if (UNLIKELY((uint32_t)packed >= h->index_count || s->cached_gate != h->gate_move)) return UINT64_MAX;
    return row_in_chunk(h, packed, s->cached_first);
}
INLINE char *store_add_cached(const reef_hot *h, reef_store *s, reef_entity e, size_t size, bool paged)
{
    return store_add_row(h, s, e, row_cached(h, s, e), size, paged);
}
INLINE bool store_remove_cached(const reef_hot *h, reef_store *s, reef_entity e, size_t size, bool paged)
{
    return store_remove_row(h, s, e, row_cached(h, s, e), size, paged, false);
}

#endif
