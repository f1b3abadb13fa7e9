/* A world as a database file: opening, committing, folding, the past.
 *
 *     last    a snapshot of the world as it was committed last
 *     commit  BEGIN ─► rows of what differs from `last` (mirror.c) ─► the difference as bytes (record.c) ─► COMMIT
 *
 * The world isn't touched by a commit, and `last` is replaced only after COMMIT, so whatever fails, the next commit
 * writes everything that this one should have. */
#include "file.h"
#include <inttypes.h>
#include <string.h>

enum { WAIT_MS = 1000, FOLD_BYTES = 1 << 20 };

/* ---- transactions ---- */

static reef_status schema_look(reef_sqlite *f, bool *has)
{
    uint64_t version = 0;
    reef_status status = reef__sql_number(
        f, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'reef_format'", 0, &version);
    *has = version != 0;
    if (status == REEF_OK && *has) status = reef__sql_number(f, "SELECT version FROM reef_format", 0, &version);
    if (status != REEF_OK || !*has || version == 1) return status;
    (void)snprintf(f->reason, sizeof f->reason, "the tables are of version %" PRIu64 " of the add-on, which is unknown",
                   version);
    return REEF_VERSION;
}

reef_status reef__sql_begin(reef_sqlite *f)
{
    bool has = false;
    uint64_t number = 0;
    f->reason[0] = 0;
    if (f->read_only) {
        (void)snprintf(f->reason, sizeof f->reason, "the file was opened read-only");
        return REEF_IO;
    }
    reef_status status = reef__sql_exec(f, "BEGIN IMMEDIATE");
    if (status == REEF_OK) status = schema_look(f, &has);
    if (status == REEF_OK && has) status = reef__sql_number(f, "SELECT max(number) FROM reef_commits", 0, &number);
    if (status == REEF_OK && (has != f->has_schema || number != f->number)) {
        (void)snprintf(f->reason, sizeof f->reason,
                       "another program has committed to the file: commit %" PRIu64 " is expected, %" PRIu64
                       " is there",
                       f->number, number);
        status = REEF_OTHER_STATE;
    }
    if (status != REEF_OK) reef__sql_undo(f);
    return status;
}

void reef__sql_undo(reef_sqlite *f)
{
    reef__sql_tables_forget(f); /* a statement that is under way would keep the transaction open */
    if (!sqlite3_get_autocommit(f->db)) (void)sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
}

static reef_status commit_write(reef_sqlite *f, reef_world *before)
{
    uint64_t changes = 0;
    const bool whole = f->anew || f->last == NULL || (f->change_bytes > FOLD_BYTES && f->change_bytes > f->whole_bytes);
    reef_status status = f->anew || f->last == NULL ? reef__sql_schema(f) : REEF_OK;
    if (status == REEF_OK) status = reef__sql_mirror(f, before, f->world, &changes);
    if (status == REEF_OK) status = reef__sql_write(f, before, f->world, f->number + 1, whole, changes);
    return status == REEF_OK ? reef__sql_exec(f, "COMMIT") : status;
}

reef_status reef__sql_commit(reef_sqlite *f)
{
    const uint64_t whole_bytes = f->whole_bytes, change_bytes = f->change_bytes;
    const bool raw = f->raw, blank = f->anew || f->last == NULL;
    reef_status status = REEF_OK;
    reef_snapshot *next = reef_snapshot_take(f->world);
    if (next == NULL) status = reef__sql_world_failed(f, f->world, reef_last_error(f->world).status);
    reef_world *before = next == NULL ? NULL
                         : blank      ? reef_world_new(&(reef_world_config){.log = reef_log_none})
                                      : reef_snapshot_fork(f->last);
    if (next && before == NULL) status = reef__sql_world_failed(f, NULL, REEF_NO_MEMORY);
    if (status == REEF_OK) status = commit_write(f, before);
    reef_world_free(before);
    if (status != REEF_OK) {
        reef__sql_undo(f);
        reef_snapshot_free(next);
        f->whole_bytes = whole_bytes;
        f->change_bytes = change_bytes;
        f->raw = raw;
        return status;
    }
    reef_snapshot_free(f->last);
    f->last = next;
    f->number++;
    f->anew = false;
    f->has_schema = true;
    return REEF_OK;
}

reef_status reef_sqlite_commit(reef_sqlite *f)
{
    if (f == NULL) return REEF_BAD_ARGUMENT;
    const reef_status status = reef__sql_begin(f);
    return status == REEF_OK ? reef__sql_commit(f) : status;
}

reef_status reef_sqlite_compact(reef_sqlite *f)
{
    if (f == NULL) return REEF_BAD_ARGUMENT;
    const bool was = f->anew;
    f->anew = true;
    const reef_status status = reef_sqlite_commit(f);
    if (status == REEF_OK) (void)sqlite3_exec(f->db, "VACUUM", NULL, NULL, NULL); /* only space: it may fail */
    else f->anew = was;
    return status;
}

/* ---- opening ---- */

typedef struct open_notes {
    const reef_load_desc *load;
    reef_world *world;
    bool converted;
} open_notes;

static void note_take(void *context, const reef_load_note *note)
{
    open_notes *n = context;
    if (note->kind != REEF_NOTE_SYSTEM_UNKNOWN && note->kind != REEF_NOTE_SCRIPT_UNKNOWN) n->converted = true;
    if (n->load->note) n->load->note(n->load->context, note);
}

static bool progress_take(void *context, uint64_t done, uint64_t all)
{
    const open_notes *n = context;
    return n->load->progress == NULL || n->load->progress(n->load->context, done, all);
}

/* Is there a table that isn't as it would be made now? Then all are made anew by the next commit. */
static reef_status tables_look(reef_sqlite *f, bool *other)
{
    sqlite3_stmt *s = NULL;
    int code = SQLITE_DONE;
    reef_status status = reef__sql_prepare(
        f, &s, "SELECT t.type, t.name, m.sql FROM reef_types t LEFT JOIN sqlite_master m ON m.name = t.name");
    while (status == REEF_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        sql_table t;
        const char *type_name = (const char *)sqlite3_column_text(s, 0);
        const reef_component type = reef_type_find(type_name ? type_name : "");
        const char *sql = (const char *)sqlite3_column_text(s, 2);
        if (type.id == 0) continue;
        if (!reef__sql_table_init(&t, type, (const char *)sqlite3_column_text(s, 1))) code = SQLITE_NOMEM;
        else {
            char *now = reef__sql_table_create(&t);
            if (now == NULL) code = SQLITE_NOMEM;
            else if (sql == NULL || strcmp(sql, now) != 0) *other = true;
            sqlite3_free(now);
            reef__sql_table_drop(&t);
        }
        if (code == SQLITE_NOMEM) break;
    }
    if (status == REEF_OK && code != SQLITE_DONE) status = reef__sql_failed(f, code, "reef_types");
    sqlite3_finalize(s);
    return status;
}

static reef_status open_read(reef_sqlite *f, const reef_load_desc *load)
{
    open_notes notes = {load, f->world, false};
    const reef_load_desc desc = {
        .unknown = load->unknown, .note = note_take, .progress = progress_take, .context = &notes};
    uint64_t number = 0;
    reef_status status = reef__sql_number(f, "SELECT max(number) FROM reef_commits", 0, &number);
    if (status != REEF_OK || number == 0) return status;
    reef_snapshot *was = reef_snapshot_take(f->world);
    if (was == NULL) return reef__sql_world_failed(f, f->world, reef_last_error(f->world).status);
    status = reef__sql_read(f, f->world, number, &desc);
    if (status == REEF_OK) status = tables_look(f, &notes.converted);
    if (status == REEF_OK && (f->last = reef_snapshot_take(f->world)) == NULL)
        status = reef__sql_world_failed(f, f->world, reef_last_error(f->world).status);
    if (status != REEF_OK) (void)reef_restore(f->world, was);
    reef_snapshot_free(was);
    f->number = number;
    f->anew = notes.converted;
    return status;
}

static reef_status open_file(reef_sqlite *f, const char *path, const reef_sqlite_desc *desc)
{
    const int flags = desc->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int code = sqlite3_open_v2(path, &f->db, flags, NULL);
    if (code != SQLITE_OK) return reef__sql_failed(f, code, path);
    (void)sqlite3_extended_result_codes(f->db, 1);
    (void)sqlite3_busy_timeout(f->db, (int)(desc->wait_ms ? desc->wait_ms : WAIT_MS));
    /* What this connection writes is what the world has: neither triggers nor checks are for it. */
    (void)sqlite3_db_config(f->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    reef_status status = reef__sql_exec(f, "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;");
    if (status == REEF_OK && !desc->read_only)
        status = reef__sql_exec(f, desc->unsynced ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                                                  : "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    if (status == REEF_OK) status = schema_look(f, &f->has_schema);
    return status == REEF_OK && f->has_schema ? open_read(f, &desc->load) : status;
}

static void reason_give(char *to, const char *reason)
{
    if (to) (void)snprintf(to, REEF_SQLITE_REASON_MAX, "%s", reason);
}

static void file_drop(reef_sqlite *f)
{
    reef__sql_tables_forget(f);
    sqlite3_free(f->tables);
    sqlite3_free(f->by_type);
    reef_snapshot_free(f->last);
    (void)sqlite3_close(f->db);
    sqlite3_free(f);
}

reef_status reef_sqlite_open(reef_world *world, const char *path, const reef_sqlite_desc *desc, reef_sqlite **file,
                             char *reason)
{
    static const reef_sqlite_desc defaults;
    reason_give(reason, "");
    if (file) *file = NULL;
    if (world == NULL || path == NULL || file == NULL) {
        reason_give(reason, "the world, the path or the file is NULL");
        return REEF_BAD_ARGUMENT;
    }
    if (desc == NULL) desc = &defaults;
    reef_sqlite *f = reef__sql_zeroed(sizeof *f);
    if (f == NULL) {
        reason_give(reason, reef_status_text(REEF_NO_MEMORY));
        return REEF_NO_MEMORY;
    }
    f->world = world;
    f->history = desc->history;
    f->read_only = desc->read_only;
    f->some_disabled = true;
    const reef_status status = open_file(f, path, desc);
    if (status == REEF_OK) {
        *file = f;
        return REEF_OK;
    }
    reason_give(reason, f->reason);
    file_drop(f);
    return status;
}

/* ---- closing ---- */

/* Folds the differences into a whole world of the same commit. */
static reef_status fold(reef_sqlite *f)
{
    reef_status status = reef__sql_begin(f);
    if (status != REEF_OK) return status;
    reef_world *now = reef_snapshot_fork(f->last);
    if (now == NULL) status = REEF_NO_MEMORY;
    else
        status = reef__sql_exec_made(
            f, sqlite3_mprintf("DELETE FROM reef_commits WHERE number = %llu AND NOT %d", f->number, f->history));
    if (status == REEF_OK && f->history) status = reef__sql_whole(f, now, f->number);
    else if (status == REEF_OK) status = reef__sql_write(f, NULL, now, f->number, true, 0);
    reef_world_free(now);
    if (status == REEF_OK) status = reef__sql_exec(f, "COMMIT");
    if (status != REEF_OK) reef__sql_undo(f);
    return status;
}

void reef_sqlite_close(reef_sqlite *f)
{
    if (f == NULL) return;
    if (!f->read_only && f->change_bytes && f->last && !f->anew) (void)fold(f);
    reef__sql_tables_forget(f);
    if (!f->read_only) (void)sqlite3_exec(f->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL); /* one file */
    file_drop(f);
}

const char *reef_sqlite_reason(const reef_sqlite *f) { return f ? f->reason : ""; }
uint64_t reef_sqlite_number(const reef_sqlite *f) { return f ? f->number : 0; }

/* ---- checking ---- */

static reef_status integrity(reef_sqlite *f)
{
    sqlite3_stmt *s = NULL;
    reef_status status = reef__sql_prepare(f, &s, "PRAGMA integrity_check(1)");
    if (status != REEF_OK) return status;
    const int code = sqlite3_step(s);
    const char *says = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    if (says == NULL) status = reef__sql_failed(f, code == SQLITE_ROW ? SQLITE_NOMEM : code, "integrity_check");
    else if (strcmp(says, "ok") != 0) {
        (void)snprintf(f->reason, sizeof f->reason, "integrity_check: %s", says);
        status = REEF_CORRUPT;
    }
    sqlite3_finalize(s);
    return status;
}

reef_status reef_sqlite_check(reef_sqlite *f)
{
    if (f == NULL) return REEF_BAD_ARGUMENT;
    f->reason[0] = 0;
    reef_status status = integrity(f);
    if (status != REEF_OK || f->last == NULL || f->anew) return status;
    reef_world *w = reef_snapshot_fork(f->last);
    if (w == NULL) return reef__sql_world_failed(f, NULL, REEF_NO_MEMORY);
    status = reef__sql_compare(f, w);
    reef_world_free(w);
    return status;
}

/* ---- the past ---- */

static void note_nothing(void *context, const reef_load_note *note) { (void)context, (void)note; }

static reef_status commit_find(reef_sqlite *f, uint64_t tick, uint64_t *number)
{
    const reef_status status = reef__sql_number(
        f, "SELECT max(number) FROM reef_commits WHERE tick <= ?1 AND number >= (SELECT min(number) FROM reef_wholes)",
        tick > INT64_MAX ? INT64_MAX : (sqlite3_int64)tick, number);
    if (status != REEF_OK || *number) return status;
    (void)snprintf(f->reason, sizeof f->reason, "no commit of tick %" PRIu64 " or before is kept", tick);
    return REEF_BAD_ARGUMENT;
}

reef_status reef_sqlite_at(reef_sqlite *f, uint64_t tick, reef_world **world)
{
    uint64_t number = 0;
    if (world) *world = NULL;
    if (f == NULL || world == NULL) return REEF_BAD_ARGUMENT;
    const uint64_t whole_bytes = f->whole_bytes, change_bytes = f->change_bytes;
    f->reason[0] = 0;
    reef_status status = f->has_schema ? REEF_OK : REEF_BAD_ARGUMENT;
    if (status == REEF_OK) status = commit_find(f, tick, &number);
    if (status != REEF_OK) return status;
    reef_world *w = reef_world_new(&(reef_world_config){.log = reef_log_none});
    if (w == NULL) return reef__sql_world_failed(f, NULL, REEF_NO_MEMORY);
    const reef_load_desc quiet = {.note = note_nothing};
    status = reef__sql_read(f, w, number, &quiet);
    f->whole_bytes = whole_bytes;
    f->change_bytes = change_bytes;
    if (status == REEF_OK) *world = w;
    else reef_world_free(w);
    return status;
}

/* The state of commit `number` becomes a whole world, and everything before goes. */
static reef_status forget_write(reef_sqlite *f, reef_world *then, uint64_t number)
{
    reef_status status = reef__sql_begin(f);
    if (status != REEF_OK) return status;
    const uint64_t bytes = f->whole_bytes;
    status = reef__sql_exec_made(f, sqlite3_mprintf("DELETE FROM reef_wholes WHERE number = %llu", number));
    if (status == REEF_OK) status = reef__sql_whole(f, then, number);
    f->whole_bytes = bytes;
    if (status == REEF_OK)
        status = reef__sql_exec_made(f, sqlite3_mprintf("DELETE FROM reef_wholes WHERE number < %llu;"
                                                        "DELETE FROM reef_commits WHERE number < %llu;COMMIT",
                                                        number, number));
    if (status != REEF_OK) reef__sql_undo(f);
    return status;
}

reef_status reef_sqlite_forget(reef_sqlite *f, uint64_t tick)
{
    uint64_t number = 0;
    reef_world *then;
    reef_status status = reef_sqlite_at(f, tick, &then);
    if (status != REEF_OK) return status;
    status = commit_find(f, tick, &number);
    if (status == REEF_OK) status = forget_write(f, then, number);
    reef_world_free(then);
    if (status == REEF_OK) (void)sqlite3_exec(f->db, "VACUUM", NULL, NULL, NULL);
    return status;
}
