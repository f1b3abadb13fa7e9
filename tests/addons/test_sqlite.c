/* The add-on reef_sqlite: a world as a database file. What was committed is there again, exactly, whatever happens to
 * the program, the disk and the memory. */
#include "reef_sqlite.h"
#include "sqlite_scene.h"
#include "support.h"
#include <sqlite3.h>
#include <unistd.h>

static char path[64]; /* in memory where there is such a folder: the disk's waiting isn't what is tested */
static char reason[REEF_SQLITE_REASON_MAX];

static void path_choose(void)
{
    (void)snprintf(path, sizeof path, "%stest_sqlite-%ld.db", access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : "",
                   (long)getpid());
}

static void files_remove(void)
{
    char with[80];
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        (void)snprintf(with, sizeof with, "%s%s", path, ends[i]);
        (void)unlink(with);
    }
}

static reef_sqlite *open_at(reef_world *w, const reef_sqlite_desc *desc)
{
    reef_sqlite *f = NULL;
    const reef_status s = reef_sqlite_open(w, path, desc, &f, reason);
    if (s != REEF_OK) fail_msg("open: %s: %s", reef_status_name(s), reason);
    return f;
}

static void must(reef_sqlite *f, reef_status s, const char *call)
{
    if (s != REEF_OK) fail_msg("%s: %s: %s", call, reef_status_name(s), reef_sqlite_reason(f));
}
#define MUST(f, call) must(f, call, #call)

static void what_was_committed_is_there_again(void **state)
{
    for (uint64_t run = 0; run < 12; run++) {
        reef_world *w = another_world(state, NULL), *to = another_world(state, NULL);
        uint64_t seed = run + 1;
        files_remove();
        scene_systems(w);
        scene_systems(to);
        reef_sqlite *f = open_at(w, &(reef_sqlite_desc){.unsynced = true});
        for (int i = 0; i < 12; i++) {
            scene_change(w, &seed, i % 4 == 3 ? 0 : 150, run % 2);
            if (i % 3 == 1) assert_ok(reef_tick(w, 0.25f));
            MUST(f, reef_sqlite_commit(f));
            MUST(f, reef_sqlite_check(f));
            if (i == 6) MUST(f, reef_sqlite_compact(f));
            if (i % 5 == 4) {
                const uint64_t was = reef_hash(w);
                reef_sqlite_close(f);
                f = open_at(w, &(reef_sqlite_desc){.unsynced = true});
                assert_true(reef_hash(w) == was);
            }
        }
        const uint64_t hash = reef_hash(w);
        reef_sqlite_close(f);
        f = open_at(to, NULL);
        assert_true(reef_hash(to) == hash);
        reef_difference d;
        assert_true(reef_equal(w, to, &d));
        /* And they go on alike, with what changed when, and the events in flight. */
        for (int i = 0; i < 5; i++) {
            assert_ok(reef_tick(w, 0.25f));
            assert_ok(reef_tick(to, 0.25f));
            assert_true(reef_hash(to) == reef_hash(w));
        }
        reef_sqlite_close(f);
        end_world(state, w);
        end_world(state, to);
    }
    files_remove();
}

/* ---- other programs ---- */

