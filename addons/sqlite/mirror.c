/* The readable tables of a file. A commit walks the difference of two states and writes each change as a row:
 *
 *     born, gone, named ─► entities        added, written, removed ─► the type's table        disabled ─► disabled
 *
 * The tables follow the state; the state is read from reef's own bytes (record.c). Triggers in the file note what other
 * programs write (edit.c). This connection runs no triggers, so they cost a commit nothing. */
#include "file.h"
#include <inttypes.h>
#include <string.h>

static const char schema[] =
    "CREATE TABLE reef_format (version INTEGER) STRICT;"
    "INSERT INTO reef_format VALUES (1);"
    "CREATE TABLE reef_commits (number INTEGER PRIMARY KEY, tick INTEGER, time_ns INTEGER, changes INTEGER,"
    " difference BLOB /* to the commit before, as reef_diff_save; NULL: reef_wholes has this one */) STRICT;"
    "CREATE TABLE reef_wholes (number INTEGER, part INTEGER, bytes BLOB /* a file of reef_save in parts */,"
    " PRIMARY KEY (number, part)) STRICT;"
    "CREATE TABLE reef_types (type TEXT PRIMARY KEY, name TEXT /* of its table */) STRICT, WITHOUT ROWID;"
    "CREATE TABLE reef_edits (name TEXT /* of a table */, id INTEGER, PRIMARY KEY (name, id)) STRICT, WITHOUT ROWID;";

/* Made again with every new beginning. */
static const char common[] =
    "CREATE TABLE entities (\n  id INTEGER PRIMARY KEY, /* index + 2^32 * (generation - 1) */\n"
    "  generation INTEGER,\n  name TEXT,\n  parent INTEGER REFERENCES entities(id)\n) STRICT;"
    "CREATE INDEX reef_index_name ON entities(name) WHERE name IS NOT NULL;"
    "CREATE INDEX reef_index_parent ON entities(parent) WHERE parent IS NOT NULL;"
    "CREATE TABLE disabled (\n  id INTEGER REFERENCES entities(id) ON DELETE CASCADE,\n"
    "  component TEXT, /* a table; '': the whole entity */\n  PRIMARY KEY (id, component)\n) STRICT, WITHOUT ROWID;"
    "CREATE TABLE singletons (\n  component TEXT PRIMARY KEY, /* a table */\n"
    "  id INTEGER REFERENCES entities(id)\n) STRICT, WITHOUT ROWID;";

static const char *const fixed_sql[FIXED_COUNT] = {
    [ENTITY_INSERT] = "INSERT OR REPLACE INTO entities(id, generation) VALUES (?1, ?2)",
    [ENTITY_DELETE] = "DELETE FROM entities WHERE id = ?1",
    [ENTITY_NAME] = "UPDATE entities SET name = ?2 WHERE id = ?1",
    [ENTITY_PARENT] = "UPDATE entities SET parent = ?2 WHERE id = ?1",
    [DISABLED_INSERT] = "INSERT OR REPLACE INTO disabled VALUES (?1, ?2)",
    [DISABLED_DELETE] = "DELETE FROM disabled WHERE id = ?1 AND component = ?2",
    [DISABLED_DELETE_ALL] = "DELETE FROM disabled WHERE id = ?1",
    [TYPE_INSERT] = "INSERT INTO reef_types VALUES (?1, ?2)",
    [COMMIT_INSERT] = "INSERT INTO reef_commits VALUES (?1, ?2, ?3, ?4, ?5)",
    [WHOLE_INSERT] = "INSERT INTO reef_wholes VALUES (?1, ?2, ?3)",
};

sqlite3_stmt *reef__sql_fixed(reef_sqlite *f, fixed_statement which, reef_status *status)
{
    if (f->fixed[which] == NULL) *status = reef__sql_prepare(f, &f->fixed[which], fixed_sql[which]);
    return f->fixed[which];
}

/* ---- tables ---- */

