/* Tests each limit: the largest value, one more than that, zero, and the edges between. (65,536 types:
 * test_limits_types.c.) */
#include "support.h"

/* ---- indices and generations ---- */

static void the_last_generation_retires_its_index(void **state)
{
    reef_world *w = world_of(state);
    reef_entity last = {3, UINT32_MAX};
    assert_ok(reef_create_as(w, last));
    assert_true(reef_is_alive(w, last));
    assert_status(REEF_ADDED, reef_set(w, last, Position, 1, 2));
    assert_ok(reef_destroy(w, last));
    assert_valid(w);
    assert_false(reef_is_alive(w, last));
    assert_refused(w, REEF_NOT_ALIVE, reef_destroy(w, last));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_create_as(w, last));
    for (int i = 0; i < 50; i++) {
        reef_entity e = reef_create(w);
        assert_true(e.index != 3 && e.generation != 0);
    }
    assert_refused(w, REEF_BAD_ARGUMENT, reef_create_as(w, (reef_entity){3, 1}));
    assert_none(reef_entity_at(w, 3));
}

static void a_retired_index_counts_against_the_limit(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.entities_max = 5});
    for (uint32_t i = 0; i < 5; i++) {
        assert_ok(reef_create_as(w, (reef_entity){i, UINT32_MAX}));
        if (i < 4) assert_ok(reef_destroy(w, (reef_entity){i, UINT32_MAX}));
    }
    assert_no_entity(w, REEF_LIMIT, reef_create(w));
    assert_ok(reef_world_clear(w)); /* the last one's generation is used up as well */
    assert_no_entity(w, REEF_LIMIT, reef_create(w));
    assert_refused(w, REEF_LIMIT, reef_spawn_many(w, 1, NULL, reef_with(Mass, 1)));
}

static void the_penultimate_generation_has_one_life_left(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.entities_max = 1});
    assert_ok(reef_create_as(w, (reef_entity){0, UINT32_MAX - 1}));
    assert_ok(reef_destroy(w, (reef_entity){0, UINT32_MAX - 1}));
    reef_entity e = reef_spawn(w, reef_with(Mass, 1));
    assert_entity(((reef_entity){0, UINT32_MAX}), e);
    assert_int_equal(reef_destroy_many(w, &e, 1), 1);
    assert_none(reef_create(w));
}

static void indices_run_out_at_the_worlds_limit(void **state)
{
    static const uint32_t limits[] = {1, 4095, 4096, 4097};
    for (int i = 0; i < 4; i++) {
        reef_world *w = another_world(state, &(reef_world_config){.entities_max = limits[i]});
        for (uint32_t k = 0; k < limits[i]; k++) assert_some(reef_create(w));
        assert_no_entity(w, REEF_LIMIT, reef_create(w));
        assert_int_equal(reef_count_alive(w), limits[i]);
        assert_refused(w, REEF_LIMIT, reef_reserve(w, limits[i] + 1));
        assert_refused(w, REEF_LIMIT, reef_create_as(w, (reef_entity){limits[i], 1}));
        end_world(state, w);
    }
    reef_world *w = world_of(state);
    assert_refused(w, REEF_LIMIT, reef_create_as(w, (reef_entity){UINT32_MAX, 1}));
    assert_true(reef_spawn_many_values(w, UINT32_MAX, NULL, NULL, 0) < 0);
    assert_valid(w);
    assert_int_equal(reef_count_alive(w), 0);
}

static void without_reuse_the_limit_is_that_of_births(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.entities_max = 100, .never_reuse = true});
    for (int i = 0; i < 100; i++) assert_ok(reef_destroy(w, reef_create(w)));
    assert_no_entity(w, REEF_LIMIT, reef_create(w));
    assert_no_entity(w, REEF_LIMIT, reef_spawn(w, reef_with(Mass, 1)));
}

/* ---- components of one entity ---- */

static reef_component many_type(uint32_t i) { return numbered_type("many", i, 4, 4); }
static reef_component tag_type(uint32_t i) { return numbered_type("tag", i, 0, 1); }

