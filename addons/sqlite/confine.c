/* What statements of a session may do, and how long. SQLite asks before it compiles each part of a statement, and comes
 * by while one runs. */
#include "live.h"
#include <string.h>
#include <time.h>

enum { STEPS = 100 };

static uint64_t time_ms(void)
{
    struct timespec t = {0};
    (void)timespec_get(&t, TIME_UTC);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void reef__sql_limits_begin(reef_sql_session *s)
{
    s->limited = true;
    s->began_ms = s->ms ? time_ms() : 0;
    s->bytes_before = sqlite3_memory_used();
}

void reef__sql_limits_end(reef_sql_session *s) { s->limited = false; }

/* Called each STEPS steps of SQLite's virtual machine. Nonzero: the statement ends. */
static int progress(void *session)
{
    reef_sql_session *s = session;
    char why[SQL_REASON_MAX];
    if (!s->limited) return 0;
    if (s->bytes && sqlite3_memory_used() - s->bytes_before > (int64_t)s->bytes) {
        (void)snprintf(why, sizeof why, "it takes more than %llu bytes of memory", (unsigned long long)s->bytes);
        (void)reef__sql_live_failed(s, NULL, REEF_NO_MEMORY, why);
        return 1;
    }
    const uint64_t now = s->ms ? time_ms() : 0;
    if (now < s->began_ms) s->began_ms = now; /* the clock was set back */
    if (now - s->began_ms <= s->ms) return 0;
    (void)snprintf(why, sizeof why, "it takes longer than %u ms", (unsigned)s->ms);
    (void)reef__sql_live_failed(s, NULL, REEF_CANCELLED, why);
    return 1;
}

static int denied(reef_sql_session *s, reef_status status, const char *why)
{
    (void)reef__sql_live_failed(s, NULL, status, why);
    return SQLITE_DENY;
}

/* The tables that may be read: those of the world, two table functions, and the schema. What stands in the statement
 * itself isn't asked for, or without a column. */
static bool confined_reads(const reef_sql_session *s, const char *table, const char *column)
{
    static const char *const others[] = {"json_each",     "json_tree",          "sqlite_master",
                                         "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"};
    if (table == NULL || column == NULL || column[0] == 0 || reef__sql_table_find(s, table)) return true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (sqlite3_stricmp(table, others[i]) == 0) return true;
    return false;
}

/* Of a confined session. A table function such as json_each, when it is used first, is said to write a table of SQLite
 * itself; a statement can't name one there. */
static int confined_allow(reef_sql_session *s, int action, const char *table, const char *name)
{
    const bool own = table && strncmp(table, "sqlite_", 7) == 0;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_READ:
        return confined_reads(s, table, name) ? SQLITE_OK
                                              : denied(s, REEF_BAD_TEXT, "only tables of the world can be read here");
    case SQLITE_FUNCTION:
        return reef__sql_function_allowed(name) ? SQLITE_OK
                                                : denied(s, REEF_BAD_TEXT, "this function can't be called here");
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE: return s->read_only && !own ? denied(s, REEF_REFUSED, "the session is read-only") : SQLITE_OK;
    default: return denied(s, REEF_BAD_TEXT, "only SELECT, EXPLAIN, INSERT, UPDATE and DELETE are possible here");
    }
}

/* Notes that a statement names a hidden column of a table of the world. False: it's another column. */
static bool hidden_note(const reef_sql_session *s, const char *table, const char *column)
{
    if (table == NULL || column == NULL) return false;
    const bool query = sqlite3_stricmp(column, "query") == 0;
    if (!query && sqlite3_stricmp(column, "at") != 0) return false;
    live_table *t = reef__sql_table_find(s, table);
    if (t) t->named[!query] = s->statement;
    return t != NULL;
}

int reef__sql_allow(void *session, int action, const char *a, const char *b, const char *c, const char *d)
{
    reef_sql_session *s = session;
    (void)c, (void)d;
    const bool hidden = (action == SQLITE_READ || action == SQLITE_UPDATE) && hidden_note(s, a, b);
    if (hidden && action == SQLITE_UPDATE) return denied(s, REEF_REFUSED, LIVE_HIDDEN_WRITTEN);
    if (action == SQLITE_TRANSACTION || action == SQLITE_SAVEPOINT)
        return denied(s, REEF_BAD_TEXT,
                      "the statements of a call take effect together: BEGIN, COMMIT and SAVEPOINT aren't for them");
    return s->confined ? confined_allow(s, action, a, b) : SQLITE_OK;
}

int reef__sql_confine(reef_sql_session *s, sqlite3 *db)
{
    if (s->ms || s->bytes) sqlite3_progress_handler(db, STEPS, progress, s);
    if (!s->confined) return SQLITE_OK;
    reef__sql_lengths(db);
    const int code = reef__sql_bound(s, db);
    if (code != SQLITE_OK) return code;
    return sqlite3_exec(db, "pragma temp_store = memory", NULL, NULL, NULL); /* sorting writes no file */
}
