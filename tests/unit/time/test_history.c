/* History: what is kept, going back to it, playing again, inputs that come late, other futures, budgets, lifetimes.
 * (Memory that runs out, steps that fail: test_history_oom.c.) */
#include "history_game.h"

/* ---- keeping ---- */

static void the_last_n_ticks_are_kept(void **state)
{
    enum { KEEP = 8 };
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = KEEP});
    for (uint64_t t = 0; t < 50; t++) {
        reef_history_range before = reef_history_reach(s.h);
        assert_int_equal(before.tick, t);
        assert_int_equal(before.end, t);
        assert_int_equal(before.kept, t < KEEP ? t : KEEP);
        assert_int_equal(before.first, t < KEEP ? 0 : t - KEEP);
        play(&s, (uint32_t)t * 3);
    }
    for (uint64_t t = 0; t < 60; t++) {
        size_t bytes = 99;
        bool there = t >= 50 - KEEP && t < 50;
        assert_int_equal(reef_history_at(s.h, t) != NULL, there);
        const uint32_t *input = reef_history_input(s.h, t, &bytes);
        assert_int_equal(input != NULL, there);
        assert_int_equal(bytes, there ? 4 : 0);
        if (there) assert_int_equal(*input, t * 3);
    }
    scene_end(&s, state);
}

static void a_kept_state_can_be_forked(void **state)
{
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 20});
    for (uint32_t t = 0; t < 10; t++) play(&s, t);
    uint64_t seventh = reef_hash(s.w);
    for (uint32_t t = 10; t < 20; t++) play(&s, t);
    reef_world *fork = reef_snapshot_fork(reef_history_at(s.h, 10));
    assert_int_equal(reef_hash(fork), seventh);
    assert_valid(fork);
    reef_world_free(fork);
    scene_end(&s, state);
}

/* ---- going back ---- */

static void every_kept_tick_comes_back_as_it_was(void **state)
{
    enum { TICKS = 60, KEEP = 40 };
    static view seen[TICKS + 1];
    uint64_t seed = 1;
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = KEEP, .hashes = true});
    for (uint32_t t = 0; t <= TICKS; t++) {
        seen[t] = view_of(s.w);
        if (t < TICKS) play(&s, t * t);
    }
    for (uint64_t t = TICKS - KEEP; t < TICKS; t++) assert_int_equal(reef_history_hash(s.h, t), seen[t].hash);
    assert_int_equal(reef_history_hash(s.h, TICKS), 0);
    for (int i = 0; i < 100; i++) { /* back and forth, the world's present state as well */
        uint64_t t = i <= KEEP ? TICKS - (uint64_t)i : TICKS - random_below(&seed, KEEP + 1);
        uint64_t played = s.g.played;
        assert_ok(reef_history_rewind(s.h, t));
        assert_int_equal(s.g.played - played, t == TICKS);
        assert_int_equal(reef_history_reach(s.h).tick, t);
        assert_int_equal(reef_history_reach(s.h).end, TICKS);
        assert_view(view_of(s.w), seen[t]);
    }
    scene_end(&s, state);
}

static void replayed_ticks_have_the_same_hashes(void **state)
{
    enum { TICKS = 50 };
    static view seen[TICKS + 1];
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = TICKS, .hashes = true});
    for (uint32_t t = 0; t <= TICKS; t++) {
        seen[t] = view_of(s.w);
        if (t < TICKS) play(&s, t * 7);
    }
    for (uint64_t back = 0; back < TICKS; back += 7) {
        assert_ok(reef_history_rewind(s.h, back));
        s.g.played = 0;
        for (uint64_t t = back; t < TICKS; t = t + 9 < TICKS ? t + 9 : TICKS) {
            assert_ok(reef_history_replay(s.h, t));
            assert_view(view_of(s.w), seen[t]);
        }
        assert_ok(reef_history_replay(s.h, TICKS));
        assert_int_equal(s.g.played, TICKS - back);
        assert_view(view_of(s.w), seen[TICKS]);
        for (uint64_t t = 0; t < TICKS; t++) assert_int_equal(reef_history_hash(s.h, t), seen[t].hash);
        assert_int_equal(reef_history_reach(s.h).kept, TICKS);
    }
    scene_end(&s, state);
}

