/* Ticks are deterministic (D1, G2). For each scene (scenes.h) the state after each tick is the same on any number of
 * threads, in any order of jobs, without a pool, and with a history or forks beside it, and it is the state of the
 * naive twin.
 *
 *     test_deterministic           a sample
 *     test_deterministic --deep    every seed on every number of threads */
#include "base/platform.h"
#include "scenes.h"

#if !defined(SCHEDULES)
#define SCHEDULES 20 /* fewer where each costs more: tests/suites.cmake */
#endif
enum { TICKS_MAX = 64, SEEDS = SCHEDULES };

static bool deep;
static const uint32_t thread_counts[] = {1, 2, 3, 4, 8, 16};
enum { COUNTS = sizeof thread_counts / sizeof *thread_counts };

/* The states of a scene without other threads. */
typedef struct reference {
    const scene *scene;
    reef_world *world;
    uint64_t hash[TICKS_MAX + 1]; /* before each tick, and at the end */
} reference;

static reef_pool *pool_of(uint32_t threads, uint64_t shuffle)
{
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = threads, .shuffle = shuffle});
    assert_non_null(p);
    return p;
}

static reef_world *world_with(void **state, const scene *s, reef_pool *p)
{
    reef_world *w = another_world(state, &(reef_world_config){.seed = 77});
    assert_ok(reef_set_pool(w, p));
    reef_watch_systems(w, p == NULL);
    assert_true(scene_begin(s, w));
    return w;
}

static void reference_make(reference *r, void **state, const scene *s)
{
    r->scene = s;
    r->world = world_with(state, s, NULL);
    r->hash[0] = reef_hash(r->world);
    for (uint32_t t = 0; t < s->ticks; t++) {
        assert_ok(scene_tick(s, r->world, t));
        assert_true(reef_last_error(r->world).status != REEF_UNDECLARED); /* in the checked build it is watched */
        r->hash[t + 1] = reef_hash(r->world);
        assert_true(r->hash[t + 1] != 0 && r->hash[t + 1] != r->hash[t]);
    }
    assert_valid(r->world);
}

static void assert_hash(const reference *r, reef_world *w, uint32_t tick, uint32_t threads, uint64_t seed)
{
    reef_difference d;
    char text[300] = "";
    if (reef_hash(w) == r->hash[tick]) return;
    if (tick == r->scene->ticks && !reef_equal(r->world, w, &d)) reef_difference_text(&d, text, sizeof text);
    fail_msg("%s: state %u on %u threads, seed %u, is another one %s", r->scene->name, tick, threads, (unsigned)seed,
             text);
}

/* The scene on a pool; every tick is compared. */
static void play(void **state, const reference *r, uint32_t threads, uint64_t seed)
{
    reef_pool *p = pool_of(threads, seed);
    reef_world *w = world_with(state, r->scene, p);
    for (uint32_t t = 0; t < r->scene->ticks; t++) {
        assert_ok(scene_tick(r->scene, w, t));
        assert_hash(r, w, t + 1, threads, seed);
    }
    assert_true(reef_equal(r->world, w, NULL));
    end_world(state, w);
    reef_pool_free(p);
}

static void the_same_on_any_number_of_threads(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        reference r;
        reference_make(&r, state, &scenes[i]);
        for (uint32_t k = 0; k < COUNTS; k++) play(state, &r, thread_counts[k], 0);
        end_world(state, r.world);
    }
}

static void the_same_in_whatever_order_jobs_begin(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        reference r;
        reference_make(&r, state, &scenes[i]);
        for (uint64_t seed = 1; seed <= (deep ? 100 : SEEDS); seed++)
            for (uint32_t k = 0; k < COUNTS; k++)
                if (deep || seed % COUNTS == k) play(state, &r, thread_counts[k], seed * 7919);
        end_world(state, r.world);
    }
}

/* ---- others that look at the states ---- */

static void forks_and_snapshots_between_ticks_change_nothing(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        reference r;
        const scene *s = &scenes[i];
        reference_make(&r, state, s);
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            reef_snapshot *kept[TICKS_MAX];
            reef_pool *p = threads > 1 ? pool_of(threads, 5) : NULL;
            reef_world *w = world_with(state, s, p), *fork = NULL;
            for (uint32_t t = 0; t < s->ticks; t++) {
                kept[t] = reef_snapshot_take(w);
                assert_non_null(kept[t]);
                if (t == 2) fork = reef_fork(w);
                assert_ok(scene_tick(s, w, t));
                assert_hash(&r, w, t + 1, threads, 5);
                if (fork == NULL) continue;
                assert_ok(scene_tick(s, fork, t));
                assert_hash(&r, fork, t + 1, threads, 5);
            }
            assert_true(reef_equal(w, fork, NULL));
            for (uint32_t back = s->ticks; back-- > 0;) {
                if (back % 3 == 0) {
                    assert_ok(reef_restore(w, kept[back]));
                    for (uint32_t t = back; t < s->ticks && t < back + 4; t++) {
                        assert_hash(&r, w, t, threads, 5);
                        assert_ok(scene_tick(s, w, t));
                        assert_hash(&r, w, t + 1, threads, 5);
                    }
                }
                reef_snapshot_free(kept[back]);
            }
            assert_valid(fork);
            reef_world_free(fork);
            end_world(state, w);
            reef_pool_free(p);
        }
        end_world(state, r.world);
    }
}

static reef_status history_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)input, (void)bytes;
    return scene_tick(context, w, tick);
}

