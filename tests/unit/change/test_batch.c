/* Many at once: reading and writing at random, destroying and clearing by sets of components. */
#include "support.h"

enum { N = 2000 };
static reef_entity ids[N];

static void shuffle(reef_entity *e, uint32_t n, uint64_t seed)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = random_below(&seed, i);
        reef_entity t = e[j];
        e[j] = e[i - 1];
        e[i - 1] = t;
    }
}

/* Entities in four tables; every fourth hasn't got a Mass. */
static void populate(reef_world *w)
{
    for (int i = 0; i < N; i++) {
        ids[i] = reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Cargo, {(uint8_t)i}));
        if (i % 4) assert_status(REEF_ADDED, reef_set(w, ids[i], Mass, i));
        if (i % 2) assert_ok(reef_add(w, ids[i], Hungry));
        if (i % 5 == 0) assert_ok(reef_add(w, ids[i], Awake));
    }
}

static void get_many_copies_what_is_there(void **state)
{
    static Mass out[N + 3];
    static reef_entity asked[N + 3];
    reef_world *w = world_of(state);
    populate(w);
    memcpy(asked, ids, sizeof ids);
    assert_ok(reef_destroy(w, ids[1]));
    asked[N] = (reef_entity){0}, asked[N + 1] = (reef_entity){900000, 1}, asked[N + 2] = ids[2];
    shuffle(asked, N + 3, 4);
    for (int i = 0; i < N + 3; i++) out[i].kg = -1;
    assert_int_equal(reef_get_many(w, Mass, asked, N + 3, out), N - N / 4 - 1 + 1);
    for (int i = 0; i < N + 3; i++) {
        const Mass *m = reef_get(w, asked[i], Mass);
        assert_true(out[i].kg == (m ? m->kg : -1));
    }
    assert_int_equal(reef_get_many(w, Mass, NULL, 0, NULL), 0);
    assert_int_equal(reef_get_many(w, Velocity, asked, N, (Velocity *)(void *)out), 0);
    assert_int_equal(reef_get_many_id(w, (reef_component){0}, asked, N, out, 8), 0);
    assert_int_equal(reef_get_many_id(w, reef_id(Mass), asked, N, out, 4), 0);
}

static void get_many_refuses_types_that_copy_by_a_hook(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Tracked, .value = 1));
    Tracked out = {.value = 50};
    assert_int_equal(reef_get_many(w, Tracked, &e, 1, &out), 0);
    assert_int_equal(out.value, 50);
    assert_int_equal(book.copied, 1); /* the spawn */
}

static void write_many_replaces_in_the_arrays_order(void **state)
{
    static Mass in[N];
    static reef_entity asked[N];
    reef_world *w = world_of(state);
    populate(w);
    memcpy(asked, ids, sizeof ids);
    shuffle(asked, N, 9);
    asked[7] = asked[1500]; /* twice: the later value counts */
    for (int i = 0; i < N; i++) in[i].kg = 10000 + i;
    assert_ok(reef_destroy(w, asked[3]));
    uint32_t wanted = 0;
    for (int i = 0; i < N; i++) wanted += reef_has(w, asked[i], Mass) ? 1u : 0u;
    assert_int_equal(reef_write_many(w, Mass, asked, N, in), wanted);
    for (int i = 0; i < N; i++) {
        const Mass *m = reef_get(w, asked[i], Mass);
        if (m && i != 7) assert_true(m->kg == 10000 + i);
    }
    assert_valid(w);
    assert_int_equal(reef_write_many(w, Mass, asked, 0, NULL), 0);
    assert_int_equal(reef_write_many(w, Velocity, asked, N, (Velocity *)(void *)in), 0);
    assert_int_equal(reef_count(w, Velocity), 0);
}

static void write_many_goes_through_hooks(void **state)
{
    enum { FEW = 20 };
    reef_world *w = world_of(state);
    reef_entity e[FEW];
    Tracked in[FEW];
    for (int i = 0; i < FEW; i++) {
        e[i] = reef_spawn(w, reef_with(Tracked, .value = i));
        in[i] = (Tracked){.value = 100 + i};
    }
    assert_int_equal(reef_write_many(w, Tracked, e, FEW, in), FEW);
    assert_int_equal(book.live, FEW);
    for (int i = 0; i < FEW; i++) assert_int_equal(reef_get(w, e[i], Tracked)->value, 100 + i);
    book.fail_copy = 6;
    for (int i = 0; i < FEW; i++) in[i].value = 200 + i;
    assert_int_equal(reef_write_many(w, Tracked, e, FEW, in), 5);
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    for (int i = 0; i < FEW; i++) assert_int_equal(reef_get(w, e[i], Tracked)->value, (i < 5 ? 200 : 100) + i);
}

/* ---- destroy_many ---- */

static void destroy_many_skips_the_dead_and_counts_each_once(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[12];
    for (int i = 0; i < 10; i++) e[i] = reef_spawn(w, reef_with(Position, (float)i, 0));
    e[10] = e[3];
    e[11] = (reef_entity){0};
    assert_ok(reef_destroy(w, e[5]));
    assert_int_equal(reef_destroy_many(w, e, 12), 9);
    assert_int_equal(reef_count_alive(w), 0);
    assert_int_equal(reef_destroy_many(w, e, 12), 0);
    assert_int_equal(reef_destroy_many(w, NULL, 0), 0);
    uint32_t order[] = {5, 0, 1, 2, 3, 4, 6, 7, 8, 9}; /* ids wait in the order of death */
    for (int i = 0; i < 10; i++) assert_int_equal(reef_create(w).index, order[i]);
}

