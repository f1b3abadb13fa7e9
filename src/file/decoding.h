/* The reader of records (docs/files/file-format.md): what it knows of a file while it reads it.
 *
 *      TYPE      ─► file_type    the program's type, and the plan by which a value in the file becomes one in memory
 *      TABL      ─► file_table   the table with these types
 *      the rest  ─► a world aside, section by section; one section is in memory at a time
 *
 * A type that the program has in another home gets a *stand-in* in the world aside: a type with the home that the
 * file says. At the end the stand-in's values are moved to the type that it stands for. What the program doesn't have
 * is left out; a table that had such types in the file gets tags that spell its number, since without these types it
 * may look like another one. So loading makes as many types as the program has, at most, whatever a file says.
 *
 * Invariant: nothing that a section says is used before it is checked, and memory for what it promises (rows,
 * indices, values) is bounded by what the rest of the file can fill. (Reserved ids take 24 bytes for 4,096 of them.) So
 * a file with right sums and any content is either refused, or becomes a world that reef_validate finds sound. */
#ifndef REEF_FILE_DECODING_H
#define REEF_FILE_DECODING_H

#include "storage/table.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/save.h"

/* One step of a plan: `count` elements of a field. Elements of the same kind are copied, and steps that lie side by
 * side become one copy of bytes. Others are converted to the nearest number that the kind can hold, or are left out. */
typedef struct field_op {
    uint32_t from, to, count; /* offset in the file's value, offset in the column's value, number of elements */
    uint8_t was, kind;        /* kind in the file, kind in the program; 0: `count` bytes are left out */
    /* of values that are translated by name: its first pair in file_type.renames, and how many; is it a bit mask? */
    uint32_t rename, rename_count;
    bool mask;
    uint64_t lost; /* values of which something was left out that isn't zero, or that became another number */
} field_op;

/* A value that has a name: in the file, and in the program, where it is 0 if the program doesn't have the name. */
typedef struct value_rename {
    int64_t was, is;
    bool dropped; /* the program doesn't have the name */
} value_rename;

typedef struct file_type {
    const char *name;
    const type *t;  /* the type in the world aside; NULL: its values are left out */
    const type *to; /* where the values of a stand-in go at the end; NULL: t isn't a stand-in, or stands for nothing */
    reef_home home; /* in the file, as are the next five */
    uint32_t flags, size, bytes;
    uint32_t relation; /* options of a type of relations; else 0 */
    uint32_t number;
    uint32_t field_count;
    field_op *ops;
    uint32_t op_count, op_room;
    value_rename *renames; /* of all fields whose values are translated by name (conversion.c) */
    uint32_t rename_count, rename_room;
    bool whole;                /* the plan is one copy of all bytes of a value */
    bool partial;              /* the plan leaves bytes of a value as they are */
    bool dropped;              /* values are left out */
    bool declarable;           /* a load would declare it, of which this is only the plan */
    uint64_t rows;             /* in the end: number of values; of a type that is left out, also before */
    uint64_t lost;             /* of these, without those that the steps of the plan count */
    bool counted;              /* this record had its first VALS */
    struct value_carry *carry; /* TYPE_HERE: decode_carry.h; else NULL */
} file_type;

typedef struct file_table {
    uint32_t id;                       /* 0: no section has needed the table yet, and it isn't made */
    uint32_t *types;                   /* their numbers: first the columns, which have values in the file */
    uint32_t column_count, type_count; /* type_count: of the columns and the others */
    uint64_t rows;                     /* number of rows that the table must have at the end of the record */
    uint32_t *units;                   /* units of its first chunks: a cache of reef__decode_unit */
    uint32_t unit_count, unit_room;
} file_table;

/* A note about a type. It is told in the end, when it is known how many values it concerns. */
typedef struct kept_note {
    reef_load_note note;
    uint32_t type, op, op_end; /* the numbers of the type, and of the steps that count what is lost */
} kept_note;

/* Memory of the reading: blocks, of which the first one is filled. */
typedef struct decode_block {
    struct decode_block *next;
    size_t bytes, fill;
    _Alignas(PLAIN_ALIGN) char room[];
} decode_block;

enum { TABLE_CODES = 20 }; /* as many bits has the number of a table */

typedef struct file_switch {
    uint64_t serial;
    bool on;
} file_switch;