static void history_over_ticks(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        reference r;
        const scene *s = &scenes[i];
        reference_make(&r, state, s);
        reef_pool *p = pool_of(3, 11);
        reef_world *w = world_with(state, s, p);
        const reef_history_config config = {
            .ticks = 64, .step = history_step, .context = (void *)(uintptr_t)s, .hashes = true};
        reef_history *h = reef_history_new(w, &config);
        assert_non_null(h);
        for (uint32_t t = 0; t < s->ticks; t++) assert_ok(reef_history_step(h, NULL, 0));
        assert_hash(&r, w, s->ticks, 3, 11);
        for (uint32_t back = 0; back < s->ticks; back += 3) {
            assert_ok(reef_history_rewind(h, back));
            assert_hash(&r, w, back, 3, 11);
            assert_ok(reef_history_replay(h, s->ticks));
            assert_hash(&r, w, s->ticks, 3, 11);
        }
        for (uint32_t t = 0; t < s->ticks; t++) assert_true(reef_history_hash(h, t) == r.hash[t]);
        assert_true(reef_equal(r.world, w, NULL));
        reef_history_free(h);
        end_world(state, w);
        reef_pool_free(p);
        end_world(state, r.world);
    }
}

static void synctest_over_ticks(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        reference r;
        reef_desync report;
        const scene *s = &scenes[i];
        reference_make(&r, state, s);
        reef_pool *p = pool_of(2, 13);
        reef_world *w = world_with(state, s, p);
        const reef_synctest_config config = {
            .ticks = s->ticks, .distance = 2, .step = history_step, .context = (void *)(uintptr_t)s};
        assert_ok(reef_synctest(w, &config, &report));
        assert_hash(&r, w, s->ticks, 2, 13);
        end_world(state, w);
        reef_pool_free(p);
        end_world(state, r.world);
    }
}

/* ---- several worlds at once ---- */

enum { WORLDS = 3 };
typedef struct player {
    const scene *scene;
    reef_world *world;
    reef_status status; /* the first that isn't OK */
} player;

static void play_on(void *data)
{
    player *p = data;
    for (uint32_t t = 1; t < p->scene->ticks && p->status == REEF_OK; t++)
        p->status = scene_tick(p->scene, p->world, t);
}

/* Forks tick on different threads, and share blocks and a pool; without threads they tick one after the other. */
static void forks_tick_at_the_same_time(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        reference r;
        player players[WORLDS];
        thread threads[WORLDS];
        bool runs[WORLDS];
        reference_make(&r, state, &scenes[i]);
        reef_pool *p = pool_of(3, i);
        reef_world *w = world_with(state, r.scene, p);
        assert_ok(scene_tick(r.scene, w, 0));
        for (uint32_t k = 0; k < WORLDS; k++) {
            players[k] = (player){r.scene, reef_fork(w), REEF_OK};
            assert_non_null(players[k].world);
        }
        end_world(state, w);
        for (uint32_t k = 0; k < WORLDS; k++) {
            runs[k] = thread_make(&threads[k], play_on, &players[k]);
            if (!runs[k]) play_on(&players[k]);
        }
        for (uint32_t k = 0; k < WORLDS; k++) {
            if (runs[k]) thread_join(&threads[k]);
            assert_ok(players[k].status);
            assert_hash(&r, players[k].world, r.scene->ticks, 3, i);
        }
        assert_true(reef_equal(players[0].world, players[1].world, NULL));
        for (uint32_t k = 0; k < WORLDS; k++) {
            assert_valid(players[k].world);
            reef_world_free(players[k].world);
        }
        end_world(state, r.world);
        reef_pool_free(p);
    }
}

/* ---- the naive twin ---- */

static void ticks_do_what_plain_serial_running_does(void **state)
{
    uint32_t twins = 0;
    for (uint32_t i = 0; i < scene_count; i++) {
        const scene *s = &scenes[i];
        reef_difference d;
        char text[300];
        if (s->twin == TWIN_NONE) continue;
        twins++;
        reef_pool *p = pool_of(2, 0);
        reef_world *w = world_with(state, s, p), *plain = another_world(state, &(reef_world_config){.seed = 77});
        naive *n = naive_begin(s, plain);
        for (uint32_t t = 0; t < s->ticks; t++) {
            assert_ok(scene_tick(s, w, t));
            naive_tick(n, t);
            if (s->twin == TWIN_BUT_IDS ? scene_digest(w) == scene_digest(plain) : reef_equal(w, plain, &d)) continue;
            if (s->twin == TWIN_EQUAL) reef_difference_text(&d, text, sizeof text);
            else snprintf(text, sizeof text, "the digest");
            fail_msg("%s: tick %u isn't what plain running comes to: %s", s->name, t, text);
        }
        if (s->twin == TWIN_EQUAL) assert_true(reef_hash(w) == reef_hash(plain));
        naive_end(n);
        end_world(state, w);
        end_world(state, plain);
        reef_pool_free(p);
    }
    assert_true(twins >= 4);
}

int main(int argc, char **argv)
{
    deep = argc > 1 && strcmp(argv[1], "--deep") == 0;
    const struct CMUnitTest tests[] = {
        TEST(the_same_on_any_number_of_threads),
        TEST(the_same_in_whatever_order_jobs_begin),
        TEST(forks_and_snapshots_between_ticks_change_nothing),
        TEST(history_over_ticks),
        TEST(synctest_over_ticks),
        TEST(forks_tick_at_the_same_time),
        TEST(ticks_do_what_plain_serial_running_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
