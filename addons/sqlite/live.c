/* The tables of a living world: which there are, and which part of a WHERE a cursor takes over.
 *
 * A plan is a text with a letter for each value that SQLite hands to the cursor:
 *     i    id =                 t    target = (of a relation), parent = (of entities)
 *     q    query =, query in    a    at =
 *     <column> <op>    a comparison of a number, decided for each row
 *     by:<column> =    a whole number, another one for each row of an outer loop: looked up in a value index
 *
 * LIMIT and OFFSET are left to SQLite: only it knows which rows its other conditions leave. */
#include "live.h"
#include <reef/value_index.h>
#include <stdlib.h>
#include <string.h>

static const sqlite3_module *module_of(live_kind kind)
{
    return kind == LIVE_QUERY ? &reef__sql_query_module : &reef__sql_live_module;
}

/* ---- making tables ---- */

static void table_drop(live_table *t)
{
    if (t == NULL) return;
    for (uint32_t i = 0; i < t->part_count; i++) reef__sql_table_drop(&t->parts[i]);
    sqlite3_free(t->parts);
    sqlite3_free(t->columns);
    sqlite3_free(t->text);
    sqlite3_free(t);
}

/* Lists the columns of all parts. */
static bool columns_list(live_table *t)
{
    uint32_t count = 0, made = 0;
    for (uint32_t p = 0; p < t->part_count; p++) count += t->parts[p].count;
    t->columns = reef__sql_zeroed(count * sizeof *t->columns);
    if (t->columns == NULL) return false;
    for (uint32_t p = 0; p < t->part_count; p++)
        for (uint32_t i = 0; i < t->parts[p].count; i++)
            t->columns[made++] = (live_column){p, t->parts[p].info.field_count ? &t->parts[p].info.fields[i] : NULL};
    t->column_count = count;
    t->first = t->part_count == 1 && t->kind == LIVE_COMPONENT ? t->parts[0].first : 1;
    t->hidden = t->first + count;
    return true;
}

static live_table *table_new(reef_sql_session *s, live_kind kind, uint32_t parts)
{
    live_table *t = reef__sql_zeroed(sizeof *t);
    if (t == NULL) return NULL;
    t->session = s;
    t->kind = kind;
    t->parts = reef__sql_zeroed(parts * sizeof *t->parts);
    if (t->parts) return t;
    sqlite3_free(t);
    return NULL;
}

static bool name_known(const reef_sql_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->table_count; i++)
        if (s->tables[i]->kind == LIVE_COMPONENT && sqlite3_stricmp(s->tables[i]->parts[0].name, name) == 0)
            return true;
    return reef__sql_name_reserved(name);
}

/* Makes the table of a type. NULL: no memory. */
static live_table *component_table(reef_sql_session *s, reef_component type, const char *name)
{
    live_table *t = name ? table_new(s, LIVE_COMPONENT, 1) : NULL;
    bool good = t && reef__sql_table_init(&t->parts[0], type, name);
    if (good) {
        t->part_count = 1;
        good = columns_list(t);
    }
    if (good) return t;
    table_drop(t);
    return NULL;
}

/* Adds the table of a type. */
static bool component_add(reef_sql_session *s, reef_component type)
{
    char *name = reef__sql_copy(reef_type_name(type));
    while (name && name_known(s, name)) name = reef__sql_name_next(name);
    live_table *t = reef__sql_more(&s->tables, s->table_count, &s->table_room, sizeof(live_table *))
                        ? component_table(s, type, name)
                        : NULL;
    if (t) s->tables[s->table_count++] = t;
    sqlite3_free(name);
    return t != NULL;
}

/* Code that was loaded while the world lives may have given a name to another layout (reef/code.h): the table of this
 * name is that of the new type from now on. */
