/* The state as reef's own bytes, beside the readable tables: everything exactly, with free ids, the order of rows,
 * versions, events that wait and systems that aren't there.
 *
 *     reef_wholes    a saved world, in parts of a few MiB
 *     reef_commits   the differences behind it, one for each commit
 *
 * The state of commit n is the newest whole world at n or before, with the differences up to n. */
#include "file.h"
#include <inttypes.h>
#include <string.h>

enum { PART_BYTES = 4 << 20 };

/* ---- writing ---- */

typedef struct part_out {
    reef_sqlite *f;
    unsigned char *bytes;
    size_t used;
    uint64_t number, part, all;
} part_out;

static reef_status part_flush(part_out *o)
{
    reef_status status = REEF_OK;
    sqlite3_stmt *s = reef__sql_fixed(o->f, WHOLE_INSERT, &status);
    if (s == NULL) return status;
    (void)sqlite3_bind_int64(s, 1, (sqlite3_int64)o->number);
    (void)sqlite3_bind_int64(s, 2, (sqlite3_int64)o->part++);
    (void)sqlite3_bind_blob64(s, 3, o->bytes, o->used, SQLITE_STATIC);
    o->all += o->used;
    o->used = 0;
    status = reef__sql_step(o->f, s);
    (void)sqlite3_clear_bindings(s);
    return status;
}

static reef_status part_write(void *context, const void *bytes, size_t count)
{
    part_out *o = context;
    const unsigned char *from = bytes;
    reef_status status = REEF_OK;
    while (count && status == REEF_OK) {
        size_t n = PART_BYTES - o->used;
        if (n > count) n = count;
        memcpy(o->bytes + o->used, from, n);
        o->used += n;
        from += n;
        count -= n;
        if (o->used == PART_BYTES) status = part_flush(o);
    }
    return status;
}

reef_status reef__sql_whole(reef_sqlite *f, reef_world *now, uint64_t number)
{
    part_out o = {.f = f, .number = number, .bytes = sqlite3_malloc(PART_BYTES)};
    if (o.bytes == NULL) return reef__sql_failed(f, SQLITE_NOMEM, "SQLite's allocator");
    f->reason[0] = 0;
    reef_status status = reef_save_to(now, (reef_writer){part_write, &o}, &(reef_save_desc){.raw = f->raw});
    if (status == REEF_NOT_PORTABLE && !f->raw) { /* types without fields: from now on as they lie in memory */
        f->raw = true;
        o.used = 0;
        o.part = o.all = 0;
        status = reef__sql_exec_made(f, sqlite3_mprintf("DELETE FROM reef_wholes WHERE number = %llu", number));
        if (status == REEF_OK)
            status = reef_save_to(now, (reef_writer){part_write, &o}, &(reef_save_desc){.raw = true});
    }
    if (status == REEF_OK && o.used) status = part_flush(&o);
    sqlite3_free(o.bytes);
    if (status == REEF_OK) f->whole_bytes = o.all;
    else if (f->reason[0] == 0) return reef__sql_world_failed(f, now, status);
    return status;
}

static reef_status commit_note(reef_sqlite *f, const reef_world *now, uint64_t number, uint64_t changes,
                               const reef_bytes *bytes)
{
    reef_status status = REEF_OK;
    sqlite3_stmt *s = reef__sql_fixed(f, COMMIT_INSERT, &status);
    if (s == NULL) return status;
    (void)sqlite3_bind_int64(s, 1, (sqlite3_int64)number);
    (void)sqlite3_bind_int64(s, 2, (sqlite3_int64)reef_tick_count(now));
    (void)sqlite3_bind_int64(s, 3, (sqlite3_int64)reef_time_ns(now));
    (void)sqlite3_bind_int64(s, 4, (sqlite3_int64)changes);
    const int code =
        bytes ? sqlite3_bind_blob64(s, 5, bytes->data, bytes->size, SQLITE_STATIC) : sqlite3_bind_null(s, 5);
    if (code != SQLITE_OK) return reef__sql_failed(f, code, "the difference of this commit");
    status = reef__sql_step(f, s);
    (void)sqlite3_clear_bindings(s);
    return status;
}

/* Older commits go, where no history is kept. */
static reef_status older_drop(reef_sqlite *f, uint64_t number)
{
    if (f->history) return REEF_OK;
    return reef__sql_exec_made(f, sqlite3_mprintf("DELETE FROM reef_wholes WHERE number < %llu;"
                                                  "DELETE FROM reef_commits WHERE number < %llu",
                                                  number, number));
}

/* Does an entity have a component without fields? Then its values can only be written as they lie in memory. */
static bool needs_raw(const reef_world *w)
{
    reef_type_info info;
    for (uint32_t id = 1; id <= reef_type_count(); id++) {
        const reef_component type = {id};
        if (reef_type_get(type, &info) && info.field_count == 0 && info.size && reef_count_id(w, type) &&
            reef__sql_type_shown(type))
            return true;
    }
    return false;
}

reef_status reef__sql_write(reef_sqlite *f, reef_world *before, reef_world *now, uint64_t number, bool whole,
                            uint64_t changes)
{
    reef_bytes bytes = {NULL, 0};
    reef_status status = REEF_OK;
    f->raw = f->raw || needs_raw(now);
    if (!whole) {
        status = reef_diff_bytes(before, now, &bytes, &(reef_save_desc){.raw = f->raw});
        if (status == REEF_NOT_PORTABLE && !f->raw) {
            f->raw = true;
            status = reef_diff_bytes(before, now, &bytes, &(reef_save_desc){.raw = true});
        }
        if (status != REEF_OK) return reef__sql_world_failed(f, now, status);
        f->change_bytes += bytes.size;
    }
    status = commit_note(f, now, number, changes, whole ? NULL : &bytes);
    reef_bytes_free(&bytes);
    if (status != REEF_OK || !whole) return status;
    f->change_bytes = 0;
    status = reef__sql_whole(f, now, number);
    return status == REEF_OK ? older_drop(f, number) : status;
}

