/* SQL over a living world: what its parts share.
 *
 *     session.c   statements: preparing, stepping, all or nothing
 *     live.c      the tables: which there are, their columns, what of a WHERE is pushed down to a cursor
 *     scan.c      cursors: rows of a table, as SQLite asks for them
 *     batch.c     aggregates over whole blocks
 *     write.c     UPDATE, INSERT, DELETE: the calls that change the world
 *     row_number.c  which value of an entity a row number means while a statement changes them
 *     returning.c the RETURNING of an INSERT
 *     confine.c   what a session forbids, and its limits
 *     sql_token.c words of a statement
 *     bounded.c   the functions that a confined session may call
 *     json.c      answers as JSON
 *
 * A scan of a component is a loop over a query; a cursor hands out its blocks row by row. */
#ifndef REEF_SQL_LIVE_H
#define REEF_SQL_LIVE_H

#include "reef_sqlite.h"
#include "table.h"

enum {
    LIVE_FILTERS = 8,
    LIVE_SCANS = 16,
    LIVE_PASTS = 4,
    LIVE_PARTS = 16,
    LIVE_TYPE_IDS = 1 << 17,
    LIVE_QUERY_BYTES = 4096, /* of the text of a query in a confined session */
    LIVE_COPIES = 1000       /* of parts of a WITH, there too */
};

typedef enum live_kind {
    LIVE_COMPONENT, /* a component type; relations too */
    LIVE_QUERY,     /* CREATE VIRTUAL TABLE t USING reef_query('Position, in Velocity') */
    LIVE_ENTITIES,
    LIVE_DISABLED,
    LIVE_SINGLETONS,
    LIVE_TYPES,
    LIVE_FIELDS
} live_kind;

typedef struct live_cursor live_cursor;

/* Where the values of a column are. */
typedef struct live_column {
    uint32_t part;           /* of the table */
    const reef_field *field; /* NULL: all bytes of the value */
} live_column;

/* A table, shared by the connections of a session. The columns are: id, number if `many`, those of the parts, and then
 * the hidden ones, `query` and `at`. */
typedef struct live_table {
    reef_sql_session *session;
    live_kind kind;
    char *text;       /* LIVE_QUERY: the query */
    sql_table *parts; /* a component has one; a query one for each term with values */
    uint32_t part_count;
    live_column *columns;
    uint32_t column_count;
    uint32_t first;    /* number of the first of them */
    uint32_t hidden;   /* number of `query`; `at` comes behind */
    uint64_t named[2]; /* the last statement that has named each of them */
    struct live_table *next_old;
} live_table;

typedef struct live_vtab {
    sqlite3_vtab base;
    live_table *table;
    bool owned; /* the table goes with it */
} live_vtab;

/* A comparison of a number in a row with a constant, which the cursor decides. */
typedef struct live_filter {
    uint32_t column; /* in live_table.columns */
    int op;          /* SQLITE_INDEX_CONSTRAINT_... */
    bool whole;
    int64_t i;
    double r;
} live_filter;

/* A query that `query` is compared with: rows whose entities match none of them are skipped. */
typedef struct live_match {
    reef_query query;
    char *text;
} live_match;

typedef struct live_values live_values;

/* One place of a result that isn't a component's value: tables whose rows are listed before they are read. */
typedef struct live_row {
    reef_entity e;
    reef_component type;
    uint32_t number;
} live_row;