static int layouts_follow(reef_sql_session *s)
{
    int code = SQLITE_OK;
    for (uint32_t i = 0; i < s->table_count && code == SQLITE_OK; i++) {
        live_table *was = s->tables[i];
        if (was->kind != LIVE_COMPONENT) continue;
        const reef_component is = reef_type_find(reef_type_name(was->parts[0].type));
        if (is.id == 0 || is.id == was->parts[0].type.id) continue;
        live_table *t = component_table(s, is, was->parts[0].name);
        if (t == NULL) return SQLITE_NOMEM;
        code = sqlite3_create_module_v2(s->db, t->parts[0].name, module_of(LIVE_COMPONENT), t, NULL);
        if (code != SQLITE_OK) return table_drop(t), code;
        was->next_old = s->old; /* SQLite may know it still */
        s->old = was;
        s->tables[i] = t;
        (void)sqlite3_close_v2(s->batch_db); /* the next aggregate opens it anew */
        s->batch_db = NULL;
    }
    return code;
}

static bool type_has_table(const reef_sql_session *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->table_count; i++)
        if (s->tables[i]->kind == LIVE_COMPONENT && s->tables[i]->parts[0].type.id == id) return true;
    return false;
}

static const char *const fixed_names[] = {[LIVE_ENTITIES] = "entities",
                                          [LIVE_DISABLED] = "disabled",
                                          [LIVE_SINGLETONS] = "singletons",
                                          [LIVE_TYPES] = "types",
                                          [LIVE_FIELDS] = "fields"};

static const char *table_name(const live_table *t)
{
    return t->kind == LIVE_COMPONENT ? t->parts[0].name : fixed_names[t->kind];
}

static int by_type_name(const void *a, const void *b)
{
    const reef_component *x = a, *y = b;
    return strcmp(reef_type_name(*x), reef_type_name(*y));
}

/* Adds the tables of types that came since the last call, by name: their order must not depend on ids. */
static bool types_add(reef_sql_session *s, uint32_t count)
{
    uint32_t n = 0;
    const uint32_t were = s->table_count;
    reef_component *types = reef__sql_zeroed((count - s->types_known) * sizeof *types);
    if (types == NULL) return false;
    for (uint32_t id = s->types_known + 1; id <= count; id++)
        if (reef__sql_type_shown((reef_component){id}) && !type_has_table(s, id)) types[n++].id = id;
    qsort(types, n, sizeof *types, by_type_name);
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) good = component_add(s, types[i]);
    while (!good && s->table_count > were) table_drop(s->tables[--s->table_count]); /* none, or all of them */
    sqlite3_free(types);
    return good;
}

int reef__sql_live_register(reef_sql_session *s, sqlite3 *db)
{
    (void)reef_type_find("ChildOf"); /* gives reef's own types their ids */
    const uint32_t count = reef_type_count(), known = db == s->db ? s->table_count : 0;
    for (int kind = LIVE_ENTITIES; s->table_count <= LIVE_FIELDS - LIVE_ENTITIES && kind <= LIVE_FIELDS; kind++) {
        live_table *t = table_new(s, (live_kind)kind, 0);
        if (t == NULL || !reef__sql_more(&s->tables, s->table_count, &s->table_room, sizeof(live_table *)))
            return table_drop(t), SQLITE_NOMEM;
        t->hidden = kind == LIVE_ENTITIES                              ? 4
                    : kind == LIVE_DISABLED || kind == LIVE_SINGLETONS ? 2
                    : kind == LIVE_TYPES                               ? 4
                                                                       : 8;
        s->tables[s->table_count++] = t;
    }
    const int followed = layouts_follow(s);
    if (followed != SQLITE_OK) return followed;
    if (count > s->types_known) {
        if (!types_add(s, count)) return SQLITE_NOMEM;
        s->types_known = count;
    }
    int code = known ? SQLITE_OK : sqlite3_create_module_v2(db, "reef_query", &reef__sql_query_module, s, NULL);
    for (uint32_t i = known; i < s->table_count && code == SQLITE_OK; i++)
        code =
            sqlite3_create_module_v2(db, table_name(s->tables[i]), module_of(s->tables[i]->kind), s->tables[i], NULL);
    return code;
}

