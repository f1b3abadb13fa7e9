/* History: all or nothing. A step that fails, or any allocation on the way, leaves world and history as they were. */
#include "history_game.h"
#include "reef/replay.h"

/* ---- steps that fail ---- */

static void assert_reach(const reef_history *h, reef_history_range wanted)
{
    reef_history_range got = reef_history_reach(h);
    assert_int_equal(got.first, wanted.first);
    assert_int_equal(got.tick, wanted.tick);
    assert_int_equal(got.end, wanted.end);
    assert_int_equal(got.kept, wanted.kept);
    assert_int_equal(got.bytes, wanted.bytes);
}

static void a_step_that_fails_changes_nothing(void **state)
{
    uint32_t inputs[21];
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 40});
    for (uint32_t t = 0; t < 20; t++) {
        inputs[t] = t * 11;
        if (t % 4 == 3) {
            uint32_t wrong = 999;
            view before = view_of(s.w);
            reef_history_range reach = reef_history_reach(s.h);
            s.g.fail_at = t + 1;
            assert_status(REEF_IO, reef_history_step(s.h, &wrong, sizeof wrong));
            s.g.fail_at = 0;
            assert_view(view_of(s.w), before);
            assert_reach(s.h, reach);
        }
        play(&s, inputs[t]);
    }
    assert_view(view_of(s.w), fresh_view(state, inputs, 20));
    assert_ok(reef_history_rewind(s.h, 6)); /* a failed step doesn't end the recorded future either */
    reef_history_range reach = reef_history_reach(s.h);
    s.g.fail_at = 7;
    assert_status(REEF_IO, reef_history_step(s.h, NULL, 0));
    assert_reach(s.h, reach);
    s.g.fail_at = 13;
    assert_status(REEF_IO, reef_history_replay(s.h, 20));
    assert_status(REEF_IO, reef_history_correct(s.h, &(reef_late_input){2, NULL, 0}, 1) == REEF_OK
                               ? reef_history_replay(s.h, 20)
                               : REEF_OK);
    assert_int_equal(reef_history_reach(s.h).tick, 6);
    s.g.fail_at = 0;
    assert_ok(reef_history_correct(s.h, &(reef_late_input){2, &inputs[2], sizeof *inputs}, 1));
    assert_ok(reef_history_replay(s.h, 20));
    assert_view(view_of(s.w), fresh_view(state, inputs, 20));
    scene_end(&s, state);
}

static void a_correction_that_fails_changes_nothing(void **state)
{
    uint32_t inputs[21], late = 5;
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 40, .hashes = true});
    for (uint32_t t = 0; t < 20; t++) play(&s, inputs[t] = t * 11);
    view before = view_of(s.w);
    reef_history_range reach = reef_history_reach(s.h);
    for (uint64_t fails = 5; fails < 20; fails += 3) {
        const reef_snapshot *tenth = reef_history_at(s.h, 10);
        s.g.fail_at = fails + 1;
        assert_status(REEF_IO, reef_history_correct(s.h, &(reef_late_input){4, &late, sizeof late}, 1));
        s.g.fail_at = 0;
        assert_view(view_of(s.w), before);
        assert_reach(s.h, reach);
        assert_ptr_equal(reef_history_at(s.h, 10), tenth);
        assert_int_equal(*(const uint32_t *)reef_history_input(s.h, 4, NULL), inputs[4]);
    }
    scene_end(&s, state);
}

/* ---- memory that runs out ---- */

enum { PLAYED = 16 };

