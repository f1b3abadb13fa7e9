/* Why a call of a session failed: for its caller, and for SQLite. */
#include "live.h"
#include <stdio.h>

int reef__sql_live_failed(reef_sql_session *s, sqlite3_vtab *v, reef_status status, const char *text)
{
    if (s->status == REEF_OK) {
        s->status = status;
        (void)snprintf(s->reason, sizeof s->reason, "%s", text);
    }
    if (v) {
        sqlite3_free(v->zErrMsg);
        v->zErrMsg = sqlite3_mprintf("%s", text);
    }
    return status == REEF_NO_MEMORY ? SQLITE_NOMEM : SQLITE_ERROR;
}

int reef__sql_live_world_failed(reef_sql_session *s, sqlite3_vtab *v, const reef_world *w)
{
    char text[SQL_REASON_MAX];
    (void)reef_error_text(w, text, sizeof text);
    return reef__sql_live_failed(s, v, reef_last_error(w).status, text);
}
