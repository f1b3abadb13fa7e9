/* The generator of statements. A text is written once for both sides; where they differ, a marked piece stands in it:
 * between \1 and \2 for the living world, between \2 and \3 for plain SQLite. */
#include "sql_statement.h"
#include "sqlite_scene.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BETWEEN(column, low, high) "INTEGER NOT NULL DEFAULT 0 CHECK (" column " BETWEEN " low " AND " high ")"
#define REAL_IN(column) "REAL DEFAULT 0.0 CHECK (" column " BETWEEN -1000 AND 1000)"
#define I32(column) BETWEEN(column, "-2147483648", "2147483647")
#define TARGET "INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE"
#define TARGET_OF_MANY "UNIQUE(id, target)"

const statement_table statement_tables[STATEMENT_TABLES] = {
    {"entities",
     {{"name", COLUMN_TEXT, "TEXT"}, {"parent", COLUMN_ID, "INTEGER REFERENCES entities(id) ON DELETE CASCADE"}},
     false,
     false,
     ""},
    {"Place", {{"x", COLUMN_REAL, REAL_IN("x")}, {"y", COLUMN_REAL, REAL_IN("y")}}, false, false, ""},
    {"Kinds",
     {{"small", COLUMN_COUNT, BETWEEN("small", "-128", "127")},
      {"byte", COLUMN_COUNT, BETWEEN("byte", "0", "255")},
      {"i16", COLUMN_WHOLE, BETWEEN("i16", "-32768", "32767")},
      {"u16", COLUMN_COUNT, BETWEEN("u16", "0", "65535")},
      {"i32", COLUMN_WHOLE, I32("i32")},
      {"u32", COLUMN_COUNT, BETWEEN("u32", "0", "4294967295")},
      {"i64", COLUMN_WHOLE, "INTEGER NOT NULL DEFAULT 0"},
      {"u64", COLUMN_WIDE, "ANY NOT NULL DEFAULT 0 COLLATE digits"},
      {"f64", COLUMN_REAL, "REAL DEFAULT 0.0"},
      {"yes", COLUMN_COUNT, BETWEEN("yes", "0", "1")},
      {"word", COLUMN_TEXT, "TEXT NOT NULL DEFAULT '' CHECK (length(CAST(word AS BLOB)) <= 12)"},
      {"legs", COLUMN_LIST, "TEXT NOT NULL DEFAULT '[0,0,0]'"}},
     false,
     false,
     ""},
    {"Feeling",
     {{"mood", COLUMN_NAME, "TEXT NOT NULL DEFAULT 'CALM' CHECK (mood IN ('CALM', 'ANGRY', 'SAD'))"},
      {"wants", COLUMN_NAME,
       "TEXT NOT NULL DEFAULT '0' CHECK (wants IN ('0', 'FOOD', 'SLEEP', 'FOOD|SLEEP', 'SLEEP|COMPANY'))"},
      {"since", COLUMN_WHOLE, I32("since")}},
     false,
     false,
     ""},
    {"Coins", {{"coins", COLUMN_WHOLE, I32("coins")}}, false, false, ""},
    {"Wound",
     {{"per_second", COLUMN_COUNT, BETWEEN("per_second", "0", "100")}, {"\"left\"", COLUMN_WHOLE, I32("\"left\"")}},
     true,
     false,
     ""},
    {"Burning", {{"heat", COLUMN_WHOLE, I32("heat")}}, false, false, ""},
    {"Paged", {{"slot", COLUMN_WHOLE, I32("slot")}}, false, false, ""},
    {"Cold", {{"degrees", COLUMN_WHOLE, I32("degrees")}}, false, false, ""},
    {"Shape", {{"corners", COLUMN_WHOLE, I32("corners")}}, false, false, ""},
    {"Parts",
     {{"x", COLUMN_REAL, "REAL DEFAULT 0.0"}, {"y", COLUMN_REAL, "REAL DEFAULT 0.0"}, {"n", COLUMN_WHOLE, I32("n")}},
     false,
     false,
     ""},
    {"Purse",
     {{"\"base.coins\"", COLUMN_WHOLE, I32("\"base.coins\"")}, {"more", COLUMN_WHOLE, I32("more")}},
     false,
     false,
     ""},
    {"Asleep", {{NULL, COLUMN_ID, NULL}}, false, false, ""},
    {"Lit", {{NULL, COLUMN_ID, NULL}}, false, false, ""},
    {"Likes", {{"target", COLUMN_ID, TARGET}}, true, true, TARGET_OF_MANY},
    {"Owes",
     {{"target", COLUMN_ID, TARGET}, {"\"data.coins\"", COLUMN_WHOLE, I32("\"data.coins\"")}},
     true,
     true,
     TARGET_OF_MANY},
    {"DockedTo", {{"target", COLUMN_ID, TARGET}}, false, true, ""},
    {"Within", {{"target", COLUMN_ID, TARGET}}, false, true, ""},
};

