/* Events in ticks (D7): systems that send and receive in parallel, phases with steps of their own, worlds as values;
 * events as entities. */
#include "support.h"

typedef struct {
    reef_entity who;
    uint32_t number, more;
} Hit;
typedef struct {
    uint32_t number;
} Cry;
typedef struct {
    uint32_t seed, sum;
} Crab;
typedef struct {
    uint32_t power;
} Blast;
REEF_COMPONENT(Hit);
REEF_COMPONENT(Cry);
REEF_COMPONENT(Crab);
REEF_COMPONENT(Blast);

/* ---- systems ---- */

/* What one system saw: numbers one after the other. */
typedef struct log {
    uint32_t count, runs, missed, number[4096];
} log;

static void hear(reef_block *b)
{
    log *l = b->context;
    reef_events r = reef_receive(b, Hit);
    l->runs++;
    l->missed += (uint32_t)r.missed;
    for (const Hit *h; (h = reef_next_event(&r)) != NULL && l->count < 4096;) l->number[l->count++] = h->number;
}

/* Each run sends two, numbered through. */
static void speak(reef_block *b)
{
    uint32_t *next = b->context;
    for (int i = 0; i < 2; i++) assert_ok(reef_send(b, Hit, .number = (*next)++));
}

static reef_system_id made(reef_world *w, const char *name, void (*f)(reef_block *), const char *text,
                           const char *phase, void *context)
{
    reef_system_id s = reef_system_new(
        w, &(reef_system_desc){.name = name, .function = f, .text = text, .phase = phase, .context = context});
    assert_false(reef_system_is_null(s));
    return s;
}

static void heard_at(const log *l, uint32_t n, int line)
{
    if (l->count != n) fail_msg("line %d: %u heard, not %u", line, l->count, n);
    for (uint32_t i = 0; i < n; i++)
        if (l->number[i] != i) fail_msg("line %d: number %u is %u", line, i, l->number[i]);
}
#define heard(l, n) heard_at(l, n, __LINE__)

static void tick_all(reef_world *w, uint32_t n, float dt)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_ok(reef_tick(w, dt));
        assert_string_equal(reef_last_error(w).operation, "");
    }
}

/* ---- who sees what, and when ---- */

static void later_systems_see_events_in_the_same_tick_and_earlier_ones_in_the_next(void **f)
{
    static log before, after, in_end, in_begin;
    reef_world *w = world_of(f);
    uint32_t next = 0;
    before = after = in_end = in_begin = (log){0};
    made(w, "before", hear, "; receives Hit", NULL, &before);
    made(w, "speak", speak, "; sends Hit", NULL, &next);
    made(w, "after", hear, "; receives Hit", NULL, &after);
    made(w, "in_end", hear, "; receives Hit", "end", &in_end);
    made(w, "in_begin", hear, "; receives Hit", "begin", &in_begin);
    for (uint32_t t = 1; t <= 20; t++) {
        tick_all(w, 1, 0.1f);
        heard(&before, 2 * t - 2);
        heard(&in_begin, 2 * t - 2);
        heard(&after, 2 * t);
        heard(&in_end, 2 * t);
        assert_int_equal(reef_world_stats(w).events, 2);
    }
}

static void a_system_of_a_slower_phase_sees_everything_once(void **f)
{
    static log slow, fast;
    reef_world *w = world_of(f);
    uint32_t next = 0;
    slow = fast = (log){0};
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "seldom", .step_ns = 1000000000}));
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "often", .step_ns = 100000000}));
    made(w, "speak", speak, "; sends Hit", NULL, &next);
    made(w, "slow", hear, "; receives Hit", "seldom", &slow);
    made(w, "fast", hear, "; receives Hit", "often", &fast);
    tick_all(w, 10, 0.375f);
    assert_int_equal(slow.runs, 3);
    heard(&slow, 16); /* the third step came in the eighth tick */
    assert_int_equal(fast.runs, 37);
    heard(&fast, 20);
    assert_int_equal(reef_world_stats(w).events, 4);
}

