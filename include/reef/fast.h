/* The inlined half of the hot calls. Not an interface: what stands here may change with every version.
 *
 *   entity {index, generation}
 *     -> records.page[index >> 12][index & 4095]      a record: generation << 32 | place
 *     -> place = unit << 10 | row                     unit 0: dead; unit 1: alive without a row
 *     -> chunks.page[unit >> 8] + (unit & 255) * 4    the chunk's slots: [0] head {table, next unit}, [1] entity
 *                                                     handles,
 *                                                     [2...] columns: {block, version of its last write}
 *     -> maps[component >> 8][component & 255]        table -> slot of the component's column, 0: absent
 *
 * A generation that matches proves that the entity is alive, but for a handle that was never given out: a dead record
 * holds the next generation and place 0. Units 0 and 1 have slots of their own (in tables 0 and 1, which have no
 * column), so get needs no test for them. */
#ifndef REEF_FAST_H
#define REEF_FAST_H

#include "query.h"

REEF_BEGIN_C

enum {
    REEF_ROW_BITS = 10,
    REEF_RECORD_BITS = 12,    /* log2 of the records of a page */
    REEF_UNIT_BITS = 8,       /* log2 of the units of a page of chunks */
    REEF_UNIT_BYTES_BITS = 6, /* log2 of the bytes of a unit: a cache line */
    REEF_UNIT_BYTES = 1 << REEF_UNIT_BYTES_BITS,
    REEF_UNIT_SLOTS = REEF_UNIT_BYTES / 16,
    REEF_PAGE_BYTES = REEF_UNIT_BYTES << REEF_UNIT_BITS, /* of a page of chunks */
    REEF_MAP_PAGES = REEF_TYPES_MAX / 256 + 1,
    REEF_SLOT_TAG = 0xFFFF /* in a map: present, without data */
};

/* Sixteen bytes of a chunk's directory: a block and the version of its last write. Slot 0 is the chunk's head
 * instead: so head, handles and the first two columns share a cache line. (Versions in an array of their own cost
 * every write a second line.) */
typedef struct reef_head {
    uint32_t table, next;
} reef_head;
typedef struct reef_head_more {
    uint32_t previous;
    uint16_t capacity, count;
} reef_head_more;
typedef struct reef_slot {
    union {
        void *block;
        reef_head head;
    };
    union {
        uint64_t version;
        reef_head_more head_more;
    };
} reef_slot;

/* A copy-on-write array of pages: src/storage/cow_pages.h. */
typedef struct reef_paged {
    void **page;
    uint64_t *version; /* of each page: of its last change of ownership, or newer */
    uint32_t count;
    uint32_t shared; /* 0: no page can be shared with a snapshot or fork */
    struct reef_node *node;
} reef_paged;

/* Table -> slot, for one component: uint16_t slot[1 + capacity] follows, the table's at [1 + table - lowest], 0
 * where nothing is known; [0] is always 0 (has reads it for tables out of range). `elsewhere`: what isn't here may
 * be elsewhere. */
typedef struct reef_map {
    uint32_t lowest, capacity, count, used, elsewhere;
} reef_map;

enum { REEF_RUN_CLASSES = 9 }; /* runs of 1 ... REEF_MULTI_MAX slots */

/* A page of values whose block is at hand: its first slot, how many slots there are; 0: none is. */
typedef struct reef_page_near {
    char *block;
    uint32_t first, slots;
} reef_page_near;

/* The values of a type that lie outside of the rows: src/storage/sparse_store.h. A page has `bits` slots' marks
 * first (generations of 4 bytes, or handles of 8), and the values at `offset`. */