const char statement_triggers[] =
    "create unique index names on entities(ifnull(parent, -1), name) where name is not null;"
    "create table disabled(id INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE, component TEXT NOT NULL,"
    " UNIQUE(id, component)) strict;"
    "create trigger within_goes before delete on entities begin"
    " delete from entities where id in (select id from Within where target = old.id); end;"
    "create trigger within_circle before insert on Within begin select raise(abort, 'circle') where exists(with "
    "recursive"
    " up(e) as (select new.target union select w.target from Within w join up on w.id = up.e)"
    " select 1 from up where e = new.id); end;"
    "create trigger within_circle_2 before update of target on Within begin select raise(abort, 'circle') where"
    " exists(with recursive up(e) as (select new.target union select w.target from Within w join up on w.id = up.e"
    " and w.id <> new.id) select 1 from up where e = new.id); end;"
    "create trigger parent_circle before update of parent on entities when new.parent is not null begin"
    " select raise(abort, 'circle') where exists(with recursive up(e) as (select new.parent union"
    " select p.parent from entities p join up on p.id = up.e and p.id <> new.id)"
    " select 1 from up where e = new.id); end;";

/* ---- writing ---- */

typedef struct making {
    char text[12000];
    size_t size;
    uint64_t *seed;
    int64_t *fresh;
    statement *s;
    int depth;
} making;

static uint32_t below(making *m, uint32_t n) { return scene_random(m->seed) % n; }
static bool one_in(making *m, uint32_t n) { return below(m, n) == 0; }

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(making *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(m->text + m->size, sizeof m->text - m->size, format, list);
    va_end(list);
    if (n > 0 && m->size + (size_t)n < sizeof m->text) m->size += (size_t)n;
}

static void both_write(making *m, statement *s)
{
    size_t live = 0, plain = 0;
    int side = 0;
    for (size_t i = 0; i < m->size; i++) {
        const char c = m->text[i];
        if (c >= 1 && c <= 3) {
            side = c % 3;
            continue;
        }
        if (side != 2) s->live[live++] = c;
        if (side != 1) s->plain[plain++] = c;
    }
    s->live[live] = s->plain[plain] = 0;
}

static const statement_table *any_table(making *m) { return &statement_tables[below(m, STATEMENT_TABLES)]; }
static const statement_table *table_of_name(const char *name)
{
    for (int i = 0; i < STATEMENT_TABLES; i++)
        if (strcmp(statement_tables[i].name, name) == 0) return &statement_tables[i];
    return NULL;
}
static uint32_t columns_of(const statement_table *t)
{
    uint32_t n = 0;
    while (n < STATEMENT_COLUMNS && t->columns[n].name) n++;
    return n;
}
/* A column of one of the kinds (bits); NULL: there is none. */
static const statement_column *any_column(making *m, const statement_table *t, unsigned kinds)
{
    const statement_column *found = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < columns_of(t); i++)
        if (kinds >> t->columns[i].kind & 1 && one_in(m, ++n)) found = &t->columns[i];
    return found;
}
#define NUMBERS (1u << COLUMN_COUNT | 1u << COLUMN_WHOLE | 1u << COLUMN_REAL)