static void an_entity_has_any_number_of_components(void **state)
{
    static const uint32_t amounts[] = {0, 1, 63, 64, 65, 255, 256, 257, REEF_COLUMNS_MAX};
    static reef_value v[REEF_COLUMNS_MAX + 1];
    static uint32_t data[REEF_COLUMNS_MAX + 1];
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i <= REEF_COLUMNS_MAX; i++) {
        data[i] = i * 7;
        v[i] = reef_value_make(many_type(i), REEF_VALUE_ONE, 4, &data[i]);
    }
    for (uint32_t a = 0; a < sizeof amounts / sizeof *amounts; a++) {
        reef_entity e = reef_spawn_values(w, v, amounts[a]), f = reef_clone(w, e);
        assert_some(e);
        for (uint32_t i = 0; i < amounts[a]; i++)
            assert_int_equal(*(const uint32_t *)reef_get_id(w, f, v[i].component), i * 7);
        assert_false(reef_has_id(w, e, v[amounts[a]].component));
        if (amounts[a] < REEF_COLUMNS_MAX)
            assert_status(REEF_ADDED, reef_set_id(w, e, v[amounts[a]].component, &data[amounts[a]], 4));
        if (amounts[a]) assert_ok(reef_remove_id(w, e, v[amounts[a] / 2].component));
    }
    assert_valid(w);
    assert_no_entity(w, REEF_LIMIT, reef_spawn_values(w, v, REEF_COLUMNS_MAX + 1));
    assert_refused(w, REEF_LIMIT, reef_spawn_many_values(w, 2, NULL, v, REEF_COLUMNS_MAX + 1));
    reef_entity full = reef_spawn_values(w, v, REEF_COLUMNS_MAX);
    assert_refused(w, REEF_LIMIT, reef_add_id(w, full, v[REEF_COLUMNS_MAX].component, NULL, NULL));
    assert_refused(w, REEF_LIMIT, reef_change_values(w, full, &v[REEF_COLUMNS_MAX], 1));
    assert_ok(reef_add(w, full, Frozen)); /* tags have no column */
    assert_ok(reef_add(w, full, Awake));
    reef_value swap[] = {v[REEF_COLUMNS_MAX], reef_value_make(v[5].component, REEF_VALUE_REMOVE, 0, NULL)};
    assert_ok(reef_change_values(w, full, swap, 2));
}

static void an_entity_has_at_most_4096_components(void **state)
{
    static reef_value v[REEF_COMPONENTS_MAX + 1];
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i <= REEF_COMPONENTS_MAX; i++)
        v[i] = reef_value_make(tag_type(i), REEF_VALUE_DEFAULT, 0, NULL);
    v[0] = reef_with(Position, 1, 2);
    assert_no_entity(w, REEF_LIMIT, reef_spawn_values(w, v, REEF_COMPONENTS_MAX + 1));
    reef_entity e = reef_spawn_values(w, v, REEF_COMPONENTS_MAX);
    assert_some(e);
    assert_refused(w, REEF_LIMIT, reef_add_id(w, e, v[REEF_COMPONENTS_MAX].component, NULL, NULL));
    for (uint32_t i = 0; i < REEF_COMPONENTS_MAX; i++) assert_true(reef_has_id(w, e, v[i].component));
    assert_ok(reef_add(w, e, Awake));
    assert_ok(reef_remove_id(w, e, v[77].component));
    assert_ok(reef_add_id(w, e, v[REEF_COMPONENTS_MAX].component, NULL, NULL));
    assert_position(w, e, 1, 2);
}

/* ---- sizes and alignments ---- */

static void fills(reef_world *w, reef_component c, size_t size, int rows)
{
    unsigned char *data = malloc(size);
    reef_entity e[8];
    for (int i = 0; i < rows; i++) {
        memset(data, 16 + i, size);
        e[i] = reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_ONE, (uint32_t)size, data}}, 1);
        assert_some(e[i]);
    }
    assert_ok(reef_destroy(w, e[0]));
    for (int i = 1; i < rows; i++) {
        const unsigned char *there = reef_get_id(w, e[i], c);
        assert_true(there[0] == 16 + i && there[size / 2] == 16 + i && there[size - 1] == 16 + i);
        assert_ok(reef_add(w, e[i], Frozen));
        there = reef_get_id(w, e[i], c);
        assert_true(there[0] == 16 + i && there[size - 1] == 16 + i);
    }
    free(data);
}

