/* SQL beside SQLite: random statements run over a living world and on plain tables of SQLite that have the same rows.
 * Answers must be equal, refusals must come on both sides, and both must have the same rows afterwards.
 *
 *     test_sql_beside [--statements N] [--seed N]
 *
 * Each scene begins with an empty world that statements fill. When a statement goes wrong, the rows that it doesn't
 * need are left out one after the other, and it is printed with the rest. */
#include "reef_sqlite.h"
#include "sql_statement.h"
#include "sqlite_scene.h"
#include <assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCENE_STATEMENTS = 150, SCENE_FILL = 40, TEXT_ROOM = 1 << 19, ROWS_ROOM = 20000, STATE_ROWS = 4000 };

/* The rows of an answer, or of all tables, as text: one line each. */
typedef struct answer {
    char text[TEXT_ROOM];
    size_t size;
    uint32_t rows;
    bool refused;
    int64_t first; /* whole number of the first row's first column */
    char why[REEF_SQLITE_REASON_MAX];
} answer;

typedef struct tally {
    uint64_t run, refused, writes, rows;
} tally;
static tally all;

typedef struct sides {
    reef_world *world;
    reef_sql_session *live;
    sqlite3 *plain;
} sides;

static answer of_live, of_plain;

static void answer_clear(answer *a)
{
    a->size = a->rows = 0;
    a->text[0] = a->why[0] = 0;
    a->refused = false;
    a->first = 0;
}

static void answer_put(answer *a, const char *text, size_t size)
{
    assert(a->size + size + 1 < sizeof a->text);
    memcpy(a->text + a->size, text, size);
    a->size += size;
    a->text[a->size] = 0;
}

static bool live_row(void *context, uint32_t count, const reef_sql_value *values)
{
    answer *a = context;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 && a->rows == 0) a->first = values[0].integer;
        if (i) answer_put(a, "|", 1);
        answer_put(a, values[i].text ? values[i].text : "-", values[i].text ? values[i].size : 1);
    }
    answer_put(a, "\n", 1);
    a->rows++;
    return true;
}

static void live_ask(sides *s, const char *sql, answer *a)
{
    const reef_status status = reef_sql_run(s->live, sql, live_row, a, a->why);
    if (status == REEF_OK) return;
    a->size = a->rows = 0;
    a->text[0] = 0;
    a->refused = true;
    if (a->why[0] == 0) (void)snprintf(a->why, sizeof a->why, "%s", reef_status_name(status));
}

static void plain_ask(sides *s, const char *sql, answer *a)
{
    sqlite3_stmt *st = NULL;
    int code = sqlite3_prepare_v2(s->plain, sql, -1, &st, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
        code = SQLITE_OK;
        for (int i = 0; i < sqlite3_column_count(st); i++) {
            const char *text = (const char *)sqlite3_column_text(st, i);
            if (i) answer_put(a, "|", 1);
            answer_put(a, text ? text : "-", text ? (size_t)sqlite3_column_bytes(st, i) : 1);
        }
        answer_put(a, "\n", 1);
        a->rows++;
    }
    if (code != SQLITE_DONE) {
        answer_clear(a);
        a->refused = true;
        (void)snprintf(a->why, sizeof a->why, "%s", sqlite3_errmsg(s->plain));
    }
    (void)sqlite3_finalize(st);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void answer_sort(answer *a)
{
    static char *lines[ROWS_ROOM], copy[TEXT_ROOM];
    uint32_t n = 0;
    memcpy(copy, a->text, a->size + 1);
    for (char *p = strtok(copy, "\n"); p; p = strtok(NULL, "\n")) {
        assert(n < ROWS_ROOM);
        lines[n++] = p;
    }
    qsort(lines, n, sizeof *lines, by_text);
    a->size = 0;
    for (uint32_t i = 0; i < n; i++) {
        answer_put(a, lines[i], strlen(lines[i]));
        answer_put(a, "\n", 1);
    }
}

/* ---- both sides ---- */

/* The order of texts of digits is that of the numbers: as the columns of u64 have it. */
static int digits_compare(void *context, int n, const void *a, int m, const void *b)
{
    (void)context;
    if (n != m) return n < m ? -1 : 1;
    return memcmp(a, b, (size_t)n);
}

static void plain_do(sides *s, const char *sql)
{
    char *why = NULL;
    if (sqlite3_exec(s->plain, sql, NULL, NULL, &why) == SQLITE_OK) return;
    (void)fprintf(stderr, "%s: %s\n", sql, why);
    abort();
}

static void table_make(sides *s, const statement_table *t)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    const bool entities = t == &statement_tables[0];
    sqlite3_str_appendf(text, "create table %s(", t->name);
    if (t->many)
        sqlite3_str_appendall(text, "id INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE, number INTEGER");
    else if (entities) sqlite3_str_appendall(text, "id INTEGER PRIMARY KEY");
    else sqlite3_str_appendall(text, "id INTEGER PRIMARY KEY REFERENCES entities(id) ON DELETE CASCADE");
    for (int i = 0; i < STATEMENT_COLUMNS && t->columns[i].name; i++)
        sqlite3_str_appendf(text, ", %s %s", t->columns[i].name, t->columns[i].plain);
    sqlite3_str_appendf(text, "%s%s) strict;", t->rules[0] ? ", " : "", t->rules);
    if (!entities)
        sqlite3_str_appendf(text,
                            "create trigger gone_%s after delete on %s when not exists(select 1 from %s where id ="
                            " old.id) begin delete from disabled where id = old.id and component = '%s'; end;",
                            t->name, t->name, t->name, t->name);
    char *sql = sqlite3_str_finish(text);
    plain_do(s, sql);
    sqlite3_free(sql);
}

