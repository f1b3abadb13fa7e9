/* Compares the readable tables of a file with a world, row by row: all rows of a table are read, each must be what the
 * world has, and there must be as many as the world has values. */
#include "file.h"
#include <inttypes.h>
#include <string.h>

typedef struct comparing {
    reef_sqlite *f;
    const reef_world *w;
    reef_status status; /* NO_MEMORY: a row couldn't be compared */
    uint64_t single_count, disabled_count;
    reef_component single_last, last_type;
    reef_entity last;
} comparing;

static reef_status wrong(reef_sqlite *f, const char *table, sqlite3_int64 id, const char *what)
{
    (void)snprintf(f->reason, sizeof f->reason, "%s, id %lld: %s", table, id, what);
    return REEF_CORRUPT;
}

/* Steps through all rows; `row` gives a text where a row isn't as it should be. */
static reef_status rows_compare(comparing *x, char *sql, const char *table,
                                const char *(*row)(comparing *x, sqlite3_stmt *s, void *of), void *of,
                                uint64_t expected)
{
    sqlite3_stmt *s = NULL;
    uint64_t count = 0;
    int code = SQLITE_DONE;
    if (sql == NULL) return reef__sql_failed(x->f, SQLITE_NOMEM, "SQLite's allocator");
    reef_status status = reef__sql_prepare(x->f, &s, sql);
    sqlite3_free(sql);
    while (status == REEF_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        const char *what = row(x, s, of);
        if (what) status = wrong(x->f, table, sqlite3_column_int64(s, 0), what);
        if (x->status != REEF_OK) status = reef__sql_failed(x->f, SQLITE_NOMEM, table);
        count++;
    }
    if (status == REEF_OK && code != SQLITE_DONE) status = reef__sql_failed(x->f, code, table);
    sqlite3_finalize(s);
    if (status == REEF_OK && count != expected) {
        (void)snprintf(x->f->reason, sizeof x->f->reason, "%s has %" PRIu64 " rows, the world %" PRIu64, table, count,
                       expected);
        status = REEF_CORRUPT;
    }
    return status;
}

static bool same_text(sqlite3_stmt *s, int column, const char *text)
{
    const char *is = (const char *)sqlite3_column_text(s, column);
    return is && text ? strcmp(is, text) == 0 : is == NULL && text == NULL;
}

static const char *entity_row(comparing *x, sqlite3_stmt *s, void *of)
{
    const reef_entity e = sql_entity(sqlite3_column_int64(s, 0));
    (void)of;
    if (!reef_is_alive(x->w, e)) return "the world has no such entity";
    if (sqlite3_column_int64(s, 1) != (sqlite3_int64)e.generation) return "the generation differs";
    if (!same_text(s, 2, reef_name(x->w, e))) return "the name differs";
    const reef_entity parent = x->f->parent.id ? reef_target_id(x->w, e, x->f->parent) : (reef_entity){0, 0};
    const bool none = sqlite3_column_type(s, 3) == SQLITE_NULL;
    if (none ? parent.generation != 0 : !reef_entity_equal(parent, sql_entity(sqlite3_column_int64(s, 3))))
        return "the parent differs";
    return NULL;
}

typedef struct component_rows {
    const sql_table *t;
    void *room;
    bool kept; /* values are in the file */
} component_rows;

static const char *component_row(comparing *x, sqlite3_stmt *s, void *of)
{
    const component_rows *c = of;
    const reef_entity e = sql_entity(sqlite3_column_int64(s, 0));
    const uint32_t number = c->t->many ? (uint32_t)sqlite3_column_int64(s, 1) : 0;
    if (number >= reef__sql_count(x->w, c->t, e)) return "the entity doesn't have it";
    const void *value = c->t->count && c->kept ? reef__sql_value(x->w, c->t, e, number, c->room) : NULL;
    for (uint32_t i = 0; value && i < c->t->count; i++) {
        const reef_field *field = c->t->info.field_count ? &c->t->info.fields[i] : NULL;
        const cell_same same =
            reef__sql_same(sqlite3_column_value(s, (int)(c->t->first + i)), field, value, c->t->info.size);
        if (same == CELL_NO_MEMORY) x->status = REEF_NO_MEMORY;
        if (same != CELL_SAME) return c->t->columns[i];
    }
    return NULL;
}

/* Counts the rows that the tables of types must have. */
static bool count_values(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    uint64_t *by_type = context;
    (void)e, (void)data, (void)size;
    by_type[type.id]++;
    return true;
}