/* Tables that a part of a statement may name, by their aliases. */
typedef struct scope {
    const statement_table *table[3];
    const char *alias[3];
    int count;
} scope;

/* ---- expressions ---- */

static void condition_put(making *m, const scope *in);
static void number_put(making *m, const scope *in);

static void number_column_put(making *m, const scope *in)
{
    const int i = (int)below(m, (uint32_t)in->count);
    const statement_column *c = one_in(m, 5) ? NULL : any_column(m, in->table[i], NUMBERS | 1u << COLUMN_ID);
    if (c == NULL && in->table[i]->many && one_in(m, 2)) put(m, "%s.number", in->alias[i]);
    else put(m, "%s.%s", in->alias[i], c ? c->name : "id");
}

static void literal_put(making *m)
{
    static const char *const literals[] = {"0",   "1",    "2",    "3",  "5",   "7",   "-1",
                                           "0.5", "2.25", "-3.5", "10", "100", "null"};
    put(m, "%s", literals[below(m, sizeof literals / sizeof literals[0])]);
}

static void scalar_put(making *m, const scope *in)
{
    static const char *const functions[] = {"max", "min", "count", "sum", "avg"};
    const statement_table *t = any_table(m);
    const scope own = {{t, in->table[0]}, {"s", in->alias[0]}, one_in(m, 3) ? 2 : 1};
    const scope only = {{t}, {"s"}, 1};
    put(m, "(select %s(", functions[below(m, 5)]);
    number_column_put(m, &only);
    put(m, ") from %s s", t->name);
    if (!one_in(m, 3)) put(m, " where "), condition_put(m, &own);
    put(m, ")");
}

static void number_put(making *m, const scope *in)
{
    if (m->depth > 3) {
        number_column_put(m, in);
        return;
    }
    m->depth++;
    switch (below(m, 14)) {
    case 0:
    case 1: literal_put(m); break;
    case 2:
        put(m, "(");
        number_put(m, in);
        put(m, " %c ", "+-*"[below(m, 3)]);
        number_put(m, in);
        put(m, ")");
        break;
    case 3: put(m, "abs("), number_column_put(m, in), put(m, ")"); break;
    case 4:
        put(m, "case when ");
        condition_put(m, in);
        put(m, " then "), number_put(m, in), put(m, " else "), number_put(m, in), put(m, " end");
        break;
    case 5: put(m, "coalesce("), number_put(m, in), put(m, ", "), number_put(m, in), put(m, ")"); break;
    case 6: scalar_put(m, in); break;
    default: number_column_put(m, in); break;
    }
    m->depth--;
}

static void text_put(making *m, const scope *in)
{
    static const char *const texts[] = {"'a'", "'n1'", "'word'", "''", "'n12'", "'A'"};
    for (int i = 0; i < in->count; i++) {
        const statement_column *c = any_column(m, in->table[i], 1u << COLUMN_TEXT | 1u << COLUMN_NAME);
        if (c && !one_in(m, 3)) {
            put(m, one_in(m, 6) ? "upper(%s.%s)" : "%s.%s", in->alias[i], c->name);
            return;
        }
    }
    put(m, "%s", texts[below(m, 6)]);
}

static void ids_put(making *m)
{
    const uint32_t n = below(m, 4) + 1;
    for (uint32_t i = 0; i < n; i++) put(m, i ? ", %u" : "%u", (unsigned)below(m, 12));
}

static void subselect_put(making *m, const scope *in)
{
    const statement_table *t = any_table(m);
    const scope own = {{t, in->table[0]}, {"k", in->alias[0]}, one_in(m, 3) ? 2 : 1};
    put(m, "select k.%s from %s k", t->relation && one_in(m, 2) ? "target" : "id", t->name);
    if (!one_in(m, 3)) put(m, " where "), condition_put(m, &own);
}