live_table *reef__sql_table_find(const reef_sql_session *s, const char *name)
{
    for (uint32_t i = 0; i < s->table_count; i++)
        if (sqlite3_stricmp(table_name(s->tables[i]), name) == 0) return s->tables[i];
    return NULL;
}

void reef__sql_live_drop(reef_sql_session *s)
{
    for (uint32_t i = 0; i < s->table_count; i++) table_drop(s->tables[i]);
    for (live_table *t = s->old, *next; t; t = next) {
        next = t->next_old;
        table_drop(t);
    }
    sqlite3_free(s->tables);
}

/* ---- connecting ---- */

static char *declaration(const live_table *t)
{
    static const char hidden[] = ", query HIDDEN, at HIDDEN";
    switch (t->kind) {
    case LIVE_ENTITIES:
        return sqlite3_mprintf("CREATE TABLE x(id INTEGER, generation INTEGER, name TEXT, parent INTEGER%s)", hidden);
    case LIVE_DISABLED: return sqlite3_mprintf("CREATE TABLE x(id INTEGER, component TEXT%s)", hidden);
    case LIVE_SINGLETONS: return sqlite3_mprintf("CREATE TABLE x(component TEXT, id INTEGER%s)", hidden);
    case LIVE_TYPES:
        return sqlite3_mprintf("CREATE TABLE x(name TEXT, home TEXT, size INTEGER, entities INTEGER%s)", hidden);
    case LIVE_FIELDS:
        return sqlite3_mprintf("CREATE TABLE x(type TEXT, name TEXT, kind TEXT, bytes INTEGER, unit TEXT, lowest REAL,"
                               " highest REAL, names TEXT%s)",
                               hidden);
    case LIVE_COMPONENT: return reef__sql_table_declare(&t->parts[0], hidden);
    case LIVE_QUERY: break;
    }
    sqlite3_str *s = sqlite3_str_new(NULL);
    sqlite3_str_appendall(s, "CREATE TABLE x(id INTEGER");
    for (uint32_t p = 0; p < t->part_count; p++)
        for (uint32_t i = 0; i < t->parts[p].count; i++)
            sqlite3_str_appendf(
                s, ", \"%w.%w\" %s", t->parts[p].name, t->parts[p].columns[i],
                reef__sql_column_declare(t->parts[p].info.field_count ? &t->parts[p].info.fields[i] : NULL));
    sqlite3_str_appendf(s, "%s)", hidden);
    return sqlite3_str_finish(s);
}

static int vtab_new(sqlite3 *db, live_table *t, bool owned, sqlite3_vtab **v)
{
    char *text = declaration(t);
    live_vtab *made = reef__sql_zeroed(sizeof *made);
    int code = text && made ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (code != SQLITE_OK) {
        sqlite3_free(made);
        return code;
    }
    (void)sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    made->table = t;
    made->owned = owned;
    *v = &made->base;
    return SQLITE_OK;
}

static int live_connect(sqlite3 *db, void *table, int count, const char *const *words, sqlite3_vtab **v, char **text)
{
    (void)count, (void)words, (void)text;
    return vtab_new(db, table, false, v);
}

static int live_disconnect(sqlite3_vtab *v)
{
    live_vtab *l = (live_vtab *)v;
    if (l->owned) table_drop(l->table);
    sqlite3_free(l);
    return SQLITE_OK;
}

/* ---- tables of queries ---- */

/* The text that was put together; that of SQLite is NULL where it is empty. NULL: no memory. */
static char *text_finish(sqlite3_str *s)
{
    const bool empty = sqlite3_str_errcode(s) == SQLITE_OK && sqlite3_str_length(s) == 0;
    char *text = sqlite3_str_finish(s);
    return empty ? reef__sql_copy("") : text;
}

