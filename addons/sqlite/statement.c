/* Statements of a database file's connection, and what SQLite says when one fails. */
#include "statement.h"
#include <stdio.h>

reef_status reef__sql_status(int code)
{
    switch (code & 0xFF) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return REEF_OK;
    case SQLITE_NOMEM: return REEF_NO_MEMORY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return REEF_CORRUPT;
    case SQLITE_INTERRUPT: return REEF_CANCELLED;
    case SQLITE_TOOBIG: return REEF_LIMIT;
    default: return REEF_IO;
    }
}

reef_status reef__sql_failed(reef_sqlite *f, int code, const char *what)
{
    const char *says = code == SQLITE_NOMEM || f->db == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(f->db);
    (void)snprintf(f->reason, sizeof f->reason, "%s: %s", what, says);
    return reef__sql_status(code);
}

reef_status reef__sql_world_failed(reef_sqlite *f, const reef_world *w, reef_status s)
{
    if (w && reef_last_error(w).status == s) (void)reef_error_text(w, f->reason, sizeof f->reason);
    else (void)snprintf(f->reason, sizeof f->reason, "%s", reef_status_text(s));
    return s;
}

/* A statement's text is too long for a message: its first words say what it is. */
static reef_status text_failed(reef_sqlite *f, int code, const char *sql)
{
    char what[48];
    (void)snprintf(what, sizeof what, "%.40s", sql);
    return reef__sql_failed(f, code, what);
}

reef_status reef__sql_exec(reef_sqlite *f, const char *sql)
{
    const int code = sqlite3_exec(f->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? REEF_OK : text_failed(f, code, sql);
}

reef_status reef__sql_exec_made(reef_sqlite *f, char *sql)
{
    if (sql == NULL) return reef__sql_failed(f, SQLITE_NOMEM, "SQLite's allocator");
    const reef_status status = reef__sql_exec(f, sql);
    sqlite3_free(sql);
    return status;
}

reef_status reef__sql_prepare(reef_sqlite *f, sqlite3_stmt **s, const char *sql)
{
    const int code = sqlite3_prepare_v2(f->db, sql, -1, s, NULL);
    return code == SQLITE_OK ? REEF_OK : text_failed(f, code, sql);
}

reef_status reef__sql_step(reef_sqlite *f, sqlite3_stmt *s)
{
    const int code = sqlite3_step(s);
    reef_status status = REEF_OK;
    if (code != SQLITE_DONE) status = text_failed(f, code, sqlite3_sql(s));
    (void)sqlite3_reset(s);
    return status;
}

reef_status reef__sql_number(reef_sqlite *f, const char *sql, sqlite3_int64 bound, uint64_t *number)
{
    sqlite3_stmt *s = NULL;
    *number = 0;
    reef_status status = reef__sql_prepare(f, &s, sql);
    if (status != REEF_OK) return status;
    if (sqlite3_bind_parameter_count(s)) (void)sqlite3_bind_int64(s, 1, bound);
    const int code = sqlite3_step(s);
    if (code == SQLITE_ROW) *number = (uint64_t)sqlite3_column_int64(s, 0);
    else if (code != SQLITE_DONE) status = text_failed(f, code, sql);
    sqlite3_finalize(s);
    return status;
}
