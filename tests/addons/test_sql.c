/* The add-on reef_sqlite: SQL over a living world. */
#include "reef_sqlite.h"
#include "sqlite_scene.h"
#include "support.h"
#include <sqlite3.h>

static char reason[REEF_SQLITE_REASON_MAX];
static char got[1 << 16];
static size_t got_bytes;

static void got_put(const char *text, size_t size)
{
    if (got_bytes + size + 1 > sizeof got) size = sizeof got - 1 - got_bytes;
    memcpy(got + got_bytes, text, size);
    got_bytes += size;
    got[got_bytes] = 0;
}

/* Rows as text: columns are separated by |, rows by a space. */
static bool row_put(void *context, uint32_t count, const reef_sql_value *values)
{
    (void)context;
    if (got_bytes) got_put(" ", 1);
    for (uint32_t i = 0; i < count; i++) {
        if (i) got_put("|", 1);
        if (values[i].text) got_put(values[i].text, values[i].size);
        else got_put("-", 1);
    }
    return true;
}

static const char *asked(reef_world *w, const char *sql)
{
    got_bytes = 0;
    got[0] = 0;
    const reef_status s = reef_sql(w, sql, row_put, NULL, reason);
    if (s != REEF_OK) fail_msg("%s: %s: %s", sql, reef_status_name(s), reason);
    return got;
}

static void refused_at(reef_world *w, reef_status wanted, const char *sql, const char *why, int line)
{
    const uint64_t before = digest(w);
    const reef_status s = reef_sql(w, sql, NULL, NULL, reason);
    if (s != wanted || strstr(reason, why) == NULL)
        fail_msg("line %d: %s: %s: %s", line, sql, reef_status_name(s), reason);
    assert_true(digest(w) == before);
}
#define assert_sql_refused(w, wanted, sql, why) refused_at(w, wanted, sql, why, __LINE__)

static void tables_of_a_living_world(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity ann = reef_spawn(w, reef_with(Place, 1, 2), reef_with(Coins, 10), reef_tag(Asleep));
    const reef_entity bob = reef_spawn(w, reef_with(Place, 3, 4));
    const reef_entity box = reef_spawn(w, reef_with(Kinds, .u64 = UINT64_MAX, .word = "a box", .legs = {1, 2, 3},
                                                    .friend = ann, .yes = true, .f64 = 0.5));
    reef_set_name(w, ann, "ann");
    reef_set_name(w, bob, "bob");
    reef_set_name(w, box, "box");
    reef_append(w, ann, Wound, 1, 9);
    reef_append(w, ann, Wound, 5, 2);
    reef_relate(w, ann, Likes, bob);
    reef_relate(w, ann, Likes, box);
    reef_relate_data(w, bob, Owes, ann, 30);
    reef_relate(w, bob, ChildOf, box);
    reef_set(w, bob, Parts, 7, 8, 9);
    reef_set(w, bob, Purse, {4}, 5);
    reef_disable(w, ann, Place);
    reef_disable(w, box);
    assert_string_equal(asked(w, "select id, x, y from Place"), "0|1.0|2.0 1|3.0|4.0");
    assert_string_equal(asked(w, "select * from entities"), "0|1|ann|- 1|1|bob|2 2|1|box|-");
    assert_string_equal(asked(w, "select * from Kinds"), "2|0|0|0|0|0|0|0|18446744073709551615|0.5|1|a box|[1,2,3]|0");
    assert_string_equal(asked(w, "select id, number, left from Wound"), "0|0|9 0|1|2");
    assert_string_equal(asked(w, "select id, number, target from Likes"), "0|0|1 0|1|2");
    assert_string_equal(asked(w, "select id, target, \"data.coins\" from Owes"), "1|0|30");
    assert_string_equal(asked(w, "select id from Asleep"), "0");
    assert_string_equal(asked(w, "select * from Parts"), "1|7.0|8.0|9");
    assert_string_equal(asked(w, "select * from Coins"), "0|10");
    assert_string_equal(asked(w, "select * from Purse"), "1|4|5");
    assert_string_equal(asked(w, "select * from disabled"), "2| 0|Place");
    /* pushed down: ids, targets, parents, comparisons, queries */
    assert_string_equal(asked(w, "select x from Place where id = 1"), "3.0");
    assert_string_equal(asked(w, "select x from Place where id = 77"), "");
    assert_string_equal(asked(w, "select x from Place where id = 'x'"), "");
    assert_string_equal(asked(w, "select id from Likes where target = 2"), "0");
    assert_string_equal(asked(w, "select name from entities where parent = 2"), "bob");
    assert_string_equal(asked(w, "select id from Place where x > 1 and y <= 4"), "1");
    assert_string_equal(asked(w, "select id from Place where x > 'a'"), "");
    assert_string_equal(asked(w, "select id from Place where x < 'a'"), "0 1");
    assert_string_equal(asked(w, "select id from Place where query = 'Place, !Asleep'"), "1");
    assert_string_equal(asked(w, "select name from entities where query = 'either Place'"), "ann bob");
    assert_string_equal(asked(w, "select reef_name(id), reef_name(3), reef_id('box.bob'), reef_id('2v1') from Asleep"),
                        "ann|-|1|2");
    assert_string_equal(asked(w, "select p.x, c.coins from Place p join Coins c using (id)"), "1.0|10");
    assert_string_equal(asked(w, "select p.x, c.coins from Place p left join Coins c using (id)"), "1.0|10 3.0|-");
    assert_string_equal(asked(w, "select name, x from entities join Place using (id) order by x desc limit 1"),
                        "bob|3.0");
    assert_string_equal(asked(w, "select x from Place limit 5 offset 1"), "3.0");
    assert_string_equal(asked(w, "select sum(x), count(*), avg(y), min(x), max(x), total(x), count(x) from Place"),
                        "4.0|2|3.0|1.0|3.0|4.0|2");
    assert_string_equal(asked(w, "select sum(coins) + 1 from Coins"), "11");
    assert_string_equal(asked(w, "select count(*), max(id) from entities"), "3|2");
    assert_string_equal(asked(w, "select max(word), count(*) from Kinds"), "a box|1");
    assert_string_equal(asked(w, "select sum(n), sum(id) from Parts"), "9|1");
    assert_string_equal(asked(w, "select sum(x) from Place where x > 1"), "3.0");
    assert_string_equal(asked(w, "create virtual table temp.rich using reef_query('Place, ?Coins');"
                                 "select * from rich"),
                        "1|3.0|4.0|-");
    assert_string_equal(asked(w, "select name, home from types where entities > 0 and name like 'P%'"),
                        "Parts|split Place|table Purse|table");
    assert_string_equal(asked(w, "select name, kind, unit, highest from fields where type = 'Place'"),
                        "x|f32|m|1000.0 y|f32|m|1000.0");
}

