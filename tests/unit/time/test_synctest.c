/* The test that finds a step that isn't deterministic, and names where it shows. */
#include "history_game.h"

static void synctest_passes_a_deterministic_step(void **state)
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

static void synctest_names_the_first_difference(void **state)
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

/* ---- whatever it is that differs ----
 * An entity has something of every home, and other state beside it. Each time the step is called it writes another
 * number; from tick 5 on it does one thing more that depends on how often it was called, which no snapshot holds. */

typedef struct {
    int32_t n;
} Wound;
typedef struct {
    int32_t n;
} Look;
typedef struct {
    float x, y;
    int32_t n;
} Spot;
typedef struct {
    int32_t n;
} Note;
typedef struct {
    int32_t n;
} Depth;
typedef struct {
    int32_t n;
} Story;
typedef struct {
    int32_t n;
} Score;
REEF_COMPONENT_IN(Wound, REEF_MULTI);
REEF_COMPONENT_IN(Look, REEF_SHARED);
REEF_COMPONENT_IN(Spot, REEF_SPLIT);
REEF_FIELDS(Spot, x, y, n);
REEF_COMPONENT_IN(Note, REEF_SPARSE);
REEF_COMPONENT_IN(Depth, REEF_PAGED);
REEF_COMPONENT_IN(Story, REEF_COLD);
REEF_COMPONENT(Score);

typedef enum differs {
    IN_TABLE,
    IN_SPARSE,
    IN_PAGES,
    IN_COLD,
    ONE_OF_MANY,
    ONE_MORE,
    SHARED_VALUE,
    SPLIT_FIELD,
    A_SWITCH,
    A_TAG,
    A_MARK,
    A_WHOLE_ENTITY,
    A_NAME,
    ORDER_OF_ROWS,
    ORDER_OF_FREE_IDS,
    A_SINGLETON,
    AN_EVENT,
    THE_SEED,
    DIFFERENCES
} differs;

typedef struct lapse {
    reef_entity e, other;
    differs what;
    uint32_t calls;
} lapse;

static void lapse_act(reef_world *w, const lapse *l, int32_t n)
{
    char name[16];
    const bool odd = (l->calls & 1) != 0;
    switch (l->what) {
    case IN_TABLE: reef_mut(w, l->e, Health)->now = n; break;
    case IN_SPARSE: reef_mut(w, l->e, Note)->n = n; break;
    case IN_PAGES: reef_mut(w, l->e, Depth)->n = n; break;
    case IN_COLD: reef_mut(w, l->e, Story)->n = n; break;
    case ONE_OF_MANY: reef_mut_all(w, l->e, Wound, NULL)[1].n = n; break;
    case ONE_MORE: (void)(odd ? reef_append(w, l->e, Wound, 1) : NULL); break;
    case SHARED_VALUE: reef_mut(w, l->e, Look)->n = n; break;
    case SPLIT_FIELD: assert_true(reef_set(w, l->e, Spot, 1, 2, n) >= 0); break;
    case A_SWITCH: assert_true((odd ? reef_add(w, l->e, Awake) : reef_remove(w, l->e, Awake)) <= 0); break;
    case A_TAG: assert_true((odd ? reef_add(w, l->e, Frozen) : reef_remove(w, l->e, Frozen)) <= 0); break;
    case A_MARK: assert_true((odd ? reef_disable(w, l->e, Note) : reef_enable(w, l->e, Note)) >= 0); break;
    case A_WHOLE_ENTITY: assert_true((odd ? reef_disable(w, l->e) : reef_enable(w, l->e)) >= 0); break;
    case A_NAME:
        (void)snprintf(name, sizeof name, "n%d", (int)n);
        assert_ok(reef_set_name(w, l->e, name));
        break;
    case ORDER_OF_ROWS: assert_ok(reef_sort_storage(w, &(reef_sort){.order = {.descending = odd}})); break;
    case ORDER_OF_FREE_IDS:
        (void)(reef_is_alive(w, l->other) && reef_destroy(w, odd ? l->other : l->e));
        (void)(reef_is_alive(w, l->e) && reef_destroy(w, l->e));
        (void)(reef_is_alive(w, l->other) && reef_destroy(w, l->other));
        break;
    case A_SINGLETON: assert_true(reef_single_set(w, Score, n) >= 0); break;
    case AN_EVENT: assert_ok(reef_post(w, Score, n)); break;
    case THE_SEED: assert_ok(reef_set_seed(w, (uint64_t)n)); break;
    case DIFFERENCES: break;
    }
}

