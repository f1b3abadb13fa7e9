/* The exported twins of the inlined functions (reef/plain.h): each answers what the inlined one does, and takes
 * NULL. That every inlined function has one is tested by tests/languages. */
#include "support.h"
#include "reef/plain.h"
#include <float.h>
#include <math.h>

typedef struct {
    int32_t weight;
} PlainBase;
typedef struct {
    PlainBase base;
    int32_t more;
} PlainSub;
typedef struct {
    uint32_t number;
} PlainEvent;
REEF_COMPONENT(PlainBase);
REEF_SUBTYPE(PlainSub, PlainBase);
REEF_COMPONENT(PlainEvent);
REEF_TAG(PlainTag);

static void handles(void **test)
{
    (void)test;
    const reef_entity e[] = {{0, 0}, {0, 1}, {1, 0}, {7, 3}, {7, 4}, {UINT32_MAX - 2, UINT32_MAX}};
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) {
        assert_int_equal(reef_plain_entity_is_null(e[i]), reef_entity_is_null(e[i]));
        assert_true(reef_plain_entity_bits(e[i]) == ((uint64_t)e[i].generation << 32 | e[i].index));
        assert_true(reef_plain_key_entity(e[i]) == reef_key_entity(e[i]));
        for (size_t k = 0; k < sizeof e / sizeof *e; k++) assert_int_equal(reef_plain_entity_equal(e[i], e[k]), i == k);
    }
    for (uint32_t generation = 0; generation < 2; generation++) {
        const bool null = generation == 0;
        assert_int_equal(reef_plain_query_is_null((reef_query){1, generation, 1}), null);
        assert_int_equal(reef_plain_system_is_null((reef_system_id){1, generation, 1}), null);
        assert_int_equal(reef_plain_observer_is_null((reef_observer_id){1, generation, 1}), null);
        assert_int_equal(reef_plain_removals_is_null((reef_removals){1, generation, 1}), null);
        assert_int_equal(reef_plain_event_reader_is_null((reef_event_reader){1, generation, 1}), null);
        assert_int_equal(reef_plain_pin_is_null((reef_pinned){null ? NULL : test}), null);
    }
}

static void keys(void **test)
{
    (void)test;
    const double d[] = {-INFINITY, -DBL_MAX, -1.5, -1, -FLT_MIN, -0.0, 0.0, FLT_MIN, 1, 1.5, FLT_MAX, INFINITY, NAN};
    for (size_t i = 0; i < sizeof d / sizeof *d; i++) {
        assert_true(reef_plain_key_f64(d[i]) == reef_key_f64(d[i]));
        assert_true(reef_plain_key_f32((float)d[i]) == reef_key_f32((float)d[i]));
        if (i) assert_true(reef_plain_key_f64(d[i - 1]) <= reef_plain_key_f64(d[i]));
    }
    for (int64_t i = -3; i <= 3; i++) {
        const int64_t wide = i * (INT64_MAX / 3);
        const int32_t narrow = (int32_t)(i * (INT32_MAX / 3));
        assert_true(reef_plain_key_i64(wide) == reef_key_i64(wide));
        assert_true(reef_plain_key_u64((uint64_t)wide) == (uint64_t)wide);
        assert_true(reef_plain_key_i32(narrow) == reef_key_i32(narrow));
        assert_true(reef_plain_key_u32((uint32_t)narrow) == (uint32_t)narrow);
    }
}

static void random_numbers(void **test)
{
    reef_random a = reef_random_of(world_of(test), 3, (reef_entity){5, 1}), b = a;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(reef_plain_random_u32(&a), reef_random_u32(&b));
        assert_true(reef_plain_random_u64(&a) == reef_random_u64(&b));
        assert_true(reef_plain_random_float(&a) == reef_random_float(&b));
    }
    assert_int_equal(reef_plain_random_u32(NULL), 0);
    assert_true(reef_plain_random_u64(NULL) == 0);
    assert_true(reef_plain_random_float(NULL) == 0);
}

static void values_and_scripts(void **test)
{
    static const reef_script_class class = {.name = "plain", .size = 4};
    reef_world *w = world_of(test);
    const PlainBase base = {40};
    const reef_script script = reef_script_make(&class, &(uint32_t){9});
    const reef_value values[] = {reef_plain_value_make(reef_id(PlainBase), REEF_VALUE_ONE, sizeof base, &base),
                                 reef_plain_value_make(reef_id(PlainTag), REEF_VALUE_DEFAULT, 0, NULL),
                                 reef_plain_script_value(&script)};
    const reef_entity e = reef_spawn_values(w, values, 3);
    assert_some(e);
    assert_int_equal(reef_get(w, e, PlainBase)->weight, 40);
    assert_true(reef_has(w, e, PlainTag));
    assert_int_equal(*(const uint32_t *)reef_script_data(w, e), 9);
}