static void destroy_many_equals_one_by_one(void **state)
{
    static reef_entity doomed[N];
    reef_world *w = world_of(state), *v = another_world(state, NULL);
    populate(v);
    populate(w);
    memcpy(doomed, ids, sizeof ids);
    shuffle(doomed, N, 2);
    assert_int_equal(reef_destroy_many(w, doomed, N - 300), N - 300);
    for (int i = 0; i < N - 300; i++) assert_ok(reef_destroy(v, doomed[i]));
    assert_true(digest(w) == digest(v));
    for (int i = 0; i < N; i++) assert_entity(reef_create(v), reef_create(w));
}

/* ---- destroy_with, clear_type ---- */

static void destroy_with_takes_all_that_have_the_set(void **state)
{
    reef_world *w = world_of(state);
    uint64_t dead = 0, wanted = 0;
    populate(w);
    for (int i = 0; i < N; i++) wanted += i % 4 && i % 2 ? 1u : 0u;
    assert_ok(destroy_everywhere(w, (reef_component[]){reef_id(Mass), reef_id(Hungry)}, 2, &dead));
    assert_int_equal(dead, wanted);
    for (int i = 0; i < N; i++) assert_int_equal(reef_is_alive(w, ids[i]), !(i % 4 && i % 2));
    assert_valid(w);
    assert_ok(DESTROY_EVERYWHERE(w, reef_id(Awake)));
    for (int i = 0; i < N; i++) assert_int_equal(reef_is_alive(w, ids[i]), !(i % 4 && i % 2) && i % 5 != 0);
    assert_valid(w);
    assert_ok(destroy_everywhere(w, (reef_component[]){reef_id(Velocity)}, 1, &dead));
    assert_int_equal(dead, 0);
    reef_create(w);
    assert_ok(reef_world_clear(w)); /* what has no row, too */
    assert_int_equal(reef_count_alive(w), 0);
}

static void destroy_with_switch_and_table_together(void **state)
{
    reef_world *w = world_of(state);
    populate(w);
    reef_entity bare = reef_spawn(w, reef_tag(Awake));
    assert_ok(DESTROY_EVERYWHERE(w, reef_id(Awake), reef_id(Mass), reef_id(Position)));
    for (int i = 0; i < N; i++) assert_int_equal(reef_is_alive(w, ids[i]), !(i % 5 == 0 && i % 4));
    assert_true(reef_is_alive(w, bare));
}

static void destroy_with_unknown_or_repeated_types(void **state)
{
    reef_world *w = world_of(state);
    reef_component none[] = {reef_id(Position), {0}};
    reef_component beyond[] = {{UINT32_MAX}};
    uint64_t dead = 77;
    assert_some(reef_spawn(w, reef_with(Position, 1, 2)));
    assert_status(REEF_UNKNOWN_TYPE, destroy_everywhere(w, none, 2, &dead));
    assert_status(REEF_UNKNOWN_TYPE, destroy_everywhere(w, beyond, 1, NULL));
    assert_status(REEF_UNKNOWN_TYPE, remove_everywhere(w, (reef_component){0}, NULL));
    assert_status(REEF_UNKNOWN_TYPE, remove_everywhere(w, (reef_component){UINT32_MAX}, NULL));
}

static void clear_type_keeps_all_the_rest(void **state)
{
    reef_world *w = world_of(state);
    uint64_t removed = 0;
    populate(w);
    assert_ok(remove_everywhere(w, reef_id(Mass), &removed));
    assert_int_equal(removed, N - N / 4);
    assert_valid(w);
    assert_ok(remove_everywhere(w, reef_id(Hungry), &removed));
    assert_int_equal(removed, N / 2);
    assert_ok(remove_everywhere(w, reef_id(Awake), &removed));
    assert_int_equal(removed, N / 5);
    assert_valid(w);
    for (int i = 0; i < N; i++) {
        assert_position(w, ids[i], (float)i, 0);
        assert_int_equal(reef_get(w, ids[i], Cargo)->byte[0], (uint8_t)i);
        assert_false(reef_has(w, ids[i], Mass) || reef_has(w, ids[i], Hungry) || reef_has(w, ids[i], Awake));
    }
    assert_int_equal(reef_world_stats(w).tables, 1);
    assert_ok(remove_everywhere(w, reef_id(Position), NULL));
    assert_ok(remove_everywhere(w, reef_id(Cargo), NULL)); /* nothing left: entities without a row */
    assert_int_equal(reef_world_stats(w).entities_empty, N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(get_many_copies_what_is_there),
        TEST(get_many_refuses_types_that_copy_by_a_hook),
        TEST(write_many_replaces_in_the_arrays_order),
        TEST(write_many_goes_through_hooks),
        TEST(destroy_many_skips_the_dead_and_counts_each_once),
        TEST(destroy_many_equals_one_by_one),
        TEST(destroy_with_takes_all_that_have_the_set),
        TEST(destroy_with_switch_and_table_together),
        TEST(destroy_with_unknown_or_repeated_types),
        TEST(clear_type_keeps_all_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
