/* The process's own memory, that of the types: from an allocator of the user's, and when there is none. The registry
 * can't be emptied, so the tests build on each other: the first one sets the allocator before any type is used. */
#include "support.h"

static heap types; /* never given back */

static void H3_the_types_allocator_is_set_before_the_first_use(void **state)
{
    (void)state;
    reef_allocator a = heap_allocator(&types), other = heap_allocator(&types);
    assert_ok(reef_set_process_allocator(&a));
    assert_ok(reef_set_process_allocator(NULL));
    assert_ok(reef_set_process_allocator(&a));
    assert_int_equal(types.calls, 0); /* declaring allocated nothing */
    heap_fail_nth(&types, 1, true);
    assert_int_equal(reef_id(Position).id, 0);
    assert_int_equal(reef_type_count(), 0);
    assert_int_equal(reef_type_find("Position").id, 0);
    assert_status(REEF_OK, reef_set_process_allocator(&other)); /* nothing was taken yet */
    heap_fail_never(&types);
    assert_true(reef_id(Position).id != 0);
    assert_status(REEF_EXISTS, reef_set_process_allocator(NULL));
    assert_true(types.blocks > 0);
    assert_int_equal(reef_type_find("Position").id, reef_id(Position).id);
    assert_null(types.mistake);
}

static void G5_a_type_without_memory_can_be_made_later(void **state)
{
    static const reef_field fields[] = {{"a", REEF_U32, 0, 4, "m", 0, 0}, {"b", REEF_U32, 4, 4, NULL, 0, 0}};
    (void)state;
    uint32_t failures = 0;
    for (uint32_t i = 0; i < 300; i++) { /* across pages of records and tables of names */
        char name[32];
        snprintf(name, sizeof name, "memory%u", (unsigned)i);
        reef_type_desc d = {.name = name, .size = 8, .align = 4, .fields = fields, .field_count = 2};
        uint32_t       count = reef_type_count();
        reef_status    status = REEF_OK;
        for (uint64_t n = 1;; n++) {
            heap_fail_nth(&types, n, i % 2);
            reef_component c = reef_type_new(&d, &status);
            bool           failed = types.refused != 0;
            heap_fail_never(&types);
            if (!failed) break;
            failures++;
            assert_int_equal(c.id, 0);
            assert_status(REEF_NO_MEMORY, status);
            assert_int_equal(reef_type_count(), count);
            assert_int_equal(reef_type_find(name).id, 0);
        }
        assert_int_equal(status, REEF_OK);
        assert_int_equal(reef_type_find(name).id, count + 1);
    }
    assert_true(failures >= 600);
    assert_null(types.mistake);
}

static void G5_fields_without_memory_can_be_given_later(void **state)
{
    static const reef_field field = {"a", REEF_U32, 0, 4, "m", 0, 0};
    (void)state;
    reef_component c = numbered_type("bare", 1, 4, 4);
    reef_type_info info;
    heap_fail_nth(&types, 1, false);
    assert_status(REEF_NO_MEMORY, reef_type_describe(c, &field, 1));
    heap_fail_never(&types);
    assert_true(reef_type_get(c, &info));
    assert_null(info.fields);
    assert_int_equal(info.field_count, 0);
    assert_ok(reef_type_describe(c, &field, 1));
    assert_true(reef_type_get(c, &info));
    assert_int_equal(info.field_count, 1);
}

/* Worlds take no memory from there but for types, and give theirs back to their own. */
static void H3_worlds_and_types_keep_their_memory_apart(void **state)
{
    (void)state;
    heap              own = {0};
    reef_world_config config = {.allocator = heap_allocator(&own)};
    reef_world       *w = reef_world_new(&config);
    (void)reef_id(Velocity), (void)reef_id(Awake);
    uint64_t calls = types.calls;
    for (int i = 0; i < 2000; i++)
        assert_some(reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 1, 2), reef_tag(Awake)));
    assert_ok(reef_set_name(w, reef_entity_at(w, 5), "five"));
    assert_int_equal(reef_query_count(w, reef_query_new(w, "Position, in Velocity")), 2000);
    assert_valid(w);
    assert_int_equal(types.calls, calls);
    reef_world_free(w);
    assert_int_equal(own.blocks, 0);
    assert_null(own.mistake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(H3_the_types_allocator_is_set_before_the_first_use),
        cmocka_unit_test(G5_a_type_without_memory_can_be_made_later),
        cmocka_unit_test(G5_fields_without_memory_can_be_given_later),
        cmocka_unit_test(H3_worlds_and_types_keep_their_memory_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
