/* The allocation sweep. Each scenario prepares a world and then makes one call that needs memory. The call is made with
 * its n-th allocation failing, for n = 1, 2, ... until none is left to fail: once with that one failing alone, once
 * with all that follow it. Each time the call must return NO_MEMORY, and the world must be valid and the same as
 * before. Then the call must succeed with memory, and the world must be the same as without a failure. Nothing may
 * leak. All of that is done again with a fork that shares everything with the world, so that the call is the first
 * write after the fork. */
#include "oom_sweep.h"
#include "oom_topics.h"

static const scenario *const topics[] = {
    entity_scenarios, component_scenarios, query_scenarios, where_scenarios,    index_scenarios,  world_scenarios,
    system_scenarios, observer_scenarios,  value_scenarios, required_scenarios, prefab_scenarios,
};

static uint64_t sweep_each(const scenario *scene, bool shared)
{
    const trial t = {.scene = *scene, .steps = scene->call == name_more};
    const wanted w = sweep_undisturbed(&t);
    uint64_t runs = 0;
    for (int rest = 0; rest < 2; rest++) {
        uint64_t n = 1;
        if (!swept(shared, rest == 1)) continue;
        for (; sweep_run(&t, shared, n, rest == 1, &w); n += sweep_step(n, true)) runs++;
    }
    return runs;
}

static uint64_t sweep_all(bool shared)
{
    uint64_t runs = 0;
    failures = 0;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        for (const scenario *scene = topics[i]; scene->call; scene++) runs += sweep_each(scene, shared);
    assert_int_equal(failures, 0);
    return runs;
}

static void each_allocation_of_each_call_fails_in_turn(void **state)
{
    (void)state;
    assert_true(sweep_all(false) > 500); /* or the sweep sweeps nothing */
}

static void each_allocation_of_each_first_write_after_a_fork_fails_in_turn(void **state)
{
    (void)state;
    assert_true(sweep_all(true) > 1000);
}

/* A snapshot has no last error: reef_snapshot_fork returns NULL, and the snapshot can still be used. */
static void forking_a_snapshot_fails_cleanly(void **state)
{
    static const trial scene = {.scene = {"snapshot_fork", with_snapshot, NULL}};
    (void)state;
    for (int rest = 0; rest < 2; rest++) {
        for (uint64_t n = 1;; n++) {
            sweep_begin(&scene, false);
            uint64_t before = digest(now.w);
            heap_fail_nth(&sweep_heap, n, rest == 1);
            now.child = reef_snapshot_fork(now.snapshot);
            bool failed = sweep_heap.refused != 0;
            heap_fail_never(&sweep_heap);
            assert_true(failed ? now.child == NULL : now.child != NULL);
            assert_true(digest(now.w) == before);
            if (failed) now.child = reef_snapshot_fork(now.snapshot);
            assert_ok(reef_restore(now.w, now.snapshot));
            assert_true(digest(now.child) == digest(now.w) && reef_hash(now.child) == reef_hash(now.w));
            assert_valid(now.child);
            assert_null(sweep_leaks());
            if (failed) continue;
            assert_true(n > 1);
            break;
        }
    }
}

static void making_a_world_fails_cleanly(void **state)
{
    (void)state;
    for (int rest = 0; rest < 2; rest++) {
        for (uint64_t n = 1;; n++) {
            memset(&sweep_heap, 0, sizeof sweep_heap);
            heap_fail_nth(&sweep_heap, n, rest == 1);
            reef_world_config config = {.allocator = heap_allocator(&sweep_heap)};
            reef_world *w = reef_world_new(&config);
            bool failed = sweep_heap.refused != 0;
            assert_true(failed ? w == NULL : w != NULL);
            reef_world_free(w);
            assert_int_equal(sweep_heap.blocks, 0);
            assert_null(sweep_heap.mistake);
            if (failed) continue;
            assert_true(n > 1);
            break;
        }
    }
}

/* reef_write_many may stop in the middle: what is written is counted, and the rest is unchanged. */
static void destroy_many_stops_where_memory_ends(void **state)
{
    (void)state;
    static const trial scene = {.scene = {"destroy_many", some_rows, NULL}};
    for (uint64_t n = 1; n < 50; n++) {
        sweep_begin(&scene, false);
        heap_fail_nth(&sweep_heap, n, true);
        uint32_t died = reef_destroy_many(now.w, now.e, 300);
        bool failed = sweep_heap.refused != 0;
        heap_fail_never(&sweep_heap);
        assert_valid(now.w);
        assert_int_equal(reef_count_alive(now.w), 300 - died);
        for (uint32_t i = 0; i < 300; i++) assert_int_equal(reef_is_alive(now.w, now.e[i]), i >= died);
        if (died < 300) assert_int_equal(reef_last_error(now.w).status, REEF_NO_MEMORY);
        assert_int_equal(reef_destroy_many(now.w, now.e, 300), 300 - died);
        assert_null(sweep_leaks());
        if (!failed) return;
    }
    fail_msg("more than 50 allocations");
}

int main(void)
{
    /* Of tracked values the hash takes the value, not the ticket. */
    static const reef_field value = {.name = "value", .kind = REEF_I32, .bytes = 4};
    if (reef_type_describe(reef_id(Tracked), &value, 1) < 0 || reef_type_describe(reef_id(Loose), &value, 1) < 0 ||
        reef_type_describe(reef_id(Unique), &value, 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_each_call_fails_in_turn),
        cmocka_unit_test(each_allocation_of_each_first_write_after_a_fork_fails_in_turn),
        cmocka_unit_test(forking_a_snapshot_fails_cleanly),
        cmocka_unit_test(making_a_world_fails_cleanly),
        cmocka_unit_test(destroy_many_stops_where_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