static reef_status components_compare(comparing *x)
{
    const uint32_t types = reef_type_count();
    uint64_t *rows = reef__sql_zeroed((types + 1) * sizeof *rows);
    if (rows == NULL) return reef__sql_failed(x->f, SQLITE_NOMEM, "SQLite's allocator");
    reef_status status = reef_visit_world(x->w, count_values, rows) ? REEF_OK : REEF_NO_MEMORY;
    if (status != REEF_OK) (void)reef__sql_world_failed(x->f, NULL, status);
    for (uint32_t id = 1; id <= types && status == REEF_OK; id++) {
        const reef_component type = {id};
        if (!reef__sql_type_shown(type)) continue;
        const file_table *t = reef__sql_file_table(x->f, type, false, &status);
        if (t == NULL && status == REEF_OK && rows[id])
            status = wrong(x->f, reef_type_name(type), 0, "there is no table");
        if (t == NULL) continue;
        const bool kept = t->t.info.hooks == NULL || t->t.info.hooks->on_fork == REEF_FORK_COPY;
        component_rows c = {&t->t, reef__sql_zeroed(t->t.info.size), kept};
        if (c.room == NULL) status = reef__sql_failed(x->f, SQLITE_NOMEM, "SQLite's allocator");
        else
            status = rows_compare(x, sqlite3_mprintf("SELECT * FROM \"%w\"", t->t.name), t->t.name, component_row, &c,
                                  rows[id]);
        sqlite3_free(c.room);
    }
    sqlite3_free(rows);
    return status;
}

/* ---- what is disabled, and singletons ---- */

static bool disabled_count(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    comparing *x = context;
    (void)data, (void)size;
    const bool again = reef_entity_equal(e, x->last) && type.id == x->last_type.id; /* one of several values */
    if (!again && !reef_is_enabled_id(x->w, e, type)) x->disabled_count++;
    x->last = e;
    x->last_type = type;
    return true;
}

static bool entity_disabled_count(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    comparing *x = context;
    (void)type, (void)data, (void)size;
    if (!reef_is_enabled_id(x->w, e, (reef_component){0})) x->disabled_count++;
    return true;
}

static reef_component component_named(const comparing *x, const char *table)
{
    for (uint32_t i = 0; table && i < x->f->table_count; i++)
        if (strcmp(x->f->tables[i]->t.name, table) == 0) return x->f->tables[i]->t.type;
    return (reef_component){0};
}

static const char *disabled_row(comparing *x, sqlite3_stmt *s, void *of)
{
    const reef_entity e = sql_entity(sqlite3_column_int64(s, 0));
    const char *table = (const char *)sqlite3_column_text(s, 1);
    const reef_component type = component_named(x, table);
    (void)of;
    if (table && table[0] && type.id == 0) return "there is no such component";
    if (!reef_is_alive(x->w, e) || reef_is_enabled_id(x->w, e, type)) return "it isn't disabled";
    return NULL;
}

static bool single_count(void *context, reef_entity e, reef_component type, const void *data, size_t size)
{
    comparing *x = context;
    (void)e, (void)data, (void)size;
    if (type.id != x->single_last.id) x->single_count++; /* once for several values */
    x->single_last = type;
    return true;
}

static const char *single_row(comparing *x, sqlite3_stmt *s, void *of)
{
    (void)of;
    const reef_component type = component_named(x, (const char *)sqlite3_column_text(s, 1));
    if (!reef_entity_equal(sql_entity(sqlite3_column_int64(s, 0)), reef_single_entity(x->w)))
        return "the entity differs";
    return type.id && reef_single_has_id(x->w, type) ? NULL : "there is no such singleton";
}

reef_status reef__sql_compare(reef_sqlite *f, const reef_world *w)
{
    comparing x = {.f = f, .w = w};
    f->parent = reef_type_find("ChildOf");
    reef_status status = rows_compare(&x, sqlite3_mprintf("SELECT id, generation, name, parent FROM entities"),
                                      "entities", entity_row, NULL, reef_count_alive(w));
    if (status == REEF_OK) status = components_compare(&x);
    if (status == REEF_OK && !reef_visit_world(w, disabled_count, &x))
        status = reef__sql_world_failed(f, NULL, REEF_NO_MEMORY);
    (void)reef_visit_entities(w, entity_disabled_count, &x);
    if (status == REEF_OK)
        status = rows_compare(&x, sqlite3_mprintf("SELECT id, component FROM disabled"), "disabled", disabled_row, NULL,
                              x.disabled_count);
    (void)reef_visit_entity(w, reef_single_entity(w), single_count, &x);
    if (status == REEF_OK)
        status = rows_compare(&x, sqlite3_mprintf("SELECT id, component FROM singletons"), "singletons", single_row,
                              NULL, x.single_count);
    return status;
}
