/* Replays: recorded ticks that are played again on a fork, a few at a time, while the world goes on. */
#include "history_game.h"
#include "reef/all.h"

enum { BINDS = 777 }; /* an input: somebody comes who can't be copied */

/* A step that needs nothing but the world that it gets. */
static reef_status step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    const uint64_t *fail_at = context;
    uint64_t seed = tick * 977 + 3;
    uint32_t key = 0;
    if (bytes) memcpy(&key, input, sizeof key);
    seed += (uint64_t)key << 20;
    for (int i = 0; i < 12; i++)
        if (!game_act(w, &seed)) return REEF_NO_MEMORY;
    if (fail_at && *fail_at == tick + 1) return REEF_IO;
    if (key == BINDS && reef_entity_is_null(reef_spawn(w, reef_default(Unique)))) return REEF_NO_MEMORY;
    return reef_tick(w, 1);
}

static void swim(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) reef_inout(b, Position)[i].x += reef_in(b, Velocity)[i].x;
}
static void race(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) reef_inout(b, Position)[i].x += 10 * reef_in(b, Velocity)[i].x;
}
static reef_status slow_load(reef_world *w, void *context)
{
    (void)context;
    (void)reef_system_add(w, "swim", swim, "Position, in Velocity");
    return REEF_OK;
}
static reef_status fast_load(reef_world *w, void *context)
{
    (void)context;
    (void)reef_system_add(w, "swim", race, "Position, in Velocity");
    return REEF_OK;
}
static const reef_module slow = {.name = "rules", .version = 1, .load = slow_load};
static const reef_module fast = {.name = "rules", .version = 2, .load = fast_load};

typedef struct past {
    reef_world *w;
    reef_history *h;
    uint64_t fail_at;
} past;

static void past_begin(past *p, void **state, reef_history_config config)
{
    uint64_t seed = 5;
    *p = (past){.w = another_world(state, NULL)};
    assert_ok(reef_module_use(p->w, &slow));
    assert_ok(reef_spawn_many(p->w, CROWD, NULL, reef_with(Position, 1, 2), reef_with(Velocity, 1, 0)));
    for (uint32_t i = 0; sounds && i < SINGERS; i++)
        assert_status(REEF_ADDED, reef_set(p->w, reef_entity_at(p->w, i), Sound, (int32_t)i + 1));
    for (int i = 0; i < 60; i++) assert_true(game_act(p->w, &seed));
    config.step = step;
    config.context = &p->fail_at;
    p->h = reef_history_new(p->w, &config);
    assert_non_null(p->h);
}

static void past_end(past *p, void **state)
{
    reef_history_free(p->h);
    end_world(state, p->w);
}

static void go_on(past *p, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) assert_ok(reef_history_step(p->h, &i, sizeof i));
}

/* What the world would be if the fast rules had come before tick `at`. */
static view wanted_of(void **state, uint32_t at, uint32_t end)
{
    past p;
    past_begin(&p, state, (reef_history_config){.ticks = 40});
    go_on(&p, 0, at);
    assert_ok(reef_module_use(p.w, &fast));
    go_on(&p, at, end);
    const view v = view_of(p.w);
    past_end(&p, state);
    return v;
}

static void the_same_code_gives_the_same(void **state)
{
    past p;
    sounds = true;
    past_begin(&p, state, (reef_history_config){.ticks = 40, .hashes = true});
    go_on(&p, 0, 20);
    const view before = view_of(p.w);
    const uint64_t hash = reef_history_hash(p.h, 15);
    reef_replay *r = reef_replay_new(p.h, 5);
    assert_non_null(r);
    assert_ok(reef_replay_play(r, 100));
    assert_int_equal(reef_hash(reef_replay_world(r)), before.hash); /* a fork has no sounds */
    assert_view(view_of(p.w), before);
    assert_ok(reef_replay_take(r));
    assert_view(view_of(p.w), before);
    assert_int_equal(reef_history_hash(p.h, 15), hash);
    assert_ok(reef_replay_play(r, 1)); /* nothing is left */
    reef_replay_free(r);
    sounds = false;
    past_end(&p, state);
}

typedef struct Boss {
    int32_t id;
} Boss;
REEF_COMPONENT(Boss);
REEF_FIELDS(Boss, id);

