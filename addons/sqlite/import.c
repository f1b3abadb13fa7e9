/* Tables of any SQLite file as entities: first the rows of all tables, each an entity with one component; then the
 * foreign keys as relations, found by a join that SQLite does, between rows that are known by their rowid. */
#include "file.h"
#include "live.h"
#include <stdlib.h>
#include <string.h>

typedef struct import_row {
    sqlite3_int64 rowid;
    reef_entity e;
} import_row;

typedef struct import_column {
    char *name;
    reef_field field; /* in the value; bytes 0: the column is left out */
} import_column;

typedef struct import_table {
    char *name;
    const char *rowid; /* what SQLite calls the number of a row, of the names that aren't those of a column */
    reef_component type;
    reef_type_info info;
    import_column *columns;
    uint32_t count, room;
    import_row *rows; /* by rowid */
    uint32_t row_count, row_room;
} import_table;

typedef struct importing {
    reef_sqlite f; /* only its connection, world and reason */
    import_table *tables;
    uint32_t count, room;
    reef_sqlite_imported done;
} importing;

static reef_status no_room(importing *x) { return reef__sql_failed(&x->f, SQLITE_NOMEM, "SQLite's allocator"); }

static reef_status world_failed(importing *x, reef_status s) { return reef__sql_world_failed(&x->f, x->f.world, s); }

/* Prepares a text with names in it, which is freed. */
static reef_status made_prepare(importing *x, sqlite3_stmt **s, char *sql)
{
    if (sql == NULL) return no_room(x);
    const reef_status status = reef__sql_prepare(&x->f, s, sql);
    sqlite3_free(sql);
    return status;
}

/* The status behind a loop over rows. */
static reef_status rows_end(importing *x, sqlite3_stmt *s, reef_status status, int code, const char *what)
{
    if (status == REEF_OK && code != SQLITE_DONE) status = reef__sql_failed(&x->f, code, what);
    sqlite3_finalize(s);
    return status;
}

/* A name as a type may have it: other characters than letters, digits and _ . become underscores. */
static char *type_name(const char *table, const char *column)
{
    char *name = column ? sqlite3_mprintf("%s.%s", table, column) : reef__sql_copy(table);
    for (char *p = name; p && *p; p++) {
        const unsigned char c = (unsigned char)*p;
        const bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c >= 128;
        if (!word && c != '.') *p = '_';
    }
    return name;
}

/* ---- which tables and columns there are ---- */

static reef_status tables_find(importing *x, const char *only)
{
    sqlite3_stmt *s = NULL;
    int code = SQLITE_DONE;
    reef_status status = reef__sql_prepare(
        &x->f, &s,
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND wr = 0"
        " AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND (?1 IS NULL OR name = ?1 COLLATE NOCASE) ORDER BY name");
    if (status == REEF_OK) code = sqlite3_bind_text(s, 1, only, -1, SQLITE_STATIC);
    while (status == REEF_OK && code != SQLITE_NOMEM && (code = sqlite3_step(s)) == SQLITE_ROW) {
        if (!reef__sql_more(&x->tables, x->count, &x->room, sizeof *x->tables)) code = SQLITE_NOMEM;
        else x->tables[x->count] = (import_table){.name = reef__sql_copy((const char *)sqlite3_column_text(s, 0))};
        if (code == SQLITE_NOMEM || x->tables[x->count].name == NULL) {
            code = SQLITE_NOMEM;
            break;
        }
        x->count++;
    }
    status = rows_end(x, s, status, code, "the tables");
    if (status != REEF_OK || x->count || only == NULL) return status;
    (void)snprintf(x->f.reason, sizeof x->f.reason, "there is no table \"%s\" with rowids", only);
    return REEF_BAD_ARGUMENT;
}