/* Values with names are texts; a number without a name is the text of the number. */
static void values_are_asked_by_name(void **state)
{
    reef_world *w = world_of(state);
    reef_spawn(w, reef_with(Feeling, ANGRY, FOOD | SLEEP, 1));
    reef_spawn(w, reef_with(Feeling, SAD, 0, 2));
    const reef_entity odd = reef_spawn(w, reef_with(Feeling, 9, UINT64_C(1) << 63 | 4, 3));
    assert_string_equal(asked(w, "select mood, wants from Feeling"), "ANGRY|FOOD|SLEEP SAD|0 9|COMPANY|4");
    assert_string_equal(asked(w, "select typeof(mood) from Feeling where mood = 'ANGRY'"), "text");
    assert_string_equal(asked(w, "select since from Feeling where wants like '%SLEEP%'"), "1");
    assert_string_equal(asked(w, "select mood from Feeling order by reef_number('Feeling.mood', mood)"), "SAD ANGRY 9");
    assert_string_equal(asked(w, "select reef_number('Feeling.wants', wants) & 2 from Feeling"), "2 0 0");
    assert_string_equal(asked(w, "select max(mood), count(mood) from Feeling"), "SAD|3");
    assert_string_equal(asked(w, "select kind, names from fields where type = 'Feeling'"),
                        "i8|CALM 0, ANGRY 1, SAD -3 u64|FOOD 1, SLEEP 2, COMPANY -9223372036854775808 i32|-");
    assert_string_equal(asked(w, "update Feeling set mood = 'CALM', wants = 'SLEEP|COMPANY' where mood = 'SAD';"
                                 "update Feeling set mood = 1, wants = 3 where since = 3; select * from Feeling"),
                        "0|ANGRY|FOOD|SLEEP|1 1|CALM|SLEEP|COMPANY|2 2|ANGRY|FOOD|SLEEP|3");
    assert_int_equal(reef_get(w, odd, Feeling)->wants, FOOD | SLEEP);
    assert_sql_refused(w, REEF_REFUSED, "update Feeling set mood = 'GLAD'", "mood is a name of Mood, or a number");
    assert_sql_refused(w, REEF_REFUSED, "update Feeling set mood = '200'", "mood is i8: -128 ... 127");
    assert_sql_refused(w, REEF_REFUSED, "update Feeling set wants = 'FOOD|'", "wants is a name of Wants, or a number");
    assert_sql_refused(w, REEF_REFUSED, "update Feeling set mood = null", "mood can't be NULL");
    assert_sql_refused(w, REEF_BAD_TEXT, "select reef_number('Feeling.since', 1) from Feeling",
                       "there is no such field with names");
}

/* The plan as EXPLAIN QUERY PLAN says it: the last column, its rows joined. */
static bool plan_put(void *context, uint32_t count, const reef_sql_value *values)
{
    (void)context;
    if (got_bytes) got_put(", ", 2);
    got_put(values[count - 1].text, values[count - 1].size);
    return true;
}

static const char *plan(reef_world *w, const char *sql)
{
    char text[512];
    got_bytes = 0;
    got[0] = 0;
    (void)snprintf(text, sizeof text, "explain query plan %s", sql);
    const reef_status s = reef_sql(w, text, plan_put, NULL, reason);
    if (s != REEF_OK) fail_msg("%s: %s: %s", text, reef_status_name(s), reason);
    return got;
}

static void what_is_pushed_down_is_seen_in_the_plan(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 10; i++) (void)reef_spawn(w, reef_with(Place, (float)i, 1), reef_with(Coins, i));
    (void)reef_type_find("Likes");
    assert_string_equal(plan(w, "select x from Place"), "SCAN Place VIRTUAL TABLE INDEX 0:");
    assert_string_equal(plan(w, "select x from Place where id = 3"), "SCAN Place VIRTUAL TABLE INDEX 1:id=?");
    assert_string_equal(plan(w, "select x from Place where x > 1 and y <= 3 and query = 'Place'"),
                        "SCAN Place VIRTUAL TABLE INDEX 0:0>?x 1<=?y query=?");
    assert_string_equal(plan(w, "select x from Place limit 3 offset 2"), "SCAN Place VIRTUAL TABLE INDEX 0:");
    assert_string_equal(plan(w, "select id from Likes where target = 2"), "SCAN Likes VIRTUAL TABLE INDEX 0:target=?");
    assert_string_equal(plan(w, "select name from entities where parent = 2"),
                        "SCAN entities VIRTUAL TABLE INDEX 0:target=?");
    assert_string_equal(plan(w, "select x, coins from Place p cross join Coins c using (id)"),
                        "SCAN p VIRTUAL TABLE INDEX 0:, SCAN c VIRTUAL TABLE INDEX 1:id=?");
    /* what a plan takes away from SQLite is decided as SQLite does */
    assert_string_equal(asked(w, "select x from Place where id = 3.0"), "3.0");
    assert_string_equal(asked(w, "select x from Place where id = '3'"), "3.0");
    assert_string_equal(asked(w, "select x from Place where id = '3.0'"), "3.0");
    assert_string_equal(asked(w, "select x from Place where id = 3.5"), "");
    assert_string_equal(asked(w, "select x from Place where id = x'33'"), "");
    assert_string_equal(asked(w, "select x from Place where id = null"), "");
    assert_string_equal(asked(w, "select x from Place where id is null"), "");
    assert_string_equal(asked(w, "select x from Place where id = 1e300"), "");
    assert_string_equal(asked(w, "select x from Place where id in (1, 2.0, '7', 'a')"), "1.0 2.0 7.0");
    assert_string_equal(asked(w, "select x from Place where id = -1"), "");
    assert_string_equal(asked(w, "select x from Place where id = 9223372036854775807"), "");
    assert_string_equal(asked(w, "select sum(p.x * c.coins) from Place p join Coins c using (id)"), "285.0");
    assert_string_equal(asked(w, "select c.coins from Place p join Coins c on c.id = p.id + 1.0 where p.x > 6"), "8 9");
    assert_string_equal(asked(w, "select a.x, b.x from Place a join Place b on b.id = 9 - a.id where a.id < 2"),
                        "0.0|9.0 1.0|8.0");
}

