/* Names of entities: paths, unique within their scope. */
#include "support.h"

static void a_name_is_set_found_changed_and_taken_away(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w), f = reef_spawn(w, reef_with(Position, 1, 2));
    assert_null(reef_name(w, e));
    assert_none(reef_find(w, "alice"));
    assert_ok(reef_set_name(w, e, "alice"));
    assert_ok(reef_set_name(w, f, "bob"));
    assert_string_equal(reef_name(w, e), "alice");
    assert_entity(e, reef_find(w, "alice"));
    assert_entity(f, reef_find(w, "bob"));
    assert_int_equal(reef_world_stats(w).names, 2);
    assert_ok(reef_set_name(w, e, "carol"));
    assert_none(reef_find(w, "alice"));
    assert_entity(e, reef_find(w, "carol"));
    assert_ok(reef_set_name(w, e, "carol")); /* its own name again */
    assert_ok(reef_set_name(w, e, NULL));
    assert_null(reef_name(w, e));
    assert_none(reef_find(w, "carol"));
    assert_ok(reef_set_name(w, e, NULL));
    assert_int_equal(reef_world_stats(w).names, 1);
    assert_ok(reef_set_name(w, e, "alice"));
    assert_entity(e, reef_find(w, "alice"));
}

static void a_taken_name_is_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w), f = reef_create(w);
    assert_ok(reef_set_name(w, e, "alice"));
    assert_ok(reef_set_name(w, f, "bob"));
    assert_refused(w, REEF_NAME_TAKEN, reef_set_name(w, f, "alice"));
    assert_string_equal(reef_name(w, f), "bob");
    assert_ok(reef_destroy(w, e));
    assert_ok(reef_set_name(w, f, "alice"));
    assert_none(reef_find(w, "bob"));
}

static void the_last_part_is_unique_within_its_scope(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[5], late = reef_create(w);
    static const char *const names[] = {"ship.turret.barrel", "ship.hull.barrel", "barrel", "ship.turret", "ship"};
    for (int i = 0; i < 5; i++) assert_ok(reef_set_name(w, e[i] = reef_create(w), names[i]));
    for (int i = 0; i < 5; i++) assert_entity(e[i], reef_find(w, names[i]));
    assert_none(reef_find(w, "turret"));
    assert_none(reef_find(w, "turret.barrel"));
    assert_none(reef_find(w, "ship.turret.barrels"));
    assert_refused(w, REEF_NAME_TAKEN, reef_set_name(w, late, "ship.turret.barrel"));
    assert_ok(reef_destroy(w, e[4])); /* the scope's own entity is no owner of the scope */
    assert_entity(e[0], reef_find(w, "ship.turret.barrel"));
}

static void bad_names_are_refused(void **state)
{
    static const char *const bad[] = {"", ".", "a.", ".a", "a..b", "..", "a.b."};
    reef_world *w = world_of(state);
    reef_entity e = reef_create(w);
    char longest[REEF_NAME_MAX + 2];
    for (int i = 0; i < 7; i++) {
        assert_refused(w, REEF_BAD_TEXT, reef_set_name(w, e, bad[i]));
        assert_none(reef_find(w, bad[i]));
    }
    memset(longest, 'n', sizeof longest);
    longest[REEF_NAME_MAX + 1] = 0;
    assert_refused(w, REEF_BAD_TEXT, reef_set_name(w, e, longest));
    assert_none(reef_find(w, longest));
    assert_none(reef_find(w, NULL));
    longest[REEF_NAME_MAX] = 0;
    assert_ok(reef_set_name(w, e, longest));
    assert_string_equal(reef_name(w, e), longest);
    assert_entity(e, reef_find(w, longest));
    assert_refused(w, REEF_BAD_TEXT, reef_set_name(w, e, "a..b"));
    assert_string_equal(reef_name(w, e), longest);
    assert_ok(reef_set_name(w, e, "Meeresgrund.Überhang 7")); /* any bytes but dots at the wrong place */
    assert_entity(e, reef_find(w, "Meeresgrund.Überhang 7"));
}

static void a_name_dies_with_its_entity(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    char name[16];
    for (int i = 0; i < 6; i++) {
        e[i] = reef_spawn(w, reef_with(Position, 1, 2));
        snprintf(name, sizeof name, "e%d", i);
        assert_ok(reef_set_name(w, e[i], name));
    }
    assert_ok(reef_destroy(w, e[0]));
    assert_int_equal(reef_destroy_many(w, e + 1, 2), 2);
    assert_ok(reef_remove_all(w, e[3]));
    assert_ok(DESTROY_EVERYWHERE(w, reef_id(Position)));
    assert_int_equal(reef_world_stats(w).names, 1);
    assert_entity(e[3], reef_find(w, "e3"));
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "e%d", i);
        if (i != 3) assert_none(reef_find(w, name));
    }
    assert_ok(reef_world_clear(w));
    assert_none(reef_find(w, "e3"));
    reef_entity f = reef_create(w);
    assert_null(reef_name(w, f));
    assert_ok(reef_set_name(w, f, "e3"));
}

/* Thousands of names against a plain table, in random order. */
static void a_random_life_of_names(void **state)
{
    enum { N = 1200 };
    static reef_entity e[N];
    static uint32_t named[N]; /* number of the name, 0: none */
    static int owner[3 * N + 1];
    reef_world *w = world_of(state);
    uint64_t seed = 21;
    char name[40];
    memset(named, 0, sizeof named);
    for (int i = 0; i <= 3 * N; i++) owner[i] = -1;
    for (int i = 0; i < N; i++) e[i] = reef_create(w);
    for (int step = 0; step < 30000; step++) {
        uint32_t i = random_below(&seed, N), n = 1 + random_below(&seed, 3 * N), what = random_below(&seed, 10);
        if (what < 7) {
            snprintf(name, sizeof name, n % 2 ? "name%u" : "scope%u.name", (unsigned)n);
            bool free_name = owner[n] < 0 || owner[n] == (int)i;
            assert_status(free_name ? REEF_OK : REEF_NAME_TAKEN, reef_set_name(w, e[i], name));
            if (!free_name) continue;
            owner[named[i]] = -1;
            named[i] = n, owner[n] = (int)i;
        } else {
            if (what < 9) assert_ok(reef_set_name(w, e[i], NULL));
            else assert_ok(reef_destroy(w, e[i]));
            if (what == 9) e[i] = reef_create(w);
            owner[named[i]] = -1;
            named[i] = 0;
        }
        owner[0] = -1;
        if (step % 6000 == 5999) assert_valid(w);
    }
    for (uint32_t n = 1; n <= 3 * N; n++) {
        snprintf(name, sizeof name, n % 2 ? "name%u" : "scope%u.name", (unsigned)n);
        assert_entity(owner[n] < 0 ? (reef_entity){0} : e[owner[n]], reef_find(w, name));
        if (owner[n] >= 0) assert_string_equal(reef_name(w, e[owner[n]]), name);
    }
    for (int i = 0; i < N; i++) assert_int_equal(reef_name(w, e[i]) != NULL, named[i] != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_name_is_set_found_changed_and_taken_away),
        TEST(a_taken_name_is_refused),
        TEST(the_last_part_is_unique_within_its_scope),
        TEST(bad_names_are_refused),
        TEST(a_name_dies_with_its_entity),
        TEST(a_random_life_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
