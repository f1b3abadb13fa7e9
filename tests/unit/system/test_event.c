/* Events (D7): in the order of their sending, once for each reader, kept until the slowest has run; in forks,
 * snapshots, hashes. */
#include "storage/event_log.h"
#include "system/schedule.h"
#include "system/phase.h"
#include "event_stage.h"

/* ---- order ---- */

static void events_come_in_the_order_of_jobs_and_calls(void **f)
{
    enum { JOBS = 4, EACH = 9000 }; /* several chunks */
    reef_world *w = world_of(f);
    stage_job jobs[JOBS];
    job plain[JOBS];
    sender_and_receiver(w);
    for (uint32_t k = 0; k < JOBS; k++) job_open(&jobs[k], w, stage_system(&the, "send"));
    for (uint32_t i = 0; i < EACH; i++)
        for (uint32_t k = JOBS; k-- > 0;) assert_ok(reef_send(&jobs[k].block, Hit, .number = k * EACH + i));
    for (uint32_t k = 0; k < JOBS; k++) plain[k] = jobs[k].job;
    reef__events_gather(w, plain, JOBS, reef_id(Odd).id); /* it sends none of these */
    run_receiver(w, stage_system(&the, "receive"), 0, 0);
    reef__events_gather(w, plain, JOBS, reef_id(Hit).id);
    assert_valid(w);
    run_receiver(w, stage_system(&the, "receive"), 0, JOBS * EACH);
    run_receiver(w, stage_system(&the, "receive"), 0, 0);
    phase_ends(w);
    assert_int_equal(waiting(w), 0);
    for (uint32_t k = 0; k < JOBS; k++) job_close(&jobs[k]);
}

static void events_are_handed_out_as_arrays(void **f)
{
    reef_world *w = world_of(f);
    sender_and_receiver(w);
    struct system *to = stage_system(&the, "receive");
    run_sender(w, stage_system(&the, "send"), 0, 1000);
    phase_ends(w); /* from pages now */
    run_sender(w, stage_system(&the, "send"), 1000, 1000);
    stage_job x;
    job_open(&x, w, to);
    reef__events_begin(w, to);
    reef_events r = reef_receive(&x.block, Hit);
    uint32_t n, next = 0, runs = 0;
    assert_int_equal(((const Hit *)reef_next_event(&r))->number, next++);
    for (const Hit *h; (h = reef_event_run(&r, &n)) != NULL; runs++) {
        assert_true(n > 0);
        assert_int_equal((uintptr_t)h % REEF_ALIGNOF(Hit), 0);
        for (uint32_t i = 0; i < n; i++) assert_int_equal(h[i].number, next++);
    }
    assert_int_equal(next, 2000);
    assert_int_equal(n, 0);
    assert_true(runs > 2 && runs < 10);
    assert_null(reef_next_event(&r));
    reef__events_end(w, to);
    job_close(&x);
}

static void a_run_sees_what_was_there_when_it_began(void **f)
{
    reef_world *w = world_of(f);
    sender_and_receiver(w);
    struct system *from = stage_system(&the, "send"), *to = stage_system(&the, "receive");
    stage_job x;
    run_sender(w, from, 0, 10);
    job_open(&x, w, to);
    reef__events_begin(w, to);
    sees(&x.block, 0, 10);
    run_sender(w, from, 10, 5000);
    sees(&x.block, 0, 10);
    reef__events_end(w, to);
    run_receiver(w, to, 10, 5000);
    phase_ends(w);
    assert_int_equal(waiting(w), 0);
    job_close(&x);
}

/* ---- readers ---- */

