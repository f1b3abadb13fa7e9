/* The allocation sweep. Each scenario prepares a world and then makes one call that needs memory. The call is made with
 * its n-th allocation failing, for n = 1, 2, ... until none is left to fail: once with that one failing alone, once
 * with all that follow it. Each time the call must say NO_MEMORY, the world must be valid and the same as before, the
 * call must work when memory is there again, and then the world must be the one that never met a failure. Nothing may
 * leak. Then all of that again where a fork shares everything with the world: the call is the first write after it. */
#include "oom_scenarios.h"

/* ---- the sweep ---- */

static heap  memory;
static sweep now;
static char  damage[300]; /* what the validator says */

typedef struct outcome { /* after the call when no allocation fails */
    uint64_t digest, hash, seen;
} outcome;

static const char *damaged(const reef_world *w)
{
    return reef_validate(w, damage, sizeof damage) == REEF_OK ? NULL : damage;
}

static void begin(const scenario *scene, bool shared)
{
    memset(&memory, 0, sizeof memory);
    memset(&now, 0, sizeof now);
    ledger_reset();
    reef_world_config config = {.allocator = heap_allocator(&memory)};
    now.w = reef_world_new(&config);
    assert_non_null(now.w);
    if (scene->prepare) scene->prepare(&now);
    if (!shared) return;
    now.fork = reef_fork(now.w);
    assert_non_null(now.fork);
    now.fork_digest = digest(now.fork);
    now.fork_hash = reef_hash(now.fork);
}

static const char *fork_changed(void)
{
    if (now.fork == NULL) return NULL;
    if (digest(now.fork) != now.fork_digest || reef_hash(now.fork) != now.fork_hash) return "the fork is another one";
    return damaged(now.fork);
}

static const char *leaks(void)
{
    if (now.own.ticket && now.own.ticket <= book.tickets && book.where[now.own.ticket] == &now.own)
        unique_drop(&now.own);
    reef_snapshot_free(now.snapshot);
    reef_world_free(now.w);
    reef_world_free(now.child);
    reef_world_free(now.fork);
    reef_snapshot_free(now.further);
    if (memory.blocks || memory.bytes) return "memory leaks";
    if (book.live) return "values leak";
    return book.mistake ? book.mistake : memory.mistake;
}

/* The world never has a fork here: who has one must become the same. */
static outcome undisturbed(const scenario *scene)
{
    begin(scene, false);
    bool    works = scene->call(&now);
    outcome after = {digest(now.w), 0, now.seen};
    after.hash = reef_hash(now.w);
    const char *wrong = leaks();
    if (!works || wrong) fail_msg("%s: %s", scene->name, wrong ? wrong : "it doesn't work even with memory");
    return after;
}

static const char *not_as_wanted(const outcome *wanted)
{
    if (digest(now.w) != wanted->digest || reef_hash(now.w) != wanted->hash) return "the world is another one";
    if (now.child &&
        (damaged(now.child) || digest(now.child) != wanted->digest || reef_hash(now.child) != wanted->hash))
        return "its fork is another one";
    return now.seen == wanted->seen ? NULL : "what it found is something else";
}

/* A call in several steps may have done some of them before it failed. */
static const char *fail_and_retry(const scenario *scene, uint64_t before, const outcome *wanted, bool steps)
{
    heap_fail_never(&memory);
    if (reef_last_error(now.w).status != REEF_NO_MEMORY) return "the error record isn't NO_MEMORY";
    if (reef_last_error(now.w).operation[0] == 0) return "the error record has no operation";
    if (damaged(now.w)) return damage;
    if (!steps && digest(now.w) != before) return "the world is another one";
    if (!steps && now.fork && reef_hash(now.w) != now.fork_hash) return "the world's hash is another one";
    if (!scene->call(&now)) return "the call fails also with memory";
    return not_as_wanted(wanted) ? "after the retry the world isn't as without the failure" : NULL;
}

static uint32_t failures;

/* One run with the n-th allocation failing; false when it had fewer, or when something is wrong. */
static bool run(const scenario *scene, bool shared, uint64_t n, bool rest, const outcome *wanted)
{
    begin(scene, shared);
    uint64_t    before = digest(now.w);
    const char *wrong = NULL;
    heap_fail_nth(&memory, n, rest);
    bool works = scene->call(&now);
    bool failed = memory.refused != 0;
    if (!works)
        wrong = failed ? fail_and_retry(scene, before, wanted, scene->call == name_more) : "it failed without a reason";
    heap_fail_never(&memory);
    if (works && not_as_wanted(wanted)) wrong = "it says that it worked, but the outcome is another one";
    if (!wrong) wrong = damaged(now.w);
    if (!wrong) wrong = fork_changed();
    const char *leak = leaks();
    if (!wrong) wrong = leak;
    if (wrong)
        print_error("%s%s, allocation %u%s: %s\n", scene->name, shared ? ", forked" : "", (unsigned)n,
                    rest ? " and later ones" : "", wrong);
    if (wrong) failures++;
    return failed && !wrong;
}

