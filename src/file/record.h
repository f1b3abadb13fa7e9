/* Records: a world, or the difference to the state before, as sections (docs/files/file-format.md). Written by
 * src/encode*.c, read by src/decode*.c. */
#ifndef REEF_FILE_RECORD_H
#define REEF_FILE_RECORD_H

#include "base/memory.h"
#include "storage/table.h"
#include "world/fork_policy.h"
#include "reef/save.h"

/* Which types and tables have which numbers in a file: all of its records together. Types and tables that the writer
 * meets for the first time get the next numbers; the reader leaves the same behind, so that a journal that was read
 * can be continued. {.memory} is the beginning. */
typedef struct numbering {
    memory *memory;
    uint32_t *types; /* number -> id of a type */
    uint32_t type_count, type_room;
    uint32_t *tables; /* number -> id of a table, in the family */
    uint32_t table_count, table_room;
    uint64_t records; /* of the file so far */
    uint32_t bare;    /* types that had a size and no fields when they got their number */
} numbering;

/* Of versions a record says only what each system has seen of the things that were written: how many of the runs
 * that it tells of were before a write. So the numbers in a file are at most one more than there are systems, and
 * loading moves a world's version up by no more than that, however long the history of the saved world is. {.memory}
 * is the beginning. */
typedef struct version_order {
    memory *memory;
    uint64_t *seen; /* versions of the runs; after reef__version_order_sort ascending, each once */
    uint32_t count, room;
} version_order;

/* ---- writing (src/file/encode.c) ---- */

typedef struct record_desc {
    reef_world *world;
    reef_world *base; /* of the same family, NULL: the record describes the whole world */
    bool raw;         /* types without fields are written as bytes */
    bool sealed;      /* with hashes of both states */
    bool unsynced;    /* the records before this one may not be on the disk yet */
    bool part;        /* of a world: without events, and as if all were written before anybody looked */
    reef_progress progress;
    void *context;
} record_desc;

/* ---- reading (src/file/decode.c) ---- */

typedef struct record_load {
    const reef_load_desc *desc; /* NULL: all defaults */
    numbering numbering;
    struct decoding *decoding; /* what is known of the file's types and tables, over its records */
    bool difference;           /* a difference is asked for: types must be as they were */
    uint16_t flags;            /* of the header */
    bool converted;            /* types, fields or homes aren't as they were: the file can't be continued */
    uint64_t whole_bytes;      /* of the file up to the end of its first record */
    /* of the file up to the end of the last whole record, where it can be continued */
    uint64_t sound_bytes, sound_chain;
} record_load;
/* Then: what was read takes the world's place, and its systems are on or off as in the file. A failure is recorded,
 * and nothing happened. (src/file/load.c) */
typedef struct load_back { /* what the way back needs */
    bool *on;              /* by system: was it on? */
    uint32_t count;
    skips_room room;
} load_back;

#endif
