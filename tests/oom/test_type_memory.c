/* The memory for types, which belongs to the process: from an allocator of the user, and when it runs out. The registry
 * can't be emptied, so the tests build on each other: the first one sets the allocator before any type is used. */
#include "base/checksum.h"
#include "load_repair.h"
#include "support.h"

static heap types; /* never given back */

static void the_types_allocator_is_set_before_the_first_use(void **state)
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

static void a_type_without_memory_can_be_made_later(void **state)
{
    static const reef_named_value values[] = {{"CALM", 0}, {"ANGRY", 1}};
    static const reef_names names = {"Mood", values, 2, false};
    static const reef_field fields[] = {{.name = "a", .kind = REEF_U32, .bytes = 4, .unit = "m", .names = &names},
                                        {.name = "b", .kind = REEF_U32, .offset = 4, .bytes = 4}};
    (void)state;
    uint32_t failures = 0;
    for (uint32_t i = 0; i < 300; i++) { /* across pages of records and tables of names */
        char name[32];
        snprintf(name, sizeof name, "memory%u", (unsigned)i);
        reef_type_desc d = {.name = name, .size = 8, .align = 4, .fields = fields, .field_count = 2};
        uint32_t count = reef_type_count();
        reef_status status = REEF_OK;
        for (uint64_t n = 1;; n++) {
            heap_fail_nth(&types, n, i % 2);
            reef_component c = reef_type_new(&d, &status);
            bool failed = types.refused != 0;
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
        reef_type_info info;
        assert_true(reef_type_get(reef_type_find(name), &info));
        assert_string_equal(info.fields[0].names->values[1].name, "ANGRY");
    }
    assert_true(failures >= 600);
    assert_null(types.mistake);
}

static void fields_without_memory_can_be_given_later(void **state)
{
    static const reef_field field = {.name = "a", .kind = REEF_U32, .bytes = 4, .unit = "m"};
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
static void worlds_and_types_keep_their_memory_apart(void **state)
{
    (void)state;
    heap own = {0};
    reef_world_config config = {.allocator = heap_allocator(&own)};
    reef_world *w = reef_world_new(&config);
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

/* A file with one value of a type that the program had by another name. */
static reef_bytes file_of(const char *was, const char *name)
{
    static const reef_field field = {.name = "a", .kind = REEF_U32, .bytes = 4};
    const reef_component c =
        reef_type_new(&(reef_type_desc){.name = was, .size = 4, .align = 4, .fields = &field, .field_count = 1}, NULL);
    reef_world *w = reef_world_new(NULL);
    reef_bytes b;
    assert_some(reef_spawn_values(w, &(reef_value){c, REEF_VALUE_DEFAULT, 0, NULL}, 1));
    assert_ok(reef_save_bytes(w, &b, NULL));
    unsigned char *p = b.data, *end = p + b.size - strlen(was);
    while (p < end && memcmp(p, was, strlen(was)) != 0) p++;
    assert_true(p < end);
    memcpy(p, name, strlen(name));
    repair(b.data, b.size);
    reef_world_free(w);
    return b;
}

static void without_memory_nothing_is_left_out(const char *was, const char *name, reef_type_decl *late)
{
    const reef_load_desc desc = {.unknown = late ? REEF_UNKNOWN_DROP : REEF_UNKNOWN_DECLARE};
    reef_bytes b = file_of(was, name);
    reef_world *w = reef_world_new(NULL);
    bool failed = true;
    if (late) reef_declare(late);
    for (uint64_t n = 1; failed; n++) {
        heap_fail_nth(&types, n, false); /* there is memory again for what would take its place */
        const reef_status s = reef_load_bytes(w, b.data, b.size, &desc);
        failed = types.refused != 0;
        heap_fail_never(&types);
        if (failed) assert_status(REEF_NO_MEMORY, s);
        else assert_ok(s);
        assert_int_equal(reef_count_alive(w), !failed);
        assert_true(n > 1 || failed);
    }
    assert_int_equal(reef_count_id(w, reef_type_find(name)), 1);
    reef_world_free(w);
    reef_bytes_free(&b);
}

static void a_load_without_memory_for_types_leaves_nothing_out(void **state)
{
    static const reef_field field = {.name = "a", .kind = REEF_U32, .bytes = 4};
    static reef_type_decl late = {
        .name = "Later", .size = 4, .align = 4, .home = REEF_TABLE, .fields = &field, .field_count = 1};
    (void)state;
    without_memory_nothing_is_left_out("Told1", "Saved", NULL);
    without_memory_nothing_is_left_out("Told2", "Later", &late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_types_allocator_is_set_before_the_first_use),
        cmocka_unit_test(a_type_without_memory_can_be_made_later),
        cmocka_unit_test(fields_without_memory_can_be_given_later),
        cmocka_unit_test(worlds_and_types_keep_their_memory_apart),
        cmocka_unit_test(a_load_without_memory_for_types_leaves_nothing_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
