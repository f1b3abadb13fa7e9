/* The connection to a database file, and its statements. */
#ifndef REEF_SQL_STATEMENT_H
#define REEF_SQL_STATEMENT_H

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

/* Notes the message of SQLite, and answers the status that fits. */
reef_status reef__sql_failed(reef_sqlite *f, int code, const char *what);
/* Notes the world's last error. */
reef_status reef__sql_world_failed(reef_sqlite *f, const reef_world *w, reef_status s);
reef_status reef__sql_status(int code);
reef_status reef__sql_exec(reef_sqlite *f, const char *sql);
/* The same with a text made by sqlite3_mprintf, which is freed. */
reef_status reef__sql_exec_made(reef_sqlite *f, char *sql);
reef_status reef__sql_prepare(reef_sqlite *f, sqlite3_stmt **s, const char *sql);
/* The first number of the first row; 0 if there is none. A parameter gets the value `bound`. */
reef_status reef__sql_number(reef_sqlite *f, const char *sql, sqlite3_int64 bound, uint64_t *number);
/* Runs a statement that gives no rows, and resets it. */
reef_status reef__sql_step(reef_sqlite *f, sqlite3_stmt *s);

#endif