/* What the caller changes is no input: it is in the states that were kept after it, and not in what is played again. */
static void replay_goes_on_from_the_world_as_it_is(void **state)
{
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 20, .hashes = true});
    for (uint32_t t = 0; t < 10; t++) play(&s, t);
    uint64_t end = reef_hash(s.w), ninth = reef_history_hash(s.h, 9);
    assert_ok(reef_history_rewind(s.h, 4));
    assert_some(reef_spawn(s.w, reef_with(Mass, 1234)));
    uint64_t changed = reef_hash(s.w);
    assert_ok(reef_history_replay(s.h, 8));
    assert_int_equal(reef_history_hash(s.h, 4), changed);
    assert_null(reef_history_at(s.h, 9)); /* the old state 9 doesn't follow from this one */
    assert_int_equal(reef_history_reach(s.h).end, 10);
    assert_ok(reef_history_rewind(s.h, 9));
    assert_int_not_equal(reef_hash(s.w), ninth);
    assert_ok(reef_history_rewind(s.h, 10));
    assert_int_not_equal(reef_hash(s.w), end);
    assert_ok(reef_history_rewind(s.h, 3));
    assert_ok(reef_history_replay(s.h, 10));
    assert_int_equal(reef_hash(s.w), end);
    scene_end(&s, state);
}

static void another_future_is_that_of_a_fresh_world(void **state)
{
    enum { TICKS = 45 };
    uint32_t inputs[TICKS];
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 100});
    for (uint32_t t = 0; t < 40; t++) play(&s, inputs[t] = t);
    for (uint32_t round = 1; round <= 6; round++) {
        uint64_t back = 5 * round;
        assert_ok(reef_history_rewind(s.h, back));
        for (uint64_t t = back; t < back + 15; t++) play(&s, inputs[t] = (uint32_t)t * 1000 + round);
        assert_int_equal(reef_history_reach(s.h).end, back + 15); /* the old future is forgotten */
        assert_null(reef_history_at(s.h, back + 15));
        assert_view(view_of(s.w), fresh_view(state, inputs, back + 15));
    }
    scene_end(&s, state);
}

/* ---- late inputs ---- */

static void late_inputs_count_as_if_in_time(void **state)
{
    enum { TICKS = 60 };
    uint32_t guess[TICKS], truth[TICKS];
    uint64_t seed = 9;
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 16, .hashes = true});
    for (uint32_t t = 0; t < TICKS; t++) {
        truth[t] = random_below(&seed, 5);
        guess[t] = t ? truth[t - 1] : 0; /* what it was before */
        play(&s, guess[t]);
        if (t % 5 != 4) continue;
        reef_late_input late[6] = {{t, &guess[t], sizeof *guess}}; /* of two for one tick the later counts */
        for (uint32_t i = 0; i < 5; i++) late[i + 1] = (reef_late_input){t - i, &truth[t - i], sizeof *truth};
        assert_ok(reef_history_correct(s.h, late, 6));
        assert_int_equal(reef_history_reach(s.h).tick, t + 1);
        assert_int_equal(reef_history_reach(s.h).kept, t < 16 ? t + 1 : 16);
        assert_view(view_of(s.w), fresh_view(state, truth, t + 1));
    }
    for (uint32_t t = TICKS - 16; t < TICKS; t++) {
        assert_int_equal(*(const uint32_t *)reef_history_input(s.h, t, NULL), truth[t]);
        assert_int_equal(reef_history_hash(s.h, t), fresh_view(state, truth, t).hash);
    }
    scene_end(&s, state);
}

static void a_late_input_ahead_of_the_world_waits(void **state)
{
    uint32_t inputs[20], other = 777;
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 100});
    for (uint32_t t = 0; t < 20; t++) play(&s, inputs[t] = t);
    for (uint64_t world = 0; world < 12; world += 3) {
        assert_ok(reef_history_rewind(s.h, world));
        s.g.played = 0;
        inputs[12 - world] = other;
        assert_ok(reef_history_correct(s.h, &(reef_late_input){12 - world, &other, sizeof other}, 1));
        assert_int_equal(reef_history_reach(s.h).tick, world);
        assert_int_equal(reef_history_reach(s.h).end, 20);
        assert_view(view_of(s.w), fresh_view(state, inputs, world));
        assert_ok(reef_history_rewind(s.h, 20));
        assert_view(view_of(s.w), fresh_view(state, inputs, 20));
    }
    scene_end(&s, state);
}