static void components_of_a_megabyte_and_of_the_largest_size(void **state)
{
    reef_world *w = world_of(state);
    fills(w, numbered_type("mega", 1, 1 << 20, 64), 1 << 20, 5);
    assert_ok(reef_world_clear(w));
    assert_ok(reef_shrink(w));
    fills(w, numbered_type("largest", 1, REEF_SIZE_MAX, 16), REEF_SIZE_MAX, 2);
    reef_status status = REEF_OK;
    assert_int_equal(reef_type_new(&(reef_type_desc){.name = "larger", .size = REEF_SIZE_MAX + 1u}, &status).id, 0);
    assert_int_equal(status, REEF_BAD_ARGUMENT);
}

static void components_of_no_bytes_are_tags(void **state)
{
    reef_world *w = world_of(state);
    reef_component c = numbered_type("nothing", 1, 0, 1);
    reef_entity e = reef_spawn_values(w, (reef_value[]){{c, REEF_VALUE_DEFAULT, 0, NULL}, reef_with(Mass, 2)}, 2);
    assert_true(reef_has_id(w, e, c));
    assert_null(reef_get_id(w, e, c));
    assert_int_equal(reef_count_id(w, c), 1);
    assert_status(REEF_OK, reef_set_id(w, e, c, NULL, 0));
    assert_ok(reef_remove_id(w, e, c));
}

static void every_alignment_holds_through_every_move(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t align = 1; align <= REEF_ALIGN_MAX; align *= 2) {
        reef_component c = numbered_type("alignment", align, align, align);
        reef_entity e[30];
        assert_ok(
            reef_spawn_many_values(w, 30, e, (reef_value[]){reef_with(Flag, 1), {c, REEF_VALUE_DEFAULT, 0, NULL}}, 2));
        for (int i = 0; i < 30; i++) {
            void *p = reef_mut_id(w, e[i], c);
            assert_int_equal((uintptr_t)p % align, 0);
            memset(p, i, align);
            assert_ok(reef_add(w, e[i], Mass));
        }
        for (int i = 0; i < 30; i++) {
            const unsigned char *p = reef_get_id(w, e[i], c);
            assert_int_equal((uintptr_t)p % align, 0);
            assert_true(p[0] == i && p[align - 1] == i);
        }
    }
}

/* ---- blocks ---- */

static void blocks_of_1023_1024_and_1025_rows(void **state)
{
    for (uint32_t n = 1022; n <= 1026; n++) {
        reef_world *w = another_world(state, NULL);
        static reef_entity e[1026];
        for (uint32_t i = 0; i < n; i++) e[i] = reef_spawn(w, reef_with(Mass, i), reef_with(Flag, (uint8_t)i));
        assert_int_equal(reef_world_stats(w).blocks, n > 1024 ? 2 : 1);
        assert_valid(w);
        for (uint32_t i = n; i-- > 1020;) {
            assert_true(reef_get(w, e[i], Mass)->kg == i);
            assert_ok(i % 2 ? reef_remove(w, e[i], Flag) : reef_destroy(w, e[i]));
            assert_valid(w);
        }
        for (uint32_t i = 0; i < 1020; i++) assert_true(reef_get(w, e[i], Mass)->kg == i);
        for (uint32_t i = 0; i < 10; i++) reef_spawn(w, reef_with(Mass, i), reef_with(Flag, 1));
        assert_int_equal(reef_count(w, Flag), 1030);
        end_world(state, w);
    }
}

/* ---- many tables ---- */

