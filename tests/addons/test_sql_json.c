/* The add-on reef_sqlite: statements that strangers have written. What a confined session refuses, where calls end, and
 * answers as JSON. */
#include "reef_sqlite.h"
#include "sqlite_scene.h"
#include "support.h"
#include <sqlite3.h>

static char reason[REEF_SQLITE_REASON_MAX];
static char got[8 << 20];
static size_t got_bytes;

static reef_status take(void *context, const void *bytes, size_t count)
{
    (void)context;
    assert_true(got_bytes + count < sizeof got);
    memcpy(got + got_bytes, bytes, count);
    got_bytes += count;
    got[got_bytes] = 0;
    return REEF_OK;
}
static const reef_writer to_got = {take, NULL};

static reef_status json(reef_world *w, const char *sql, bool read_only)
{
    got_bytes = 0;
    got[0] = 0;
    return reef_sql_json(w, sql, read_only, to_got, reason);
}

static const char *asked(reef_world *w, const char *sql)
{
    const reef_status s = json(w, sql, false);
    if (s != REEF_OK) fail_msg("%s: %s: %s", sql, reef_status_name(s), reason);
    assert_string_equal(reason, "");
    return got;
}

static void refused_at(reef_world *w, reef_status wanted, const char *sql, const char *why, bool read_only, int line)
{
    const uint64_t before = digest(w);
    const reef_status s = json(w, sql, read_only);
    if (s != wanted || strstr(reason, why) == NULL)
        fail_msg("line %d: %s: %s: %s", line, sql, reef_status_name(s), reason);
    assert_int_equal(got_bytes, 0);
    assert_true(digest(w) == before);
}
#define assert_json_refused(w, wanted, sql, why) refused_at(w, wanted, sql, why, false, __LINE__)

static void answers_as_json(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity ann = reef_spawn(w, reef_with(Place, 1, 2.5f), reef_tag(Asleep));
    (void)reef_spawn(w, reef_with(Plain, {1, 2, 255}));
    (void)reef_set_name(w, ann, "a \"b\" \\ c \xC3\xA9");
    assert_string_equal(asked(w, ""), "[]");
    assert_string_equal(asked(w, " -- nothing\n"), "[]");
    assert_string_equal(asked(w, "select id, x, null as n, y from Place"),
                        "[{\"columns\":[\"id\",\"x\",\"n\",\"y\"],\"rows\":[[0,1.0,null,2.5]],\"more\":false,"
                        "\"changed\":0}]");
    assert_string_equal(asked(w, "select name from entities where id = 0"),
                        "[{\"columns\":[\"name\"],\"rows\":[[\"a \\u0022b\\u0022 \\u005c c \xC3\xA9\"]],"
                        "\"more\":false,\"changed\":0}]");
    assert_string_equal(asked(w, "select x from Place where x > 5"),
                        "[{\"columns\":[\"x\"],\"rows\":[],\"more\":false,\"changed\":0}]");
    assert_string_equal(asked(w, "select value from Plain"),
                        "[{\"columns\":[\"value\"],\"rows\":[[\"0102ff0000\"]],\"more\":false,\"changed\":0}]");
    assert_string_equal(asked(w, "select 9007199254740992 a, 9007199254740993 b, -9223372036854775808 c, 1e999 d"),
                        "[{\"columns\":[\"a\",\"b\",\"c\",\"d\"],\"rows\":[[9007199254740992,\"9007199254740993\","
                        "\"-9223372036854775808\",\"Inf\"]],\"more\":false,\"changed\":0}]");
    /* as many digits as bring the same number back: 15, 16, 17 */
    assert_string_equal(
        asked(w, "select 0.1 a, 1.7976931348623157e308 b, 0.1 + 0.2 c, -4.9e-324 d, 1e15 + 0.3 e, 1e22 f"),
        "[{\"columns\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"],\"rows\":[[0.1,1.7976931348623157e+308,"
        "0.30000000000000004,-4.94065645841247e-324,1000000000000000.2,1.0e+22]],\"more\":false,"
        "\"changed\":0}]");
    assert_string_equal(asked(w, "select 12345678901234568.0 a"),
                        "[{\"columns\":[\"a\"],\"rows\":[[12345678901234568.0]],\"more\":false,\"changed\":0}]");
    assert_string_equal(asked(w, "select char(10, 31, 0) t, value from json_each('[true]')"),
                        "[{\"columns\":[\"t\",\"value\"],\"rows\":[[\"\\u000a\\u001f\\u0000\",1]],\"more\":false,"
                        "\"changed\":0}]");
    /* what is no UTF-8: a lone byte, a surrogate, a form that is too long, one that is cut off */
    assert_string_equal(asked(w, "select cast(x'41FF42EDA080C0AFE282' as text) t"),
                        "[{\"columns\":[\"t\"],\"rows\":[[\"A\xEF\xBF\xBD"
                        "B\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"]],"
                        "\"more\":false,\"changed\":0}]");
    assert_string_equal(asked(w, "update Place set x = x + 1; select sum(x) s from Place"),
                        "[{\"columns\":[],\"rows\":[],\"more\":false,\"changed\":1},"
                        "{\"columns\":[\"s\"],\"rows\":[[2.0]],\"more\":false,\"changed\":0}]");
    assert_string_equal(asked(w, "insert into entities(name) values ('x'), ('y') returning name"),
                        "[{\"columns\":[\"name\"],\"rows\":[[\"x\"],[\"y\"]],\"more\":false,\"changed\":2}]");
    assert_some(reef_find(w, "y"));
}