typedef struct reef_store {
    reef_paged values, index;
    uint32_t component, size, offset;
    uint8_t bits, paged;
    uint8_t direct, tracked; /* neither hooks nor stamps of rows; stamps of rows */
    uint16_t align;
    uint8_t multi;     /* several values an entity: src/storage/multi_store.c */
    uint8_t shared;    /* values are addresses of values: src/storage/shared_store.c */
    uint32_t spare;    /* REEF_PAGED: the page that became empty last + 1; 0: none */
    uint64_t count;    /* values; without holes: also the next slot */
    reef_paged hashes; /* of pages: src/world/state_hash.c */
    /* The words of bits where one was turned lately, as reef_lately, while the gate is lately_gate; and then, of
     * which the blocks are at hand: a page of values, where the next one goes and the last one is, or REEF_PAGED one
     * came or went; another one where a value went; a page of the index. Of each, the first slot or index; how many
     * follow, 0: none is remembered. */
    uint64_t lately_gate, lately_first;
    uint64_t *lately_words, *lately_entries;
    reef_page_near lately, hole;
    uint32_t lately_index, lately_indices;
    uint64_t moves;                       /* without holes: counts values that left, whose slots others took */
    uint32_t run_count, run_end;          /* REEF_MULTI: entities; the first slot that never was part of a run */
    uint32_t free_runs[REEF_RUN_CLASSES]; /* of 1, 2, 4 ... slots: the first free one's slot + 1, 0: none */
    uint32_t cold; /* REEF_COLD: number of the next store of that home, 0: none. Of the empty store: of the first */
} reef_store;
enum { REEF_INDEX_BITS = 9 }; /* log2 of the entries of a page of a store's index: generation << 32 | slot */

/* A row that has a value in a store. Of rows side by side whose values are side by side as well, `page` and `at` are
 * the same. */
struct reef_cut {
    reef_entity entity;
    uint16_t row, page; /* page: of the value's slot */
    int32_t at;         /* bytes from the page to where row 0 would have its value: it may be in front of it */
};

/* The words of the chunk where a switch was turned lately: they are ours and marked, the chunk's table knows the
 * type, and nothing is in the way. Else `component` is REEF_LATELY_NONE, which is no id. */
typedef struct reef_lately {
    uint64_t component, first; /* its id; the place of the chunk's first row */
    uint64_t *words, *count;
} reef_lately;
#define REEF_LATELY_NONE UINT64_MAX

/* The head of every world. */
typedef struct reef_hot {
    reef_paged records;                    /* uint64_t[4096] a page */
    reef_paged chunks;                     /* reef_slot[256 * 4] a page */
    reef_map *const *maps[REEF_MAP_PAGES]; /* pages of 256; never NULL, so that no id needs a bounds check */
    uint32_t index_count;                  /* indices ever used: their records exist */
    /* of this world in the process: handles of queries and readers carry it, and so do refs */
    uint32_t number;
    uint64_t moves;        /* counts rows that went elsewhere and blocks that got another address: reef_ref */
    uint64_t version;      /* of the writes that happen now */
    uint64_t fork_version; /* what carries a newer one is not shared */
    uint32_t fresh_end;    /* indices from index_count to here can be handed out at once */
    uint32_t empty_end;    /* the same to entities without components, as far as here */
    /* the page of their records, while there are some; NULL: there they say already that they have nothing */
    uint64_t *fresh_page;
    reef_store *stores;           /* of the state; the first one is empty */
    const uint32_t *store_number; /* by component id; [0] is 0 */
    uint32_t store_room;          /* ids below have an entry */
    uint32_t empty_count;         /* entities without a row */
    uint64_t gate_move;           /* what the straight paths ask for: the version, or never */
    reef_lately lately;
    /* the types in the packed homes, and in REEF_PAGED, that took the straight path lately; no id: none */
    uint32_t near_id[2];
    reef_store *near_store[2]; /* their stores */
#if defined(REEF_CHECKED)
    uint32_t held; /* != 0: systems run, and what they read is held against their declarations */
#endif
} reef_hot;
#if defined(REEF_CHECKED)
#define REEF_HELD_(world) REEF_UNLIKELY(((const reef_hot *)(world))->held != 0)
#else
#define REEF_HELD_(world) false
#endif

/* A table of one world: src/storage/state.h says what holds when. */
typedef struct reef_table {
    uint64_t lease;
    reef_slot *tail;
    const struct shape *shape;
    uint64_t bits;
    uint32_t first, last, chunks; /* units of the first and last chunk, number of chunks */
    uint32_t next;                /* place of the next row */
    uint32_t end;                 /* place behind the last row that the last chunk has room for */
    uint32_t spare;
    uint64_t append;
} reef_table;

/* A table that a query matches. While no page is shared with a fork, pages stay where they are, and a match
 * remembers the slots of the table's first chunk. One empty one precedes the first, REEF_MATCHES_AHEAD follow the
 * last. `look`: not all of its rows match. `rows`, `quick` and `entities` are as they were when rows_look of
 * src/query/query.c came by: straight loops don't look at tables, which are lines of the cache all over the place (a
 * visit of 1,024 tables in their order took 5.3 us instead of 2.1). */
