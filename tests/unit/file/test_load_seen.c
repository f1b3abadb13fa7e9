/* What systems have seen is the same in a world that was loaded, or became what it is by a difference: also where a
 * difference leads back, or to a state that was restored. */
#include "load_checks.h"
#include "load_zoo.h"
#include "reef/system.h"
#include "support.h"

static uint32_t rows_told; /* that the system below saw since it was asked last */
static void rows_tell(reef_block *b)
{
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n) rows_told += n;
}

static void teller_add(reef_world *w, const char *text)
{
    reef_watch_systems(w, false); /* they would run twice */
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "tell", .function = rows_tell, .text = text})));
}

static uint32_t told_by_tick(reef_world *w)
{
    rows_told = 0;
    assert_ok(reef_tick(w, 0));
    return rows_told;
}

static void go_back(reef_world *w, reef_world *before)
{
    reef_bytes undo = {NULL, 0};
    assert_ok(reef_diff_bytes(w, before, &undo, NULL));
    if (reef_diff_apply(w, undo.data, undo.size) != REEF_OK) fail_msg("%s", reef_last_error(w).detail);
    assert_same(w, before);
    reef_bytes_free(&undo);
    reef_world_free(before);
}

/* A difference that leads back takes the runs of systems back too: what both states have and no system had seen is
 * new again. */
static void by_undo_a_system_sees_again_what_it_had_not_seen(void **state)
{
    reef_world *w = world_of(state);
    teller_add(w, "changed in Season");
    const reef_entity a = reef_spawn(w, reef_with(Season, 1));
    (void)reef_spawn(w, reef_with(Season, 1), reef_with(Spot, 1, 2, 3)); /* in a chunk of its own */
    assert_int_equal(told_by_tick(w), 2);
    reef_set(w, a, Season, 2);
    reef_world *before = reef_fork(w);
    assert_int_equal(told_by_tick(w), 1);
    go_back(w, before);
    assert_int_equal(told_by_tick(w), 1);
    assert_int_equal(told_by_tick(w), 0);
}

/* And what it had seen, and was written since, is old again. */
static void by_undo_a_system_sees_nothing_that_it_had_seen(void **state)
{
    reef_world *w = world_of(state);
    teller_add(w, "changed in Season");
    const reef_entity a = reef_spawn(w, reef_with(Season, 1)),
                      b = reef_spawn(w, reef_with(Season, 1), reef_with(Spot, 1, 2, 3));
    assert_int_equal(told_by_tick(w), 2);
    reef_set(w, b, Season, 2);
    reef_world *before = reef_fork(w);
    reef_set(w, a, Season, 3);
    go_back(w, before);
    assert_int_equal(told_by_tick(w), 1);
}

/* The same of rows that have stamps; one has its component again, and its stamp is where it was. */
static void by_undo_stamps_are_as_old_as_they_were(void **state)
{
    for (uint32_t added = 0; added < 2; added++) {
        reef_world *w = another_world(state, NULL);
        teller_add(w, added ? "added Age" : "changed in Age");
        const reef_entity a = reef_spawn(w, reef_with(Age, 1)), b = reef_spawn(w, reef_with(Age, 1)),
                          c = reef_spawn(w, reef_with(Age, 1));
        assert_int_equal(told_by_tick(w), 3);
        const reef_entity d = reef_spawn(w, reef_with(Age, 1));
        reef_world *before = reef_fork(w);
        assert_ok(reef_remove(w, a, Age));
        assert_ok(reef_destroy(w, b));
        reef_set(w, c, Age, 5);
        assert_ok(reef_remove(w, d, Age));
        go_back(w, before);
        assert_int_equal(told_by_tick(w), 1);
        end_world(state, w);
    }
}

