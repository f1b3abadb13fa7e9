/* Events are part of the state (D7): in forks, snapshots, restores, the hash, comparisons. */
#include "event_stage.h"

/* ---- worlds as values ---- */

static void a_fork_has_the_events_and_not_the_readers_of_the_host(void **f)
{
    static stage its;
    reef_world *w = world_of(f);
    sender_and_receiver(w);
    struct system *from = stage_system(&the, "send"), *to = stage_system(&the, "receive");
    reef_event_reader r = reef_event_reader_new(w, reef_id(Hit));
    run_sender(w, from, 0, 3000);
    phase_ends(w);
    run_receiver(w, to, 0, 3000);
    phase_ends(w);
    assert_int_equal(waiting(w), 3000); /* for r */
    run_sender(w, from, 3000, 700);
    phase_ends(w);
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    stage_fork(&its, &the, fork);
    assert_int_equal(waiting(w), 3700);
    assert_int_equal(waiting(fork), 700);
    assert_int_equal(reef_hash(fork), reef_hash(w));
    assert_true(reef_equal(w, fork, NULL));
    assert_refused(fork, REEF_OTHER_WORLD, reef_event_reader_free(fork, r));
    assert_true(reef__events_ready(fork));
    run_sender(fork, stage_system(&its, "send"), 3700, 50);
    run_receiver(fork, stage_system(&its, "receive"), 3000, 750);
    phase_ends(fork);
    assert_int_not_equal(reef_hash(fork), reef_hash(w));
    run_sender(w, from, 3700, 1000);
    run_receiver(w, to, 3000, 1700);
    phase_ends(w);
    assert_int_equal(reef_hash(fork), reef_hash(w)); /* nobody is behind */
    for (uint32_t i = 0; i < 4700; i++) {
        Hit hit;
        assert_true(reef_event_next(w, r, &hit));
        assert_int_equal(hit.number, i);
    }
    assert_valid(w);
    assert_valid(fork);
    reef_world_free(fork);
}

static void a_restore_brings_events_and_readers_back(void **f)
{
    reef_world *w = world_of(f);
    Hit hit;
    sender_and_receiver(w);
    struct system *from = stage_system(&the, "send"), *to = stage_system(&the, "receive");
    reef_event_reader r = reef_event_reader_new(w, reef_id(Hit));
    run_sender(w, from, 0, 1000);
    phase_ends(w);
    run_receiver(w, to, 0, 1000);
    run_sender(w, from, 1000, 500);
    phase_ends(w);
    for (uint32_t i = 0; i < 300; i++) assert_true(reef_event_next(w, r, NULL));
    const uint64_t hash = reef_hash(w);
    reef_snapshot *s = reef_snapshot_take(w);
    assert_non_null(s);
    for (uint32_t round = 0; round < 3; round++) {
        reef_event_reader late = reef_event_reader_new(w, reef_id(Hit));
        run_sender(w, from, 1500, 4000 * round);
        phase_ends(w);
        run_receiver(w, to, 1000, 500 + 4000 * round);
        while (reef_event_next(w, r, &hit)) {}
        if (round == 1) run_sender(w, from, 9, 9); /* in flight: of the state that is left */
        if (round == 2) assert_true(stage_add(&the, w, "new", TOUCHES(RECEIVES(Hit))));
        assert_ok(reef_restore(w, s));
        assert_valid(w);
        assert_int_equal(reef_hash(w), hash);
        assert_int_equal(waiting(w), 1200);
        assert_false(reef_event_next(w, late, &hit));
        assert_ok(reef_event_reader_free(w, late));
        assert_true(reef_event_next(w, r, &hit));
        assert_int_equal(hit.number, 300);
        assert_ok(reef_restore(w, s));
    }
    assert_true(reef__events_ready(w));
    run_receiver(w, stage_system(&the, "new"), 0, 0); /* not there then: from now on */
    run_sender(w, from, 1500, 2);
    run_receiver(w, stage_system(&the, "new"), 1500, 2);
    run_receiver(w, to, 1000, 502);
    phase_ends(w);
    reef_snapshot_free(s);
}

