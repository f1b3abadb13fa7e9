/* A world that is freed while it is busy: nothing is freed, and LOCKED is the last error. */
#include "support.h"

static reef_status seen;

static void try_to_free(reef_world *w)
{
    reef_world_free(w);
    seen = reef_last_error(w).status;
}

static void free_in_observer(const reef_notice *n) { reef_world_free(n->world); }
static void free_in_system(reef_block *b) { reef_world_free(b->world); }

static bool free_in_condition(const reef_world *w, void *context)
{
    (void)w;
    try_to_free(context);
    return true;
}

static void free_in_start(reef_script_run *r) { reef_world_free(r->world); }
static const reef_script_class ender = {"ender", sizeof(int32_t), free_in_start, NULL, NULL};

static reef_status free_in_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)context, (void)tick, (void)input, (void)bytes;
    try_to_free(w);
    return reef_tick(w, 0.1f);
}

/* The world lives, has all that it had, and can be freed afterwards, which the fixture does. */
static void assert_lives(reef_world *w, reef_entity e, float x)
{
    assert_valid(w);
    assert_true(reef_is_alive(w, e));
    assert_position(w, e, x, 2);
}

static void A9_a_busy_world_is_not_freed(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Mass, 1));
    for (reef_block b = reef_begin_text(w, "in Position"); reef_next(&b);) {
        reef_world_free(w);
        assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
        assert_string_equal(reef_last_error(w).operation, "reef_world_free");
    }
    assert_lives(w, e, 1);

    reef_observer_id o = reef_observe(w, free_in_observer, REEF_ON_REMOVE, Mass);
    assert_ok(reef_remove(w, e, Mass));
    assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
    assert_lives(w, e, 1);
    assert_ok(reef_observer_remove(w, o));

    reef_system_id s = reef_system(w, free_in_system, "in Position");
    assert_false(reef_system_is_null(s));
    assert_ok(reef_tick(w, 0.1f));
    assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
    assert_lives(w, e, 1);
    assert_ok(reef_system_remove(w, s));

    s = reef_system_new(w, &(reef_system_desc){.name = "asks",
                                               .function = free_in_system,
                                               .text = "in Mass",
                                               .condition = free_in_condition,
                                               .context = w});
    assert_false(reef_system_is_null(s));
    seen = REEF_OK;
    assert_ok(reef_tick(w, 0.1f));
    assert_int_equal(seen, REEF_LOCKED);
    assert_lives(w, e, 1);
    assert_ok(reef_system_remove(w, s));
}

static void A9_a_world_is_not_freed_by_its_steps_and_scripts(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    seen = REEF_OK;
    assert_ok(reef_synctest(w, &(reef_synctest_config){.ticks = 3, .distance = 1, .step = free_in_step}, NULL));
    assert_int_equal(seen, REEF_LOCKED);
    assert_lives(w, e, 1);

    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 3, .step = free_in_step});
    assert_non_null(h);
    seen = REEF_OK;
    assert_ok(reef_history_step(h, NULL, 0));
    assert_int_equal(seen, REEF_LOCKED);
    assert_lives(w, e, 1);
    reef_history_free(h);

    assert_false(reef_system_is_null(reef_scripts(w, NULL, NULL)));
    assert_ok(reef_script_add(w, e, &ender, NULL));
    assert_ok(reef_tick(w, 0.1f));
    assert_lives(w, e, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(A9_a_busy_world_is_not_freed),
        TEST(A9_a_world_is_not_freed_by_its_steps_and_scripts),
    };
    return cmocka_run_group_tests_name("world_free", tests, NULL, NULL);
}