/* Takes the quotes of SQL off. The module's words are joined by commas. */
static char *query_words(int count, const char *const *words)
{
    sqlite3_str *s = sqlite3_str_new(NULL);
    for (int i = 3; i < count; i++) {
        const size_t n = strlen(words[i]);
        if (i > 3) sqlite3_str_appendall(s, ", ");
        if (n < 2 || (words[i][0] != '\'' && words[i][0] != '"') || words[i][n - 1] != words[i][0]) {
            sqlite3_str_appendall(s, words[i]);
            continue;
        }
        for (size_t k = 1; k + 1 < n; k++) {
            sqlite3_str_appendchar(s, 1, words[i][k]);
            if (words[i][k] == words[i][0] && words[i][k + 1] == words[i][0]) k++;
        }
    }
    return text_finish(s);
}

/* A term of a query's canonical text, between commas that stand in no parentheses or quotes. */
static const char *term_end(const char *p)
{
    int depth = 0;
    bool quoted = false;
    for (; *p; p++) {
        if (*p == '\\' && quoted && p[1]) p++;
        else if (*p == '"') quoted = !quoted;
        else if (!quoted && *p == '(') depth++;
        else if (!quoted && *p == ')') depth--;
        else if (!quoted && depth == 0 && *p == ',') break;
    }
    return p;
}

/* The type of a term that is a single component whose values can be read; {0}: it is a filter, or a group. The text
 * of the term goes to `out`, with `in` as its access. */
static reef_component term_read(const char *term, size_t n, sqlite3_str *out)
{
    char text[REEF_TYPE_NAME_MAX + 64], name[REEF_TYPE_NAME_MAX + 1] = "";
    const reef_component none = {0};
    const bool simple = n < sizeof text && memchr(term, '!', n) == NULL && memchr(term, '|', n) == NULL &&
                        memchr(term, '(', n) == NULL && memchr(term, '"', n) == NULL && memchr(term, '*', n) == NULL &&
                        memchr(term, '+', n) == NULL;
    reef_type_info info;
    if (simple) {
        memcpy(text, term, n);
        text[n] = 0;
        const char *of = strstr(text, " of "), *p = text + (text[0] == '?');
        const size_t words = of ? (size_t)(of - p) : strlen(p);
        const char *last = p + words;
        while (last > p && last[-1] != ' ') last--;
        if (of == NULL) (void)snprintf(name, sizeof name, "%s", last);
        const bool with = strncmp(p, "with ", 5) == 0 || of;
        const reef_component type = reef_type_find(name);
        if (!with && type.id && reef_type_get(type, &info) && info.size) {
            const char *rest = strncmp(p, "inout ", 6) == 0 ? p + 6
                               : strncmp(p, "in ", 3) == 0  ? p + 3
                               : strncmp(p, "out ", 4) == 0 ? p + 4
                                                            : p;
            sqlite3_str_appendf(out, "%sin %s", text[0] == '?' ? "?" : "", rest);
            return type;
        }
    }
    sqlite3_str_append(out, term, (int)n);
    return none;
}

static bool query_parts(live_table *t, const char *text, sqlite3_str *out)
{
    for (const char *p = text; *p;) {
        const char *end = term_end(p);
        if (p != text) sqlite3_str_appendall(out, ", ");
        const reef_component type = term_read(p, (size_t)(end - p), out);
        if (type.id && t->part_count < REEF_TERMS_MAX) {
            if (!reef__sql_table_init(&t->parts[t->part_count], type, NULL)) return false;
            t->part_count++;
        }
        p = *end ? end + 1 : end;
        while (*p == ' ') p++;
    }
    return true;
}