static reef_status lapsing_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    lapse *l = context;
    (void)input, (void)bytes;
    reef_mut(w, reef_entity_at(w, 0), Position)->x += 1;
    l->calls++;
    if (tick >= 5) lapse_act(w, l, (int32_t)l->calls);
    return REEF_OK;
}

static void receive_scores(reef_block *b) { (void)reef_receive(b, Score); }

static reef_world *lapse_begin(void **state, lapse *l)
{
    reef_world *w = another_world(state, NULL);
    const Wound wounds[] = {{1}, {2}};
    assert_ok(reef_spawn_many(w, 5, NULL, reef_with(Position, 0, 0), reef_with(Health, 7, 2)));
    assert_false(reef_system_is_null(reef_system(w, receive_scores, "; receives Score"))); /* so that events wait */
    for (int i = 0; i < 2; i++) {
        reef_entity e = reef_spawn(w, reef_with(Health, i, 2), reef_with(Note, 1), reef_with(Depth, 1),
                                   reef_with(Story, 1), reef_with(Look, 1));
        assert_true(reef_set(w, e, Spot, 1, 2, 3) >= 0);
        for (int k = 0; k < 2; k++) assert_non_null(reef_append_id(w, e, reef_id(Wound), &wounds[k], sizeof *wounds));
        *(i ? &l->other : &l->e) = e;
    }
    assert_true(reef_single_set(w, Score, 0) >= 0);
    return w;
}

static void G2_G3_synctest_names_whatever_differs(void **state)
{
    static const struct {
        reef_hash_kind kind;
        const char *words;
    } wanted[DIFFERENCES] = {
        [IN_TABLE] = {REEF_HASH_COLUMN, "Health of entity 5v1 differs"},
        [IN_SPARSE] = {REEF_HASH_STORE, "Note of entity 5v1 differs"},
        [IN_PAGES] = {REEF_HASH_STORE, "Depth of entity 5v1 differs"},
        [IN_COLD] = {REEF_HASH_STORE, "Story of entity 5v1 differs"},
        [ONE_OF_MANY] = {REEF_HASH_STORE, "Wound of entity 5v1 differs"},
        [ONE_MORE] = {REEF_HASH_STORE, "Wound of entity 5v1 differs"},
        [SHARED_VALUE] = {REEF_HASH_STORE, "Look of entity 5v1 differs"},
        [SPLIT_FIELD] = {REEF_HASH_COLUMN, "Spot.n of entity 5v1 differs"},
        [A_SWITCH] = {REEF_HASH_SWITCH, "Awake of entity 5v1 differs"},
        [A_TAG] = {REEF_HASH_ROWS, "The entities differ"},
        [A_MARK] = {REEF_HASH_DISABLED, "The mark disabled Note of entity 5v1 differs"},
        [A_WHOLE_ENTITY] = {REEF_HASH_DISABLED, "The mark disabled of entity 5v1 differs"},
        [A_NAME] = {REEF_HASH_NAMES, "The name of entity 5v1 differs"},
        [ORDER_OF_ROWS] = {REEF_HASH_ROWS, "The entities differ"},
        [ORDER_OF_FREE_IDS] = {REEF_HASH_IDS, "Free id 0 differs: "},
        [A_SINGLETON] = {REEF_HASH_COLUMN, "Score of entity 7v1 differs"},
        [AN_EVENT] = {REEF_HASH_EVENTS, "The events Score differ"},
        [THE_SEED] = {REEF_HASH_TIME, "the seed"},
    };
    for (int what = 0; what < DIFFERENCES; what++) {
        char text[400] = "";
        lapse l = {.what = (differs)what};
        reef_desync report;
        reef_world *w = lapse_begin(state, &l);
        const view before = view_of(w);
        const reef_status got = reef_synctest(
            w, &(reef_synctest_config){.ticks = 12, .distance = 3, .step = lapsing_step, .context = &l}, &report);
        (void)reef_difference_text(&report.difference, text, sizeof text);
        if (got != REEF_DESYNC || report.difference.kind != wanted[what].kind || !strstr(text, wanted[what].words))
            fail_msg("%d: %s, kind %d at tick %d: %s", what, reef_status_name(got), (int)report.difference.kind,
                     (int)report.tick, text);
        assert_int_equal(report.tick, 5);
        assert_view(view_of(w), before);
        end_world(state, w);
    }
}

