/* UPDATE, INSERT and DELETE: each row is one call that a C program would make, so hooks, observers and what relations
 * do to their sources happen as always. A row is written completely or not at all: its cells are checked first, in a
 * copy of the value. */
#include "live.h"
#include <string.h>

reef_status reef__sql_reason(const reef_world *w, reef_status s, char *reason)
{
    if (s >= REEF_OK) return s;
    if (reef_last_error(w).status == s) (void)reef_error_text(w, reason, SQL_REASON_MAX);
    else (void)snprintf(reason, SQL_REASON_MAX, "%s", reef_status_text(s));
    return s;
}

static reef_status refused(char *reason, const char *what)
{
    (void)snprintf(reason, SQL_REASON_MAX, "%s", what);
    return REEF_REFUSED;
}

reef_status reef__sql_create_as(reef_world *w, reef_entity e, char *reason)
{
    /* How many there are is counted only for an id that may be too far. */
    if (e.index > SQL_IDS_LEFT_OUT && e.index - SQL_IDS_LEFT_OUT > reef_world_stats(w).indices) {
        (void)snprintf(reason, SQL_REASON_MAX, "the id leaves out more than %d others", SQL_IDS_LEFT_OUT);
        return REEF_REFUSED;
    }
    return reef__sql_reason(w, reef_create_as(w, e), reason);
}

/* ---- components ---- */

/* Writes the cells into a copy of the value. UPDATE ... FROM names all columns: those that stay are left alone, since
 * not every value that is there may be written anew, such as a handle of an entity that is gone. */
static reef_status cells_take(const reef_world *w, const sql_table *t, sqlite3_value *const *cells, bool has,
                              void *value, char *reason)
{
    reef_status s = REEF_OK;
    for (uint32_t i = 0; i < t->count && s == REEF_OK; i++) {
        const reef_field *f = t->info.field_count ? &t->info.fields[i] : NULL;
        if (cells[i] == NULL || (has && reef__sql_same(cells[i], f, value, t->info.size) == CELL_SAME)) continue;
        s = reef__sql_take(w, cells[i], f, value, t->info.size, reason);
    }
    return s;
}

/* Does the type own memory, so that its values can't be copied as bytes? Then its fields are written where they are. */
static bool owns(const sql_table *t)
{
    const reef_hooks *h = t->info.hooks;
    return h && (h->copy || h->move || h->destroy || h->construct || h->address_bound);
}

static reef_entity target_in(const void *value) /* of a relation, whose struct begins with it */
{
    reef_entity e;
    memcpy(&e, value, sizeof e);
    return e;
}

static reef_status relation_set(reef_world *w, const sql_table *t, reef_entity e, const void *was, const void *value,
                                char *reason)
{
    reef_type_info data = {0};
    const bool has = t->info.data.id && reef_type_get(t->info.data, &data);
    const uint32_t place = (uint32_t)sizeof(reef_entity) + (uint32_t)sizeof(uint64_t);
    const uint32_t offset = has ? (place + data.align - 1) / data.align * data.align : 0;
    const reef_entity target = target_in(value), old = was ? target_in(was) : (reef_entity){0, 0};
    reef_status s = REEF_OK;
    if (target.generation == 0) return refused(reason, "target can't be NULL");
    if (was && t->many && !reef_entity_equal(old, target)) s = reef_retarget_id(w, e, t->type, old, target);
    if (s < REEF_OK) return reef__sql_reason(w, s, reason);
    s = reef_relate_id(w, e, t->type, target, has ? (const char *)value + offset : NULL, has ? data.size : 0);
    return reef__sql_reason(w, s, reason);
}

