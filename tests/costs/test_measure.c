/* Statistics of systems, and the functions for profilers (F11). While statistics are off, reef reads no clock; while
 * they are on, it counts runs, blocks, rows and time. A profiler's functions are called before and after each job. The
 * test has its own clock: the linker replaces timespec_get (CMakeLists.txt). */
#include "base/platform.h"
#include "support.h"
#include <stdatomic.h>
#include <time.h>

static atomic_ullong now_ns, clock_reads;

int __wrap_timespec_get(struct timespec *t, int base);
int __wrap_timespec_get(struct timespec *t, int base)
{
    const unsigned long long now = atomic_load(&now_ns);
    atomic_fetch_add(&clock_reads, 1);
    *t = (struct timespec){(time_t)(now / 1000000000u), (long)(now % 1000000000u)};
    return base;
}

static void clock_put(unsigned long long ns)
{
    atomic_store(&now_ns, ns);
    atomic_store(&clock_reads, 0);
}

enum { ROWS = 3000, BLOCKS = 3 }; /* of each a job, where the system is split */

static void take_time(reef_block *b) { atomic_fetch_add(&now_ns, 100 + b->count); }
static void set_the_clock_back(reef_block *b)
{
    (void)b;
    atomic_fetch_sub(&now_ns, 5000);
}

static reef_system_id add(reef_world *w, const char *name, void (*f)(reef_block *b), const char *text)
{
    const reef_system_id id = reef_system_add(w, name, f, text);
    assert_false(reef_system_is_null(id));
    return id;
}

/* A split system, one that isn't, and one without rows. */
static reef_world *measured_world(void **state, reef_system_id *ids)
{
    reef_world *w = world_of(state);
    reef_watch_systems(w, false); /* which calls some twice, and all on one thread */
    assert_ok(reef_spawn_many(w, ROWS, NULL, reef_with(Position, 1, 1)));
    ids[0] = add(w, "split", take_time, "Position");
    ids[1] = add(w, "whole", take_time, "in Position; writes Mass");
    ids[2] = add(w, "alone", take_time, NULL);
    clock_put(1000000000);
    return w;
}

static void assert_counted(const reef_world *w, reef_system_id id, uint64_t runs, uint64_t blocks, uint64_t rows,
                           uint64_t time, uint64_t longest)
{
    const reef_system_stats s = reef_system_measured(w, id);
    assert_int_equal(s.runs, runs);
    assert_int_equal(s.blocks, blocks);
    assert_int_equal(s.rows, rows);
    assert_int_equal(s.time_ns, time);
    assert_int_equal(s.longest_ns, longest);
}

static void no_clock_is_read_unless_systems_are_measured(void **state)
{
    reef_system_id ids[3];
    reef_world *w = measured_world(state, ids);
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "steps", .step_ns = 1000000}));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "step", .function = take_time, .text = "Position", .phase = "steps"})));
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "seldom", .function = take_time, .interval_ns = 2000000})));
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        reef_pool *p = threads > 1 ? reef_pool_new(&(reef_pool_config){.threads = threads}) : NULL;
        assert_ok(reef_set_pool(w, p));
        for (int i = 0; i < 5; i++) assert_ok(reef_tick(w, 0.003f));
        assert_ok(reef_system_once(w, &(reef_system_desc){.function = take_time, .text = "Position"}, 0));
        assert_int_equal(atomic_load(&clock_reads), 0);
        for (int i = 0; i < 3; i++) assert_counted(w, ids[i], 0, 0, 0, 0, 0);
        reef_measure_systems(w, true);
        assert_int_equal(atomic_load(&clock_reads), 0);
        assert_ok(reef_tick(w, 0));
        assert_int_equal(atomic_load(&clock_reads), 2 * (BLOCKS + 1 + 1) + 2); /* each job's, and the tick's */
        reef_measure_systems(w, false);
        atomic_store(&clock_reads, 0);
        assert_ok(reef_tick(w, 0.003f));
        assert_int_equal(atomic_load(&clock_reads), 0);
        /* what was counted stays until it is turned on again */
        assert_int_equal(reef_system_measured(w, ids[0]).runs, 1);
        reef_measure_systems(w, true);
        for (int i = 0; i < 3; i++) assert_counted(w, ids[i], 0, 0, 0, 0, 0);
        reef_measure_systems(w, false);
        assert_ok(reef_set_pool(w, NULL));
        reef_pool_free(p);
    }
}

static void what_is_counted_of_systems(void **state)
{
    reef_system_id ids[3];
    reef_world *w = measured_world(state, ids), *other = another_world(state, NULL);
    reef_measure_systems(w, true);
    assert_ok(reef_tick(w, 0));
    for (int i = 0; i < 2; i++) assert_counted(w, ids[i], 1, BLOCKS, ROWS, ROWS + 100 * BLOCKS, ROWS + 100 * BLOCKS);
    assert_counted(w, ids[2], 1, 0, 0, 100, 100);
    assert_ok(reef_system_enable(w, ids[1], false));
    assert_int_equal(reef_destroy_many(w, (reef_entity[]){reef_entity_at(w, 5), reef_entity_at(w, 6)}, 2), 2);
    assert_ok(reef_tick(w, 0));
    assert_counted(w, ids[0], 2, 2 * BLOCKS, 2 * ROWS - 2, 2 * ROWS - 2 + 200 * BLOCKS, ROWS + 100 * BLOCKS);
    assert_counted(w, ids[1], 1, BLOCKS, ROWS, ROWS + 100 * BLOCKS, ROWS + 100 * BLOCKS);
    /* A null system, one of another world, and one that was removed. */
    reef_world *fork = reef_fork(w);
    assert_counted(fork, reef_system_find(fork, "split"), 0, 0, 0, 0, 0);
    reef_world_free(fork);
    assert_counted(w, (reef_system_id){0, 0, 0}, 0, 0, 0, 0, 0);
    assert_counted(other, ids[0], 0, 0, 0, 0, 0);
    assert_counted(NULL, ids[0], 0, 0, 0, 0, 0);
    assert_ok(reef_system_remove(w, ids[0]));
    assert_counted(w, ids[0], 0, 0, 0, 0, 0);
    reef_measure_systems(NULL, true);
    /* A clock that is set back makes a run short, not endless. */
    const reef_system_id back = add(w, "back", set_the_clock_back, NULL);
    assert_ok(reef_tick(w, 0));
    assert_counted(w, back, 1, 0, 0, 0, 0);
}