/* A join by a value looks it up in an index; a plus before a column keeps SQLite from that. */
static void joins_by_a_value_use_an_index(void **state)
{
    static const char *const on[] = {"b.coins = a.coins + 1",        "b.coins = a.coins * 1.0",
                                     "b.coins = a.coins / 2.0",      "b.coins = cast(a.coins as text)",
                                     "b.coins = nullif(a.coins, 3)", "b.coins = a.coins * 4294967296",
                                     "b.coins = 'x' || a.coins",     "b.coins = a.coins and b.id > 20 and b.coins < 5"};
    reef_world *w = world_of(state);
    char text[256], found[64];
    reef_entity e = {0, 0};
    for (int i = 0; i < 60; i++) e = reef_spawn(w, reef_with(Place, (float)i, 1), reef_with(Coins, i * 7 % 20 - 4));
    assert_string_equal(plan(w, "select a.id from Place a cross join Coins b on b.coins = a.y"),
                        "SCAN a VIRTUAL TABLE INDEX 0:, SCAN b VIRTUAL TABLE INDEX 0:by:0=?coins");
    for (uint32_t k = 0; k < 2 * sizeof on / sizeof *on; k++) {
        static const char ask[] = "select count(*), sum(a.id * 100 + b.id) from Coins a cross join Coins b on";
        if (k == sizeof on / sizeof *on) assert_true(reef_disable(w, e, Coins) >= 0); /* no index has it */
        (void)snprintf(text, sizeof text, "%s %s", ask, on[k % (sizeof on / sizeof *on)]);
        (void)snprintf(found, sizeof found, "%s", asked(w, text));
        (void)snprintf(text, sizeof text, "%s +%s", ask, on[k % (sizeof on / sizeof *on)]);
        assert_string_equal(found, asked(w, text));
    }
    assert_true(reef_enable(w, e, Coins) >= 0);
    assert_string_equal(asked(w, "select count(*) from Coins a cross join Coins b on b.coins = a.coins"), "180");
    assert_string_equal(asked(w, "update Coins set coins = coins + 100 where coins = (select max(coins) from Coins)"),
                        "");
    assert_string_equal(asked(w, "select count(*) from Coins a cross join Coins b on b.coins = a.coins - 101"), "9");
}

/* A constant is looked up where the world has the index already; nothing is made for it. */
static void constants_use_an_index_that_is_there(void **state)
{
    static const char *const values[] = {"3", "3.0", "3.5", "99", "-4", "null", "'x'", "1e300"};
    reef_world *w = world_of(state);
    char text[256], found[64];
    for (int i = 0; i < 60; i++) (void)reef_spawn(w, reef_with(Place, (float)i, 1), reef_with(Coins, i * 7 % 20 - 4));
    assert_string_equal(plan(w, "select id from Coins where coins = 3"), "SCAN Coins VIRTUAL TABLE INDEX 0:0=?coins");
    assert_false(reef_has_index(w, Coins, coins));
    assert_non_null(reef_index_of(w, Coins, coins));
    assert_true(reef_has_index(w, Coins, coins));
    assert_string_equal(plan(w, "select id from Coins where coins = 3"),
                        "SCAN Coins VIRTUAL TABLE INDEX 0:by:0=?coins");
    assert_string_equal(plan(w, "select id from Coins where coins = 3 and coins > 1"),
                        "SCAN Coins VIRTUAL TABLE INDEX 0:by:0=?coins 0>?coins");
    for (uint32_t k = 0; k < sizeof values / sizeof *values; k++) {
        (void)snprintf(text, sizeof text, "select count(*), sum(id) from Coins where coins = %s", values[k]);
        (void)snprintf(found, sizeof found, "%s", asked(w, text));
        (void)snprintf(text, sizeof text, "select count(*), sum(id) from Coins where +coins = %s", values[k]);
        assert_string_equal(found, asked(w, text));
    }
    assert_string_equal(asked(w, "select count(*) from Coins where coins = 3"), "3");
    assert_string_equal(asked(w, "select count(*) from Coins where coins = '3'"), "3");
    assert_string_equal(asked(w, "update Coins set coins = 3 where coins = 4"), "");
    assert_string_equal(asked(w, "select count(*) from Coins where coins = 3"), "6");
}

/* In a world whose time belongs to somebody, such as a session of reef_net, SQL reads and changes nothing. */
static void who_owns_time_is_named_to_who_changes(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Place, 1, 2));
    assert_ok(reef_own_time(w, "a session"));
    assert_string_equal(asked(w, "select x from Place"), "1.0");
    assert_sql_refused(w, REEF_LOCKED, "update Place set x = 3", "the time of this world belongs to a session");
    assert_sql_refused(w, REEF_LOCKED, "delete from entities", "the time of this world belongs to a session");
    assert_sql_refused(w, REEF_LOCKED, "insert into entities(name) values ('cat')",
                       "the time of this world belongs to a session");
    assert_ok(reef_own_time(w, NULL));
    asked(w, "update Place set x = 3");
    assert_string_equal(asked(w, "select x from Place"), "3.0");
}

