/* Statements over a living world. A call runs its statements one after the other. Before the first one that changes
 * something it takes a snapshot of the world and opens a transaction; when one fails, both go back. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L /* for the locale */
#endif
#include "live.h"
#include "sql_token.h"
#include "../shared/plain_locale.h"
#include <string.h>

static void reason_give(char *to, const char *reason)
{
    if (to) (void)snprintf(to, REEF_SQLITE_REASON_MAX, "%s", reason);
}

static reef_status session_failed(reef_sql_session *s, sqlite3 *db, int code)
{
    if (s->status == REEF_OK) {
        (void)snprintf(s->reason, sizeof s->reason, "%s", sqlite3_errmsg(db));
        s->status = code == SQLITE_ERROR || (code & 0xFF) == SQLITE_AUTH ? REEF_BAD_TEXT
                    : (code & 0xFF) == SQLITE_CONSTRAINT                 ? REEF_REFUSED
                    : (code & 0xFF) == SQLITE_NOMEM                      ? REEF_NO_MEMORY
                    : (code & 0xFF) == SQLITE_TOOBIG                     ? REEF_LIMIT
                                                                         : REEF_IO;
    }
    return s->status;
}

/* ---- functions ---- */

/* reef_name(id): the name; of an entity without one its handle, "7v1"; NULL where there is none */
static void name_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    const reef_sql_session *s = sqlite3_user_data(context);
    char handle[32];
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_INTEGER) return;
    const reef_entity e = sql_entity(sqlite3_value_int64(values[0]));
    const char *name = reef_name(s->world, e);
    (void)snprintf(handle, sizeof handle, "%uv%u", (unsigned)e.index, (unsigned)e.generation);
    if (reef_is_alive(s->world, e)) sqlite3_result_text(context, name ? name : handle, -1, SQLITE_TRANSIENT);
}

/* reef_id(name or handle): the id; NULL where there is no such entity */
static void id_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    const reef_sql_session *s = sqlite3_user_data(context);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    unsigned index, generation;
    char end;
    (void)count;
    if (text == NULL) return;
    reef_entity e = reef_find(s->world, text);
    if (e.generation == 0 && sscanf(text, "%uv%u%c", &index, &generation, &end) == 2)
        e = (reef_entity){index, generation};
    if (reef_is_alive(s->world, e)) sqlite3_result_int64(context, sql_id(e));
}

/* The field of this name, such as 'Crew.mood'; NULL: there is none. */
static const reef_field *field_of_text(const char *text)
{
    char type[REEF_TYPE_NAME_MAX + 1];
    reef_type_info info;
    for (const char *dot = text ? strchr(text, '.') : NULL; dot; dot = strchr(dot + 1, '.')) {
        (void)snprintf(type, sizeof type, "%.*s", (int)(dot - text), text);
        if ((size_t)(dot - text) >= sizeof type || !reef_type_get(reef_type_find(type), &info)) continue;
        for (uint32_t i = 0; i < info.field_count; i++)
            if (strcmp(info.fields[i].name, dot + 1) == 0) return &info.fields[i];
    }
    return NULL;
}

/* reef_number('Crew.mood', mood): the number of a value that is shown by its name */
static void number_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    const reef_field *f = field_of_text((const char *)sqlite3_value_text(values[0]));
    int64_t number = 0;
    (void)count;
    if (f == NULL || f->names == NULL) {
        sqlite3_result_error(context, "reef_number: there is no such field with names; write 'Type.field'", -1);
        return;
    }
    const char *text = (const char *)sqlite3_value_text(values[1]);
    if (text && reef_names_read(f->names, text, (size_t)sqlite3_value_bytes(values[1]), &number))
        sqlite3_result_int64(context, number);
}

/* The order of columns of u64. SQLite compares only texts by it, and has them behind all numbers. */
static int digits_order(void *context, int n, const void *a, int m, const void *b)
{
    (void)context;
    if (n != m) return n < m ? -1 : 1;
    return memcmp(a, b, (size_t)n);
}

/* ---- opening ---- */