static reef_status spawning_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    uint32_t *calls = context;
    (void)tick, (void)input, (void)bytes;
    if (++*calls == 12) reef_spawn(w, reef_with(Mass, 1));
    return REEF_OK;
}

static void synctest_finds_an_entity_too_many(void **state)
{
    uint32_t calls = 0;
    reef_desync report;
    const reef_synctest_config config = {.ticks = 30, .distance = 2, .step = spawning_step, .context = &calls};
    assert_refused(world_of(state), REEF_DESYNC, reef_synctest(world_of(state), &config, &report));
    assert_int_not_equal(report.difference.kind, 0);
}

static void synctest_of_a_failing_step_changes_nothing(void **state)
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
    assert_refused(s.w, REEF_BAD_ARGUMENT,
                   reef_synctest(s.w, &(reef_synctest_config){30, 0, game_step, NULL, &s.g}, NULL));
    assert_refused(s.w, REEF_BAD_ARGUMENT,
                   reef_synctest(s.w, &(reef_synctest_config){30, 65537, game_step, NULL, &s.g}, NULL));
    s.g.fail_at = 0;
    assert_ok(reef_synctest(s.w, &(reef_synctest_config){3, 65536, game_step, NULL, &s.g}, NULL));
    assert_ok(reef_synctest(s.w, &(reef_synctest_config){0, 1, game_step, NULL, &s.g}, NULL)); /* nothing to play */
    assert_int_equal(reef_synctest(NULL, &config, NULL), REEF_BAD_ARGUMENT);
    scene_end(&s, state);
}

static reef_status pausing_step(void *context, reef_world *w, uint64_t tick, const void *input, size_t bytes)
{
    (void)input, (void)bytes;
    if (tick == 5) reef_pause(w, true);
    if (tick == 6) reef_pause(w, false);
    if (context && tick == 9) return REEF_IO;
    reef_mut(w, reef_entity_at(w, 0), Health)->now++;
    return reef_tick(w, 0.1f);
}

/* Being paused isn't part of the state, so it makes a difference when ticks are played again; and after a failure the
 * world is paused only if it was before. */
static void synctest_leaves_a_world_paused_as_it_was(void **state)
{
    for (uint32_t k = 0; k < 4; k++) {
        reef_desync report;
        reef_world *w = another_world(state, NULL);
        assert_some(reef_spawn(w, reef_with(Health, 1, 10)));
        const uint64_t hash = reef_hash(w);
        reef_pause(w, k % 2);
        const bool fails = k / 2;
        const reef_synctest_config config = {12, fails ? 1 : 4, pausing_step, NULL, fails ? &report : NULL};
        assert_true(reef_synctest(w, &config, &report) < REEF_OK);
        assert_int_equal(reef_is_paused(w), k % 2);
        assert_true(reef_hash(w) == hash);
        end_world(state, w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(synctest_passes_a_deterministic_step),       TEST(synctest_names_the_first_difference),
        TEST(synctest_finds_an_entity_too_many),          TEST(G2_G3_synctest_names_whatever_differs),
        TEST(synctest_of_a_failing_step_changes_nothing), TEST(synctest_leaves_a_world_paused_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
