/* One list of answers for every public call: the status, the record, and a world that is the same before and after. */
#include "support.h"

/* ---- calls that take an entity ---- */

typedef reef_status entity_call(reef_world *w, reef_entity e);

static reef_status recorded(reef_world *w, bool failed) { return failed ? reef_last_error(w).status : REEF_OK; }

static reef_status call_destroy(reef_world *w, reef_entity e) { return reef_destroy(w, e); }
static reef_status call_add(reef_world *w, reef_entity e) { return reef_add(w, e, Mass); }
static reef_status call_add_tag(reef_world *w, reef_entity e) { return reef_add(w, e, Frozen); }
static reef_status call_add_bit(reef_world *w, reef_entity e) { return reef_add(w, e, Awake); }
static reef_status call_add_hooked(reef_world *w, reef_entity e) { return reef_add(w, e, Tracked); }
static reef_status call_set(reef_world *w, reef_entity e) { return reef_set(w, e, Position, 1, 2); }
static reef_status call_set_hooked(reef_world *w, reef_entity e) { return reef_set(w, e, Tracked, .value = 1); }
static reef_status call_ensure(reef_world *w, reef_entity e) { return recorded(w, !reef_ensure(w, e, Mass)); }
static reef_status call_remove(reef_world *w, reef_entity e) { return reef_remove(w, e, Position); }
static reef_status call_remove_bit(reef_world *w, reef_entity e) { return reef_remove(w, e, Awake); }
static reef_status call_remove_all(reef_world *w, reef_entity e) { return reef_remove_all(w, e); }
static reef_status call_change(reef_world *w, reef_entity e)
{
    return reef_change(w, e, reef_with(Mass, 1), reef_tag(Awake));
}
static reef_status call_mut(reef_world *w, reef_entity e) { return recorded(w, !reef_mut(w, e, Position)); }
static reef_status call_mut_id(reef_world *w, reef_entity e)
{
    return recorded(w, !reef_mut_id(w, e, reef_id(Position)));
}
static reef_status call_clone(reef_world *w, reef_entity e)
{
    return recorded(w, reef_entity_is_null(reef_clone(w, e)));
}
static reef_status call_clone_many(reef_world *w, reef_entity e) { return reef_clone_many(w, e, 5, NULL); }
static reef_status call_enable(reef_world *w, reef_entity e) { return reef_enable(w, e, Position); }
static reef_status call_disable(reef_world *w, reef_entity e) { return reef_disable(w, e, Awake); }
static reef_status call_disable_entity(reef_world *w, reef_entity e) { return reef_disable(w, e); }
static reef_status call_set_name(reef_world *w, reef_entity e) { return reef_set_name(w, e, "somebody"); }
static reef_status call_no_name(reef_world *w, reef_entity e) { return reef_set_name(w, e, NULL); }

static const struct {
    const char *text;
    entity_call *call;
} entity_calls[] = {
    {"reef_destroy(", call_destroy},
    {"reef_add(", call_add},
    {"reef_add(tag)", call_add_tag},
    {"reef_add(bit)", call_add_bit},
    {"reef_add(hooked)", call_add_hooked},
    {"reef_set(", call_set},
    {"reef_set(hooked)", call_set_hooked},
    {"reef_ensure(", call_ensure},
    {"reef_remove(", call_remove},
    {"reef_remove(bit)", call_remove_bit},
    {"reef_remove_all(", call_remove_all},
    {"reef_change(", call_change},
    {"reef_mut(", call_mut},
    {"reef_mut_id(", call_mut_id},
    {"reef_clone(", call_clone},
    {"reef_clone_many(", call_clone_many},
    {"reef_enable(", call_enable},
    {"reef_disable(", call_disable},
    {"reef_disable(entity)", call_disable_entity},
    {"reef_set_name(", call_set_name},
    {"reef_set_name(NULL)", call_no_name},
};

/* A world with everything in it, and handles that are nobody's. */
enum { NOBODIES = 7 };
static reef_entity nobody[NOBODIES];

