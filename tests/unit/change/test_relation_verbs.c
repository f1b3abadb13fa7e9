/* Relations: generic verbs and commands, what ends with a target, what observers are told. */
#include "relation_scene.h"

static const reef_entity null_entity = {0, 0};

/* ---- generic verbs ---- */

static void generic_verbs_make_relations(void **state)
{
    enum { N = 50 };
    reef_world *w = world_of(state);
    reef_entity e[4], many[N];
    create_some(w, e, 4);
    assert_status(REEF_ADDED, reef_set(w, e[0], DockedTo, .target = e[1]));
    assert_sources(w, e[1], DockedTo, e[0]);
    assert_status(REEF_OK, reef_set(w, e[0], DockedTo, .target = e[2]));
    assert_no_sources(w, e[1], DockedTo);
    assert_sources(w, e[2], DockedTo, e[0]);
    /* of many the first is written */
    assert_status(REEF_ADDED, reef_set(w, e[0], Likes, .target = e[1]));
    assert_status(REEF_OK, reef_set(w, e[0], Likes, .target = e[2]));
    assert_status(REEF_OK, reef_set(w, e[0], Likes, .target = e[2]));
    assert_no_sources(w, e[1], Likes);
    assert_non_null(reef_append(w, e[0], Likes, .target = e[1]));
    assert_no_pointer(w, REEF_EXISTS, reef_append(w, e[0], Likes, .target = e[1]));
    assert_refused(w, REEF_EXISTS, reef_set(w, e[0], Likes, .target = e[1])); /* which is its second one */
    assert_sources(w, e[1], Likes, e[0]);
    assert_ok(reef_remove_one(w, e[0], Likes, 0));
    assert_no_sources(w, e[2], Likes);
    const reef_entity made =
        reef_spawn(w, reef_with(Heavy, 1), reef_with(DockedTo, .target = e[2]), reef_with(Likes, .target = e[1]));
    assert_some(made);
    assert_sources(w, e[2], DockedTo, e[0], made);
    assert_sources(w, e[1], Likes, e[0], made);
    assert_ok(
        reef_change(w, made, reef_with(DockedTo, .target = e[3]), reef_without(Likes), reef_with(Velocity, 1, 1)));
    assert_sources(w, e[3], DockedTo, made);
    assert_sources(w, e[1], Likes, e[0]);
    DockedTo *docked = malloc(N * sizeof *docked);
    for (int i = 0; i < N; i++) memcpy(&docked[i], &(DockedTo){e[i % 2], 77}, sizeof *docked);
    assert_ok(reef_spawn_many(w, N, many, reef_with(Heavy, 1), reef_array(DockedTo, docked)));
    for (int i = 0; i < N; i++) assert_entity(e[i % 2], reef_target(w, many[i], DockedTo));
    assert_int_equal(reef_source_count(w, e[0], DockedTo), N / 2);
    memcpy(&docked[N - 1], &(DockedTo){null_entity, 0}, sizeof *docked);
    assert_refused(w, REEF_NOT_ALIVE, reef_spawn_many(w, N, many, reef_with(Heavy, 1), reef_array(DockedTo, docked)));
    free(docked);
    assert_valid(w);
    const reef_bundle_part part[] = {{.component = reef_id(DockedTo), .offset = 0}};
    reef_bundle *b = reef_bundle_new(w, part, 1);
    assert_non_null(b);
    const reef_entity packed = reef_spawn_bundle(w, b, &(DockedTo){e[3], 9});
    assert_some(packed);
    assert_no_entity(w, REEF_NOT_ALIVE, reef_spawn_bundle(w, b, &(DockedTo){null_entity, 9}));
    reef_bundle_free(b);
    assert_sources(w, e[3], DockedTo, made, packed);
    assert_ok(reef_remove(w, made, DockedTo));
    assert_ok(reef_remove_all(w, packed));
    assert_no_sources(w, e[3], DockedTo);
    assert_ok(reef_disable(w, e[0], DockedTo)); /* a disabled relation is still one */
    assert_true(reef_related(w, e[0], DockedTo, e[2]));
    assert_sources(w, e[2], DockedTo, e[0]);
    uint64_t n = 0;
    assert_ok(remove_everywhere(w, reef_id(DockedTo), &n));
    assert_int_equal(n, N + 1);
    assert_no_sources(w, e[0], DockedTo);
    assert_no_sources(w, e[2], DockedTo);
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[1]));
    assert_sources(w, e[1], DockedTo, e[0]);
    assert_ok(reef_world_clear(w));
    assert_int_equal(reef_count(w, DockedTo), 0);
    create_some(w, e, 4);
    for (int i = 0; i < 4; i++) assert_no_sources(w, e[i], DockedTo);
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[1]));
}