/* Builds in which everything takes longer (tests/CMakeLists.txt) try each allocation alone after a fork, and with all later ones
 * elsewhere, and of a long row of allocations the first and every seventh; the others try all. */
#if defined(SWEEP_HALF)
static bool swept(bool shared, bool rest) { return shared != rest; }
static uint64_t sweep_step(uint64_t n) { return n < 5 ? 1 : 7; }
#else
static bool swept(bool shared, bool rest) { (void)shared, (void)rest; return true; }
static uint64_t sweep_step(uint64_t n) { (void)n; return 1; }
#endif

static uint64_t sweep_all(bool shared)
{
    uint64_t runs = 0;
    failures = 0;
    for (size_t i = 0; i < scenario_count; i++) {
        outcome wanted = undisturbed(&scenarios[i]);
        for (int rest = 0; rest < 2; rest++) {
            uint64_t n = 1;
            if (!swept(shared, rest == 1)) continue;
            for (; run(&scenarios[i], shared, n, rest == 1, &wanted); n += sweep_step(n)) runs++;
        }
    }
    assert_int_equal(failures, 0);
    return runs;
}

static void G5_each_allocation_of_each_call_fails_in_turn(void **state)
{
    (void)state;
    assert_true(sweep_all(false) > 500); /* or the sweep sweeps nothing */
}

static void G5_each_allocation_of_each_first_write_after_a_fork_fails_in_turn(void **state)
{
    (void)state;
    assert_true(sweep_all(true) > 1000);
}

/* A snapshot has no error record: reef_snapshot_fork answers NULL, and the snapshot is as good as before. */
static void G5_forking_a_snapshot_fails_cleanly(void **state)
{
    static const scenario scene = {"snapshot_fork", with_snapshot, NULL};
    (void)state;
    for (int rest = 0; rest < 2; rest++) {
        for (uint64_t n = 1;; n++) {
            begin(&scene, false);
            uint64_t before = digest(now.w);
            heap_fail_nth(&memory, n, rest == 1);
            now.child = reef_snapshot_fork(now.snapshot);
            bool failed = memory.refused != 0;
            heap_fail_never(&memory);
            assert_true(failed ? now.child == NULL : now.child != NULL);
            assert_true(digest(now.w) == before);
            if (failed) now.child = reef_snapshot_fork(now.snapshot);
            assert_ok(reef_restore(now.w, now.snapshot));
            assert_true(digest(now.child) == digest(now.w) && reef_hash(now.child) == reef_hash(now.w));
            assert_valid(now.child);
            assert_null(leaks());
            if (failed) continue;
            assert_true(n > 1);
            break;
        }
    }
}

static void G5_making_a_world_fails_cleanly(void **state)
{
    (void)state;
    for (int rest = 0; rest < 2; rest++) {
        for (uint64_t n = 1;; n++) {
            memset(&memory, 0, sizeof memory);
            heap_fail_nth(&memory, n, rest == 1);
            reef_world_config config = {.allocator = heap_allocator(&memory)};
            reef_world       *w = reef_world_new(&config);
            bool              failed = memory.refused != 0;
            assert_true(failed ? w == NULL : w != NULL);
            reef_world_free(w);
            assert_int_equal(memory.blocks, 0);
            assert_null(memory.mistake);
            if (failed) continue;
            assert_true(n > 1);
            break;
        }
    }
}

/* Many at once may stop in the middle: what is done is done and counted, the rest is as before. */
static void G5_destroy_many_stops_where_memory_ends(void **state)
{
    (void)state;
    static const scenario scene = {"destroy_many", some_rows, NULL};
    for (uint64_t n = 1; n < 50; n++) {
        begin(&scene, false);
        heap_fail_nth(&memory, n, true);
        uint32_t died = reef_destroy_many(now.w, now.e, 300);
        bool     failed = memory.refused != 0;
        heap_fail_never(&memory);
        assert_valid(now.w);
        assert_int_equal(reef_count_alive(now.w), 300 - died);
        for (uint32_t i = 0; i < 300; i++) assert_int_equal(reef_is_alive(now.w, now.e[i]), i >= died);
        if (died < 300) assert_int_equal(reef_last_error(now.w).status, REEF_NO_MEMORY);
        assert_int_equal(reef_destroy_many(now.w, now.e, 300), 300 - died);
        assert_null(leaks());
        if (!failed) return;
    }
    fail_msg("more than 50 allocations");
}

int main(void)
{
    /* Of tracked values the hash takes the value, not the ticket. */
    static const reef_field value = {"value", REEF_I32, 0, 4, NULL, 0, 0};
    if (reef_type_describe(reef_id(Tracked), &value, 1) < 0 || reef_type_describe(reef_id(Loose), &value, 1) < 0 ||
        reef_type_describe(reef_id(Unique), &value, 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(G5_each_allocation_of_each_call_fails_in_turn),
        cmocka_unit_test(G5_each_allocation_of_each_first_write_after_a_fork_fails_in_turn),
        cmocka_unit_test(G5_forking_a_snapshot_fails_cleanly),
        cmocka_unit_test(G5_making_a_world_fails_cleanly),
        cmocka_unit_test(G5_destroy_many_stops_where_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
