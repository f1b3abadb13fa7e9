/* What the parts of a database file share: commits, records and readable tables. */
#ifndef REEF_SQL_FILE_H
#define REEF_SQL_FILE_H

#include "reef_sqlite.h"
#include "statement.h"
#include "table.h"

/* ---- commits (file.c) ---- */

/* Begins a transaction that writes, after it has made sure that nobody else has committed. */
reef_status reef__sql_begin(reef_sqlite *f);
/* Undoes the transaction, and forgets what was known of the tables. */
void reef__sql_undo(reef_sqlite *f);
/* Writes a commit within the open transaction, and ends it. */
reef_status reef__sql_commit(reef_sqlite *f);

/* ---- the readable tables (mirror.c) ---- */

/* The table of a type; it is made if the file has none. NULL: *status says why. */
file_table *reef__sql_file_table(reef_sqlite *f, reef_component type, bool make, reef_status *status);
/* A statement that is about no type. NULL: *status says why. */
sqlite3_stmt *reef__sql_fixed(reef_sqlite *f, fixed_statement which, reef_status *status);
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