static void shell(const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static bool shell_refuses(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    const bool refused = sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK;
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return refused;
}

/* A row with a far id would make thousands of millions of ids that nobody uses. */
static void a_row_with_a_far_id_is_refused(void **state)
{
    char sql[128];
    reef_world *w = world_of(state);
    reef_sqlite_edits n;
    files_remove();
    (void)reef_spawn(w, reef_with(Place, 1, 2));
    reef_sqlite *f = open_at(w, NULL);
    MUST(f, reef_sqlite_commit(f));
    for (uint64_t far = 0; far < 2; far++) { /* the last id that is taken, and the one behind it */
        const uint64_t id = reef_world_stats(w).indices + (1 << 20) + far;
        (void)snprintf(sql, sizeof sql, "insert into entities(id) values (%llu)", (unsigned long long)id);
        shell(sql);
        MUST(f, reef_sqlite_pull(f, NULL, NULL, &n));
        assert_int_equal(n.taken, far == 0);
        assert_int_equal(n.refused, far == 1);
    }
    shell("insert into entities(id) values (4294967290)");
    MUST(f, reef_sqlite_pull(f, NULL, NULL, &n));
    assert_int_equal(n.refused, 1);
    assert_true(reef_sql(w, "insert into entities(id) values (4294967290)", NULL, NULL, reason) == REEF_REFUSED);
    assert_non_null(strstr(reason, "the id leaves out more than 1048576 others"));
    reef_sqlite_close(f);
    files_remove();
}

/* What the file says of its own tables may be anything: a name that no statement finds, one of reef's tables, none. */
static void a_list_of_tables_that_lies_is_made_anew(void **state)
{
    static const char *const lies[] = {"cast(x'580059' as text)", "'reef_commits'", "'sqlite_master'", "''", "null"};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        char sql[128];
        reef_world *w = another_world(state, NULL), *to = another_world(state, NULL);
        files_remove();
        (void)reef_spawn(w, reef_with(Place, 1, 2), reef_with(Kinds, .i32 = 5));
        reef_sqlite *f = open_at(w, NULL);
        MUST(f, reef_sqlite_commit(f));
        reef_sqlite_close(f);
        (void)snprintf(sql, sizeof sql, "update reef_types set name = %s where type = 'Place'", lies[i]);
        shell(sql);
        f = open_at(to, NULL);
        assert_true(reef_hash(to) == reef_hash(w));
        MUST(f, reef_sqlite_compact(f));
        MUST(f, reef_sqlite_check(f));
        reef_sqlite_close(f);
        end_world(state, w);
        end_world(state, to);
    }
    files_remove();
}

static char said[4096];
static void refused_note(void *context, const char *table, int64_t id, const char *why)
{
    const size_t n = strlen(said);
    (void)context;
    (void)snprintf(said + n, sizeof said - n, "%s %d: %s\n", table, (int)id, why);
}