static reef_entity populate(reef_world *w)
{
    reef_entity somebody = reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Awake), reef_with(Tracked, .value = 3));
    reef_entity dead = reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Awake), reef_tag(Frozen));
    reef_entity reused = reef_create(w);
    assert_ok(reef_set_name(w, somebody, "taken"));
    for (int i = 0; i < 20; i++) reef_spawn(w, reef_with(Position, 0, 0), reef_with(Mass, 2));
    assert_ok(reef_destroy(w, reused));
    assert_ok(reef_destroy(w, dead));
    reef_entity heir = reef_create(w);
    assert_int_equal(heir.index, reused.index);
    nobody[0] = (reef_entity){0};
    nobody[1] = dead;
    nobody[2] = reused;                                                 /* its index lives on */
    nobody[3] = (reef_entity){dead.index, dead.generation + 1};         /* not born yet */
    nobody[4] = (reef_entity){somebody.index, somebody.generation + 1}; /* likewise */
    nobody[5] = (reef_entity){100, 1};
    nobody[6] = (reef_entity){UINT32_MAX, UINT32_MAX};
    return somebody;
}

static void every_call_refuses_entities_that_do_not_live(void **state)
{
    reef_world *w = world_of(state);
    populate(w);
    for (size_t c = 0; c < sizeof entity_calls / sizeof *entity_calls; c++)
        for (int i = 0; i < NOBODIES; i++) {
            refusal r = refusal_begin(w, entity_calls[c].text, __FILE__, __LINE__);
            refusal_status(r, entity_calls[c].call(w, nobody[i]), REEF_NOT_ALIVE);
            assert_entity(nobody[i], reef_last_error(w).entity);
        }
    assert_int_equal(reef_destroy_many(w, nobody, NOBODIES), 0);
}

static bool never(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)context, (void)e, (void)c, (void)data, (void)size;
    fail_msg("visited");
    return true;
}

static void reading_nobody_answers_nothing(void **state)
{
    reef_world *w = world_of(state);
    populate(w);
    reef_query q = reef_query_new(w, "Position");
    for (int i = 0; i < NOBODIES; i++) {
        Position out = {5, 5};
        assert_false(reef_is_alive(w, nobody[i]));
        assert_false(reef_is_enabled(w, nobody[i]) || reef_is_enabled(w, nobody[i], Position));
        assert_false(reef_has(w, nobody[i], Position) || reef_has_id(w, nobody[i], reef_id(Awake)));
        assert_false(reef_has(w, nobody[i], Frozen));
        assert_null(reef_get(w, nobody[i], Position));
        assert_null(reef_get_id(w, nobody[i], reef_id(Position)));
        assert_null(reef_name(w, nobody[i]));
        assert_false(reef_visit_entity(w, nobody[i], never, NULL));
        assert_false(reef_query_matches(w, q, nobody[i]));
        assert_int_equal(reef_get_many(w, Position, &nobody[i], 1, &out), 0);
        assert_int_equal(reef_write_many(w, Position, &nobody[i], 1, &((Position){6, 6})), 0);
        assert_true(out.x == 5);
    }
}

/* ---- calls that take a component type ---- */

typedef reef_status type_call(reef_world *w, reef_entity e, reef_component c);

static reef_status with_add(reef_world *w, reef_entity e, reef_component c) { return reef_add_id(w, e, c, NULL, NULL); }
static reef_status with_set(reef_world *w, reef_entity e, reef_component c)
{
    return reef_set_id(w, e, c, &e, sizeof e);
}
static reef_status with_set_empty(reef_world *w, reef_entity e, reef_component c)
{
    return reef_set_id(w, e, c, NULL, 0);
}
static reef_status with_remove(reef_world *w, reef_entity e, reef_component c) { return reef_remove_id(w, e, c); }
static reef_status with_remove_where(reef_world *w, reef_entity e, reef_component c)
{
    const reef_query all = reef_query_new(w, "either *");
    (void)e;
    return reef_remove_where_id(w, all, c, NULL);
}
static reef_status with_use(reef_world *w, reef_entity e, reef_component c)
{
    (void)e;
    return reef_world_use(w, c);
}
static reef_status with_enable(reef_world *w, reef_entity e, reef_component c) { return reef_enable_id(w, e, c, true); }
static reef_status with_disable(reef_world *w, reef_entity e, reef_component c)
{
    return reef_enable_id(w, e, c, false);
}
static reef_status with_ensure(reef_world *w, reef_entity e, reef_component c)
{
    return recorded(w, !reef_ensure_id(w, e, c, NULL));
}
static reef_status with_mut(reef_world *w, reef_entity e, reef_component c)
{
    return recorded(w, !reef_mut_id(w, e, c));
}