/* What the values of a column are, all together. */
static reef_status column_kind(importing *x, const import_table *t, import_column *c, const char *declared)
{
    sqlite3_stmt *s = NULL;
    reef_status status =
        made_prepare(x, &s,
                     sqlite3_mprintf("SELECT total(typeof(\"%w\") = 'text'), total(typeof(\"%w\") = 'blob'),"
                                     " total(typeof(\"%w\") = 'real'), max(length(CAST(\"%w\" AS BLOB))),"
                                     " total(typeof(\"%w\") = 'integer') FROM \"%w\"",
                                     c->name, c->name, c->name, c->name, c->name, t->name));
    if (status != REEF_OK) return status;
    const int code = sqlite3_step(s);
    const bool some = code == SQLITE_ROW, text = some && sqlite3_column_int(s, 0),
               blob = some && sqlite3_column_int(s, 1);
    const bool real = some && sqlite3_column_int(s, 2), whole = some && sqlite3_column_int(s, 4);
    const uint32_t length = some && sqlite3_column_int(s, 3) > 0 ? (uint32_t)sqlite3_column_int(s, 3) : 1;
    const bool declared_text =
        sqlite3_strlike("%CHAR%", declared, 0) == 0 || sqlite3_strlike("%TEXT%", declared, 0) == 0;
    const bool declared_real = sqlite3_strlike("%REAL%", declared, 0) == 0 ||
                               sqlite3_strlike("%DOUB%", declared, 0) == 0 ||
                               sqlite3_strlike("%FLOA%", declared, 0) == 0;
    const bool none = !text && !blob && !real && !whole;
    sqlite3_finalize(s);
    if (!some) return reef__sql_failed(&x->f, code, t->name);
    const bool bytes = blob && !text;
    c->field.kind = text || (none && declared_text) ? REEF_CHAR
                    : bytes                         ? REEF_U8
                    : real || declared_real         ? REEF_F64
                                                    : REEF_I64;
    c->field.bytes = c->field.kind == REEF_CHAR || bytes ? length : 8;
    return REEF_OK;
}

static reef_status rowid_find(importing *x, import_table *t)
{
    static const char *const names[] = {"rowid", "_rowid_", "oid"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sqlite3_stmt *s = NULL;
        const reef_status status = made_prepare(
            x, &s,
            sqlite3_mprintf("SELECT 1 FROM pragma_table_xinfo(%Q) WHERE name = %Q COLLATE NOCASE", t->name, names[i]));
        if (status != REEF_OK) return status;
        const int code = sqlite3_step(s);
        sqlite3_finalize(s);
        if (code == SQLITE_DONE) t->rowid = names[i];
        if (code == SQLITE_DONE) return REEF_OK;
        if (code != SQLITE_ROW) return reef__sql_failed(&x->f, code, t->name);
    }
    (void)snprintf(x->f.reason, sizeof x->f.reason, "%.300s: its columns have all names of the number of a row",
                   t->name);
    return REEF_REFUSED;
}

/* Columns that are foreign keys of their own become relations, and no fields. */
static reef_status columns_find(importing *x, import_table *t)
{
    sqlite3_stmt *s = NULL;
    int code = SQLITE_DONE;
    reef_status status =
        made_prepare(x, &s,
                     sqlite3_mprintf("SELECT c.name, c.type FROM pragma_table_info(%Q) c WHERE NOT EXISTS"
                                     " (SELECT 1 FROM pragma_foreign_key_list(%Q) k WHERE k.\"from\" = c.name AND"
                                     "  (SELECT count(*) FROM pragma_foreign_key_list(%Q) o WHERE o.id = k.id) = 1)",
                                     t->name, t->name, t->name));
    while (status == REEF_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        import_column c = {.name = reef__sql_copy((const char *)sqlite3_column_text(s, 0))};
        if (c.name == NULL || !reef__sql_more(&t->columns, t->count, &t->room, sizeof *t->columns)) {
            sqlite3_free(c.name);
            code = SQLITE_NOMEM;
            break;
        }
        const char *declared = (const char *)sqlite3_column_text(s, 1);
        status = column_kind(x, t, &c, declared ? declared : "");
        c.field.name = c.name;
        t->columns[t->count++] = c;
    }
    return rows_end(x, s, status, code, t->name);
}

