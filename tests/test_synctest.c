/* The test that finds a step that isn't deterministic, and names where it shows. */
#include "history_game.h"

static void G2_synctest_passes_a_deterministic_step(void **state)
{
    for (uint32_t distance = 1; distance < 12; distance += 5) {
        scene s;
        uint32_t inputs[30];
        reef_desync report;
        scene_begin(&s, state, (reef_history_config){.ticks = 1});
        const reef_synctest_config config = {30, distance, game_step, game_input, &s.g};
        assert_ok(reef_synctest(s.w, &config, &report));
        assert_int_equal(report.difference.kind, 0);
        for (uint32_t t = 0; t < 30; t++) inputs[t] = t * 3;
        assert_view(view_of(s.w), fresh_view(state, inputs, 30));
        scene_end(&s, state);
    }
}

static reef_status forgetful_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    static uint32_t calls; /* that no snapshot holds */
    const reef_entity *e = context;
    (void)input, (void)bytes;
    reef_mut(w, e[0], Position)->x += 1;
    if (tick >= 7) reef_mut(w, e[1], Health)->now = (int32_t)++calls;
    return REEF_OK;
}

static void G2_synctest_names_the_first_difference(void **state)
{
    char text[300];
    reef_world *w = world_of(state);
    reef_entity e[2];
    reef_desync report;
    assert_ok(reef_spawn_many(w, 5, NULL, reef_with(Position, 0, 0), reef_with(Health, 1, 2)));
    e[0] = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Mass, 1));
    e[1] = reef_spawn(w, reef_with(Position, 0, 0), reef_with(Health, 1, 2), reef_tag(Frozen));
    const reef_synctest_config config = {.ticks = 30, .distance = 3, .step = forgetful_step, .context = e};
    assert_refused(w, REEF_DESYNC, reef_synctest(w, &config, &report));
    assert_int_equal(report.tick, 7);
    assert_int_not_equal(report.first, report.again);
    assert_true(report.first != 0 && report.again != 0);
    assert_int_equal(report.difference.kind, REEF_HASH_COLUMN);
    assert_int_equal(report.difference.component.id, reef_id(Health).id);
    assert_entity(e[1], report.difference.entity);
    assert_entity(e[1], report.difference.other);
    assert_int_equal(report.difference.table_count, 3);
    assert_true(reef_difference_text(&report.difference, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "Health"));
    assert_refused(w, REEF_DESYNC, reef_synctest(w, &config, NULL));
    const reef_synctest_config early = {.ticks = 7, .distance = 3, .step = forgetful_step, .context = e};
    assert_ok(reef_synctest(w, &early, &report)); /* it isn't at fault yet */
    assert_int_equal(report.tick, 0);
}

static reef_status spawning_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    uint32_t *calls = context;
    (void)tick, (void)input, (void)bytes;
    if (++*calls == 12) reef_spawn(w, reef_with(Mass, 1));
    return REEF_OK;
}

static void G2_synctest_finds_an_entity_too_many(void **state)
{
    uint32_t calls = 0;
    reef_desync report;
    const reef_synctest_config config = {.ticks = 30, .distance = 2, .step = spawning_step, .context = &calls};
    assert_refused(world_of(state), REEF_DESYNC, reef_synctest(world_of(state), &config, &report));
    assert_int_not_equal(report.difference.kind, 0);
}

static void G5_synctest_of_a_failing_step_changes_nothing(void **state)
{
    scene s;
    scene_begin(&s, state, (reef_history_config){.ticks = 1});
    view before = view_of(s.w);
    s.g.fail_at = 20;
    const reef_synctest_config config = {30, 4, game_step, game_input, &s.g};
    assert_status(REEF_IO, reef_synctest(s.w, &config, NULL));
    assert_view(view_of(s.w), before);
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_synctest(s.w, NULL, NULL));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_synctest(s.w, &(reef_synctest_config){30, 1, NULL, NULL, NULL}, NULL));
    assert_refused(s.w, REEF_BAD_ARGUMENT, reef_synctest(s.w, &(reef_synctest_config){30, 0, game_step, NULL, &s.g}, NULL));
    assert_refused(s.w, REEF_BAD_ARGUMENT,
                   reef_synctest(s.w, &(reef_synctest_config){30, 65537, game_step, NULL, &s.g}, NULL));
    assert_int_equal(reef_synctest(NULL, &config, NULL), REEF_BAD_ARGUMENT);
    scene_end(&s, state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(G2_synctest_passes_a_deterministic_step),
        TEST(G2_synctest_names_the_first_difference),
        TEST(G2_synctest_finds_an_entity_too_many),
        TEST(G5_synctest_of_a_failing_step_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