static void inputs_have_any_length(void **state)
{
    char text[3000];
    size_t bytes;
    memset(text, 7, sizeof text);
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 100});
    for (size_t n = 0; n < sizeof text; n += 61) assert_ok(reef_history_step(s.h, n ? text : NULL, n));
    text[0] = 8; /* they are copies */
    for (uint64_t t = 0; t < reef_history_reach(s.h).end; t++) {
        const char *in = reef_history_input(s.h, t, &bytes);
        assert_int_equal(bytes, t * 61);
        assert_int_equal((uintptr_t)in % sizeof(max_align_t), 0);
        if (t) assert_true(in[0] == 7 && in[bytes - 1] == 7);
        else assert_null(in);
    }
    assert_ok(reef_history_correct(s.h, &(reef_late_input){7, NULL, 0}, 1));
    assert_null(reef_history_input(s.h, 7, &bytes));
    assert_int_equal(bytes, 0);
    scene_end(&s, state);
}

/* The hash of a state that was given up because it doesn't follow any more isn't told; that of one that was thinned
 * out is. */
static void a_hash_goes_with_the_inputs_that_led_to_it(void **state)
{
    enum { TICKS = 20 };
    uint32_t inputs[TICKS], other = 999;
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 100, .hashes = true});
    for (uint32_t t = 0; t < TICKS; t++) play(&s, inputs[t] = t);
    assert_ok(reef_history_rewind(s.h, 6));
    inputs[12] = other; /* ahead of the world */
    assert_ok(reef_history_correct(s.h, &(reef_late_input){12, &other, sizeof other}, 1));
    for (uint64_t t = 0; t < TICKS; t++)
        assert_int_equal(reef_history_hash(s.h, t), t <= 12 ? fresh_view(state, inputs, t).hash : 0);
    inputs[3] = other; /* behind it */
    assert_ok(reef_history_correct(s.h, &(reef_late_input){3, &other, sizeof other}, 1));
    for (uint64_t t = 0; t < TICKS; t++)
        assert_int_equal(reef_history_hash(s.h, t), t < 6 ? fresh_view(state, inputs, t).hash : 0);
    assert_ok(reef_history_rewind(s.h, TICKS)); /* plays, but keeps nothing */
    assert_int_equal(reef_history_hash(s.h, 10), 0);
    assert_ok(reef_history_rewind(s.h, 4));
    assert_ok(reef_history_replay(s.h, 15));
    for (uint64_t t = 0; t < TICKS; t++)
        assert_int_equal(reef_history_hash(s.h, t), t < 15 ? fresh_view(state, inputs, t).hash : 0);
    scene_end(&s, state);
}

/* ---- anything, in any order ---- */

/* What was recorded, and a second world that plays it without a history: states that were played once are held. */
enum { SHADOWS = 128 };
typedef struct shadow {
    scene s;
    uint32_t input[SHADOWS];
    reef_snapshot *at[SHADOWS + 1];
    uint64_t hash[SHADOWS + 1], known; /* of states 0 ... known */
} shadow;

static uint64_t shadow_hash(shadow *x, uint64_t tick)
{
    if (tick > x->known) assert_ok(reef_restore(x->s.w, x->at[x->known]));
    for (; x->known < tick; x->known++) {
        const uint64_t t = x->known;
        assert_ok(game_step(&x->s.g, x->s.w, t, &x->input[t], sizeof *x->input));
        reef_snapshot_free(x->at[t + 1]);
        x->at[t + 1] = reef_snapshot_take(x->s.w);
        x->hash[t + 1] = reef_hash(x->s.w);
    }
    return x->hash[tick];
}

static void shadow_input(shadow *x, uint64_t tick, uint32_t input)
{
    x->input[tick] = input;
    if (x->known > tick) x->known = tick;
}

static void history_check(scene *s, shadow *x, uint64_t *seed)
{
    const reef_history_range r = reef_history_reach(s->h);
    uint64_t kept = 0;
    assert_true(r.first <= r.tick && r.tick <= r.end);
    assert_int_equal(reef_hash(s->w), shadow_hash(x, r.tick));
    for (uint64_t t = r.first; t < r.end; t++) {
        const reef_snapshot *at = reef_history_at(s->h, t);
        const uint64_t hash = reef_history_hash(s->h, t);
        kept += at != NULL;
        assert_int_equal(*(const uint32_t *)reef_history_input(s->h, t, NULL), x->input[t]);
        if (hash || at) assert_int_equal(hash, shadow_hash(x, t));
        if (!at || random_below(seed, 10)) continue;
        reef_world *fork = reef_snapshot_fork(at);
        assert_int_equal(reef_hash(fork), hash);
        reef_world_free(fork);
    }
    assert_int_equal(kept, r.kept);
    if (r.end > r.first) assert_non_null(reef_history_at(s->h, r.first));
}

