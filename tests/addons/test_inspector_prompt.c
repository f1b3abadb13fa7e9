/* An inspector's prompt for SQL, or for another language. */
#include "inspector_program.h"
#ifdef TEST_SQL
#include "reef_sqlite.h"
#endif

static pthread_t sql_thread;
static atomic_bool long_runs, long_ends; /* a statement that is under way */

/* A language of a few words, in place of SQL. */
static reef_status words_answer(reef_world *w, const char *statements, bool read_only, reef_writer to, char *reason)
{
    char text[100];
    sql_thread = pthread_self();
    if (strcmp(statements, "count") == 0) {
        snprintf(text, sizeof text, "[{\"columns\":[\"n\"],\"rows\":[[%d]],\"more\":false,\"changed\":0}]",
                 (int)reef_count(w, Vigor));
        return to.write(to.context, text, strlen(text));
    }
    if (strcmp(statements, "spawn") == 0) {
        if (read_only) return REEF_REFUSED;
        (void)reef_spawn(w, reef_with(Vigor, 500));
        return to.write(to.context, "[]", 2);
    }
    if (strcmp(statements, "nul") == 0) return to.write(to.context, "[\"a\\u0000b\"]", 12);
    if (strcmp(statements, "no json") == 0) return to.write(to.context, "[1,", 3);
    if (strcmp(statements, "nothing") == 0) return REEF_OK;
    if (strcmp(statements, "long") == 0) {
        atomic_store(&long_runs, true);
        while (!atomic_load(&long_ends)) rest(1000);
        return to.write(to.context, "[]", 2);
    }
    if (strcmp(statements, "big") == 0) {
        static char much[9 << 20];
        return to.write(to.context, much, sizeof much);
    }
    if (strcmp(statements, "deep") == 0) {
        volatile char stack[1 << 20];
        for (size_t k = 0; k < sizeof stack; k += 4096) stack[k] = 1;
        return stack[0] ? to.write(to.context, "[]", 2) : REEF_IO;
    }
    snprintf(reason, 512, "near \"%.400s\"", statements);
    return REEF_BAD_TEXT;
}

static long long answered(const char *path)
{
    json_t *j = post(path, "{\"sql\":\"count\"}", 200);
    json_t *rows = json_object_get(json_array_get(json_object_get(j, "answers"), 0), "rows");
    const long long n = (long long)json_integer_value(json_array_get(json_array_get(rows, 0), 0));
    json_decref(j);
    return n;
}

static void *ask_long(void *status)
{
    reply r =
        request("POST", "/api/sql", "Content-Type: application/json\r\nContent-Length: 14\r\n", "{\"sql\":\"long\"}");
    *(int *)status = r.status;
    free(r.head);
    return NULL;
}

static void the_prompt_reads_forks_and_changes_the_world_between_ticks(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Vigor, 100));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .record = true, .sql = words_answer});
    json_t *j = get("/api/overview", 200);
    assert_true(json_is_true(json_object_get(j, "sql")));
    json_decref(j);
    assert_int_equal(answered("/api/sql"), 1);
    assert_false(pthread_equal(sql_thread, played.thread)); /* reading costs the simulation nothing */
    post_ok("/api/control", "{\"pause\":true}");
    const long long before = tick_now();
    post_ok("/api/sql", "{\"sql\":\"spawn\"}");
    assert_true(pthread_equal(sql_thread, played.thread));
    assert_int_equal(answered("/api/sql"), 2); /* at once, though no tick was played */
    char path[40];
    snprintf(path, sizeof path, "/api/sql?at=%lld", before - 1);
    assert_int_equal(answered(path), 1); /* the past is as it was, and stays so */
    json_decref(post(path, "{\"sql\":\"spawn\"}", 409));
    json_decref(post("/api/sql?at=99999999", "{\"sql\":\"count\"}", 404));
    post_ok("/api/control", "{\"pause\":false}");
    j = post("/api/sql", "{\"sql\":\"selekt\"}", 400);
    assert_string_equal(text_of(j, "error"), "near \"selekt\"");
    json_decref(j);
    post_ok("/api/sql", "{\"sql\":\"deep\"}"); /* a compiler has room */
    post_ok("/api/sql", "{\"sql\":\"nul\"}");
    json_decref(post("/api/sql", "{\"sql\":\"no json\"}", 503));
    json_decref(post("/api/sql", "{\"sql\":\"nothing\"}", 503));
    json_decref(post("/api/sql", "{\"sql\":\"big\"}", 400));
    json_decref(post("/api/sql", "{\"sql\":7}", 400));
    json_decref(post("/api/sql", "{\"sql\":\"count\\u0000 only some\"}", 400)); /* it would be read up to the zero */
    json_decref(post("/api/sql", "{}", 400));
    json_decref(post("/api/sql", "[]", 400));
    json_decref(get("/api/sql", 405));
    int status = 0;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, ask_long, &status), 0);
    while (!atomic_load(&long_runs)) rest(1000);
    const unsigned ticks = atomic_load(&played.ticks);
    json_decref(post("/api/sql", "{\"sql\":\"count\"}", 409));  /* one at a time */
    while (atomic_load(&played.ticks) - ticks < 20) rest(1000); /* and it stops no tick */
    atomic_store(&long_ends, true);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(status, 200);
    end();
    assert_int_equal(reef_count(w, Vigor), 2);
}