static int connection_open(reef_sql_session *s, sqlite3 **db)
{
    int code = sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function(*db, "reef_name", 1, SQLITE_UTF8, s, name_function, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_create_function(*db, "reef_id", 1, SQLITE_UTF8, s, id_function, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function(*db, "reef_number", 2, SQLITE_UTF8, s, number_function, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_create_collation(*db, SQL_DIGITS, SQLITE_UTF8, NULL, digits_order);
    return code == SQLITE_OK ? reef__sql_confine(s, *db) : code;
}

reef_status reef_sql_open(reef_world *world, const reef_sql_desc *desc, reef_sql_session **session, char *reason)
{
    static const reef_sql_desc defaults;
    reason_give(reason, "");
    if (session) *session = NULL;
    if (world == NULL || session == NULL) {
        reason_give(reason, "the world or the session is NULL");
        return REEF_BAD_ARGUMENT;
    }
    if (desc == NULL) desc = &defaults;
    reef_sql_session *s = reef__sql_zeroed(sizeof *s);
    int code = s ? SQLITE_OK : SQLITE_NOMEM;
    if (s) {
        s->world = world;
        s->read_only = desc->read_only;
        s->past = desc->past;
        s->confined = desc->confined;
        s->ms = desc->ms;
        s->bytes = desc->bytes;
        code = connection_open(s, &s->db);
    }
    if (code == SQLITE_OK) code = reef__sql_live_register(s, s->db);
    if (code == SQLITE_OK) {
        *session = s;
        return REEF_OK;
    }
    reason_give(reason, sqlite3_errstr(code));
    reef_sql_close(s);
    return code == SQLITE_NOMEM ? REEF_NO_MEMORY : REEF_IO;
}

void reef_sql_close(reef_sql_session *s)
{
    if (s == NULL) return;
    (void)sqlite3_close(s->db);
    (void)sqlite3_close(s->batch_db);
    (void)sqlite3_close(s->plain_db);
    reef__sql_live_drop(s);
    for (uint32_t i = 0; i < LIVE_PASTS; i++) reef_world_free(s->past_world[i]);
    sqlite3_free(s);
}

/* ---- rows ---- */

static bool row_give(sqlite3_stmt *st, uint32_t count, reef_sql_value *values)
{
    for (uint32_t i = 0; i < count; i++) {
        const int k = (int)i, type = sqlite3_column_type(st, k);
        reef_sql_value *v = &values[i];
        v->kind = type == SQLITE_INTEGER ? REEF_SQL_INTEGER
                  : type == SQLITE_FLOAT ? REEF_SQL_REAL
                  : type == SQLITE_TEXT  ? REEF_SQL_TEXT
                  : type == SQLITE_BLOB  ? REEF_SQL_BLOB
                                         : REEF_SQL_NULL;
        v->integer = type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_int64(st, k) : 0;
        v->real = type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(st, k) : 0;
        v->text = type == SQLITE_NULL   ? NULL
                  : type == SQLITE_BLOB ? sqlite3_column_blob(st, k)
                                        : (const char *)sqlite3_column_text(st, k);
        v->size = (size_t)sqlite3_column_bytes(st, k);
        if (v->text == NULL && type != SQLITE_NULL && (v->size || type != SQLITE_BLOB)) return false;
    }
    return true;
}

/* Steps a statement to its end. `given`: rows were handed out. */
static reef_status rows_run(reef_sql_session *s, sqlite3 *db, sqlite3_stmt *st, reef_sql_row row, void *context,
                            bool *given)
{
    const uint32_t count = (uint32_t)sqlite3_column_count(st);
    reef_sql_value *values = reef__sql_zeroed(count * sizeof *values);
    int code = values ? SQLITE_ROW : SQLITE_NOMEM;
    for (uint32_t i = 0; values && i < count; i++) values[i].name = sqlite3_column_name(st, (int)i);
    while (code == SQLITE_ROW && (code = sqlite3_step(st)) == SQLITE_ROW) {
        *given = true;
        if (row == NULL) continue;
        if (!row_give(st, count, values)) code = SQLITE_NOMEM;
        else if (!row(context, count, values)) {
            row = NULL;
            if (s->row_limits && s->writes) continue;
            if (s->row_limits) code = SQLITE_DONE;
            else (void)reef__sql_live_failed(s, NULL, REEF_CANCELLED, "the caller stopped it");
            break;
        }
    }
    sqlite3_free(values);
    return code == SQLITE_DONE ? REEF_OK : code == SQLITE_ROW ? s->status : session_failed(s, db, code);
}

/* Runs a statement with aggregates over blocks. False: it isn't of this kind, and nothing has happened. */
static bool batch_run(reef_sql_session *s, const char *sql, reef_sql_row row, void *context, reef_status *status)
{
    sqlite3_stmt *st = NULL;
    bool given = false;
    if (s->scan_count || !reef__sql_batch_possible(s->db, sql)) return false;
    int code = SQLITE_OK;
    if (s->batch_db == NULL) {
        code = connection_open(s, &s->batch_db);
        if (code == SQLITE_OK) code = reef__sql_batch_functions(s, s->batch_db);
        if (code == SQLITE_OK) code = reef__sql_live_register(s, s->batch_db);
    }
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(s->batch_db, sql, -1, &st, NULL);
    s->batch = true;
    *status = code == SQLITE_OK ? rows_run(s, s->batch_db, st, row, context, &given) : REEF_BAD_TEXT;
    sqlite3_finalize(st);
    s->batch = false;
    if (*status == REEF_OK || given) return true;
    *status = s->status = REEF_OK; /* it runs row by row, and fails again if it must */
    s->reason[0] = 0;
    return false;
}

/* ---- all or nothing ---- */

typedef struct undoing {
    reef_snapshot *was;
    bool begun;
} undoing;

static reef_status change_begin(reef_sql_session *s, undoing *u)
{
    if (u->begun) return REEF_OK;
    if (reef_time_owner(s->world)) {
        char why[REEF_DETAIL_MAX];
        (void)snprintf(why, sizeof why, "the time of this world belongs to %s", reef_time_owner(s->world));
        return reef__sql_live_failed(s, NULL, REEF_LOCKED, why);
    }
    u->was = reef_snapshot_take(s->world);
    if (u->was == NULL) {
        (void)reef__sql_live_world_failed(s, NULL, s->world);
        return s->status;
    }
    (void)sqlite3_set_authorizer(s->db, NULL, NULL);
    const int code = sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL);
    (void)sqlite3_set_authorizer(s->db, reef__sql_allow, s);
    u->begun = code == SQLITE_OK;
    return u->begun ? REEF_OK : session_failed(s, s->db, code);
}

static void change_end(reef_sql_session *s, undoing *u)
{
    (void)sqlite3_set_authorizer(s->db, NULL, NULL);
    reef__sql_limits_end(s);
    if (u->begun && !sqlite3_get_autocommit(s->db)) {
        const int code = s->status == REEF_OK ? sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) : SQLITE_OK;
        if (code != SQLITE_OK) (void)session_failed(s, s->db, code);
        if (s->status != REEF_OK) (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    }
    if (u->was && s->status != REEF_OK && reef_restore(s->world, u->was) != REEF_OK)
        (void)snprintf(s->reason, sizeof s->reason, "the world can't be set back: %s",
                       reef_status_text(reef_last_error(s->world).status));
    reef_snapshot_free(u->was);
}

static reef_status statement_end(reef_sql_session *s, reef_status status, void *context, uint64_t changed)
{
    if (status != REEF_OK || s->ends == NULL || s->ends(context, changed)) return status;
    (void)reef__sql_live_failed(s, NULL, REEF_NO_MEMORY, "no memory");
    return REEF_NO_MEMORY;
}

/* Gives the rows that an INSERT has made. */
static reef_status returning_give(reef_sql_session *s, const char *select, reef_sql_row row, void *context)
{
    sqlite3_stmt *st = NULL;
    reef_status status = REEF_OK;
    bool given = false;
    int code = sqlite3_prepare_v2(s->db, select, -1, &st, NULL);
    const int id = sqlite3_bind_parameter_index(st, ":reef_id");
    const int number = sqlite3_bind_parameter_index(st, ":reef_number");
    for (uint32_t i = 0; i < s->inserted_count && status == REEF_OK && code == SQLITE_OK; i++) {
        code = sqlite3_bind_int64(st, id, sql_id(s->inserted[i].e));
        if (code == SQLITE_OK && number) code = sqlite3_bind_int64(st, number, s->inserted[i].number);
        if (code == SQLITE_OK) status = rows_run(s, s->db, st, row, context, &given);
        (void)sqlite3_reset(st);
    }
    if (code != SQLITE_OK) status = session_failed(s, s->db, code);
    sqlite3_finalize(st);
    return status;
}

/* Runs a statement that changes the world. */
static reef_status change_run(reef_sql_session *s, sqlite3_stmt *st, reef_sql_row row, void *context)
{
    returning r = {NULL, NULL};
    bool given = false;
    reef_status status = REEF_OK;
    sqlite3_stmt *insert = NULL;
    int code = SQLITE_OK;
    if (row && sqlite3_column_count(st)) code = reef__sql_returning_split(s, sqlite3_sql(st), &r);
    s->returns = r.insert != NULL;
    if (s->returns && code == SQLITE_OK) code = sqlite3_prepare_v2(s->db, r.insert, -1, &insert, NULL);
    if (code != SQLITE_OK) status = session_failed(s, s->db, code);
    s->writes = true;
    if (status == REEF_OK) status = rows_run(s, s->db, insert ? insert : st, row, context, &given);
    s->writes = false;
    sqlite3_finalize(insert);
    if (status == REEF_OK && s->returns) status = returning_give(s, r.select, row, context);
    s->returns = false;
    reef__sql_rows_forget(s);
    sqlite3_free(r.insert);
    sqlite3_free(r.select);
    return status;
}

/* Runs the first statement of a text. *rest: what comes behind it. */
static reef_status statement_run(reef_sql_session *s, const char *sql, const char **rest, reef_sql_row row,
                                 void *context, undoing *u)
{
    sqlite3_stmt *st = NULL;
    bool given = false;
    reef_status status = REEF_OK;
    s->statement++;
    if (s->confined && reef__sql_copies(sql) > LIVE_COPIES) {
        (void)reef__sql_live_failed(s, NULL, REEF_LIMIT, "the parts of WITH name one another too often");
        return s->status;
    }
    const int code = sqlite3_prepare_v2(s->db, sql, -1, &st, rest);
    if (code != SQLITE_OK) return session_failed(s, s->db, code);
    if (st == NULL) return REEF_OK; /* only spaces or a comment */
    const bool reads = sqlite3_stmt_readonly(st) != 0, explains = sqlite3_stmt_isexplain(st) != 0;
    if (s->begins) s->begins(context, st);
    if (!reads && !explains) status = change_begin(s, u);
    else if (!explains && batch_run(s, sqlite3_sql(st), row, context, &status)) {
        sqlite3_finalize(st);
        return statement_end(s, status, context, 0);
    }
    const bool writes = !reads && !explains;
    if (status == REEF_OK && writes) status = change_run(s, st, row, context);
    else if (status == REEF_OK) status = rows_run(s, s->db, st, row, context, &given);
    sqlite3_finalize(st);
    return statement_end(s, status, context, writes ? (uint64_t)sqlite3_changes64(s->db) : 0);
}

reef_status reef_sql_run(reef_sql_session *s, const char *statements, reef_sql_row row, void *context, char *reason)
{
    undoing u = {0};
    plain_locale l;
    reason_give(reason, "");
    if (s == NULL || statements == NULL) {
        reason_give(reason, "the session or the statements are NULL");
        return REEF_BAD_ARGUMENT;
    }
    if (!plain_locale_begin(&l)) {
        reason_give(reason, "no memory");
        return REEF_NO_MEMORY;
    }
    s->status = REEF_OK;
    s->reason[0] = 0;
    const int code = reef__sql_live_register(s, s->db);
    if (code != SQLITE_OK) (void)session_failed(s, s->db, code);
    (void)sqlite3_set_authorizer(s->db, reef__sql_allow, s);
    reef__sql_limits_begin(s);
    for (const char *p = statements; s->status == REEF_OK && *p;) {
        const char *rest = p + strlen(p);
        const reef_status status = statement_run(s, p, &rest, row, context, &u);
        if (status != REEF_OK && s->status == REEF_OK) s->status = status;
        p = rest;
    }
    change_end(s, &u);
    plain_locale_end(&l);
    reason_give(reason, s->reason);
    return s->status;
}

reef_status reef_sql(reef_world *world, const char *statements, reef_sql_row row, void *context, char *reason)
{
    reef_sql_session *s;
    reef_status status = reef_sql_open(world, NULL, &s, reason);
    if (status != REEF_OK) return status;
    status = reef_sql_run(s, statements, row, context, reason);
    reef_sql_close(s);
    return status;
}