struct reef_sql_session {
    reef_world *world;
    reef_sqlite *past;
    sqlite3 *db;
    sqlite3 *batch_db;   /* a second connection, whose aggregates take blocks; NULL: not opened yet */
    bool batch;          /* the statement that runs is one of it */
    uint64_t blocks;     /* that scans have opened */
    uint64_t batch_rows; /* rows of its current block */
    bool read_only, writes, confined;
    uint32_t ms;    /* limits of a call */
    uint64_t bytes; /* of SQLite's memory */
    bool limited;   /* a call runs */
    uint64_t began_ms;
    int64_t bytes_before;
    bool row_limits; /* a row function that returns false has enough of this statement; only its writes go on */
    /* of reef_sql_json: before and behind a statement; `changed`: rows of the world */
    void (*begins)(void *context, sqlite3_stmt *st);
    bool (*ends)(void *context, uint64_t changed); /* false: no memory */
    live_table **tables;
    uint32_t table_count, table_room, types_known;
    live_table *old;                /* of types whose names lead to other layouts now */
    live_cursor *cursors;           /* that are open */
    live_cursor *scans[LIVE_SCANS]; /* of these, those within a block of the world */
    uint32_t scan_count;
    uint64_t past_tick[LIVE_PASTS];
    reef_world *past_world[LIVE_PASTS];
    uint32_t past_next;
    /* of the statement that writes: see row_number.c */
    live_values **values; /* a hash table */
    uint32_t values_count, values_room;
    uint64_t written;   /* rows */
    live_row *inserted; /* for RETURNING; only while `returns` */
    uint32_t inserted_count, inserted_room;
    bool returns;
    uint64_t statement; /* number of the one that is prepared or runs */
    sqlite3 *plain_db;  /* of a confined session: SQLite's own functions, see bounded.c; NULL: not opened yet */
    reef_status status; /* of the first failure that has a better status than SQLite's code */
    char reason[SQL_REASON_MAX];
};

struct live_cursor {
    sqlite3_vtab_cursor base;
    live_table *table;
    live_cursor *next_open;
    reef_world *world; /* the session's, or one of the past */
    reef_query query;  /* of a scan; it is kept for the next time */
    reef_world *query_world;
    live_match *matches;
    uint32_t match_count, match_room;
    bool past; /* `at =` was given */
    int64_t tick;
    reef_component *joined; /* types of other cursors' tables, which the query reads as well */
    uint32_t joined_count;
    bool scans, over;
    live_filter filters[LIVE_FILTERS];
    uint32_t filter_count;
    /* a scan */
    reef_block block;
    uint64_t block_number;           /* names the block among those of all cursors */
    const char *base_at[LIVE_PARTS]; /* of each part: its values in this block; NULL: in pieces, or not there */
    uint32_t i, end;                 /* the row, and the end of the run of matching rows */
    uint32_t run_end;                /* in a batch: the end of the rows that are handed out at once */
    /* a list */
    live_row *rows;
    uint32_t row_count, row_room, at;
    void *room; /* for a value in pieces */
    size_t room_bytes;
    bool looks_up; /* the last row was looked up by id alone, and met another cursor's scan */
    /* a lookup: the value, which lies in a block of another cursor's scan */
    const char *value;
    uint64_t from_block;
    const char *from_base;
    /* rows by a value: the index, for one statement; what it finds */
    const struct reef_index *values;
    uint64_t values_statement;
    reef_entity *found;
    uint32_t found_room;
    /* entities by their index */
    uint32_t index, index_end;
    reef_entity one;
};

extern const sqlite3_module reef__sql_live_module, reef__sql_query_module;

/* ---- failure.c ---- */

/* Notes why a call failed, for the session's caller, and gives SQLite the text. */
int reef__sql_live_failed(reef_sql_session *s, sqlite3_vtab *v, reef_status status, const char *text);
int reef__sql_live_world_failed(reef_sql_session *s, sqlite3_vtab *v, const reef_world *w);

/* ---- live.c ---- */

/* Makes the modules of a connection: those of all types that the process knows by now. */
int reef__sql_live_register(reef_sql_session *s, sqlite3 *db);
void reef__sql_live_drop(reef_sql_session *s);
/* The table of the world that has this name; NULL: none. Not one of a query. */
live_table *reef__sql_table_find(const reef_sql_session *s, const char *name);
/* The number of a plan that is a lookup by id, and nothing else. */
enum { LIVE_PLAN_ID = 1 };
int reef__sql_best_index(sqlite3_vtab *v, sqlite3_index_info *info);

/* ---- scan.c ---- */

int reef__sql_open(sqlite3_vtab *v, sqlite3_vtab_cursor **c);
int reef__sql_close(sqlite3_vtab_cursor *c);
int reef__sql_filter(sqlite3_vtab_cursor *c, int plan, const char *text, int count, sqlite3_value **values);
int reef__sql_next(sqlite3_vtab_cursor *c);
int reef__sql_eof(sqlite3_vtab_cursor *c);
int reef__sql_column(sqlite3_vtab_cursor *c, sqlite3_context *context, int column);
int reef__sql_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *rowid);