/* Beside query = 'Likes', the column is the text 'Likes' in all other conditions: so it's named once for a table. */
static bool query_named(const making *m, const char *alias)
{
    char name[32];
    (void)snprintf(name, sizeof name, "\1%s.query", alias);
    return strstr(m->text, name);
}

/* What plain SQLite says for a query of one component. Nested in OR or NOT it may be refused. */
static void query_put(making *m, const scope *in, int i)
{
    static const char *const names[] = {"Place", "Asleep", "Wound", "Likes", "Burning", "Lit"};
    const char *name = names[below(m, 6)];
    /* an entity that has nothing is visited by no query */
    const bool without = in->table[i] != &statement_tables[0] && one_in(m, 3);
    m->s->refusable = true;
    put(m,
        "\1%s.query = '%s%s'\2(case when %s.id is not null then %s.id %sin (select q.id from %s q where not exists "
        "(select 1 from disabled d where d.id = q.id and d.component = '%s')) and not exists (select 1 from disabled d "
        "where d.id = %s.id and d.component = '') end)\3",
        in->alias[i], without ? "!" : "", name, in->alias[i], in->alias[i], without ? "not " : "", name, name,
        in->alias[i]);
}

static void comparison_put(making *m, const scope *in)
{
    static const char *const ops[] = {"=", "<", ">", "<=", ">=", "<>", "is", "is not"};
    static const char *const patterns[] = {"'n%'", "'%1%'", "'_'", "'a_'", "'%w%o%'", "''"};
    const int i = (int)below(m, (uint32_t)in->count);
    switch (below(m, 15)) {
    case 0: put(m, "%s.id = %u", in->alias[i], (unsigned)below(m, 12)); break;
    case 1: put(m, "%s.id in (", in->alias[i]), ids_put(m), put(m, ")"); break;
    case 2:
        put(m, "%s.%s %sin (", in->alias[i], in->table[i]->relation && one_in(m, 2) ? "target" : "id",
            one_in(m, 4) ? "not " : "");
        subselect_put(m, in), put(m, ")");
        break;
    case 3:
        number_put(m, in);
        put(m, one_in(m, 4) ? " not between " : " between "), number_put(m, in), put(m, " and "), number_put(m, in);
        break;
    case 4: text_put(m, in), put(m, " %slike %s", one_in(m, 4) ? "not " : "", patterns[below(m, 6)]); break;
    case 5: text_put(m, in), put(m, " %s ", ops[below(m, 6)]), text_put(m, in); break;
    case 6: number_column_put(m, in), put(m, one_in(m, 2) ? " is null" : " is not null"); break;
    case 7: put(m, "exists ("), subselect_put(m, in), put(m, ")"); break;
    case 8: {
        const char *column = in->table[i]->relation ? "target" : "id";
        if (in->table[i] == &statement_tables[0]) column = "parent";
        put(m, "%s.%s = ", in->alias[i], column);
        if (one_in(m, 2)) number_column_put(m, in);
        else put(m, "%u", (unsigned)below(m, 12));
        break;
    }
    case 9:
        number_column_put(m, in), put(m, " in ("), literal_put(m), put(m, ", "), number_put(m, in), put(m, ")");
        break;
    case 10:
        number_column_put(m, in);
        put(m, " %s ", ops[below(m, 6)]), literal_put(m);
        break;
    case 11:
        if (one_in(m, 4) && !query_named(m, in->alias[i])) query_put(m, in, i);
        else number_column_put(m, in), put(m, " = "), number_column_put(m, in);
        break;
    default: number_put(m, in), put(m, " %s ", ops[below(m, 8)]), number_put(m, in); break;
    }
}

static void condition_put(making *m, const scope *in)
{
    m->depth++;
    const uint32_t kind = m->depth > 4 ? 9 : below(m, 9);
    if (kind < 3) {
        put(m, "(");
        condition_put(m, in);
        put(m, kind == 0 ? " or " : " and ");
        condition_put(m, in);
        put(m, ")");
    } else if (kind == 3) put(m, "not ("), condition_put(m, in), put(m, ")");
    else comparison_put(m, in);
    m->depth--;
}