static void changes_by_sql_are_the_calls_of_c(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity ann = reef_spawn(w, reef_with(Place, 1, 2)), bob = reef_spawn(w, reef_with(Place, 3, 4));
    assert_string_equal(asked(w, "update Place set x = x + 10"), "");
    assert_true(reef_get(w, ann, Place)->x == 11 && reef_get(w, bob, Place)->x == 13);
    assert_string_equal(asked(w, "update Place set y = 0 where id = 1; select y from Place"), "2.0 0.0");
    asked(w, "insert into entities(name) values ('cat'), ('dog')");
    const reef_entity cat = reef_find(w, "cat"), dog = reef_find(w, "dog");
    assert_true(reef_is_alive(w, cat) && reef_is_alive(w, dog));
    asked(w, "insert into Place(id, x) select id, 5 from entities where name is not null");
    assert_true(reef_get(w, cat, Place)->x == 5 && reef_get(w, dog, Place)->y == 0);
    asked(w, "insert into Kinds(id, word, legs, u64, friend) values (2, 'meow', '[4, 0, 65535]', "
             "'18446744073709551615', reef_id('dog'))");
    const Kinds *k = reef_get(w, cat, Kinds);
    assert_true(k && strcmp(k->word, "meow") == 0 && k->legs[2] == 65535 && k->u64 == UINT64_MAX);
    assert_entity(k->friend, dog);
    asked(w, "update entities set parent = 2 where name = 'dog'; update entities set name = 'wolf' where name = 'dog'");
    assert_entity(reef_target(w, dog, ChildOf), cat);
    assert_string_equal(reef_name(w, dog), "wolf");
    asked(
        w,
        "insert into entities(name) values ('dog'); update entities set name = 'wolf2', parent = 2 where name = 'dog'");
    assert_some(reef_find(w, "cat.wolf2"));
    asked(w, "insert into Wound(id, per_second) values (2, 1), (2, 2), (2, 3); delete from Wound where per_second = 2");
    assert_string_equal(asked(w, "select id, number, per_second from Wound"), "2|0|1 2|1|3");
    asked(w, "update Wound set left = 7 where number = 1");
    assert_int_equal(reef_get_all(w, cat, Wound, NULL)[1].left, 7);
    asked(w, "insert into Likes(id, target) values (0, 1), (0, 2); update Likes set target = 3 where target = 1");
    assert_true(reef_related(w, ann, Likes, dog) && !reef_related(w, ann, Likes, bob));
    asked(w, "insert into Owes(id, target, \"data.coins\") values (0, 1, 30); update Owes set \"data.coins\" = 31");
    assert_int_equal(reef_relation_get(w, ann, Owes, bob)->data.coins, 31);
    asked(w, "insert into DockedTo(id, target) values (0, 1); update DockedTo set target = 2");
    assert_entity(reef_target(w, ann, DockedTo), cat);
    asked(w, "insert into Asleep values (0); insert into Lit(id) select id from Place; delete from Lit where id = 1");
    assert_true(reef_has(w, ann, Asleep) && reef_has(w, ann, Lit) && !reef_has(w, bob, Lit));
    asked(w, "insert into disabled values (0, 'Place'), (1, '')");
    assert_true(!reef_is_enabled(w, ann, Place) && !reef_is_enabled(w, bob));
    asked(w, "delete from disabled");
    assert_true(reef_is_enabled(w, ann, Place) && reef_is_enabled(w, bob));
    asked(
        w,
        "insert into Parts values (0, 1, 2, 3); update Parts set n = n + 1; insert into Purse(id, more) values (0, 1)");
    assert_string_equal(asked(w, "select n from Parts"), "4");
    asked(w, "insert into entities(id, name) values (4294967396, 'far')"); /* 100v2 */
    assert_entity(reef_find(w, "far"), ((reef_entity){100, 2}));
    asked(w, "delete from entities where name = 'cat'"); /* and what is within it */
    assert_true(!reef_is_alive(w, cat));
    asked(w, "delete from Place where query = 'Place, Lit'; delete from entities");
    assert_int_equal(reef_count_alive(w), 0);
    assert_valid(w);
}

/* Runs statements on a world of their own: four entities with five Wounds each, 10 * id and on; 0 likes 1, 2 and 3. */
static void wounds_asked(const char *sql, const char *wanted, int line)
{
    reef_world *w = reef_world_new(NULL);
    reef_entity e[4];
    for (int i = 0; i < 4; i++) {
        e[i] = reef_spawn(w, reef_with(Place, (float)i, 0));
        for (int k = 0; k < 5; k++) (void)reef_append(w, e[i], Wound, 10 * i + k, 0);
    }
    for (int i = 1; i < 4; i++) (void)reef_relate(w, e[0], Likes, e[i]);
    asked(w, sql);
    if (strcmp(got, wanted) != 0) fail_msg("line %d: %s: %s, not %s", line, sql, got, wanted);
    assert_valid(w);
    reef_world_free(w);
}
#define assert_wounds(sql, wanted) wounds_asked(sql, wanted, __LINE__)

static void rows_keep_their_numbers_while_a_statement_works(void **state)
{
    (void)state;
    assert_wounds("delete from Wound; select count(*) from Wound", "0");
    assert_wounds("delete from Wound where id = 2; select count(*) from Wound where id = 2", "0");
    assert_wounds("delete from Wound where id = 2 and number = 0; select number, per_second from Wound where id = 2",
                  "0|21 1|22 2|23 3|24");
    assert_wounds("delete from Wound where per_second in (20, 21, 23); select per_second from Wound where id = 2",
                  "22 24");
    assert_wounds("delete from Wound where per_second % 10 < 3; select per_second from Wound", "3 4 13 14 23 24 33 34");
    assert_wounds("delete from Wound where number = 0 or number = 2 or id = 1; select count(*) from Wound", "9");
    assert_wounds("delete from Likes; select count(*) from Likes", "0");
    assert_wounds("delete from Likes where id = 0; select count(*) from Likes", "0");
    assert_wounds("delete from Likes where target in (1, 2); select target from Likes", "3");
    assert_wounds("delete from Likes where target = 1 or target = 2; select target from Likes", "3");
    assert_wounds("update Likes set target = target - 1; select target from Likes", "0 1 2");
    assert_wounds("insert into Likes(id, target) select target, id from Likes; select count(*) from Likes", "6");
    /* in triggers, which read the values again between their changes */
    assert_wounds(
        "create temp view each as select id from Place; create temp trigger t instead of delete on each begin "
        "delete from Wound where id = old.id and number < 2; insert into Wound(id) values (old.id); "
        "delete from Wound where id = old.id and number in (0, 2); end; "
        "delete from each where id < 2; select per_second from Wound where id < 2",
        "3 0 13 0");
}

static void offset_is_left_to_sqlite(void **state)
{
    (void)state;
    assert_wounds("select id from Place limit 2 offset 1", "1 2");
    assert_wounds("select id from Place where x >= y limit 5 offset 3", "3");
    assert_wounds("select count(*) from (select id from Place union all select id from Place limit 9 offset 3)", "5");
    assert_wounds("insert into Coins(id, coins) select id, 1 from Place limit 2 offset 1; select id from Coins", "1 2");
    assert_wounds("update Place set y = 9 where id in (select id from Place limit 1 offset 3); "
                  "select id from Place where y = 9",
                  "3");
    assert_wounds("delete from Place where id in (select id from Place limit 2 offset 1); select id from Place", "0 3");
}