/* ---- types ---- */

/* Takes the fields of the program's type for the columns of the same names. */
static void fields_match(import_table *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const import_column *c = &t->columns[i];
        const reef_field *found = NULL;
        for (uint32_t k = 0; k < t->info.field_count; k++)
            if (sqlite3_stricmp(t->info.fields[k].name, c->name) == 0) found = &t->info.fields[k];
        if (found) t->columns[i].field = *found;
        else t->columns[i].field.bytes = 0;
    }
}

/* Makes the type of a table that the program doesn't have. */
static reef_status type_new(importing *x, import_table *t, const char *name)
{
    reef_status status = REEF_OK;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < t->count; i++) bytes += ((uint64_t)t->columns[i].field.bytes + 7) / 8 * 8;
    if (t->count > REEF_FIELDS_MAX)
        (void)snprintf(x->f.reason, sizeof x->f.reason, "%.300s: it has %u columns, more than a component has fields",
                       t->name, (unsigned)t->count);
    else if (bytes > REEF_SIZE_MAX)
        (void)snprintf(x->f.reason, sizeof x->f.reason, "%.300s: a row takes %llu bytes, more than a component",
                       t->name, (unsigned long long)bytes);
    if (t->count > REEF_FIELDS_MAX || bytes > REEF_SIZE_MAX) return REEF_LIMIT;
    reef_field *fields = reef__sql_zeroed(t->count * sizeof *fields);
    if (fields == NULL) return no_room(x);
    uint32_t size = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        t->columns[i].field.offset = size;
        fields[i] = t->columns[i].field;
        size += (fields[i].bytes + 7) / 8 * 8;
    }
    const reef_type_desc d = {
        .name = name, .size = size, .align = size ? 8 : 0, .fields = size ? fields : NULL, .field_count = t->count};
    t->type = reef_type_new(&d, &status);
    sqlite3_free(fields);
    if (t->type.id && reef_type_get(t->type, &t->info)) return REEF_OK;
    (void)snprintf(x->f.reason, sizeof x->f.reason, "%s: %s", name, reef_status_text(status));
    return status;
}

static reef_status type_make(importing *x, import_table *t)
{
    reef_status status = REEF_OK;
    char *name = type_name(t->name, NULL);
    if (name == NULL) return no_room(x);
    t->type = reef_type_find(name);
    if (t->type.id == 0) status = type_new(x, t, name);
    else if (reef_type_get(t->type, &t->info)) {
        const reef_hooks *h = t->info.hooks;
        if (t->info.relation || (h && (h->construct || h->copy || h->move || h->destroy))) {
            (void)snprintf(x->f.reason, sizeof x->f.reason, "%s: the program's type is a relation or has hooks", name);
            status = REEF_REFUSED;
        } else fields_match(t);
    }
    sqlite3_free(name);
    return status;
}

/* ---- rows ---- */

/* Writes a row into a value; NULL leaves the default. */
static reef_status value_take(importing *x, const import_table *t, sqlite3_stmt *s, void *value)
{
    char why[SQL_REASON_MAX];
    for (uint32_t i = 0; i < t->count; i++) {
        const import_column *c = &t->columns[i];
        sqlite3_value *cell = sqlite3_column_value(s, (int)i + 1);
        if (c->field.bytes == 0 || sqlite3_value_type(cell) == SQLITE_NULL) continue;
        reef_status status = REEF_OK;
        const bool bytes = sqlite3_value_type(cell) == SQLITE_BLOB && c->field.kind == REEF_U8;
        const void *from = bytes ? sqlite3_value_blob(cell) : NULL;
        if (bytes && from && (size_t)sqlite3_value_bytes(cell) <= c->field.bytes) {
            memcpy((char *)value + c->field.offset, from, (size_t)sqlite3_value_bytes(cell));
        } else {
            status = reef__sql_take(x->f.world, cell, &c->field, value, t->info.size, why);
        }
        if (status != REEF_OK) {
            (void)snprintf(x->f.reason, sizeof x->f.reason, "%.100s, row %lld: %.300s", t->name,
                           sqlite3_column_int64(s, 0), why);
            return status;
        }
    }
    return REEF_OK;
}

