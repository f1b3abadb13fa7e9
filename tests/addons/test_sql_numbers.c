/* Numbers in SQL and in the file are written with a point, whatever the program's locale is: tests/locales/run runs
 * this suite where the decimal point is another one. */
#include "reef_sqlite.h"
#include "support.h"
#include <float.h>
#include <sqlite3.h>

typedef struct {
    float of[3];
    double d[2];
    float x;
    uint64_t many[2];
} Grid;
REEF_COMPONENT(Grid);
REEF_FIELDS(Grid, of, d, (x, "m", -0.5, 10.5), many);

static char got[2000], reason[512];

static void got_put(const char *text, size_t size)
{
    const size_t used = strlen(got);
    assert_true(used + size + 1 < sizeof got);
    memcpy(got + used, text, size);
    got[used + size] = 0;
}

static bool row_put(void *context, uint32_t count, const reef_sql_value *values)
{
    (void)context;
    for (uint32_t i = 0; i < count; i++) {
        got_put(got[0] ? "|" : "", got[0] != 0);
        got_put(values[i].text ? values[i].text : "-", values[i].text ? values[i].size : 1);
    }
    return true;
}

static const char *asked(reef_world *w, const char *sql)
{
    got[0] = 0;
    const reef_status s = reef_sql(w, sql, row_put, NULL, reason);
    if (s != REEF_OK) fail_msg("%s: %s: %s", sql, reef_status_name(s), reason);
    return got;
}

static reef_entity grid_make(reef_world *w)
{
    return reef_spawn(w, reef_with(Grid, {1.5f, 2.25f, -0.125f}, {0.1, 1e300}, 0.5f, {1234567, UINT64_MAX}));
}

static void numbers_in_answers_have_a_point(void **state)
{
    reef_world *w = world_of(state);
    (void)grid_make(w);
    assert_string_equal(asked(w, "select \"of\", d, x, many from Grid"),
                        "[1.5,2.25,-0.125]|[0.10000000000000001,1.0000000000000001e+300]|0.5|"
                        "[1234567,18446744073709551615]");
    assert_string_equal(asked(w, "select json_array_length(\"of\"), json_array_length(d) from Grid"), "3|2");
    assert_string_equal(asked(w, "select value from Grid, json_each(\"of\")"), "1.5|2.25|-0.125");
    assert_string_equal(asked(w, "select count(*) from Grid where x > 0.25 and x < 0.75"), "1");
    assert_string_equal(asked(w, "select unit, lowest, highest from fields where type = 'Grid' and name = 'x'"),
                        "m|-0.5|10.5");
}

static void numbers_in_statements_have_a_point(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = grid_make(w);
    (void)asked(w, "update Grid set \"of\" = '[0.5, 1.25e1, 3.75]', d = '[1e-3, -2.5]', x = 2.5");
    const Grid *g = reef_get(w, e, Grid);
    assert_true(g->of[0] == 0.5f && g->of[1] == 12.5f && g->of[2] == 3.75f);
    assert_true(g->d[0] == 1e-3 && g->d[1] == -2.5 && g->x == 2.5f);
    assert_int_equal(reef_sql(w, "update Grid set x = 11.5", row_put, NULL, reason), REEF_REFUSED);
    assert_non_null(strstr(reason, "has the range -0.5 ... 10.5"));
    static const char *const wrong[] = {"[0,5, 1, 2]", "[1.2.3, 1, 2]", "[1e, 1, 2]", "[--1, 1, 2]", "[., 1, 2]"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[100];
        snprintf(text, sizeof text, "update Grid set \"of\" = '%s'", wrong[k]);
        if (reef_sql(w, text, row_put, NULL, reason) != REEF_REFUSED) fail_msg("%s isn't refused", text);
    }
    assert_true(reef_get(w, e, Grid)->of[0] == 0.5f);
}

/* The shortest text of the largest float is a little above that float. */
static void the_largest_float_is_taken(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = grid_make(w);
    (void)asked(w, "update Grid set \"of\" = '[3.4028235e38, -3.4028235e38, 0]'");
    assert_true(reef_get(w, e, Grid)->of[0] == FLT_MAX && reef_get(w, e, Grid)->of[1] == -FLT_MAX);
    assert_int_equal(reef_sql(w, "update Grid set \"of\" = '[3.4028236e38, 0, 0]'", row_put, NULL, reason),
                     REEF_REFUSED);
    assert_non_null(strstr(reason, "its largest number is 3.4028235e38"));
}

static void numbers_in_a_file_have_a_point(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = grid_make(w);
    reef_sqlite *file;
    reef_sqlite_edits edits;
    sqlite3 *plain;
    sqlite3_stmt *s;
    (void)remove("test_sql_numbers.db");
    assert_int_equal(reef_sqlite_open(w, "test_sql_numbers.db", NULL, &file, reason), REEF_OK);
    assert_int_equal(reef_sqlite_commit(file), REEF_OK);
    assert_int_equal(reef_sqlite_check(file), REEF_OK);
    assert_int_equal(sqlite3_open("test_sql_numbers.db", &plain), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(plain, "select \"of\", d from Grid", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(s, 0), "[1.5,2.25,-0.125]");
    assert_string_equal((const char *)sqlite3_column_text(s, 1), "[0.10000000000000001,1.0000000000000001e+300]");
    (void)sqlite3_finalize(s);
    /* what was edited there comes back */
    assert_int_equal(sqlite3_exec(plain, "update Grid set \"of\" = '[4.5, 0.25, -1e-2]', x = 1.5", NULL, NULL, NULL),
                     SQLITE_OK);
    (void)sqlite3_close(plain);
    assert_int_equal(reef_sqlite_pull(file, NULL, NULL, &edits), REEF_OK);
    const Grid *g = reef_get(w, e, Grid);
    assert_true(g->of[0] == 4.5f && g->of[1] == 0.25f && g->of[2] == -1e-2f && g->x == 1.5f && g->d[0] == 0.1);
    assert_int_equal(reef_sqlite_check(file), REEF_OK);
    reef_sqlite_close(file);
    (void)remove("test_sql_numbers.db");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(numbers_in_answers_have_a_point),
        TEST(numbers_in_statements_have_a_point),
        TEST(the_largest_float_is_taken),
        TEST(numbers_in_a_file_have_a_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