/* The bad type stands last: what comes before it must have left no trace. */
static reef_status with_change(reef_world *w, reef_entity e, reef_component c)
{
    reef_value v[] = {reef_with(Mass, 1), reef_tag(Frozen), reef_without(Position), {c, REEF_VALUE_ONE, sizeof e, &e}};
    return reef_change_values(w, e, v, 4);
}
static reef_status with_change_away(reef_world *w, reef_entity e, reef_component c)
{
    return reef_change_values(w, e, (reef_value[]){reef_with(Mass, 1), {c, REEF_VALUE_REMOVE, 0, NULL}}, 2);
}
static reef_status with_spawn(reef_world *w, reef_entity e, reef_component c)
{
    reef_value v[] = {reef_with(Tracked, .value = 1), {c, REEF_VALUE_ONE, sizeof e, &e}};
    return recorded(w, reef_entity_is_null(reef_spawn_values(w, v, 2)));
}
static reef_status with_spawn_many(reef_world *w, reef_entity e, reef_component c)
{
    return reef_spawn_many_values(w, 9, NULL, (reef_value[]){reef_with(Mass, 1), {c, REEF_VALUE_ONE, sizeof e, &e}}, 2);
}
static reef_status with_bundle(reef_world *w, reef_entity e, reef_component c)
{
    (void)e;
    return recorded(w, !reef_bundle_new(w, (reef_bundle_part[]){{reef_id(Mass), 0}, {c, 8}}, 2));
}
static reef_status with_reserve(reef_world *w, reef_entity e, reef_component c)
{
    (void)e;
    return reef_reserve_for(w, 10, (reef_component[]){reef_id(Position), c}, 2);
}
static reef_status with_query(reef_world *w, reef_entity e, reef_component c)
{
    reef_query_desc d = {
        .terms = {{.component = reef_id(Position), .access = REEF_IN}, {.component = c, .access = REEF_IN}}};
    (void)e;
    return recorded(w, reef_query_is_null(reef_query_make(w, &d)));
}
static reef_status with_write_many(reef_world *w, reef_entity e, reef_component c)
{
    return recorded(w, !reef_write_many_id(w, c, &e, 1, &e, sizeof e));
}

static const struct {
    const char *text;
    type_call *call;
    /* {0} is refused as well; in a query's terms it ends the list, to enable it is the whole entity */
    bool none_too;
} type_calls[] = {
    {"reef_add(", with_add, true},
    {"reef_set(", with_set, true},
    {"reef_set(empty)", with_set_empty, true},
    {"reef_remove(", with_remove, true},
    {"reef_remove_where(", with_remove_where, true},
    {"reef_world_use(", with_use, true},
    {"reef_ensure(", with_ensure, true},
    {"reef_mut(", with_mut, true},
    {"reef_enable(", with_enable, false},
    {"reef_disable(", with_disable, false},
    {"reef_change(", with_change, true},
    {"reef_change(away)", with_change_away, true},
    {"reef_spawn(", with_spawn, true},
    {"reef_spawn_many(", with_spawn_many, true},
    {"reef_bundle_new(", with_bundle, true},
    {"reef_reserve_for(", with_reserve, true},
    {"reef_query_make(", with_query, false},
    {"reef_write_many(", with_write_many, true},
};

