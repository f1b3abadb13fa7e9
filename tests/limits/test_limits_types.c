/* 65,536 types, and one more. This suite has its own process, since types are never freed. */
#include "support.h"

static void D9_65536_types_and_one_more(void **state)
{
    reef_world *w = world_of(state);
    /* a call that looks for a name also registers the types of reef itself */
    uint32_t declared = reef_id(Position).id && reef_type_find("ChildOf").id ? reef_type_count() : 0;
    for (uint32_t i = declared; i < REEF_TYPES_MAX; i++) assert_int_equal(numbered_type("type", i + 1, 4, 4).id, i + 1);
    assert_int_equal(reef_type_count(), REEF_TYPES_MAX);
    reef_status status = REEF_OK;
    assert_int_equal(reef_type_new(&(reef_type_desc){.name = "one more", .size = 4}, &status).id, 0);
    assert_true(status < 0);
    assert_int_equal(reef_type_new(&(reef_type_desc){.name = "one_more", .size = 4}, &status).id, 0);
    assert_int_equal(status, REEF_LIMIT);
    assert_int_equal(reef_type_count(), REEF_TYPES_MAX);
    assert_int_equal(reef_type_new(&(reef_type_desc){.name = "type65536", .size = 4}, &status).id, REEF_TYPES_MAX);
    assert_int_equal(reef_type_find("type65536").id, REEF_TYPES_MAX);
    assert_int_equal(reef_type_find("one_more").id, 0);

    reef_component far[] = {{REEF_TYPES_MAX}, {REEF_TYPES_MAX - 1}, {40000}, {65}, {64}};
    uint32_t data = 9;
    reef_entity e = reef_create(w);
    for (int i = 0; i < 5; i++) assert_status(REEF_ADDED, reef_set_id(w, e, far[i], &data, 4));
    for (int i = 0; i < 5; i++) assert_int_equal(*(const uint32_t *)reef_get_id(w, e, far[i]), 9);
    assert_int_equal(reef_count_id(w, (reef_component){REEF_TYPES_MAX}), 1);
    reef_query q = reef_query_new(w, "type65536, in type40000");
    assert_int_equal(reef_query_count(w, q), 1);
    assert_int_equal(reef_world_stats(w).types, 5);
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_add_id(w, e, (reef_component){REEF_TYPES_MAX + 1}, NULL, NULL));
    assert_ok(reef_remove_id(w, e, far[0]));
    assert_false(reef_has_id(w, e, far[0]));
    assert_true(reef_has_id(w, e, far[1]));
}

/* Thousands of types, each in its own table: looking one up must stay correct. */
static void thousands_of_types_in_use(void **state)
{
    enum { STEP = 13, USED = REEF_TYPES_MAX / STEP };
    static reef_entity e[USED];
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < USED; i++) {
        reef_component c = {i * STEP + 100 < REEF_TYPES_MAX ? i * STEP + 100 : 50};
        reef_type_info info;
        assert_true(reef_type_get(c, &info));
        if (info.hooks || info.home == REEF_BIT) continue;
        e[i] = reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}}, 1);
        assert_some(e[i]);
    }
    for (uint32_t i = 0; i < USED; i++) {
        reef_component c = {i * STEP + 100 < REEF_TYPES_MAX ? i * STEP + 100 : 50}, next = {c.id + 1};
        if (reef_entity_is_null(e[i])) continue;
        assert_true(reef_has_id(w, e[i], c));
        assert_false(reef_has_id(w, e[i], next));
    }
    assert_int_equal(reef_world_stats(w).entities, reef_count_alive(w));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(D9_65536_types_and_one_more),
        TEST(thousands_of_types_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
