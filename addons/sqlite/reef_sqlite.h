/* reef and SQLite: a world as a database file, and SQL over a living world.
 *
 *     reef_sqlite *file;
 *     reef_sqlite_open(world, "world.db", NULL, &file, reason);   the world gets the state in the file, if there is one
 *     ... every tick, or every few:  reef_sqlite_commit(file);    what has changed, in one transaction
 *     reef_sqlite_close(file);
 *
 *     reef_sql(world, "select name, x from Position join entities using (id) where x > 10", print_row, NULL, reason);
 *
 * This is a separate library, which uses libsqlite3 (3.38 or newer) and reef's public headers. The manual's page is
 * docs/manual/sql.md. All its memory comes from SQLite's allocator, and that of worlds from theirs.
 *
 * An entity's id in SQL is its index + 2^32 * (generation - 1). So the id of an entity that is the first with its index
 * is that index, and no two entities of a world ever have the same id.
 *
 * `reason` may be NULL, or has room for REEF_SQLITE_REASON_MAX bytes: why the call failed, with SQLite's own message;
 * "" when it didn't. Statuses of all calls, beside those that a comment names: IO (SQLite can't read or write: the disk
 * is full, the file is read-only, or locked by another process for longer than wait_ms), CORRUPT (the file is damaged
 * or isn't a database), NO_MEMORY, BAD_ARGUMENT (something is NULL). After a failure the world and the file are as they
 * were. A file and a session belong to the thread that uses their world. */
#ifndef REEF_SQLITE_H
#define REEF_SQLITE_H

#include "reef.h"
#include "reef/file.h"

REEF_BEGIN_C

enum { REEF_SQLITE_REASON_MAX = 512 };

/* ---- a world as a database file ---- */

/* A database file in which a world is kept. */
typedef struct reef_sqlite reef_sqlite;

/* How a file is opened; {0}: all defaults. */
typedef struct reef_sqlite_desc {
    bool history;   /* keep all commits for reef_sqlite_at, until reef_sqlite_forget */
    bool unsynced;  /* commits don't wait for the disk: a crash of the system may lose the last ones, nothing else */
    bool read_only; /* never write: commits are refused with IO */
    /* how long a call waits for another process that has locked the file; 0: 1,000 ms */
    uint32_t wait_ms;
    reef_load_desc load; /* as for reef_load */
} reef_sqlite_desc;

/* Opens a file for a world. If it holds a world, `world` gets that state, exactly, as by reef_load; so add the systems
 * before. Otherwise the world isn't changed, and the first commit writes all of it; a database with tables of other
 * programs is left as it is beside them. The caller owns *file, and closes it before the world is freed. Errors: as
 * reef_load (the file holds the bytes of saved worlds); NOT_PORTABLE (types have changed since the program was killed:
 * see reef_sqlite_compact); NOT_COPYABLE (as reef_snapshot_take). */
reef_status reef_sqlite_open(reef_world *world, const char *path, const reef_sqlite_desc *desc, reef_sqlite **file,
                             char *reason);
/* Writes what has changed since the last commit, in one transaction: the rows of the tables that people read, and the
 * difference as reef's own bytes, from which the file is opened. It costs what has changed. The world may be loaded and
 * restored between commits; that is a change like any other. Errors: as reef_save and reef_snapshot_take; OTHER_STATE
 * (another process has committed to this file). Then the next commit writes these changes as well. */
reef_status reef_sqlite_commit(reef_sqlite *file);
/* Writes the whole world anew in place of the differences, and all tables. A program whose types have changed can open
 * the file then. Closing does the same with the differences when there are some. Errors: as reef_sqlite_commit. */
reef_status reef_sqlite_compact(reef_sqlite *file);
/* Closes a file. It commits nothing, so commit before. What was committed is folded into one piece; where that fails,
 * the file stays as it is, which is as good. NULL is allowed. */
void reef_sqlite_close(reef_sqlite *file);
/* Why the last call on this file failed; "": it didn't. It lives until the next call. */
const char *reef_sqlite_reason(const reef_sqlite *file);
/* The number of the last commit, from 1; 0: there was none. */
uint64_t reef_sqlite_number(const reef_sqlite *file);
/* Checks the file: SQLite's integrity_check, and every row of the readable tables against the last commit. Errors:
 * CORRUPT (the reason names the first row that differs). Costs O(world). */
reef_status reef_sqlite_check(reef_sqlite *file);

/* ---- what others have written into the tables ---- */

/* Calls `refused` for each row that isn't taken, with the table, the id, and the reason. */
typedef void (*reef_sqlite_refused)(void *context, const char *table, int64_t id, const char *reason);
/* How many rows were taken, and refused. */
typedef struct reef_sqlite_edits {
    uint64_t taken, refused;
} reef_sqlite_edits;
/* Takes in what other programs have written into the tables of entities, components, relations and of what is disabled,
 * since the last time: rows that were updated, inserted and deleted. Triggers in the file note which rows these are.
 * Each row is checked and applied to the world by the calls that C programs use, so hooks and observers are called. A
 * row that is refused is set back to what the world has. Then everything is committed. Until this call foreign edits
 * wait in the file, and the world wins where it changes the same row. `refused` and `edits` may be NULL. Errors: as
 * reef_sqlite_commit; then the world and the file are as they were. */
reef_status reef_sqlite_pull(reef_sqlite *file, reef_sqlite_refused refused, void *context, reef_sqlite_edits *edits);

/* ---- history ---- */