static void a_system_that_is_off_sees_later_what_it_missed_up_to_the_bound(void **f)
{
    static log l;
    reef_world *w = world_of(f);
    uint32_t next = 0;
    l = (log){0};
    reef_system_id s = made(w, "hear", hear, "; receives Hit", NULL, &l);
    made(w, "speak", speak, "; sends Hit", NULL, &next);
    assert_ok(reef_system_enable(w, s, false));
    tick_all(w, 10, 0);
    assert_ok(reef_system_enable(w, s, true));
    tick_all(w, 1, 0);
    heard(&l, 20);
    assert_int_equal(l.missed, 0);
    assert_ok(reef_events_bound(w, reef_id(Hit), 5));
    assert_ok(reef_system_enable(w, s, false));
    tick_all(w, 10, 0);
    assert_ok(reef_system_enable(w, s, true));
    tick_all(w, 1, 0);
    assert_int_equal(l.missed, 17);
    assert_int_equal(l.count, 25);
    assert_int_equal(l.number[20], 37);
    assert_int_equal(l.number[24], 41);
}

static void a_system_that_is_replaced_goes_on_and_one_that_is_removed_is_not_waited_for(void **f)
{
    static log l, other;
    reef_world *w = world_of(f);
    uint32_t next = 0;
    l = other = (log){0};
    reef_system_id s = made(w, "hear", hear, "; receives Hit", NULL, &l);
    made(w, "speak", speak, "; sends Hit", NULL, &next);
    tick_all(w, 3, 0);
    heard(&l, 4);
    assert_ok(reef_system_replace(
        w, s, &(reef_system_desc){.name = "heed", .function = hear, .text = "; receives Hit Cry", .context = &l}));
    tick_all(w, 1, 0);
    heard(&l, 6);
    assert_int_equal(reef_world_stats(w).events, 2);
    assert_ok(reef_system_remove(w, s));
    assert_int_equal(reef_world_stats(w).events, 0);
    tick_all(w, 1, 0);
    made(w, "late", hear, "; receives Hit", NULL, &other);
    const uint32_t from = next;
    tick_all(w, 3, 0);
    assert_int_equal(other.count, 6);
    for (uint32_t i = 0; i < 6; i++) assert_int_equal(other.number[i], from + i);
}

static void the_host_and_systems_that_run_once_take_part(void **f)
{
    static log l, once;
    reef_world *w = world_of(f);
    uint32_t next = 3;
    Hit hit;
    l = once = (log){0};
    made(w, "hear", hear, "; receives Hit", NULL, &l);
    reef_event_reader r = reef_event_reader_new(w, reef_id(Hit));
    for (uint32_t i = 0; i < 3; i++) assert_ok(reef_post(w, Hit, .number = i));
    assert_ok(reef_system_once(w, &(reef_system_desc){.function = speak, .text = "; sends Hit", .context = &next}, 0));
    assert_ok(
        reef_system_once(w, &(reef_system_desc){.function = hear, .text = "; receives Hit", .context = &once}, 0));
    assert_int_equal(once.count, 0); /* it came after them */
    tick_all(w, 2, 0);
    heard(&l, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(reef_event_next(w, r, &hit));
        assert_int_equal(hit.number, i);
    }
    assert_false(reef_event_next(w, r, &hit));
}

static void send_undeclared(reef_block *b)
{
    assert_status(REEF_UNDECLARED, reef_send(b, Cry, .number = 1));
    assert_status(REEF_LOCKED, reef_post(b->world, Hit, .number = 1));
}

static void receive_undeclared(reef_block *b) { assert_int_equal(reef_receive(b, Cry).count, 0); }

static void undeclared_events_are_the_error_of_the_tick(void **f)
{
    reef_world *w = world_of(f);
    reef_system_id s = made(w, "sly", send_undeclared, "; sends Hit", NULL, NULL);
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    assert_string_equal(reef_last_error(w).system, "sly");
    assert_string_equal(reef_last_error(w).operation, "reef_send");
    assert_ok(reef_system_remove(w, s));
    made(w, "ears", receive_undeclared, "; receives Hit", NULL, NULL);
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    assert_string_equal(reef_last_error(w).operation, "reef_receive");
}

/* ---- threads ---- */

/* Crabs shout in parallel, in jobs; two systems fold what they hear, in order, into a crab of their own. */
static void pinch(reef_block *b)
{
    Crab *c = reef_inout(b, Crab);
    for (uint32_t i = 0; i < b->count; i++) {
        c[i].seed = c[i].seed * 1664525u + 1013904223u;
        if (c[i].seed >> 28 < 3) (void)reef_send(b, Hit, .who = b->entities[i], .number = c[i].seed);
        if (c[i].seed >> 30 == 3) (void)reef_send(b, Cry, .number = c[i].seed);
    }
}

static uint32_t fold_of(const reef_events *events)
{
    uint32_t sum = 17;
    reef_events r = *events;
    for (const Hit *h; (h = reef_next_event(&r)) != NULL;) sum = sum * 31 + h->number + h->who.index;
    return sum;
}