static reef_status owned_set(reef_world *w, const sql_table *t, reef_entity e, uint32_t number,
                             sqlite3_value *const *cells, bool has, char *reason)
{
    uint32_t n = 0;
    void *to;
    if (t->info.field_count == 0)
        return refused(reason, "values of a type with hooks and without fields can't be written");
    if (!has) to = t->many ? NULL : reef_ensure_id(w, e, t->type, NULL);
    else to = t->many ? reef_mut_all_id(w, e, t->type, &n) : reef_mut_id(w, e, t->type);
    if (t->many && !has) (void)reef_add_id(w, e, t->type, NULL, &to);
    else if (t->many && to) to = (char *)to + (size_t)number * t->info.size;
    if (to == NULL) return reef__sql_reason(w, reef_last_error(w).status, reason);
    return cells_take(w, t, cells, has, to, reason);
}

static reef_status value_set(reef_world *w, const sql_table *t, reef_entity e, uint32_t number, const void *was,
                             const void *value, char *reason)
{
    uint32_t n = 0;
    if (t->relation) return relation_set(w, t, e, was, value, reason);
    if (!t->many || (was && number == 0))
        return reef__sql_reason(w, reef_set_id(w, e, t->type, value, t->info.size), reason);
    char *all = was ? reef_mut_all_id(w, e, t->type, &n) : reef_append_id(w, e, t->type, value, t->info.size);
    if (all == NULL) return reef__sql_reason(w, reef_last_error(w).status, reason);
    if (was) memcpy(all + (size_t)number * t->info.size, value, t->info.size);
    return REEF_OK;
}

reef_status reef__sql_component_set(reef_world *w, const sql_table *t, reef_entity e, uint32_t number,
                                    sqlite3_value *const *cells, char *reason)
{
    if (!reef_is_alive(w, e)) return refused(reason, "there is no such entity");
    const uint32_t count = reef__sql_count(w, t, e);
    const bool has = number < count;
    if (t->info.size == 0) return has ? REEF_OK : reef__sql_reason(w, reef_add_id(w, e, t->type, NULL, NULL), reason);
    if (!has && t->many && number != count && number != UINT32_MAX)
        return refused(reason, "number: the values of an entity are numbered from 0 without gaps");
    char *value = reef__sql_zeroed(2 * (size_t)t->info.size);
    if (value == NULL) return refused(reason, "no memory"), REEF_NO_MEMORY;
    char *was = has ? value + t->info.size : NULL;
    const void *is = has ? reef__sql_value(w, t, e, number, was) : NULL;
    if (is) {
        if (is != was) memcpy(was, is, t->info.size);
        memcpy(value, was, t->info.size);
    }
    reef_status s = cells_take(w, t, cells, has, value, reason);
    if (s == REEF_OK)
        s = owns(t) ? owned_set(w, t, e, number, cells, has, reason) : value_set(w, t, e, number, was, value, reason);
    sqlite3_free(value);
    return s < REEF_OK ? s : REEF_OK;
}

reef_status reef__sql_component_remove(reef_world *w, const sql_table *t, reef_entity e, uint32_t number, char *reason)
{
    if (number >= reef__sql_count(w, t, e)) return REEF_OK; /* it went with an earlier row */
    if (!t->many) return reef__sql_reason(w, reef_remove_id(w, e, t->type), reason);
    const void *value = reef__sql_value(w, t, e, number, NULL);
    if (!t->relation || value == NULL) return reef__sql_reason(w, reef_remove_one_id(w, e, t->type, number), reason);
    return reef__sql_reason(w, reef_unrelate_id(w, e, t->type, target_in(value)), reason);
}

/* ---- entities ---- */

static reef_status parent_set(reef_world *w, reef_entity e, reef_entity parent, char *reason)
{
    const reef_component relation = reef_type_find("ChildOf");
    const reef_entity was = reef_target_id(w, e, relation);
    if (reef_entity_equal(was, parent)) return REEF_OK;
    const reef_status s =
        parent.generation ? reef_relate_id(w, e, relation, parent, NULL, 0) : reef_unrelate_id(w, e, relation, was);
    return reef__sql_reason(w, s, reason);
}