/* The query's canonical text. NULL: no memory, or it is wrong, and the error is the world's. */
static char *query_canonical(reef_world *w, const char *text, bool *wrong)
{
    const reef_query q = reef_query_make(w, &(reef_query_desc){.text = text, .own = true});
    *wrong = reef_query_is_null(q);
    if (*wrong) return NULL;
    const size_t size = reef_query_text(w, q, NULL, 0) + 1;
    char *canonical = sqlite3_malloc64(size);
    if (canonical) (void)reef_query_text(w, q, canonical, size);
    (void)reef_query_free(w, q);
    return canonical;
}

static int query_connect(sqlite3 *db, void *session, int count, const char *const *words, sqlite3_vtab **v, char **text)
{
    reef_sql_session *s = session;
    bool wrong = false;
    if (count <= 3) { /* it stands in a FROM, or has no text */
        *text = sqlite3_mprintf("reef_query needs a query: create virtual table temp.t using reef_query('Position'); "
                                "or select id from entities where query = 'Position'");
        return SQLITE_ERROR;
    }
    char *asked = query_words(count, words), *canonical = asked ? query_canonical(s->world, asked, &wrong) : NULL;
    live_table *t = canonical ? table_new(s, LIVE_QUERY, REEF_TERMS_MAX) : NULL;
    int code = SQLITE_NOMEM;
    if (wrong) {
        char why[SQL_REASON_MAX];
        (void)reef_error_text(s->world, why, sizeof why);
        *text = sqlite3_mprintf("reef_query(%s): %s", asked, why);
        code = reef__sql_live_failed(s, NULL, reef_last_error(s->world).status, why);
    }
    sqlite3_str *out = sqlite3_str_new(NULL);
    const bool good = t && query_parts(t, canonical, out);
    char *reads = text_finish(out);
    if (good) t->text = reads;
    else sqlite3_free(reads);
    if (good && t->text && columns_list(t)) code = vtab_new(db, t, true, v);
    if (code != SQLITE_OK) table_drop(t);
    sqlite3_free(asked);
    sqlite3_free(canonical);
    return code;
}

/* ---- plans ---- */

/* Is this a comparison that a cursor can decide exactly as SQLite does: a number in a row with a number? */
static bool filter_possible(const live_table *t, sqlite3_index_info *info, int k, uint32_t column)
{
    const struct sqlite3_index_constraint *c = &info->aConstraint[k];
    sqlite3_value *value = NULL;
    if (column >= t->column_count || t->kind == LIVE_QUERY) return false;
    const reef_field *f = t->columns[column].field;
    if (f == NULL || !sql_field_plain(f) || t->parts[0].info.home == REEF_SPLIT) return false;
    if (c->op != SQLITE_INDEX_CONSTRAINT_EQ && c->op != SQLITE_INDEX_CONSTRAINT_GT &&
        c->op != SQLITE_INDEX_CONSTRAINT_LE && c->op != SQLITE_INDEX_CONSTRAINT_LT &&
        c->op != SQLITE_INDEX_CONSTRAINT_GE)
        return false;
    if (sqlite3_vtab_rhs_value(info, k, &value) != SQLITE_OK || value == NULL) return false;
    const int type = sqlite3_value_type(value);
    const double r = sqlite3_value_double(value);
    const bool small = r >= -9e15 && r <= 9e15; /* exact as a double */
    if (f->kind == REEF_I64) return type == SQLITE_INTEGER;
    return (type == SQLITE_INTEGER && small) || type == SQLITE_FLOAT;
}

/* Can the rows with a value be looked up in a value index? It is worth while where the world has the index already, and
 * where the value isn't known beforehand: in the inner loop of a join, which has another one each time. (Confined
 * sessions make no indexes, since these stay.) */
static bool index_possible(const live_table *t, sqlite3_index_info *info, int k, uint32_t column)
{
    sqlite3_value *value = NULL;
    if (column >= t->column_count || t->kind != LIVE_COMPONENT || t->session->confined) return false;
    const reef_field *f = t->columns[column].field;
    const sql_table *part = &t->parts[0];
    const bool whole = f && f->kind >= REEF_I8 && f->kind <= REEF_I64;
    if (!whole || !sql_field_plain(f) || part->many || part->relation) return false;
    if (part->info.home == REEF_SPLIT || part->info.home == REEF_SHARED || part->info.home == REEF_MULTI) return false;
    return reef_has_index_id(t->session->world, part->type, f->name) ||
           sqlite3_vtab_rhs_value(info, k, &value) != SQLITE_OK || value == NULL;
}