static void the_prompt_changes_nothing_unless_writes_are_allowed(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Vigor, 100));
    begin_with(w, (reef_inspector_config){.waits = true, .sql = words_answer});
    assert_int_equal(answered("/api/sql"), 1);
    json_decref(post("/api/sql", "{\"sql\":\"spawn\"}", 403));
    /* who is let in is as for every other path */
    static const char body[] = "{\"sql\":\"count\"}";
#define BEARER "Authorization: Bearer 0123456789abcdefX\r\n"
#define AS_JSON "Content-Type: application/json\r\n"
    static const struct {
        const char *host, *more;
        int status;
    } wrong[] = {{"127.0.0.1", AS_JSON, 401},
                 {"elsewhere", BEARER AS_JSON, 403},
                 {"127.0.0.1", BEARER AS_JSON "Origin: http://elsewhere\r\n", 403},
                 {"127.0.0.1", BEARER "Content-Type: text/plain\r\n", 415},
                 {"127.0.0.1", BEARER AS_JSON, 200}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[600];
        snprintf(text, sizeof text, "POST /api/sql HTTP/1.1\r\nHost: %s:%u\r\n%sContent-Length: %zu\r\n\r\n%s",
                 wrong[k].host, (unsigned)reef_inspector_port(played.inspector), wrong[k].more, strlen(body), body);
        assert_int_equal(status_of(text), wrong[k].status);
    }
    end();
    assert_int_equal(reef_count(w, Vigor), 1);
}

static void without_a_prompt_there_is_no_path(void **state)
{
    reef_world *w = world_of(state);
    begin(w);
    json_decref(post("/api/sql", "{\"sql\":\"count\"}", 404));
    json_t *j = get("/api/overview", 200);
    assert_true(json_is_false(json_object_get(j, "sql")));
    json_decref(j);
    end();
}

#ifdef TEST_SQL
static void the_prompt_speaks_sql(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Place, 1, 2));
    begin_with(w, (reef_inspector_config){.writes = true, .waits = true, .sql = reef_sql_json});
    json_t *j = post("/api/sql", "{\"sql\":\"update Place set x = x + 40; select id, x from Place\"}", 200);
    json_t *answers = json_object_get(j, "answers");
    assert_int_equal(number(json_array_get(answers, 0), "changed"), 1);
    char *rows = json_dumps(json_object_get(json_array_get(answers, 1), "rows"), JSON_COMPACT);
    assert_string_equal(rows, "[[0,41.0]]");
    free(rows);
    json_decref(j);
    j = post("/api/sql", "{\"sql\":\"update Place set x = 1000\"}", 400);
    assert_string_equal(text_of(j, "error"), "x has the range -100 ... 100");
    json_decref(j);
    json_decref(post("/api/sql", "{\"sql\":\"attach 'x.db' as x\"}", 400));
    /* one that never ends is ended, and the program ticks on */
    const unsigned ticks = atomic_load(&played.ticks);
    j = post("/api/sql",
             "{\"sql\":\"with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c\"}",
             400);
    assert_string_equal(text_of(j, "error"), "it takes longer than 2000 ms");
    json_decref(j);
    assert_true(atomic_load(&played.ticks) - ticks > 20);
    end();
    assert_true(reef_get(w, e, Place)->x == 41);
}
#endif

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        PROGRAM_TEST(the_prompt_reads_forks_and_changes_the_world_between_ticks),
        PROGRAM_TEST(the_prompt_changes_nothing_unless_writes_are_allowed),
        PROGRAM_TEST(without_a_prompt_there_is_no_path),
#ifdef TEST_SQL
        PROGRAM_TEST(the_prompt_speaks_sql),
#endif
    };
    if (count > 1) cmocka_set_test_filter(words[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