static void each_system_sees_each_event_once(void **f)
{
    reef_world *w = world_of(f);
    stage_open(&the, w);
    assert_true(stage_add(&the, w, "before", TOUCHES(RECEIVES(Hit))));
    assert_true(stage_add(&the, w, "send", TOUCHES(SENDS(Hit))));
    assert_true(stage_add(&the, w, "after", TOUCHES(RECEIVES(Hit))));
    assert_true(stage_add(&the, w, "seldom", TOUCHES(RECEIVES(Hit), RECEIVES(Odd))));
    uint32_t sent = 0, seldom = 0, earlier = 0;
    for (uint32_t tick = 0; tick < 40; tick++) {
        const uint32_t n = tick * 97 % 700;
        assert_true(reef__events_ready(w));
        run_receiver(w, stage_system(&the, "before"), sent - earlier, earlier);
        run_sender(w, stage_system(&the, "send"), sent, n);
        run_receiver(w, stage_system(&the, "after"), sent, n);
        sent += n;
        earlier = n;
        if (tick % 7 == 6) {
            run_receiver(w, stage_system(&the, "seldom"), seldom, sent - seldom);
            seldom = sent;
        }
        phase_ends(w);
        assert_int_equal(waiting(w), sent - seldom > n ? sent - seldom : n);
    }
    stage_remove_last(&the, w);
    assert_int_equal(waiting(w), earlier);
    assert_valid(w);
}

static void a_system_sees_what_it_sent_itself_in_its_next_run(void **f)
{
    reef_world *w = world_of(f);
    stage_open(&the, w);
    assert_true(stage_add(&the, w, "echo", TOUCHES(RECEIVES(Hit), SENDS(Hit))));
    struct system *s = stage_system(&the, "echo");
    for (uint32_t tick = 0; tick < 5; tick++) {
        stage_job x;
        job_open(&x, w, s);
        reef__events_begin(w, s);
        sees(&x.block, tick - 1, tick > 0);
        assert_ok(reef_send(&x.block, Hit, .number = tick));
        sees(&x.block, tick - 1, tick > 0);
        reef__events_end(w, s);
        reef__events_gather(w, &x.job, 1, 0);
        phase_ends(w);
        job_close(&x);
    }
}

static void without_readers_events_are_dropped_when_the_phase_ends(void **f)
{
    reef_world *w = world_of(f);
    stage_open(&the, w);
    assert_true(stage_add(&the, w, "send", TOUCHES(SENDS(Hit))));
    run_sender(w, stage_system(&the, "send"), 0, 1000);
    phase_ends(w);
    assert_int_equal(waiting(w), 0);
    assert_ok(reef_post(w, Hit, .number = 1));
    assert_int_equal(waiting(w), 0);
    struct system once = *stage_system(&the, "send"); /* one that nobody follows */
    once.touches = (reef_touch[]){SENDS(Odd)};
    stage_job x;
    job_open(&x, w, &once);
    for (uint32_t i = 0; i < 1000; i++) assert_ok(reef_send(&x.block, Odd, .number = i));
    reef__events_gather(w, &x.job, 1, 0);
    job_close(&x);
    phase_ends(w);
    assert_int_equal(waiting(w), 0);
    assert_true(stage_add(&the, w, "receive", TOUCHES(RECEIVES(Hit))));
    run_receiver(w, stage_system(&the, "receive"), 0, 0); /* it came later */
    run_sender(w, stage_system(&the, "send"), 5, 3);
    run_receiver(w, stage_system(&the, "receive"), 5, 3);
    phase_ends(w);
}

static void a_system_that_becomes_another_goes_on_reading(void **f)
{
    reef_world *w = world_of(f);
    sender_and_receiver(w);
    struct system *to = stage_system(&the, "receive");
    run_sender(w, stage_system(&the, "send"), 0, 4);
    phase_ends(w);
    to->touches[0] = (reef_touch)RECEIVES(Odd);
    to->touches[1] = (reef_touch)RECEIVES(Hit);
    to->touch_count = 2;
    assert_true(reef__events_follow(w, to));
    assert_valid(w);
    run_receiver(w, to, 0, 4);
    run_sender(w, stage_system(&the, "send"), 4, 4);
    phase_ends(w);
    assert_int_equal(waiting(w), 4);
    to->touch_count = 1; /* no hits any more */
    assert_true(reef__events_follow(w, to));
    run_sender(w, stage_system(&the, "send"), 8, 4);
    phase_ends(w);
    assert_int_equal(waiting(w), 0);
}