/* ---- reading ---- */

typedef struct part_in {
    sqlite3_stmt *s;
    const unsigned char *bytes;
    size_t left;
    int code;
} part_in;

static reef_status part_read(void *context, void *to, size_t count, size_t *got)
{
    part_in *in = context;
    *got = 0;
    while (*got < count) {
        if (in->left == 0) {
            if (in->code != SQLITE_ROW || (in->code = sqlite3_step(in->s)) != SQLITE_ROW) break;
            in->bytes = sqlite3_column_blob(in->s, 0);
            in->left = (size_t)sqlite3_column_bytes(in->s, 0);
            if (in->bytes == NULL && in->left) in->code = SQLITE_NOMEM, in->left = 0;
            continue;
        }
        const size_t n = in->left < count - *got ? in->left : count - *got;
        memcpy((char *)to + *got, in->bytes, n);
        in->bytes += n;
        in->left -= n;
        *got += n;
    }
    return in->code == SQLITE_ROW || in->code == SQLITE_DONE ? REEF_OK : reef__sql_status(in->code);
}

static reef_status whole_read(reef_sqlite *f, reef_world *w, uint64_t number, const reef_load_desc *load)
{
    part_in in = {.code = SQLITE_ROW};
    reef_status status = reef__sql_prepare(f, &in.s, "SELECT bytes FROM reef_wholes WHERE number = ?1 ORDER BY part");
    if (status != REEF_OK) return status;
    (void)sqlite3_bind_int64(in.s, 1, (sqlite3_int64)number);
    status = reef_load_from(w, (reef_reader){part_read, &in}, load);
    if (in.code != SQLITE_ROW && in.code != SQLITE_DONE) status = reef__sql_failed(f, in.code, "reef_wholes");
    else if (status != REEF_OK) reef__sql_world_failed(f, w, status);
    sqlite3_finalize(in.s);
    return status;
}

/* The newest whole world at this commit or before. */
static reef_status whole_find(reef_sqlite *f, uint64_t number, uint64_t *whole)
{
    sqlite3_stmt *s = NULL;
    reef_status status = reef__sql_prepare(
        f, &s,
        "SELECT max(number), (SELECT sum(length(bytes)) FROM reef_wholes b WHERE b.number = max(a.number))"
        " FROM reef_wholes a WHERE number <= ?1");
    if (status != REEF_OK) return status;
    (void)sqlite3_bind_int64(s, 1, (sqlite3_int64)number);
    const int code = sqlite3_step(s);
    *whole = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    f->whole_bytes = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 1) : 0;
    if (code != SQLITE_ROW) status = reef__sql_failed(f, code, "reef_wholes");
    sqlite3_finalize(s);
    if (status == REEF_OK && *whole == 0) {
        (void)snprintf(f->reason, sizeof f->reason, "reef_wholes has no world for commit %" PRIu64, number);
        return REEF_CORRUPT;
    }
    return status;
}

static reef_status changes_read(reef_sqlite *f, reef_world *w, uint64_t whole, uint64_t number)
{
    sqlite3_stmt *s = NULL;
    uint64_t next = whole + 1;
    int code;
    reef_status status = reef__sql_prepare(
        f, &s, "SELECT number, difference FROM reef_commits WHERE number > ?1 AND number <= ?2 ORDER BY number");
    if (status != REEF_OK) return status;
    (void)sqlite3_bind_int64(s, 1, (sqlite3_int64)whole);
    (void)sqlite3_bind_int64(s, 2, (sqlite3_int64)number);
    f->change_bytes = 0;
    while (status == REEF_OK && (code = sqlite3_step(s)) != SQLITE_DONE) {
        if (code != SQLITE_ROW) {
            status = reef__sql_failed(f, code, "reef_commits");
        } else if (sqlite3_column_int64(s, 0) != (sqlite3_int64)next || sqlite3_column_type(s, 1) != SQLITE_BLOB) {
            (void)snprintf(f->reason, sizeof f->reason, "reef_commits doesn't have the difference of commit %" PRIu64,
                           next);
            status = REEF_CORRUPT;
        } else {
            const void *bytes = sqlite3_column_blob(s, 1);
            const size_t size = (size_t)sqlite3_column_bytes(s, 1);
            if (bytes == NULL) status = reef__sql_failed(f, SQLITE_NOMEM, "a difference");
            else if ((status = reef_diff_apply(w, bytes, size)) != REEF_OK) reef__sql_world_failed(f, w, status);
            f->change_bytes += size;
            next++;
        }
    }
    sqlite3_finalize(s);
    if (status == REEF_OK && next != number + 1) {
        (void)snprintf(f->reason, sizeof f->reason, "reef_commits ends before commit %" PRIu64, number);
        status = REEF_CORRUPT;
    }
    return status;
}

reef_status reef__sql_read(reef_sqlite *f, reef_world *w, uint64_t number, const reef_load_desc *load)
{
    uint64_t whole;
    reef_status status = whole_find(f, number, &whole);
    if (status == REEF_OK) status = whole_read(f, w, whole, load);
    return status == REEF_OK ? changes_read(f, w, whole, number) : status;
}