/* ---- batch.c ---- */

/* A run of values of a block, as the argument of an aggregate. */
typedef struct live_batch {
    const char *at;
    size_t stride;
    reef_kind kind;
    uint32_t count;
} live_batch;
#define LIVE_BATCH "reef_batch"
/* Can this statement be run with aggregates over blocks? */
bool reef__sql_batch_possible(sqlite3 *db, const char *sql);
/* Gives a connection the aggregates. */
int reef__sql_batch_functions(reef_sql_session *s, sqlite3 *db);

/* ---- confine.c ---- */

#define LIVE_HIDDEN_WRITTEN "query and at can't be written"

/* Sets what a new connection of a session may do. */
int reef__sql_confine(reef_sql_session *s, sqlite3 *db);
/* Begin and end what is limited of a call: its time and its memory. */
void reef__sql_limits_begin(reef_sql_session *s);
void reef__sql_limits_end(reef_sql_session *s);
/* What statements of a call may do: an authorizer of SQLite. */
int reef__sql_allow(void *session, int action, const char *a, const char *b, const char *c, const char *d);

/* ---- bounded.c ---- */

/* Sets how long texts, statements and lists of arguments may be. */
void reef__sql_lengths(sqlite3 *db);
/* May a confined session call this function? */
bool reef__sql_function_allowed(const char *name);
/* Replaces the functions whose single call may take too long. */
int reef__sql_bound(reef_sql_session *s, sqlite3 *db);

/* ---- row_number.c ---- */

/* The row number of a value of a type of which an entity may have several, in a statement that writes. */
int reef__sql_row_number(reef_sql_session *s, const live_table *t, reef_entity e, uint32_t number,
                         sqlite3_int64 *rowid);
typedef enum row_found { ROW_THERE, ROW_GONE, ROW_UNKNOWN } row_found;
/* Finds the value of a row number as the world is now. UNKNOWN: an observer has changed the entity's values, so which
 * of them it was can't be said. */
row_found reef__sql_row_find(const reef_sql_session *s, const live_table *t, sqlite3_int64 rowid, reef_entity *e,
                             uint32_t *number);
/* Tells that the statement has removed a value, or added one behind the others. */
void reef__sql_row_removed(const reef_sql_session *s, const live_table *t, reef_entity e, uint32_t number);
void reef__sql_row_added(const reef_sql_session *s, const live_table *t, reef_entity e);
/* Ends what is known of a statement. */
void reef__sql_rows_forget(reef_sql_session *s);

/* ---- returning.c ---- */

/* An INSERT with RETURNING as two statements: SQLite gives only what the INSERT names, so the rest is selected. */
typedef struct returning {
    char *insert, *select; /* sqlite3_free; NULL: it isn't one about a table of the world */
} returning;
/* SQLite's code. */
int reef__sql_returning_split(const reef_sql_session *s, const char *sql, returning *r);

/* ---- write.c ---- */

int reef__sql_update(sqlite3_vtab *v, int count, sqlite3_value **values, sqlite3_int64 *rowid);
/* Writes a component of an entity, or adds it. A cell that is NULL in C isn't written. `number`: of several values. */
reef_status reef__sql_component_set(reef_world *w, const sql_table *t, reef_entity e, uint32_t number,
                                    sqlite3_value *const *cells, char *reason);
reef_status reef__sql_component_remove(reef_world *w, const sql_table *t, reef_entity e, uint32_t number, char *reason);
/* What is to change of an entity: its name (NULL: none) and its parent ({0}: none). */
typedef struct sql_entity_edit {
    bool names, moves;
    const char *name;
    reef_entity parent;
} sql_entity_edit;
reef_status reef__sql_entity_set(reef_world *w, reef_entity e, const sql_entity_edit *edit, char *reason);
/* The world's last error as a reason. */
reef_status reef__sql_reason(const reef_world *w, reef_status s, char *reason);
/* Makes the entity that a row names by its id. An id that leaves out more than SQL_IDS_LEFT_OUT indices is REFUSED:
 * each index takes memory, and one row could take all there is. */
enum { SQL_IDS_LEFT_OUT = 1 << 20 };
reef_status reef__sql_create_as(reef_world *w, reef_entity e, char *reason);

#endif