static void where_verbs_keep_the_rules(void **state)
{
    enum { N = 30 };
    reef_world *w = world_of(state);
    reef_entity e[N], dead;
    for (int i = 0; i < N; i++) e[i] = reef_spawn(w, reef_with(Health, i, i));
    const reef_entity target = reef_spawn(w, reef_with(Heavy, 1));
    dead = reef_create(w);
    assert_ok(reef_destroy(w, dead));
    const reef_query q = reef_query_new(w, "Health"), all = reef_query_new(w, "Health|Heavy");
    assert_query(q), assert_query(all);
    assert_ok(reef_set_where(w, q, DockedTo, .target = target));
    assert_sources_at(w, target, reef_id(DockedTo), e, N, __LINE__);
    assert_refused(w, REEF_NOT_ALIVE, reef_set_where(w, q, DockedTo, .target = dead));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_set_where(w, q, Married, .target = target));
    assert_refused(w, REEF_CYCLE, reef_set_where(w, all, Under, .target = target)); /* the target is among them */
    assert_ok(reef_set_where(w, q, Under, .target = target));
    assert_refused(w, REEF_CYCLE, reef_set_where(w, all, Under, .target = e[3]));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_add_where(w, all, DockedTo));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_add_where(w, all, Likes));
    for (int i = 0; i < N; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Likes, e[(i + 1) % N]));
    assert_non_null(reef_append(w, e[4], Likes, .target = target));
    assert_refused(w, REEF_EXISTS, reef_set_where(w, q, Likes, .target = target)); /* the second one of e[4] */
    assert_ok(reef_unrelate(w, e[4], Likes, target));
    assert_ok(reef_set_where(w, q, Likes, .target = target));
    assert_int_equal(reef_source_count(w, target, Likes), N);
    assert_no_sources(w, e[1], Likes);
    assert_ok(reef_remove_where(w, q, DockedTo));
    assert_no_sources(w, target, DockedTo);
    assert_ok(reef_disable_where(w, q, Likes));
    assert_int_equal(reef_source_count(w, target, Likes), N);
    uint64_t n = 0;
    assert_ok(reef_destroy_where(w, all, &n));
    assert_int_equal(n, N + 1);
    assert_int_equal(reef_count_alive(w), 0);
}

static void relate_in_system(reef_block *b)
{
    const reef_entity *list = b->context;
    assert_ok(reef_cmd_set(b, list[0], DockedTo, .target = list[1]));
    const reef_entity made = reef_cmd_spawn(b, reef_with(DockedTo, .target = list[1]));
    assert_some(made);
    assert_ok(reef_cmd_set(b, list[2], DockedTo, .target = made)); /* to one that is made in the same phase */
    assert_ok(reef_cmd_remove(b, list[3], DockedTo));
    assert_status(REEF_LOCKED, reef_relate(b->world, list[0], Likes, list[1]));
    assert_status(REEF_LOCKED, reef_set(b->world, list[3], DockedTo, .target = list[0])); /* though it has one */
}