static reef_status row_make(importing *x, import_table *t, sqlite3_stmt *s, void *value)
{
    memset(value, 0, t->info.size);
    const reef_status status = value_take(x, t, s, value);
    if (status != REEF_OK) return status;
    if (!reef__sql_more(&t->rows, t->row_count, &t->row_room, sizeof *t->rows)) return no_room(x);
    const reef_value v =
        reef_value_make(t->type, t->info.size ? REEF_VALUE_ONE : REEF_VALUE_DEFAULT, t->info.size, value);
    const reef_entity e = reef_spawn_values(x->f.world, &v, 1);
    if (e.generation == 0) return world_failed(x, reef_last_error(x->f.world).status);
    t->rows[t->row_count++] = (import_row){sqlite3_column_int64(s, 0), e};
    x->done.entities++;
    return REEF_OK;
}

static reef_status rows_import(importing *x, import_table *t)
{
    sqlite3_stmt *s = NULL;
    int code = SQLITE_DONE;
    void *value = reef__sql_zeroed(t->info.size);
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT %s", t->rowid);
    for (uint32_t i = 0; i < t->count; i++) sqlite3_str_appendf(sql, ", \"%w\"", t->columns[i].name);
    sqlite3_str_appendf(sql, " FROM \"%w\" ORDER BY 1", t->name);
    char *text = sqlite3_str_finish(sql);
    reef_status status = made_prepare(x, &s, text);
    if (value == NULL && status == REEF_OK) status = no_room(x);
    while (status == REEF_OK && (code = sqlite3_step(s)) == SQLITE_ROW) status = row_make(x, t, s, value);
    sqlite3_free(value);
    return rows_end(x, s, status, code, t->name);
}

/* ---- relations ---- */

static import_table *table_named(const importing *x, const char *name)
{
    for (uint32_t i = 0; name && i < x->count; i++)
        if (sqlite3_stricmp(x->tables[i].name, name) == 0) return &x->tables[i];
    return NULL;
}

static reef_entity row_entity(const import_table *t, sqlite3_int64 rowid)
{
    uint32_t low = 0, high = t->row_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (t->rows[middle].rowid < rowid) low = middle + 1;
        else high = middle;
    }
    return low < t->row_count && t->rows[low].rowid == rowid ? t->rows[low].e : (reef_entity){0, 0};
}

static reef_status key_import(importing *x, const import_table *t, const import_table *to, const char *column,
                              const char *key)
{
    sqlite3_stmt *s = NULL;
    int code = SQLITE_DONE;
    char *name = type_name(t->name, column);
    reef_status status = name ? REEF_OK : no_room(x);
    const reef_type_desc d = {.name = name, .relation = REEF_IS_RELATION | REEF_EXCLUSIVE};
    const reef_component relation = name ? reef_type_new(&d, &status) : (reef_component){0};
    if (name && relation.id == 0)
        (void)snprintf(x->f.reason, sizeof x->f.reason, "%s: %s", name, reef_status_text(status));
    sqlite3_free(name);
    if (status == REEF_OK) /* without a key column: the primary key, which is the rowid or the only key column */
        status =
            made_prepare(x, &s,
                         key ? sqlite3_mprintf("SELECT a.%s, b.%s FROM \"%w\" a JOIN \"%w\" b ON a.\"%w\" = b.\"%w\"",
                                               t->rowid, to->rowid, t->name, to->name, column, key)
                             : sqlite3_mprintf("SELECT a.%s, b.%s FROM \"%w\" a JOIN \"%w\" b ON a.\"%w\" = b.%s",
                                               t->rowid, to->rowid, t->name, to->name, column, to->rowid));
    while (status == REEF_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const reef_status made = reef_relate_id(x->f.world, row_entity(t, sqlite3_column_int64(s, 0)), relation,
                                                row_entity(to, sqlite3_column_int64(s, 1)), NULL, 0);
        if (made < REEF_OK) status = world_failed(x, made);
        else x->done.relations++;
    }
    return rows_end(x, s, status, code, t->name);
}

