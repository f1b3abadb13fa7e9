/* The RETURNING of an INSERT. SQLite gives the values that the INSERT names, and NULL for all others: not the id that
 * the world chose, and no default value. So the INSERT runs without RETURNING, and then what stood there is selected
 * for each row that was inserted. Only where the parts of the statement begin and end must be known for this. */
#include "live.h"
#include "sql_token.h"
#include <string.h>

/* Goes behind a word that stands in no parentheses. False: there is none. */
static bool word_find(const char **text, const char *word, const char *other, sql_token *found)
{
    int depth = 0;
    for (sql_token t = reef__sql_token_next(text); t.size; t = reef__sql_token_next(text)) {
        if (*t.at == '(') depth++;
        else if (*t.at == ')') depth--;
        *found = t;
        if (depth == 0 && (reef__sql_token_is(t, word) || (other && reef__sql_token_is(t, other)))) return true;
    }
    return false;
}

static int row_seen(void *seen, int count, char **values, char **columns)
{
    (void)count, (void)values, (void)columns;
    *(bool *)seen = true;
    return 0;
}

/* Does the session have a table or view of its own of this name? */
static int own_find(const reef_sql_session *s, const char *name, bool *seen)
{
    char *sql = sqlite3_mprintf("SELECT 1 FROM sqlite_schema WHERE name = %Q COLLATE NOCASE UNION ALL "
                                "SELECT 1 FROM sqlite_temp_schema WHERE name = %Q COLLATE NOCASE",
                                name, name);
    const int code = sql ? sqlite3_exec(s->db, sql, row_seen, seen, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

static const char *name_of(const live_table *t)
{
    if (t->kind > LIVE_ENTITIES) return "";
    return t->kind == LIVE_ENTITIES ? "entities" : t->parts[0].name;
}

static const live_table *table_of(const reef_sql_session *s, sql_token t)
{
    for (uint32_t i = 0; i < s->table_count; i++)
        if (s->tables[i]->kind <= LIVE_ENTITIES && reef__sql_token_names(t, name_of(s->tables[i]))) return s->tables[i];
    return NULL;
}

int reef__sql_returning_split(const reef_sql_session *s, const char *sql, returning *r)
{
    const char *p = sql;
    sql_token t, name;
    *r = (returning){0};
    if (!word_find(&p, "insert", "replace", &t) || !word_find(&p, "into", NULL, &t)) return SQLITE_OK;
    name = reef__sql_token_next(&p);
    const char *from = name.at, *until = p;
    t = reef__sql_token_next(&p);
    if (t.size == 1 && *t.at == '.') {
        name = reef__sql_token_next(&p);
        until = p;
        t = reef__sql_token_next(&p);
    }
    const live_table *table = table_of(s, name);
    p = until;
    if (table == NULL || !word_find(&p, "returning", NULL, &t)) return SQLITE_OK;
    bool own = false;
    const int code = own_find(s, name_of(table), &own);
    if (own || code != SQLITE_OK) return code;
    size_t size = strlen(p);
    while (size && strchr(" \t\n\r\f;", p[size - 1])) size--;
    const bool many = table->kind == LIVE_COMPONENT && table->parts[0].many;
    r->insert = sqlite3_mprintf("%.*s", (int)(t.at - sql), sql);
    r->select = sqlite3_mprintf("SELECT %.*s\nFROM %.*s WHERE id = :reef_id%s", (int)size, p, (int)(until - from), from,
                                many ? " AND number = :reef_number" : "");
    return r->insert && r->select ? SQLITE_OK : SQLITE_NOMEM;
}