static void where_put(making *m, const scope *in)
{
    if (one_in(m, 5)) return;
    put(m, " where ");
    condition_put(m, in);
}

/* ---- selects ---- */

static void all_columns_put(making *m, const statement_table *t, const char *alias)
{
    put(m, "%s.id", alias);
    if (t->many) put(m, ", %s.number", alias);
    for (uint32_t i = 0; i < columns_of(t); i++) put(m, ", %s.%s", alias, t->columns[i].name);
}

static uint32_t result_count(const statement_table *t) { return 1 + t->many + columns_of(t); }

static void order_put(making *m, uint32_t columns)
{
    put(m, " order by ");
    for (uint32_t i = 1; i <= columns; i++)
        put(m, "%s%u%s", i > 1 ? ", " : "", (unsigned)i, one_in(m, 4) ? " desc" : "");
}

static void limit_put(making *m)
{
    put(m, " limit %d", (int)below(m, 6) - (one_in(m, 5) ? 1 : 0));
    if (!one_in(m, 3)) put(m, " offset %u", (unsigned)below(m, 5));
}

static void select_one(making *m)
{
    const statement_table *t = any_table(m);
    const scope in = {{t}, {"a"}, 1};
    put(m, "select "), all_columns_put(m, t, "a"), put(m, " from %s a", t->name), where_put(m, &in);
    if (!one_in(m, 3)) return;
    order_put(m, result_count(t));
    m->s->ordered = true;
    if (one_in(m, 2)) limit_put(m);
}

static void select_join(making *m)
{
    static const char *const joins[] = {"join", "left join", "cross join", "join"};
    const statement_table *a = any_table(m), *b = any_table(m);
    const scope in = {{a, b}, {"a", "b"}, 2};
    put(m, "select "), all_columns_put(m, a, "a"), put(m, ", "), all_columns_put(m, b, "b");
    put(m, " from %s a %s %s b", a->name, joins[below(m, 4)], b->name);
    switch (below(m, 5)) {
    case 0: put(m, " on a.%s = b.id", a->relation ? "target" : "id"); break;
    case 1: put(m, " on a.id = b.%s", b->relation ? "target" : "id"); break;
    case 2: put(m, " on "), condition_put(m, &in); break;
    default: put(m, " on a.id = b.id"); break;
    }
    where_put(m, &in);
}

static void select_compound(making *m)
{
    static const char *const ops[] = {"union", "union all", "intersect", "except"};
    const uint32_t n = below(m, 3) + 2;
    const bool counted = one_in(m, 3);
    if (counted) put(m, "select count(*) from (");
    for (uint32_t i = 0; i < n; i++) {
        const statement_table *t = any_table(m);
        const scope in = {{t}, {"a"}, 1};
        if (i) put(m, " %s ", ops[below(m, 4)]);
        put(m, "select a.id, "), number_put(m, &in), put(m, " from %s a", t->name), where_put(m, &in);
    }
    if (counted) limit_put(m), put(m, ")");
    else if (one_in(m, 2)) order_put(m, 2), limit_put(m), m->s->ordered = true;
}

/* How many rows there are doesn't depend on their order. */
static void select_limited(making *m)
{
    const statement_table *t = any_table(m);
    const scope in = {{t}, {"a"}, 1};
    put(m, "select count(*) from (select a.id from %s a", t->name), where_put(m, &in), limit_put(m), put(m, ")");
}

