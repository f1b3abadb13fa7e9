/* Records: a world, or the difference to the state before, as sections (docs/file-format.md). Written by src/encode*.c, read by src/decode*.c. */
#ifndef REEF_RECORD_H
#define REEF_RECORD_H

#include "world/fork_policy.h"
#include "file/section.h"
#include "storage/state.h"

/* Which types and tables have which numbers in a file: all of its records together. Types and tables that the writer meets for the first time
 * get the next numbers; the reader leaves the same behind, so that a journal that was read can be continued. {.memory} is the beginning. */
typedef struct numbering {
    memory   *memory;
    uint32_t *types;   /* number -> id of a type */
    uint32_t  type_count, type_room;
    uint32_t *tables;  /* number -> id of a table, in the family */
    uint32_t  table_count, table_room;
    uint64_t  records; /* of the file so far */
    uint32_t  bare;    /* types that had a size and no fields when they got their number */
} numbering;

/* One more in a list that grows. False: no memory. */
bool number_add(memory *m, uint32_t **list, uint32_t *count, uint32_t *room, uint32_t id);
bool numbering_type(numbering *n, uint32_t id);  /* the next number. False: no memory */
bool numbering_table(numbering *n, uint32_t id);
/* A type got its fields since it got its number (reef_type_describe): the file says that its values are bytes, and they would be fields. */
bool numbering_outdated(const numbering *n);
void numbering_drop(numbering *n);

/* Of versions a record says only what each system has seen of the things that were written: how many of the runs that it tells of were before a write. So
 * the numbers in a file are at most one more than there are systems, and loading moves a world's version up by no more than that, however long
 * the history of the saved world is. {.memory} is the beginning. */
typedef struct version_order {
    memory   *memory;
    uint64_t *seen; /* versions of the runs; after version_order_sort ascending, each once */
    uint32_t  count, room;
} version_order;

/* One more run. False: no memory. */
bool version_order_add(version_order *x, uint64_t version);
void version_order_sort(version_order *x);
/* A write after n of the runs has the rank n + 1; a run has that of the last write that it saw. The greatest is count + 1. */
uint64_t version_rank(const version_order *x, uint64_t version);
void version_order_drop(version_order *x);

/* ---- writing (src/file/encode.c) ---- */

typedef struct record_desc {
    reef_world   *world;
    reef_world   *base;   /* of the same family, NULL: the record describes the whole world */
    bool          raw;    /* types without fields are written as bytes */
    bool          sealed; /* with hashes of both states */
    bool          unsynced; /* the records before this one may not be on the disk yet */
    bool          part;   /* of a world: without events, and as if all were written before anybody looked */
    reef_progress progress;
    void         *context;
} record_desc;

/* Writes a record. The status is that of `o`; what the caller did wrong or what the world has that can't be written is in its last error, recorded for the
 * operation, but for IO. When it isn't OK, neither `o` nor the numbering can be used any further. Nothing visible of either world changes. */
reef_status record_write(section_out *o, numbering *n, const record_desc *d, const char *operation);

/* ---- reading (src/file/decode.c) ---- */

typedef struct record_load {
    const reef_load_desc *desc; /* NULL: all defaults */
    numbering     numbering;
    struct decoding *decoding;  /* what is known of the file's types and tables, over its records */
    bool          difference;   /* a difference is asked for: types must be as they were */
    uint16_t      flags;        /* of the header */
    bool          converted;    /* types, fields or homes aren't as they were: the file can't be continued */
    uint64_t      whole_bytes;  /* of the file up to the end of its first record */
    uint64_t      sound_bytes, sound_chain; /* of the file up to the end of the last whole record, where it can be continued */
} record_load;

/* Reads a whole file into the world aside, which is blank (or, of a difference, in the state before), and proves it sound. `target` is where messages go and who
 * has the systems. False: the status, detail and place are in `in`; then `aside` is good for nothing but reef_world_free. */
bool file_read(section_in *in, record_load *r, reef_world *aside, reef_world *target);
void record_load_drop(record_load *r);
/* Then: what was read takes the world's place, and its systems are on or off as in the file. A failure is recorded, and nothing happened. (src/file/load.c) */
typedef struct load_back { /* what the way back needs */
    bool      *on;    /* by system: was it on? */
    uint32_t   count;
    skips_room room;
} load_back;
/* With `back`, which is zero before, load_return can undo it without memory, while nobody else has changed either world. Drop it in any case. NULL: nobody wants to. */
reef_status load_commit(reef_world *w, reef_world *aside, const record_load *r, const char *operation, load_back *back);
void load_return(reef_world *w, reef_world *aside, const record_load *r, const load_back *back);
void load_back_drop(const reef_world *w, load_back *back);

#endif
