/* Readers of removals (F2): each one once, oldest first, with the last value where that was asked for. */
#include "support.h"

typedef struct {
    uint32_t number;
} Hold;
typedef struct {
    uint32_t number;
    uint8_t more[5000 - sizeof(uint32_t)];
} Chest; /* does not divide a page of the log */

static const reef_hooks rows = {.track_rows = true};
static reef_hooks ledger_rows; /* those of Tracked, with track_rows: filled by main */
REEF_COMPONENT_HOOKS(Hold, &rows);
REEF_COMPONENT_HOOKS(Chest, &rows);
REEF_TAG_HOOKS(Marked, &rows);

static reef_removals reader(reef_world *w, bool values)
{
    reef_removals r = reef_removals_new(w, reef_id(Hold), values);
    assert_false(reef_removals_is_null(r));
    return r;
}

static void told_at(reef_world *w, reef_removals r, reef_entity e, const uint32_t *number, int line)
{
    reef_entity got = {0, 0};
    Hold value = {~0u};
    if (!reef_removals_next(w, r, &got, number ? &value : NULL)) fail_msg("line %d: nothing is told", line);
    if (!reef_entity_equal(got, e))
        fail_msg("line %d: {%u, %u} is told, not {%u, %u}", line, got.index, got.generation, e.index, e.generation);
    if (number && value.number != *number) fail_msg("line %d: the value was %u, not %u", line, value.number, *number);
}
#define told(w, r, e) told_at(w, r, e, NULL, __LINE__)
#define told_value(w, r, e, number) told_at(w, r, e, &(uint32_t){number}, __LINE__)
#define told_no_more(w, r) assert_false(reef_removals_next(w, r, NULL, NULL))

static reef_entity holder(reef_world *w, uint32_t number)
{
    return reef_spawn(w, reef_with(Hold, number), reef_with(Mass, 1));
}

static void each_way_to_lose_a_component_is_told_once(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[12];
    for (uint32_t i = 0; i < 10; i++) e[i] = holder(w, i);
    e[10] = reef_spawn(w, reef_with(Hold, 10), reef_tag(Awake));
    e[11] = reef_spawn(w, reef_with(Hold, 11), reef_with(Velocity, 1, 2), reef_tag(Frozen));
    reef_removals r = reader(w, true);
    told_no_more(w, r);
    assert_ok(reef_remove(w, e[3], Hold));
    assert_ok(reef_change(w, e[1], reef_without(Hold), reef_with(Health, 1, 1)));
    assert_ok(reef_destroy(w, e[2]));
    told_value(w, r, e[3], 3);
    told_value(w, r, e[1], 1);
    told_value(w, r, e[2], 2);
    told_no_more(w, r);
    assert_ok(reef_remove_all(w, e[10]));
    assert_int_equal(reef_destroy_many(w, (reef_entity[]){e[5], e[4]}, 2), 2);
    assert_ok(DESTROY_EVERYWHERE(w, reef_id(Hold), reef_id(Frozen)));
    told_value(w, r, e[10], 10);
    told_value(w, r, e[5], 5);
    told_value(w, r, e[4], 4);
    told_value(w, r, e[11], 11);
    told_no_more(w, r);
    assert_ok(reef_set(w, e[6], Hold, 66)); /* replacing isn't removing */
    assert_ok(reef_add(w, e[6], Velocity));
    assert_status(REEF_ABSENT, reef_remove(w, e[3], Hold));
    assert_status(REEF_NOT_ALIVE, reef_destroy(w, e[2]));
    told_no_more(w, r);
    uint64_t n = 0;
    assert_ok(remove_everywhere(w, reef_id(Hold), &n));
    assert_int_equal(n, 5);
    /* tables in the order of their type names: {Hold, Mass} before {Hold, Mass, Velocity} */
    for (uint32_t i = 0; i < 5; i++) {
        static const uint32_t order[5] = {0, 8, 7, 9, 6};
        told_value(w, r, e[order[i]], order[i] == 6 ? 66 : order[i]);
    }
    told_no_more(w, r);
    for (uint32_t i = 0; i < 3; i++) e[i] = holder(w, 100 + i);
    assert_ok(reef_world_clear(w));
    for (uint32_t i = 0; i < 3; i++) told_value(w, r, e[i], 100 + i);
    told_no_more(w, r);
    assert_ok(reef_removals_free(w, r));
}