static void whole_ticks_are_measured(void **state)
{
    reef_system_id ids[3];
    reef_world *w = measured_world(state, ids);
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_tick_measured(w).ticks, 0);
    reef_measure_systems(w, true);
    assert_ok(reef_tick(w, 0));
    const reef_tick_stats one = reef_tick_measured(w);
    assert_int_equal(one.ticks, 1);
    assert_true(one.last_ns >= 2 * ROWS && one.last_ns == one.time_ns && one.last_ns == one.longest_ns);
    assert_ok(reef_system_enable(w, ids[0], false));
    assert_ok(reef_tick(w, 0));
    const reef_tick_stats two = reef_tick_measured(w);
    assert_int_equal(two.ticks, 2);
    assert_true(two.last_ns < one.last_ns && two.longest_ns == one.last_ns);
    assert_int_equal(two.time_ns, one.last_ns + two.last_ns);
    /* a paused tick is none, and neither is one that is refused */
    reef_pause(w, true);
    assert_ok(reef_tick(w, 0));
    assert_status(REEF_BAD_ARGUMENT, reef_tick_once(w, -1));
    assert_int_equal(reef_tick_measured(w).ticks, 2);
    reef_measure_systems(w, false);
    assert_ok(reef_tick_once(w, 0));
    assert_int_equal(reef_tick_measured(w).ticks, 2);
    reef_measure_systems(w, true);
    assert_int_equal(reef_tick_measured(w).ticks, 0);
    assert_int_equal(reef_tick_measured(NULL).ticks, 0);
}

/* ---- profilers ---- */

typedef struct tracer {
    atomic_uint begun, ended, wrong;
    atomic_uint inside[REEF_THREADS_MAX]; /* by worker */
    uint32_t threads;
} tracer;

static void job_begins(void *context, const char *system, uint32_t worker)
{
    tracer *t = context;
    atomic_fetch_add(&t->begun, 1);
    if (worker >= t->threads || atomic_fetch_add(&t->inside[worker], 1) != 0) atomic_fetch_add(&t->wrong, 1);
    if (strcmp(system, "split") != 0 && strcmp(system, "whole") != 0 && strcmp(system, "alone") != 0)
        atomic_fetch_add(&t->wrong, 1);
}

static void job_ends(void *context, const char *system, uint32_t worker)
{
    tracer *t = context;
    (void)system;
    atomic_fetch_add(&t->ended, 1);
    if (worker >= t->threads || atomic_fetch_sub(&t->inside[worker], 1) != 1) atomic_fetch_add(&t->wrong, 1);
}

static tracer traced;
static const reef_profiler trace_of_all = {job_begins, job_ends, &traced};
static void turn_off(reef_block *b)
{
    reef_set_profiler(b->world, NULL);
    reef_measure_systems(b->world, true);
}

static void assert_traced(reef_world *w, unsigned begun, unsigned ended)
{
    atomic_store(&traced.begun, 0);
    atomic_store(&traced.ended, 0);
    assert_ok(reef_tick(w, 0));
    assert_int_equal(atomic_load(&traced.begun), begun);
    assert_int_equal(atomic_load(&traced.ended), ended);
    assert_int_equal(atomic_load(&traced.wrong), 0);
}

static void profilers_are_told_of_each_job(void **state)
{
    enum { JOBS = BLOCKS + 1 + 1 };
    reef_system_id ids[3];
    reef_world *w = measured_world(state, ids);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = threads, .shuffle = threads});
        assert_ok(reef_set_pool(w, threads > 1 ? p : NULL));
        memset(&traced, 0, sizeof traced);
        traced.threads = reef_pool_threads(p);
        reef_set_profiler(w, &trace_of_all);
        for (int i = 0; i < 10; i++) assert_traced(w, JOBS, JOBS);
        reef_set_profiler(w, &(reef_profiler){.end = NULL, .begin = NULL});
        assert_traced(w, 0, 0);
        assert_ok(reef_set_pool(w, NULL));
        reef_pool_free(p);
    }
    /* Neither has an effect in an open loop or in a system. */
    traced.threads = 1;
    reef_set_profiler(w, &trace_of_all);
    reef_block b = reef_begin_text(w, "in Position");
    assert_true(reef_next(&b));
    reef_set_profiler(w, NULL);
    reef_measure_systems(w, true);
    reef_end(&b);
    assert_traced(w, JOBS, JOBS);
    assert_ok(reef_system_replace(w, ids[2], &(reef_system_desc){.name = "alone", .function = turn_off}));
    for (int i = 0; i < 2; i++) assert_traced(w, JOBS, JOBS);
    assert_int_equal(atomic_load(&clock_reads), 0);
    reef_set_profiler(w, NULL);
    assert_traced(w, 0, 0);
    reef_set_profiler(NULL, &trace_of_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_clock_is_read_unless_systems_are_measured),
        TEST(what_is_counted_of_systems),
        TEST(whole_ticks_are_measured),
        TEST(profilers_are_told_of_each_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