static char *trigger_text(const char *name)
{
    return sqlite3_mprintf("CREATE TRIGGER \"reef_inserted_%w\" AFTER INSERT ON \"%w\" BEGIN"
                           " INSERT OR REPLACE INTO reef_edits VALUES (%Q, new.id); END;"
                           "CREATE TRIGGER \"reef_deleted_%w\" AFTER DELETE ON \"%w\" BEGIN"
                           " INSERT OR REPLACE INTO reef_edits VALUES (%Q, old.id); END;"
                           "CREATE TRIGGER \"reef_updated_%w\" AFTER UPDATE ON \"%w\" BEGIN"
                           " INSERT OR REPLACE INTO reef_edits VALUES (%Q, old.id), (%Q, new.id); END;",
                           name, name, name, name, name, name, name, name, name, name);
}

static void file_table_drop(file_table *t)
{
    if (t == NULL) return;
    sqlite3_finalize(t->insert);
    sqlite3_finalize(t->update);
    sqlite3_finalize(t->remove);
    reef__sql_table_drop(&t->t);
    sqlite3_free(t);
}

void reef__sql_tables_forget(reef_sqlite *f)
{
    for (uint32_t i = 0; i < f->table_count; i++) file_table_drop(f->tables[i]);
    f->table_count = 0;
    if (f->by_type) memset(f->by_type, 0, f->type_room * sizeof *f->by_type);
    for (int i = 0; i < FIXED_COUNT; i++) {
        sqlite3_finalize(f->fixed[i]);
        f->fixed[i] = NULL;
    }
    f->some_disabled = true;
}

static reef_status no_memory(reef_sqlite *f) { return reef__sql_failed(f, SQLITE_NOMEM, "SQLite's allocator"); }

/* The name of the type's table in the file. *name is NULL if there is none. */
static reef_status name_find(reef_sqlite *f, const char *type, char **name)
{
    sqlite3_stmt *s = NULL;
    *name = NULL;
    reef_status status = reef__sql_prepare(f, &s, "SELECT name FROM reef_types WHERE type = ?1");
    if (status != REEF_OK) return status;
    int code = sqlite3_bind_text(s, 1, type, -1, SQLITE_STATIC);
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        *name = text ? reef__sql_copy(text) : NULL;
        code = *name ? SQLITE_DONE : SQLITE_NOMEM;
    }
    sqlite3_finalize(s);
    return code == SQLITE_DONE ? REEF_OK : reef__sql_failed(f, code, "reef_types");
}