static void readers_begin_when_they_are_made_and_read_at_their_own_pace(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    for (uint32_t i = 0; i < 6; i++) e[i] = holder(w, i);
    assert_ok(reef_destroy(w, e[0]));
    reef_removals slow = reader(w, false);
    assert_ok(reef_destroy(w, e[1]));
    reef_removals quick = reader(w, true);
    assert_ok(reef_destroy(w, e[2]));
    told_value(w, quick, e[2], 2);
    told_no_more(w, quick);
    reef_removals third = reader(w, true);
    assert_ok(reef_remove(w, e[3], Hold));
    told(w, slow, e[1]);
    told_value(w, quick, e[3], 3);
    assert_ok(reef_removals_free(w, quick));
    assert_ok(reef_destroy(w, e[3])); /* hasn't got it any more */
    assert_ok(reef_destroy(w, e[4]));
    told(w, slow, e[2]);
    told(w, slow, e[3]);
    told_value(w, third, e[3], 3);
    assert_ok(reef_removals_free(w, third));
    assert_ok(reef_destroy(w, e[5])); /* nobody wants its value */
    told(w, slow, e[4]);
    third = reader(w, true);
    e[0] = holder(w, 10);
    assert_ok(reef_destroy(w, e[0]));
    told(w, slow, e[5]);
    told_value(w, third, e[0], 10);
    told(w, slow, e[0]);
    told_no_more(w, slow);
    told_no_more(w, third);
    assert_valid(w);
}

static void values_of_any_size_come_back_whole(void **state)
{
    static Chest chest, back;
    reef_world *w = world_of(state);
    reef_removals r = reef_removals_new(w, reef_id(Chest), true), t = reef_removals_new(w, reef_id(Marked), true);
    reef_entity e[60], got;
    for (uint32_t round = 0; round < 5; round++) { /* the ring turns, and grows while it holds something */
        for (uint32_t i = 0; i < 60; i++) {
            chest.number = round * 60 + i;
            memset(chest.more, (int)(i + round), sizeof chest.more);
            e[i] =
                reef_spawn(w, reef_value_make(reef_id(Chest), REEF_VALUE_ONE, sizeof chest, &chest), reef_tag(Marked));
            assert_some(e[i]);
        }
        uint32_t read = 0;
        for (uint32_t i = 0; i < 60; i++) {
            assert_ok(reef_destroy(w, e[i]));
            for (uint32_t k = 0; k < i % 3 || (i == 59 && read < 60); k++, read++) {
                assert_true(reef_removals_next(w, r, &got, &back));
                assert_entity(got, e[read]);
                assert_int_equal(back.number, round * 60 + read);
                for (size_t b = 0; b < sizeof back.more; b++) assert_int_equal(back.more[b], (uint8_t)(read + round));
                assert_true(reef_removals_next(w, t, &got, &back)); /* a tag has nothing to write there */
                assert_entity(got, e[read]);
            }
        }
        assert_false(reef_removals_next(w, r, &got, &back));
    }
}