static void history_act(scene *s, shadow *x, uint64_t *seed)
{
    const reef_history_range r = reef_history_reach(s->h);
    const uint32_t what = random_below(seed, 10), recorded = (uint32_t)(r.end - r.first);
    reef_late_input late[3];
    if (what < 5 && r.tick < SHADOWS) {
        shadow_input(x, r.tick, random_next(seed));
        play(s, x->input[r.tick]);
    } else if (what < 7) {
        assert_ok(reef_history_rewind(s->h, r.first + random_below(seed, recorded + 1)));
    } else if (what < 8) {
        assert_ok(reef_history_replay(s->h, r.tick + random_below(seed, (uint32_t)(r.end - r.tick) + 1)));
    } else if (recorded) {
        const uint32_t count = 1 + random_below(seed, 3);
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t t = r.first + random_below(seed, recorded);
            shadow_input(x, t, random_next(seed));
            late[i] = (reef_late_input){t, &x->input[t], sizeof *x->input};
        }
        assert_ok(reef_history_correct(s->h, late, count));
    }
}

static void steps_rewinds_replays_and_corrections_in_any_order(void **state)
{
    static shadow x;
    uint64_t seed = 1;
    for (uint32_t round = 0; round < 12; round++) { /* bounds of bytes, of ticks, of both */
        const uint64_t ticks = round % 3 == 0 ? 0 : 5 + random_below(&seed, 40);
        const uint64_t bytes = round % 3 == 1 ? 0 : (200 + random_below(&seed, 800)) << 10;
        scene s;
        x = (shadow){.known = 0};
        scene_begin(&s, state, (reef_history_config){.ticks = ticks, .bytes = bytes, .hashes = true});
        scene_begin(&x.s, state, (reef_history_config){.ticks = 1});
        x.at[0] = reef_snapshot_take(x.s.w);
        x.hash[0] = reef_hash(x.s.w);
        for (int i = 0; i < 60; i++) {
            history_act(&s, &x, &seed);
            history_check(&s, &x, &seed);
        }
        for (int t = 0; t <= SHADOWS; t++) reef_snapshot_free(x.at[t]);
        scene_end(&x.s, state);
        scene_end(&s, state);
    }
}

/* ---- a budget ---- */

static uint64_t bytes_used(reef_world *w)
{
    reef_stats s = reef_world_stats(w);
    return s.bytes_total - s.bytes_spare;
}

/* Every tick changes one block of many. */
static reef_status one_block_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)input, (void)bytes, (void)context;
    Position *p = reef_mut(w, reef_entity_at(w, (uint32_t)(tick % 40 * 1024)), Position);
    if (p == NULL) return REEF_NO_MEMORY;
    p->x += (float)(tick % 1000);
    return REEF_OK;
}

static void a_budget_thins_the_older_ticks(void **state)
{
    enum { BUDGET = 8 << 20, TICKS = 2000 };
    static uint64_t hash[TICKS + 1];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, 40 * 1024, NULL, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    assert_true(reef_hash(w) != 0);
    uint64_t without = bytes_used(w);
    reef_history *h =
        reef_history_new(w, &(reef_history_config){.bytes = BUDGET, .step = one_block_step, .hashes = true});
    for (uint32_t t = 0; t < TICKS; t++) {
        hash[t] = reef_hash(w);
        assert_ok(reef_history_step(h, &t, sizeof t));
        assert_true(reef_history_reach(h).bytes <= BUDGET);
    }
    hash[TICKS] = reef_hash(w);
    uint64_t counted = reef_history_reach(h).bytes, taken = bytes_used(w) - without;
    assert_true(counted > taken / 10 * 9);
    assert_true(counted < taken / 10 * 11);
    reef_history_range r = reef_history_reach(h);
    assert_int_equal(r.first, 0); /* the log is small: nothing is out of reach */
    assert_in_range(r.kept, 20, 200);
    assert_non_null(reef_history_at(h, 0));
    assert_non_null(reef_history_at(h, TICKS - 1));
    uint64_t kept_late = 0, kept_early = 0, last = 0, gap = 0;
    for (uint64_t t = 0; t < TICKS; t++) {
        if (reef_history_at(h, t) == NULL) continue;
        kept_late += t >= TICKS - 50;
        kept_early += t >= 500 && t < 550;
        if (t - last > gap) gap = t - last;
        last = t;
    }
    assert_true(kept_late > 10);
    assert_true(kept_early < kept_late / 2);
    assert_true(gap < TICKS / 2);
    for (uint64_t t = 0; t <= TICKS; t += 37) { /* kept or not */
        assert_int_equal(reef_history_hash(h, t), t < TICKS ? hash[t] : 0);
        assert_ok(reef_history_rewind(h, t));
        assert_int_equal(reef_hash(w), hash[t]);
    }
    reef_history_free(h);
}

