/* What the parts of a database file share: the connection, its records and its readable tables. */
#ifndef REEF_SQL_FILE_H
#define REEF_SQL_FILE_H

#include "reef_sqlite.h"
#include "table.h"

/* Statements that are about no type. */
typedef enum fixed_statement {
    ENTITY_INSERT,
    ENTITY_DELETE,
    ENTITY_NAME,
    ENTITY_PARENT,
    DISABLED_INSERT,
    DISABLED_DELETE,
    DISABLED_DELETE_ALL,
    TYPE_INSERT,
    COMMIT_INSERT,
    WHOLE_INSERT,
    FIXED_COUNT
} fixed_statement;

/* The table of a type in the file, with its statements, which are prepared at their first use. */
typedef struct file_table {
    sql_table t;
    sqlite3_stmt *insert, *update, *remove;
} file_table;

struct reef_sqlite {
    reef_world *world;
    sqlite3 *db;
    reef_snapshot *last; /* the state of the last commit; NULL: the file has none, or it must be written anew */
    uint64_t number;     /* of the last commit */
    uint64_t whole_bytes, change_bytes; /* of the newest whole world in the file, and of the differences behind it */
    bool history, read_only, raw;
    bool anew; /* the next commit writes the whole world and all tables */
    bool has_schema;
    bool some_disabled; /* there may be rows in the table `disabled` */
    sqlite3_stmt *fixed[FIXED_COUNT];
    file_table **tables;
    uint32_t table_count, table_room;
    uint32_t *by_type; /* by a type's id: number in `tables` + 1 */
    uint32_t type_room;
    reef_component parent; /* the relation that is entities.parent; {0}: there is none */
    char reason[SQL_REASON_MAX];
};

/* ---- errors (file.c) ---- */

/* Notes the message of SQLite, and answers the status that fits. */
reef_status reef__sql_failed(reef_sqlite *f, int code, const char *what);
/* Notes the world's last error. */
reef_status reef__sql_world_failed(reef_sqlite *f, const reef_world *w, reef_status s);
reef_status reef__sql_status(int code);
void reef__sql_note_nothing(void *context, const reef_load_note *note);
reef_status reef__sql_exec(reef_sqlite *f, const char *sql);
/* The same with a text made by sqlite3_mprintf, which is freed. */
reef_status reef__sql_exec_made(reef_sqlite *f, char *sql);
reef_status reef__sql_prepare(reef_sqlite *f, sqlite3_stmt **s, const char *sql);
/* Runs a statement that gives no rows, and resets it. */
reef_status reef__sql_step(reef_sqlite *f, sqlite3_stmt *s);
sqlite3_stmt *reef__sql_fixed(reef_sqlite *f, fixed_statement which, reef_status *status);
/* Begins a transaction that writes, after it has made sure that nobody else has committed. */
reef_status reef__sql_begin(reef_sqlite *f);
/* Undoes the transaction, and forgets what was known of the tables. */
void reef__sql_undo(reef_sqlite *f);
/* Writes a commit within the open transaction, and ends it. */
reef_status reef__sql_commit(reef_sqlite *f);

/* ---- the readable tables (mirror.c) ---- */

/* The table of a type; it is made if the file has none. NULL: *status says why. */
file_table *reef__sql_file_table(reef_sqlite *f, reef_component type, bool make, reef_status *status);
/* Writes what differs between two states. *changes: how many changes these are. */
reef_status reef__sql_mirror(reef_sqlite *f, const reef_world *before, const reef_world *after, uint64_t *changes);
/* Writes one row, or rows, as the world has them. */
reef_status reef__sql_mirror_component(reef_sqlite *f, file_table *t, reef_entity e);
reef_status reef__sql_mirror_entity(reef_sqlite *f, reef_entity e);
reef_status reef__sql_mirror_disabled(reef_sqlite *f, reef_entity e);
/* Drops all tables of the file, and makes the empty ones that are always there. */
reef_status reef__sql_schema(reef_sqlite *f);
/* Frees what is known of the tables and their statements. */
void reef__sql_tables_forget(reef_sqlite *f);
/* Compares all tables with a world. */
reef_status reef__sql_compare(reef_sqlite *f, const reef_world *w);

/* ---- the state as reef's own bytes (record.c) ---- */

/* Reads the state of the newest commit whose number is at most `number` into a world. */
reef_status reef__sql_read(reef_sqlite *f, reef_world *w, uint64_t number, const reef_load_desc *load);
/* Writes the state of `now` as the whole world of commit `number`. */
reef_status reef__sql_whole(reef_sqlite *f, reef_world *now, uint64_t number);
/* Writes the state of `now`, whole or as what it differs from `before`, as commit `number`. */
reef_status reef__sql_write(reef_sqlite *f, reef_world *before, reef_world *now, uint64_t number, bool whole,
                            uint64_t changes);

#endif
