/* The reader of records (docs/files/file-format.md): what is known of a file while it is read.
 *
 *      TYPE ─► file_type: which type of the program holds its values, and how a value in the file becomes one in
 *      memory (its plan)
 *      TABL ─► file_table: the table with these types
 *      the rest ─► the world aside, at once: one section is in memory at a time
 *
 * A type that the program hasn't got, or has in another home, has a *stand-in* in the world aside: a type with the
 * file's home. At the end the stand-ins' values go to the types that they stand for, or are left out.
 *
 * Nothing that a section says is used before it is checked, and what it promises (rows, indices) is made only as far
 * as the rest of the file can fill it. So a file whose sums are right may say what it likes: it is refused, or it
 * becomes a world that reef_validate finds sound. */
#ifndef REEF_FILE_DECODE_H
#define REEF_FILE_DECODE_H

#include "base/memory.h"
#include "type/type.h"
#include "storage/table.h"
#include "file/record.h"
#include "file/section.h"
#include "reef/save.h"

enum { TYPE_RAW = 1, TYPE_OMITTED = 2, TYPE_TRACKED = 4 }; /* flags of a type in a file */

/* One step of a plan: `count` elements. Where `was` is the same kind they are copied (of several fields that lie
 * side by side: as bytes), else converted to the nearest number that fits. */
typedef struct field_op {
    uint32_t from, to, count; /* offsets in the file's value, in that of the column */
    uint8_t was, kind;
    uint16_t part; /* of a split type: which of its columns */
} field_op;

typedef struct file_type {
    char *name;
    size_t name_bytes;
    const type *t;  /* of the world aside; NULL: it is left out */
    const type *to; /* a stand-in's values go there at the end; NULL: t is the program's own, or it is left out */
    reef_home home; /* in the file */
    uint32_t flags, size, bytes;
    uint32_t number;      /* in the file */
    uint32_t field_count; /* in the file */
    field_op *ops;
    uint32_t op_count, op_room;
    bool whole;     /* the plan is one copy of all bytes of a value */
    bool partial;   /* the plan leaves bytes of a value as they are */
    bool dropped;   /* t is a tag in place of what is left out */
    uint64_t rows;  /* of one that is left out: seen so far */
    uint64_t count; /* of a store: values there must be at the end of the record */
    uint32_t page_rows;
    bool counted; /* its STOR, or the first of its VALS, was there in this record */
} file_type;

typedef struct file_table {
    uint32_t id;
    uint32_t column_count;
    uint32_t *columns; /* numbers of types */
    uint64_t rows;     /* that there must be at the end of the record */
    uint32_t *units;   /* of its first chunks, but for the last one, as far as somebody asked for them */
    uint32_t unit_count, unit_room;
} file_table;

typedef struct file_switch {
    uint64_t serial;
    bool on;
} file_switch;

typedef struct decoding {
    section_in *in;
    record_load *load;
    reef_world *w, *target; /* w: aside */
    memory *memory;
    file_type *types;
    uint32_t type_count, type_room;
    uint32_t *names; /* open addressing: hash of a type's name -> its number + 1 */
    uint32_t name_room;
    file_table *tables;
    uint32_t table_count, table_room;
    unsigned char *seen; /* by id: the table has a number */
    uint32_t seen_room;
    uint32_t standins;
    bool whole;         /* this record describes a whole world */
    bool first;         /* the file's first record */
    uint64_t newest;    /* version of this record, in the file's counting */
    version_order runs; /* of this record */
    /* newest version that the target and the world aside know; what the record tells of is newer, by its rank among
     * `runs` */
    uint64_t base;
    uint64_t free_left, idle_left;
    uint32_t sections;
    uint64_t told;    /* progress: bytes */
    uint32_t script;  /* the type of scripts, 0: there is none */
    uint32_t unbound; /* of the scripts that were read: whose class isn't known */
    /* by index: when the values of the type that is read anew were written, before they were forgotten */
    uint64_t *before;
    uint32_t before_count, before_room;
    uint64_t page_newest; /* of values of REEF_MULTI: on the page that was filled last */
    unsigned char *value; /* room for one value */
    size_t value_room;
    file_switch *switches;
    uint32_t switch_count, switch_room;
} decoding;

/* Room for `count` elements in an array of `room`. False: NO_MEMORY is recorded. */
bool reef__decode_room(decoding *d, void *array, uint32_t *room, uint32_t count, size_t size);
bool reef__decode_no_memory(decoding *d); /* or what a hook answered */
/* One value's room. NULL: no memory. */
void *reef__decode_value_room(decoding *d, size_t bytes);
/* A version of the file in the world's counting; 0 stays 0. False: CORRUPT. */
bool reef__decode_version(decoding *d, uint64_t *version);
void reef__decode_note(decoding *d, reef_load_note_kind kind, const char *name, const char *field, uint64_t rows);
/* By its number in the file. NULL: CORRUPT is recorded. */
file_type *reef__decode_type_of(decoding *d, uint32_t number);
file_table *reef__decode_table_of(decoding *d, uint32_t number);
/* The unit of a chunk. 0: CORRUPT is recorded. */
uint32_t reef__decode_unit(decoding *d, file_table *ft, uint32_t chunk);
/* The entity has this place from now on: counts of those without row, reserved, used up are kept. False: recorded. */
bool reef__decode_place(decoding *d, reef_entity e, uint32_t place);
/* Where the values of a type go: its column, or those of its parts. */
typedef struct value_target {
    char *base[REEF_SPLIT_FIELDS_MAX];
    uint32_t stride[REEF_SPLIT_FIELDS_MAX];
} value_target;

/* Reads a whole file into the world aside, which is blank (or, of a difference, in the state before), and proves it
 * sound. `target` is where messages go and who has the systems. False: the status, detail and place are in `in`;
 * then `aside` is good for nothing but reef_world_free. */
bool reef__file_read(section_in *in, record_load *r, reef_world *aside, reef_world *target);
void reef__record_load_drop(record_load *r);

#endif