static void what_everybody_has_read_takes_no_memory(void **state)
{
    reef_world *w = world_of(state);
    reef_entity kept = holder(w, 1);
    uint64_t bare = reef_world_stats(w).bytes_tracks;
    for (uint32_t i = 0; i < 5000; i++) assert_ok(reef_destroy(w, holder(w, i)));
    assert_int_equal(reef_world_stats(w).bytes_tracks, bare); /* nobody reads: nothing is logged */
    reef_removals r = reader(w, true), behind = reader(w, false);
    for (uint32_t i = 0; i < 100; i++) assert_ok(reef_destroy(w, holder(w, i)));
    uint64_t some = reef_world_stats(w).bytes_tracks;
    for (uint32_t i = 0; i < 30000; i++) {
        assert_ok(reef_destroy(w, holder(w, i)));
        assert_true(reef_removals_next(w, r, NULL, &(Hold){0}));
        assert_true(reef_removals_next(w, behind, NULL, NULL));
    }
    assert_true(reef_world_stats(w).bytes_tracks <= some + 4 * 8192);
    assert_ok(reef_removals_free(w, r));
    assert_ok(reef_removals_free(w, behind));
    assert_true(reef_world_stats(w).bytes_tracks < bare + 1024);
    assert_true(reef_is_alive(w, kept));
}

static void a_restore_takes_the_readers_back(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[8];
    for (uint32_t i = 0; i < 8; i++) e[i] = holder(w, i);
    reef_removals early = reader(w, true), ended = reader(w, false);
    assert_ok(reef_destroy(w, e[0]));
    assert_ok(reef_destroy(w, e[1]));
    told_value(w, early, e[0], 0);
    reef_snapshot *s = reef_snapshot_take(w);
    told_value(w, early, e[1], 1);
    assert_ok(reef_removals_free(w, ended));
    reef_removals late = reader(w, true);
    assert_ok(reef_destroy(w, e[2]));
    told_value(w, early, e[2], 2);
    for (int i = 0; i < 2; i++) {
        assert_ok(reef_restore(w, s));
        assert_true(reef_is_alive(w, e[2]));
        assert_valid(w);
        assert_ok(reef_destroy(w, e[3]));
        told_value(w, early, e[1], 1);
        told_value(w, early, e[3], 3);
        told_value(w, late, e[3], 3);
        told_no_more(w, early);
        told_no_more(w, late);
        assert_status(REEF_NOT_ALIVE, reef_removals_free(w, ended));
    }
    /* a state of before the type was known at all */
    reef_world *other = another_world(state, NULL);
    reef_snapshot *empty = reef_snapshot_take(other);
    reef_entity f = holder(other, 5);
    reef_removals r = reader(other, true);
    assert_ok(reef_destroy(other, f));
    assert_ok(reef_restore(other, empty));
    told_no_more(other, r);
    f = holder(other, 6);
    assert_ok(reef_destroy(other, f));
    told_value(other, r, f, 6);
    told_no_more(other, r);
    reef_snapshot_free(s);
    reef_snapshot_free(empty);
}

static void a_fork_begins_with_an_empty_log(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[4];
    for (uint32_t i = 0; i < 4; i++) e[i] = holder(w, i);
    reef_removals r = reader(w, true);
    assert_ok(reef_destroy(w, e[0]));
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *copy[2] = {reef_fork(w), reef_snapshot_fork(s)};
    for (int i = 0; i < 2; i++) {
        assert_false(reef_removals_next(copy[i], r, NULL, NULL));
        assert_int_equal(reef_last_error(copy[i]).status, REEF_OTHER_WORLD);
        assert_ok(reef_destroy(copy[i], e[1]));
        reef_removals own = reader(copy[i], true);
        told_no_more(copy[i], own);
        assert_ok(reef_destroy(copy[i], e[2]));
        told_value(copy[i], own, e[2], 2);
        told_no_more(copy[i], own);
        assert_valid(copy[i]);
    }
    assert_ok(reef_destroy(w, e[3]));
    told_value(w, r, e[0], 0);
    /* a relative's state: it has no place for this reader, which goes on from there */
    reef_snapshot *theirs = reef_snapshot_take(copy[0]);
    assert_ok(reef_restore(w, theirs));
    told_no_more(w, r);
    assert_ok(reef_destroy(w, e[3]));
    told_value(w, r, e[3], 3);
    assert_ok(reef_restore(w, s));
    told_value(w, r, e[0], 0);
    told_no_more(w, r);
    assert_valid(w);
    reef_snapshot_free(s);
    reef_snapshot_free(theirs);
    for (int i = 0; i < 2; i++) reef_world_free(copy[i]);
}