static void edits_by_others_are_taken_or_refused_row_by_row(void **state)
{
    reef_world *w = world_of(state), *to = another_world(state, NULL);
    reef_sqlite_edits n;
    files_remove();
    const reef_entity ann = reef_spawn(w, reef_with(Place, 1, 2)), bob = reef_spawn(w, reef_with(Place, 3, 4));
    const reef_entity box = reef_spawn(w, reef_with(Kinds, .i32 = 5), reef_tag(Asleep));
    for (int i = 0; i < 4; i++) (void)reef_append(w, ann, Wound, i, i);
    reef_relate(w, ann, Likes, bob);
    reef_relate(w, ann, Within, bob);
    reef_relate(w, bob, DockedTo, box);
    reef_set(w, box, Plain, {1});
    reef_sqlite *f = open_at(w, NULL);
    MUST(f, reef_sqlite_commit(f));

    /* while it is open */
    shell(
        "update Place set x = 9 where id = 0; update entities set name = 'ann' where id = 0;"
        "delete from Wound where number in (0, 2); insert into Wound values (0, 9, 50, 60);"
        "insert into entities(id, generation, name, parent) values (7, 1, 'new', 2); insert into Place values (7, 1, "
        "1);"
        "insert into Likes values (0, 1, 7, 0); delete from Asleep; insert into disabled values (1, 'Place'), (2, '')");
    assert_int_equal(reef_get(w, ann, Place)->x, 1);
    said[0] = 0;
    MUST(f, reef_sqlite_pull(f, refused_note, NULL, &n));
    assert_string_equal(said, "");
    assert_int_equal(n.refused, 0);
    const reef_entity added = {7, 1};
    assert_string_equal(reef_name(w, added), "new");
    assert_true(reef_get(w, ann, Place)->x == 9 && reef_get(w, added, Place)->y == 1);
    assert_entity(reef_find(w, "ann"), ann);
    assert_entity(reef_target(w, added, ChildOf), box);
    uint32_t wounds;
    const Wound *wound = reef_get_all(w, ann, Wound, &wounds);
    assert_int_equal(wounds, 3);
    assert_true(wound[0].left == 1 && wound[1].left == 3 && wound[2].left == 60);
    assert_true(reef_related(w, ann, Likes, added) && !reef_has(w, box, Asleep));
    assert_true(!reef_is_enabled(w, bob, Place) && !reef_is_enabled(w, box));
    MUST(f, reef_sqlite_check(f));

    /* what the file itself refuses, and what the world does */
    assert_true(shell_refuses("update Place set x = 1001"));
    assert_true(shell_refuses("update Kinds set small = 300"));
    assert_true(shell_refuses("update Kinds set i32 = 'many'"));
    shell("update Kinds set legs = '[1]', i32 = 6; insert into Place values (99, 1, 2);"
          "update Likes set target = 98 where target = 1; insert into Within values (1, 0, 0);"
          "update entities set name = 'ann' where id = 1; update entities set parent = 55 where id = 2;"
          "insert into entities(id) values (4294967298); insert into disabled values (0, 'Nothing');"
          "update Place set y = 8 where id = 1");
    said[0] = 0;
    MUST(f, reef_sqlite_pull(f, refused_note, NULL, &n));
    assert_true(strstr(said, "Kinds 2: legs is an array of 3"));
    assert_true(strstr(said, "Place 99: there is no such entity"));
    assert_true(strstr(said, "Likes 0: target names no entity"));
    assert_true(strstr(said, "Within 1: ") && strstr(said, "back to its source"));
    assert_true(strstr(said, "entities 1: ") && strstr(said, "name is taken"));
    assert_true(strstr(said, "disabled 0: component: there is no table \"Nothing\""));
    assert_int_equal(n.taken, 1);
    assert_int_equal(n.refused, 8);
    assert_true(reef_get(w, bob, Place)->y == 8 && reef_get(w, box, Kinds)->i32 == 5);
    MUST(f, reef_sqlite_check(f)); /* the refused rows are as the world has them */

    /* while it is closed; the file opens as it was committed, and the edits wait */
    const uint64_t hash = reef_hash(w);
    reef_sqlite_close(f);
    shell("pragma foreign_keys = on; delete from entities where id = 0; update Plain set value = x'0102030405'");
    f = open_at(to, NULL);
    assert_true(reef_hash(to) == hash);
    MUST(f, reef_sqlite_commit(f)); /* they go on waiting */
    said[0] = 0;
    MUST(f, reef_sqlite_pull(f, refused_note, NULL, &n));
    assert_string_equal(said, "");
    assert_false(reef_is_alive(to, ann));
    assert_int_equal(reef_get(to, box, Plain)->bytes[4], 5);
    MUST(f, reef_sqlite_check(f));
    /* the world wins where both have changed */
    shell("delete from Place where id = 1");
    reef_set(to, bob, Place, 77, 7);
    MUST(f, reef_sqlite_commit(f));
    MUST(f, reef_sqlite_pull(f, NULL, NULL, &n));
    assert_true(reef_get(to, bob, Place)->x == 77);
    reef_sqlite_close(f);
    files_remove();
}

/* The text of CREATE TABLE, as every tool of SQLite shows it. */
static const char *schema_of(const char *table)
{
    static char text[2048];
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "select sql from sqlite_master where name = ?1", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    (void)snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(s, 0));
    assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return text;
}