static void tags_are_counted(void **f)
{
    reef_world *w = world_of(f);
    stage_job x, y;
    uint32_t n;
    stage_open(&the, w);
    assert_true(stage_add(&the, w, "ring", TOUCHES(SENDS(Bell))));
    assert_true(stage_add(&the, w, "hear", TOUCHES(RECEIVES(Bell))));
    job_open(&x, w, stage_system(&the, "ring"));
    job_open(&y, w, stage_system(&the, "hear"));
    for (uint32_t round = 1; round < 4; round++) {
        for (uint32_t i = 0; i < round; i++) assert_ok(reef_send_tag(&x.block, Bell));
        reef__events_gather(w, &x.job, 1, 0);
        if (round % 2) phase_ends(w);
        reef__events_begin(w, y.job.system);
        reef_events r = reef_receive(&y.block, Bell), again = r;
        assert_int_equal(r.count, round);
        assert_non_null(reef_event_run(&r, &n));
        assert_int_equal(n, round);
        assert_null(reef_event_run(&r, &n));
        for (n = 0; reef_next_event(&again);) n++;
        assert_int_equal(n, round);
        reef__events_end(w, y.job.system);
        phase_ends(w);
        assert_int_equal(waiting(w), 0);
    }
    job_close(&x);
    job_close(&y);
}

/* ---- the host ---- */

static void the_host_posts_and_reads(void **f)
{
    reef_world *w = world_of(f);
    Odd odd;
    stage_open(&the, w);
    assert_true(stage_add(&the, w, "receive", TOUCHES(RECEIVES(Hit))));
    reef_event_reader r = reef_event_reader_new(w, reef_id(Odd)), late;
    assert_false(reef_event_reader_is_null(r));
    assert_false(reef_event_next(w, r, &odd));
    for (uint32_t i = 0; i < 3000; i++) {
        assert_ok(reef_post(w, Odd, .number = i));
        assert_ok(reef_post(w, Hit, .number = i));
    }
    late = reef_event_reader_new(w, reef_id(Odd));
    assert_valid(w);
    run_receiver(w, stage_system(&the, "receive"), 0, 3000);
    phase_ends(w);
    assert_int_equal(waiting(w), 3000);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(reef_event_next(w, r, i % 2 ? &odd : NULL));
        if (i % 2) assert_int_equal(odd.number, i);
    }
    assert_int_equal(waiting(w), 2000);
    assert_false(reef_event_next(w, late, &odd));
    assert_ok(reef_post(w, Odd, .number = 3000));
    assert_true(reef_event_next(w, late, &odd));
    assert_int_equal(odd.number, 3000);
    assert_int_equal(waiting(w), 2001);
    assert_ok(reef_event_reader_free(w, r));
    assert_int_equal(waiting(w), 0);
    assert_refused(w, REEF_NOT_ALIVE, reef_event_reader_free(w, r));
    assert_valid(w);
}

static void a_reader_of_the_host_sees_what_systems_send(void **f)
{
    reef_world *w = world_of(f);
    Hit hit;
    sender_and_receiver(w);
    reef_event_reader r = reef_event_reader_new(w, reef_id(Hit));
    run_sender(w, stage_system(&the, "send"), 0, 2);
    run_receiver(w, stage_system(&the, "receive"), 0, 2);
    phase_ends(w);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(reef_event_next(w, r, &hit));
        assert_int_equal(hit.number, i);
    }
    assert_false(reef_event_next(w, r, &hit));
    assert_int_equal(waiting(w), 0);
}

/* ---- the bound ---- */