typedef struct reef_match {
    const reef_table *table;
    const reef_slot *column;     /* in `unit`: the slot of the first column */
    const reef_entity *entities; /* of the first chunk */
    uint32_t rows;               /* of the table */
    uint32_t unit;               /* no unit: not remembered */
    uint32_t id;
    /* `rows`, where reef_next hands them out by itself: one block, its slots remembered, the columns that the loop
     * writes ours. Else 0 */
    uint16_t quick;
    uint16_t look;
    /* of the terms with data, in the order of the query's keys; more follow: bytes from the chunk's slots to the
     * column's. Of one term: twice the same */
    uint16_t columns[2];
} reef_match;

/* The head of every query: its terms with data, those that the loop writes first. Keys behind the last are
 * REEF_NO_KEY. */
typedef struct reef_query_head {
    uint32_t column_count, write_count;
    uint32_t match_bytes;
    bool remembers; /* no page is shared with a fork: slots stay where they are while a loop is open */
    bool ahead;     /* many matches: worth fetching the next ones ahead */
    /* where a loop begins and ends: empty matches, in front of the first and behind the last */
    const void *before, *first, *behind;
    uint32_t key[REEF_TERMS_MAX]; /* component id << 1 | read only */
} reef_query_head;
#define REEF_NO_KEY 0xFFFFFFFFu

/* Of a component that isn't in the head: optional, in a block that is part of a chunk, or not named at all. */
REEF_API const void *reef_block_other(const reef_block *block, reef_component type, bool write);
/* Of a declared type that isn't in the head, or whose id isn't known yet. Pure, so that the loop's place stays in
 * registers over it. */
REEF_API const void *reef_block_slow(const reef_block *block, reef_type_decl *decl, bool write) REEF_PURE;

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
 * takes it out of the user's loop (get at random: 26 instructions an entity instead of 48). */
typedef struct reef_way {
    void *const *records, *const *chunks;
    const uint16_t *slot;
    uint32_t index_count, lowest, capacity, elsewhere;
} reef_way;

REEF_INLINE reef_way reef_way_to(const reef_hot *h, reef_component c)
{
    const reef_map *m = REEF_DEPENDENT(&h->maps[c.id >> 8 & 511][c.id & 255]);
    reef_way way;
    way.records = h->records.page;
    way.chunks = h->chunks.page;
    way.index_count = h->index_count;
    way.lowest = m->lowest;
    way.capacity = m->capacity;
    way.elsewhere = REEF_DEPENDENT(&m->elsewhere);
    way.slot = (const uint16_t *)(m + 1) + 1;
    return way;
}
/* The handle as a number: index in the lower half. */
REEF_INLINE uint64_t reef_handle(reef_entity e)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (uint64_t)e.generation << 32 | e.index;
#else
    uint64_t h;
    memcpy(&h, &e, sizeof h);
    return h;
#endif
}
REEF_INLINE reef_entity reef_unpacked(uint64_t packed)
{
    reef_entity e;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    e.index = (uint32_t)packed;
    e.generation = (uint32_t)(packed >> 32);
#else
    memcpy(&e, &packed, sizeof e); /* by its halves, the compiler took it to a vector register */
#endif
    return e;
}
/* The halves of a record, read one by one. What waits for a record that isn't in the cache fills the processor's
 * queues, and few instructions waiting mean many entities under way: has at random 20 ns -> 13 with this and 13 of
 * them instead of 19. And where the k-th eight of a word's 64 bits are: k ^ REEF_BYTE_OF_WORD. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { REEF_RECORD_GENERATION = 0, REEF_RECORD_PLACE = 1, REEF_BYTE_OF_WORD = 7 };
#else
enum { REEF_RECORD_PLACE = 0, REEF_RECORD_GENERATION = 1, REEF_BYTE_OF_WORD = 0 };
#endif
/* The place of an entity. False: the handle is dead, or was never given out. */
REEF_INLINE bool reef_place_at(const reef_way *way, uint64_t packed, uint32_t *place)
{
    const uint32_t index = (uint32_t)packed;
    uint32_t generation;
    if (REEF_UNLIKELY(index >= way->index_count)) return false;
    const char *record =
        (const char *)way->records[index >> REEF_RECORD_BITS] + (size_t)(index & ((1u << REEF_RECORD_BITS) - 1)) * 8;
    memcpy(&generation, record + 4 * REEF_RECORD_GENERATION, 4);
    memcpy(place, record + 4 * REEF_RECORD_PLACE, 4);
    return REEF_LIKELY(generation == (uint32_t)(packed >> 32));
}
/* The place of an entity; its slots; the slot of the component there. 0: it isn't there, or the handle is dead. */
REEF_INLINE uint32_t reef_slot_at(const reef_way *way, uint64_t packed, uint32_t *place, const reef_slot **slots)
{
    if (REEF_UNLIKELY(!reef_place_at(way, packed, place))) return 0;
    *slots = reef_slots_in(way->chunks, *place);
    const uint32_t d = (*slots)[0].head.table - way->lowest;
    return REEF_LIKELY(d < way->capacity) ? way->slot[d] : 0;
}

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