static void fold(reef_block *b)
{
    Mass *m = reef_inout(b, Mass);
    const reef_events r = reef_receive(b, Hit);
    const uint32_t sum = fold_of(&r);
    for (uint32_t i = 0; i < b->count; i++) m[i].kg = m[i].kg * 3 + sum;
}

static void fold_cries(reef_block *b)
{
    Health *m = reef_inout(b, Health);
    reef_events r = reef_receive(b, Cry);
    int32_t sum = (int32_t)r.count;
    for (const Cry *c; (c = reef_next_event(&r)) != NULL;) sum = (int32_t)((uint32_t)sum * 31 + c->number);
    for (uint32_t i = 0; i < b->count; i++) m[i].now = sum, m[i].most++;
}

static void scene(reef_world *w)
{
    for (uint32_t i = 0; i < 9000; i++) reef_spawn(w, reef_with(Crab, i * 2654435761u, 0));
    for (uint32_t i = 0; i < 3000; i++) {
        reef_spawn(w, reef_with(Mass, i));
        reef_spawn(w, reef_with(Health, (int32_t)i, 0));
    }
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "seldom", .step_ns = 1000000000}));
    made(w, "fold_before", fold, "Mass; receives Hit", NULL, NULL);
    made(w, "pinch", pinch, "Crab; sends Hit Cry", NULL, NULL);
    made(w, "pinch_again", pinch, "Crab; sends Hit Cry", NULL, NULL);
    made(w, "fold_cries", fold_cries, "Health; receives Cry", NULL, NULL);
    made(w, "fold_end", fold, "Mass; receives Hit", "end", NULL);
    made(w, "fold_seldom", fold, "Mass; receives Hit", "seldom", NULL);
}

static void the_same_events_on_any_number_of_threads(void **f)
{
    enum { TICKS = 12 };
    static const uint32_t threads[] = {1, 2, 3, 4, 8};
    uint64_t hash[TICKS];
    (void)f;
    for (uint32_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        reef_world *w = reef_world_new(NULL); /* the fixture's heap is for one thread */
        reef_pool *pool =
            i ? reef_pool_new(&(reef_pool_config){.threads = threads[i], .shuffle = i > 2 ? i : 0}) : NULL;
        assert_ok(reef_set_pool(w, pool));
        reef_watch_systems(w, pool == NULL);
        scene(w);
        for (uint32_t t = 0; t < TICKS; t++) {
            tick_all(w, 1, 0.3f);
            if (i == 0) hash[t] = reef_hash(w);
            else assert_true(reef_hash(w) == hash[t]);
        }
        assert_valid(w);
        reef_world_free(w);
        reef_pool_free(pool);
    }
}

/* ---- worlds as values ---- */

static reef_status step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)context;
    if (bytes) assert_ok(reef_post_id(w, reef_id(Hit), input, bytes));
    if (tick % 3 == 0) assert_ok(reef_post(w, Cry, .number = (uint32_t)tick));
    return reef_tick(w, 0.3f);
}

static void histories_and_the_test_of_steps_hold_with_events_in_flight(void **f)
{
    reef_world *w = world_of(f);
    scene(w);
    reef_desync report;
    assert_ok(reef_synctest(w, &(reef_synctest_config){.step = step, .ticks = 9, .distance = 4}, &report));
    reef_history *h = reef_history_new(w, &(reef_history_config){.step = step, .ticks = 100, .hashes = true});
    assert_non_null(h);
    uint64_t hash[16];
    for (uint32_t t = 0; t < 15; t++) {
        hash[t] = reef_hash(w);
        const Hit hit = {.number = t};
        assert_ok(reef_history_step(h, t % 4 ? NULL : &hit, t % 4 ? 0 : sizeof hit));
    }
    hash[15] = reef_hash(w);
    assert_true(reef_world_stats(w).events > 0);
    for (uint32_t t = 0; t < 15; t += 4) {
        assert_ok(reef_history_rewind(h, t));
        assert_true(reef_hash(w) == hash[t]);
        assert_ok(reef_history_replay(h, 15));
        assert_true(reef_hash(w) == hash[15]);
    }
    const Hit late = {.number = 99};
    assert_ok(reef_history_correct(h, &(reef_late_input){.tick = 6, .input = &late, .input_bytes = sizeof late}, 1));
    assert_true(reef_hash(w) != hash[15]);
    reef_history_free(h);
}