/* Two tables, and of one not every row: what the inlined walk visits, in its order. */
static void rows_by_plain_calls(void **test)
{
    reef_world *w = world_of(test);
    for (int32_t i = 0; i < 30; i++) {
        const reef_entity e =
            i % 3 ? reef_spawn(w, reef_with(PlainBase, i)) : reef_spawn(w, reef_with(PlainBase, i), reef_tag(PlainTag));
        if (i % 4 == 0) assert_ok(reef_disable(w, e, PlainBase));
    }
    const reef_query q = reef_query_new(w, "in PlainBase");
    reef_entity visited[30];
    uint32_t count = 0, i = 0;
    reef_each(w, q, row) visited[count++] = row.entity;
    assert_int_equal(count, 22);
    reef_row row = reef_rows(w, q);
    for (; reef_plain_row_next(&row); i++) {
        assert_entity(visited[i], row.entity);
        const PlainBase *values = reef_block_in(&row.block, reef_id(PlainBase));
        assert_ptr_equal(&values[row.i], reef_get(w, row.entity, PlainBase));
    }
    assert_int_equal(i, count);
    reef_block b = reef_begin(w, q);
    assert_true(reef_next_block(&b));
    assert_non_null(reef_plain_block_mask(&b));
    assert_ptr_equal(reef_plain_block_mask(&b), reef_block_mask(&b));
    reef_end(&b);
    assert_null(reef_plain_block_mask(&b));
    assert_null(reef_plain_block_mask(NULL));
    assert_false(reef_plain_row_next(&row));
    assert_false(reef_plain_row_next(NULL));
    assert_ok(reef_query_free(w, q));
}

static void references(void **test)
{
    reef_world *w = world_of(test);
    const reef_entity e = reef_spawn(w, reef_with(PlainBase, 1)), other = reef_spawn(w, reef_with(PlainBase, 2));
    reef_ref a = reef_plain_ref_make_id(w, e, reef_id(PlainBase)), b = reef_ref_make(w, other, PlainBase);
    assert_true(reef_plain_ref_equal(&a, &a) && !reef_plain_ref_equal(&a, &b) && !reef_plain_ref_equal(&a, NULL));
    assert_true(reef_plain_ref_equal(NULL, NULL));
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(reef_plain_ref_get_id(w, &a), reef_get(w, e, PlainBase));
        assert_int_equal(((const PlainBase *)reef_plain_ref_get_id(w, &b))->weight, 2);
        assert_ok(reef_destroy(w, i ? e : reef_spawn(w, reef_tag(PlainTag))));
        if (i == 0) reef_add(w, e, PlainTag);
    }
    assert_null(reef_plain_ref_get_id(w, &a));
    assert_null(reef_plain_ref_get_id(w, NULL));
    assert_null(reef_plain_ref_get_id(NULL, &a));
    assert_true(reef_plain_ref_is_null(NULL) && reef_plain_ref_is_null(&(reef_ref){{0, 0}, {0}, 0, NULL, 0}) &&
                !reef_plain_ref_is_null(&a));
}

static void subtypes(void **test)
{
    reef_world *w = world_of(test);
    for (int32_t i = 0; i < 5; i++) assert_some(reef_spawn(w, reef_with(PlainSub, {i}, 10)));
    uint32_t rows = 0;
    for (reef_block b = reef_begin_text(w, "in PlainBase+"); reef_next_block(&b);) {
        const reef_strided values = reef_block_sub(&b, reef_id(PlainBase), false);
        for (uint32_t i = 0; i < b.count; i++, rows++) {
            assert_ptr_equal(reef_plain_sub_cell(values, i), reef_sub_cell(values, i));
            assert_int_equal(((const PlainBase *)reef_plain_sub_cell(values, i))->weight, rows);
        }
    }
    assert_int_equal(rows, 5);
    assert_null(reef_plain_sub_cell((reef_strided){NULL, 4, {0}}, 1));
}

static uint32_t heard, sum;
static void say(reef_block *b)
{
    for (uint32_t i = 1; i <= 100; i++) assert_ok(reef_send(b, PlainEvent, i));
    for (uint32_t i = 0; i < 7; i++) assert_ok(reef_send_tag(b, PlainTag));
}
static void hear(reef_block *b)
{
    reef_events events = reef_receive_id(b, reef_id(PlainEvent)), tags = reef_receive_id(b, reef_id(PlainTag));
    for (const PlainEvent *e; (e = reef_plain_next_event(&events)) != NULL;) heard++, sum += e->number;
    while (reef_plain_next_event(&tags) != NULL) heard++;
}

static void events_by_plain_calls(void **test)
{
    reef_world *w = world_of(test);
    assert_false(reef_system_is_null(reef_system(w, say, "; sends PlainEvent, sends PlainTag")));
    assert_false(reef_system_is_null(reef_system(w, hear, "; receives PlainEvent, receives PlainTag")));
    heard = sum = 0;
    assert_ok(reef_tick(w, 0));
    assert_int_equal(heard, 107);
    assert_int_equal(sum, 5050);
    assert_null(reef_plain_next_event(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(handles),
        TEST(keys),
        TEST(random_numbers),
        TEST(values_and_scripts),
        TEST(rows_by_plain_calls),
        TEST(references),
        TEST(subtypes),
        TEST(events_by_plain_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
