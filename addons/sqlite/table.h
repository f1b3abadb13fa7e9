/* How a component type is shown as an SQL table, in a file and over a living world: its name, its columns, and each
 * value as a cell of a row.
 *
 *     type Position {x F32 "m", y F32 "m"}   ─►   Position(id, x, y)
 *     a tag                                   ─►   Frozen(id)
 *     a type without fields                   ─►   Blob(id, value)
 *     several values of an entity             ─►   Wound(id, number, per_second, left)
 *     a relation                              ─►   Likes(id, number, target, place, "data.coins")
 *
 * An entity's id is its index + 2^32 * (generation - 1). So the id of an entity that is the first with its index is
 * that index, and no two entities of a world ever have the same id. */
#ifndef REEF_SQL_TABLE_H
#define REEF_SQL_TABLE_H

#include "reef/all.h"
#include <sqlite3.h>

enum {
    SQL_REASON_MAX = 512,  /* bytes of a text that says why something failed */
    SQL_COLUMNS_MAX = 1900 /* fields of a type that a table shows; SQLite has room for 2,000 columns */
};

/* A table. The columns are: id, number (of types with several values on an entity), then one for each field, or
 * `value` for a type without fields. */
typedef struct sql_table {
    reef_component type;
    reef_type_info info;
    char *name;     /* of the table; not quoted */
    char **columns; /* names of the fields' columns */
    uint32_t count; /* of them: 0 for a tag */
    uint32_t first; /* number of the first of them: 1, or 2 where there is a number */
    bool many;      /* an entity has several values */
    bool relation;  /* its first two fields are the target and the place */
    bool base;      /* it has subtypes, which many calls take for it */
} sql_table;

static inline sqlite3_int64 sql_id(reef_entity e)
{
    return (sqlite3_int64)((uint64_t)(e.generation - 1) << 32 | e.index);
}
static inline reef_entity sql_entity(sqlite3_int64 id)
{
    const reef_entity e = {(uint32_t)(uint64_t)id, (uint32_t)((uint64_t)id >> 32) + 1};
    return e;
}

/* All memory of the add-on comes from SQLite's allocator, so that a program can bound it (sqlite3_config). Zeroed. */
void *reef__sql_zeroed(size_t bytes);
char *reef__sql_copy(const char *text);
/* Makes room for one more element of an array. False: no memory. */
bool reef__sql_more(void *array, uint32_t count, uint32_t *room, size_t size);

/* Describes a type. `name` is what the table is called; NULL: as the type. False: no memory. */
bool reef__sql_table_init(sql_table *t, reef_component type, const char *name);
void reef__sql_table_drop(sql_table *t);
/* Is the type one that has a table: no column of a split type? */
bool reef__sql_type_shown(reef_component type);
/* Is this the name of a table that isn't a type's, or one that SQLite keeps for itself? */
bool reef__sql_name_reserved(const char *name);
/* The next name to try for a table whose name is taken or reserved: with an underscore more, behind it, or before it
 * where its beginning is reserved. Frees the name. NULL: no memory; sqlite3_free. */
char *reef__sql_name_next(char *name);
/* Writes CREATE TABLE for a file: with units and ranges as comments and checks. NULL: no memory; sqlite3_free. */
char *reef__sql_table_create(const sql_table *t);
/* The order of u64 in a virtual table: numbers from 2^63 on are texts of digits, of which the longer is the larger. */
#define SQL_DIGITS "reef_digits"
/* The type of a field's column in a virtual table, and its order where that isn't SQLite's own. */
const char *reef__sql_column_declare(const reef_field *field);
/* Writes what a virtual table declares. */
char *reef__sql_table_declare(const sql_table *t, const char *hidden);

/* The value that an entity has of exactly this type, number `number` of several; NULL: none, or the type has no values.
 * `room` gets the value where it lies in pieces; it has room for one. */
const void *reef__sql_value(const reef_world *w, const sql_table *t, reef_entity e, uint32_t number, void *room);
/* How many values the entity has of exactly this type; of a tag 1 or 0. */
uint32_t reef__sql_count(const reef_world *w, const sql_table *t, reef_entity e);

/* ---- cells ---- */

/* "f32" ... */
const char *reef__sql_kind_name(reef_kind kind);
/* Are values of this field a single number, other than u64 and handles, and shown as a number? */
static inline bool sql_field_plain(const reef_field *f)
{
    static const uint8_t size[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 0, 4, 8, 0, 0};
    return f->bytes == size[f->kind] && f->names == NULL;
}
/* Gives a field of a value to a statement or as the result of a function. `field` NULL: all `size` bytes. */
int reef__sql_bind(sqlite3_stmt *s, int at, const reef_field *field, const void *value, size_t size);
void reef__sql_result(sqlite3_context *context, const reef_field *field, const void *value, size_t size);
/* Is the cell what reef__sql_bind writes for this field of this value? */
typedef enum cell_same { CELL_DIFFERS, CELL_SAME, CELL_NO_MEMORY } cell_same;
cell_same reef__sql_same(sqlite3_value *cell, const reef_field *field, const void *value, size_t size);
/* Writes a cell into a field of a value. REFUSED: `reason` says what is wrong with the cell; NO_MEMORY. Then the value
 * isn't changed. */
reef_status reef__sql_take(const reef_world *world, sqlite3_value *cell, const reef_field *field, void *value,
                           size_t size, char *reason);

#endif
