/* What is open while a library is replaced by reef_hot, with another layout: sessions of SQL with views of their own, a
 * world that is kept as a database, and an inspector that has recorded. */
#include "hot_build.h"
#include "reef_inspector.h"
#include "reef_sqlite.h"

/* ---- SQL ---- */

typedef struct answer {
    uint32_t rows;
    double sum;
} answer;

static bool row(void *context, uint32_t count, const reef_sql_value *values)
{
    answer *a = context;
    a->rows++;
    for (uint32_t i = 0; i < count; i++) a->sum += values[i].real;
    return true;
}

static answer run(reef_sql_session *s, const char *statement)
{
    char reason[REEF_SQLITE_REASON_MAX];
    answer a = {0};
    if (reef_sql_run(s, statement, row, &a, reason) != REEF_OK) fail_msg("%s: %s", statement, reason);
    return a;
}

static void sessions_of_sql_see_the_new_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_sql_session *s;
    reef_hot_code *h = hot_of(w, "", NULL);
    for (int i = 0; i < 5; i++) hunter(w, (float)i, 0);
    assert_ok(reef_sql_open(w, NULL, &s, NULL));
    (void)run(s, "create temp view strong as select power from Hunter where power > 2");
    assert_int_equal(run(s, "select power from strong").rows, 2);
    build("-DHUNTER_MORE");
    assert_true(run(s, "select power from Hunter order by power").sum == 10);
    assert_true(run(s, "select sum(power) from Hunter").sum == 10); /* has a connection of its own */
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    assert_int_equal(run(s, "select power from strong").rows, 2);
    assert_true(run(s, "select sum(power) from Hunter").sum == 10);
    (void)run(s, "update Hunter set fear = 7, mood = -1 where power > 2");
    assert_true(run(s, "select fear from Hunter").sum == 14);
    char reason[REEF_SQLITE_REASON_MAX];
    assert_int_equal(reef_sql_run(s, "select rage from Hunter", row, &(answer){0}, reason), REEF_BAD_TEXT);
    assert_non_null(strstr(reason, "rage"));
    reef_sql_close(s);
    reef_hot_close(h);
}

static void a_database_goes_on(void **state)
{
    char path[700], reason[REEF_SQLITE_REASON_MAX];
    reef_world *w = world_of(state), *read = another_world(state, NULL);
    reef_sqlite *file;
    reef_hot_code *h = hot_of(w, "", NULL);
    const reef_entity e = hunter(w, 3, 0);
    (void)snprintf(path, sizeof path, "%s.db", hot_path);
    (void)remove(path);
    assert_ok(reef_sqlite_open(w, path, &(reef_sqlite_desc){.unsynced = true}, &file, reason));
    assert_ok(reef_sqlite_commit(file));
    build("-DHUNTER_MORE");
    assert_event(h, REEF_HOT_LOADED);
    tick(w);
    if (reef_sqlite_commit(file) != REEF_OK) fail_msg("commit");
    (void)reef_spawn(w, reef_with(Place, 4, 0));
    assert_ok(reef_sqlite_commit(file));
    reef_sqlite_close(file);
    assert_ok(reef_sqlite_open(read, path, &(reef_sqlite_desc){.unsynced = true}, &file, reason));
    assert_true(field_of(read, e, "Hunter", "power") == 3 && field_of(read, e, "Hunter", "fear") == 0);
    assert_int_equal(reef_count(read, Place), 2);
    reef_sqlite_close(file);
    reef_hot_close(h);
}

/* ---- the inspector ---- */

static char told[1 << 16];

static reef_status keep(void *context, const void *bytes, size_t size)
{
    size_t *at = context;
    assert_true(*at + size < sizeof told);
    memcpy(told + *at, bytes, size);
    *at += size;
    told[*at] = 0;
    return REEF_OK;
}

static void assert_told(reef_inspector *i, const char *address, const char *part)
{
    size_t at = 0;
    assert_int_equal(reef_inspector_ask(i, address, NULL, (reef_writer){keep, &at}), 200);
    if (strstr(told, part) == NULL) fail_msg("%s: no %s in %s", address, part, told);
}

static void an_inspector_shows_the_new_layout(void **state)
{
    reef_world *w = world_of(state);
    reef_hot_code *h = hot_of(w, "", NULL);
    hunter(w, 3, 0);
    reef_inspector *i = reef_inspector_new(w, &(reef_inspector_config){.writes = true, .record = true});
    for (int n = 0; n < 4; n++) tick(w), reef_inspector_update(i);
    assert_told(i, "/api/entities?q=Hunter&show=Hunter&at=2", "\"Hunter\":{\"power\":3.0,\"rage\":0}");
    build("-DHUNTER_MORE -DSPEED=10");
    assert_event(h, REEF_HOT_LOADED);
    assert_libraries(h, 1);
    tick(w);
    reef_inspector_update(i);
    assert_told(i, "/api/entities?q=Hunter&show=Hunter", "\"Hunter\":{\"power\":3.0,\"mood\":0,\"fear\":0.0}");
    assert_told(i, "/api/entities?q=Hunter&show=Hunter&at=2", "\"Hunter\":{\"power\":3.0,\"mood\":0,\"fear\":0.0}");
    assert_told(i, "/api/diff?from=3&to=now&component=Hunter", "\"total\":0");
    assert_told(i, "/api/who?tick=5", "\"system\":\"move\"");
    assert_told(i, "/api/types", "\"fear\"");
    reef_inspector_free(i);
    reef_hot_close(h);
}

int main(void)
{
    if (!hot_suite_begin()) return 1;
    const struct CMUnitTest tests[] = {
        TEST(sessions_of_sql_see_the_new_layout),
        TEST(a_database_goes_on),
        TEST(an_inspector_shows_the_new_layout),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return hot_suite_end() ? failed : 1;
}