static sides sides_make(void)
{
    sides s = {.world = reef_world_new(NULL)};
    char reason[REEF_SQLITE_REASON_MAX];
    assert(s.world);
    if (reef_sql_open(s.world, NULL, &s.live, reason) != REEF_OK) abort();
    if (sqlite3_open(":memory:", &s.plain) != SQLITE_OK) abort();
    (void)sqlite3_create_collation(s.plain, "digits", SQLITE_UTF8, NULL, digits_compare);
    plain_do(&s, "pragma foreign_keys = on; pragma recursive_triggers = on");
    for (int i = 0; i < STATEMENT_TABLES; i++) table_make(&s, &statement_tables[i]);
    plain_do(&s, statement_triggers);
    return s;
}

static void sides_free(sides *s)
{
    reef_sql_close(s->live);
    reef_world_free(s->world);
    (void)sqlite3_close(s->plain);
}

/* Numbers follow the order in which rows were inserted. */
static void plain_number(sides *s)
{
    char sql[300];
    for (int i = 0; i < STATEMENT_TABLES; i++) {
        const char *name = statement_tables[i].name;
        if (!statement_tables[i].many) continue;
        (void)snprintf(sql, sizeof sql,
                       "update %s set number = n.n from (select rowid as r, row_number() over (partition by id order by"
                       " rowid) - 1 as n from %s) n where %s.rowid = n.r and number is not n.n",
                       name, name, name);
        plain_do(s, sql);
    }
}

/* The columns of a table, by which its rows are ordered too. */
static char *table_select(const statement_table *t, const char *before, const char *between)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "select %sid%s", before, t->many ? between : "");
    if (t->many) sqlite3_str_appendall(text, "number");
    for (int i = 0; i < STATEMENT_COLUMNS && t->columns[i].name; i++)
        sqlite3_str_appendf(text, "%s%s", between, t->columns[i].name);
    sqlite3_str_appendf(text, " from %s order by id%s", t->name, t->many ? ", number" : "");
    return sqlite3_str_finish(text);
}

static void state_ask(sides *s, bool live, answer *a)
{
    answer_clear(a);
    for (int i = 0; i < STATEMENT_TABLES; i++) {
        char *sql = table_select(&statement_tables[i], "", ", ");
        answer_put(a, statement_tables[i].name, strlen(statement_tables[i].name));
        answer_put(a, "\n", 1);
        (live ? live_ask : plain_ask)(s, sql, a);
        sqlite3_free(sql);
    }
    answer_put(a, "disabled\n", 9);
    (live ? live_ask : plain_ask)(s, "select id, component from disabled order by 1, 2", a);
}

/* ---- one statement ---- */

static bool states_differ(sides *s)
{
    plain_number(s);
    state_ask(s, true, &of_live);
    state_ask(s, false, &of_plain);
    return strcmp(of_live.text, of_plain.text) != 0;
}

static int64_t rows_in(sides *s, bool live, const char *table)
{
    char sql[100];
    answer *a = live ? &of_live : &of_plain;
    (void)snprintf(sql, sizeof sql, "select count(*) from %s", table);
    answer_clear(a);
    (live ? live_ask : plain_ask)(s, sql, a);
    return atoll(a->text);
}