static void the_schema_says_units_kinds_and_ranges(void **state)
{
    reef_world *w = world_of(state);
    files_remove();
    const reef_entity ann = reef_spawn(w, reef_with(Place, 1, 2), reef_with(Kinds, .i32 = 5), reef_tag(Asleep));
    reef_relate_data(w, ann, Owes, reef_spawn(w, reef_with(Place, 3, 4)), 30);
    (void)reef_append(w, ann, Wound, 1, 2);
    reef_sqlite *f = open_at(w, NULL);
    MUST(f, reef_sqlite_commit(f));
    assert_string_equal(schema_of("Place"), "CREATE TABLE \"Place\" (\n"
                                            "  id INTEGER PRIMARY KEY REFERENCES entities(id) ON DELETE CASCADE,\n"
                                            "  \"x\" REAL CHECK (\"x\" BETWEEN -1000.0 AND 1000.0) /* f32, m */,\n"
                                            "  \"y\" REAL CHECK (\"y\" BETWEEN -1000.0 AND 1000.0) /* f32, m */\n"
                                            ") STRICT");
    assert_string_equal(schema_of("Asleep"), "CREATE TABLE \"Asleep\" (\n"
                                             "  id INTEGER PRIMARY KEY REFERENCES entities(id) ON DELETE CASCADE\n"
                                             ") STRICT");
    assert_non_null(strstr(schema_of("Kinds"), "\"small\" INTEGER CHECK (\"small\" BETWEEN -128 AND 127) /* i8 */"));
    assert_non_null(strstr(schema_of("Kinds"), "\"legs\" TEXT /* u16[3] */"));
    assert_non_null(strstr(schema_of("Wound"), "PRIMARY KEY (id, number)"));
    assert_non_null(strstr(schema_of("Wound"), "BETWEEN 0.0 AND 100.0) /* i32, /s */"));
    assert_non_null(strstr(schema_of("Owes"), "\"target\" INTEGER REFERENCES entities(id)"));
    assert_non_null(strstr(schema_of("Owes"), "\"data.coins\" INTEGER"));
    assert_non_null(strstr(schema_of("entities"), "id INTEGER PRIMARY KEY, /* index + 2^32 * (generation - 1) */"));
    reef_sqlite_close(f);
    files_remove();
}

/* ---- history ---- */

static bool row_count(void *context, uint32_t count, const reef_sql_value *values)
{
    (void)count, (void)values;
    ++*(uint32_t *)context;
    return true;
}

static void the_past_is_there_until_it_is_forgotten(void **state)
{
    reef_world *w = world_of(state), *then;
    uint64_t hashes[41] = {0}, seed = 5;
    files_remove();
    reef_sqlite *f = open_at(w, &(reef_sqlite_desc){.history = true, .unsynced = true});
    scene_systems(w);
    for (int i = 1; i <= 40; i++) {
        scene_change(w, &seed, 60, false);
        assert_ok(reef_tick(w, 1));
        MUST(f, reef_sqlite_commit(f));
        hashes[i] = reef_hash(w);
        if (i % 15 == 0) {
            reef_sqlite_close(f);
            f = open_at(w, &(reef_sqlite_desc){.history = true, .unsynced = true});
        }
    }
    for (int i = 40; i >= 1; i -= 3) {
        MUST(f, reef_sqlite_at(f, (uint64_t)i, &then));
        scene_systems(then);
        assert_true(reef_tick_count(then) == (uint64_t)i);
        assert_true(reef_hash(then) == hashes[i]);
        reef_world_free(then);
    }
    assert_status(REEF_BAD_ARGUMENT, reef_sqlite_at(f, 0, &then));
    assert_null(then);
    MUST(f, reef_sqlite_at(f, UINT64_MAX, &then));
    reef_world_free(then);
    MUST(f, reef_sqlite_forget(f, 20));
    assert_status(REEF_BAD_ARGUMENT, reef_sqlite_at(f, 19, &then));
    for (int i = 20; i <= 40; i += 4) {
        MUST(f, reef_sqlite_at(f, (uint64_t)i, &then));
        assert_true(reef_hash(then) == hashes[i]);
        reef_world_free(then);
    }
    reef_sql_session *s;
    uint32_t rows = 0;
    assert_ok(reef_sql_open(w, &(reef_sql_desc){.past = f}, &s, reason));
    assert_ok(
        reef_sql_run(s, "select at, count(*) from Place where at in (24, 40) group by at", row_count, &rows, NULL));
    assert_int_equal(rows, 2);
    assert_ok(reef_sql_run(s, "select id from Place where at = 24 and at > 30", row_count, &rows, NULL));
    assert_int_equal(rows, 2);
    assert_status(REEF_BAD_TEXT,
                  reef_sql_run(s, "select id from Place where at = 24 or at is null", NULL, NULL, reason));
    assert_non_null(strstr(reason, "at can only stand"));
    assert_status(REEF_REFUSED, reef_sql_run(s, "delete from Wound where at = 24", NULL, NULL, reason));
    assert_non_null(strstr(reason, "the past can't be changed"));
    reef_sql_close(s);
    MUST(f, reef_sqlite_check(f));
    reef_sqlite_close(f);
    files_remove();
}