/* Is there anything of this name in the file? */
static reef_status name_taken(reef_sqlite *f, const char *name, bool *taken)
{
    sqlite3_stmt *s = NULL;
    reef_status status = reef__sql_prepare(f, &s, "SELECT 1 FROM sqlite_master WHERE name = ?1 COLLATE NOCASE");
    if (status != REEF_OK) return status;
    int code = sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    if (code == SQLITE_OK) code = sqlite3_step(s);
    *taken = code == SQLITE_ROW;
    sqlite3_finalize(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? REEF_OK : reef__sql_failed(f, code, "sqlite_master");
}

static reef_status name_choose(reef_sqlite *f, const char *type, char **name)
{
    bool taken = true;
    reef_status status = REEF_OK;
    *name = reef__sql_copy(type);
    while (*name && status == REEF_OK) {
        taken = reef__sql_name_reserved(*name);
        if (!taken) status = name_taken(f, *name, &taken);
        if (!taken) break;
        *name = reef__sql_name_next(*name);
    }
    return *name ? status : no_memory(f);
}

static reef_status table_make(reef_sqlite *f, const file_table *t)
{
    reef_status status = reef__sql_exec_made(f, reef__sql_table_create(&t->t));
    if (status == REEF_OK) status = reef__sql_exec_made(f, trigger_text(t->t.name));
    if (status == REEF_OK && t->t.relation)
        status = reef__sql_exec_made(f, sqlite3_mprintf("CREATE INDEX \"reef_target_%w\" ON \"%w\"(\"%w\")", t->t.name,
                                                        t->t.name, t->t.columns[0]));
    sqlite3_stmt *s = status == REEF_OK ? reef__sql_fixed(f, TYPE_INSERT, &status) : NULL;
    if (s == NULL) return status;
    int code = sqlite3_bind_text(s, 1, t->t.info.name, -1, SQLITE_TRANSIENT);
    if (code == SQLITE_OK) code = sqlite3_bind_text(s, 2, t->t.name, -1, SQLITE_TRANSIENT);
    return code == SQLITE_OK ? reef__sql_step(f, s) : reef__sql_failed(f, code, "reef_types");
}

static bool type_room(reef_sqlite *f, uint32_t id)
{
    if (id < f->type_room) return true;
    const uint32_t room = (id | 63) + 1;
    uint32_t *more = sqlite3_realloc64(f->by_type, room * sizeof *more);
    if (more == NULL) return false;
    memset(more + f->type_room, 0, (room - f->type_room) * sizeof *more);
    f->by_type = more;
    f->type_room = room;
    return true;
}

static reef_status table_open(reef_sqlite *f, file_table *t, reef_component type, bool make, bool *found)
{
    char *name = NULL;
    reef_status status = name_find(f, reef_type_name(type), &name);
    *found = name != NULL;
    if (status == REEF_OK && !*found && make) status = name_choose(f, reef_type_name(type), &name);
    if (status == REEF_OK && name && !reef__sql_table_init(&t->t, type, name)) status = no_memory(f);
    if (status == REEF_OK && name && !*found) {
        status = table_make(f, t);
        *found = true;
    }
    sqlite3_free(name);
    return status;
}

file_table *reef__sql_file_table(reef_sqlite *f, reef_component type, bool make, reef_status *status)
{
    bool found = false;
    if (type.id < f->type_room && f->by_type[type.id]) return f->tables[f->by_type[type.id] - 1];
    file_table *t = reef__sql_zeroed(sizeof *t);
    if (t == NULL || !type_room(f, type.id) ||
        !reef__sql_more(&f->tables, f->table_count, &f->table_room, sizeof(file_table *)))
        *status = no_memory(f);
    else *status = table_open(f, t, type, make, &found);
    if (*status != REEF_OK || !found) return file_table_drop(t), NULL;
    f->tables[f->table_count] = t;
    f->by_type[type.id] = ++f->table_count;
    return t;
}

/* Drops the table of the n-th type that the file lists. */
static reef_status type_table_drop(reef_sqlite *f, uint32_t n, bool *more)
{
    sqlite3_stmt *s = NULL;
    char sql[80];
    (void)snprintf(sql, sizeof sql, "SELECT name FROM reef_types ORDER BY type LIMIT 1 OFFSET %u", (unsigned)n);
    reef_status status = reef__sql_prepare(f, &s, sql);
    if (status != REEF_OK) return status;
    const int code = sqlite3_step(s);
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    char *name = text ? reef__sql_copy(text) : NULL;
    sqlite3_finalize(s); /* dropping changes what the statement reads, so each table is found anew */
    *more = code == SQLITE_ROW;
    if (code != SQLITE_ROW && code != SQLITE_DONE) return reef__sql_failed(f, code, "reef_types");
    if (text && name == NULL) return no_memory(f);
    if (name && !reef__sql_name_reserved(name))
        status = reef__sql_exec_made(f, sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\"", name));
    sqlite3_free(name);
    return status;
}

reef_status reef__sql_schema(reef_sqlite *f)
{
    reef_status status = f->has_schema ? REEF_OK : reef__sql_exec(f, schema);
    reef__sql_tables_forget(f);
    /* The list is dropped as a whole, so this ends whatever stands in it. */
    bool more = true;
    for (uint32_t n = 0; status == REEF_OK && more; n++) status = type_table_drop(f, n, &more);
    if (status == REEF_OK) status = reef__sql_exec(f, "DELETE FROM reef_types");
    if (status != REEF_OK) return status;
    status = reef__sql_exec(f, "DROP TABLE IF EXISTS entities; DROP TABLE IF EXISTS disabled;"
                               "DROP TABLE IF EXISTS singletons; DELETE FROM reef_edits;");
    if (status == REEF_OK) status = reef__sql_exec(f, common);
    if (status == REEF_OK) status = reef__sql_exec_made(f, trigger_text("entities"));
    return status == REEF_OK ? reef__sql_exec_made(f, trigger_text("disabled")) : status;
}