static void every_call_refuses_types_that_nobody_made(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = populate(w);
    reef_component bad[] = {{0}, {reef_type_count() + 1}, {REEF_TYPES_MAX + 1}, {UINT32_MAX}, {UINT32_MAX / 2 + 1}};
    for (size_t c = 0; c < sizeof type_calls / sizeof *type_calls; c++)
        for (size_t i = type_calls[c].none_too ? 0 : 1; i < sizeof bad / sizeof *bad; i++) {
            refusal r = refusal_begin(w, type_calls[c].text, __FILE__, __LINE__);
            refusal_status(r, type_calls[c].call(w, e, bad[i]), REEF_UNKNOWN_TYPE);
        }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Position out = {5, 5};
        assert_false(reef_has_id(w, e, bad[i]));
        assert_false(bad[i].id && reef_is_enabled_id(w, e, bad[i]));
        assert_null(reef_get_id(w, e, bad[i]));
        assert_int_equal(reef_count_id(w, bad[i]), 0);
        assert_int_equal(reef_get_many_id(w, bad[i], &e, 1, &out, sizeof out), 0);
        assert_true(out.x == 5);
    }
}

/* Numbers whose upper bits stand where another table's would in the key of an edge. */
static void numbers_far_beyond_all_types_find_no_edge(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[4][20];
    for (int i = 0; i < 20; i++) {
        e[0][i] = reef_spawn(w, reef_with(Mass, i));
        e[1][i] = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Cargo, {1}));
        e[2][i] = reef_spawn(w, reef_with(Health, 1, 2));
        e[3][i] = reef_spawn(w, reef_tag(Frozen), reef_with(Cargo, {1}));
    }
    for (int k = 0; k < 4; k++) /* each of their edges is used, and known to the fast paths */
        for (int i = 0; i < 15; i++) assert_ok(reef_add(w, e[k][i], Velocity));
    for (int k = 0; k < 4; k++)
        for (uint32_t bit = 16; bit < 32; bit++) {
            reef_component far = {reef_id(Velocity).id | (uint32_t)1 << bit};
            assert_refused(w, REEF_UNKNOWN_TYPE, reef_add_id(w, e[k][16], far, NULL, NULL));
            assert_refused(w, REEF_UNKNOWN_TYPE, reef_set_id(w, e[k][16], far, &(Velocity){1, 2}, sizeof(Velocity)));
            assert_refused(w, REEF_UNKNOWN_TYPE, reef_remove_id(w, e[k][5], far));
        }
}

/* A strict world answers the same for types that it wasn't told of, and names them. */
static void a_strict_world_refuses_in_every_call(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.strict = true});
    assert_ok(reef_use(w, Position));
    assert_ok(reef_use(w, Mass));
    assert_ok(reef_use(w, Tracked));
    assert_ok(reef_use(w, Frozen));
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    for (size_t c = 0; c < sizeof type_calls / sizeof *type_calls; c++) {
        if (type_calls[c].call == with_use) continue;
        refusal r = refusal_begin(w, type_calls[c].text, __FILE__, __LINE__);
        refusal_status(r, type_calls[c].call(w, e, reef_id(Velocity)), REEF_UNKNOWN_TYPE);
        assert_int_equal(reef_last_error(w).component.id, reef_id(Velocity).id);
    }
}

/* ---- pointers, sizes, kinds ---- */

static void missing_pointers_and_wrong_sizes_are_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = populate(w);
    Position p = {1, 2};
    reef_value bad[] = {
        {reef_id(Velocity), REEF_VALUE_ONE, sizeof p, NULL},
        {reef_id(Velocity), REEF_VALUE_ARRAY, sizeof p, NULL},
        {reef_id(Velocity), (reef_value_kind)17, sizeof p, &p},
        {reef_id(Velocity), (reef_value_kind)-1, sizeof p, &p},
    };
    assert_refused(w, REEF_BAD_ARGUMENT, reef_set_id(w, e, reef_id(Position), NULL, sizeof p));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_set_id(w, e, reef_id(Velocity), NULL, sizeof p));
    for (int i = 0; i < 4; i++) {
        assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_values(w, &bad[i], 1));
        assert_refused(w, REEF_BAD_ARGUMENT, reef_spawn_many_values(w, 2, NULL, &bad[i], 1));
        assert_refused(w, REEF_BAD_ARGUMENT, reef_change_values(w, e, &bad[i], 1));
    }
    static const uint32_t sizes[] = {0, 1, 7, 9, 16, UINT32_MAX};
    for (int i = 0; i < 6; i++) {
        reef_value wrong = {reef_id(Velocity), REEF_VALUE_ONE, sizes[i], &p};
        assert_no_entity(w, REEF_WRONG_SIZE, reef_spawn_values(w, &wrong, 1));
        assert_refused(w, REEF_WRONG_SIZE, reef_spawn_many_values(w, 2, NULL, &wrong, 1));
        assert_refused(w, REEF_WRONG_SIZE, reef_change_values(w, e, &wrong, 1));
        assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Position), &p, sizes[i]));
        assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Velocity), &p, sizes[i]));
    }
    assert_refused(w, REEF_BAD_ARGUMENT, reef_change_values(w, e, NULL, 2));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_reserve_for(w, 10, NULL, 2));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_bundle_new(w, NULL, 2));
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_bundle(w, NULL, &p));
}