/* ---- refusals ---- */

static void what_cannot_be_opened_says_why(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_sqlite *f = NULL, *second = NULL;
    files_remove();
    assert_status(REEF_IO, reef_sqlite_open(w, "/no/such/folder/w.db", NULL, &f, reason));
    assert_non_null(strstr(reason, "unable to open"));
    assert_null(f);
    assert_status(REEF_BAD_ARGUMENT, reef_sqlite_open(NULL, path, NULL, &f, reason));
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 200; i++) (void)fputs("this is no database\n", file);
    assert_int_equal(fclose(file), 0);
    assert_status(REEF_CORRUPT, reef_sqlite_open(w, path, NULL, &f, reason));
    assert_non_null(strstr(reason, "not a database"));
    files_remove();
    shell("create table mine(a, b); insert into mine values (1, 2)"); /* another program's tables stay */
    (void)reef_spawn(w, reef_with(Place, 1, 2));
    f = open_at(w, &(reef_sqlite_desc){.wait_ms = 1});
    MUST(f, reef_sqlite_commit(f));
    shell("update mine set a = 3");
    /* another program holds the lock */
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "begin immediate", NULL, NULL, NULL), SQLITE_OK);
    reef_set(w, reef_entity_at(w, 0), Place, 5, 5);
    assert_status(REEF_IO, reef_sqlite_commit(f));
    assert_non_null(strstr(reef_sqlite_reason(f), "database is locked"));
    assert_int_equal(sqlite3_exec(db, "rollback", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    MUST(f, reef_sqlite_commit(f));
    /* another program commits the same file */
    assert_ok(reef_sqlite_open(other, path, NULL, &second, reason));
    MUST(second, reef_sqlite_commit(second));
    assert_status(REEF_OTHER_STATE, reef_sqlite_commit(f));
    assert_non_null(strstr(reef_sqlite_reason(f), "another program has committed"));
    reef_sqlite_close(second);
    reef_sqlite_close(f);
    /* read only */
    f = open_at(w, &(reef_sqlite_desc){.read_only = true});
    assert_int_equal(reef_get(w, reef_entity_at(w, 0), Place)->x, 5);
    assert_status(REEF_IO, reef_sqlite_commit(f));
    MUST(f, reef_sqlite_check(f));
    reef_sqlite_close(f);
    /* a damaged record */
    shell("update reef_wholes set bytes = zeroblob(length(bytes))");
    const uint64_t before = digest(w);
    assert_status(REEF_CORRUPT, reef_sqlite_open(w, path, NULL, &f, reason));
    assert_true(digest(w) == before);
    shell("delete from reef_wholes");
    assert_status(REEF_CORRUPT, reef_sqlite_open(w, path, NULL, &f, reason));
    shell("update reef_format set version = 9");
    assert_status(REEF_VERSION, reef_sqlite_open(w, path, NULL, &f, reason));
    files_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_committed_is_there_again),       TEST(a_row_with_a_far_id_is_refused),
        TEST(a_list_of_tables_that_lies_is_made_anew), TEST(edits_by_others_are_taken_or_refused_row_by_row),
        TEST(the_schema_says_units_kinds_and_ranges),  TEST(the_past_is_there_until_it_is_forgotten),
        TEST(what_cannot_be_opened_says_why),
    };
    path_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