/* The calls that need memory, each from a scene of its own. */
static reef_status sweep_step(scene *s)
{
    uint32_t input = 3;
    return reef_history_step(s->h, &input, sizeof input);
}
static reef_status sweep_rewind(scene *s)
{
    uint64_t t = reef_history_reach(s->h).first;
    while (reef_history_at(s->h, t) || reef_history_at(s->h, t + 1)) t++;
    assert_true(t + 1 < PLAYED); /* two that were thinned out */
    return reef_history_rewind(s->h, t + 1);
}
static reef_status sweep_rewind_kept(scene *s) { return reef_history_rewind(s->h, reef_history_reach(s->h).first); }
static reef_status sweep_replay(scene *s) { return reef_history_replay(s->h, PLAYED); }
static reef_status sweep_beside(scene *s) /* on a fork */
{
    reef_replay *r = reef_replay_new(s->h, reef_history_reach(s->h).tick - 6);
    reef_status status = r ? reef_replay_play(r, 4) : reef_last_error(s->w).status;
    if (status == REEF_OK) status = reef_replay_play(r, UINT64_MAX);
    if (status == REEF_OK) status = reef_replay_take(r);
    reef_replay_free(r);
    return status;
}
static reef_status sweep_correct(scene *s)
{
    uint32_t a = 7, b = 8;
    uint64_t end = reef_history_reach(s->h).tick;
    return reef_history_correct(s->h, (reef_late_input[]){{end - 2, &a, sizeof a}, {end - 5, &b, sizeof b}}, 2);
}
static reef_status sweep_synctest(scene *s)
{
    return reef_synctest(
        s->w,
        &(reef_synctest_config){.ticks = 4, .distance = 2, .step = game_step, .input = game_input, .context = &s->g},
        NULL);
}
static reef_status sweep_new(scene *s)
{
    reef_history *h = reef_history_new(s->w, &(reef_history_config){.ticks = 1, .step = game_step, .context = &s->g});
    if (h == NULL) return reef_last_error(s->w).status;
    reef_history_free(h);
    return REEF_OK;
}

static void sweep_prepare(scene *s, void **state, uint64_t back)
{
    scene_begin(s, state, (reef_history_config){.ticks = 40, .bytes = 400 << 10, .hashes = true});
    for (uint32_t t = 0; t < PLAYED; t++) play(s, t);
    if (back) assert_ok(reef_history_rewind(s->h, PLAYED - back));
}

static view sweep_after(void **state, reef_status (*call)(scene *s), uint64_t back)
{
    scene s;
    sweep_prepare(&s, state, back);
    assert_ok(call(&s));
    view v = view_of(s.w);
    scene_end(&s, state);
    return v;
}

/* One allocation fails, or all from there on: world and history stay as they are; then it works. False: none was
 * left to fail. */
static bool sweep_nth(void **state, reef_status (*call)(scene *s), uint64_t back, uint64_t n, bool rest, view wanted)
{
    scene s;
    heap *memory = heap_of(state);
    sweep_prepare(&s, state, back);
    view before = view_of(s.w);
    reef_history_range reach = reef_history_reach(s.h);
    heap_fail_nth(memory, n, rest);
    reef_status status = call(&s);
    uint64_t refused = memory->refused;
    heap_fail_never(memory);
    if (status != REEF_OK) {
        assert_int_equal(status, REEF_NO_MEMORY);
        assert_true(refused > 0);
        assert_view(view_of(s.w), before);
        assert_reach(s.h, reach);
        assert_ok(call(&s));
    }
    assert_view(view_of(s.w), wanted);
    scene_end(&s, state);
    return refused > 0;
}

static void sweep(void **state, reef_status (*call)(scene *s), uint64_t back)
{
    for (int i = 0; i < 3; i++) {
        uint64_t n = 1;
        sounds = i == 2;
        view wanted = sweep_after(state, call, back);
        while (sweep_nth(state, call, back, n, i > 0, wanted)) n++;
        assert_true(n > 1);
    }
    sounds = false;
}

static void new_without_memory(void **state) { sweep(state, sweep_new, 0); }
static void step_without_memory(void **state) { sweep(state, sweep_step, 0); }
static void step_into_another_future_without_memory(void **state) { sweep(state, sweep_step, 3); }
static void rewind_without_memory(void **state) { sweep(state, sweep_rewind, 0); }
static void rewind_to_a_kept_tick_without_memory(void **state) { sweep(state, sweep_rewind_kept, 0); }
static void replay_without_memory(void **state) { sweep(state, sweep_replay, 4); }
static void replay_on_a_fork_without_memory(void **state) { sweep(state, sweep_beside, 0); }
static void correct_without_memory(void **state) { sweep(state, sweep_correct, 0); }
static void synctest_without_memory(void **state) { sweep(state, sweep_synctest, 0); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_step_that_fails_changes_nothing),
        TEST(a_correction_that_fails_changes_nothing),
        TEST(new_without_memory),
        TEST(step_without_memory),
        TEST(step_into_another_future_without_memory),
        TEST(rewind_without_memory),
        TEST(rewind_to_a_kept_tick_without_memory),
        TEST(replay_without_memory),
        TEST(replay_on_a_fork_without_memory),
        TEST(correct_without_memory),
        TEST(synctest_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