static void strangers_reach_only_the_world(void **state)
{
    static const char *const others[] = {"attach 'stranger.db' as s",
                                         "vacuum into 'stranger.db'",
                                         "pragma temp_store_directory = '/'",
                                         "select * from pragma_database_list",
                                         "create table t(x)",
                                         "create temp table t(x)",
                                         "create temp view v as select 1",
                                         "create virtual table temp.q using reef_query('Place')",
                                         "create temp trigger t after insert on Place begin select 1; end",
                                         "drop table Place",
                                         "alter table Place rename to Places",
                                         "detach main",
                                         "analyze"};
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Place, 1, 2));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        refused_at(w, REEF_BAD_TEXT, others[i], "", i % 2, __LINE__);
    assert_json_refused(w, REEF_BAD_TEXT, "attach ':memory:' as s", "only SELECT");
    assert_json_refused(w, REEF_BAD_TEXT, "delete from sqlite_master", "may not be modified");
    assert_json_refused(w, REEF_BAD_TEXT, "insert into sqlite_schema(name) values ('x')", "may not be modified");
    assert_json_refused(w, REEF_BAD_TEXT, "begin", "take effect together");
    assert_json_refused(w, REEF_BAD_TEXT, "update Place set x = 5; attach 'stranger.db' as s", "only SELECT");
    assert_json_refused(w, REEF_BAD_TEXT, "select load_extension('x')", "");
    assert_json_refused(w, REEF_REFUSED, "update Place set x = 5; update Place set x = 5000", "x has the range");
    FILE *made = fopen("stranger.db", "rb");
    assert_null(made);
    /* read-only: another status than a wrong statement, since the statement is right */
    refused_at(w, REEF_REFUSED, "update Place set x = 5", "read-only", true, __LINE__);
    refused_at(w, REEF_REFUSED, "select 1; delete from entities", "read-only", true, __LINE__);
    refused_at(w, REEF_REFUSED, "insert into entities(name) values ('z')", "read-only", true, __LINE__);
    refused_at(w, REEF_BAD_TEXT, "selekt", "syntax error", true, __LINE__);
    assert_ok(json(w, "select value from json_each('[1]')", true));
    assert_ok(json(w, "explain query plan select * from Place", true));
    assert_status(REEF_BAD_ARGUMENT, reef_sql_json(w, "select 1", true, (reef_writer){NULL, NULL}, reason));
    assert_status(REEF_BAD_ARGUMENT, json(NULL, "select 1", true));
    assert_status(REEF_BAD_ARGUMENT, json(w, NULL, true));
}