static void a_restore_may_bring_back_a_system_that_is_gone(void **f)
{
    reef_world *w = world_of(f);
    sender_and_receiver(w);
    run_sender(w, stage_system(&the, "send"), 0, 10);
    phase_ends(w);
    const uint64_t hash = reef_hash(w);
    reef_snapshot *s = reef_snapshot_take(w);
    stage_remove_last(&the, w);
    assert_int_equal(waiting(w), 0);
    assert_int_not_equal(reef_hash(w), hash);
    assert_ok(reef_restore(w, s));
    assert_int_equal(reef_hash(w), hash);
    assert_int_equal(waiting(w), 10);
    assert_true(reef__events_ready(w)); /* nobody is there to read them */
    assert_int_equal(waiting(w), 0);
    assert_valid(w);
    reef_snapshot_free(s);
}

/* ---- the hash ---- */

/* A world with the systems of `the`, of which `receive` and `slow` read hits that wait: `lag` and `slow_lag` of
 * them. */
static void behind(stage *s, reef_world *w, uint32_t before, uint32_t lag, uint32_t slow_lag)
{
    stage_open(s, w);
    const char *names[] = {"receive", "slow"};
    const uint32_t first = before % 2; /* in whatever order they were added */
    for (uint32_t i = 0; i < 2; i++) assert_true(stage_add(s, w, names[i ^ first], TOUCHES(RECEIVES(Hit))));
    assert_true(stage_add(s, w, "send", TOUCHES(SENDS(Hit))));
    const uint32_t most = lag > slow_lag ? lag : slow_lag, least = lag + slow_lag - most;
    run_sender(w, stage_system(s, "send"), 0, before);
    for (uint32_t i = 0; i < 2; i++) run_receiver(w, stage_system(s, names[i]), 0, before);
    phase_ends(w);
    run_sender(w, stage_system(s, "send"), 0, most - least);
    if (lag < slow_lag) run_receiver(w, stage_system(s, "receive"), 0, most - least);
    if (slow_lag < lag) run_receiver(w, stage_system(s, "slow"), 0, most - least);
    phase_ends(w);
    run_sender(w, stage_system(s, "send"), most - least, least);
    phase_ends(w);
}

static void the_hash_knows_what_waits_and_not_what_was(void **f)
{
    static stage its;
    for (uint32_t before = 0; before < 5000; before += 1237) {
        reef_world *w = another_world(f, NULL), *v = another_world(f, NULL);
        behind(&the, w, before, 700, 0);
        behind(&its, v, 2000 - before / 3, 700, 0);
        assert_int_equal(reef_hash(w), reef_hash(v));
        assert_true(reef_equal(w, v, NULL));
        end_world(f, w);
        end_world(f, v);
    }
}

static void differ(reef_world *w, reef_world *v, uint64_t row, const char *wanted)
{
    reef_difference d;
    char text[256];
    assert_int_not_equal(reef_hash(w), reef_hash(v));
    assert_false(reef_equal(w, v, &d));
    assert_int_equal(d.kind, REEF_HASH_EVENTS);
    assert_int_equal(d.component.id, reef_id(Hit).id);
    assert_true(d.row == row);
    reef_difference_text(&d, text, sizeof text);
    assert_string_equal(text, wanted);
    assert_false(reef_equal(v, w, &d));
    assert_true(d.row == row);
}

static void events_and_how_far_systems_are_make_a_difference(void **f)
{
    static stage its;
    const struct {
        uint32_t lag, slow;
        uint64_t row;
        const char *text;
    } other[] = {
        {7, 0, 5, "The events Hit differ: number 5 of those that wait"},
        {0, 0, 0, "The events Hit differ: number 0 of those that wait"},
        {0, 5, UINT64_MAX, "The events Hit differ: a system has read more of them or fewer"},
        {5, 2, UINT64_MAX, "The events Hit differ: a system has read more of them or fewer"},
        {5, 5, UINT64_MAX, "The events Hit differ: a system has read more of them or fewer"},
    };
    for (uint32_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        reef_world *w = another_world(f, NULL), *v = another_world(f, NULL);
        behind(&the, w, 0, 5, 0);
        behind(&its, v, 0, other[i].lag, other[i].slow);
        differ(w, v, other[i].row, other[i].text);
        end_world(f, w);
        end_world(f, v);
    }
    reef_world *w = another_world(f, NULL), *v = another_world(f, NULL);
    behind(&the, w, 0, 5, 0);
    behind(&its, v, 0, 5, 0);
    assert_ok(reef_post(w, Hit, .number = 5));
    assert_ok(reef_post(v, Hit, .number = 5, .more = 1));
    assert_ok(reef_post(w, Hit, .number = 6));
    assert_ok(reef_post(v, Hit, .number = 6));
    differ(w, v, 5, "The events Hit differ: number 5 of those that wait");
}