static void of_more_than_the_bound_the_oldest_are_dropped(void **f)
{
    reef_world *w = world_of(f);
    Hit hit;
    sender_and_receiver(w);
    struct system *from = stage_system(&the, "send"), *to = stage_system(&the, "receive");
    reef_event_reader r = reef_event_reader_new(w, reef_id(Hit));
    assert_ok(reef_events_bound(w, reef_id(Hit), 10));
    run_sender(w, from, 0, 10);
    phase_ends(w);
    assert_int_equal(waiting(w), 10);
    assert_int_equal(reef_events_missed(w, r), 0);
    run_sender(w, from, 10, 1);
    phase_ends(w);
    assert_int_equal(waiting(w), 10);
    assert_int_equal(reef_events_missed(w, r), 1);
    run_sender(w, from, 11, 100); /* more than all that is kept */
    run_receiver(w, to, 1, 110);  /* in the phase itself everything is there but what was dropped before */
    phase_ends(w);
    assert_int_equal(waiting(w), 10);
    assert_int_equal(reef_events_missed(w, r), 101);
    assert_true(reef_event_next(w, r, &hit));
    assert_int_equal(hit.number, 101);
    assert_int_equal(reef_events_missed(w, r), 0);
    run_sender(w, from, 111, 25);
    phase_ends(w);
    stage_job x;
    job_open(&x, w, to);
    reef__events_begin(w, to);
    assert_int_equal(reef_receive(&x.block, Hit).missed, 15);
    sees(&x.block, 126, 10);
    reef__events_end(w, to);
    reef__events_begin(w, to);
    assert_int_equal(reef_receive(&x.block, Hit).missed, 0);
    reef__events_end(w, to);
    job_close(&x);
    assert_ok(reef_events_bound(w, reef_id(Hit), 3));
    assert_int_equal(waiting(w), 3);
    assert_refused(w, REEF_BAD_ARGUMENT, reef_events_bound(w, reef_id(Hit), 0));
    assert_valid(w);
}

static void the_bound_at_its_edge_unless_said_otherwise(void **f)
{
    reef_world *w = world_of(f);
    reef_event_reader r = reef_event_reader_new(w, reef_id(Bell));
    for (uint32_t i = 0; i < REEF_EVENTS_BOUND; i++) (void)reef_post_tag(w, Bell);
    assert_int_equal(waiting(w), REEF_EVENTS_BOUND);
    assert_int_equal(reef_events_missed(w, r), 0);
    assert_ok(reef_post_tag(w, Bell));
    assert_int_equal(waiting(w), REEF_EVENTS_BOUND);
    assert_int_equal(reef_events_missed(w, r), 1);
}

/* ---- refusals ---- */

static void what_is_not_declared_is_refused(void **f)
{
    reef_world *w = world_of(f);
    stage_job x;
    sender_and_receiver(w);
    job_open(&x, w, stage_system(&the, "send"));
    assert_int_equal(reef_receive(&x.block, Hit).count, 0);
    assert_int_equal(x.job.error.status, REEF_UNDECLARED);
    assert_string_equal(x.job.error.operation, "reef_receive");
    assert_string_equal(x.job.error.system, "send");
    memset(&x.job.error, 0, sizeof x.job.error);
    assert_status(REEF_UNDECLARED, reef_send(&x.block, Odd, .number = 1));
    assert_string_equal(x.job.error.operation, "reef_send");
    assert_int_equal(x.job.error.component.id, reef_id(Odd).id);
    assert_status(REEF_WRONG_SIZE, reef_send_id(&x.block, reef_id(Hit), "", 1));
    assert_status(REEF_BAD_ARGUMENT, reef_send_id(&x.block, reef_id(Hit), NULL, sizeof(Hit)));
    assert_int_equal(x.job.error.status, REEF_UNDECLARED); /* the first is kept */
    assert_ok(reef_send(&x.block, Hit, .number = 1));
    assert_status(REEF_WRONG_SIZE, reef_send_id(&x.block, reef_id(Hit), &(Hit){.number = 1}, sizeof(Hit) - 4));
    assert_status(REEF_UNDECLARED, reef_send(&x.block, Odd, .number = 1));
    reef__events_gather(w, &x.job, 1, 0);
    run_receiver(w, stage_system(&the, "receive"), 1, 1);
    job_close(&x);
    phase_ends(w);
    reef_block outside = {.world = w};
    assert_int_equal(reef_receive(&outside, Hit).count, 0);
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
}