static void commands_make_relations(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[6];
    create_some(w, e, 6);
    assert_status(REEF_ADDED, reef_relate(w, e[3], DockedTo, e[1]));
    assert_ok(reef_system_once(w,
                               &(reef_system_desc){.name = "relates",
                                                   .function = relate_in_system,
                                                   .text = "; writes DockedTo, spawns, adds, removes",
                                                   .context = e},
                               0));
    const reef_entity made = reef_target(w, e[2], DockedTo);
    assert_some(made);
    assert_sources(w, e[1], DockedTo, e[0], made);
    assert_sources(w, made, DockedTo, e[2]);
    assert_false(reef_has(w, e[3], DockedTo));
    /* what is there is written at once; what isn't allowed when the command is done has no effect */
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Heavy"), &(reef_loop){.deferred = true});
    while (reef_next(&b)) {
        assert_ok(reef_cmd_destroy(&b, e[5]));
        assert_ok(reef_cmd_set(&b, e[0], DockedTo, .target = e[5]));
        assert_ok(reef_cmd_relate(&b, e[2], Likes, e[5]));
        assert_ok(reef_cmd_set(&b, e[4], DockedTo, .target = e[1]));
    }
    assert_false(reef_is_alive(w, e[5]));
    assert_none(reef_target(w, e[0], DockedTo));
    assert_false(reef_has(w, e[2], Likes));
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[1]));
    assert_sources(w, e[1], DockedTo, made, e[4], e[0]);
    /* what is there is written at once, in every loop; what isn't there can't come in one that doesn't record */
    for (b = reef_begin_text(w, "Heavy"); reef_next(&b);) {
        assert_status(REEF_OK, reef_set(w, e[0], DockedTo, .target = made));
        assert_entity(made, reef_target(w, e[0], DockedTo));
        assert_refused(w, REEF_LOCKED, reef_set(w, e[3], DockedTo, .target = e[2]));
    }
    const DockedTo docked[2] = {{e[2], 5}, {e[5], 6}};
    assert_int_equal(reef_write_many(w, DockedTo, &e[0], 1, docked), 1);
    assert_sources(w, e[2], DockedTo, e[0]);
    assert_int_equal(reef_write_many(w, DockedTo, &e[4], 1, docked + 1), 0);
    assert_status(REEF_NOT_ALIVE, reef_last_error(w).status);
    /* a cascade by a command */
    for (int i = 0; i < 3; i++) assert_status(REEF_ADDED, reef_relate(w, e[i + 1], Under, e[i]));
    b = reef_begin_loop(w, reef_query_new(w, "Heavy"), &(reef_loop){.deferred = true});
    while (reef_next(&b)) assert_ok(reef_cmd_destroy(&b, e[0]));
    for (int i = 0; i < 4; i++) assert_false(reef_is_alive(w, e[i]));
    assert_no_sources(w, made, DockedTo);
    assert_false(reef_has(w, e[4], DockedTo));
    assert_valid(w);
}

static void clones_have_the_same_targets(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[5], copy[3];
    create_some(w, e, 5);
    for (int i = 1; i < 4; i++) assert_status(REEF_ADDED, reef_relate_data(w, e[0], Owes, e[i], i));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Under, e[1]));
    assert_status(REEF_ADDED, reef_relate(w, e[4], Owes, e[2]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Married, e[1]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Knows, e[2]));
    assert_ok(reef_clone_many(w, e[0], 3, copy));
    assert_sources(w, e[2], Owes, e[0], e[4], copy[0], copy[1], copy[2]); /* behind the others */
    assert_sources(w, e[1], Under, e[0], copy[0], copy[1], copy[2]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(reef_relation_get(w, copy[i], Owes, e[3])->data.coins, 3);
        assert_false(reef_has(w, copy[i], Married) || reef_has(w, copy[i], Knows)); /* half of one can't be copied */
    }
    assert_sources(w, e[1], Married, e[0]);
    assert_sources(w, e[2], Knows, e[0]);
}

/* ---- the end of a target ---- */

static void relations_end_with_their_target(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    for (int i = 1; i < 5; i++) {
        assert_status(REEF_ADDED, reef_relate(w, e[i], Likes, e[0]));
        assert_status(REEF_ADDED, reef_relate(w, e[i], Likes, e[5]));
        assert_status(REEF_ADDED, reef_relate(w, e[i], DockedTo, e[0]));
    }
    assert_ok(reef_destroy(w, e[0]));
    for (int i = 1; i < 5; i++) {
        assert_true(reef_is_alive(w, e[i]));
        assert_false(reef_has(w, e[i], DockedTo));
        assert_int_equal(reef_count_on(w, e[i], Likes), 1);
        assert_entity(e[5], reef_target(w, e[i], Likes));
    }
    assert_ok(reef_destroy(w, e[2])); /* a source */
    assert_sources(w, e[5], Likes, e[1], e[3], e[4]);
    assert_ok(reef_destroy(w, e[5]));
    assert_int_equal(reef_count(w, Likes), 0);
    assert_int_equal(reef_count_alive(w), 3);
}

