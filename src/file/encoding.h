/* Writing a record (docs/files/file-format.md): what the files section_*.c share, which each write some kinds of state,
 * and read them again. Above them, encode.c finds out what the record describes, and writes all sections in their
 * order.
 *
 * A whole world is written as the difference to nothing: without a base everything is new. What the world and the base
 * hold by the same pointer is the same in both, and isn't looked at. */
#ifndef REEF_FILE_ENCODING_H
#define REEF_FILE_ENCODING_H

#include "storage/serial_list.h"
#include "storage/table.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/type.h"

enum { ENCODE_PART = 1 << 16 }; /* most entries of a section that holds a part of a list */

typedef struct encoding {
    section_out *o;
    numbering *n;
    const record_desc *d;
    reef_world *w, *base; /* base NULL: a whole world */
    const char *op;
    memory *memory;
    uint32_t described_types, described_tables; /* the numbers below these are described in the file */
    const uint32_t *order;                      /* tables of the family, in the visible order */
    uint32_t order_count;
    /* progress: where the record begins, about how long it is, and at which length the caller is told next */
    uint64_t start, all, next;
    version_order runs; /* the runs that the record mentions: versions are written as their rank among these */
    /* In a difference: runs of this version or later are written even where they are as in the base. */
    uint64_t runs_from;
    /* In a difference: what was written after this version is written to the file even where it is as in the base.
     * UINT64_MAX: nothing is. difference_bound says why. */
    uint64_t again;
    bool deep; /* some of these writes may be older than the base: memory that both states share is looked at too */
    bool back; /* the state may have again what the base has lost */
    /* While the record is only looked through (section_out.dry): the oldest version that it would mention, among those
     * that are no newer than `limit`. */
    uint64_t limit, oldest;
    bool reported; /* the failure is already the world's last error */
} encoding;

/* A column of the file. */
typedef struct file_column {
    const type *type; /* NULL: the handles */
    uint32_t slot;    /* 0: the type is split and has a slot for each part */
    uint32_t bytes;   /* size of a value in the file */
} file_column;

/* Ends the section, and tells the caller of the progress. Before it go the descriptions of the types and tables that
 * got their numbers while it was made. */
void reef__encode_end(encoding *x);
/* A list of which each section holds a part: its count comes first. Begins as {kind}. Before an element is put,
 * reef__encode_element makes room for it: in a new section where the last one is full. */
typedef struct encode_list {
    uint32_t kind, count;
    size_t where;
} encode_list;
void reef__encode_element(encoding *x, encode_list *l);
void reef__encode_list_end(encoding *x, encode_list *l);
/* The number of a type, or of a table of the state. What has none gets the next one, and so do the bases of a type and
 * the types of a table; a section that isn't written must not ask. 0 also after an error. A type of the table that
 * can't be written is an error if there are rows. */
uint32_t reef__encode_type(encoding *x, uint32_t id);
uint32_t reef__encode_table(encoding *x, uint32_t id);
/* encoding.again for the values of a type. What is written again needn't be, so values that can't be written are left
 * out, rather than that the record is refused. */
uint64_t reef__encode_again(const encoding *x, const type *t);
/* Can values of this type be written? If not, the error is recorded. */
bool reef__encode_allowed(encoding *x, const type *t);
/* Writes n values that lie side by side. */
void reef__encode_values(encoding *x, const type *t, const void *values, size_t n);
/* Lists the columns that a table has in the file. Answers how many. */
uint32_t reef__encode_columns(const encoding *x, const shape *s, file_column *columns);
/* Describes the types and tables that have a number and no description yet (src/file/section_types.c). */
void reef__encode_descriptions(encoding *x);
/* Has something gone wrong? Then nothing more is written. */
INLINE bool encode_stopped(const encoding *x) { return x->o->status != REEF_OK; }
void reef__encode_failed(encoding *x, reef_status status);

/* A version as it is written to the file. */
INLINE uint64_t encode_version(encoding *x, uint64_t version)
{
    if (UNLIKELY(x->o->dry) && version && version <= x->limit && version < x->oldest) x->oldest = version;
    return version ? reef__version_rank(&x->runs, version) : 0;
}

/* The version of a system's last run; 0: it never ran. And the same if the record must write it: 0 if it needn't, and
 * *mentioned says whether the record mentions the run at all (as in the base) or not (the system never ran). */
INLINE uint64_t last_run_of(const reef_world *w, uint64_t serial) { return reef__serial_read(&w->state.runs, serial); }
uint64_t reef__encode_run(const encoding *x, uint64_t serial, bool *mentioned);

/* ---- who writes the sections: SECTION_KINDS ---- */

#define X(name, a, b, c, d, rank, once, least, write, read) void reef__encode_##write(encoding *x);
SECTION_KINDS(X)
#undef X

#endif