/* Is it better to look the value up than to compare it row by row? */
static bool index_first(const live_table *t, sqlite3_index_info *info, int k, uint32_t column)
{
    if (info->aConstraint[k].op != SQLITE_INDEX_CONSTRAINT_EQ || !index_possible(t, info, k, column)) return false;
    return reef_has_index_id(t->session->world, t->parts[0].type, t->columns[column].field->name);
}

typedef struct planning {
    sqlite3_index_info *info;
    sqlite3_str *text;
    int count, filters;
    bool one, related, keyed, usable;
    bool matches, past, twice; /* a query and a tick are given, one of them twice */
} planning;

/* Gives a value to the cursor. The plan's text is a word for each value; EXPLAIN QUERY PLAN shows it. */
static void take(planning *p, int k, const char *word, bool omit)
{
    sqlite3_str_appendf(p->text, "%s%s", p->count ? " " : "", word);
    p->info->aConstraintUsage[k].argvIndex = ++p->count;
    p->info->aConstraintUsage[k].omit = omit;
}

static bool target_column(const live_table *t, int column)
{
    if (t->kind == LIVE_ENTITIES) return column == 3;
    return t->kind == LIVE_COMPONENT && t->parts[0].relation && column == (int)t->first;
}

/* "0>=?x": the cursor compares the first field, x, with the value. The name is there to be read; it ends at a space. */
static void filter_take(planning *p, const live_table *t, int k, bool keyed)
{
    const struct sqlite3_index_constraint *c = &p->info->aConstraint[k];
    const int column = c->iColumn - (int)t->first;
    const char *name = t->parts[0].columns[column], *op = c->op == SQLITE_INDEX_CONSTRAINT_EQ   ? "="
                                                          : c->op == SQLITE_INDEX_CONSTRAINT_GT ? ">"
                                                          : c->op == SQLITE_INDEX_CONSTRAINT_LE ? "<="
                                                          : c->op == SQLITE_INDEX_CONSTRAINT_LT ? "<"
                                                                                                : ">=";
    char word[64];
    (void)snprintf(word, sizeof word, "%s%d%s?%.40s", keyed ? "by:" : "", column, op, name);
    word[strcspn(word, " ")] = 0;
    take(p, k, word, !keyed); /* SQLite compares what an index finds once more */
    if (keyed) p->keyed = true;
    else p->filters++;
}

/* `query` and `at` say what the table is, so a plan without them would be wrong. Where SQLite doesn't offer them as
 * equalities it reads their columns instead, which refuse (hidden_column in scan.c). Of several queries an entity that
 * matches two is one row, so they are taken together; of several ticks each has its own rows. */
static void hidden_plan(planning *p, const live_table *t, int k)
{
    const struct sqlite3_index_constraint *c = &p->info->aConstraint[k];
    const bool query = c->iColumn == (int)t->hidden;
    bool *given = query ? &p->matches : &p->past;
    if (c->op != SQLITE_INDEX_CONSTRAINT_EQ) return;
    p->twice |= *given;
    *given = true;
    if (!c->usable) p->usable = false;
    else if (!query) take(p, k, "at=?", true);
    else take(p, k, sqlite3_vtab_in(p->info, k, 1) ? "queries=?" : "query=?", true);
}