typedef struct decoding {
    section_in *in;
    record_load *load;
    reef_world *w, *target; /* the world aside, and the world that is to get its state */
    memory *memory;
    decode_block *blocks;
    file_type *types;
    uint32_t type_count, type_room;
    unsigned char *known; /* by type id: the file has described this type */
    uint32_t known_room;
    reef_value *alone; /* room for a value and what doesn't come along with it (src/file/decode_types.c) */
    uint32_t alone_room;
    file_table *tables;
    uint32_t table_count, table_room;
    unsigned char *seen; /* by table id: the file has described this table */
    uint32_t seen_room;
    uint32_t *ids; /* room for the types of a table */
    uint32_t id_room;
    uint32_t standins;
    const type *codes[TABLE_CODES]; /* the tags that spell numbers of tables; NULL: not needed yet */
    kept_note *notes;
    uint32_t note_count, note_room;
    bool whole;      /* this record describes a whole world */
    bool first;      /* the file's first record */
    uint64_t newest; /* newest version of this record, as the file counts */
    /* The newest version of the target and the world aside. A version of the record becomes this plus what the file
     * says, so it is newer. */
    uint64_t base;
    uint64_t free_left;    /* free indices that are still to come */
    uint64_t unplaced;     /* new indices of this record of which later sections have to say what they are */
    uint32_t reserved_end; /* the end of the indices that this record reserves */
    uint32_t sections;
    uint64_t reported; /* bytes of which the caller was told as progress */
    uint32_t script;   /* the type of scripts; 0: there is none */
    uint32_t unbound;  /* number of scripts that were read and whose class isn't known */
    /* By index: the versions of a type's values in the state before, while all of its values are read anew. */
    uint64_t *before;
    uint32_t before_count, before_room;
    uint64_t page_newest; /* newest version on the page of REEF_MULTI values that was filled last */
    unsigned char *value; /* room for one value */
    size_t value_room;
    file_switch *switches;
    uint32_t switch_count, switch_room;
} decoding;

/* Sets of homes, for reef__get_type: those of columns, of pages of slots, of several values, and with bits. */
enum {
    HOMES_TABLE = 1 << REEF_TABLE | 1 << REEF_SPLIT,
    HOMES_PAGES = 1 << REEF_SPARSE | 1 << REEF_PAGED | 1 << REEF_COLD,
    HOMES_SEVERAL = 1 << REEF_MULTI | 1 << REEF_SHARED,
    HOMES_BITS = 1 << REEF_BIT | 1 << REEF_SPARSE | 1 << REEF_PAGED | HOMES_SEVERAL,
    HOMES_ALL = HOMES_TABLE | HOMES_PAGES | HOMES_BITS
};
INLINE bool home_in(reef_home home, int homes) { return homes >> home & 1; }

/* Records NO_MEMORY, or that a construct hook refused. Answers false. */
bool reef__decode_no_memory(decoding *d);
/* Memory that stays until the reading ends, and is freed then: zeroed bytes; a copy of a text; a text of the section
 * with at most REEF_TYPE_NAME_MAX bytes; room for `count` elements in an array of `room`, which moves when it grows.
 * NULL and false: the error is recorded. */
void *reef__decode_memory(decoding *d, size_t bytes);
const char *reef__decode_text(decoding *d, const char *text);
const char *reef__get_name(decoding *d);
bool reef__decode_room(decoding *d, void *array, uint32_t *room, uint32_t count, size_t size);
void reef__decode_memory_drop(decoding *d);
/* Is the world sound, as a function like reef_validate says? */
bool reef__decode_sound(decoding *d, reef_status (*validate)(const reef_world *w, char *message, size_t size));
/* Tells what was kept, and adds up what is lost. */
void reef__decode_notes_tell(decoding *d);
/* Room for one value, good until the next call. NULL: no memory. */
void *reef__decode_value_room(decoding *d, size_t bytes);
void reef__decode_note(decoding *d, const reef_load_note *note);
/* Keeps a note about a type and the steps from `op` on. `field`, `was` and `is` may be NULL, and stay as long as the
 * reading. False: no memory. */
bool reef__decode_keep(decoding *d, const file_type *f, reef_load_note_kind kind, uint32_t op, const char *field,
                       const char *was, const char *is);

/* What a section names. What doesn't exist, or can't be, is CORRUPT. */
file_type *reef__get_type(decoding *d, int homes);    /* in one of these homes; NULL: there is none */
reef_entity reef__get_entity(decoding *d);            /* of an index that exists; generation 0: there is none */
file_table *reef__get_table(decoding *d);             /* it is made if need be. NULL: the error is recorded */
uint64_t reef__get_version(decoding *d);              /* translated to one of the world; 0 stays 0 */
bool reef__decode_exists(decoding *d, reef_entity e); /* for a handle that was read: has its index existed? */
/* The unit of a chunk. 0: the error is recorded. */
uint32_t reef__decode_unit(decoding *d, file_table *ft, uint32_t chunk);
/* Gives the entity this place, and keeps the counts of entities without a row, of reserved ids and of retired indices.
 * False: the error is recorded. */
bool reef__decode_place(decoding *d, reef_entity e, uint32_t place);
/* Adds `add` (1, or -1 as an unsigned number) to the count of indices that have this place. Rows aren't counted. */
void reef__decode_places_count(reef_world *w, uint32_t place, uint32_t add);

/* ---- who reads the sections: SECTION_KINDS ---- */

#define X(name, a, b, c, d, rank, once, least, write, read) bool reef__decode_##read(decoding *reading);
SECTION_KINDS(X)
#undef X

/* The end of a record: does each table have the rows that were promised? (src/file/section_rows.c) */
bool reef__decode_rows_done(decoding *d);
/* After the last record: all values are there, and relations are found by their targets (src/file/section_stores.c);
 * scripts whose class isn't known are reported, which in a difference are an error; entities without stamps get some,
 * for types that weren't tracked in the file (both src/file/section_time.c). */
bool reef__decode_relations_done(decoding *d);
bool reef__decode_scripts_done(decoding *d);
bool reef__decode_tracks_done(decoding *d);

#endif