static void bytes_between_the_fields_of_events_do_not_count(void **f)
{
    static stage its;
    reef_world *world[2] = {world_of(f), another_world(f, NULL)};
    for (uint32_t i = 0; i < 2; i++) {
        stage *s = i ? &its : &the;
        Padded value;
        stage_open(s, world[i]);
        assert_true(stage_add(s, world[i], "receive", TOUCHES(RECEIVES(Padded))));
        memset(&value, i ? 0xAA : 0x55, sizeof value);
        value.kind = 1;
        value.number = 2;
        assert_ok(reef_post_id(world[i], reef_id(Padded), &value, sizeof value));
    }
    assert_int_equal(reef_hash(world[0]), reef_hash(world[1]));
    assert_true(reef_equal(world[0], world[1], NULL));
}

static bool find_events(void *context, const reef_hash_part *part)
{
    reef_hash_part *found = context;
    if (part->kind == REEF_HASH_EVENTS) *found = *part;
    return true;
}

static void events_are_a_part_of_the_hash(void **f)
{
    reef_world *w = world_of(f);
    reef_hash_part part = {0};
    const uint64_t before = reef_hash(w);
    behind(&the, w, 100, 0, 0);
    assert_int_equal(reef_hash(w), before);
    assert_int_equal(reef_hash_parts(w, find_events, &part), before);
    assert_int_equal(part.kind, 0);
    assert_ok(reef_post(w, Hit, .number = 5));
    assert_int_not_equal(reef_hash(w), before);
    assert_int_equal(reef_hash_parts(w, find_events, &part), reef_hash(w));
    assert_int_equal(part.kind, REEF_HASH_EVENTS);
    assert_int_equal(part.component.id, reef_id(Hit).id);
    assert_int_equal(part.rows, 1);
}

static void printing_a_world_counts_the_events_that_wait(void **f)
{
    static const char wanted[] =
        "world: entities 0, without components 0, tables 0, names 0\n  events Hit: 7\n  events Odd: 1\n";
    reef_world *w = world_of(f);
    char text[512];
    FILE *file = tmpfile();
    assert_non_null(file);
    behind(&the, w, 100, 7, 3);
    assert_true(stage_add(&the, w, "odd", TOUCHES(RECEIVES(Odd))));
    assert_ok(reef_post(w, Odd, .number = 1));
    assert_true(reef_print_world(w, file, 10));
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    assert_string_equal(text, wanted);
    fclose(file);
}

/* A fork may be made before a system has ended: events in flight then belong to the state of both worlds, and neither
 * loses them. */
static void a_fork_between_a_systems_beginning_and_its_end_sees_the_same(void **f)
{
    static stage its;
    reef_world *w = world_of(f);
    sender_and_receiver(w);
    struct system *from = stage_system(&the, "send"), *to = stage_system(&the, "receive");
    stage_job x, y;
    run_sender(w, from, 0, 700);
    phase_ends(w);
    run_sender(w, from, 700, 3000);
    job_open(&x, w, to);
    reef__events_begin(w, to);
    reef_world *fork = reef_fork(w);
    assert_non_null(fork);
    stage_fork(&its, &the, fork);
    job_open(&y, fork, stage_system(&its, "receive"));
    assert_int_equal(reef_receive(&y.block, Hit).count, 0); /* it wasn't made ready */
    assert_true(reef__events_ready(fork));
    reef__events_begin(fork, stage_system(&its, "receive"));
    sees(&y.block, 0, 3700);
    sees(&x.block, 0, 3700);
    run_sender(w, from, 3700, 2000); /* takes the chunks in which those were */
    sees(&x.block, 0, 3700);
    reef__events_end(w, to);
    run_receiver(w, to, 3700, 2000);
    phase_ends(w);
    job_close(&x);
    job_close(&y);
    assert_valid(fork);
    reef_world_free(fork);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_fork_has_the_events_and_not_the_readers_of_the_host),
        TEST(a_fork_between_a_systems_beginning_and_its_end_sees_the_same),
        TEST(a_restore_brings_events_and_readers_back),
        TEST(a_restore_may_bring_back_a_system_that_is_gone),
        TEST(the_hash_knows_what_waits_and_not_what_was),
        TEST(events_and_how_far_systems_are_make_a_difference),
        TEST(bytes_between_the_fields_of_events_do_not_count),
        TEST(events_are_a_part_of_the_hash),
        TEST(printing_a_world_counts_the_events_that_wait),
    };
    return cmocka_run_group_tests_name("event_state", tests, NULL, NULL);
}