static void a_block_of_a_loop_of_your_own_posts(void **f)
{
    reef_world *w = world_of(f);
    Hit hit;
    reef_event_reader r = reef_event_reader_new(w, reef_id(Hit));
    (void)reef_spawn(w, reef_with(Mass, 1));
    for (reef_block b = reef_begin_text(w, "Mass"); reef_next(&b);)
        assert_ok(reef_send(&b, Hit, .who = b.entities[0], .number = 3));
    assert_true(reef_event_next(w, r, &hit));
    assert_int_equal(hit.number, 3);
}

static void types_that_can_not_be_events_are_refused(void **f)
{
    reef_world *w = world_of(f), *strict = another_world(f, &(reef_world_config){.strict = true});
    static uint8_t bytes[2 * REEF_EVENT_SIZE_MAX];
    reef_component larger = numbered_type("larger", 1, REEF_EVENT_SIZE_MAX + 4, 4);
    reef_component aligned = numbered_type("aligned", 1, 128, 128),
                   largest = numbered_type("largest", 1, REEF_EVENT_SIZE_MAX, 64);
    assert_refused(w, REEF_LIMIT, reef_post_id(w, larger, bytes, REEF_EVENT_SIZE_MAX + 4));
    assert_refused(w, REEF_LIMIT, reef_post_id(w, aligned, bytes, 128));
    assert_refused(w, REEF_NOT_COPYABLE, reef_post_id(w, reef_id(Tracked), bytes, sizeof(Tracked)));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_post_id(w, (reef_component){0}, bytes, 0));
    assert_refused(strict, REEF_UNKNOWN_TYPE, reef_post(strict, Hit, .number = 1));
    assert_refused(w, REEF_WRONG_SIZE, reef_post_id(w, reef_id(Hit), bytes, sizeof(Hit) + 1));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_post_id(w, reef_id(Hit), NULL, sizeof(Hit)));
    assert_status(REEF_BAD_ARGUMENT, reef_post(NULL, Hit, .number = 1));
    assert_true(reef_event_reader_is_null(reef_event_reader_new(w, larger)));
    assert_int_equal(reef_last_error(w).status, REEF_LIMIT);
    assert_true(reef_event_reader_is_null(reef_event_reader_new(w, reef_id(Tracked))));
    assert_int_equal(reef_last_error(w).status, REEF_NOT_COPYABLE);
    assert_refused(w, REEF_LIMIT, reef_events_bound(w, aligned, 1));
    stage_open(&the, w);
    const reef_touch touches[] = {{REEF_SENDS, larger}, {REEF_SENDS, largest}, {REEF_RECEIVES, largest}, {0}};
    assert_true(stage_add(&the, w, "large", touches));
    stage_job x;
    uint32_t n = 0;
    job_open(&x, w, stage_system(&the, "large"));
    assert_status(REEF_LIMIT, reef_send_id(&x.block, larger, bytes, REEF_EVENT_SIZE_MAX + 4));
    for (uint32_t i = 0; i < 100; i++) {
        memset(bytes, (int)i, REEF_EVENT_SIZE_MAX);
        assert_ok(reef_send_id(&x.block, largest, bytes, REEF_EVENT_SIZE_MAX));
    }
    reef__events_gather(w, &x.job, 1, 0);
    for (uint32_t round = 0; round < 2; round++) { /* from chunks, from pages */
        reef__events_begin(w, x.job.system);
        reef_events r = reef_receive_id(&x.block, largest);
        n = 0;
        for (const uint8_t *p; (p = reef_next_event(&r)) != NULL; n++) {
            assert_int_equal((uintptr_t)p % 64, 0);
            assert_int_equal(p[0], n);
            assert_int_equal(p[REEF_EVENT_SIZE_MAX - 1], n);
        }
        assert_int_equal(n, 100);
        phase_ends(w);
    }
    job_close(&x);
}