static void hidden_columns_choose_rows_or_say_that_they_cant(void **state)
{
    static const char *const wrong[] = {"query <> 'Asleep'",
                                        "not (query = 'Asleep')",
                                        "query = 'Asleep' or abs(x) > 9",
                                        "query = 'Asleep' or x > 4",
                                        "query like 'Asleep'",
                                        "query > 'A'",
                                        "query is null",
                                        "(query = 'Asleep') = 1",
                                        "+query = 'Asleep'",
                                        "query between 'A' and 'B'",
                                        "case when 1 then query = 'Asleep' end",
                                        "query = 'Asleep' and query = 'Place'",
                                        "query = 7",
                                        "query = null",
                                        "query in ('Asleep', 7)",
                                        "at <> 7",
                                        "at > 7",
                                        "at = 'x'",
                                        "at = 1.5",
                                        "at = -1",
                                        "at = null",
                                        "at is null",
                                        "at = 1 and at = 2"};
    reef_world *w = world_of(state);
    char sql[200];
    for (int i = 0; i < 6; i++) {
        const reef_entity e = reef_spawn(w, reef_with(Place, (float)i, 0));
        if (i < 2) reef_add(w, e, Asleep);
        if (i > 0 && i < 3) reef_add(w, e, Lit);
    }
    assert_string_equal(asked(w, "select id from Place where query = 'Asleep'"), "0 1");
    assert_string_equal(asked(w, "select id from Place where query in ('Asleep', 'Lit')"), "0 1 2");
    assert_string_equal(asked(w, "select id from Place where query = 'Asleep' or query = 'Lit'"), "0 1 2");
    assert_string_equal(asked(w, "select count(*) from Place where query in ()"), "0");
    assert_string_equal(asked(w, "select id from entities where query in (select 'Lit, Asleep')"), "1");
    assert_string_equal(asked(w, "select p.id from Place p left join Lit l on l.id = p.id and l.query = 'Asleep' "
                                 "where l.id is not null"),
                        "1");
    asked(w, "update Place set y = 1 from Asleep a where a.id = Place.id and Place.query = 'Lit'");
    assert_string_equal(asked(w, "select id from Place where y = 1"), "1");
    asked(w, "insert into disabled values (0, 'Place'), (1, 'Place'), (3, 'Place')");
    assert_string_equal(asked(w, "select id from disabled where query = 'Asleep'"), "0 1");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(sql, sizeof sql, "select count(*) from Place where %s", wrong[i]);
        assert_sql_refused(w, REEF_BAD_TEXT, sql, wrong[i][0] == 'a' ? "at" : "query");
    }
    assert_sql_refused(w, REEF_BAD_TEXT, "select query from Place", "query can only stand");
    assert_sql_refused(w, REEF_BAD_TEXT, "delete from Place where query = 'Lit' or x > 4.5", "query can only stand");
    assert_sql_refused(w, REEF_BAD_TEXT, "select name from types where query = 'Place'", "no entities");
    assert_sql_refused(w, REEF_REFUSED, "update Place set query = 'Lit'", "can't be written");
    assert_sql_refused(w, REEF_REFUSED, "insert into Place(id, at) values (9, 1)", "can't be written");
    assert_sql_refused(w, REEF_BAD_TEXT, "select * from reef_query('Place')", "create virtual table");
}

static void an_insert_returns_what_is_there(void **state)
{
    reef_world *w = world_of(state);
    assert_string_equal(asked(w, "insert into entities(name) values ('a'), ('b') returning id, name"), "0|a 1|b");
    assert_string_equal(asked(w, "insert into Place(id, x) values (1, 0.1) returning *, x + y > 0.1, reef_name(id)"),
                        "1|0.100000001490116|0.0|1|b");
    assert_string_equal(asked(w, "insert into Wound(id) values (0), (0), (1) returning Wound.id, number, \"left\""),
                        "0|0|0 0|1|0 1|0|0");
    assert_string_equal(asked(w, "with returned as (select 1 as \"returning\") insert into /* returning */ main.[Likes]"
                                 "(id, target) select 0, \"returning\" from returned returning target -- id\n;"),
                        "1");
    assert_string_equal(asked(w, "insert into entities default values returning id + 10"), "12");
    assert_string_equal(asked(w, "create temp table Coins(id, n default 5); insert into Coins(id) values (9) "
                                 "returning id, n"),
                        "9|5");
    assert_sql_refused(w, REEF_BAD_TEXT, "delete from Place returning id", "RETURNING is not available");
    assert_sql_refused(w, REEF_REFUSED, "insert into Likes(id, target) values (0, 1)", "this relation already");
}

static void numbers_of_64_bits_have_their_order(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Kinds, .u64 = UINT64_MAX));
    (void)reef_spawn(w, reef_with(Kinds, .u64 = 5));
    (void)reef_spawn(w, reef_with(Kinds, .u64 = UINT64_C(9999999999999999999)));
    (void)reef_spawn(w, reef_with(Kinds, .u64 = UINT64_C(1) << 63));
    assert_string_equal(asked(w, "select id from Kinds order by u64"), "1 3 2 0");
    assert_string_equal(asked(w, "select min(u64), max(u64) from Kinds"), "5|18446744073709551615");
    assert_string_equal(asked(w, "select id from Kinds where u64 > '9223372036854775808' order by id"), "0 2");
    assert_string_equal(asked(w, "select id from Kinds where u64 = '18446744073709551615'"), "0");
    assert_string_equal(asked(w, "create virtual table temp.q using reef_query('Kinds'); "
                                 "select id from q order by \"Kinds.u64\""),
                        "1 3 2 0");
    assert_sql_refused(w, REEF_REFUSED, "update Parts set x = 1e300; insert into Parts(id, x) values (0, -3.5e38)",
                       "x is f32");
    asked(w, "insert into Parts(id, x) values (0, -1e999)");
    assert_string_equal(asked(w, "select x from Parts"), "-Inf");
}