static void forks_go_on_alike(void **f)
{
    reef_world *w = world_of(f);
    scene(w);
    tick_all(w, 4, 0.3f);
    reef_world *fork = reef_fork(w);
    assert_true(reef_world_stats(fork).events > 0);
    for (uint32_t t = 0; t < 6; t++) {
        assert_true(reef_hash(w) == reef_hash(fork));
        assert_true(reef_equal(w, fork, NULL));
        tick_all(w, 1, 0.3f);
        tick_all(fork, 1, 0.3f);
    }
    assert_valid(fork);
    reef_world_free(fork);
}

/* ---- events as entities ---- */

static void explode(reef_block *b)
{
    uint32_t *next = b->context;
    assert_some(reef_cmd_spawn(b, reef_default(ReefBrief), reef_with(Blast, (*next)++)));
}

static void feel(reef_block *b)
{
    log *l = b->context;
    const Blast *x = reef_in(b, Blast);
    for (uint32_t i = 0; i < b->count; i++) l->number[l->count++] = x[i].power;
}

static void a_brief_entity_is_seen_once_by_each_system(void **f)
{
    static log seen[6];
    static const char *const phase[] = {"begin", "update", "update", "update", "end", "end"};
    static const uint32_t later[] = {0, 1, 1, 1, 2, 2};
    static const char *const name[] = {"s0", "s1", "s2", "s3", "s4", "s5"};
    for (uint32_t where = 0; where < 6; where++) { /* the one that spawns */
        reef_world *w = another_world(f, NULL);
        uint32_t next = 0;
        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < 6; i++)
            if (i != where) made(w, name[i], feel, "in Blast", phase[i], &seen[i]);
            else made(w, name[i], explode, "; spawns ReefBrief Blast", phase[i], &next);
        tick_all(w, 10, 0);
        for (uint32_t i = 0; i < 6; i++)
            if (i != where) heard(&seen[i], later[i] > later[where] ? 10 : 9);
        assert_int_equal(reef_count(w, Blast), 1);
        end_world(f, w);
    }
}

static void a_brief_entity_of_the_host_is_seen_by_the_next_tick_alone(void **f)
{
    static log begin, end;
    reef_world *w = world_of(f);
    begin = end = (log){0};
    made(w, "a", feel, "in Blast", "begin", &begin);
    made(w, "b", feel, "in Blast", "end", &end);
    for (uint32_t i = 0; i < 5; i++) {
        reef_entity e = reef_spawn(w, reef_default(ReefBrief), reef_with(Blast, i));
        if (i == 3) assert_ok(reef_disable(w, e));
        tick_all(w, 1, 0);
        assert_false(reef_is_alive(w, e));
        heard(&begin, i + (i < 3));
        heard(&end, i + (i < 3));
        if (i == 3) break;
    }
    reef_entity kept = reef_spawn(w, reef_default(ReefBrief), reef_with(Blast, 9));
    assert_ok(reef_remove(w, kept, ReefBrief));
    assert_ok(reef_tick_phase(w, "end", 0));
    tick_all(w, 3, 0);
    assert_true(reef_is_alive(w, kept));
    assert_valid(w);
}

static void without_memory_a_brief_entity_ends_later(void **f)
{
    reef_world *w = world_of(f);
    for (uint32_t i = 0; i < 3000; i++) reef_spawn(w, reef_default(ReefBrief), reef_with(Blast, i));
    heap_fail_nth(heap_of(f), 1, true);
    (void)reef_tick(w, 0);
    heap_fail_never(heap_of(f));
    assert_valid(w);
    tick_all(w, 2, 0);
    assert_int_equal(reef_count(w, Blast), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(later_systems_see_events_in_the_same_tick_and_earlier_ones_in_the_next),
        TEST(a_system_of_a_slower_phase_sees_everything_once),
        TEST(a_system_that_is_off_sees_later_what_it_missed_up_to_the_bound),
        TEST(a_system_that_is_replaced_goes_on_and_one_that_is_removed_is_not_waited_for),
        TEST(the_host_and_systems_that_run_once_take_part),
        TEST(undeclared_events_are_the_error_of_the_tick),
        TEST(the_same_events_on_any_number_of_threads),
        TEST(histories_and_the_test_of_steps_hold_with_events_in_flight),
        TEST(forks_go_on_alike),
        TEST(a_brief_entity_is_seen_once_by_each_system),
        TEST(a_brief_entity_of_the_host_is_seen_by_the_next_tick_alone),
        TEST(without_memory_a_brief_entity_ends_later),
    };
    return cmocka_run_group_tests_name("event_tick", tests, NULL, NULL);
}