static void readers_of_the_host_that_are_not_there_are_refused(void **f)
{
    reef_world *w = world_of(f), *other = another_world(f, NULL);
    reef_event_reader r = reef_event_reader_new(w, reef_id(Hit)), none = {0, 0, 0};
    assert_ok(reef_event_reader_free(w, none));
    assert_false(reef_event_next(w, none, NULL));
    assert_int_equal(reef_last_error(w).status, REEF_NOT_ALIVE);
    assert_refused(other, REEF_OTHER_WORLD, reef_event_reader_free(other, r));
    /* it reads events */
    assert_refused(w, REEF_NOT_ALIVE, reef_removals_free(w, (reef_removals){r.index, r.generation, r.world}));
    w->running = &reef__phase_running;
    assert_status(REEF_LOCKED, reef_post(w, Hit, .number = 1));
    assert_status(REEF_LOCKED, reef_events_bound(w, reef_id(Hit), 1));
    assert_true(reef_event_reader_is_null(reef_event_reader_new(w, reef_id(Hit))));
    assert_false(reef_event_next(w, r, NULL));
    assert_int_equal(reef_events_missed(w, r), 0);
    w->running = NULL;
    assert_ok(reef_event_reader_free(w, r));
    assert_int_equal(reef_events_missed(w, r), 0);
}

/* ---- memory ---- */

static void a_steady_state_allocates_nothing(void **f)
{
    reef_world *w = world_of(f);
    stage_open(&the, w);
    assert_true(stage_add(&the, w, "early", TOUCHES(RECEIVES(Hit))));
    assert_true(stage_add(&the, w, "send", TOUCHES(SENDS(Hit))));
    assert_true(stage_add(&the, w, "late", TOUCHES(RECEIVES(Hit))));
    uint64_t calls = 0;
    for (uint32_t tick = 0; tick < 20; tick++) {
        if (tick == 5) calls = heap_of(f)->calls;
        assert_true(reef__events_ready(w));
        run_receiver(w, stage_system(&the, "early"), (tick - 1) * 20000, tick ? 20000 : 0);
        run_sender(w, stage_system(&the, "send"), tick * 20000, 20000);
        run_receiver(w, stage_system(&the, "late"), tick * 20000, 20000);
        phase_ends(w);
    }
    assert_int_equal(heap_of(f)->calls, calls);
    assert_true(reef_world_stats(w).bytes_events >= 40000 * sizeof(Hit));
    run_receiver(w, stage_system(&the, "early"), 19 * 20000, 20000);
    phase_ends(w);
    assert_ok(reef_shrink(w));
    assert_true(reef_world_stats(w).bytes_events < 4096);
}

static void without_memory_for_what_waits_it_stays_and_comes_later(void **f)
{
    reef_world *w = world_of(f);
    Hit hit;
    sender_and_receiver(w);
    reef_event_reader r = reef_event_reader_new(w, reef_id(Hit));
    run_sender(w, stage_system(&the, "send"), 0, 3000);
    heap_fail_nth(heap_of(f), 1, true);
    assert_int_equal(reef__events_keep(w), REEF_NO_MEMORY);
    assert_valid(w);
    assert_null(reef_snapshot_take(w));
    assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
    assert_status(REEF_NO_MEMORY, reef_post(w, Hit, .number = 1));
    for (uint32_t i = 0; i < 100; i++) {
        assert_true(reef_event_next(w, r, &hit));
        assert_int_equal(hit.number, i);
    }
    heap_fail_never(heap_of(f));
    run_sender(w, stage_system(&the, "send"), 3000, 500);
    run_receiver(w, stage_system(&the, "receive"), 0, 3500);
    const uint64_t hash = reef_hash(w);
    phase_ends(w);
    assert_int_equal(reef_hash(w), hash);
    assert_int_equal(waiting(w), 3400);
    for (uint32_t i = 100; i < 3500; i++) {
        assert_true(reef_event_next(w, r, &hit));
        assert_int_equal(hit.number, i);
    }
}

