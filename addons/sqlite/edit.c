/* What other programs have written into the readable tables. Triggers note the table and id of each row in reef_edits.
 * Such a row is compared with the world, and where it differs it is applied by the calls that change a world. Then the
 * row is written as the world has it, which sets back what was refused, and all is committed. */
#include "file.h"
#include "live.h"
#include <inttypes.h>
#include <string.h>

typedef struct edit {
    char *table;
    sqlite3_int64 id;
} edit;

typedef struct pulling {
    reef_sqlite *f;
    reef_sqlite_refused refused;
    void *context;
    reef_sqlite_edits edits;
    edit *list; /* entities first */
    uint32_t count, room;
    bool no_memory; /* all of it fails */
    char reason[SQL_REASON_MAX];
} pulling;

/* Did SQLite fail to make a text of a cell? Then a function that takes one got NULL. */
static bool cell_failed(const pulling *p) { return sqlite3_errcode(p->f->db) == SQLITE_NOMEM; }

static void told(pulling *p, const edit *e, reef_status s, bool changed)
{
    if (s == REEF_NO_MEMORY || cell_failed(p)) p->no_memory = true;
    else if (s < REEF_OK) {
        p->edits.refused++;
        if (p->refused) p->refused(p->context, e->table, e->id, p->reason);
    } else if (changed) p->edits.taken++;
}

static reef_status edits_read(pulling *p)
{
    sqlite3_stmt *s = NULL;
    int code = SQLITE_DONE;
    reef_status status = reef__sql_prepare(
        p->f, &s, "SELECT name, id FROM reef_edits ORDER BY name <> 'entities', name = 'disabled', name, id");
    while (status == REEF_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        char *copy = name ? reef__sql_copy(name) : NULL;
        if (copy == NULL || !reef__sql_more(&p->list, p->count, &p->room, sizeof *p->list)) {
            sqlite3_free(copy);
            code = SQLITE_NOMEM;
            break;
        }
        p->list[p->count++] = (edit){copy, sqlite3_column_int64(s, 1)};
    }
    if (status == REEF_OK && code != SQLITE_DONE) status = reef__sql_failed(p->f, code, "reef_edits");
    sqlite3_finalize(s);
    return status;
}

/* Opens the rows of an id in a table. */
static reef_status rows_open(reef_sqlite *f, const char *table, const char *order, sqlite3_int64 id, sqlite3_stmt **s)
{
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\" WHERE id = %lld%s", table, id, order);
    if (sql == NULL) return reef__sql_failed(f, SQLITE_NOMEM, "SQLite's allocator");
    const reef_status status = reef__sql_prepare(f, s, sql);
    sqlite3_free(sql);
    return status;
}

/* ---- entities: first which there are, then their names and parents ---- */