static bool given(sqlite3_value *cell) { return !sqlite3_value_nochange(cell); }

/* The entity of an id in a cell; null: there is none. */
static reef_entity entity_in(sqlite3_value *cell)
{
    if (sqlite3_value_numeric_type(cell) != SQLITE_INTEGER) return (reef_entity){0, 0};
    return sql_entity(sqlite3_value_int64(cell));
}

/* Names are unique among siblings: an entity that gets a new name and a new parent has no name on the way. */
reef_status reef__sql_entity_set(reef_world *w, reef_entity e, const sql_entity_edit *edit, char *reason)
{
    char was[REEF_NAME_MAX + 1] = "";
    reef_status s = REEF_OK;
    const char *is = reef_name(w, e);
    const bool names = edit->names && (edit->name && is ? strcmp(edit->name, is) != 0 : edit->name != is);
    const bool both = names && is && edit->moves;
    if (is) (void)snprintf(was, sizeof was, "%s", is);
    if (both) s = reef_set_name(w, e, NULL);
    if (s >= REEF_OK && edit->moves) s = parent_set(w, e, edit->parent, reason);
    else s = reef__sql_reason(w, s, reason);
    if (s >= REEF_OK && names) s = reef__sql_reason(w, reef_set_name(w, e, edit->name), reason);
    if (s < REEF_OK && both) (void)reef_set_name(w, e, was);
    return s;
}

/* cells: id, generation, name, parent */
static reef_status entity_write(reef_world *w, reef_entity e, bool made, sqlite3_value **cells, char *reason)
{
    sql_entity_edit edit = {.names = given(cells[2]), .moves = given(cells[3])};
    if (!made && !reef_is_alive(w, e)) return refused(reason, "there is no such entity");
    if (given(cells[1]) && sqlite3_value_type(cells[1]) != SQLITE_NULL &&
        sqlite3_value_int64(cells[1]) != (sqlite3_int64)e.generation)
        return refused(reason, "generation follows from id: it can't be written");
    if (edit.moves && sqlite3_value_type(cells[3]) != SQLITE_NULL) {
        edit.parent = entity_in(cells[3]);
        if (!reef_is_alive(w, edit.parent)) return refused(reason, "parent: there is no such entity");
    }
    if (edit.names && sqlite3_value_type(cells[2]) != SQLITE_NULL) {
        edit.name = (const char *)sqlite3_value_text(cells[2]);
        if (edit.name == NULL) return refused(reason, "no memory"), REEF_NO_MEMORY;
        if (strlen(edit.name) != (size_t)sqlite3_value_bytes(cells[2])) return refused(reason, "a name has no zeros");
    }
    return reef__sql_entity_set(w, e, &edit, reason);
}

static reef_status entity_make(reef_world *w, sqlite3_value *id, reef_entity *e, char *reason)
{
    if (sqlite3_value_type(id) == SQLITE_NULL) {
        *e = reef_create(w);
        return e->generation ? REEF_OK : reef__sql_reason(w, reef_last_error(w).status, reason);
    }
    *e = entity_in(id);
    return reef__sql_create_as(w, *e, reason);
}

static reef_status entities_update(reef_world *w, int count, sqlite3_value **values, live_row *row, char *reason)
{
    reef_entity e = entity_in(values[0]);
    reef_status s = REEF_OK;
    if (count == 1) return reef_is_alive(w, e) ? reef__sql_reason(w, reef_destroy(w, e), reason) : REEF_OK;
    const bool made = sqlite3_value_type(values[0]) == SQLITE_NULL;
    if (made) s = entity_make(w, values[2], &e, reason);
    else if (given(values[2]) && !reef_entity_equal(entity_in(values[2]), e))
        return refused(reason, "id can't be changed");
    if (s < REEF_OK) return s;
    row->e = e;
    return entity_write(w, e, made, values + 2, reason);
}

/* ---- what is disabled ---- */