static void without_memory_a_send_is_refused_and_nothing_else_changes(void **f)
{
    reef_world *w = world_of(f);
    stage_job x;
    sender_and_receiver(w);
    job_open(&x, w, stage_system(&the, "send"));
    heap_fail_nth(heap_of(f), 1, true);
    assert_status(REEF_NO_MEMORY, reef_send(&x.block, Hit, .number = 1));
    assert_int_equal(x.job.error.status, REEF_NO_MEMORY);
    heap_fail_never(heap_of(f));
    uint32_t sent = 0;
    while (sent < 20) assert_ok(reef_send(&x.block, Hit, .number = sent++));
    heap_fail_nth(heap_of(f), 1, true);
    while (reef_send(&x.block, Hit, .number = sent) == REEF_OK) sent++; /* until the chunk is full */
    heap_fail_never(heap_of(f));
    assert_ok(reef_send(&x.block, Hit, .number = sent++));
    reef__events_gather(w, &x.job, 1, 0);
    run_receiver(w, stage_system(&the, "receive"), 0, sent);
    phase_ends(w);
    job_close(&x);
}

/* ---- against a naive list ---- */

enum { NAIVE_READERS = 4 };

typedef struct naive {
    uint32_t sent, kept, bound;    /* numbers kept ... sent - 1 */
    uint32_t place[NAIVE_READERS]; /* the first two are systems, the others the host's */
} naive;

static void naive_trim(naive *n)
{
    uint32_t keep = n->sent;
    for (uint32_t i = 0; i < NAIVE_READERS; i++)
        if (n->place[i] < keep) keep = n->place[i];
    if (n->sent - keep > n->bound) keep = n->sent - n->bound;
    if (keep > n->kept) n->kept = keep;
}

static void naive_run(reef_world *w, naive *n, uint32_t k, const char *name)
{
    struct system *s = stage_system(&the, name);
    stage_job x;
    const uint32_t first = n->place[k] > n->kept ? n->place[k] : n->kept;
    job_open(&x, w, s);
    reef__events_begin(w, s);
    assert_int_equal(reef_receive(&x.block, Hit).missed, first - n->place[k]);
    sees(&x.block, first, n->sent - first);
    reef__events_end(w, s);
    n->place[k] = n->sent;
    job_close(&x);
}

static void naive_host(reef_world *w, naive *n, uint32_t k, reef_event_reader r, uint32_t most)
{
    Hit hit;
    for (; most; most--) {
        const uint32_t first = n->place[k] > n->kept ? n->place[k] : n->kept;
        assert_int_equal(reef_events_missed(w, r), first - n->place[k]);
        const bool there = reef_event_next(w, r, &hit);
        assert_int_equal(there, first < n->sent);
        if (!there) break;
        assert_int_equal(hit.number, first);
        n->place[k] = first + 1;
        naive_trim(n);
    }
}

static void random_runs_agree_with_a_naive_list(void **f)
{
    for (uint64_t seed = 1; seed <= 25; seed++) {
        uint64_t random = seed;
        reef_world *w = another_world(f, NULL);
        reef_snapshot *s = NULL;
        naive now = {.bound = REEF_EVENTS_BOUND}, then = now;
        stage_open(&the, w);
        assert_true(stage_add(&the, w, "a", TOUCHES(RECEIVES(Hit))));
        assert_true(stage_add(&the, w, "send", TOUCHES(SENDS(Hit))));
        assert_true(stage_add(&the, w, "b", TOUCHES(RECEIVES(Hit))));
        reef_event_reader r[2] = {reef_event_reader_new(w, reef_id(Hit)), reef_event_reader_new(w, reef_id(Hit))};
        for (uint32_t step = 0; step < 300; step++) {
            const uint32_t n = random_below(&random, random_below(&random, 8) ? 40 : 6000);
            switch (random_below(&random, 9)) {
            case 0: naive_run(w, &now, 0, "a"); break;
            case 1: naive_run(w, &now, 1, "b"); break;
            case 2:
            case 3:
                run_sender(w, stage_system(&the, "send"), now.sent, n);
                now.sent += n;
                continue; /* the phase goes on */
            case 4: phase_ends(w), naive_trim(&now), naive_host(w, &now, 2, r[0], n); break;
            case 5: phase_ends(w), naive_trim(&now), naive_host(w, &now, 3, r[1], UINT32_MAX); break;
            case 6:
                phase_ends(w), naive_trim(&now);
                for (uint32_t i = 0; i < n % 40; i++)
                    assert_ok(reef_post(w, Hit, .number = now.sent++)), naive_trim(&now);
                break;
            case 7:
                phase_ends(w), naive_trim(&now);
                reef_snapshot_free(s);
                s = reef_snapshot_take(w);
                then = now;
                break;
            default:
                phase_ends(w), naive_trim(&now);
                if (s && random_below(&random, 2)) assert_ok(reef_restore(w, s)), now = then;
                else if (random_below(&random, 4) == 0)
                    assert_ok(reef_events_bound(w, reef_id(Hit), now.bound = n + 1)), naive_trim(&now);
            }
            if (random_below(&random, 2)) phase_ends(w), naive_trim(&now);
        }
        phase_ends(w);
        reef_snapshot_free(s);
        end_world(f, w);
    }
}