static reef_status keys_import(importing *x, const import_table *t)
{
    sqlite3_stmt *s = NULL;
    int code = SQLITE_DONE;
    reef_status status = made_prepare(
        x, &s,
        sqlite3_mprintf("SELECT k.\"table\", k.\"from\", coalesce(k.\"to\", (SELECT p.name FROM"
                        " pragma_table_info(k.\"table\") p WHERE p.pk = 1)) FROM pragma_foreign_key_list(%Q) k"
                        " WHERE (SELECT count(*) FROM pragma_foreign_key_list(%Q) o WHERE o.id = k.id) = 1 ORDER BY 2",
                        t->name, t->name));
    while (status == REEF_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const import_table *to = table_named(x, (const char *)sqlite3_column_text(s, 0));
        if (to)
            status =
                key_import(x, t, to, (const char *)sqlite3_column_text(s, 1), (const char *)sqlite3_column_text(s, 2));
    }
    return rows_end(x, s, status, code, t->name);
}

/* ---- all of it ---- */

static void import_drop(importing *x)
{
    for (uint32_t i = 0; i < x->count; i++) {
        import_table *t = &x->tables[i];
        for (uint32_t k = 0; k < t->count; k++) sqlite3_free(t->columns[k].name);
        sqlite3_free(t->columns);
        sqlite3_free(t->rows);
        sqlite3_free(t->name);
    }
    sqlite3_free(x->tables);
    (void)sqlite3_close(x->f.db);
}

static reef_status import_all(importing *x, const char *path, const char *table)
{
    const int code = sqlite3_open_v2(path, &x->f.db, SQLITE_OPEN_READONLY, NULL);
    reef_status status = code == SQLITE_OK ? tables_find(x, table) : reef__sql_failed(&x->f, code, path);
    for (uint32_t i = 0; i < x->count && status == REEF_OK; i++) status = rowid_find(x, &x->tables[i]);
    for (uint32_t i = 0; i < x->count && status == REEF_OK; i++) status = columns_find(x, &x->tables[i]);
    for (uint32_t i = 0; i < x->count && status == REEF_OK; i++) status = type_make(x, &x->tables[i]);
    for (uint32_t i = 0; i < x->count && status == REEF_OK; i++) status = rows_import(x, &x->tables[i]);
    for (uint32_t i = 0; i < x->count && status == REEF_OK; i++) status = keys_import(x, &x->tables[i]);
    return status;
}

reef_status reef_sqlite_import(reef_world *world, const char *path, const char *table, reef_sqlite_imported *imported,
                               char *reason)
{
    importing x = {.f = {.world = world}};
    if (imported) *imported = x.done;
    if (reason) reason[0] = 0;
    if (world == NULL || path == NULL) return REEF_BAD_ARGUMENT;
    reef_snapshot *was = reef_snapshot_take(world);
    reef_status status = was ? import_all(&x, path, table) : world_failed(&x, reef_last_error(world).status);
    if (status == REEF_OK && imported) *imported = x.done;
    if (status != REEF_OK && was && reef_restore(world, was) != REEF_OK)
        (void)snprintf(x.f.reason, sizeof x.f.reason, "the world can't be set back: %s",
                       reef_status_text(reef_last_error(world).status));
    reef_snapshot_free(was);
    import_drop(&x);
    if (reason && status != REEF_OK) (void)snprintf(reason, REEF_SQLITE_REASON_MAX, "%s", x.f.reason);
    return status;
}