/* ---- rows ---- */

static sqlite3_stmt *table_statement(reef_sqlite *f, file_table *t, sqlite3_stmt **kept, reef_status *status)
{
    if (*kept) return *kept;
    sqlite3_str *s = sqlite3_str_new(f->db);
    const uint32_t first = t->t.first;
    if (kept == &t->insert) {
        sqlite3_str_appendf(s, "INSERT OR REPLACE INTO \"%w\" VALUES (?1", t->t.name);
        for (uint32_t i = 1; i < first + t->t.count; i++) sqlite3_str_appendf(s, ", ?%u", (unsigned)i + 1);
        sqlite3_str_appendall(s, ")");
    } else {
        const bool update = kept == &t->update;
        sqlite3_str_appendf(s, update ? "UPDATE \"%w\" SET " : "DELETE FROM \"%w\"", t->t.name);
        for (uint32_t i = 0; update && i < t->t.count; i++)
            sqlite3_str_appendf(s, "%s\"%w\" = ?%u", i ? ", " : "", t->t.columns[i], (unsigned)(first + i + 1));
        sqlite3_str_appendall(s, t->t.many ? " WHERE id = ?1 AND number = ?2" : " WHERE id = ?1");
    }
    char *sql = sqlite3_str_finish(s);
    *status = sql ? reef__sql_prepare(f, kept, sql) : no_memory(f);
    sqlite3_free(sql);
    return *kept;
}

/* `kept` is one of the table's three statements. */
static reef_status row_write(reef_sqlite *f, file_table *t, sqlite3_stmt **kept, reef_entity e, uint32_t number,
                             const void *value)
{
    reef_status status = REEF_OK;
    sqlite3_stmt *s = table_statement(f, t, kept, &status);
    if (s == NULL) return status;
    int code = sqlite3_bind_int64(s, 1, sql_id(e));
    if (code == SQLITE_OK && t->t.many) code = sqlite3_bind_int64(s, 2, number);
    for (uint32_t i = 0; kept != &t->remove && i < t->t.count && code == SQLITE_OK; i++)
        code = reef__sql_bind(s, (int)(t->t.first + i + 1), t->t.info.field_count ? &t->t.info.fields[i] : NULL, value,
                              t->t.info.size);
    return code == SQLITE_OK ? reef__sql_step(f, s) : reef__sql_failed(f, code, t->t.name);
}

/* Runs a statement with an id, and a text or an id; NULL and null are NULL. */
static reef_status fixed_text(reef_sqlite *f, fixed_statement which, reef_entity e, const char *text)
{
    reef_status status = REEF_OK;
    sqlite3_stmt *s = reef__sql_fixed(f, which, &status);
    if (s == NULL) return status;
    int code = sqlite3_bind_int64(s, 1, sql_id(e));
    if (code == SQLITE_OK) code = sqlite3_bind_text(s, 2, text, -1, SQLITE_TRANSIENT);
    return code == SQLITE_OK ? reef__sql_step(f, s) : reef__sql_failed(f, code, "a name");
}

static reef_status fixed_id(reef_sqlite *f, fixed_statement which, reef_entity e, reef_entity other, bool two)
{
    reef_status status = REEF_OK;
    sqlite3_stmt *s = reef__sql_fixed(f, which, &status);
    if (s == NULL) return status;
    (void)sqlite3_bind_int64(s, 1, sql_id(e));
    if (two && other.generation) (void)sqlite3_bind_int64(s, 2, sql_id(other));
    else if (two) (void)sqlite3_bind_null(s, 2);
    return reef__sql_step(f, s);
}