static void select_aggregate(making *m)
{
    static const char *const functions[] = {"sum", "total", "avg", "count", "min", "max"};
    const statement_table *t = any_table(m);
    const scope in = {{t}, {"a"}, 1};
    const bool grouped = one_in(m, 2);
    put(m, "select count(*)");
    for (uint32_t i = below(m, 4); i; i--)
        put(m, ", %s(", functions[below(m, 6)]), (one_in(m, 3) ? number_put : number_column_put)(m, &in), put(m, ")");
    put(m, " from %s a", t->name), where_put(m, &in);
    if (!grouped) return;
    put(m, " group by "), number_column_put(m, &in);
    if (one_in(m, 2)) put(m, " having count(*) > %u", (unsigned)below(m, 3));
}

static void select_grouped(making *m)
{
    const statement_table *t = any_table(m);
    const scope in = {{t}, {"a"}, 1};
    const size_t from = m->size + strlen("select ");
    char key[200];
    put(m, "select "), number_column_put(m, &in);
    (void)snprintf(key, sizeof key, "%.*s", (int)(m->size - from), m->text + from);
    put(m, ", count(*), max("), number_put(m, &in), put(m, ") from %s a", t->name), where_put(m, &in);
    put(m, " group by %s", key);
    if (one_in(m, 2)) put(m, " having count(*) > %u", (unsigned)below(m, 3));
}

static void select_with(making *m)
{
    const statement_table *t = any_table(m), *u = any_table(m);
    const scope in = {{t}, {"a"}, 1}, on = {{u}, {"b"}, 1};
    if (one_in(m, 3)) {
        put(m,
            "with recursive up(id) as (select %u union select e.parent from entities e join up using (id) where "
            "e.parent is not null) select up.id, ",
            (unsigned)below(m, 12));
        number_put(m, &on), put(m, " from up left join %s b on b.id = up.id", u->name), where_put(m, &on);
        return;
    }
    put(m, "with c(id, v) as %s(select a.id, ",
        one_in(m, 2)   ? ""
        : one_in(m, 2) ? "materialized "
                       : "not materialized ");
    number_put(m, &in), put(m, " from %s a", t->name), where_put(m, &in);
    put(m, ") select c.id, c.v, "), number_put(m, &on), put(m, " from c join %s b on b.id = c.id", u->name);
    where_put(m, &on);
}

static void select_window(making *m)
{
    static const char *const functions[] = {"row_number()", "rank()", "count(*)", "max(%s)", "sum(%s)", "lag(%s)"};
    const statement_table *t = any_table(m);
    const scope in = {{t}, {"a"}, 1};
    const statement_column *c = any_column(m, t, NUMBERS);
    char column[60];
    (void)snprintf(column, sizeof column, "a.%s", c ? c->name : "id");
    put(m, "select a.id, ");
    const char *f = functions[below(m, 6)], *percent = strstr(f, "%s");
    if (percent) put(m, "%.*s%s)", (int)(percent - f), f, column);
    else put(m, "%s", f);
    put(m, " over (");
    if (one_in(m, 2)) put(m, "partition by %s ", column);
    put(m, "order by a.id%s) from %s a", t->many ? ", a.number" : "", t->name), where_put(m, &in);
}

static void select_make(making *m)
{
    static void (*const kinds[])(making *) = {select_one,      select_one,     select_join,      select_join,
                                              select_compound, select_limited, select_aggregate, select_grouped,
                                              select_with,     select_window};
    kinds[below(m, sizeof kinds / sizeof kinds[0])](m);
}

/* ---- values that are written ---- */

