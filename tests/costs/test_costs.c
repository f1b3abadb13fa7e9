/* Costs, as counts of work: calls of hooks, and allocations. No clock is used. */
#include "support.h"

typedef Tracked TrackedToo;
REEF_COMPONENT_HOOKS(TrackedToo, &tracked_hooks);

static const uint32_t sizes[] = {10, 1000, 20000};

static reef_entity crowd(reef_world *w, uint32_t n, bool with_mass)
{
    reef_entity middle = {0};
    for (uint32_t i = 0; i < n; i++) {
        reef_entity e = with_mass ? reef_spawn(w, reef_with(Tracked, .value = 1), reef_with(TrackedToo, .value = 2),
                                               reef_with(Mass, 1))
                                  : reef_spawn(w, reef_with(Tracked, .value = 1), reef_with(TrackedToo, .value = 2));
        if (i == n / 2) middle = e;
    }
    return middle;
}

/* One move for each component that is kept, and one for each component of the row that fills the hole, whatever the
 * table's size. */
static void a_transition_costs_its_row_and_the_one_that_fills_the_hole(void **state)
{
    for (int s = 0; s < 3; s++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e = crowd(w, sizes[s], false);
        reef_spawn(w, reef_with(Tracked, .value = 1), reef_with(TrackedToo, .value = 2), reef_with(Mass, 1));
        ledger_count_anew();
        uint64_t calls = heap_of(state)->calls;
        assert_ok(reef_add(w, e, Mass));
        assert_int_equal(book.moved, 2 + 2);
        assert_int_equal(book.constructed + book.copied + book.destroyed, 0);
        ledger_count_anew();
        assert_ok(reef_remove(w, e, Mass)); /* the last row of its table now: no hole */
        assert_int_equal(book.moved, 2);
        ledger_count_anew();
        assert_ok(reef_remove(w, e, Tracked));
        assert_int_equal(book.moved, 1); /* the last row here as well */
        assert_int_equal(book.destroyed, 1);
        assert_true(heap_of(state)->calls - calls < 20);
        end_world(state, w);
    }
}

static void a_death_costs_the_row_that_fills_the_hole(void **state)
{
    for (int s = 0; s < 3; s++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e = crowd(w, sizes[s], true), last = crowd(w, 1, true);
        ledger_count_anew();
        assert_ok(reef_destroy(w, e));
        assert_int_equal(book.moved, 2);
        assert_int_equal(book.destroyed, 2);
        ledger_count_anew();
        assert_ok(reef_destroy(w, reef_entity_at(w, 0)));
        assert_int_equal(book.moved, 2);
        ledger_count_anew();
        (void)last;
        end_world(state, w);
    }
}

static void replacing_and_reading_move_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = crowd(w, 5000, true);
    reef_query q = reef_query_new(w, "in Tracked, TrackedToo");
    ledger_count_anew();
    uint64_t calls = heap_of(state)->calls;
    for (int i = 0; i < 100; i++) {
        assert_ok(reef_set(w, e, Mass, i));
        assert_true(reef_has(w, e, Tracked) && reef_get(w, e, TrackedToo) && reef_mut(w, e, Mass));
        assert_int_equal(reef_count(w, Tracked), 5000);
    }
    for (reef_block b = reef_begin(w, q); reef_next(&b);) assert_non_null(reef_inout(&b, TrackedToo));
    assert_ok(reef_add(w, e, Awake));
    assert_ok(reef_remove(w, e, Awake));
    assert_int_equal(book.moved + book.copied + book.constructed + book.destroyed, 0);
    assert_true(heap_of(state)->calls - calls < 10);
}

static void a_change_of_many_components_is_one_move(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = crowd(w, 100, false);
    ledger_count_anew();
    assert_ok(reef_change(w, e, reef_with(Mass, 1), reef_with(Position, 1, 2), reef_tag(Frozen), reef_tag(Hungry),
                          reef_with(Cargo, {1}), reef_default(Velocity)));
    assert_int_equal(book.moved, 2 + 2);
    assert_int_equal(book.copied + book.constructed, 0);
}

/* Growth costs allocations for each chunk, not for each row, and rows move only while the first chunk grows. */
static void making_entities_allocates_by_the_chunk(void **state)
{
    static const uint32_t amounts[] = {1000, 10000, 100000};
    for (int s = 0; s < 3; s++) {
        reef_world *w = another_world(state, NULL);
        uint64_t calls = heap_of(state)->calls;
        ledger_count_anew();
        for (uint32_t i = 0; i < amounts[s]; i++)
            reef_spawn(w, reef_with(Position, 1, 2), reef_with(Loose, .value = 1));
        uint64_t used = heap_of(state)->calls - calls, chunks = amounts[s] / 1024 + 1;
        assert_true(used < 60 + 4 * chunks);
        assert_int_equal(book.copied, amounts[s]);
        assert_int_equal(book.moved, 0);
        end_world(state, w);
    }
}

/* A transition that was made before allocates nothing, however many tables there are by now. */
static void known_transitions_allocate_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    assert_ok(reef_add(w, e, Mass));
    assert_ok(reef_remove(w, e, Mass));
    for (uint32_t i = 0; i < 500; i++) {
        reef_component c = numbered_type("other", i, 4, 4);
        reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}, reef_with(Position, 1, 2)}, 2);
    }
    uint64_t calls = heap_of(state)->calls;
    for (int i = 0; i < 1000; i++) {
        assert_ok(reef_add(w, e, Mass));
        assert_ok(reef_remove(w, e, Mass));
    }
    assert_int_equal(heap_of(state)->calls, calls);
}

static void queries_look_at_matching_blocks_only(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "in Mass");
    for (int i = 0; i < 3; i++) reef_spawn(w, reef_with(Mass, i));
    uint64_t calls[2];
    for (int round = 0; round < 2; round++) {
        uint32_t blocks = 0;
        for (reef_block b = reef_begin(w, q); reef_next(&b);) blocks++;
        assert_int_equal(blocks, 1);
        calls[round] = heap_of(state)->calls;
        for (uint32_t i = 0; i < 400 && round == 0; i++) {
            reef_component c = numbered_type("unmatched", i, 4, 4);
            reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}}, 1);
        }
        if (round == 0) calls[0] = heap_of(state)->calls;
    }
    assert_int_equal(calls[0], calls[1]); /* 400 tables that don't match cost the second loop nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_transition_costs_its_row_and_the_one_that_fills_the_hole),
        TEST(a_death_costs_the_row_that_fills_the_hole),
        TEST(replacing_and_reading_move_nothing),
        TEST(a_change_of_many_components_is_one_move),
        TEST(making_entities_allocates_by_the_chunk),
        TEST(known_transitions_allocate_nothing),
        TEST(queries_look_at_matching_blocks_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