static reef_status entity_insert(reef_sqlite *f, reef_entity e)
{
    reef_status status = REEF_OK;
    sqlite3_stmt *s = reef__sql_fixed(f, ENTITY_INSERT, &status);
    if (s == NULL) return status;
    (void)sqlite3_bind_int64(s, 1, sql_id(e));
    (void)sqlite3_bind_int64(s, 2, e.generation);
    return reef__sql_step(f, s);
}

static reef_entity parent_of(const reef_sqlite *f, const reef_world *w, reef_entity e)
{
    return f->parent.id ? reef_target_id(w, e, f->parent) : (reef_entity){0, 0};
}

static reef_status component_change(reef_sqlite *f, const reef_world *after, const reef_change *c)
{
    reef_status status = REEF_OK;
    file_table *t = reef__sql_file_table(f, c->component, true, &status);
    if (t == NULL) return status;
    switch (c->kind) {
    case REEF_CHANGE_REMOVED:
        status = row_write(f, t, &t->remove, c->entity, c->number, NULL);
        if (status == REEF_OK && f->some_disabled) status = fixed_text(f, DISABLED_DELETE, c->entity, t->t.name);
        break;
    case REEF_CHANGE_ADDED: status = row_write(f, t, &t->insert, c->entity, c->number, c->is); break;
    case REEF_CHANGE_VALUE:
        status = row_write(f, t, &t->update, c->entity, c->number, c->is);
        if (status == REEF_OK && sqlite3_changes(f->db) == 0) /* another program has deleted the row */
            status = row_write(f, t, &t->insert, c->entity, c->number, c->is);
        break;
    case REEF_CHANGE_DISABLED: status = fixed_text(f, DISABLED_INSERT, c->entity, t->t.name); break;
    default: status = fixed_text(f, DISABLED_DELETE, c->entity, t->t.name); break;
    }
    if (status == REEF_OK && c->component.id == f->parent.id && c->kind < REEF_CHANGE_DISABLED)
        status = fixed_id(f, ENTITY_PARENT, c->entity, parent_of(f, after, c->entity), true);
    return status;
}

static reef_status change_write(reef_sqlite *f, const reef_world *after, const reef_change *c)
{
    switch (c->kind) {
    case REEF_CHANGE_GONE: {
        const reef_status status = fixed_id(f, ENTITY_DELETE, c->entity, c->entity, false);
        return status == REEF_OK && f->some_disabled ? fixed_id(f, DISABLED_DELETE_ALL, c->entity, c->entity, false)
                                                     : status;
    }
    case REEF_CHANGE_BORN: return entity_insert(f, c->entity);
    case REEF_CHANGE_NAME: return fixed_text(f, ENTITY_NAME, c->entity, c->is);
    default: break;
    }
    if (c->component.id) return component_change(f, after, c);
    return fixed_text(f, c->kind == REEF_CHANGE_DISABLED ? DISABLED_INSERT : DISABLED_DELETE, c->entity, "");
}

/* ---- singletons: few, so they are written anew where they may have changed ---- */

typedef struct singles {
    reef_sqlite *f;
    sqlite3_stmt *s;
    reef_status status;
} singles;

static bool single_write(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    singles *x = context;
    (void)data, (void)size;
    file_table *t = reef__sql_file_table(x->f, type, true, &x->status);
    if (t == NULL) return false;
    int code = sqlite3_bind_text(x->s, 1, t->t.name, -1, SQLITE_TRANSIENT);
    if (code == SQLITE_OK) code = sqlite3_bind_int64(x->s, 2, sql_id(e));
    x->status = code == SQLITE_OK ? reef__sql_step(x->f, x->s) : reef__sql_failed(x->f, code, "singletons");
    return x->status == REEF_OK;
}

static reef_status singles_write(reef_sqlite *f, const reef_world *w)
{
    singles x = {.f = f, .status = reef__sql_exec(f, "DELETE FROM singletons")};
    if (x.status == REEF_OK) x.status = reef__sql_prepare(f, &x.s, "INSERT OR REPLACE INTO singletons VALUES (?1, ?2)");
    if (x.status == REEF_OK) (void)reef_visit_entity(w, reef_single_entity(w), single_write, &x);
    sqlite3_finalize(x.s);
    return x.status;
}