/* Moves who is here by how many obey number 4. */
static void follow(reef_block *b)
{
    const uint64_t n = reef_index_get(reef_indexed(b, Boss, id), reef_key_i32(4), NULL, 0);
    for (uint32_t i = 0; i < b->count; i++) reef_inout(b, Position)[i].y += (float)n;
}
static uint32_t ends_of_worlds; /* that are freed */
static void leave_a_mark(reef_script_run *r)
{
    ends_of_worlds += r->block == NULL;
    if (r->block) (void)reef_cmd_spawn(r->block, reef_with(Position, 7, 7), reef_with(Boss, 4));
}

/* A world's own indexes, and scripts that end, are on the fork as well. */
static void indexes_and_scripts_are_there(void **state)
{
    static const reef_script_class marks = {.name = "marks", .end = leave_a_mark};
    past p;
    past_begin(&p, state, (reef_history_config){.ticks = 40});
    reef_scripts(p.w, "update", "spawns");
    (void)reef_system(p.w, follow, "Position; reads Boss");
    assert_non_null(reef_index_of(p.w, Boss, id));
    for (uint32_t i = SINGERS; i < CROWD; i++) {
        if (!reef_is_alive(p.w, reef_entity_at(p.w, i))) continue;
        assert_true(reef_set(p.w, reef_entity_at(p.w, i), Boss, (int32_t)(i % 8)) >= 0);
        assert_ok(reef_script_add(p.w, reef_entity_at(p.w, i), &marks, NULL));
    }
    const uint64_t few = reef_count(p.w, Boss);
    go_on(&p, 0, 20);
    assert_true(reef_count(p.w, Boss) > few - 20 && reef_count(p.w, Boss) != few);
    const view before = view_of(p.w);
    reef_replay *r = reef_replay_new(p.h, 5);
    assert_non_null(r);
    assert_ok(reef_replay_play(r, 100));
    assert_ok(reef_replay_take(r));
    ends_of_worlds = 0; /* a view forks the world */
    reef_replay_free(r);
    assert_non_null(r = reef_replay_new(p.h, 18)); /* and one that isn't taken */
    assert_ok(reef_replay_play(r, 1));
    reef_replay_free(r);
    assert_int_equal(ends_of_worlds, 0); /* for each start there is one end, which isn't that of a fork */
    assert_view(view_of(p.w), before);
    assert_true(ends_of_worlds > 0);
    past_end(&p, state);
}

/* The world goes on meanwhile, and what it plays is played again, too. */
static void other_code_gives_what_would_have_been(void **state)
{
    past p;
    past_begin(&p, state, (reef_history_config){.ticks = 40, .hashes = true});
    go_on(&p, 0, 20);
    assert_ok(reef_module_use(p.w, &fast));
    reef_replay *r = reef_replay_new(p.h, 5);
    assert_non_null(r);
    uint32_t tick = 20;
    for (;; tick++) {
        assert_ok(reef_replay_play(r, 3));
        const reef_replay_range reach = reef_replay_reach(r);
        assert_true(reach.from == 5 && reach.end == tick);
        if (reach.tick == reach.end) break;
        assert_refused(p.w, REEF_BAD_ARGUMENT, reef_replay_take(r)); /* not yet */
        go_on(&p, tick, tick + 1);
    }
    assert_int_equal(tick, 26);
    const view with_new = view_of(p.w);
    assert_non_null(reef_replay_at(r, 5));
    assert_non_null(reef_replay_at(r, 25));
    assert_null(reef_replay_at(r, 4));
    assert_null(reef_replay_at(r, 26));
    assert_ok(reef_replay_take(r));
    reef_replay_free(r);
    assert_true(view_of(p.w).hash != with_new.hash);
    assert_view(view_of(p.w), wanted_of(state, 5, 26));
    assert_ok(reef_history_rewind(p.h, 12)); /* the history has the states that were played again */
    assert_view(view_of(p.w), wanted_of(state, 5, 12));
    assert_ok(reef_history_rewind(p.h, 26));
    assert_view(view_of(p.w), wanted_of(state, 5, 26));
    assert_ok(reef_history_rewind(p.h, 4));
    past_end(&p, state);
}

