/* How rows lie in memory: the columns and the shape of a table, the part of a table that each world has, and the edges
 * between tables. */
#ifndef REEF_STORAGE_LAYOUT_H
#define REEF_STORAGE_LAYOUT_H

#include "type/type.h"
#include "reef/detail/layout.h"
#include "reef/signature.h"

enum {
    ROW_MASK = REEF_BLOCK_ROWS - 1,
    RECORDS_PER_PAGE = 1 << REEF_RECORD_BITS,
    UNITS_PER_PAGE = 1 << REEF_UNIT_BITS,
    UNIT_MAX = (1 << 22) - 1,
    TABLES_PER_PAGE = 64,
    TABLE_NONE = 0,
    TABLE_EMPTY = 1,
    PLACE_DEAD = 0,
    PLACE_RESERVED = 1,
    PLACE_PENDING = 3,
    PLACE_EMPTY = 1 << REEF_ROW_BITS,
    SLOT_ENTITIES = 1,
    SLOT_COLUMNS = 2, /* the slot of the first column */
    RING_PER_PAGE = 1024,
    NAMES_PER_PAGE = 32,
    HASHES_PER_PAGE = 1024,
    TRACK_PAGE_BYTES = 8192, /* bytes of a page of stamps, and of a page of the rings of removals and events */
    BIT_WORDS = REEF_BLOCK_ROWS / 64,
    VERSION_STEP = 2, /* from one version of a world to the next: what is tracked is marked in between (column_mark) */
    /* runs of up to 32 units have a class for each length; longer ones are rounded to a multiple of 8 */
    RUN_SMALL = 32,
    RUN_CLASSES = RUN_SMALL + UNITS_PER_PAGE / 8 - 3
};
#define RING_HOLE 0xFFFFFFFFu /* an entry of the ring of free ids that was taken out of turn */
#define INDEX_MAX 0xFFFFFFFEu /* the greatest number of entities of a world */
/* joined by | to the id of a component: the key of the bit store of its marks, which say where it is disabled; alone:
 * the key for whole entities */
#define BIT_DISABLED 0x80000000u
#define BITS_OF_DISABLED 0xFFFFFFFFu /* bit_store.disabled_bits of a store of marks */

/* A page of chunks. Behind the units that were ever used it may have anything: nobody looks there, and a copy of the
 * page leaves that out. (A world of 100 entities uses 5 units of 256. To copy all of them took a third of a restore and
 * a tick of four systems.) */
typedef struct chunk_page {
    reef_slot slots[UNITS_PER_PAGE * REEF_UNIT_SLOTS];
    _Alignas(REEF_UNIT_BYTES) uint32_t used; /* number of units, from the first one */
} chunk_page;

typedef struct column {
    const type *type;
    uint32_t size;
    uint16_t align, arena;
} column;

typedef struct shape {
    uint32_t table;           /* id of its table */
    uint32_t component_count; /* number of components, with tags */
    uint32_t column_count;
    /* columns in slots 2 ... end_8 - 1 are 8 bytes wide, in slots end_8 ... end_16 - 1 16 bytes, the rest has other
     * sizes */
    uint16_t end_8, end_16;
    uint16_t end_slot;
    uint16_t units;            /* number of units of a chunk */
    uint16_t first_rows;       /* capacity of the first chunk when it is made */
    uint16_t word_count;       /* number of words of shape_signature */
    bool hooked;               /* some column has hooks */
    bool plain_move;           /* the values of all columns move as bytes */
    bool narrow;               /* all columns are 8 bytes wide */
    bool bound;                /* some column can't be copied, so that these rows can't be shared */
    bool resets;               /* a copy of the world gets default values in some column */
    bool tracked;              /* rows of some component, with data or a tag, are stamped */
    const uint32_t *component; /* ids of the components, ordered by name */
    const column *columns;     /* by slot; columns[1] is the handles */
} shape;                       /* behind it lie the columns, the words of the set (shape_signature) and the ids */

/* The set of components as words of bits, by id. */
INLINE const reef_signature_word *shape_signature(const shape *s)
{
    return (const reef_signature_word *)(const void *)(s->columns + s->column_count + SLOT_COLUMNS);
}

/* The part of a table that each world has:
 *
 *   append  Equal to the world's version: this world alone holds the tail chunk, it is marked as written, `next` and
 *           `end` are right, and the fast paths may append rows without bits. Never for tables with hooks or stamps.
 *   lease   Equal to the world's version: the same, and the fast paths may also append rows with everything that they
 *           have, and take rows away. Never where `append` isn't equal, nor for tables with bits.
 *   tail    Slots of the last chunk; only valid under `append`.
 *   shape   NULL: this world never used the table.
 *   bits    Names the bit stores in which some row here may have a bit: bit_mask (src/storage/row_bits.h).
 *   first, last   Units of the first and the last chunk. Chunks are linked by their heads.
 *   spare   Unit of the first of the empty chunks that are kept for growth, linked by their heads; 0: there is none. */
typedef reef_table table;

INLINE void lease_end(table *t) { t->append = t->lease = 0; }

typedef struct edge_move {
    uint16_t from, to;
    uint32_t size;
} edge_move; /* slots as offsets in bytes: slot_by */
INLINE char *slot_by(const reef_slot *slots, uint16_t offset)
{
    void *block;
    memcpy(&block, (const char *)slots + offset, sizeof block);
    return block;
}

typedef struct edge {
    uint64_t key;                  /* edge_key */
    uint32_t from, to;             /* ids of tables */
    uint16_t slot;                 /* add: slot of the new column, 0 for a tag; remove: slot of the old one in `from` */
    uint32_t size;                 /* size of that component */
    bool word;                     /* the component is 8 bytes wide, or a tag */
    uint16_t end_8, end_16, count; /* moves, sorted by the size of the column */
    uint16_t rest;                 /* number of moves of other sizes than 8 */
    /* the first column of 16 bytes that is kept, as in edge_move. pair_count columns lie side by side from there on;
     * then comes the component's own, if it is such a column, and then the others. */
    uint16_t pair_from, pair_to, pair_count;
    edge_move move[];
} edge;

/* An edge whose component an observer watches is remembered under another key, where only those look who tell it. */
#define EDGE_WATCHED (1ull << 63)

/* Different arguments give different keys, whatever number a caller gives for a component: the fast paths compare
 * nothing but the key. */
INLINE uint64_t edge_key(uint32_t table_id, uint32_t component, bool remove)
{
    return (uint64_t)table_id << 33 | (uint64_t)component << 1 | (uint64_t)remove;
}

#endif