static reef_status disabled_look(reef_sqlite *f)
{
    sqlite3_stmt *s = NULL;
    const reef_status status = reef__sql_prepare(f, &s, "SELECT 1 FROM disabled LIMIT 1");
    if (status != REEF_OK) return status;
    const int code = sqlite3_step(s);
    f->some_disabled = code == SQLITE_ROW;
    sqlite3_finalize(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? REEF_OK : reef__sql_failed(f, code, "disabled");
}

reef_status reef__sql_mirror(reef_sqlite *f, const reef_world *before, const reef_world *after, uint64_t *changes)
{
    const reef_entity single = reef_single_entity(after), was = reef_single_entity(before);
    bool singles_changed = !reef_entity_equal(single, was);
    *changes = 0;
    f->parent = reef_type_find("ChildOf");
    reef_status status = disabled_look(f);
    reef_diff *d = status == REEF_OK ? reef_diff_new(before, after) : NULL;
    if (d == NULL) return status == REEF_OK ? reef__sql_world_failed(f, NULL, REEF_NO_MEMORY) : status;
    for (const reef_change *c; status == REEF_OK && (c = reef_diff_next(d)) != NULL; ++*changes) {
        status = change_write(f, after, c);
        singles_changed |= c->kind != REEF_CHANGE_VALUE && reef_entity_equal(c->entity, single);
    }
    reef_diff_free(d);
    return status == REEF_OK && singles_changed ? singles_write(f, after) : status;
}

/* ---- single rows, as the world has them ---- */

reef_status reef__sql_mirror_component(reef_sqlite *f, file_table *t, reef_entity e)
{
    void *room = reef__sql_zeroed(t->t.info.size);
    if (room == NULL) return no_memory(f);
    const uint32_t count = reef__sql_count(f->world, &t->t, e);
    reef_status status =
        reef__sql_exec_made(f, sqlite3_mprintf("DELETE FROM \"%w\" WHERE id = %lld", t->t.name, sql_id(e)));
    for (uint32_t i = 0; i < count && status == REEF_OK; i++)
        status = row_write(f, t, &t->insert, e, i, reef__sql_value(f->world, &t->t, e, i, room));
    sqlite3_free(room);
    return status;
}

reef_status reef__sql_mirror_entity(reef_sqlite *f, reef_entity e)
{
    if (!reef_is_alive(f->world, e)) return fixed_id(f, ENTITY_DELETE, e, e, false);
    reef_status status = entity_insert(f, e);
    if (status == REEF_OK) status = fixed_text(f, ENTITY_NAME, e, reef_name(f->world, e));
    return status == REEF_OK ? fixed_id(f, ENTITY_PARENT, e, parent_of(f, f->world, e), true) : status;
}

typedef struct disabled_of {
    reef_sqlite *f;
    reef_status status;
} disabled_of;

static bool disabled_step(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    disabled_of *x = context;
    (void)data, (void)size;
    if (reef_is_enabled_id(x->f->world, e, type)) return true;
    file_table *t = reef__sql_file_table(x->f, type, true, &x->status);
    if (t) x->status = fixed_text(x->f, DISABLED_INSERT, e, t->t.name);
    return x->status == REEF_OK;
}

reef_status reef__sql_mirror_disabled(reef_sqlite *f, reef_entity e)
{
    disabled_of x = {f, fixed_id(f, DISABLED_DELETE_ALL, e, e, false)};
    if (x.status != REEF_OK || !reef_is_alive(f->world, e)) return x.status;
    if (!reef_is_enabled_id(f->world, e, (reef_component){0})) x.status = fixed_text(f, DISABLED_INSERT, e, "");
    if (x.status == REEF_OK) (void)reef_visit_entity(f->world, e, disabled_step, &x);
    return x.status;
}