static void a_thousand_tables_keep_apart(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "in Mass");
    reef_entity e[1024];
    for (uint32_t i = 0; i < 1024; i++) {
        reef_value v[11] = {reef_with(Mass, i)};
        uint32_t n = 1;
        for (uint32_t b = 0; b < 10; b++)
            if (i >> b & 1) v[n++] = reef_value_make(tag_type(b + 1), REEF_VALUE_DEFAULT, 0, NULL);
        e[i] = reef_spawn_values(w, v, n);
    }
    assert_int_equal(reef_world_stats(w).tables, 1024);
    assert_int_equal(reef_query_count(w, q), 1024);
    for (uint32_t i = 0; i < 1024; i++)
        for (uint32_t b = 0; b < 10; b++) assert_int_equal(reef_has_id(w, e[i], tag_type(b + 1)), i >> b & 1);
    for (uint32_t b = 0; b < 10; b++) assert_ok(remove_everywhere(w, tag_type(b + 1), NULL));
    assert_int_equal(reef_world_stats(w).tables, 1);
    for (uint32_t i = 0; i < 1024; i++) assert_true(reef_get(w, e[i], Mass)->kg == i);
}

/* A component that only a few of very many tables have, whose numbers are far apart. */
static void a_component_in_few_of_many_tables(void **state)
{
    enum { TABLES = 3000, EVERY = 250, FEW = TABLES / EVERY };
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "Mass, in Health");
    reef_entity e[FEW];
    for (uint32_t i = 0; i < TABLES; i++) {
        reef_value v[] = {
            {tag_type(i), REEF_VALUE_DEFAULT, 0, NULL}, reef_with(Health, (int32_t)i, 0), reef_with(Mass, i)};
        reef_entity made = reef_spawn_values(w, v, i % EVERY ? 2 : 3);
        if (i % EVERY == 0) e[i / EVERY] = made;
    }
    assert_valid(w);
    assert_int_equal(reef_count(w, Mass), FEW);
    assert_int_equal(reef_query_count(w, q), FEW);
    for (uint32_t i = 0; i < TABLES; i++) assert_int_equal(reef_has(w, reef_entity_at(w, i), Mass), i % EVERY == 0);
    for (int i = 0; i < FEW; i++) {
        assert_true(reef_has(w, e[i], Mass));
        assert_true(((const Mass *)reef_get_id(w, e[i], reef_id(Mass)))->kg == i * EVERY);
        assert_true(reef_get(w, e[i], Mass) && reef_get(w, e[i], Mass)->kg == i * EVERY);
        reef_mut(w, e[i], Mass)->kg = i;
        assert_ok(reef_set(w, e[i], Mass, i + 1));
        assert_status(REEF_EXISTS, reef_add(w, e[i], Mass));
        Mass out = {0};
        assert_int_equal(reef_get_many(w, Mass, &e[i], 1, &out), 1);
        assert_true(out.kg == i + 1);
        assert_int_equal(reef_write_many(w, Mass, &e[i], 1, &((Mass){i + 2})), 1);
        assert_ok(reef_add(w, e[i], Position));
        assert_true(reef_get(w, e[i], Mass)->kg == i + 2);
    }
    uint32_t rows = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); rows += b.count)
        assert_true(reef_inout(&b, Mass)[0].kg == rows + 2);
    assert_int_equal(rows, FEW);
    for (int i = 0; i < FEW; i += 2) assert_ok(reef_remove(w, e[i], Mass));
    assert_int_equal(reef_count(w, Mass), FEW / 2);
    assert_ok(remove_everywhere(w, reef_id(Mass), NULL));
    assert_int_equal(reef_count(w, Mass), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_generation_retires_its_index),
        TEST(a_retired_index_counts_against_the_limit),
        TEST(the_penultimate_generation_has_one_life_left),
        TEST(indices_run_out_at_the_worlds_limit),
        TEST(without_reuse_the_limit_is_that_of_births),
        TEST(an_entity_has_any_number_of_components),
        TEST(an_entity_has_at_most_4096_components),
        TEST(components_of_a_megabyte_and_of_the_largest_size),
        TEST(components_of_no_bytes_are_tags),
        TEST(every_alignment_holds_through_every_move),
        TEST(blocks_of_1023_1024_and_1025_rows),
        TEST(a_thousand_tables_keep_apart),
        TEST(a_component_in_few_of_many_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