static const live_table *table_named(const reef_sql_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->table_count; i++)
        if (s->tables[i]->kind == LIVE_COMPONENT && sqlite3_stricmp(s->tables[i]->parts[0].name, name) == 0)
            return s->tables[i];
    return NULL;
}

static reef_status disabled_update(const reef_sql_session *s, int count, sqlite3_value **values, char *reason)
{
    reef_world *w = s->world;
    if (count == 1) {
        const int64_t rowid = sqlite3_value_int64(values[0]);
        const reef_entity e = reef_entity_at(w, (uint32_t)(rowid / LIVE_TYPE_IDS));
        const reef_component type = {(uint32_t)(rowid % LIVE_TYPE_IDS)};
        if (!reef_is_alive(w, e) || reef_is_enabled_id(w, e, type)) return REEF_OK;
        return reef__sql_reason(w, reef_enable_id(w, e, type, true), reason);
    }
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        return refused(reason, "rows of disabled are inserted and deleted");
    const char *name = (const char *)sqlite3_value_text(values[3]);
    const live_table *t = name && name[0] ? table_named(s, name) : NULL;
    if (name && name[0] && t == NULL) return refused(reason, "component: there is no such table");
    const reef_component type = t ? t->parts[0].type : (reef_component){0};
    return reef__sql_reason(w, reef_enable_id(w, entity_in(values[2]), type, false), reason);
}

/* ---- tables of components ---- */

/* The value that a row is now. GONE: it went with an earlier row. */
static row_found component_find(const live_table *t, int64_t row, reef_entity *e, uint32_t *number)
{
    const reef_world *w = t->session->world;
    if (t->parts[0].many) return reef__sql_row_find(t->session, t, row, e, number);
    *e = sql_entity(row);
    *number = 0;
    return reef_is_alive(w, *e) && reef__sql_count(w, &t->parts[0], *e) ? ROW_THERE : ROW_GONE;
}

static bool has_relation(const live_table *t, reef_entity e, sqlite3_value *target)
{
    const sql_table *p = &t->parts[0];
    return p->many && p->relation && reef_relation_get_id(t->session->world, e, p->type, entity_in(target));
}

/* Checks an INSERT, and finds the entity and the number of its new value. */
static reef_status insert_begin(const live_table *t, sqlite3_value **values, reef_entity *e, uint32_t *number,
                                char *reason)
{
    const sql_table *p = &t->parts[0];
    *e = entity_in(values[2]);
    if (!reef_is_alive(t->session->world, *e)) return refused(reason, "id: there is no such entity");
    *number = reef__sql_count(t->session->world, p, *e);
    if (!p->many && *number) return refused(reason, "the entity has this component already");
    if (has_relation(t, *e, values[2 + p->first])) return refused(reason, "the entity has this relation already");
    return REEF_OK;
}

static reef_status component_delete(const live_table *t, reef_entity e, uint32_t number, char *reason)
{
    const reef_status s = reef__sql_component_remove(t->session->world, &t->parts[0], e, number, reason);
    if (s >= REEF_OK && t->parts[0].many) reef__sql_row_removed(t->session, t, e, number);
    return s;
}