/* Runs a statement on both sides. NULL: they agree; else what doesn't. `open`: the sides may have other rows now. */
static const char *statement_differs(sides *s, const statement *st, bool *open)
{
    static char plain[sizeof st->plain + 64];
    *open = false;
    answer_clear(&of_live);
    answer_clear(&of_plain);
    live_ask(s, st->live, &of_live);
    if (st->gives_ids) (void)snprintf(plain, sizeof plain, st->plain, (long long)of_live.first);
    else (void)snprintf(plain, sizeof plain, "%s", st->plain);
    if (of_live.refused && st->refusable) return NULL;
    if (st->gives_ids && of_live.refused) return "an entity can't be made";
    plain_ask(s, plain, &of_plain);
    all.refused += of_live.refused && of_plain.refused;
    all.rows += of_live.rows;
    if (st->any_rows) {
        *open = true;
        if (of_live.refused || of_plain.refused || strcmp(st->table, "entities") == 0) return NULL;
        return rows_in(s, true, st->table) != rows_in(s, false, st->table) ? "another number of rows is there" : NULL;
    }
    if (of_live.refused != of_plain.refused) return of_live.refused ? "only reef refuses it" : "only SQLite refuses it";
    if (!st->ordered) {
        answer_sort(&of_live);
        answer_sort(&of_plain);
    }
    if (strcmp(of_live.text, of_plain.text) != 0) return "the answers differ";
    if (!st->writes) return NULL;
    return states_differ(s) ? "other rows are there afterwards" : NULL;
}

/* ---- the rows as statements ---- */

typedef struct state {
    char *rows[STATE_ROWS];
    uint32_t count;
} state;

static void state_free(state *st)
{
    for (uint32_t i = 0; i < st->count; i++) sqlite3_free(st->rows[i]);
    st->count = 0;
}

static void state_add(state *st, const char *sql)
{
    assert(st->count < STATE_ROWS);
    st->rows[st->count++] = sqlite3_mprintf("%s", sql);
}

static bool state_row(void *context, uint32_t count, const reef_sql_value *values)
{
    (void)count;
    state_add(context, values[0].text);
    return true;
}

/* Reads one side. Entities come before what names them, their parents last. */
static void state_take(sides *s, bool live, state *to)
{
    char sql[2000];
    state_free(to);
    for (int pass = 0; pass < STATEMENT_TABLES + 2; pass++) {
        const statement_table *t = &statement_tables[pass < STATEMENT_TABLES ? pass : 0];
        size_t n = (size_t)snprintf(sql, sizeof sql, "select 'insert into %s(id", t->name);
        for (int i = 0; i < STATEMENT_COLUMNS && t->columns[i].name && !(pass == 0 && i == 1); i++)
            n += (size_t)snprintf(sql + n, sizeof sql - n, ", %s", t->columns[i].name);
        n += (size_t)snprintf(sql + n, sizeof sql - n, ") values (' || id");
        for (int i = 0; i < STATEMENT_COLUMNS && t->columns[i].name && !(pass == 0 && i == 1); i++)
            n += (size_t)snprintf(sql + n, sizeof sql - n, " || ', ' || quote(%s)", t->columns[i].name);
        (void)snprintf(sql + n, sizeof sql - n, " || ')' from %s order by id%s", t->name, t->many ? ", number" : "");
        if (pass == STATEMENT_TABLES)
            (void)snprintf(sql, sizeof sql,
                           "select 'update entities set parent = ' || parent || ' where id = ' || id "
                           "from entities where parent is not null");
        if (pass > STATEMENT_TABLES)
            (void)snprintf(
                sql, sizeof sql,
                "select 'insert into disabled values (' || id || ', ' || quote(component) || ')' from disabled");
        sqlite3_stmt *q = NULL;
        if (live && reef_sql_run(s->live, sql, state_row, to, NULL) != REEF_OK) abort();
        if (live) continue;
        if (sqlite3_prepare_v2(s->plain, sql, -1, &q, NULL) != SQLITE_OK) abort();
        while (sqlite3_step(q) == SQLITE_ROW) state_add(to, (const char *)sqlite3_column_text(q, 0));
        (void)sqlite3_finalize(q);
    }
}

/* Gives the plain side the rows of the living one. */
static void sides_level(sides *s)
{
    static state st;
    char sql[100];
    state_take(s, true, &st);
    plain_do(s, "pragma foreign_keys = off; delete from disabled");
    for (int i = 0; i < STATEMENT_TABLES; i++) {
        (void)snprintf(sql, sizeof sql, "delete from %s", statement_tables[i].name);
        plain_do(s, sql);
    }
    for (uint32_t i = 0; i < st.count; i++) plain_do(s, st.rows[i]);
    plain_do(s, "pragma foreign_keys = on");
    plain_number(s);
    state_free(&st);
}

