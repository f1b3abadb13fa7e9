/* Switches: tags kept as one bit a row. The bit has to follow its row wherever it goes. */
#include "support.h"

static void a_switch_moves_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    const void *p = reef_get(w, e, Position);
    uint64_t moved = reef_world_stats(w).moved;
    assert_ok(reef_add(w, e, Awake));
    assert_true(reef_has(w, e, Awake));
    assert_true(reef_has_id(w, e, reef_id(Awake)));
    assert_null(reef_get_id(w, e, reef_id(Awake)));
    assert_refused(w, REEF_EXISTS, reef_add(w, e, Awake));
    assert_status(REEF_OK, reef_set_id(w, e, reef_id(Awake), NULL, 0));
    assert_status(REEF_ADDED, reef_set_id(w, e, reef_id(Seen), NULL, 0));
    assert_int_equal(reef_count(w, Awake), 1);
    assert_ok(reef_remove(w, e, Awake));
    assert_refused(w, REEF_ABSENT, reef_remove(w, e, Awake));
    assert_false(reef_has(w, e, Awake));
    assert_true(reef_has(w, e, Seen));
    assert_int_equal(reef_world_stats(w).moved, moved);
    assert_int_equal(reef_world_stats(w).tables, 1);
    assert_ptr_equal(p, reef_get(w, e, Position));
    assert_no_pointer(w, REEF_ABSENT, reef_mut_id(w, e, reef_id(Awake)));
}

static void an_entity_without_components_can_have_a_switch(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[100];
    for (int i = 0; i < 100; i++) e[i] = reef_create(w);
    for (int i = 0; i < 100; i += 3) assert_ok(reef_add(w, e[i], Awake));
    assert_valid(w);
    for (int i = 0; i < 100; i++) assert_int_equal(reef_has(w, e[i], Awake), i % 3 == 0);
    assert_status(REEF_ADDED, reef_set(w, e[3], Position, 1, 2));
    assert_true(reef_has(w, e[3], Awake));
    assert_ok(reef_remove(w, e[3], Position));
    assert_true(reef_has(w, e[3], Awake));
    assert_ok(reef_remove(w, e[3], Awake));
    assert_ok(reef_destroy(w, e[6]));
    assert_int_equal(reef_count(w, Awake), 32);
    assert_ok(remove_everywhere(w, reef_id(Awake), NULL));
    for (int i = 0; i < 100; i++) assert_false(reef_has(w, e[i], Awake));
    assert_int_equal(reef_count_alive(w), 99);
}

/* Rows at the edges of words and chunks: the last row comes into the hole of each, with its bits. */
static void bits_follow_their_rows_at_every_edge(void **state)
{
    static const uint32_t edges[] = {0, 1, 62, 63, 64, 65, 127, 128, 1022, 1023, 1024, 1025, 2047, 2048};
    enum { ROWS = 2050, EDGES = sizeof edges / sizeof *edges };
    for (uint32_t k = 0; k < 2 * EDGES; k++) {
        static reef_entity e[ROWS];
        reef_world *w = another_world(state, NULL);
        uint32_t hole = edges[k / 2];
        assert_ok(reef_spawn_many(w, ROWS, e, reef_with(Mass, 1)));
        for (uint32_t i = 0; i < ROWS; i += 3) assert_ok(reef_add(w, e[i], Awake));
        for (uint32_t i = 0; i < ROWS; i += 5) assert_ok(reef_add(w, e[i], Seen));
        assert_ok(k % 2 ? reef_add(w, e[hole], Frozen) : reef_destroy(w, e[hole]));
        assert_valid(w);
        for (uint32_t i = 0; i < ROWS; i++) {
            bool here = i != hole || k % 2;
            assert_int_equal(reef_has(w, e[i], Awake), here && i % 3 == 0);
            assert_int_equal(reef_has(w, e[i], Seen), here && i % 5 == 0);
        }
        end_world(state, w);
    }
}

static void a_freed_row_starts_without_bits(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[1100];
    for (int round = 0; round < 3; round++) {
        assert_ok(reef_spawn_many(w, 1100, e, reef_with(Mass, 1)));
        for (int i = 0; i < 1100; i++) assert_false(reef_has(w, e[i], Awake));
        for (int i = 0; i < 1100; i++) assert_ok(reef_add(w, e[i], Awake));
        if (round == 0) assert_int_equal(reef_destroy_many(w, e, 1100), 1100);
        if (round == 1) assert_ok(reef_world_clear(w));
        if (round == 1) assert_ok(reef_shrink(w));
    }
    for (int i = 0; i < 1100; i++) assert_ok(reef_remove_all(w, e[i]));
    assert_int_equal(reef_count(w, Awake), 0);
    for (int i = 0; i < 1100; i++) assert_status(REEF_ADDED, reef_set(w, e[i], Mass, 1));
    for (int i = 0; i < 1100; i++) assert_false(reef_has(w, e[i], Awake));
}

/* ---- a random life against a plain array ---- */

typedef struct herd {
    reef_world *w;
    reef_entity e[1500];
    bool awake[1500], seen[1500];
} herd;

