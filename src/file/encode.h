/* Writing a record, in parts (docs/files/file-format.md): encode.c says what is in it, encode_ids.c writes indices
 * and names, reef__encode_rows.c tables and bits, encode_store.c values outside of tables, encode_log.c events,
 * stamps and what scripts wait for.
 *
 * A whole world is written as the difference to nothing: where there is no base, everything is new. What both worlds
 * have by the same pointer neither has written since, and it isn't looked at. */
#ifndef REEF_FILE_ENCODE_H
#define REEF_FILE_ENCODE_H

#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "storage/layout.h"
#include "storage/table.h"
#include "file/numbering.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/type.h"

enum { ENCODE_PART = 1 << 16 }; /* entries of a section that is a part of a list */
#define ENCODE_NONE 0xFFFFFFFFu /* a type or table without a number */

typedef struct encoding {
    section_out *o;
    numbering *n;
    const record_desc *d;
    reef_world *w, *base; /* base NULL: a whole world */
    const char *op;
    memory *memory;
    uint32_t *type_number; /* by id */
    uint32_t type_room;
    uint32_t *table_number; /* by id */
    uint32_t table_room;
    uint32_t first_type, first_table; /* that this record describes */
    const uint32_t *order;            /* tables of the family, in the visible order */
    uint32_t order_count;
    uint32_t *keys; /* of bits that some row has here or has there, in the visible order */
    uint32_t key_count, key_room;
    uint32_t *stores; /* types that have values outside of tables here or there, by name */
    uint32_t store_count, store_room;
    uint64_t start, all, next; /* progress: where the record begins, about how long it is, when it is told next */
    version_order runs;        /* of the runs that the record tells: what the file says of versions */
    /* of a difference: runs from this one on are told of, also those that are as in the base */
    uint64_t told_from;
    /* the same: what was written after this is told of, also where it is as in the base. UINT64_MAX: nothing is */
    uint64_t again;
    bool deep; /* such a write may be one that both states share */
    bool back; /* the state may have things again that the base has lost */
    bool told; /* the failure is in the world's last error */
} encoding;

/* A column of the file. */
typedef struct file_column {
    const type *type; /* NULL: handles */
    uint32_t slot;    /* 0: of a type that is split */
    uint32_t bytes;   /* of a value */
    bool flat;
} file_column;

/* The section is complete; tells progress. */
void reef__encode_end(encoding *x);
/* Values of this type are to be written, or can't be: false. */
bool reef__encode_allowed(encoding *x, const type *t);
/* n values side by side; flat: pack.h has nothing to do. */
void reef__encode_values(encoding *x, const type *t, bool flat, const void *values, size_t n);
void reef__encode_handles(encoding *x, const reef_entity *e, size_t n);
/* The columns of a table in the file; how many. */
uint32_t reef__encode_columns(const encoding *x, const shape *s, file_column *columns);
/* Something went wrong: nothing more is written. */
INLINE bool encode_stopped(const encoding *x) { return x->o->status != REEF_OK; }
void reef__encode_failed(encoding *x, reef_status status);

/* A version as it is in the file. */
INLINE uint64_t encode_version(const encoding *x, uint64_t version)
{
    if (BUG(105) || BUG(160)) return version;
    return version ? reef__version_rank(&x->runs, version) : 0;
}
INLINE void encode_older(uint64_t version, uint64_t limit, uint64_t *oldest)
{
    if (version <= limit && version < *oldest) *oldest = version;
}
bool reef__encode_type_need(encoding *x, uint32_t id); /* numbers a type. False: something failed */

/* Writes a record. The status is that of `o`; what the caller did wrong or what the world has that can't be written
 * is in its last error, recorded for the operation, but for IO. When it isn't OK, neither `o` nor the numbering can
 * be used any further. Nothing visible of either world changes. */
reef_status reef__record_write(section_out *o, numbering *n, const record_desc *d, const char *operation);

#endif