/* An input far ahead of the world may be long; the world stays within reach. */
static void a_budget_never_drops_where_the_world_is(void **state)
{
    static char long_input[1 << 20];
    scene s;
    scene_begin(&s, state, (reef_history_config){.bytes = 1 << 20});
    for (uint32_t t = 0; t < 12; t++) play(&s, t);
    uint64_t first = reef_history_reach(s.h).first;
    assert_true(reef_history_reach(s.h).kept > 2);
    assert_ok(reef_history_rewind(s.h, first + 1));
    view before = view_of(s.w);
    assert_ok(reef_history_correct(s.h, &(reef_late_input){10, long_input, sizeof long_input}, 1));
    assert_true(reef_history_reach(s.h).first <= first + 1);
    assert_view(view_of(s.w), before);
    assert_ok(reef_history_rewind(s.h, 12));
    assert_ok(reef_history_rewind(s.h, first + 1));
    assert_view(view_of(s.w), before);
    play(&s, 1);
    scene_end(&s, state);
}

static void a_budget_for_less_than_one_tick_keeps_one(void **state)
{
    scene s;
    scene_begin(&s, state, (reef_history_config){.bytes = 1});
    for (uint32_t t = 0; t < 20; t++) {
        play(&s, t);
        assert_int_equal(reef_history_reach(s.h).kept, 1);
        assert_int_equal(reef_history_reach(s.h).first, t);
    }
    view end = view_of(s.w);
    assert_ok(reef_history_rewind(s.h, 19));
    assert_ok(reef_history_rewind(s.h, 20));
    assert_view(view_of(s.w), end);
    scene_end(&s, state);
}

static reef_status one_value_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    Position *p = reef_mut(w, *(const reef_entity *)context, Position);
    (void)input, (void)bytes;
    if (p == NULL) return REEF_NO_MEMORY;
    p->x = p->x / 2 + (float)(tick % 100);
    return REEF_OK;
}

/* The log alone may not eat the budget either. */
static void a_long_log_drops_the_oldest_ticks(void **state)
{
    enum { BUDGET = 1 << 20 };
    static char input[1000];
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    reef_history *h =
        reef_history_new(w, &(reef_history_config){.bytes = BUDGET, .step = one_value_step, .context = &e});
    for (int t = 0; t < 2000; t++) {
        assert_ok(reef_history_step(h, input, sizeof input));
        assert_true(reef_history_reach(h).bytes <= BUDGET);
    }
    reef_history_range r = reef_history_reach(h);
    assert_in_range(r.first, 1400, 1700); /* half of the budget is for the log */
    assert_true(r.kept >= 10);            /* and half for the states */
    uint64_t end = reef_hash(w);
    assert_ok(reef_history_rewind(h, r.first));
    assert_ok(reef_history_replay(h, r.end));
    assert_int_equal(reef_hash(w), end);
    reef_history_free(h);
}

static void both_bounds_hold(void **state)
{
    static view seen[301];
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 100, .bytes = 600 << 10});
    for (uint32_t t = 0; t <= 300; t++) {
        seen[t] = view_of(s.w);
        if (t == 300) break;
        play(&s, t);
        reef_history_range r = reef_history_reach(s.h);
        assert_true(r.bytes <= 600 << 10);
        assert_true(r.end - r.first <= 100);
        assert_non_null(reef_history_at(s.h, r.first));
    }
    reef_history_range r = reef_history_reach(s.h);
    assert_true(r.kept < r.end - r.first); /* it did thin */
    for (uint64_t t = r.first; t <= 300; t++) {
        assert_ok(reef_history_rewind(s.h, r.first + t * 37 % (300 - r.first))); /* straight from one to the other */
        assert_ok(reef_history_rewind(s.h, t));
        assert_view(view_of(s.w), seen[t]);
    }
    scene_end(&s, state);
}