/* Numbers from 1 to n. */
#define COUNT_TO(n) "with recursive c(n) as (select 1 union all select n + 1 from c limit " n ") "

static void answers_are_bounded(void **state)
{
    reef_world *w = world_of(state);
    asked(w, COUNT_TO("1000") "select n from c");
    assert_non_null(strstr(got, "[1000]],\"more\":false"));
    asked(w, COUNT_TO("1001") "select n from c; select 7 as n");
    assert_non_null(strstr(got, "[1000]],\"more\":true"));
    assert_non_null(strstr(got, "[[7]],\"more\":false"));
    asked(w, COUNT_TO("900") "select n, hex(zeroblob(10000)) from c"); /* 18 MB */
    assert_non_null(strstr(got, "\"more\":true"));
    assert_true(got_bytes < 5 << 20 && got_bytes > 3 << 20);
    /* what changes the world goes on where the answer ends */
    asked(w, COUNT_TO("1500") "insert into entities(name) select 'e' || n from c returning name");
    assert_non_null(strstr(got, "\"more\":true,\"changed\":1500"));
    assert_int_equal(reef_count_alive(w), 1500);
    assert_json_refused(w, REEF_LIMIT, "select hex(zeroblob(600000))", "too big");
    assert_json_refused(w, REEF_BAD_TEXT,
                        "select 1 where 'a' like '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a"
                        "%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a'",
                        "too complex");
    asked(w,
          "with a(x) as (select 1), b as (select a.x, c.x as y from a join a c), c(x) as materialized (select x from b "
          "union select y from b) select count(*), (select max(x) from a) from c, b where c.x in (select x from b)");
    /* each part has two copies of the one before */
    assert_json_refused(
        w, REEF_LIMIT,
        "with a(x) as (select 1), b(x) as (select p.x from a p, a q), c(x) as (select p.x from b p, b q),"
        "d(x) as (select p.x from c p join c), e(x) as (select p.x from d p, \"d\"), f(x) as (select x "
        "from e where x in e), g(x) as (select p.x from f p, f q), h(x) as (select p.x from g p, g q), "
        "i(x) as (select p.x from h p, h q), j(x) as (select p.x from i p, i q), k(x) as (select p.x "
        "from j p, j q) select count(*) from k, k z",
        "too often");
    static char deep[4000];
    size_t n = (size_t)snprintf(deep, sizeof deep, "select ");
    for (int i = 0; i < 300; i++) n += (size_t)snprintf(deep + n, sizeof deep - n, "-(");
    n += (size_t)snprintf(deep + n, sizeof deep - n, "1");
    for (int i = 0; i < 300; i++) n += (size_t)snprintf(deep + n, sizeof deep - n, ")");
    assert_json_refused(w, REEF_BAD_TEXT, deep, "");
}

/* A text of n bytes that are all `byte`, in SQL. */
#define TEXT_OF(byte, n) "substr(replace(hex(zeroblob(" n " / 2 + 1)), '0', '" byte "'), 1, " n ")"