/* The input is what to do: 0 destroys a holder, 1 does so and fails, 2 makes a reader, destroys and fails. */
static reef_removals in_step;
static reef_status play(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    const reef_entity *e = context;
    const uint8_t what = bytes ? *(const uint8_t *)input : 0;
    if (what == 2) in_step = reader(w, true);
    reef_status s = reef_destroy(w, e[tick]);
    return what ? REEF_ABSENT : s;
}

static void a_history_that_goes_back_takes_the_readers_along(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    for (uint32_t i = 0; i < 6; i++) e[i] = holder(w, i);
    reef_removals r = reader(w, true);
    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = play, .context = e});
    assert_ok(reef_history_step(h, NULL, 0));
    assert_ok(reef_history_step(h, NULL, 0));
    told_value(w, r, e[0], 0);
    for (uint8_t what = 1; what < 3; what++) { /* the tick fails: nothing happened */
        assert_status(REEF_ABSENT, reef_history_step(h, &what, 1));
        assert_valid(w);
        assert_true(reef_is_alive(w, e[2]));
    }
    told_no_more(w, in_step);
    told_value(w, r, e[1], 1);
    told_no_more(w, r);
    assert_ok(reef_history_step(h, NULL, 0));
    told_value(w, in_step, e[2], 2);
    assert_ok(reef_history_rewind(h, 1)); /* the state before tick 1: the first removal wasn't read yet */
    told_value(w, r, e[0], 0);
    told_no_more(w, r);
    assert_ok(reef_history_replay(h, 3));
    told_value(w, r, e[1], 1);
    told_value(w, r, e[2], 2);
    assert_ok(reef_destroy(w, e[5]));
    told_value(w, r, e[5], 5);
    assert_valid(w);
    reef_history_free(h);
}

static void logs_of_values_that_stay_go_back_as_well(void **state)
{
    static const reef_hooks stays = {.track_rows = true, .on_fork = REEF_FORK_SKIP};
    reef_world *w = world_of(state);
    reef_component c = reef_type_new(&(reef_type_desc){.name = "Hum", .size = 4, .hooks = &stays}, NULL);
    reef_entity e[3] = {holder(w, 0), holder(w, 1), holder(w, 2)};
    uint32_t value = 0;
    for (int i = 0; i < 3; i++) assert_ok(reef_add_id(w, e[i], c, NULL, NULL));
    reef_removals r = reef_removals_new(w, c, true), hold = reader(w, false);
    assert_ok(reef_destroy(w, e[0]));
    reef_snapshot *s = reef_snapshot_take(w);
    assert_true(reef_removals_next(w, r, NULL, NULL));
    told(w, hold, e[0]);
    *(uint32_t *)reef_mut_id(w, e[1], c) = 7;
    assert_ok(reef_remove_id(w, e[2], c));
    assert_ok(reef_restore(w, s)); /* the long way: a value stays */
    assert_true(reef_removals_next(w, r, NULL, NULL));
    told(w, hold, e[0]);
    told_no_more(w, r);
    assert_ok(reef_destroy(w, e[1]));
    assert_true(reef_removals_next(w, r, NULL, &value));
    assert_int_equal(value, 7);
    told(w, hold, e[1]);
    assert_valid(w);
    reef_snapshot_free(s);
}

static void a_row_that_was_never_complete_isnt_told(void **state)
{
    reef_world *w = world_of(state);
    reef_removals r = reader(w, true);
    reef_entity e[20];
    book.fail_construct = 15;
    assert_true(reef_spawn_many(w, 20, e, reef_with(Hold, 1), reef_default(Tracked)) < 0);
    told_no_more(w, r);
    reef_entity x = holder(w, 4);
    book.fail_construct = 1;
    assert_true(reef_change(w, x, reef_without(Hold), reef_default(Tracked)) < 0);
    told_no_more(w, r);
    assert_true(reef_has(w, x, Hold));
    assert_valid(w);
}