static void tables_of_queries_are_read_while_a_statement_writes(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 4; i++) (void)reef_spawn(w, reef_with(Place, (float)i, 0));
    assert_string_equal(asked(w, "create virtual table temp.q using reef_query('Place, !Coins');"
                                 "insert into Coins(id, coins) select id, \"Place.x\" + 1 from q;"
                                 "select id, coins from Coins"),
                        "0|1 1|2 2|3 3|4");
    assert_string_equal(asked(w, "create virtual table temp.q using reef_query('Place');"
                                 "delete from Place where id in (select id from q where \"Place.x\" > 1);"
                                 "select id from Place"),
                        "0 1");
    assert_string_equal(asked(w, "create virtual table temp.q using reef_query(''); select count(*) from q"), "4");
}

typedef struct {
    int32_t at, query;
} Meeting;
REEF_COMPONENT(Meeting);
REEF_FIELDS(Meeting, at, query);

static void fields_may_be_called_as_the_hidden_columns(void **state)
{
    static const char file[] = "test_sql_at.db";
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Meeting, 7, 8));
    assert_string_equal(asked(w, "select * from Meeting where at_ = 7 and query_ = 8 and query = 'Meeting'"), "0|7|8");
    asked(w, "update Meeting set at_ = 9");
    assert_string_equal(asked(w, "select at_ from Meeting"), "9");
    sqlite3 *db;
    reef_sqlite_imported n;
    (void)remove(file);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "create table alarm(at int, id int); insert into alarm values (6, 7)", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_ok(reef_sqlite_import(w, file, NULL, &n, reason));
    assert_string_equal(asked(w, "select * from alarm"), "1|6|7");
    reef_sqlite *f;
    (void)remove(file);
    assert_ok(reef_sqlite_open(w, file, NULL, &f, reason));
    assert_ok(reef_sqlite_commit(f));
    assert_ok(reef_sqlite_check(f));
    reef_sqlite_close(f);
    (void)remove(file);
}

/* A table shows what is disabled too; a query passes over it. */
static void disabled_relations_are_rows(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3];
    for (int i = 0; i < 3; i++) e[i] = reef_spawn(w, reef_with(Place, (float)i, 0));
    (void)reef_relate(w, e[0], Likes, e[2]);
    (void)reef_relate(w, e[1], Likes, e[2]);
    (void)reef_relate(w, e[1], ChildOf, e[2]);
    (void)reef_set_name(w, e[2], "c");
    assert_ok(reef_disable(w, e[0], Likes));
    assert_ok(reef_disable(w, e[1], ChildOf));
    assert_string_equal(asked(w, "select id from Likes"), "0 1");
    assert_string_equal(asked(w, "select id from Likes where target = 2"), "0 1");
    assert_string_equal(asked(w, "select id from entities where parent = 2"), "1");
    assert_string_equal(asked(w, "select parent from entities where id = 1"), "2");
    assert_string_equal(asked(w, "select id from Likes where query = 'Likes(c)'"), "1");
    assert_string_equal(asked(w, "select * from disabled order by id"), "0|Likes 1|ChildOf");
    assert_string_equal(asked(w, "select id from Likes l where not exists (select 1 from disabled d where d.id = l.id "
                                 "and d.component = 'Likes')"),
                        "1");
}

/* Templates have their rows like all others, whichever way a statement comes to them; a query passes over them. */
static void templates_are_rows(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3];
    for (int i = 0; i < 3; i++) {
        e[i] = reef_spawn(w, reef_with(Place, (float)i, 0), reef_tag(Asleep), reef_with(Wound, i, i));
        (void)reef_relate(w, e[i], Likes, e[0]);
    }
    assert_ok(reef_make_prefab(w, e[1]));
    assert_string_equal(asked(w, "select id from Place order by id"), "0 1 2");
    assert_string_equal(asked(w, "select count(*) from Asleep"), "3");
    assert_string_equal(asked(w, "select id, left from Wound order by id"), "0|0 1|1 2|2");
    assert_string_equal(asked(w, "select id from Likes order by id"), "0 1 2");
    assert_string_equal(asked(w, "select id from ReefPrefab"), "1");
    assert_string_equal(asked(w, "select x from ReefPrefab join Place using (id)"), "1.0");
    assert_string_equal(asked(w, "select id from Place where query = 'Place'"), "0 2");
    asked(w, "update Place set y = x + 10");
    assert_string_equal(asked(w, "select y from Place order by id"), "10.0 11.0 12.0");
}

