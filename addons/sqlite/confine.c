/* What statements of a session may do, and how long. SQLite asks before it compiles each part of a statement, and comes
 * by while one runs. */
#include "live.h"
#include <string.h>
#include <time.h>

enum { STEPS = 100, TEXT_MAX = 1000000, SQL_MAX = 100000, DEPTH_MAX = 100, PATTERN_MAX = 100, PARTS_MAX = 50 };

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

/* Of a confined session. A table function such as json_each, when it is used first, is said to write a table of SQLite
 * itself; a statement can't name one there. */
static int confined_allow(reef_sql_session *s, int action, const char *table)
{
    const bool own = table && strncmp(table, "sqlite_", 7) == 0;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE: return s->read_only && !own ? denied(s, REEF_REFUSED, "the session is read-only") : SQLITE_OK;
    default: return denied(s, REEF_BAD_TEXT, "only SELECT, EXPLAIN, INSERT, UPDATE and DELETE are possible here");
    }
}

int reef__sql_allow(void *session, int action, const char *a, const char *b, const char *c, const char *d)
{
    reef_sql_session *s = session;
    (void)b, (void)c, (void)d;
    if (action == SQLITE_TRANSACTION || action == SQLITE_SAVEPOINT)
        return denied(s, REEF_BAD_TEXT,
                      "the statements of a call take effect together: BEGIN, COMMIT and SAVEPOINT aren't for them");
    return s->confined ? confined_allow(s, action, a) : SQLITE_OK;
}

int reef__sql_confine(reef_sql_session *s, sqlite3 *db)
{
    if (s->ms || s->bytes) sqlite3_progress_handler(db, STEPS, progress, s);
    if (!s->confined) return SQLITE_OK;
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, DEPTH_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, PARTS_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_MAX);
    (void)sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    return sqlite3_exec(db, "pragma temp_store = memory", NULL, NULL, NULL); /* sorting writes no file */
}