static void readers_are_refused_where_they_must_be(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_type_desc d = {.name = "TrackedLedger", .size = sizeof(Tracked), .align = 4, .hooks = &ledger_rows};
    reef_component owner = reef_type_new(&d, NULL);
    Hold value;
    (void)holder(w, 1);
#define REFUSED_NEW(wanted, c, values) \
    do { \
        assert_true(reef_removals_is_null(reef_removals_new(w, c, values))); \
        assert_int_equal(reef_last_error(w).status, wanted); \
    } while (0)
    REFUSED_NEW(REEF_UNKNOWN_TYPE, (reef_component){0}, false);
    REFUSED_NEW(REEF_UNKNOWN_TYPE, (reef_component){1u << 30}, false);
    REFUSED_NEW(REEF_BAD_ARGUMENT, reef_id(Mass), false);
    REFUSED_NEW(REEF_BAD_ARGUMENT, reef_id(Awake), false);
    REFUSED_NEW(REEF_NOT_COPYABLE, owner, true);
    assert_true(reef_removals_is_null(reef_removals_new(NULL, reef_id(Hold), false)));
    reef_removals r = reader(w, false), of_owner = reef_removals_new(w, owner, false);
    reef_entity e = reef_create(w);
    assert_ok(reef_add_id(w, e, owner, NULL, NULL));
    assert_ok(reef_destroy(w, e));
    reef_hold_readers(w, true);
    assert_zero(w, REEF_LOCKED, reef_removals_next(w, of_owner, NULL, NULL));
    reef_hold_readers(w, false);
    told(w, of_owner, e);                                                      /* it waited */
    assert_zero(w, REEF_BAD_ARGUMENT, reef_removals_next(w, r, NULL, &value)); /* it keeps no values */
    assert_zero(w, REEF_NOT_ALIVE, reef_removals_next(w, (reef_removals){0, 0, 0}, NULL, NULL));
    assert_zero(other, REEF_OTHER_WORLD, reef_removals_next(other, r, NULL, NULL));
    assert_refused(other, REEF_OTHER_WORLD, reef_removals_free(other, r));
    assert_false(reef_removals_next(NULL, r, NULL, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_removals_free(NULL, r));
    assert_ok(reef_removals_free(w, (reef_removals){0, 0, 0}));
    assert_ok(reef_removals_free(w, r));
    assert_refused(w, REEF_NOT_ALIVE, reef_removals_free(w, r));
    assert_zero(w, REEF_NOT_ALIVE, reef_removals_next(w, r, NULL, NULL));
    reef_removals again = reader(w, false); /* takes the same place */
    assert_zero(w, REEF_NOT_ALIVE, reef_removals_next(w, r, NULL, NULL));
    told_no_more(w, again);
    reef_world *strict = another_world(state, &(reef_world_config){.strict = true});
    assert_true(reef_removals_is_null(reef_removals_new(strict, reef_id(Hold), false)));
    assert_int_equal(reef_last_error(strict).status, REEF_UNKNOWN_TYPE);
}

int main(void)
{
    ledger_rows = tracked_hooks;
    ledger_rows.track_rows = true;
    const struct CMUnitTest tests[] = {
        TEST(each_way_to_lose_a_component_is_told_once),
        TEST(readers_begin_when_they_are_made_and_read_at_their_own_pace),
        TEST(values_of_any_size_come_back_whole),
        TEST(what_everybody_has_read_takes_no_memory),
        TEST(a_restore_takes_the_readers_back),
        TEST(a_fork_begins_with_an_empty_log),
        TEST(a_history_that_goes_back_takes_the_readers_along),
        TEST(logs_of_values_that_stay_go_back_as_well),
        TEST(a_row_that_was_never_complete_isnt_told),
        TEST(readers_are_refused_where_they_must_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