static void what_is_there_or_absent_is_said(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = populate(w), bare = reef_spawn_values(w, NULL, 0), gone = reef_create(w);
    assert_ok(reef_destroy(w, gone));
    assert_refused(w, REEF_EXISTS, reef_add(w, e, Position));
    assert_refused(w, REEF_EXISTS, reef_add(w, e, Awake));
    assert_refused(w, REEF_EXISTS, reef_create_as(w, e));
    assert_refused(w, REEF_ABSENT, reef_remove(w, e, Mass));
    assert_refused(w, REEF_ABSENT, reef_remove(w, e, Seen));
    assert_refused(w, REEF_ABSENT, reef_remove(w, bare, Position));
    assert_refused(w, REEF_ABSENT, reef_remove(w, bare, Awake));
    assert_refused(w, REEF_ABSENT, reef_disable(w, e, Mass));
    assert_refused(w, REEF_ABSENT, reef_enable(w, bare, Awake));
    assert_no_pointer(w, REEF_ABSENT, reef_mut(w, e, Mass));
    assert_no_pointer(w, REEF_ABSENT, reef_mut(w, bare, Position));
    assert_refused(w, REEF_NAME_TAKEN, reef_set_name(w, bare, "taken"));
    assert_refused(w, REEF_BAD_TEXT, reef_set_name(w, bare, ""));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_create_as(w, (reef_entity){0}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_create_as(w, gone));
    assert_true(reef_release_id(w, e) < 0);
    assert_true(reef_release_id(w, gone) < 0);
    assert_true(reef_is_alive(w, e));
}

/* ---- another world's objects ---- */

static void another_worlds_objects_are_refused(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_entity e = populate(w);
    reef_query q = reef_query_new(w, "Position");
    reef_bundle *bundle = reef_bundle_new(w, (reef_bundle_part[]){{reef_id(Mass), 0}}, 1);
    populate(other);
    Mass packed = {3};
    assert_no_entity(other, REEF_OTHER_WORLD, reef_spawn_bundle(other, bundle, &packed));
    uint64_t before = digest(other);
    reef_block b = reef_begin(other, q);
    assert_int_equal(reef_last_error(other).status, REEF_OTHER_WORLD);
    assert_false(reef_next(&b));
    assert_true(digest(other) == before);
    assert_some(reef_create(other));
    reef_world *empty = another_world(state, NULL); /* where e's index was never used */
    for (size_t c = 0; c < sizeof entity_calls / sizeof *entity_calls; c++) {
        refusal r = refusal_begin(empty, entity_calls[c].text, __FILE__, __LINE__);
        refusal_status(r, entity_calls[c].call(empty, e), REEF_NOT_ALIVE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_call_refuses_entities_that_do_not_live), TEST(reading_nobody_answers_nothing),
        TEST(every_call_refuses_types_that_nobody_made),    TEST(a_strict_world_refuses_in_every_call),
        TEST(missing_pointers_and_wrong_sizes_are_refused), TEST(what_is_there_or_absent_is_said),
        TEST(another_worlds_objects_are_refused),           TEST(numbers_far_beyond_all_types_find_no_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
