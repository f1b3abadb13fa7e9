/* How worlds and queries lie in memory, as far as inlined calls read it. This is no interface: what stands here may
 * change with every version.
 *
 *   entity {index, generation}
 *     -> records.page[index >> 12][index & 4095]      a record: generation << 32 | place
 *     -> place = unit << 10 | row                     unit 0: dead; unit 1: alive without a row
 *     -> chunks.page[unit >> 8] + (unit & 255) * 4    the chunk's slots: [0] head {table, next unit}, [1] handles,
 *                                                     [2...] columns: {block, version of its last write}
 *     -> maps[component >> 8][component & 255]        table -> slot of the component's column, 0: absent
 *
 * An index of blocks has at once what the last two steps find: blocks[number in the map]->block[unit]. It is a cache,
 * which not every component has (src/storage/block_index.h).
 *
 * A generation that matches proves that the entity is alive, but for a handle that was never given out: a dead record
 * holds the next generation and place 0. Units 0 and 1 have slots of their own (in tables 0 and 1, which have no
 * column) and no block in any index, so get needs no test for them. */
#ifndef REEF_DETAIL_LAYOUT_H
#define REEF_DETAIL_LAYOUT_H

#include "../type.h"

REEF_BEGIN_C

/* The handle as a number: index in the lower half. */
REEF_INLINE uint64_t reef_handle(reef_entity e)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return REEF_CAST(uint64_t, e.generation) << 32 | e.index;
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
    e.index = REEF_CAST(uint32_t, packed);
    e.generation = REEF_CAST(uint32_t, packed >> 32);
#else
    memcpy(&e, &packed, sizeof e); /* by its halves, the compiler took it to a vector register */
#endif
    return e;
}
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
 * be elsewhere. `number`: of the component's index of blocks in each world, 0: no world has one. */
typedef struct reef_map {
    uint32_t lowest, capacity, count, used, elsewhere, number;
} reef_map;

/* The blocks of one component by unit: `void *block[room]` follows, and then `uint64_t version[room]`. NULL: no chunk
 * with the component begins at that unit. (A tag has some other address.) A version that equals the world's says that
 * the block may be written without a call; any other says nothing. All units of the world are below `room`. */
typedef struct reef_block_index {
    const uint32_t *get, *has; /* the number of indices that get and mut, and has, may look up here: all, or none */
    uint64_t *version;
    uint32_t component, room;       /* room 0: an empty one, which answers nothing */
    uint32_t whole;                 /* what has no block here is absent: no subtype would do as well */
    struct reef_block_index *older; /* one that the world made before; NULL: none */
} reef_block_index;
enum { REEF_BLOCK_NUMBERS = 256 };

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
    /* The words of bits where one was turned last, as reef_cached_bits, while the gate is cached_gate; and then, of
     * which the blocks are at hand: a page of values, where the next one goes and the last one is, or REEF_PAGED one
     * came or went; another one where a value went; a page of the index. Of each, the first slot or index; how many
     * follow, 0: none is remembered. */
    uint64_t cached_gate, cached_first;
    uint64_t *cached_words, *cached_entries;
    reef_page_near cached, hole;
    uint32_t cached_index, cached_indices;
    uint64_t moves;                       /* without holes: counts values that left, whose slots others took */
    uint32_t run_count, run_end;          /* REEF_MULTI: entities; the first slot that never was part of a run */
    uint32_t free_runs[REEF_RUN_CLASSES]; /* of 1, 2, 4 ... slots: the first free one's slot + 1, 0: none */
    uint32_t cold; /* REEF_COLD: number of the next store of that home, 0: none. Of the empty store: of the first */
    /* of a type of relations: the index from targets to sources (src/storage/relation_index.h) */
    reef_paged heads, nodes;
    uint32_t free_nodes[7], node_end;
    uint32_t relation, unindexed; /* the options of the type, 0: it is none; it has no index now */
    uint64_t relation_gate;       /* cached_gate, for the fast path of relations */
    uint64_t relation_changes;    /* counts the relations that came or went, or were disabled or enabled */
    uint32_t grouped;             /* the next store of relations that group rows, as `cold` */
    uint16_t straight, parents;   /* for straight_store; the type is ChildOf, so that names depend on it */
} reef_store;
enum { REEF_INDEX_BITS = 9 }; /* log2 of the entries of a page of a store's index: generation << 32 | slot */

/* A row that has a value in a store. Of rows side by side whose values are side by side as well, `page` and `at` are
 * the same. */
struct reef_cut {
    reef_entity entity;
    uint16_t row, page; /* page: of the value's slot */
    int32_t at;         /* bytes from the page to where row 0 would have its value: it may be in front of it */
};

/* The words of the chunk where a switch was turned last: they are ours and marked, the chunk's table knows the
 * type, and nothing is in the way. Else `component` is REEF_LATELY_NONE, which is no id. */
typedef struct reef_cached_bits {
    uint64_t component, first; /* its id; the place of the chunk's first row */
    uint64_t *words, *count;
} reef_cached_bits;
#define REEF_LATELY_NONE UINT64_MAX

/* The head of every world. The maps come last, since they are long: what most calls read is in the first lines. */
typedef struct reef_hot {
    const struct reef_library *library; /* the copy of reef that made the world (src/storage/library.h) */
    reef_paged records;                 /* uint64_t[4096] a page */
    reef_paged chunks;                  /* reef_slot[256 * 4] a page */
    reef_block_index **blocks;          /* [REEF_BLOCK_NUMBERS], none of them NULL; [0] is empty */
    uint32_t index_count;               /* indices ever used: their records exist */
    /* of this world in the process: handles of queries and readers carry it, and so do refs */
    uint32_t number;
    uint64_t moves;               /* counts rows that went elsewhere and blocks that got another address: reef_ref */
    uint64_t version;             /* of the writes that happen now */
    uint64_t fork_version;        /* what carries a newer one is not shared */
    uint32_t fresh_end;           /* indices from index_count to here can be handed out at once */
    uint64_t *fresh_page;         /* the page of their records, while there are some */
    reef_store *stores;           /* of the state; the first one is empty */
    const uint32_t *store_number; /* by component id; [0] is 0 */
    uint32_t store_room;          /* ids below have an entry */
    uint32_t empty_count;         /* entities without a row */
    uint64_t gate_move;           /* what the straight paths ask for: the version, or never */
    reef_cached_bits cached;
    reef_map *const *maps[REEF_MAP_PAGES]; /* pages of 256; never NULL, so that no id needs a bounds check */
#if defined(REEF_CHECKED)
    uint32_t held; /* != 0: systems run, and what they read is held against their declarations */
#endif
} reef_hot;
#if defined(REEF_CHECKED)
#define REEF_HELD_(world) REEF_UNLIKELY(REEF_RECAST(const reef_hot *, world)->held != 0)
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
 * src/query/table_match.c came by: straight loops don't look at tables, which are lines of the cache all over the place
 * (a visit of 1,024 tables in their order took 5.3 us instead of 2.1). */
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

REEF_END_C

#endif