/* The history keeps what the replay needs, and no longer than it does. */
static void bounds_wait_for_a_replay(void **state)
{
    past p;
    past_begin(&p, state, (reef_history_config){.ticks = 10});
    go_on(&p, 0, 20);
    assert_ok(reef_module_use(p.w, &fast));
    reef_replay *r = reef_replay_new(p.h, 10);
    assert_non_null(r);
    go_on(&p, 20, 30);
    assert_int_equal(reef_history_reach(p.h).first, 10);
    assert_ok(reef_replay_play(r, 20));
    assert_ok(reef_replay_take(r));
    assert_int_equal(reef_history_reach(p.h).first, 20);
    go_on(&p, 30, 35);
    assert_int_equal(reef_history_reach(p.h).first, 25);
    reef_replay_free(r);
    r = reef_replay_new(p.h, 25);
    go_on(&p, 35, 40);
    reef_replay_free(r); /* never played */
    assert_int_equal(reef_history_reach(p.h).first, 30);
    past_end(&p, state);
}

static void what_changes_the_past_ends_a_replay(void **state)
{
    past p;
    const uint32_t late = 7;
    past_begin(&p, state, (reef_history_config){.ticks = 40});
    assert_null(reef_replay_new(NULL, 0));
    assert_no_pointer(p.w, REEF_BAD_ARGUMENT, reef_replay_new(p.h, 0)); /* nothing was played */
    go_on(&p, 0, 20);
    assert_no_pointer(p.w, REEF_BAD_ARGUMENT, reef_replay_new(p.h, 21));
    for (int way = 0; way < 4; way++) {
        reef_replay *r = reef_replay_new(p.h, 5);
        assert_non_null(r);
        assert_no_pointer(p.w, REEF_LOCKED, reef_replay_new(p.h, 5));
        assert_ok(reef_replay_play(r, way == 3 ? 100 : 3));
        if (way == 0) assert_ok(reef_history_rewind(p.h, 18));
        if (way == 1) assert_ok(reef_history_rewind(p.h, 18)), assert_ok(reef_history_replay(p.h, 20));
        if (way == 2) assert_ok(reef_history_correct(p.h, &(reef_late_input){8, &late, sizeof late}, 1));
        if (way == 3) assert_ok(reef_replay_take(r)); /* its own end isn't one that is refused */
        if (way < 3) assert_refused(p.w, REEF_BAD_ARGUMENT, reef_replay_play(r, 1));
        if (way < 3) assert_refused(p.w, REEF_BAD_ARGUMENT, reef_replay_take(r));
        reef_replay_free(r);
        if (way == 0) assert_ok(reef_history_rewind(p.h, 20));
    }
    reef_replay *r = reef_replay_new(p.h, 5);
    assert_ok(reef_replay_play(r, 100));
    reef_block b = reef_begin_text(p.w, "Position");
    assert_true(reef_next(&b));
    assert_int_equal(reef_replay_take(r), REEF_LOCKED);
    reef_end(&b);
    reef_history_free(p.h); /* before the replay */
    assert_int_equal(reef_replay_play(r, 1), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_replay_take(r), REEF_BAD_ARGUMENT);
    assert_null(reef_replay_history(r));
    reef_replay_free(r);
    reef_replay_free(NULL);
    assert_null(reef_replay_world(NULL));
    assert_int_equal(reef_replay_play(NULL, 1), REEF_BAD_ARGUMENT);
    end_world(state, p.w);
}

static void a_tick_that_fails_leaves_the_world(void **state)
{
    past p;
    past_begin(&p, state, (reef_history_config){.ticks = 40});
    go_on(&p, 0, 20);
    const view before = view_of(p.w);
    const reef_history_range reach = reef_history_reach(p.h);
    p.fail_at = 13;
    reef_replay *r = reef_replay_new(p.h, 5);
    assert_ok(reef_replay_play(r, 4));
    assert_int_equal(reef_replay_play(r, 100), REEF_IO);
    p.fail_at = 0;
    assert_refused(p.w, REEF_BAD_ARGUMENT, reef_replay_play(r, 1));
    assert_refused(p.w, REEF_BAD_ARGUMENT, reef_replay_take(r));
    reef_replay_free(r);
    assert_view(view_of(p.w), before);
    assert_int_equal(reef_history_reach(p.h).tick, reach.tick);
    assert_int_equal(reef_history_reach(p.h).kept, reach.kept);
    assert_ok(reef_history_rewind(p.h, 3));
    assert_ok(reef_history_rewind(p.h, 20));
    assert_view(view_of(p.w), before);
    past_end(&p, state);
}