REEF_TAG(Knock);

static void hears_knocks(reef_block *b) { (void)b; }

/* A file can tell the positions of events up to a limit. A world behind it is not saved: nobody could load it. */
static void what_could_not_be_loaded_is_not_saved(void **setup)
{
    reef_world *w = world_of(setup), *again = another_world(setup, NULL);
    reef_bytes bytes;
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "ear", .function = hears_knocks, .text = "; receives Knock"})));
    assert_ok(reef_tick(w, 1));
    assert_ok(reef_post_id(w, reef_id(Knock), NULL, 0));
    event_store *knocks = &w->state.events[0];
    const uint64_t ahead = EVENT_POSITION_MAX - knocks->tail;
    assert_int_equal(w->state.event_place_count, 1);
    w->state.event_places[0].position += ahead;
    knocks->head += ahead;
    knocks->tail += ahead;
    assert_ok(reef_save_bytes(w, &bytes, NULL)); /* the last position that can be told */
    assert_ok(reef_load_bytes(again, bytes.data, bytes.size, NULL));
    assert_true(reef_hash(again) == reef_hash(w));
    reef_bytes_free(&bytes);
    assert_ok(reef_post_id(w, reef_id(Knock), NULL, 0));
    const uint64_t hash = reef_hash(w);
    assert_status(REEF_LIMIT, reef_save_bytes(w, &bytes, NULL));
    assert_status(REEF_LIMIT, reef_last_error(w).status);
    assert_true(reef_hash(w) == hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(events_come_in_the_order_of_jobs_and_calls),
        TEST(events_are_handed_out_as_arrays),
        TEST(a_run_sees_what_was_there_when_it_began),
        TEST(each_system_sees_each_event_once),
        TEST(a_system_sees_what_it_sent_itself_in_its_next_run),
        TEST(without_readers_events_are_dropped_when_the_phase_ends),
        TEST(a_system_that_becomes_another_goes_on_reading),
        TEST(tags_are_counted),
        TEST(the_host_posts_and_reads),
        TEST(a_reader_of_the_host_sees_what_systems_send),
        TEST(of_more_than_the_bound_the_oldest_are_dropped),
        TEST(the_bound_at_its_edge_unless_said_otherwise),
        TEST(what_is_not_declared_is_refused),
        TEST(a_block_of_a_loop_of_your_own_posts),
        TEST(types_that_can_not_be_events_are_refused),
        TEST(readers_of_the_host_that_are_not_there_are_refused),
        TEST(a_steady_state_allocates_nothing),
        TEST(without_memory_for_what_waits_it_stays_and_comes_later),
        TEST(without_memory_a_send_is_refused_and_nothing_else_changes),
        TEST(random_runs_agree_with_a_naive_list),
        TEST(what_could_not_be_loaded_is_not_saved),
    };
    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