static reef_status component_update(const live_table *t, int count, sqlite3_value **values, live_row *row, char *reason)
{
    reef_world *w = t->session->world;
    const sql_table *p = &t->parts[0];
    const bool insert = count > 1 && sqlite3_value_type(values[0]) == SQLITE_NULL;
    reef_entity e = {0, 0};
    uint32_t number = 0;
    if (insert) {
        const reef_status s = insert_begin(t, values, &e, &number, reason);
        if (s != REEF_OK) return s;
    } else {
        const row_found found = component_find(t, sqlite3_value_int64(values[0]), &e, &number);
        if (found == ROW_GONE) return REEF_OK;
        if (found == ROW_UNKNOWN) return refused(reason, "an observer has changed the values of this entity meanwhile");
        if (count == 1) return component_delete(t, e, number, reason);
        if (given(values[2]) && !reef_entity_equal(entity_in(values[2]), e))
            return refused(reason, "id can't be changed");
    }
    if (p->many && given(values[3]) && sqlite3_value_type(values[3]) != SQLITE_NULL &&
        sqlite3_value_int64(values[3]) != (sqlite3_int64)number)
        return refused(reason, "number: the values of an entity are numbered from 0 without gaps");
    sqlite3_value **cells = reef__sql_zeroed(p->count * sizeof *cells);
    if (cells == NULL) return refused(reason, "no memory"), REEF_NO_MEMORY;
    for (uint32_t i = 0; i < p->count; i++) {
        sqlite3_value *cell = values[2 + p->first + i];
        /* what an INSERT leaves out has its default value */
        if (given(cell) && !(insert && sqlite3_value_type(cell) == SQLITE_NULL)) cells[i] = cell;
    }
    const reef_status s = reef__sql_component_set(w, p, e, number, cells, reason);
    sqlite3_free(cells);
    if (s >= REEF_OK && insert && p->many) reef__sql_row_added(t->session, t, e);
    *row = (live_row){e, p->type, number};
    return s;
}

/* Does an INSERT give the hidden columns values? (Of an UPDATE reef__sql_allow sees it.) */
static bool hidden_given(const live_table *t, int count, sqlite3_value **values)
{
    for (int i = 2 + (int)t->hidden; i < count; i++)
        if (sqlite3_value_type(values[i]) != SQLITE_NULL) return true;
    return false;
}

/* Notes a row that was inserted, for SQLite and for RETURNING. */
static reef_status inserted_note(reef_sql_session *s, const live_table *t, const live_row *row, sqlite3_int64 *rowid,
                                 char *reason)
{
    const bool many = t->kind == LIVE_COMPONENT && t->parts[0].many;
    if (t->kind == LIVE_DISABLED) return REEF_OK;
    *rowid = many ? (sqlite3_int64)row->e.index * REEF_MULTI_MAX + row->number : sql_id(row->e);
    if (!s->returns) return REEF_OK;
    if (!reef__sql_more(&s->inserted, s->inserted_count, &s->inserted_room, sizeof *s->inserted)) {
        (void)refused(reason, "no memory");
        return REEF_NO_MEMORY;
    }
    s->inserted[s->inserted_count++] = *row;
    return REEF_OK;
}

int reef__sql_update(sqlite3_vtab *v, int count, sqlite3_value **values, sqlite3_int64 *rowid)
{
    live_table *t = ((live_vtab *)v)->table;
    reef_sql_session *s = t->session;
    char reason[SQL_REASON_MAX] = "";
    reef_status status = REEF_REFUSED;
    live_row row = {{0, 0}, {0}, 0};
    const bool insert = count > 1 && sqlite3_value_type(values[0]) == SQLITE_NULL;
    if (s->read_only) (void)refused(reason, "the session is read-only");
    else if (insert && hidden_given(t, count, values)) (void)refused(reason, LIVE_HIDDEN_WRITTEN);
    else if (!insert && count > 1 && sqlite3_value_int64(values[1]) != sqlite3_value_int64(values[0]))
        (void)refused(reason, "rowid can't be changed");
    else if (t->kind == LIVE_COMPONENT) status = component_update(t, count, values, &row, reason);
    else if (t->kind == LIVE_ENTITIES) status = entities_update(s->world, count, values, &row, reason);
    else if (t->kind == LIVE_DISABLED) status = disabled_update(s, count, values, reason);
    else (void)refused(reason, "this table can only be read");
    if (status >= REEF_OK && insert) status = inserted_note(s, t, &row, rowid, reason);
    s->written++;
    if (status >= REEF_OK) return SQLITE_OK;
    const int code = reef__sql_live_failed(s, v, status, reason);
    return code == SQLITE_ERROR ? SQLITE_CONSTRAINT_VTAB : code;
}