static void value_put(making *m, const statement_column *c, const scope *in)
{
    static const char *const words[] = {"'a'", "'word'", "'A'", "'twelve bytes'", "'\xC3\xA9'", "''"};
    static const char *const wide[] = {
        "0", "5", "9223372036854775807", "'9223372036854775808'", "'18446744073709551615'", "'10000000000000000000'"};
    static const char *const moods[] = {"'CALM'", "'ANGRY'", "'SAD'", "'GLAD'"};
    static const char *const wants[] = {"'0'", "'FOOD'", "'SLEEP'", "'FOOD|SLEEP'", "'SLEEP|COMPANY'", "'FOOD|'"};
    switch (c->kind) {
    case COLUMN_ID:
        if (in && one_in(m, 4))
            put(m, "(select max(z.id) from entities z where z.id < %u)", (unsigned)below(m, 12) + 1);
        else put(m, "%u", (unsigned)below(m, 10));
        break;
    case COLUMN_COUNT:
        if (strcmp(c->name, "yes") == 0) put(m, "%u", (unsigned)below(m, 2));
        else put(m, "%u", (unsigned)below(m, 100) + (one_in(m, 40) ? 70000u : 0));
        break;
    case COLUMN_WHOLE:
        if (in && one_in(m, 2)) put(m, "%s.%s + %u", in->alias[0], c->name, (unsigned)below(m, 9));
        else put(m, "%d", (int)below(m, 30) - 10);
        break;
    case COLUMN_REAL:
        if (in && one_in(m, 2))
            put(m, "%s.%s * %u + %u.25", in->alias[0], c->name, (unsigned)below(m, 2), (unsigned)below(m, 9));
        else put(m, "%d.%s", (int)below(m, one_in(m, 20) ? 5000 : 30), one_in(m, 2) ? "5" : "75");
        break;
    case COLUMN_TEXT: put(m, "%s", words[below(m, 6)]); break;
    case COLUMN_WIDE: put(m, "%s", wide[below(m, 6)]); break;
    case COLUMN_LIST: put(m, "'[%u,%u,65535]'", (unsigned)below(m, 9), (unsigned)below(m, 9)); break;
    case COLUMN_NAME:
        if (strcmp(c->name, "mood") == 0) put(m, "%s", moods[below(m, one_in(m, 20) ? 4 : 3)]);
        else put(m, "%s", wants[below(m, one_in(m, 20) ? 6 : 5)]);
        break;
    }
}

/* ---- writes ---- */

/* Names differ, so that it doesn't matter in which order rows are written. */
static void insert_entities(making *m)
{
    const int64_t id = (*m->fresh)++;
    if (one_in(m, 3)) {
        m->s->gives_ids = true;
        put(m, "insert into entities(\1\2id, \3name) values (\1\2%%lld, \3'e%d') returning id, name", (int)id);
        return;
    }
    put(m, "insert into entities(id, name, parent) values (%d, ", (int)id);
    put(m, one_in(m, 3) ? "null, " : "'n%d', ", (int)id);
    put(m, one_in(m, 2) ? "null)" : "%u)", (unsigned)below(m, 12));
    if (one_in(m, 3)) put(m, " returning name, id, parent");
}

static void insert_values(making *m, const statement_table *t)
{
    const uint32_t rows = below(m, 3) + 1, all = columns_of(t), count = all ? below(m, all) + 1 : 0;
    const uint32_t some = t->relation ? all : count;
    put(m, "insert into %s(id", t->name);
    for (uint32_t i = 0; i < some; i++) put(m, ", %s", t->columns[i].name);
    put(m, ") values ");
    for (uint32_t r = 0; r < rows; r++) {
        put(m, r ? ", (%u" : "(%u", (unsigned)below(m, 10));
        for (uint32_t i = 0; i < some; i++) put(m, ", "), value_put(m, &t->columns[i], NULL);
        put(m, ")");
    }
    if (one_in(m, 3)) {
        put(m, " returning id");
        /* plain SQLite returns some reals as whole numbers */
        for (uint32_t i = 0; i < all; i++)
            put(m, t->columns[i].kind == COLUMN_REAL ? ", 0.0 + %s" : ", %s", t->columns[i].name);
    }
}

static void insert_select(making *m, const statement_table *t)
{
    const statement_table *u = any_table(m);
    const scope in = {{u}, {"u"}, 1};
    const bool open = one_in(m, 4);
    put(m, "insert into %s(id", t->name);
    for (uint32_t i = 0; i < columns_of(t); i++) put(m, ", %s", t->columns[i].name);
    put(m, ") select %s u.%s", t->many ? "" : "distinct", u->relation && one_in(m, 2) ? "target" : "id");
    for (uint32_t i = 0; i < columns_of(t); i++) put(m, ", "), value_put(m, &t->columns[i], NULL);
    put(m, " from %s u", u->name), where_put(m, &in);
    if (!open) order_put(m, 1 + columns_of(t));
    if (open || one_in(m, 2)) limit_put(m);
    m->s->any_rows = open;
    m->s->table = t->name;
}

