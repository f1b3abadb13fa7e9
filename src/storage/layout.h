/* How rows lie: columns, the shape of a table, a table of one world, and the edges between tables. */
#ifndef REEF_STORAGE_LAYOUT_H
#define REEF_STORAGE_LAYOUT_H

#include "base/platform.h"
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
    PLACE_PENDING = 3,
    PLACE_EMPTY = 1 << REEF_ROW_BITS,
    SLOT_ENTITIES = 1,
    SLOT_COLUMNS = 2, /* the first column */
    RING_PER_PAGE = 1024,
    NAMES_PER_PAGE = 32,
    HASHES_PER_PAGE = 1024,
    TRACK_PAGE_BYTES = 8192, /* of stamps, and of the rings of removals */
    BIT_WORDS = REEF_BLOCK_ROWS / 64,
    RUN_SMALL = 32, /* units of a chunk up to here are exact, above rounded to a multiple of 8 */
    RUN_CLASSES = RUN_SMALL + UNITS_PER_PAGE / 8 - 3
};
#define RING_HOLE 0xFFFFFFFFu /* an entry of the ring that was taken out of turn */
#define INDEX_MAX 0xFFFFFFFEu /* entities of a world */
/* | id of a component: the key of the store of those that are disabled; alone: of whole entities */
#define BIT_DISABLED 0x80000000u
#define BITS_OF_MARKS 0xFFFFFFFFu /* bit_store.marks of such a store */

typedef struct column {
    const type *type;
    uint32_t size;
    uint16_t align, arena;
} column;

typedef struct shape {
    uint32_t table;           /* id */
    uint32_t component_count; /* with tags */
    uint32_t column_count;
    uint16_t end_8, end_16; /* slots 2 ... end_8 are 8 bytes wide, end_8 ... end_16 are 16, the rest anything */
    uint16_t end_slot;
    uint16_t units;            /* of a chunk */
    uint16_t first_rows;       /* capacity of the first chunk when it is made */
    uint16_t word_count;       /* of shape_signature */
    bool hooked;               /* some column has hooks */
    bool narrow;               /* all columns are 8 bytes wide */
    bool bound;                /* some column can't be copied: such rows can't be shared */
    bool resets;               /* some column of which a copy of the world gets default values */
    bool tracked;              /* some component, with data or a tag, whose rows are stamped */
    const uint32_t *component; /* ids by name */
    const column *columns;     /* by slot: columns[slot]; [1] is the handles */
} shape;                       /* the columns follow it, then the words of the set (shape_signature), then the ids */

/* The same set by id, in words of 64. */
INLINE const reef_signature_word *shape_signature(const shape *s)
{
    return (const reef_signature_word *)(const void *)(s->columns + s->column_count + SLOT_COLUMNS);
}

/* append: == world version: the tail chunk is ours and marked, next and end hold, rows without bits may be appended
 * by the straight
 *        paths. Never for tables with hooks or stamps.
 * lease: == world version: the same, and rows may come with all that they have, and go. Never where `append` isn't,
 * or for tables with bits. tail:  slots of the last chunk; valid under `append` only
 * shape: NULL: never used by this world
 * bits:  stores of bits that some row here may have one in: bit_mask of their numbers (src/storage/table.h)
 * first, last: chunks are linked by their heads
 * spare: unit of the first of the empty chunks kept for growth (linked by their heads), 0: none */
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
    uint32_t from, to;             /* tables */
    uint16_t slot;                 /* add: of the new column, 0 for a tag. remove: of the old one in `from` */
    uint32_t size;                 /* of that component */
    bool word;                     /* the component is 8 bytes wide, or a tag */
    uint16_t end_8, end_16, count; /* moves by size class */
    uint16_t rest;                 /* moves of other sizes than 8 */
    /* the first column of 16 bytes that is kept, as in edge_move; so many lie side by side, then comes the
     * component's own, if it is such a column, and then the others */
    uint16_t pair_from, pair_to, pair_count;
    edge_move move[];
} edge;

/* No two keys are the same, whatever number somebody gives for a component: the straight paths compare nothing else. */
INLINE uint64_t edge_key(uint32_t table_id, uint32_t component, bool remove)
{
    return (uint64_t)table_id << 33 | (uint64_t)component << 1 | (uint64_t)remove;
}

#endif