/* Makes a world in the state of the last commit whose tick is `tick` or earlier. The caller frees it. Errors:
 * BAD_ARGUMENT (no such commit is kept). Only a file that was opened with `history` keeps more than the newest. */
reef_status reef_sqlite_at(reef_sqlite *file, uint64_t tick, reef_world **world);
/* Forgets the commits before the state that reef_sqlite_at(tick) gives, and returns their space. */
reef_status reef_sqlite_forget(reef_sqlite *file, uint64_t tick);

/* ---- SQL over a living world ---- */

/* The kinds of values in SQL. */
typedef enum reef_sql_kind {
    REEF_SQL_NULL = 0,
    REEF_SQL_INTEGER,
    REEF_SQL_REAL,
    REEF_SQL_TEXT,
    REEF_SQL_BLOB
} reef_sql_kind;

/* A value of a row, and the name of its column. */
typedef struct reef_sql_value {
    const char *name;
    reef_sql_kind kind;
    int64_t integer;  /* of an integer; of a real cut off */
    double real;      /* of a real or integer */
    const char *text; /* any kind as a text with a zero at its end; NULL for REEF_SQL_NULL; the bytes of a blob */
    size_t size;      /* bytes of text */
} reef_sql_value;
/* Called for each row of a result. The values live until it returns. If it returns false, the call stops with
 * CANCELLED. It must not change the world. */
typedef bool (*reef_sql_row)(void *context, uint32_t count, const reef_sql_value *values);

/* Runs one or several statements over the world as it is: its tables are entities(id, generation, name, parent), one
 * for each component type, disabled, singletons, types and fields (docs/manual/sql.md). No row is copied. UPDATE,
 * INSERT and DELETE call what C programs call. All statements of a call take effect, or none. `row` may be NULL.
 * Statements run in the locale "C" on this thread, and so does what they call: hooks, observers and `row`.
 * Errors: BAD_TEXT (the statement, by SQLite's message), LOCKED (a loop is open, or systems run), REFUSED (a row can't
 * be written: the reason says why), CANCELLED, LIMIT (a text is too long for SQLite), and those of the calls that
 * change the world. */
reef_status reef_sql(reef_world *world, const char *statements, reef_sql_row row, void *context, char *reason);

/* A session keeps the connection, temporary tables and views for further statements. */
typedef struct reef_sql_session reef_sql_session;
typedef struct reef_sql_desc {
    bool read_only;    /* refuse statements that change the world */
    reef_sqlite *past; /* with it, tables have the states of its commits: where at = 120 (a tick); NULL: without */
    /* for statements that strangers have written: SELECT, EXPLAIN, INSERT, UPDATE and DELETE on the tables of the world
     * are possible, and nothing else. So no file is read or written. A text has 1,000,000 bytes at most, and what may
     * be handed to one function is bounded, so that no step takes 100 ms (docs/manual/sql.md); beyond that: LIMIT */
    bool confined;
    uint32_t ms; /* a call that takes longer ends with CANCELLED; 0: no limit */
    /* a call ends with NO_MEMORY when SQLite holds so many bytes more than at its beginning; 0: no limit. SQLite counts
     * for the whole process. What the world takes isn't counted */
    uint64_t bytes;
} reef_sql_desc;
/* Begins a session over a world, which must live longer. NULL desc: all defaults. */
reef_status reef_sql_open(reef_world *world, const reef_sql_desc *desc, reef_sql_session **session, char *reason);
/* As reef_sql. */
reef_status reef_sql_run(reef_sql_session *session, const char *statements, reef_sql_row row, void *context,
                         char *reason);
/* NULL is allowed. */
void reef_sql_close(reef_sql_session *session);

/* Runs statements that strangers have written, such as those of a prompt in the browser, in a confined session, and
 * writes the answer as JSON: an array with an object for each statement,
 *
 *     [{"columns": ["id", "x"], "rows": [[0, 1.5], [1, null]], "more": false, "changed": 0}]
 *
 * `more`: there are rows that the answer doesn't have. `changed`: rows of the world that were written. Blobs are texts
 * of hexadecimal digits; whole numbers beyond 2^53 and infinities are texts, too. Limits: 1,000 rows a statement, 2,000
 * ms, 64 MiB of SQLite's memory, 4 MiB of answer. `to` is called once, when all has gone well. The add-on
 * reef_inspector takes this function as reef_inspector_config.sql. Errors: as reef_sql_run with such a session; REFUSED
 * with `read_only`: a statement would change the world; LIMIT (a text is too long); and what `to` returns, but then
 * what was changed stays. */
reef_status reef_sql_json(reef_world *world, const char *statements, bool read_only, reef_writer to, char *reason);

/* ---- tables of other databases as entities ---- */

typedef struct reef_sqlite_imported {
    uint64_t entities, relations;
} reef_sqlite_imported;
/* Makes an entity with one component for each row of the tables of an SQLite file. A table becomes a component type of
 * its name, with a field for each column, unless the program has one: then the columns go to the fields of the same
 * names. Integers become i64, reals f64, texts char arrays as long as the longest. A foreign key becomes an exclusive
 * relation "table.column" to the entity of the row it names. `table` NULL: all tables. Errors: BAD_ARGUMENT (no such
 * table), REFUSED (a row doesn't fit into the program's type), LIMIT, and as reef_spawn; then nothing is made. */
reef_status reef_sqlite_import(reef_world *world, const char *path, const char *table, reef_sqlite_imported *imported,
                               char *reason);

REEF_END_C

#endif