static void what_is_wrong_changes_nothing(void **state)
{
    reef_world *w = world_of(state);
    (void)reef_spawn(w, reef_with(Place, 1, 2));
    (void)reef_spawn(w, reef_with(Place, 3, 4), reef_with(Wound, 3, 4));
    (void)reef_spawn(w, reef_default(Kinds), reef_with(Plain, {1, 2}));
    (void)reef_type_find("Likes");
    asked(w, "insert into Within(id, target) values (0, 1)");
    /* the first rows are written, the last one isn't possible: none is */
    assert_sql_refused(w, REEF_REFUSED, "update Place set x = case id when 1 then 1001 else 5 end", "x has the range");
    assert_sql_refused(w, REEF_REFUSED, "insert into Asleep values (0), (1), (9)", "no such entity");
    assert_sql_refused(w, REEF_NAME_TAKEN, "insert into entities(name) values ('a'), ('b'), ('a')", "name");
    assert_sql_refused(w, REEF_REFUSED, "delete from entities; insert into Place(id) values (0)", "no such entity");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set small = 128", "small is i8: -128 ... 127");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set byte = -1", "byte is u8");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set i32 = 1.5", "i32 is an integer");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set i32 = 'many'", "i32 is a number");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set u64 = '18446744073709551616'", "u64 is u64");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set u64 = -1", "u64 is u64");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set yes = NULL", "can't be NULL");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set word = 'more than twelve bytes'", "room for 12");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set legs = '[1, 2]'", "array of 3");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set legs = '[1, 2, 3, 4]'", "array of 3");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set legs = '[1, 2, 65536]'", "legs is u16");
    assert_sql_refused(w, REEF_REFUSED, "update Kinds set friend = 99", "names no entity");
    assert_sql_refused(w, REEF_REFUSED, "update Plain set value = x'0102'", "blob of 5 bytes");
    assert_sql_refused(w, REEF_REFUSED, "update Place set id = 7", "id can't be changed");
    assert_sql_refused(w, REEF_REFUSED, "insert into Place(id) values (0)", "already");
    assert_sql_refused(w, REEF_REFUSED, "insert into Wound(id, number) values (1, 5)", "without gaps");
    assert_sql_refused(w, REEF_CYCLE, "insert into Within(id, target) values (1, 0)", "back to its source");
    assert_sql_refused(w, REEF_REFUSED, "insert into Likes(id) values (0)", "target can't be NULL");
    assert_sql_refused(w, REEF_REFUSED, "update types set name = 'x'", "only be read");
    assert_sql_refused(w, REEF_REFUSED, "update entities set generation = 2", "generation");
    assert_sql_refused(w, REEF_EXISTS, "insert into entities(id) values (0)", "");
    assert_sql_refused(w, REEF_BAD_TEXT, "select x from Nowhere", "no such table: Nowhere");
    assert_sql_refused(w, REEF_BAD_TEXT, "selekt", "syntax error");
    assert_sql_refused(w, REEF_BAD_TEXT, "delete from Place; selekt", "syntax error");
    assert_sql_refused(w, REEF_BAD_TEXT, "begin; delete from Place; rollback", "take effect together");
    assert_sql_refused(w, REEF_BAD_TEXT, "savepoint a", "take effect together");
    assert_sql_refused(w, REEF_UNKNOWN_TYPE, "select id from Place where query = 'Plaice'", "Place");
    assert_sql_refused(w, REEF_BAD_ARGUMENT, "select id from Place where at = 3", "no file with a past");
    reef_query q = reef_query_new(w, "in Place");
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_string_equal(asked(w, "select count(*) from Place"), "2"); /* reading goes on in a loop */
    assert_int_equal(reef_sql(w, "delete from Place", NULL, NULL, reason), REEF_LOCKED);
    reef_end(&b);
    reef_sql_session *s;
    assert_ok(reef_sql_open(w, &(reef_sql_desc){.read_only = true}, &s, reason));
    assert_status(REEF_REFUSED, reef_sql_run(s, "delete from Place", NULL, NULL, reason));
    reef_sql_close(s);
    assert_int_equal(reef_count(w, Place), 2);
}

typedef struct {
    char title[16];
    int16_t pages;
} novel;
REEF_COMPONENT(novel);
REEF_FIELDS(novel, title, pages);

static void tables_of_other_databases_become_entities(void **state)
{
    static const char file[] = "test_sql_import.db";
    reef_world *w = world_of(state);
    reef_sqlite_imported n;
    sqlite3 *db;
    (void)remove(file);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "create table author(id integer primary key, name text, born, face blob);"
                     "insert into author values (10, 'Ann', 1900, x'010203'), (20, 'Bob', 1950.5, x'04'), (30, null, "
                     "null, null);"
                     "create table novel(isbn text primary key, title, pages int, by integer references author,"
                     " sequel_of text references novel(isbn));"
                     "insert into novel values ('a', 'One', 10, 20, null), ('b', 'Two', null, 20, 'a'), ('c', 'Three', "
                     "30, 10, 'b');"
                     "create table empty(t text, r real, i int);",
                     NULL, NULL, NULL),
        SQLITE_OK);
    if (reef_sqlite_import(w, file, NULL, &n, reason) != REEF_OK) fail_msg("%s", reason);
    assert_int_equal(n.entities, 6);
    assert_int_equal(n.relations, 5);
    assert_string_equal(asked(w, "select * from author"),
                        "0|10|Ann|1900.0|[1,2,3] 1|20|Bob|1950.5|[4,0,0] 2|30||0.0|[0,0,0]");
    assert_string_equal(asked(w, "select * from novel"), "3|One|10 4|Two|0 5|Three|30"); /* the program's own type */
    assert_string_equal(asked(w, "select title, name from \"novel.by\" r join novel b on b.id = r.id "
                                 "join author a on a.id = r.target order by title"),
                        "One|Bob Three|Ann Two|Bob");
    assert_string_equal(asked(w, "select s.id, s.target from \"novel.sequel_of\" s"), "4|3 5|4");
    const uint64_t before = digest(w);
    assert_status(REEF_BAD_ARGUMENT, reef_sqlite_import(w, file, "nothing", &n, reason));
    assert_status(REEF_IO, reef_sqlite_import(w, "no/such.db", NULL, &n, reason));
    assert_int_equal(sqlite3_exec(db, "update novel set pages = 99999 where isbn = 'c'", NULL, NULL, NULL), SQLITE_OK);
    assert_status(REEF_REFUSED, reef_sqlite_import(w, file, NULL, &n, reason));
    assert_non_null(strstr(reason, "novel, row 3: pages is i16"));
    assert_true(digest(w) == before);
    assert_ok(reef_sqlite_import(w, file, "AUTHOR", &n, reason));
    assert_int_equal(n.entities, 3);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    (void)remove(file);
}