/* ---- memory and lifetimes ---- */

/* Reads until Position has an index of its blocks. */
static void read_often(const reef_world *w)
{
    for (int i = 0; i < 500; i++) assert_non_null(reef_get(w, reef_entity_at(w, 0), Position));
}

static void memory_is_back_when_a_history_is_freed(void **state)
{
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, 40 * 1024, NULL, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    read_often(w);
    reef_stats was = reef_world_stats(w);
    uint64_t before = bytes_used(w);
    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 30, .step = one_block_step});
    for (uint32_t t = 0; t < 100; t++) {
        assert_ok(reef_history_step(h, &t, sizeof t));
        if (t % 7 == 6) assert_ok(reef_history_rewind(h, t - 3));
        if (t % 7 == 6) assert_ok(reef_history_replay(h, reef_history_reach(h).end));
    }
    assert_true(bytes_used(w) > before);
    reef_history_free(h);
    read_often(w);
    reef_stats now = reef_world_stats(w);
    assert_int_equal(now.bytes_rows, was.bytes_rows);
    assert_int_equal(now.bytes_index, was.bytes_index);
    assert_int_equal(now.bytes_tables, was.bytes_tables);
    assert_in_range(bytes_used(w), before, before + 256); /* some bytes of books for each spare piece */
}

static void a_history_may_outlive_its_world(void **state)
{
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 30, .hashes = true});
    for (uint32_t t = 0; t < 20; t++) play(&s, t);
    assert_ok(reef_history_rewind(s.h, 11));
    end_world(state, s.w);
    reef_history_free(s.h);
    scene_begin(&s, state, (reef_history_config){.ticks = 30});
    end_world(state, s.w);
    reef_history_free(s.h); /* that never played */
    reef_history_free(NULL);
}

static void two_histories_of_one_world(void **state)
{
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 30});
    reef_history *other = reef_history_new(s.w, &(reef_history_config){.ticks = 5, .step = game_step, .context = &s.g});
    for (uint32_t t = 0; t < 10; t++) play(&s, t);
    uint64_t ten = reef_hash(s.w);
    for (uint32_t t = 0; t < 10; t++) assert_ok(reef_history_step(other, &t, sizeof t));
    assert_ok(reef_history_rewind(other, 5));
    assert_ok(reef_history_rewind(s.h, 3));
    assert_ok(reef_history_replay(s.h, 10));
    assert_int_equal(reef_hash(s.w), ten);
    reef_history_free(other);
    scene_end(&s, state);
}

/* Values with hooks: each is destroyed once, whatever becomes of the ticks (the fixture looks). */
static reef_status hooked_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)input, (void)bytes, (void)context;
    if (tick % 3 == 0) reef_spawn(w, reef_with(Tracked, .value = (int)tick), reef_with(Loose, .value = 3));
    reef_entity e = reef_entity_at(w, (uint32_t)(tick * 7 % 11));
    if (reef_has(w, e, Tracked)) reef_mut(w, e, Tracked)->value += (int)tick;
    if (tick % 5 == 0 && reef_is_alive(w, e)) reef_destroy(w, e);
    return REEF_OK;
}

static void values_with_hooks_go_back_too(void **state)
{
    uint64_t seen[41];
    reef_world *w = world_of(state);
    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 40, .step = hooked_step});
    for (uint32_t t = 0; t <= 40; t++) {
        seen[t] = digest(w);
        if (t < 40) assert_ok(reef_history_step(h, NULL, 0));
    }
    for (uint64_t t = 0; t <= 40; t += 3) {
        assert_ok(reef_history_rewind(h, t));
        assert_int_equal(digest(w), seen[t]);
        assert_ok(reef_history_replay(h, 40));
        assert_int_equal(digest(w), seen[40]);
    }
    reef_history_free(h);
}

static reef_status sound_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    uint64_t *fail_at = context;
    (void)input, (void)bytes;
    Position *p = reef_mut(w, reef_entity_at(w, 0), Position);
    if (p == NULL) return REEF_NO_MEMORY;
    p->x += (float)tick;
    return *fail_at == tick ? REEF_IO : REEF_OK;
}