/* SQLite looks at the clock only between two calls of functions, so what one of them may be given is bounded. */
static void one_call_of_a_function_is_bounded_by_its_lengths(void **state)
{
    static const char *const products[] = {"instr(a, b)",     "replace(a, b, '')", "trim(a, b)",
                                           "ltrim(a, b)",     "rtrim(a, b)",       "like(b, a)",
                                           "like(b, a, '!')", "a like b",          "a glob b"};
    reef_world *w = world_of(state);
    char sql[600];
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        (void)snprintf(sql, sizeof sql, "select length(%s) from (select " TEXT_OF("a", "100000") " a, %s b)",
                       products[i], TEXT_OF("b", "100"));
        asked(w, sql);
        (void)snprintf(sql, sizeof sql, "select length(%s) from (select " TEXT_OF("a", "100001") " a, %s b)",
                       products[i], TEXT_OF("b", "100"));
        assert_json_refused(w, REEF_LIMIT, sql, "the product of the lengths is over 10,000,000");
    }
    (void)reef_spawn(w, reef_with(Place, 1, 2));
    assert_json_refused(w, REEF_LIMIT,
                        "update Place set x = instr(" TEXT_OF("a", "400000") ", " TEXT_OF("b", "99999") ")", "instr: ");
    assert_json_refused(w, REEF_LIMIT, "select printf('%.99999g%1d', 1, 2), format('%.99999g%2d')",
                        "format: its widths");
    assert_json_refused(w, REEF_LIMIT, "select printf('%*d', 1, 2)", "printf: its widths");
    assert_json_refused(w, REEF_LIMIT, "select printf(" TEXT_OF("%", "10001") ")", "more than 10,000 bytes");
    assert_json_refused(w, REEF_LIMIT, "select strftime(" TEXT_OF("%", "10001") ", 'now')", "more than 10,000 bytes");
    assert_json_refused(w, REEF_LIMIT, "select json_set('{}', '$.' || " TEXT_OF("a", "999") ", 1)", "json_set: a path");
    assert_json_refused(w, REEF_LIMIT, "select json_insert('{}', '$', 1, '$.' || " TEXT_OF("a", "999") ", 1)",
                        "a path");
    assert_json_refused(w, REEF_LIMIT, "select json_patch('{}', '{\"a\":\"' || " TEXT_OF("a", "10000") " || '\"}')",
                        "json_patch: ");
    assert_json_refused(w, REEF_BAD_TEXT,
                        "select max(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,"
                        "26,27,28,29,30,31,32,33)",
                        "too many arguments");
    (void)snprintf(sql, sizeof sql, "select id from Place where query = 'Place, %s'",
                   "' || " TEXT_OF("P", "5000") " || '");
    assert_json_refused(w, REEF_LIMIT, sql, "too long");
}

static void bounded_functions_give_what_sqlite_gives(void **state)
{
    static const char *const calls[] = {
        "instr('abcd', 'cd'), instr(x'0102', x'02'), instr(null, 'a'), instr(123, 2)",
        ("replace('abab', 'b', 'xy'), trim('  a '), trim('xxaxx', 'x'), ltrim(' a'), rtrim('ab', 'b'), ltrim('aab', "
         "'a')"),
        "'Abc' like 'a%', 'a%c' like 'a!%c' escape '!', 'abc' glob 'a*', 'a' like null, 12 like '1_'",
        "printf('%5.2f|%-4d|%s|%q|%Q|%x|%%|%c', 3.14159, 7, 'text', 'it''s', null, 255, 'xyz'), format('%!.20g', 1.5)",
        "strftime('%Y-%m-%d', '2024-02-29', '+1 day'), strftime('%J')is null",
        "json_patch('{\"a\":1}', '{\"b\":[2]}'), json_array(json_patch('{\"a\":1}', '{\"b\":2}'))",
        "json_set('{}', '$.a', json('[1]'), '$.b', '[1]'), json_insert('{\"a\":1}', '$.a', 2, '$.c', x'')is null"};
    reef_world *w = world_of(state);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char sql[600], wanted[2000];
        sqlite3_stmt *st;
        (void)snprintf(sql, sizeof sql, "select json_array(%s)", calls[i]);
        const reef_status s = json(w, sql, true);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
        if (sqlite3_step(st) != SQLITE_ROW) {
            assert_status(REEF_BAD_TEXT, s);
            assert_string_equal(reason, sqlite3_errmsg(db));
        } else {
            assert_ok(s);
            size_t n = 0; /* as reef writes it: each quote and backslash as a number */
            for (const char *p = (const char *)sqlite3_column_text(st, 0); *p && n + 8 < sizeof wanted; p++)
                n += (size_t)snprintf(wanted + n, sizeof wanted - n, *p == '"' || *p == '\\' ? "\\u%04x" : "%c", *p);
            if (strstr(got, wanted) == NULL) fail_msg("%s: %s, not %s", sql, got, wanted);
        }
        (void)sqlite3_finalize(st);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* What this version of SQLite has and the list of bounded.c doesn't can't be called. */
static void only_functions_that_are_known_can_be_called(void **state)
{
    static const char *const refused[] = {
        "soundex",       "sqlite_compileoption_get", "fts5", "rtreedepth", "load_extension", "match", "snippet",
        "fts3_tokenizer"};
    reef_world *w = world_of(state);
    sqlite3 *db;
    sqlite3_stmt *st;
    uint32_t denied = 0;
    char sql[200];
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "select distinct name, max(1, narg) from pragma_function_list", -1, &st, NULL),
        SQLITE_OK);
    while (sqlite3_step(st) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 0);
        (void)snprintf(sql, sizeof sql, "select \"%s\"(1%s)", name, sqlite3_column_int(st, 1) > 1 ? ", 1" : "");
        if (json(w, sql, true) != REEF_OK && strstr(reason, "can't be called here")) {
            denied++;
            continue;
        }
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) assert_string_not_equal(name, refused[i]);
    }
    (void)sqlite3_finalize(st);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    print_message("%u functions of SQLite can't be called\n", (unsigned)denied);
    assert_json_refused(w, REEF_BAD_TEXT, "select schema from dbstat", "");
    assert_json_refused(w, REEF_BAD_TEXT, "select sql from sqlite_stmt", "");
}