static sides sides_from(const state *st)
{
    sides s = sides_make();
    static answer ignored;
    for (uint32_t i = 0; i < st->count; i++) {
        if (st->rows[i] == NULL) continue;
        answer_clear(&ignored);
        live_ask(&s, st->rows[i], &ignored);
        const bool refused = ignored.refused;
        answer_clear(&ignored);
        if (!refused) plain_ask(&s, st->rows[i], &ignored);
    }
    return s;
}

static const char *differs_from(const state *st, const statement *what)
{
    sides s = sides_from(st);
    bool open = false;
    const char *why = states_differ(&s) ? "the rows can't be made anew" : statement_differs(&s, what, &open);
    sides_free(&s);
    return why;
}

/* Prints the lines of one answer that the other doesn't have at the same place, up to a few. */
static void lines_print(const char *side, const answer *a, const answer *other)
{
    const char *p = a->text, *q = other->text;
    int printed = 0;
    (void)printf("  %s%s%s:\n", side, a->refused ? " refuses: " : "", a->why);
    for (; *p && printed < 12; p += strcspn(p, "\n") + 1) {
        const size_t n = strcspn(p, "\n"), m = strcspn(q, "\n");
        if (n != m || strncmp(p, q, n) != 0) {
            (void)printf("    %.*s\n", (int)n, p);
            printed++;
        }
        if (*q) q += m + 1;
    }
}

static void failure_print(state *st, const statement *what, const char *why)
{
    (void)printf("%s\n  living: %s\n  plain:  %s\n", why, what->live, what->plain);
    lines_print("living", &of_live, &of_plain);
    lines_print("plain", &of_plain, &of_live);
    if (differs_from(st, what) == NULL) {
        (void)printf(
            "A world with the same rows, made anew, gives the right answer: it depends on what happened before.\n");
        return;
    }
    for (uint32_t i = st->count; i--;) {
        char *row = st->rows[i];
        st->rows[i] = NULL;
        if (differs_from(st, what)) sqlite3_free(row);
        else st->rows[i] = row;
    }
    (void)printf("It needs only this world:\n");
    for (uint32_t i = 0; i < st->count; i++)
        if (st->rows[i]) (void)printf("  %s;\n", st->rows[i]);
    why = differs_from(st, what);
    (void)printf("Then %s:\n", why);
    lines_print("living", &of_live, &of_plain);
    lines_print("plain", &of_plain, &of_live);
}

/* ---- scenes ---- */

/* False: something differs, and was printed. */
static bool scene_run(uint64_t seed, uint64_t statements)
{
    static statement st;
    static state before;
    sides s = sides_make();
    uint64_t random = seed;
    int64_t fresh = 100;
    bool good = true;
    plain_do(&s, "insert into entities(id) values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)");
    for (int i = 0; i < 10; i++) (void)reef_create(s.world);
    for (uint64_t i = 0; i < statements + SCENE_FILL && good; i++) {
        bool open = false;
        statement_make(&st, &random, &fresh, i < SCENE_FILL);
        if (st.writes) state_take(&s, false, &before);
        const char *why = statement_differs(&s, &st, &open);
        all.run++;
        all.writes += st.writes && !of_live.refused;
        if (why) {
            (void)printf("seed %llu, statement %llu: ", (unsigned long long)seed, (unsigned long long)i);
            if (!st.writes) state_take(&s, false, &before);
            failure_print(&before, &st, why);
            good = false;
        }
        if (open) sides_level(&s);
    }
    state_free(&before);
    if (good && reef_validate(s.world, NULL, 0) != REEF_OK) {
        (void)printf("seed %llu: the world isn't valid\n", (unsigned long long)seed);
        good = false;
    }
    sides_free(&s);
    return good;
}

int main(int count, char **words)
{
    uint64_t statements = 2000, seed = 1, bad = 0, most = 1;
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(words[i], "--statements") == 0) statements = strtoull(words[i + 1], NULL, 10);
        else if (strcmp(words[i], "--seed") == 0) seed = strtoull(words[i + 1], NULL, 10);
        else if (strcmp(words[i], "--failures") == 0) most = strtoull(words[i + 1], NULL, 10);
        else return fprintf(stderr, "unknown argument: %s\n", words[i]), 2;
    }
    for (; all.run < statements && bad < most; seed++) {
        const uint64_t left = statements - all.run;
        bad += !scene_run(seed, left < SCENE_STATEMENTS ? left : SCENE_STATEMENTS);
    }
    (void)printf("%llu statements, %llu of them wrote, %llu were refused by both, %llu rows of answers\n",
                 (unsigned long long)all.run, (unsigned long long)all.writes, (unsigned long long)all.refused,
                 (unsigned long long)all.rows);
    return bad != 0;
}