static void what_a_rewind_leaves_alone_stays(void **state)
{
    reef_world *w = world_of(state);
    uint64_t fail_at = 7;
    reef_entity e = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Sound, 5));
    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 40, .step = sound_step, .context = &fail_at});
    for (int t = 0; t < 7; t++) assert_ok(reef_history_step(h, NULL, 0));
    assert_int_equal(reef_get(w, e, Sound)->handle, 5);
    reef_mut(w, e, Sound)->handle = 6;
    assert_status(REEF_IO, reef_history_step(h, NULL, 0));
    assert_int_equal(reef_get(w, e, Sound)->handle, 6);
    assert_position(w, e, 21, 0);
    assert_ok(reef_history_rewind(h, 2));
    assert_int_equal(reef_get(w, e, Sound)->handle, 6);
    assert_position(w, e, 1, 0);
    fail_at = 4;
    assert_status(REEF_IO, reef_history_replay(h, 7));
    assert_int_equal(reef_get(w, e, Sound)->handle, 6);
    assert_position(w, e, 1, 0);
    fail_at = 99;
    assert_ok(reef_history_replay(h, 7));
    assert_int_equal(reef_get(w, e, Sound)->handle, 6);
    assert_position(w, e, 21, 0);
    reef_history_free(h);
}

/* From tick 1 on, entity 0 has a sound; every later tick writes it. */
static reef_status singing_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    uint64_t *fail_at = context;
    reef_entity e = reef_entity_at(w, 0);
    (void)input, (void)bytes;
    if (tick == 1) reef_set(w, e, Sound, 100);
    if (tick > 1) reef_mut(w, e, Sound)->handle = (int32_t)tick;
    return *fail_at == tick ? REEF_IO : REEF_OK;
}

static void what_a_rewind_leaves_alone_is_never_in_a_kept_state(void **state)
{
    reef_world *w = world_of(state);
    uint64_t fail_at = 99;
    reef_entity e = reef_spawn(w, reef_with(Position, 0, 0));
    reef_history *h =
        reef_history_new(w, &(reef_history_config){.ticks = 9, .step = singing_step, .context = &fail_at});
    for (int t = 0; t < 6; t++) assert_ok(reef_history_step(h, NULL, 0));
    assert_ok(reef_history_rewind(h, 0)); /* the sound is gone */
    assert_ok(reef_history_rewind(h, 5));
    assert_int_equal(reef_get(w, e, Sound)->handle, 0);
    fail_at = 4;
    assert_status(REEF_IO, reef_history_correct(h, &(reef_late_input){2, "x", 1}, 1));
    for (uint64_t t = 2; t < 6; t++) {
        reef_world *fork = reef_snapshot_fork(reef_history_at(h, t));
        assert_int_equal(reef_get(fork, e, Sound)->handle, 0);
        reef_world_free(fork);
    }
    reef_history_free(h);
}

/* ---- refusals ---- */

static reef_status meddling_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    reef_history **h = context;
    (void)tick, (void)input, (void)bytes;
    assert_refused(w, REEF_LOCKED, reef_history_step(*h, NULL, 0));
    assert_refused(w, REEF_LOCKED, reef_history_rewind(*h, 0));
    assert_refused(w, REEF_LOCKED, reef_history_replay(*h, 0));
    assert_refused(w, REEF_LOCKED, reef_history_correct(*h, NULL, 0));
    return REEF_OK;
}

static void a_running_step_cannot_use_its_history(void **state)
{
    reef_world *w = world_of(state);
    reef_history *h = NULL;
    h = reef_history_new(w, &(reef_history_config){.ticks = 9, .step = meddling_step, .context = &h});
    assert_ok(reef_history_step(h, NULL, 0));
    assert_ok(reef_history_step(h, NULL, 0));
    reef_history_free(h);
}

