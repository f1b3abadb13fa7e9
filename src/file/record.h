/* Records: a world, or its difference to the state before, as sections of a file (docs/files/file-format.md). Of each
 * kind of state a file section_*.c has both who writes its sections and who reads them. encode.c writes records, and
 * decode.c reads them. */
#ifndef REEF_FILE_RECORD_H
#define REEF_FILE_RECORD_H

#include "storage/table.h"
#include "file/pack.h"
#include "file/section.h"
#include "reef/save.h"
#include "reef/file.h"

enum {
    TYPE_RAW = 1,
    TYPE_OMITTED = 2,
    TYPE_TRACKED = 4,
    TYPE_RELATION = 8,
    TYPE_NAMES = 16,
    TYPE_HERE = 32, /* values are addresses; only between worlds of one process */
    TYPE_FLAGS = 63
}; /* flags of a type in a file, and all of them */

/* Numbers from 0 on, in the order in which they are given, and what has them: types, or tables of the family, by id. 0
 * stands for what only the file has. Begins as {0}. */
typedef struct number_list {
    uint32_t *ids; /* number -> id */
    uint32_t count, room;
    uint32_t *numbers; /* id -> number, if that has the id */
    uint32_t number_room;
} number_list;

/* The numbers of types and tables in a file, over all of its records. A type or table that the writer meets for the
 * first time gets the next number. The reader makes the same numbering, so that a journal that was read can be
 * continued. Begins as {.memory}. */
typedef struct numbering {
    memory *memory;
    number_list types, tables;
    uint64_t records; /* number of records so far */
    uint32_t bare;    /* number of types that had a size and no fields when they got their number */
} numbering;

#define NUMBER_NONE 0xFFFFFFFFu /* a type or table without a number */

/* Gives a number to an id: the next one, or one that was given to 0 before. False: no memory. */
bool reef__number_give(memory *m, number_list *l, uint32_t number, uint32_t id);
uint32_t reef__number_of(const number_list *l, uint32_t id);
/* Gives the next number to a type. False: no memory. */
bool reef__numbering_type(numbering *n, uint32_t id);
/* Did a type get fields (reef_type_describe) after it got its number? The file says that its values are bytes, so no
 * further record can hold them. */
bool reef__numbering_outdated(const numbering *n);
void reef__numbering_drop(numbering *n);

/* The order of the runs that a record mentions. Of versions a record says only what each system has seen of what was
 * written: a version is written as its rank, the number of these runs before it. So the numbers in a file are at most
 * one more than there are systems, and loading raises a world's version by no more than that, however long the history
 * of the saved world is. Begins as {.memory}. */
typedef struct version_order {
    memory *memory;
    uint64_t *seen; /* versions of the runs; ascending and without doubles after reef__version_order_sort */
    uint32_t count, room;
} version_order;

bool reef__version_order_add(version_order *x, uint64_t version); /* adds a run. False: no memory */
void reef__version_order_sort(version_order *x);
/* The rank of a version: a write after n of the runs has the rank n + 1, and a run has the rank of the last write
 * that it saw. The greatest rank is count + 1. */
uint64_t reef__version_rank(const version_order *x, uint64_t version);
void reef__version_order_drop(version_order *x);

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

/* Writes a record. The answer is the status of `o`. Every error but IO is recorded as the world's last error, for this
 * operation. After an error neither `o` nor the numbering can be used any further. Nothing visible of either world
 * changes. */
reef_status reef__record_write(section_out *o, numbering *n, const record_desc *d, const char *operation);

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

/* Reads a whole file into the world aside and proves it sound. That world is blank, or for a difference in the state
 * before. `target` gets the messages and has the systems. False: status, detail and place are in `in`, and `loaded` can
 * only be freed. */
bool reef__file_read(section_in *in, record_load *r, reef_world *loaded, reef_world *target);
void reef__record_load_drop(record_load *r);

#endif