static void update_make(making *m)
{
    const statement_table *t = any_table(m);
    const uint32_t all = columns_of(t);
    const scope in = {{t}, {t->name}, 1};
    if (all == 0 || t == &statement_tables[0] || strcmp(t->name, "Within") == 0) {
        const char *column = all == 0                                    ? "id"
                             : t == &statement_tables[0] && one_in(m, 2) ? "name"
                                                                         : t->columns[all - 1].name;
        put(m, "update %s set %s = ", t->name, column);
        if (all == 0) put(m, "id");
        else if (strcmp(column, "name") == 0) put(m, "'u' || id");
        else put(m, "%u", (unsigned)below(m, 12));
        put(m, " where id = %u", (unsigned)below(m, 12));
        return;
    }
    const uint32_t first = below(m, all), count = one_in(m, 3) && first + 1 < all ? 2 : 1;
    const statement_column *c = &t->columns[first];
    put(m, "update %s set ", t->name);
    if (one_in(m, 4) && !t->relation && (NUMBERS >> c->kind & 1)) {
        const statement_table *u = &statement_tables[below(m, 4)];
        put(m, "%s = %s.%s + 1 from %s u where u.id = %s.id and ", c->name, t->name, c->name, u->name, t->name);
        condition_put(m, &in);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        put(m, i ? ", %s = " : "%s = ", t->columns[first + i].name);
        value_put(m, &t->columns[first + i], t->relation ? NULL : &in);
    }
    where_put(m, &in);
}

static void delete_make(making *m)
{
    const statement_table *t = any_table(m);
    if (t == &statement_tables[0] && !one_in(m, 3)) t = table_of_name("Wound");
    const scope in = {{t}, {t->name}, 1};
    put(m, "delete from %s where ", t->name);
    if (one_in(m, 6)) {
        const char *key = t->many ? "id, number" : "id";
        put(m, "(%s) in (select %s from %s k", key, key, t->name), limit_put(m), put(m, ")");
        m->s->any_rows = true;
        m->s->table = t->name;
        return;
    }
    condition_put(m, &in);
}

static void disabled_make(making *m)
{
    const statement_table *t = &statement_tables[1 + below(m, STATEMENT_TABLES - 1)];
    if (one_in(m, 3)) {
        put(m, "delete from disabled where %s", one_in(m, 2) ? "component = ''" : "id > 4 or component = 'Wound'");
        return;
    }
    const scope in = {{t}, {"u"}, 1};
    const char *name = one_in(m, 3) ? "" : t->name;
    put(m, "insert into disabled(id, component) select distinct u.id, '%s' from %s u", name, t->name);
    put(m, " where u.id not in (select id from disabled where component = '%s') and ", name);
    condition_put(m, &in);
}

static void write_make(making *m, bool fill)
{
    const statement_table *t = &statement_tables[1 + below(m, STATEMENT_TABLES - 1)];
    m->s->writes = true;
    switch (fill ? below(m, 5) : below(m, 12)) {
    case 0: insert_entities(m); break;
    case 1:
    case 2:
    case 3: insert_values(m, t); break;
    case 4:
    case 5: insert_select(m, t); break;
    case 6: disabled_make(m); break;
    case 7:
    case 8:
    case 9: update_make(m); break;
    default: delete_make(m); break;
    }
}

void statement_make(statement *s, uint64_t *seed, int64_t *fresh, bool fill)
{
    static making m;
    m = (making){.seed = seed, .fresh = fresh, .s = s};
    *s = (statement){0};
    if (fill || one_in(&m, 2)) write_make(&m, fill);
    else select_make(&m);
    both_write(&m, s);
}