/* A journal goes on behind a restore. */
static void a_difference_to_a_restored_state_knows_what_was_seen(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    teller_add(w, "changed in Season");
    teller_add(other, "changed in Season");
    const reef_entity a = reef_spawn(w, reef_with(Season, 1));
    (void)reef_spawn(w, reef_with(Season, 1), reef_with(Spot, 1, 2, 3));
    assert_int_equal(told_by_tick(w), 2);
    reef_set(w, a, Season, 2);
    reef_snapshot *s = reef_snapshot_take(w);
    assert_int_equal(told_by_tick(w), 1);
    reef_world *base = reef_fork(w);
    reef_bytes whole = saved(base, false), record = {NULL, 0};
    assert_ok(reef_restore(w, s));
    assert_ok(reef_diff_bytes(base, w, &record, NULL));
    load(other, whole);
    assert_ok(reef_diff_apply(other, record.data, record.size));
    assert_same(w, other);
    assert_int_equal(told_by_tick(other), 1);
    assert_int_equal(told_by_tick(w), 1);
    reef_bytes_free(&whole);
    reef_bytes_free(&record);
    reef_snapshot_free(s);
    reef_world_free(base);
}

/* Who reads removals is the world's: differences, too, leave its readers where they are. */
static void a_difference_is_applied_where_removals_are_read(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = reef_spawn(w, reef_with(Age, 1)), b = reef_spawn(w, reef_with(Age, 2));
    reef_removals r = reef_removals_new(w, reef_id(Age), true);
    reef_entity e;
    Age last;
    assert_false(reef_removals_is_null(r));
    assert_ok(reef_remove(w, a, Age));
    reef_world *before = reef_fork(w);
    reef_set(w, b, Age, 3);
    go_back(w, before);
    assert_valid(w);
    assert_true(reef_removals_next(w, r, &e, &last));
    assert_entity(a, e);
    assert_int_equal(last.age, 1);
    assert_ok(reef_remove(w, b, Age));
    assert_true(reef_removals_next(w, r, &e, &last));
    assert_entity(b, e);
    assert_int_equal(last.age, 2);
    assert_false(reef_removals_next(w, r, NULL, NULL));
}

/* That a switch is disabled somewhere doesn't make it new. */
static void marks_leave_what_they_are_of_as_old_as_it_is(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    teller_add(w, "Spot, changed Alert");
    teller_add(other, "Spot, changed Alert");
    const reef_entity a = reef_spawn(w, reef_with(Spot, 1, 2, 3)), b = reef_spawn(w, reef_with(Spot, 1, 2, 3));
    assert_ok(reef_add(w, a, Alert));
    assert_ok(reef_add(w, b, Alert));
    assert_int_equal(told_by_tick(w), 2);
    assert_true(reef_disable(w, b, Alert) >= 0);
    reef_bytes bytes = saved(w, false);
    load(other, bytes);
    reef_bytes again = saved(other, false);
    assert_int_equal(bytes.size, again.size);
    assert_memory_equal(bytes.data, again.data, bytes.size);
    assert_int_equal(told_by_tick(other), told_by_tick(w));
    reef_bytes_free(&bytes);
    reef_bytes_free(&again);
}

static void note_count(void *context, const reef_load_note *note)
{
    *(uint32_t *)context += note->kind == REEF_NOTE_SYSTEM_UNKNOWN;
}

/* How far the system was is forgotten, and reported; the file isn't damaged for that. */
static void a_sealed_file_may_tell_of_a_system_that_is_not_there(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_bytes bytes = {NULL, 0};
    uint32_t unknown = 0;
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "tell", .function = rows_tell, .text = "in Spot", .interval_ns = 1000000})));
    (void)reef_spawn(w, reef_with(Spot, 1, 2, 3));
    for (uint32_t i = 0; i < 3; i++) assert_ok(reef_tick(w, 1.0f / 64));
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true}));
    const reef_status s =
        reef_load_bytes(other, bytes.data, bytes.size, &(reef_load_desc){.note = note_count, .context = &unknown});
    if (s != REEF_OK) fail_msg("%s", reef_last_error(other).detail);
    assert_true(unknown > 0);
    reef_bytes_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(by_undo_a_system_sees_again_what_it_had_not_seen),
        TEST(by_undo_a_system_sees_nothing_that_it_had_seen),
        TEST(by_undo_stamps_are_as_old_as_they_were),
        TEST(a_difference_to_a_restored_state_knows_what_was_seen),
        TEST(a_difference_is_applied_where_removals_are_read),
        TEST(marks_leave_what_they_are_of_as_old_as_it_is),
        TEST(a_sealed_file_may_tell_of_a_system_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