static void calls_end_in_time(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Place, 1, 2));
    reef_sql_session *s;
    assert_ok(reef_sql_open(w, &(reef_sql_desc){.ms = 100}, &s, reason));
    for (int k = 0; k < 2; k++) { /* a session goes on behind it */
        assert_status(REEF_CANCELLED, reef_sql_run(s, COUNT_TO("-1") "select count(*) from c", NULL, NULL, reason));
        assert_string_equal(reason, "it takes longer than 100 ms");
        assert_ok(reef_sql_run(s, "select 1", NULL, NULL, reason));
    }
    /* what was changed goes back */
    const uint64_t before = digest(w);
    assert_status(REEF_CANCELLED, reef_sql_run(s,
                                               "update Place set x = 7; " COUNT_TO("-1") "insert into entities(name) "
                                                                                         "select 'n' || n from c",
                                               NULL, NULL, reason));
    assert_true(digest(w) == before);
    assert_valid(w);
    reef_sql_close(s);
}

static void calls_take_no_more_memory_than_allowed(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Place, 1, 2));
    reef_sql_session *s;
    assert_ok(reef_sql_open(w, &(reef_sql_desc){.bytes = 4 << 20, .confined = true}, &s, reason));
    const int64_t before = sqlite3_memory_used();
    (void)sqlite3_memory_highwater(1);
    assert_status(
        REEF_NO_MEMORY,
        reef_sql_run(s, COUNT_TO("1000000") "select n, hex(randomblob(100)) r from c order by r", NULL, NULL, reason));
    assert_string_equal(reason, "it takes more than 4194304 bytes of memory");
    assert_true(sqlite3_memory_highwater(0) - before < 8 << 20);
    assert_ok(reef_sql_run(s, "select x from Place", NULL, NULL, reason));
    reef_sql_close(s);
}

static reef_status no(void *context, const void *bytes, size_t count)
{
    (void)context, (void)bytes, (void)count;
    return REEF_IO;
}

static void a_writer_that_fails_is_a_status(void **state)
{
    reef_world *w = world_of(state);
    assert_status(REEF_IO, reef_sql_json(w, "select 1", false, (reef_writer){no, NULL}, reason));
    assert_string_equal(reason, reef_status_text(REEF_IO));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_as_json),
        TEST(strangers_reach_only_the_world),
        TEST(answers_are_bounded),
        TEST(one_call_of_a_function_is_bounded_by_its_lengths),
        TEST(bounded_functions_give_what_sqlite_gives),
        TEST(only_functions_that_are_known_can_be_called),
        TEST(calls_end_in_time),
        TEST(calls_take_no_more_memory_than_allowed),
        TEST(a_writer_that_fails_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
