/* Random statements of SQL for test_sql_beside.c: about the tables below, as they are over a living world and as plain
 * tables of SQLite. */
#ifndef REEF_TESTS_SQL_STATEMENT_H
#define REEF_TESTS_SQL_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum column_kind {
    COLUMN_ID,    /* an entity's id */
    COLUMN_COUNT, /* a whole number from 0 to 100 */
    COLUMN_WHOLE, /* a whole number that fits any kind of the column's name */
    COLUMN_REAL,  /* a multiple of 1/4 between -1000 and 1000, so that each sum is exact */
    COLUMN_TEXT,
    COLUMN_WIDE, /* u64 */
    COLUMN_LIST, /* an array in JSON */
    COLUMN_NAME  /* the name of a value, or names of bits */
} column_kind;

typedef struct statement_column {
    const char *name; /* quoted where SQL wants it */
    column_kind kind;
    const char *plain; /* what stands behind it in CREATE TABLE of the plain table */
} statement_column;

enum { STATEMENT_COLUMNS = 15, STATEMENT_TABLES = 18 };

typedef struct statement_table {
    const char *name;
    statement_column columns[STATEMENT_COLUMNS]; /* behind id (and number); up to one without a name */
    bool many;                                   /* an entity may have several rows, which have a number */
    bool relation;
    const char *rules; /* further rules of CREATE TABLE, or "" */
} statement_table;

/* The first one is entities. */
extern const statement_table statement_tables[STATEMENT_TABLES];
/* Triggers of the plain tables: what a world does by itself. */
extern const char statement_triggers[];

typedef struct statement {
    char live[16000], plain[16000]; /* they differ only in what plain SQLite doesn't have */
    const char *table;              /* of any_rows: whose rows are counted */
    bool writes;
    bool ordered;   /* rows come in one order only */
    bool any_rows;  /* a LIMIT without an order: which rows is open, how many isn't */
    bool refusable; /* it may also be refused: `query` stands where it can't be decided */
    bool gives_ids; /* `plain` has a %lld where the id stands that the living world gave */
} statement;

/* Makes the next statement. `fresh`: the next id that no entity has had; it is raised. `fill`: only one that adds
 * rows. */
void statement_make(statement *s, uint64_t *seed, int64_t *fresh, bool fill);

#endif