static reef_status entity_existence(pulling *p, const edit *e)
{
    sqlite3_stmt *s = NULL;
    reef_world *w = p->f->world;
    const reef_entity entity = sql_entity(e->id);
    reef_status status = rows_open(p->f, e->table, "", e->id, &s);
    if (status != REEF_OK) return status;
    const int code = sqlite3_step(s);
    const bool alive = reef_is_alive(w, entity);
    if (code == SQLITE_ROW && !alive) told(p, e, reef__sql_create_as(w, entity, p->reason), true);
    if (code == SQLITE_DONE && alive) told(p, e, reef__sql_reason(w, reef_destroy(w, entity), p->reason), true);
    sqlite3_finalize(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? REEF_OK : reef__sql_failed(p->f, code, e->table);
}

/* Columns: id, generation, name, parent. */
static void entity_fields(pulling *p, const edit *e, sqlite3_stmt *s)
{
    reef_world *w = p->f->world;
    const reef_entity entity = sql_entity(e->id), none = {0, 0};
    const char *name = (const char *)sqlite3_column_text(s, 2), *is = reef_name(w, entity);
    p->no_memory |= cell_failed(p);
    if (p->no_memory) return;
    const reef_entity parent = sqlite3_column_type(s, 3) == SQLITE_NULL ? none : sql_entity(sqlite3_column_int64(s, 3));
    const sql_entity_edit wanted = {
        .names = name && is ? strcmp(name, is) != 0 : name != is,
        .moves = !reef_entity_equal(parent, reef_target_id(w, entity, reef_type_find("ChildOf"))),
        .name = name,
        .parent = parent};
    if (wanted.names || wanted.moves) told(p, e, reef__sql_entity_set(w, entity, &wanted, p->reason), true);
    if (sqlite3_column_type(s, 1) != SQLITE_NULL && sqlite3_column_int64(s, 1) != (sqlite3_int64)entity.generation) {
        (void)snprintf(p->reason, sizeof p->reason, "generation follows from id: it can't be written");
        told(p, e, REEF_REFUSED, false);
    }
}

static reef_status entity_pull(pulling *p, const edit *e)
{
    sqlite3_stmt *s = NULL;
    const reef_status status = rows_open(p->f, e->table, "", e->id, &s);
    if (status != REEF_OK) return status;
    const int code = sqlite3_step(s);
    if (code == SQLITE_ROW && reef_is_alive(p->f->world, sql_entity(e->id))) entity_fields(p, e, s);
    sqlite3_finalize(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? REEF_OK : reef__sql_failed(p->f, code, e->table);
}

/* ---- components ---- */

static file_table *table_of(reef_sqlite *f, const char *name, reef_status *status)
{
    sqlite3_stmt *s = NULL;
    *status = reef__sql_prepare(f, &s, "SELECT type FROM reef_types WHERE name = ?1");
    if (*status != REEF_OK) return NULL;
    int code = sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    if (code == SQLITE_OK) code = sqlite3_step(s);
    const char *type_name = code == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
    if (code == SQLITE_ROW && type_name == NULL) code = SQLITE_NOMEM;
    const reef_component type = type_name ? reef_type_find(type_name) : (reef_component){0};
    sqlite3_finalize(s);
    if (code != SQLITE_ROW && code != SQLITE_DONE) *status = reef__sql_failed(f, code, "reef_types");
    return *status == REEF_OK && type.id ? reef__sql_file_table(f, type, false, status) : NULL;
}

/* Applies the cells of one row that differ from the value. */
static void row_pull(pulling *p, const edit *e, const sql_table *t, sqlite3_stmt *s, uint32_t number)
{
    reef_world *w = p->f->world;
    const reef_entity entity = sql_entity(e->id);
    const bool has = number < reef__sql_count(w, t, entity);
    sqlite3_value **cells = reef__sql_zeroed(t->count * sizeof *cells);
    void *room = reef__sql_zeroed(t->info.size);
    bool changed = !has;
    reef_status status = cells && room ? REEF_OK : REEF_NO_MEMORY;
    const void *is = has && room ? reef__sql_value(w, t, entity, number, room) : NULL;
    for (uint32_t i = 0; i < t->count && status == REEF_OK; i++) {
        sqlite3_value *cell = sqlite3_column_value(s, (int)(t->first + i));
        const reef_field *field = t->info.field_count ? &t->info.fields[i] : NULL;
        if (t->relation && i == 1) continue; /* the place is reef's own */
        const cell_same same = is ? reef__sql_same(cell, field, is, t->info.size)
                               : has || sqlite3_value_type(cell) == SQLITE_NULL ? CELL_SAME
                                                                                : CELL_DIFFERS;
        if (same == CELL_NO_MEMORY) status = REEF_NO_MEMORY;
        if (same != CELL_DIFFERS) continue;
        cells[i] = cell;
        changed = true;
    }
    if (status != REEF_OK) (void)snprintf(p->reason, sizeof p->reason, "%s", reef_status_text(status));
    else if (changed) status = reef__sql_component_set(w, t, entity, number, cells, p->reason);
    told(p, e, status, changed);
    sqlite3_free(room);
    sqlite3_free(cells);
}

/* Ends the values that have no row any more, from the last one, so that the others keep their numbers. */
static reef_status gone_pull(pulling *p, const edit *e, const sql_table *t)
{
    reef_world *w = p->f->world;
    const reef_entity entity = sql_entity(e->id);
    reef_status status = REEF_OK;
    for (uint32_t n = reef__sql_count(w, t, entity); n-- && status == REEF_OK;) {
        sqlite3_stmt *s = NULL;
        char where[48] = "";
        if (t->many) (void)snprintf(where, sizeof where, " AND number = %u", (unsigned)n);
        status = rows_open(p->f, t->name, where, e->id, &s);
        const int code = status == REEF_OK ? sqlite3_step(s) : SQLITE_ROW;
        sqlite3_finalize(s);
        if (code == SQLITE_DONE) told(p, e, reef__sql_component_remove(w, t, entity, n, p->reason), true);
        else if (code != SQLITE_ROW) status = reef__sql_failed(p->f, code, t->name);
    }
    return status;
}

static reef_status component_pull(pulling *p, const edit *e, file_table *table)
{
    const sql_table *t = &table->t;
    sqlite3_stmt *s = NULL;
    int code = SQLITE_DONE;
    reef_status status = gone_pull(p, e, t);
    if (status == REEF_OK) status = rows_open(p->f, t->name, t->many ? " ORDER BY number" : "", e->id, &s);
    for (uint32_t n = 0; status == REEF_OK && (code = sqlite3_step(s)) == SQLITE_ROW; n++) {
        const uint32_t count = reef__sql_count(p->f->world, t, sql_entity(e->id));
        row_pull(p, e, t, s, n < count ? n : count);
    }
    sqlite3_finalize(s);
    return status == REEF_OK && code != SQLITE_DONE ? reef__sql_failed(p->f, code, t->name) : status;
}

/* ---- what is disabled ---- */

typedef struct enabling {
    pulling *p;
    const edit *e;
    reef_component types[64]; /* of the rows; more than these aren't looked at */
    uint32_t count;
} enabling;

static bool enable_step(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    enabling *x = context;
    (void)data, (void)size;
    if (reef_is_enabled_id(x->p->f->world, e, type) || x->count == 64) return true;
    x->types[x->count++] = type;
    return true;
}

static reef_status disabled_row(pulling *p, const edit *e, const char *name, reef_component *type)
{
    reef_world *w = p->f->world;
    reef_status status = REEF_OK;
    *type = (reef_component){0};
    if (name[0]) {
        const file_table *t = table_of(p->f, name, &status);
        if (status != REEF_OK) return status;
        if (t == NULL) {
            (void)snprintf(p->reason, sizeof p->reason, "component: there is no table \"%s\"", name);
            told(p, e, REEF_REFUSED, false);
            return REEF_OK;
        }
        *type = t->t.type;
    }
    if (!reef_is_alive(w, sql_entity(e->id)) || reef_is_enabled_id(w, sql_entity(e->id), *type))
        told(p, e, reef__sql_reason(w, reef_enable_id(w, sql_entity(e->id), *type, false), p->reason), true);
    return REEF_OK;
}

static reef_status disabled_pull(pulling *p, const edit *e)
{
    reef_world *w = p->f->world;
    const reef_entity entity = sql_entity(e->id);
    enabling x = {.p = p, .e = e};
    sqlite3_stmt *s = NULL;
    int code = SQLITE_DONE;
    reef_status status = rows_open(p->f, e->table, "", e->id, &s);
    (void)reef_visit_entity(w, entity, enable_step, &x);
    if (reef_is_alive(w, entity) && !reef_is_enabled_id(w, entity, (reef_component){0}) && x.count < 64)
        x.types[x.count++] = (reef_component){0};
    while (status == REEF_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        reef_component type;
        const char *name = (const char *)sqlite3_column_text(s, 1);
        p->no_memory |= cell_failed(p);
        if (p->no_memory) break;
        status = disabled_row(p, e, name ? name : "", &type);
        for (uint32_t i = 0; i < x.count; i++)
            if (x.types[i].id == type.id) x.types[i--] = x.types[--x.count];
    }
    if (status == REEF_OK && code != SQLITE_DONE && !p->no_memory) status = reef__sql_failed(p->f, code, e->table);
    sqlite3_finalize(s);
    for (uint32_t i = 0; i < x.count && status == REEF_OK; i++)
        if (reef_is_alive(w, entity) && !reef_is_enabled_id(w, entity, x.types[i]))
            told(p, e, reef__sql_reason(w, reef_enable_id(w, entity, x.types[i], true), p->reason), true);
    return status;
}

/* ---- all of it ---- */

static reef_status edit_take(pulling *p, const edit *e, bool existence)
{
    reef_status status = REEF_OK;
    const bool entity = strcmp(e->table, "entities") == 0;
    if (existence) return entity ? entity_existence(p, e) : REEF_OK;
    if (entity) return entity_pull(p, e);
    if (strcmp(e->table, "disabled") == 0) return disabled_pull(p, e);
    file_table *t = table_of(p->f, e->table, &status);
    if (t) return component_pull(p, e, t);
    if (status != REEF_OK) return status;
    (void)snprintf(p->reason, sizeof p->reason, "the type of this table isn't known here");
    told(p, e, REEF_REFUSED, false);
    return REEF_OK;
}

static reef_status edit_pull(pulling *p, const edit *e, bool existence)
{
    const reef_status status = edit_take(p, e, existence);
    return status == REEF_OK && p->no_memory ? reef__sql_failed(p->f, SQLITE_NOMEM, e->table) : status;
}

static reef_status edit_settle(pulling *p, const edit *e)
{
    reef_status status = REEF_OK;
    if (strcmp(e->table, "entities") == 0) return reef__sql_mirror_entity(p->f, sql_entity(e->id));
    if (strcmp(e->table, "disabled") == 0) return reef__sql_mirror_disabled(p->f, sql_entity(e->id));
    file_table *t = table_of(p->f, e->table, &status);
    return t ? reef__sql_mirror_component(p->f, t, sql_entity(e->id)) : status;
}

static reef_status edits_apply(pulling *p)
{
    reef_status status = edits_read(p);
    for (int existence = 1; existence >= 0; existence--)
        for (uint32_t i = 0; i < p->count && status == REEF_OK; i++) status = edit_pull(p, &p->list[i], existence != 0);
    for (uint32_t i = 0; i < p->count && status == REEF_OK; i++) status = edit_settle(p, &p->list[i]);
    return status == REEF_OK ? reef__sql_exec(p->f, "DELETE FROM reef_edits") : status;
}

reef_status reef_sqlite_pull(reef_sqlite *f, reef_sqlite_refused refused, void *context, reef_sqlite_edits *edits)
{
    pulling p = {.f = f, .refused = refused, .context = context};
    if (edits) *edits = p.edits;
    if (f == NULL) return REEF_BAD_ARGUMENT;
    if (reef_time_owner(f->world)) {
        (void)snprintf(f->reason, sizeof f->reason, "the time of this world belongs to %s", reef_time_owner(f->world));
        return REEF_LOCKED;
    }
    reef_status status = reef__sql_begin(f);
    if (status != REEF_OK) return status;
    reef_snapshot *was = reef_snapshot_take(f->world);
    if (was == NULL) status = reef__sql_world_failed(f, f->world, reef_last_error(f->world).status);
    else if (f->has_schema && f->last && !f->anew) status = edits_apply(&p); /* else the tables are made anew */
    if (status == REEF_OK) status = reef__sql_commit(f);
    else reef__sql_undo(f);
    if (status == REEF_OK && edits) *edits = p.edits;
    if (status != REEF_OK && was && reef_restore(f->world, was) != REEF_OK)
        (void)snprintf(f->reason, sizeof f->reason, "the world can't be set back: %s",
                       reef_status_text(reef_last_error(f->world).status));
    reef_snapshot_free(was);
    for (uint32_t i = 0; i < p.count; i++) sqlite3_free(p.list[i].table);
    sqlite3_free(p.list);
    return status;
}