static void sources_die_with_their_target(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[40];
    create_some(w, e, 40);
    for (int i = 1; i < 40; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Under, e[(i - 1) / 3]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Guards, e[39])); /* which is below e[12], below e[3], below e[0] */
    assert_status(REEF_ADDED, reef_relate(w, e[30], Likes, e[39]));
    assert_ok(reef_destroy(w, e[39]));
    for (int i = 0; i < 40; i++) {
        bool dies = i == 39;
        for (int k = i; k > 0; k = (k - 1) / 3) dies |= k == 1;
        assert_int_equal(reef_is_alive(w, e[i]), !dies);
    }
    assert_false(reef_has(w, e[30], Likes));
    assert_ok(reef_destroy(w, e[0]));
    assert_int_equal(reef_count_alive(w), 0);
    /* a circle of guards dies as a whole */
    create_some(w, e, 5);
    for (int i = 0; i < 5; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], Guards, e[(i + 1) % 5]));
    assert_ok(reef_destroy(w, e[2]));
    assert_int_equal(reef_count_alive(w), 0);
}

static void a_chain_of_any_depth_dies(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG) || defined(__SANITIZE_THREAD__)
    enum { DEPTH = 50000 };
#else
    enum { DEPTH = 1000000 };
#endif
    reef_world *w = world_of(state);
    const reef_entity root = reef_create(w);
    reef_entity last = root;
    for (int i = 1; i < DEPTH; i++) {
        const reef_entity e = i % 2 ? reef_create(w) : reef_spawn(w, reef_with(Heavy, i));
        assert_status(REEF_ADDED, reef_relate(w, e, Under, last));
        last = e;
    }
    assert_true(reef_related(w, last, Under, root));
    assert_refused(w, REEF_CYCLE, reef_relate(w, root, Under, last));
    reef_world *f = reef_fork(w);
    assert_ok(reef_destroy(w, root));
    assert_int_equal(reef_count_alive(w), 0);
    assert_int_equal(reef_count_alive(f), DEPTH);
    assert_valid(f);
    reef_world_free(f);
}

static void a_target_is_kept(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[8];
    create_some(w, e, 8);
    assert_status(REEF_ADDED, reef_relate(w, e[1], Holds, e[0]));
    assert_refused(w, REEF_REFUSED, reef_destroy(w, e[0]));
    const reef_error error = reef_last_error(w);
    assert_entity(e[1], error.entity); /* the source */
    assert_int_equal(error.component.id, reef_id(Holds).id);
    /* what would die with others is kept as well */
    assert_status(REEF_ADDED, reef_relate(w, e[0], Under, e[2]));
    assert_refused(w, REEF_REFUSED, reef_destroy(w, e[2]));
    assert_status(REEF_ADDED, reef_relate(w, e[3], Under, e[2]));
    assert_int_equal(reef_destroy_many(w, e + 2, 1), 0);
    for (int i = 0; i < 4; i++) assert_true(reef_is_alive(w, e[i]));
    uint64_t n = 77;
    const reef_query q = reef_query_new(w, "Heavy");
    assert_refused(w, REEF_REFUSED, reef_destroy_where(w, q, &n)); /* e[0], e[2], but not e[1] */
    assert_entity(e[1], reef_last_error(w).entity);
    assert_status(REEF_REFUSED, destroy_everywhere(w, (reef_component[]){reef_id(Heavy)}, 1, &n));
    assert_int_equal(n, 77);
    /* together with its source it may die */
    assert_int_equal(reef_count_alive(w), 8);
    assert_ok(reef_world_clear(w));
    assert_int_equal(reef_count_alive(w), 0);
    create_some(w, e, 8);
    assert_status(REEF_ADDED, reef_relate(w, e[1], Holds, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[1], Under, e[0]));
    assert_status(REEF_ADDED, reef_relate(w, e[0], Holds, e[0]));
    assert_ok(reef_destroy(w, e[0]));
    assert_false(reef_is_alive(w, e[1]));
    assert_status(REEF_ADDED, reef_relate(w, e[3], Holds, e[2]));
    assert_int_equal(reef_destroy_many(w, (reef_entity[]){e[3], e[2]}, 2), 2); /* one after the other */
    assert_status(REEF_ADDED, reef_relate(w, e[5], Holds, e[4]));
    assert_ok(reef_unrelate(w, e[5], Holds, e[4]));
    assert_ok(reef_destroy(w, e[4]));
    assert_status(REEF_ADDED, reef_relate(w, e[5], Holds, e[6]));
    assert_ok(reef_world_clear(w));
    assert_int_equal(reef_count_alive(w), 0);
}