static void what_cannot_be_taken_is_named(void **state)
{
    past p;
    past_begin(&p, state, (reef_history_config){.ticks = 40});
    go_on(&p, 0, 10);
    reef_replay *r = reef_replay_new(p.h, 5);
    go_on(&p, BINDS, BINDS + 1);
    const uint64_t alive = reef_count_alive(p.w);
    assert_ok(reef_replay_play(r, 100));
    assert_refused(p.w, REEF_NOT_COPYABLE, reef_replay_take(r));
    assert_int_equal(reef_last_error(p.w).component.id, reef_id(Unique).id);
    assert_int_equal(reef_count_alive(p.w), alive);
    reef_replay_free(r);
    past_end(&p, state);
}

/* ---- no memory ---- */

static reef_status replay_all(past *p)
{
    reef_replay *r = reef_replay_new(p->h, 5);
    reef_status s = r ? reef_replay_play(r, 100) : reef_last_error(p->w).status;
    if (s == REEF_OK) s = reef_replay_take(r);
    reef_replay_free(r);
    return s;
}

static void no_memory_is_no_replay(void **state)
{
    for (int way = 0; way < 2; way++) {
        sounds = way == 1;
        bool refused = true;
        for (uint64_t n = 1; refused; n++) {
            past p;
            heap *memory = heap_of(state);
            past_begin(&p, state, (reef_history_config){.ticks = 40, .hashes = true});
            go_on(&p, 0, 12);
            const view before = view_of(p.w);
            const reef_history_range reach = reef_history_reach(p.h);
            assert_ok(reef_module_use(p.w, &fast));
            heap_fail_nth(memory, n, way == 1);
            const uint64_t were = memory->refused;
            const reef_status s = replay_all(&p);
            refused = memory->refused > were;
            heap_fail_never(memory);
            if (s != REEF_OK) {
                assert_int_equal(s, REEF_NO_MEMORY);
                assert_view(view_of(p.w), before);
                assert_int_equal(reef_history_reach(p.h).tick, reach.tick);
                assert_int_equal(reef_history_reach(p.h).end, reach.end);
                assert_ok(replay_all(&p));
            }
            const view after = view_of(p.w);
            past_end(&p, state);
            if (!sounds) assert_int_equal(after.hash, wanted_of(state, 5, 12).hash);
            assert_true(n < 2000);
        }
    }
    sounds = false;
}

/* ---- inputs that have a type ---- */

typedef struct {
    int32_t x, y;
} Push;
REEF_COMPONENT(Push);
REEF_FIELDS(Push, x, y);
typedef struct {
    int32_t x;
} Bytes;
REEF_COMPONENT(Bytes); /* it has no fields */

static reef_status push(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)context, (void)tick, (void)bytes;
    return input ? reef_set_id(w, reef_entity_at(w, 0), reef_id(Push), input, sizeof(Push)) : REEF_OK;
}

static void inputs_have_the_type_that_was_said(void **state)
{
    reef_world *w = world_of(state);
    const Push two[2] = {{1, 2}, {3, 4}};
    reef_history_config config = {.ticks = 9, .step = push, .input = reef_id(Push)};
    (void)reef_create(w);
    reef_history *h = reef_history_new(w, &config);
    assert_non_null(h);
    assert_int_equal(reef_history_input_type(h).id, reef_id(Push).id);
    assert_ptr_equal(reef_history_world(h), w);
    assert_true(reef_history_step(h, &two[0], sizeof(Push)) >= 0);
    assert_true(reef_history_step(h, two, sizeof two) >= 0);
    assert_ok(reef_history_step(h, NULL, 0));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_history_step(h, two, sizeof(Push) + 1));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_history_correct(h, &(reef_late_input){1, two, 4}, 1));
    assert_int_equal(reef_history_reach(h).tick, 3);
    reef_history_free(h);
    const reef_component wrong[] = {reef_id(Bytes), reef_id(Flag), {UINT32_MAX}};
    for (size_t i = 0; i < 3; i++) {
        config.input = wrong[i];
        assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_history_new(w, &config));
    }
    assert_int_equal(reef_history_input_type(NULL).id, 0);
    assert_null(reef_history_world(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_code_gives_the_same),          TEST(indexes_and_scripts_are_there),
        TEST(other_code_gives_what_would_have_been), TEST(bounds_wait_for_a_replay),
        TEST(what_changes_the_past_ends_a_replay),   TEST(a_tick_that_fails_leaves_the_world),
        TEST(what_cannot_be_taken_is_named),         TEST(no_memory_is_no_replay),
        TEST(inputs_have_the_type_that_was_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