REEF_INLINE reef_component reef_id_now(const reef_type_decl *decl)
{
    reef_component c;
    c.id = REEF_DEPENDENT(&decl->id);
    return c;
}

REEF_INLINE const void *reef_get_decl(const reef_world *world, reef_entity e, reef_type_decl *decl, size_t size)
{
    const reef_way way = reef_way_to((const reef_hot *)world, reef_id_now(decl));
    const reef_slot *slots = NULL;
    uint32_t place = 0, k = reef_slot_at(&way, reef_handle(e), &place, &slots);
    if (REEF_UNLIKELY(k == 0) || REEF_HELD_(world)) return reef_get_slow(world, e, decl);
    return (const char *)slots[k].block + (size_t)(place & (REEF_BLOCK_ROWS - 1)) * size;
}

/* The slow half makes the block ours and marks it, and then the path is gone once more: so no call stands between
 * what one mut reads of the head and what the next one does, and the compiler keeps that in registers over the
 * user's loop as for get. (Returning the slow half's pointer: 18 loads an entity instead of 9, set at random 60 ns
 * instead of 45.) */
REEF_INLINE void *reef_mut_decl(reef_world *world, reef_entity e, reef_type_decl *decl, size_t size)
{
    for (bool again = false;; again = true) {
        const reef_way way = reef_way_to((const reef_hot *)world, reef_id_now(decl));
        const uint64_t version = ((const reef_hot *)world)->version;
        const reef_slot *slots = NULL;
        uint32_t place = 0, k = reef_slot_at(&way, reef_handle(e), &place, &slots);
        if (REEF_LIKELY(k != 0 && slots[k].version == version))
            return (char *)slots[k].block + (size_t)(place & (REEF_BLOCK_ROWS - 1)) * size;
        if (again) return reef_mut_done(world, e, decl);
        reef_mut_slow(world, e, decl);
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

REEF_INLINE bool reef_has_decl(const reef_world *world, reef_entity e, reef_type_decl *decl)
{
    const reef_component c = reef_id_now(decl);
    const reef_way way = reef_way_to((const reef_hot *)world, c);
    if (REEF_UNLIKELY(way.elsewhere != 0 || c.id == 0)) return reef_has_slow(world, e, decl);
    uint32_t place;
    if (REEF_UNLIKELY(!reef_place_at(&way, reef_handle(e), &place))) return false;
    /* No branch on the answer: it is anybody's guess. */
    const uint32_t d = reef_slots_in(way.chunks, place)[0].head.table - (way.lowest - 1);
    return (way.slot - 1)[d & (0u - (d < way.capacity + 1))] != 0;
}

/* The same by id, for bindings. */
REEF_INLINE const void *reef_get_fast(const reef_world *world, reef_entity e, reef_component c, size_t size)
{
    const reef_way way = reef_way_to((const reef_hot *)world, c);
    const reef_slot *slots = NULL;
    uint32_t place = 0, k = reef_slot_at(&way, reef_handle(e), &place, &slots);
    if (REEF_UNLIKELY(k == 0 || k == REEF_SLOT_TAG) || REEF_HELD_(world)) return reef_get_id(world, e, c);
    return (const char *)slots[k].block + (size_t)(place & (REEF_BLOCK_ROWS - 1)) * size;
}
REEF_INLINE void *reef_mut_fast(reef_world *world, reef_entity e, reef_component c, size_t size)
{
    const reef_way way = reef_way_to((const reef_hot *)world, c);
    const reef_slot *slots = NULL;
    uint32_t place = 0, k = reef_slot_at(&way, reef_handle(e), &place, &slots);
    if (REEF_UNLIKELY(k == 0 || k == REEF_SLOT_TAG || slots[k].version != ((const reef_hot *)world)->version))
        return reef_mut_id(world, e, c);
    return (char *)slots[k].block + (size_t)(place & (REEF_BLOCK_ROWS - 1)) * size;
}
REEF_INLINE bool reef_has_fast(const reef_world *world, reef_entity e, reef_component c)
{
    const reef_way way = reef_way_to((const reef_hot *)world, c);
    const reef_slot *slots = NULL;
    uint32_t place = 0;
    return reef_slot_at(&way, reef_handle(e), &place, &slots) != 0 || reef_has_id(world, e, c);
}

enum { REEF_MATCHES_AHEAD = 4 };

/* The halves of reef_next that are no hot path: making the block's columns the world's own (false: no memory);
 * tables that aren't quick, the end of a loop, and loops with a look at rows. */
REEF_API bool reef_block_own(reef_block *block);
REEF_API bool reef_block_more(reef_block *block);

/* A column's slot, by the chunk's slots; by that of the first column, which is known without a look at the match. */
REEF_INLINE uint32_t reef_column_at(const reef_match *m, size_t i)
{
    return ((const uint16_t *)(const void *)((const char *)m + offsetof(reef_match, columns)))[i]; /* not just two */
}
REEF_INLINE const reef_slot *reef_slot_of(const reef_slot *slots, const reef_match *m, size_t i)
{
    return (const reef_slot *)(const void *)((const char *)slots + reef_column_at(m, i));
}
REEF_INLINE const reef_slot *reef_slot_beside(const reef_slot *column, const reef_match *m, size_t i)
{
    return (const reef_slot *)(const void *)((const char *)column +
                                             ((ptrdiff_t)reef_column_at(m, i) - (ptrdiff_t)reef_column_at(m, 0)));
}
/* The match `n` places on. */
REEF_INLINE const reef_match *reef_match_after(const reef_query_head *q, const void *m, size_t n)
{
    return (const reef_match *)(const void *)((const char *)m + n * q->match_bytes);
}
REEF_INLINE const reef_slot *reef_block_slot(const reef_block *b, uint32_t i)
{
    return reef_slot_beside(b->column, (const reef_match *)b->match, i);
}

/* In reef_block.next_unit, beside units, which begin at 2: a loop that isn't open or looks at rows; one that comes
 * to its next table. */
enum { REEF_GO_CALL = 0, REEF_GO_TABLE = 1 };

/* The columns that the loop writes are marked, and ours. (Mostly it's one: with a loop around it compilers forgot
 * what they knew of the block.) */
REEF_INLINE bool reef_block_mark(reef_block *b, const reef_query_head *q)
{
    const reef_hot *h = (const reef_hot *)b->world;
    const uint64_t now = h->version, fork = h->fork_version;
    const uint32_t n = q->write_count;
    const reef_slot *slot = b->column;
    for (uint32_t i = 0; i < n; slot = reef_block_slot(b, i)) {
        if (REEF_UNLIKELY(slot->version <= fork)) return reef_block_own(b);
        *(uint64_t *)(uintptr_t)&slot->version = now;
        if (REEF_LIKELY(++i == n)) break;
    }
    return true;
}

/* The next chunk of a table, b->next_unit. The slots of the one that follows are found and fetched a step early, so
 * that the next block's addresses don't wait for it (3 ns a block of 1,024); while pages are shared with a fork they
 * may move meanwhile. Fetching the following columns ahead made it slower. */
REEF_INLINE bool reef_chunk_next(reef_block *b)
{
    const reef_query_head *q = b->head;
    const reef_match *m = (const reef_match *)b->match;
    const reef_hot *h = (const reef_hot *)b->world;
    const reef_slot *slots =
        REEF_LIKELY(q->remembers) ? b->next_slots : reef_slots_at(h, b->next_unit << REEF_ROW_BITS);
    const uint32_t next = slots[0].head.next;
    b->column = reef_slot_of(slots, m, 0);
    b->entities = (const reef_entity *)slots[1].block;
    b->count = REEF_BLOCK_ROWS;
    if (REEF_UNLIKELY(next == 0)) {
        b->count = (m->rows - 1) % REEF_BLOCK_ROWS + 1;
        b->next_unit = REEF_GO_TABLE;
        b->next = reef_match_after(q, m, 1);
    } else {
        b->next_slots = reef_slots_at(h, next << REEF_ROW_BITS);
        REEF_PREFETCH(b->next_slots);
        b->next_unit = next;
    }
    return reef_block_mark(b, q);
}

/* A table of few rows is bound by how long it takes from here to the rows: so the match is known from the step
 * before, what there is to find out about it was found out before (reef_match.quick), and none is compared with the
 * last: an empty one follows that. (A table of 20 rows took 5.4 ns where the match was found in this step, and takes
 * 4.9.) */
REEF_INLINE bool reef_next(reef_block *b)
{
    const reef_match *m = (const reef_match *)b->next;
    if (REEF_UNLIKELY(m == NULL))
        return REEF_LIKELY(b->next_unit > REEF_GO_TABLE) ? reef_chunk_next(b) : reef_block_more(b);
    const uint32_t rows = m->quick;
    if (REEF_UNLIKELY(rows == 0)) return reef_block_more(b);
    const reef_query_head *q = b->head;
    const reef_slot *column = m->column;
    const uint32_t n = q->write_count;
    b->match = m;
    b->column = column;
    b->next = reef_match_after(q, m, 1);
    b->entities = m->entities;
    b->count = rows;
    if (n == 0) return true;
    const uint64_t now = ((const reef_hot *)b->world)->version;
    *(uint64_t *)(uintptr_t)&column->version = now; /* mostly the only one */
    for (uint32_t i = 1; REEF_UNLIKELY(i < n); i++)
        *(uint64_t *)(uintptr_t)&reef_slot_beside(column, m, i)->version = now;
    return true;
}

/* A column that the caller asks for, and where tables are many, the same of the next table ahead, with the first
 * also the slots of the one after the next two. (Fetching columns or slots in reef_next cost loops that don't look
 * at them half of their time. A jump over this where tables are few took 0.3 ns of the 4.5 of a table of 20 rows.) */
REEF_INLINE void *reef_column_of(const reef_query_head *q, const reef_slot *column, const reef_match *m, uint32_t i)
{
    if (REEF_UNLIKELY(q->ahead)) {
        const reef_match *next = reef_match_after(q, m, 1);
        REEF_PREFETCH(reef_slot_beside(next->column, next, i)->block);
        if (i == 0) REEF_PREFETCH(reef_match_after(q, next, 2)->column);
    }
    return reef_slot_beside(column, m, i)->block;
}
REEF_INLINE void *reef_block_column(const reef_block *b, const reef_query_head *q, uint32_t i)
{
    return reef_column_of(q, b->column, (const reef_match *)b->match, i);
}
/* The first two terms are tried without a look at their number: the key of one that isn't there fits no component. */
REEF_INLINE const void *reef_block_in_fast(const reef_block *block, reef_component c)
{
    const reef_query_head *q = block->head;
    if (REEF_LIKELY(q->key[0] >> 1 == c.id)) return reef_block_column(block, q, 0);
    if (REEF_LIKELY(q->key[1] >> 1 == c.id)) return reef_block_column(block, q, 1);
    for (uint32_t i = 2; i < q->column_count; i++)
        if (q->key[i] >> 1 == c.id) return reef_block_column(block, q, i);
    return reef_block_other(block, c, false);
}
REEF_INLINE void *reef_block_inout_fast(const reef_block *block, reef_component c)
{
    const reef_query_head *q = block->head;
    if (REEF_LIKELY(q->key[0] == c.id << 1)) return reef_block_column(block, q, 0);
    if (REEF_LIKELY(q->key[1] == c.id << 1)) return reef_block_column(block, q, 1);
    for (uint32_t i = 2; i < q->write_count; i++)
        if (q->key[i] == c.id << 1) return reef_block_column(block, q, i);
    return (void *)(uintptr_t)reef_block_other(block, c, true);
}
/* By declaration: without a look at whether the id is known, since 0 fits no key. */
REEF_INLINE const void *reef_block_in_rest(const reef_block *block, reef_type_decl *decl)
{
    const reef_query_head *q = block->head;
    const uint32_t id = reef_id_now(decl).id;
    for (uint32_t i = 2; i < q->column_count; i++)
        if (q->key[i] >> 1 == id) return reef_block_column(block, q, i);
    return reef_block_slow(block, decl, false);
}
REEF_INLINE void *reef_block_inout_rest(const reef_block *block, reef_type_decl *decl)
{
    const reef_query_head *q = block->head;
    const uint32_t id = reef_id_now(decl).id;
    for (uint32_t i = 2; i < q->write_count; i++)
        if (q->key[i] == id << 1) return reef_block_column(block, q, i);
    return (void *)(uintptr_t)reef_block_slow(block, decl, true);
}
/* The loop's place is read before anything is compared: so the compiler sees that each way to the rows needs it, and
 * hands it on in registers. (Read behind the comparison, it went by memory: a table of 20 rows took 5.0 ns instead
 * of 4.6.) */
REEF_INLINE const void *reef_block_in_decl(const reef_block *block, reef_type_decl *decl)
{
    const reef_query_head *q = block->head;
    const reef_match *m = (const reef_match *)block->match;
    const reef_slot *column = block->column;
    const uint32_t id = reef_id_now(decl).id;
    if (REEF_LIKELY(q->key[0] >> 1 == id)) return reef_column_of(q, column, m, 0);
    if (REEF_LIKELY(q->key[1] >> 1 == id)) return reef_column_of(q, column, m, 1);
    return reef_block_in_rest(block, decl);
}
REEF_INLINE void *reef_block_inout_decl(const reef_block *block, reef_type_decl *decl)
{
    const reef_query_head *q = block->head;
    const reef_match *m = (const reef_match *)block->match;
    const reef_slot *column = block->column;
    const uint32_t id = reef_id_now(decl).id;
    if (REEF_LIKELY(q->key[0] == id << 1)) return reef_column_of(q, column, m, 0);
    if (REEF_LIKELY(q->key[1] == id << 1)) return reef_column_of(q, column, m, 1);
    return reef_block_inout_rest(block, decl);
}

/* Row by row. Of rows side by side one after the other; or where it is remembered which rows of the chunk have a
 * value, they; else it's the library's turn. (The entity is copied half by half: over a copy as a whole, as over a
 * call that may write, compilers keep nothing of the row in registers.) */
REEF_API bool reef_rows_more(reef_row *row);
/* in reef_row.i, between the last row of a block and the first one of the next: the caller didn't break off */
#define REEF_NO_ROW 0xFFFFFFFFu
REEF_INLINE bool reef_row_step(reef_row *row)
{
    const uint32_t i = row->i + 1;
    const reef_entity *e;
    if (REEF_LIKELY(i < row->end)) {
        row->i = i;
        e = row->block.entities + i;
    } else {
        const struct reef_cut *cut = row->cut;
        if (cut == row->cut_end) {
            row->i = REEF_NO_ROW;
            return false;
        }
        const reef_store *s = (const reef_store *)row->block.cells[0].from;
        row->block.cells[0].values = (void *)((uintptr_t)s->values.page[cut->page] + (uintptr_t)(intptr_t)cut->at);
        row->i = cut->row;
        row->cut = cut + 1;
        e = &cut->entity;
    }
    row->entity.index = e->index;
    row->entity.generation = e->generation;
    return true;
}
REEF_INLINE bool reef_row_next(reef_row *row)
{
    return reef_row_step(row) || (reef_rows_more(row) && reef_row_step(row));
}
REEF_INLINE void *reef_row_cell(uint32_t i, void *column, size_t size)
{
    return column ? (char *)column + i * size : NULL;
}
REEF_INLINE const void *reef_row_cell_in(uint32_t i, const void *column, size_t size)
{
    return column ? (const char *)column + i * size : NULL;
}
/* A component of the row, by declaration. */
REEF_INLINE void *reef_row_column(const reef_row *row, uint32_t k, size_t size)
{
    return reef_row_cell(row->i, reef_block_slot(&row->block, k)->block, size); /* of a cut block it may be missing */
}
REEF_INLINE const void *reef_row_in(const reef_row *row, reef_type_decl *decl, size_t size)
{
    const reef_query_head *q = row->block.head;
    const uint32_t id = reef_id_now(decl).id;
    if (REEF_LIKELY(q->key[0] >> 1 == id)) return reef_row_column(row, 0, size);
    if (REEF_LIKELY(q->key[1] >> 1 == id)) return reef_row_column(row, 1, size);
    return reef_row_cell_in(row->i, reef_block_in_rest(&row->block, decl), size);
}
REEF_INLINE void *reef_row_inout(const reef_row *row, reef_type_decl *decl, size_t size)
{
    const reef_query_head *q = row->block.head;
    const uint32_t id = reef_id_now(decl).id;
    if (REEF_LIKELY(q->key[0] == id << 1)) return reef_row_column(row, 0, size);
    if (REEF_LIKELY(q->key[1] == id << 1)) return reef_row_column(row, 1, size);
    return reef_row_cell(row->i, reef_block_inout_rest(&row->block, decl), size);
}

/* ---- the typed words ---- */

/* reef_get_id, reef_mut_id and reef_has_id by the C name of a type, as a const T *, a T * and a bool. */
#define reef_get(world, entity, T) \
    ((const T *)(REEF_STORED_(T) ? reef_get_stored(world, entity, reef_decl_of_##T(), sizeof(T), \
                                                   (int)reef_home_of_##T == (int)REEF_PAGED) \
                                 : reef_get_decl(world, entity, reef_decl_of_##T(), sizeof(T))))
#define reef_mut(world, entity, T) \
    ((T *)(REEF_STORED_(T) ? reef_mut_stored(world, entity, reef_decl_of_##T(), sizeof(T), \
                                             (int)reef_home_of_##T == (int)REEF_PAGED) \
                           : reef_mut_decl(world, entity, reef_decl_of_##T(), sizeof(T))))
#define reef_has(world, entity, T) reef_has_decl(world, entity, reef_decl_of_##T())

/* reef_set_id, reef_add_id and reef_remove_id by the C name of a type. (The value in C++: a template, since it has no
 * compound literals.) */
#ifndef __cplusplus
#define reef_set(world, entity, T, ...) \
    (REEF_STORED_(T) ? reef_set_stored(world, entity, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T)) \
                     : reef_set_id(world, entity, reef_id(T), &(const T){__VA_ARGS__}, sizeof(T)))
#else
REEF_END_C
template <class T, bool stored>
static inline reef_status reef_set_value(reef_world *w, reef_entity e, reef_component c, const T &value)
{
    if constexpr (stored) return reef_set_stored(w, e, c, &value, sizeof(T));
    else return reef_set_id(w, e, c, &value, sizeof(T));
}
REEF_BEGIN_C
#define reef_set(world, entity, T, ...) reef_set_value<T, REEF_STORED_(T)>(world, entity, reef_id(T), T{__VA_ARGS__})
#endif
/* reef_add_id without args: gives the entity the component, zero or as its constructor makes it; of REEF_MULTI one
 * value more. OK; EXISTS where the entity has it, and it stays as it is; NOT_ALIVE, UNKNOWN_TYPE, LOCKED, LIMIT
 * (REEF_MULTI), NO_MEMORY, and what the constructor answered. */
#define reef_add(world, entity, T) reef_add_id(world, entity, reef_id(T), NULL, NULL)
/* reef_remove_id: takes the component away, of REEF_MULTI all its values; the value ends, the entity lives on. OK;
 * ABSENT where the entity hasn't got it; NOT_ALIVE, UNKNOWN_TYPE, LOCKED, NO_MEMORY. */
#define reef_remove(world, entity, T) reef_remove_id(world, entity, reef_id(T))

/* Makes an entity without components. Null on failure: LIMIT, NO_MEMORY, LOCKED. */
REEF_INLINE reef_entity reef_create(reef_world *world)
{
    reef_hot *h = (reef_hot *)world;
    const uint32_t index = h->index_count;
    if (REEF_UNLIKELY(index >= h->empty_end)) return reef_create_entity(world);
    h->index_count = index + 1;
    h->empty_count++;
    if (REEF_UNLIKELY(h->fresh_page != NULL))
        h->fresh_page[index & ((1u << REEF_RECORD_BITS) - 1)] = (uint64_t)1 << 32 | 1u << REEF_ROW_BITS;
    return reef_unpacked((uint64_t)1 << 32 | index);
}

REEF_END_C

#endif