static void arguments_are_checked(void **state)
{
    scene s;
    char long_input[65] = {0};
    reef_world *w = world_of(state);
    const reef_history_config good = {.ticks = 3, .step = game_step};
    assert_null(reef_history_new(NULL, &good));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_history_new(w, NULL));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_history_new(w, &(reef_history_config){.step = game_step}));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_history_new(w, &(reef_history_config){.ticks = 3}));
    scene_begin(&s, state, (reef_history_config){.ticks = 10, .input_bytes = 64});
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_rewind(s.h, 1));
    assert_ok(reef_history_rewind(s.h, 0)); /* where it is */
    for (uint32_t t = 0; t < 30; t++) play(&s, t);
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_step(s.h, NULL, 1));
    assert_refused(s.w, REEF_LIMIT, reef_history_step(s.h, long_input, 65));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_rewind(s.h, 19));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_rewind(s.h, 31));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_replay(s.h, 29));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_replay(s.h, 31));
    assert_ok(reef_history_replay(s.h, 30));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_correct(s.h, NULL, 1));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_correct(s.h, &(reef_late_input){19, NULL, 0}, 1));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_correct(s.h, &(reef_late_input){30, NULL, 0}, 1));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_history_correct(s.h, &(reef_late_input){25, NULL, 4}, 1));
    assert_refused(s.w, REEF_LIMIT, reef_history_correct(s.h, &(reef_late_input){25, long_input, 65}, 1));
    assert_ok(reef_history_step(s.h, long_input, 64));
    reef_block b = reef_begin(s.w, s.g.moving);
    assert_true(reef_next(&b));
    assert_int_equal(reef_history_step(s.h, NULL, 0), REEF_LOCKED);
    assert_int_equal(reef_history_rewind(s.h, 25), REEF_LOCKED);
    assert_int_equal(reef_history_replay(s.h, 31), REEF_LOCKED);
    assert_int_equal(reef_history_correct(s.h, &(reef_late_input){25, NULL, 0}, 1), REEF_LOCKED);
    reef_end(&b);
    assert_int_equal(reef_history_step(NULL, NULL, 0), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_history_rewind(NULL, 0), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_history_replay(NULL, 0), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_history_correct(NULL, NULL, 0), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_history_reach(NULL).end, 0);
    assert_null(reef_history_at(NULL, 0));
    assert_null(reef_history_input(NULL, 0, NULL));
    assert_int_equal(reef_history_hash(NULL, 0), 0);
    scene_end(&s, state);
}

typedef struct careless {
    reef_query query;
    reef_block open; /* a loop must not move */
} careless;

static reef_status careless_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    careless *c = context;
    (void)tick, (void)input, (void)bytes;
    c->open = reef_begin(w, c->query);
    if (reef_next(&c->open)) reef_inout(&c->open, Position)[0].x = 9;
    return REEF_OK;
}

static void a_step_must_close_its_loops(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    careless c = {.query = reef_query_new(w, "Position")};
    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 9, .step = careless_step, .context = &c});
    assert_int_equal(reef_history_step(h, NULL, 0), REEF_LOCKED);
    assert_position(w, e, 1, 2);
    assert_int_equal(reef_history_reach(h).end, 0);
    reef_end(&c.open);
    assert_ok(reef_set(w, e, Position, 3, 4));
    reef_history_free(h);
}

static void what_cannot_be_copied_is_named(void **state)
{
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 10});
    play(&s, 1);
    reef_entity e = reef_spawn(s.w, reef_default(Unique));
    assert_refused(s.w, REEF_NOT_COPYABLE, reef_history_step(s.h, NULL, 0));
    assert_int_equal(reef_last_error(s.w).component.id, reef_id(Unique).id);
    assert_ok(reef_destroy(s.w, e));
    play(&s, 1);
    scene_end(&s, state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_n_ticks_are_kept),
        TEST(a_kept_state_can_be_forked),
        TEST(every_kept_tick_comes_back_as_it_was),
        TEST(replayed_ticks_have_the_same_hashes),
        TEST(replay_goes_on_from_the_world_as_it_is),
        TEST(another_future_is_that_of_a_fresh_world),
        TEST(late_inputs_count_as_if_in_time),
        TEST(a_late_input_ahead_of_the_world_waits),
        TEST(inputs_have_any_length),
        TEST(a_hash_goes_with_the_inputs_that_led_to_it),
        TEST(steps_rewinds_replays_and_corrections_in_any_order),
        TEST(a_budget_thins_the_older_ticks),
        TEST(a_budget_never_drops_where_the_world_is),
        TEST(a_budget_for_less_than_one_tick_keeps_one),
        TEST(a_long_log_drops_the_oldest_ticks),
        TEST(both_bounds_hold),
        TEST(memory_is_back_when_a_history_is_freed),
        TEST(a_history_may_outlive_its_world),
        TEST(two_histories_of_one_world),
        TEST(values_with_hooks_go_back_too),
        TEST(what_a_rewind_leaves_alone_stays),
        TEST(what_a_rewind_leaves_alone_is_never_in_a_kept_state),
        TEST(a_running_step_cannot_use_its_history),
        TEST(arguments_are_checked),
        TEST(a_step_must_close_its_loops),
        TEST(what_cannot_be_copied_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