static void herd_step(herd *h, uint64_t *seed)
{
    uint32_t i = random_below(seed, 1500), what = random_below(seed, 16);
    reef_world *w = h->w;
    reef_entity e = h->e[i];
    if (!reef_is_alive(w, e)) {
        bool on = what % 2;
        h->e[i] = on ? reef_spawn(w, reef_with(Mass, i), reef_tag(Awake)) : reef_spawn(w, reef_with(Mass, i));
        h->awake[i] = on, h->seen[i] = false;
    } else if (what < 6) {
        assert_status(h->awake[i] ? REEF_EXISTS : REEF_OK, reef_add(w, e, Awake));
        h->awake[i] = true;
    } else if (what < 8) {
        assert_status(h->awake[i] ? REEF_OK : REEF_ABSENT, reef_remove(w, e, Awake));
        h->awake[i] = false;
    } else if (what < 10) {
        assert_ok(reef_change(w, e, reef_tag(Seen), reef_without(Awake), reef_with(Health, 1, 2)));
        h->seen[i] = true, h->awake[i] = false;
    } else if (what < 12) {
        (void)(reef_has(w, e, Frozen) ? reef_remove(w, e, Frozen) : reef_add(w, e, Frozen));
    } else if (what < 13) {
        (void)(reef_has(w, e, Mass) ? reef_remove(w, e, Mass) : reef_add(w, e, Mass));
    } else if (what < 14) {
        assert_ok(reef_remove_all(w, e));
        h->awake[i] = h->seen[i] = false;
    } else if (what < 15) {
        uint32_t j = (i + 1) % 1500;
        if (reef_is_alive(w, h->e[j])) assert_ok(reef_destroy(w, h->e[j]));
        h->e[j] = reef_clone(w, e);
        h->awake[j] = h->awake[i], h->seen[j] = h->seen[i];
    } else {
        assert_ok(reef_destroy(w, e));
        h->awake[i] = h->seen[i] = false;
    }
}

static void a_random_life_of_switches(void **state)
{
    herd *h = calloc(1, sizeof *h);
    uint64_t seed = 5;
    h->w = world_of(state);
    for (int step = 0; step < 40000; step++) {
        herd_step(h, &seed);
        if (step % 4000 != 3999) continue;
        uint64_t awake = 0, seen = 0;
        assert_valid(h->w);
        for (int i = 0; i < 1500; i++) {
            assert_int_equal(reef_has(h->w, h->e[i], Awake), h->awake[i]);
            assert_int_equal(reef_has(h->w, h->e[i], Seen), h->seen[i]);
            awake += h->awake[i] ? 1u : 0u, seen += h->seen[i] ? 1u : 0u;
        }
        assert_int_equal(reef_count(h->w, Awake), awake);
        assert_int_equal(reef_count(h->w, Seen), seen);
        if (step % 8000 == 7999) assert_ok(reef_shrink(h->w));
    }
    free(h);
}

/* More switches than the bits of a word that could summarise them. */
static void a_thousand_switches_do_not_mix(void **state)
{
    enum { SWITCHES = 1100, ROWS = 90 };
    reef_world *w = world_of(state);
    reef_component c[SWITCHES];
    reef_entity e[ROWS];
    for (uint32_t i = 0; i < SWITCHES; i++) {
        char name[32];
        snprintf(name, sizeof name, "switch%u", (unsigned)i);
        c[i] = reef_type_new(&(reef_type_desc){.name = name, .home = REEF_BIT}, NULL);
        assert_true(c[i].id != 0);
    }
    assert_ok(reef_spawn_many(w, ROWS, e, reef_with(Mass, 1)));
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = r % 7; i < SWITCHES; i += 7) assert_ok(reef_add_id(w, e[r], c[i], NULL, NULL));
    for (uint32_t r = 0; r < ROWS; r += 2) assert_ok(reef_add(w, e[r], Frozen)); /* to another table, with all bits */
    for (uint32_t r = 0; r < ROWS; r += 9) assert_ok(reef_destroy(w, e[r]));
    assert_valid(w);
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i < SWITCHES; i++)
            assert_int_equal(reef_has_id(w, e[r], c[i]), r % 9 != 0 && i % 7 == r % 7);
    assert_ok(remove_everywhere(w, c[99], NULL));
    for (uint32_t r = 1; r < ROWS; r += 9)
        for (uint32_t i = 0; i < 99; i++) assert_int_equal(reef_has_id(w, e[r], c[i]), i % 7 == r % 7);
    assert_int_equal(reef_count_id(w, c[99]), 0);
}

/* The chunk where a switch was turned last goes to another table, which doesn't know the type yet. */
static void a_chunk_that_changes_its_table_starts_anew(void **state)
{
    enum { ROWS = 3 * 1024 };
    static reef_entity e[ROWS];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, ROWS, e, reef_with(Mass, 1)));
    assert_ok(reef_add(w, e[1500], Awake));
    assert_ok(reef_remove(w, e[1500], Awake));
    assert_ok(reef_add(w, e[1501], Awake));
    for (int i = ROWS - 1; i >= 1000; i--) assert_ok(reef_destroy(w, e[i])); /* the second chunk is given back */
    reef_entity other = reef_spawn(w, reef_with(Position, 1, 2)), last = reef_spawn(w, reef_with(Position, 3, 4));
    assert_ok(reef_add(w, last, Awake));
    assert_valid(w);
    assert_ok(reef_destroy(w, other));
    assert_true(reef_has(w, last, Awake));
    assert_valid(w);
    assert_int_equal(reef_count(w, Awake), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_switch_moves_nothing),
        TEST(an_entity_without_components_can_have_a_switch),
        TEST(bits_follow_their_rows_at_every_edge),
        TEST(a_freed_row_starts_without_bits),
        TEST(a_random_life_of_switches),
        TEST(a_chunk_that_changes_its_table_starts_anew),
        TEST(a_thousand_switches_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