static void constraint_plan(planning *p, const live_table *t, int k)
{
    const struct sqlite3_index_constraint *c = &p->info->aConstraint[k];
    const bool equal = c->op == SQLITE_INDEX_CONSTRAINT_EQ;
    const bool by_rowid = c->iColumn == -1 && !(t->kind == LIVE_COMPONENT && t->parts[0].many);
    const bool has_id = t->kind == LIVE_COMPONENT || t->kind == LIVE_QUERY || t->kind == LIVE_ENTITIES;
    if (c->iColumn >= (int)t->hidden) hidden_plan(p, t, k);
    else if (!c->usable) return;
    else if (equal && has_id && !p->one && (by_rowid || c->iColumn == 0)) take(p, k, "id=?", true), p->one = true;
    else if (equal && !p->related && target_column(t, c->iColumn)) take(p, k, "target=?", false), p->related = true;
    else if (c->iColumn >= (int)t->first && !p->keyed && index_first(t, p->info, k, (uint32_t)c->iColumn - t->first))
        filter_take(p, t, k, true);
    else if (c->iColumn >= (int)t->first && t->column_count && p->filters < LIVE_FILTERS &&
             filter_possible(t, p->info, k, (uint32_t)c->iColumn - t->first)) {
        filter_take(p, t, k, false);
    } else if (equal && !p->keyed && c->iColumn >= (int)t->first &&
               index_possible(t, p->info, k, (uint32_t)c->iColumn - t->first)) {
        filter_take(p, t, k, true);
    }
}

static double rows_of(const live_table *t)
{
    const reef_world *w = t->session->world;
    return 1.0 + (double)(t->kind == LIVE_COMPONENT ? reef_count_id(w, t->parts[0].type) : reef_count_alive(w));
}

int reef__sql_best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
    const live_table *t = ((live_vtab *)v)->table;
    planning p = {.info = info, .text = sqlite3_str_new(NULL), .usable = true};
    for (int k = 0; k < info->nConstraint; k++)
        if (info->aConstraint[k].op != SQLITE_INDEX_CONSTRAINT_LIMIT &&
            info->aConstraint[k].op != SQLITE_INDEX_CONSTRAINT_OFFSET)
            constraint_plan(&p, t, k);
    double rows = rows_of(t);
    if (p.one) rows = t->kind == LIVE_COMPONENT && t->parts[0].many ? 4 : 1;
    else if (p.related) rows = rows < 16 ? rows : 16;
    else if (p.keyed) rows = rows < 8 ? rows : 8;
    for (int i = 0; i < p.filters && rows > 4; i++) rows /= 4;
    if (p.one && !(t->kind == LIVE_COMPONENT && t->parts[0].many)) info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = p.one || p.related || p.keyed ? rows : rows_of(t);
    info->idxNum = p.one && p.count == 1 ? LIVE_PLAN_ID : 0;
    info->idxStr = sqlite3_str_finish(p.text);
    info->needToFreeIdxStr = 1;
    if (info->idxStr == NULL && p.count) return SQLITE_NOMEM;
    if (p.twice)
        return reef__sql_live_failed(t->session, v, REEF_BAD_TEXT,
                                     "query and at can be given once for a table: query = 'A, B' has the entities that "
                                     "match both");
    return p.usable ? SQLITE_OK : SQLITE_CONSTRAINT;
}

/* ---- modules ---- */

#define LIVE_MODULE(create, connect, update) \
    { \
        .iVersion = 1, .xCreate = (create), .xConnect = (connect), .xBestIndex = reef__sql_best_index, \
        .xDisconnect = live_disconnect, .xDestroy = live_disconnect, .xOpen = reef__sql_open, \
        .xClose = reef__sql_close, .xFilter = reef__sql_filter, .xNext = reef__sql_next, .xEof = reef__sql_eof, \
        .xColumn = reef__sql_column, .xRowid = reef__sql_rowid, .xUpdate = (update) \
    }
const sqlite3_module reef__sql_live_module = LIVE_MODULE(NULL, live_connect, reef__sql_update);
const sqlite3_module reef__sql_query_module = LIVE_MODULE(query_connect, query_connect, NULL);
