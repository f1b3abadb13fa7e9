/* Records: a world, or its difference to the state before, as sections of a file (docs/files/file-format.md). The files
 * encode*.c write them, the files decode*.c read them; this header has what both and their callers share. */
#ifndef REEF_FILE_RECORD_H
#define REEF_FILE_RECORD_H

#include "storage/table.h"
#include "file/pack.h"
#include "reef/save.h"
#include "reef/file.h"

/* The numbers of types and tables in a file, over all of its records. A type or table that the writer meets for the
 * first time gets the next number. The reader makes the same numbering, so that a journal that was read can be
 * continued. Begins as {.memory}. */
typedef struct numbering {
    memory *memory;
    uint32_t *types; /* number -> id of a type */
    uint32_t type_count, type_room;
    uint32_t *tables; /* number -> id of a table, in the family */
    uint32_t table_count, table_room;
    uint64_t records; /* number of records so far */
    uint32_t bare;    /* number of types that had a size and no fields when they got their number */
} numbering;

/* The order of the runs that a record mentions. Of versions a record says only what each system has seen of what was
 * written: a version is written as its rank, the number of these runs before it. So the numbers in a file are at most
 * one more than there are systems, and loading raises a world's version by no more than that, however long the history
 * of the saved world is. Begins as {.memory}. */
typedef struct version_order {
    memory *memory;
    uint64_t *seen; /* versions of the runs; ascending and without doubles after reef__version_order_sort */
    uint32_t count, room;
} version_order;

/* ---- writing (src/file/encode.c) ---- */

typedef struct record_desc {
    reef_world *world;
    reef_world *base; /* of the same family, NULL: the record describes the whole world */
    pack_form form;   /* how values are written that fields don't describe */
    bool sealed;      /* the record has the hashes of both states */
    bool unsynced;    /* the records before this one may not be on the disk yet */
    bool part;        /* a part of a world: without events and runs, as if no system had run yet */
    reef_progress progress;
    void *context;
} record_desc;

/* ---- reading (src/file/decode.c) ---- */

typedef struct record_load {
    const reef_load_desc *desc; /* NULL: all defaults */
    numbering numbering;
    struct decoding *decoding; /* what is known of the file's types and tables, over all records */
    bool difference;           /* a difference is wanted: types must be as the file says */
    uint16_t flags;            /* flags of the header */
    bool here;                 /* it was written as PACK_HERE, and the world that it is of is as it was */
    bool quiet;                /* nobody is told of differences */
    bool planned;              /* the load only says what it would do: no type is declared */
    bool converted;            /* types, fields or homes aren't as in the file: the file can't be continued */
    uint64_t lost;             /* values that the program can't hold, or not as they are in the file */
    uint64_t whole_bytes;      /* bytes up to the end of the first record */
    /* bytes and chain at the end of the last whole record, where the file can be continued */
    uint64_t sound_bytes, sound_chain;
} record_load;

#endif