static void import_from(const char *tables, reef_world *w, reef_status expected, const char *said)
{
    static const char file[] = "test_sql_import.db";
    reef_sqlite_imported n;
    sqlite3 *db;
    (void)remove(file);
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    if (sqlite3_exec(db, tables, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", tables, sqlite3_errmsg(db));
    const reef_status s = reef_sqlite_import(w, file, NULL, &n, reason);
    if (s != expected || strstr(reason, said) == NULL) fail_msg("%s: %s %s", tables, reef_status_name(s), reason);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    (void)remove(file);
}

/* Columns may have the names by which SQLite knows rows; rows may be too large for a component. */
static void unusual_tables_are_imported_or_refused(void **state)
{
    reef_world *w = world_of(state);
    import_from("create table hall(rowid text, x integer unique);"
                "insert into hall values ('b', 1), ('a', 2);"
                "create table seat(hall references hall(x), row int, oid text);"
                "insert into seat values (2, 1, 'z'), (1, 2, 'y'), (7, 3, 'x');",
                w, REEF_OK, "");
    assert_string_equal(asked(w, "select s.row, h.rowid from \"seat.hall\" r join seat s on s.id = r.id "
                                 "join hall h on h.id = r.target order by s.row"),
                        "1|a 2|b");
    const uint64_t before = digest(w);
    import_from("create table blind(rowid text, oid text, _rowid_ text); insert into blind values (1, 2, 3);", w,
                REEF_REFUSED, "blind: ");
    import_from("create table vast(t blob); insert into vast values (zeroblob(16777217));", w, REEF_LIMIT,
                "vast: a row takes 16777224 bytes");
    char broad[20000] = "create table broad(c0 int";
    for (int i = 1; i < 1025; i++) (void)snprintf(broad + strlen(broad), 16, ", c%d int", i);
    strcat(broad, ")");
    import_from(broad, w, REEF_LIMIT, "broad: it has 1025 columns");
    assert_true(digest(w) == before);
}

/* ---- fuzzed statements ---- */

static const char *const fuzz_words[] = {"select",      "from",        "where",    "update",
                                         "set",         "insert into", "values",   "delete from",
                                         "join",        "left join",   "using",    "(id)",
                                         "(",           ")",           ",",        "=",
                                         "<",           ">=",          "<>",       "and",
                                         "or",          "not",         "null",     "order by",
                                         "limit 3",     "offset 2",    "group by", "count(*)",
                                         "sum(x)",      "max(i32)",    "avg(y)",   "Place",
                                         "Kinds",       "Wound",       "Likes",    "entities",
                                         "disabled",    "Parts",       "Coins",    "Purse",
                                         "id",          "x",           "y",        "number",
                                         "target",      "left",        "name",     "parent",
                                         "query",       "legs",        "word",     "i32",
                                         "'Place'",     "'!Lit'",      "'[1,2]'",  "0",
                                         "1",           "7",           "-1",       "1e300",
                                         "x'00'",       ";",           "DockedTo", "Within",
                                         "Owes",        "place",       "*",        "+",
                                         "types",       "singletons",  "at",       "union",
                                         "distinct",    "Shape",       "Lit",      "replace into",
                                         "returning id"};
/* T: a table, C: a column, V: a value */
static const char *const fuzz_shapes[] = {
    "update T set C = V where C < V",
    "update T set C = C + V",
    "insert into T(id, C) values (V, V)",
    "insert into T(id, C) select id, C from T where id < 9",
    "delete from T where C = V or C is null",
    "select C, sum(C), count(*) from T where C > V",
    "select sum(C), min(C), avg(C), count(*) from T where C <= V",
    "select * from T a join T b using (id) where a.id > V order by b.id limit V",
    "select * from T a left join T b on a.id = b.C join T c on c.id = a.id",
    "select * from T where id in (select C from T) and C >= V",
    "select count(*) from T where query = V",
    "update T set id = V, C = V",
    "select * from T limit V offset V",
    "create virtual table temp.t using reef_query(T, ?T); select * from t; drop table t"};
static const char *const fuzz_tables[] = {"Place", "Kinds", "Wound",    "Likes",  "entities", "disabled", "Parts",
                                          "Coins", "Purse", "DockedTo", "Within", "Owes",     "Shape",    "Lit"};
static const char *const fuzz_columns[] = {"id",     "id",   "id",     "x",   "y",   "number",
                                           "target", "name", "parent", "i32", "word"};
static const char *const fuzz_values[] = {"0",   "1",     "7",       "-1",       "2.5",     "null",
                                          "'a'", "x'00'", "'Place'", "'in Lit'", "'[1,2]'", "9223372036854775807"};
#define ONE_OF(list) list[scene_random(seed) % (sizeof list / sizeof list[0])]

static void fuzz_text(char *text, size_t size, uint64_t *seed)
{
    size_t n = 0;
    text[0] = 0;
    if (scene_random(seed) % 4) {
        for (const char *p = ONE_OF(fuzz_shapes); *p && n + 32 < size; p++) {
            const char *word = *p == 'T'   ? ONE_OF(fuzz_tables)
                               : *p == 'C' ? ONE_OF(fuzz_columns)
                               : *p == 'V' ? ONE_OF(fuzz_values)
                                           : NULL;
            if (word) n += (size_t)snprintf(text + n, size - n, "%s", word);
            else text[n++] = *p;
        }
        text[n] = 0;
    } else
        for (uint32_t k = scene_random(seed) % 12 + 1; k && n + 32 < size; k--)
            n += (size_t)snprintf(text + n, size - n, "%s ", ONE_OF(fuzz_words));
    if (n && scene_random(seed) % 8 == 0) text[scene_random(seed) % n] = (char)(scene_random(seed) % 127 + 1);
}

/* Whatever the statement: a status, a valid world, and no change where it failed. */
static void fuzzed_statements_on_a_living_world(void **state)
{
    reef_world *w = world_of(state);
    char text[512];
    uint64_t seed = 77;
    int good = 0;
    scene_change(w, &seed, 400, false);
    const char *more = getenv("REEF_FUZZ_STATEMENTS");
    const int count = more ? atoi(more) : 4000;
    for (int i = 0; i < count; i++) {
        if (i % 200 == 0) {
            scene_change(w, &seed, 300, false);
            assert_valid(w);
        }
        const uint64_t before = reef_hash(w);
        fuzz_text(text, sizeof text, &seed);
        const reef_status s = reef_sql(w, text, row_put, NULL, reason);
        got_bytes = 0;
        if (s == REEF_OK) good++;
        else if (reef_hash(w) != before || reason[0] == 0) fail_msg("%s: %s: %s", text, reef_status_name(s), reason);
    }
    print_message("%d of %d statements were right\n", good, count);
    assert_true(good > count / 10);
    assert_valid(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables_of_a_living_world),
        TEST(values_are_asked_by_name),
        TEST(joins_by_a_value_use_an_index),
        TEST(constants_use_an_index_that_is_there),
        TEST(what_is_pushed_down_is_seen_in_the_plan),
        TEST(who_owns_time_is_named_to_who_changes),
        TEST(changes_by_sql_are_the_calls_of_c),
        TEST(rows_keep_their_numbers_while_a_statement_works),
        TEST(offset_is_left_to_sqlite),
        TEST(hidden_columns_choose_rows_or_say_that_they_cant),
        TEST(an_insert_returns_what_is_there),
        TEST(numbers_of_64_bits_have_their_order),
        TEST(tables_of_queries_are_read_while_a_statement_writes),
        TEST(fields_may_be_called_as_the_hidden_columns),
        TEST(disabled_relations_are_rows),
        TEST(templates_are_rows),
        TEST(what_is_wrong_changes_nothing),
        TEST(tables_of_other_databases_become_entities),
        TEST(unusual_tables_are_imported_or_refused),
        TEST(fuzzed_statements_on_a_living_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