/* What observers were told, in order. */
static struct {
    char text[400];
    reef_entity base;
} diary;

static void write_down(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        const size_t at = strlen(diary.text);
        const char *name = n->component.id == reef_id(DockedTo).id  ? "docked"
                           : n->component.id == reef_id(Married).id ? "married"
                           : n->component.id == reef_id(Under).id   ? "under"
                                                                    : "";
        (void)snprintf(diary.text + at, sizeof diary.text - at, " %s%s%u",
                       n->kind == REEF_ON_ADD      ? "+"
                       : n->kind == REEF_ON_SET    ? "="
                       : n->kind == REEF_ON_REMOVE ? "-"
                                                   : "x",
                       name, (unsigned)(n->entities[i].index - diary.base.index));
    }
}

#define assert_told(expected) \
    do { \
        assert_string_equal(diary.text, expected); \
        diary.text[0] = 0; \
    } while (0)

static void observers_are_told(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    create_some(w, e, 6);
    diary.base = e[0];
    diary.text[0] = 0;
    const uint32_t events = REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE;
    assert_false(reef_observer_is_null(reef_observer_add(w, "docked", write_down, events, reef_id(DockedTo))));
    assert_false(reef_observer_is_null(reef_observer_add(w, "married", write_down, events, reef_id(Married))));
    assert_false(reef_observer_is_null(reef_observer_add(w, "under", write_down, events, reef_id(Under))));
    assert_false(reef_observer_is_null(reef_observer_add(w, "died", write_down, REEF_ON_DESTROY, (reef_component){0})));
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[1]));
    assert_told(" +docked0");
    assert_status(REEF_ADDED, reef_relate(w, e[0], DockedTo, e[2]));
    assert_told(" =docked0");
    assert_ok(reef_retarget(w, e[0], DockedTo, e[2], e[1]));
    assert_told(" =docked0");
    assert_ok(reef_destroy(w, e[1]));
    assert_told(" -docked0 x1");
    assert_status(REEF_ADDED, reef_relate(w, e[0], Married, e[2]));
    assert_told(" +married0 +married2");
    assert_status(REEF_ADDED, reef_relate(w, e[3], Married, e[2]));
    assert_told(" +married3 =married2 -married0");
    assert_ok(reef_unrelate(w, e[2], Married, e[3]));
    assert_told(" -married2 -married3");
    assert_status(REEF_ADDED, reef_relate(w, e[4], Under, e[3]));
    assert_status(REEF_ADDED, reef_relate(w, e[5], Under, e[4]));
    diary.text[0] = 0;
    assert_ok(reef_destroy(w, e[3]));
    assert_told(" -under5 -under4 x5 x4 x3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(generic_verbs_make_relations),
        TEST(where_verbs_keep_the_rules),
        TEST(commands_make_relations),
        TEST(clones_have_the_same_targets),
        TEST(relations_end_with_their_target),
        TEST(sources_die_with_their_target),
        TEST(a_chain_of_any_depth_dies),
        TEST(a_target_is_kept),
        TEST(observers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
