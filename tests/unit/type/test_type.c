/* Types: declared in one line, known by name, made at run time, described by fields. */
#include "support.h"

#ifndef REEF_NO_THREADS
#include <pthread.h>
#endif

REEF_COMPONENT_AS(Target, Position);

typedef struct {
    int32_t a, b;
} TwinSame;
REEF_COMPONENT(TwinSame);
REEF_FIELDS(TwinSame, (a, "m"), (b, NULL, 0, 9));

typedef struct {
    int32_t a;
} TwinBare; /* the other file describes no fields */
REEF_COMPONENT(TwinBare);
REEF_FIELDS(TwinBare, (a, "kg"));

typedef struct {
    int32_t a;
} TwinSize;
REEF_COMPONENT(TwinSize);
typedef struct {
    uint32_t low, high;
} TwinAlign;
REEF_COMPONENT(TwinAlign);
REEF_TAG(TwinHome);
typedef struct {
    int32_t a;
} TwinHooks;
REEF_COMPONENT(TwinHooks);
typedef struct {
    int32_t a, b;
} TwinFields;
REEF_COMPONENT(TwinFields);
REEF_FIELDS(TwinFields, (a, "s"));

typedef struct {
    double low, high;
} NeverUsed;
REEF_COMPONENT(NeverUsed);

/* ---- A6, A11 ---- */

static void one_line_makes_a_type_usable(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Target, 3, 4));
    assert_true(reef_get(w, e, Target)->y == 4);
    assert_true(reef_id(Target).id == reef_id(Target).id);
}

static void names_and_ids_both_ways(void **state)
{
    (void)state;
    assert_string_equal(reef_type_name(reef_id(Position)), "Position");
    assert_int_equal(reef_type_find("Position").id, reef_id(Position).id);
    assert_true(reef_type_find("NeverUsed").id != 0);
    assert_int_equal(reef_type_find("NeverUsed").id, reef_id(NeverUsed).id);
    assert_int_equal(reef_type_find("Nobody").id, 0);
    assert_int_equal(reef_type_find("").id, 0);
    assert_int_equal(reef_type_find(NULL).id, 0);
    assert_null(reef_type_name((reef_component){0}));
    assert_null(reef_type_name((reef_component){reef_type_count() + 1}));
    assert_null(reef_type_name((reef_component){UINT32_MAX}));
    reef_type_info info;
    assert_false(reef_type_get((reef_component){0}, &info));
    assert_false(reef_type_get((reef_component){UINT32_MAX}, &info));
    for (uint32_t id = 1; id <= reef_type_count(); id++) {
        reef_component c = {id};
        assert_non_null(reef_type_name(c));
        assert_int_equal(reef_type_find(reef_type_name(c)).id, id);
        assert_true(reef_type_get(c, &info));
        assert_string_equal(info.name, reef_type_name(c));
    }
}

static void two_components_share_a_struct(void **state)
{
    reef_world *w = world_of(state);
    assert_true(reef_id(Target).id != reef_id(Position).id);
    reef_entity e = reef_spawn(w, reef_with(Target, 1, 2), reef_with(Position, 3, 4));
    assert_true(reef_get(w, e, Target)->x == 1);
    assert_position(w, e, 3, 4);
    assert_ok(reef_remove(w, e, Position));
    assert_true(reef_get(w, e, Target)->x == 1);
}

static void a_type_declared_in_two_files_is_one(void **state)
{
    reef_type_info info;
    (void)state;
    assert_true(reef_id(TwinSame).id != 0);
    assert_int_equal(reef_id(TwinSame).id, other_same().id);
    assert_int_equal(reef_id(TwinBare).id, other_bare().id);
    assert_true(reef_type_get(other_bare(), &info));
    assert_int_equal(info.field_count, 1);
    assert_string_equal(info.fields[0].unit, "kg");
    assert_true(reef_type_get(reef_id(TwinSame), &info));
    assert_int_equal(info.field_count, 2);
}

/* Which of two contradicting declarations counts isn't promised; that both don't is. */
static void refuses_one(reef_world *w, reef_component here, reef_component there)
{
    assert_true(here.id == 0 || there.id == 0);
    reef_component none = here.id ? there : here;
    reef_entity e = reef_create(w);
    char value[16] = {0};
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_set_id(w, e, none, value, 4));
    assert_no_pointer(w, REEF_UNKNOWN_TYPE, reef_ensure_id(w, e, none, NULL));
}

static void contradicting_declarations_are_refused_by_name(void **state)
{
    reef_world *w = world_of(state);
    refuses_one(w, reef_id(TwinSize), other_size());
    assert_non_null(reef_declare_error());
    assert_non_null(strstr(reef_declare_error(), "Twin"));
    refuses_one(w, reef_id(TwinAlign), other_align());
    refuses_one(w, reef_id(TwinHome), other_home());
    refuses_one(w, reef_id(TwinHooks), other_hooks());
    refuses_one(w, reef_id(TwinFields), other_fields());
    assert_int_equal(reef_id(Position).id, reef_type_find("Position").id); /* the rest goes on working */
}

static bool join_names(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)e, (void)data, (void)size;
    strcat(context, reef_type_name(c));
    return true;
}

static void nothing_visible_depends_on_the_order_of_first_use(void **state)
{
    reef_world *w = world_of(state), *v = another_world(state, NULL);
    reef_component z = numbered_type("order_z", 1, 4, 4), a = numbered_type("order_a", 1, 4, 4);
    reef_component m = numbered_type("order_m", 1, 8, 8);
    assert_true(z.id < a.id && a.id < m.id);
    reef_entity e = reef_create(w), f = reef_create(v);
    reef_component up[] = {a, m, z}, down[] = {z, m, a};
    for (int i = 0; i < 3; i++) {
        assert_ok(reef_add_id(w, e, up[i], NULL, NULL));
        assert_ok(reef_add_id(v, f, down[i], NULL, NULL));
    }
    char text[100] = "", other[100] = "";
    assert_true(reef_visit_entity(w, e, join_names, text));
    assert_true(reef_visit_entity(v, f, join_names, other));
    assert_string_equal(text, "order_a00001order_m00001order_z00001");
    assert_string_equal(other, text);
    other[0] = 0;
    assert_true(reef_visit_world(v, join_names, other));
    assert_string_equal(other, text);
    assert_true(digest(w) == digest(v));
}

/* ---- types made at run time ---- */

static reef_status makes(const reef_type_desc *d, reef_component *out)
{
    reef_status status = REEF_OK;
    reef_component c = reef_type_new(d, &status);
    assert_true((status < 0) == (c.id == 0));
    if (out) *out = c;
    return status;
}

static void making_a_type_again_is_harmless(void **state)
{
    static const reef_field fields[] = {{.name = "n", .kind = REEF_U32, .offset = 4, .bytes = 4, .unit = "m"}};
    reef_world *w = world_of(state);
    reef_type_desc d = {.name = "again", .size = 8, .align = 4};
    reef_component first, c;
    assert_ok(makes(&d, &first));
    assert_ok(makes(&d, &c));
    assert_int_equal(c.id, first.id);
    assert_int_equal(reef_type_new(&d, NULL).id, first.id);
    assert_status(REEF_EXISTS, makes(&(reef_type_desc){.name = "again", .size = 16, .align = 4}, NULL));
    assert_status(REEF_EXISTS, makes(&(reef_type_desc){.name = "again", .size = 8, .align = 8}, NULL));
    assert_status(REEF_EXISTS,
                  makes(&(reef_type_desc){.name = "again", .size = 8, .align = 4, .hooks = &loose_hooks}, NULL));
    assert_status(REEF_EXISTS, makes(&(reef_type_desc){.name = "again", .home = REEF_BIT}, NULL));
    assert_status(REEF_EXISTS, makes(&(reef_type_desc){.name = "Frozen", .home = REEF_BIT}, NULL));
    assert_status(REEF_EXISTS, makes(&(reef_type_desc){.name = "Tracked", .size = 8, .align = 4}, NULL));
    d.fields = fields, d.field_count = 1;
    assert_ok(makes(&d, &c)); /* fields where there were none */
    assert_int_equal(c.id, first.id);
    reef_field other = fields[0];
    other.unit = "s";
    d.fields = &other;
    assert_status(REEF_EXISTS, makes(&d, NULL));
    assert_ok(makes(&(reef_type_desc){.name = "Position", .size = sizeof(Position), .align = _Alignof(Position)}, &c));
    assert_int_equal(c.id, reef_id(Position).id);
    assert_some(reef_spawn_values(w, (reef_value[]){reef_value_make(first, REEF_VALUE_DEFAULT, 0, NULL)}, 1));
}

static void the_parts_of_a_made_type_are_copied(void **state)
{
    reef_world *w = world_of(state);
    char name[] = "copied", member[] = "member", unit[] = "m/s";
    reef_field field = {.name = member, .kind = REEF_I32, .bytes = 4, .unit = unit, .lowest = -1, .highest = 1};
    reef_hooks hooks = loose_hooks;
    reef_component c;
    assert_ok(makes(
        &(reef_type_desc){.name = name, .size = 8, .align = 4, .hooks = &hooks, .fields = &field, .field_count = 1},
        &c));
    memset(name, 'x', 6), memset(member, 'x', 6), memset(unit, 'x', 3);
    memset(&field, 0, sizeof field), memset(&hooks, 0, sizeof hooks);
    reef_type_info info;
    assert_true(reef_type_get(c, &info));
    assert_string_equal(info.name, "copied");
    assert_string_equal(info.fields[0].name, "member");
    assert_string_equal(info.fields[0].unit, "m/s");
    assert_true(info.fields[0].lowest == -1 && info.fields[0].highest == 1);
    assert_int_equal(reef_type_find("copied").id, c.id);
    reef_entity e = reef_create(w);
    assert_status(REEF_ADDED, reef_set_id(w, e, c, &(Loose){.value = 3}, sizeof(Loose)));
    assert_int_equal(book.copied, 1);
}

static void bad_descriptions_are_refused(void **state)
{
    char longest[REEF_TYPE_NAME_MAX + 2];
    (void)state;
    memset(longest, 'n', sizeof longest);
    longest[REEF_TYPE_NAME_MAX + 1] = 0;
    uint32_t count = reef_type_count();
    assert_status(REEF_BAD_ARGUMENT, makes(NULL, NULL));
    assert_status(REEF_BAD_ARGUMENT, makes(&(reef_type_desc){.size = 4}, NULL));
    assert_status(REEF_BAD_ARGUMENT, makes(&(reef_type_desc){.name = "", .size = 4}, NULL));
    assert_status(REEF_BAD_ARGUMENT, makes(&(reef_type_desc){.name = longest, .size = 4}, NULL));
    assert_status(REEF_BAD_ARGUMENT, makes(&(reef_type_desc){.name = "bad", .size = 12, .align = 3}, NULL));
    assert_status(REEF_BAD_ARGUMENT, makes(&(reef_type_desc){.name = "bad", .size = 8192, .align = 8192}, NULL));
    assert_status(REEF_BAD_ARGUMENT, makes(&(reef_type_desc){.name = "bad", .size = REEF_SIZE_MAX + 1u}, NULL));
    assert_status(REEF_BAD_ARGUMENT, makes(&(reef_type_desc){.name = "bad", .size = 4, .home = REEF_BIT}, NULL));
    assert_status(REEF_BAD_ARGUMENT, makes(&(reef_type_desc){.name = "bad", .home = (reef_home)77}, NULL));
    assert_int_equal(reef_type_count(), count);
    assert_int_equal(reef_type_find("bad").id, 0);
    longest[REEF_TYPE_NAME_MAX] = 0;
    assert_ok(makes(&(reef_type_desc){.name = longest, .size = 4}, NULL));
    assert_true(reef_type_find(longest).id != 0);
}

static void alignment_by_default_is_that_of_the_size(void **state)
{
    static const uint32_t size[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 100, 4096};
    static const uint32_t align[] = {1, 2, 1, 4, 2, 8, 4, 16, 8, 16, 16, 4, 16};
    (void)state;
    for (uint32_t i = 0; i < sizeof size / sizeof *size; i++) {
        reef_type_info info;
        assert_true(reef_type_get(numbered_type("align", i, size[i], 0), &info));
        assert_int_equal(info.size, size[i]);
        assert_int_equal(info.align, align[i]);
    }
}

/* ---- A8: types that can't be moved ---- */

static reef_status hooks_of(const char *name, reef_hooks hooks)
{
    return makes(&(reef_type_desc){.name = name, .size = 8, .align = 4, .hooks = &hooks}, NULL);
}

static void a_type_that_cannot_move_is_refused_by_tables(void **state)
{
    (void)state;
    assert_status(REEF_NOT_MOVABLE, hooks_of("fixed1", (reef_hooks){.destroy = tracked_hooks.destroy}));
    assert_status(REEF_NOT_MOVABLE, hooks_of("fixed2", (reef_hooks){.address_bound = true}));
    assert_status(REEF_NOT_MOVABLE,
                  hooks_of("fixed3", (reef_hooks){.destroy = tracked_hooks.destroy, .address_bound = true}));
    assert_status(REEF_NOT_MOVABLE,
                  hooks_of("fixed4", (reef_hooks){.destroy = tracked_hooks.destroy, .copy = tracked_hooks.copy}));
    assert_int_equal(reef_type_find("fixed1").id + reef_type_find("fixed4").id, 0);
    assert_ok(hooks_of("free1", (reef_hooks){.destroy = loose_hooks.destroy, .bytes_move = true}));
    assert_ok(hooks_of("free2", (reef_hooks){.move = tracked_hooks.move, .address_bound = true}));
    assert_ok(hooks_of("free3", tracked_hooks));
    assert_ok(hooks_of("free4", unique_hooks));
    assert_ok(hooks_of("free5", (reef_hooks){.construct = tracked_hooks.construct}));
}

/* ---- A12: a wrong type never reinterprets memory ---- */

static void another_types_id_is_refused_by_its_size(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Mass, 4), reef_with(Flag, 1));
    Cargo cargo = {{1}};
    assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Mass), &cargo, sizeof cargo));
    assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, reef_id(Position), &cargo, sizeof cargo));
    reef_value wrong = reef_value_make(reef_id(Mass), REEF_VALUE_ONE, sizeof cargo, &cargo);
    assert_no_entity(w, REEF_WRONG_SIZE, reef_spawn_values(w, &wrong, 1));
    assert_refused(w, REEF_WRONG_SIZE, reef_change_values(w, e, &wrong, 1));
    wrong.kind = REEF_VALUE_ARRAY;
    assert_refused(w, REEF_WRONG_SIZE, reef_spawn_many_values(w, 1, NULL, &wrong, 1));
    assert_int_equal(reef_get_many_id(w, reef_id(Flag), &e, 1, &cargo, sizeof cargo), 0);
    assert_int_equal(cargo.byte[0], 1);
    assert_int_equal(reef_write_many_id(w, reef_id(Flag), &e, 1, &cargo, sizeof cargo), 0);
    assert_int_equal(reef_get(w, e, Flag)->on, 1);
    reef_error last = reef_last_error(w);
    assert_int_equal(last.status, REEF_WRONG_SIZE);
    assert_int_equal(last.component.id, reef_id(Flag).id);
}

/* ---- F9: fields ---- */

static void fields_are_described_beside_the_struct_or_later(void **state)
{
    static const reef_field good[] = {
        {.name = "a", .kind = REEF_U16, .bytes = 2},
        {.name = "b", .kind = REEF_U8, .offset = 2, .bytes = 6, .unit = "m", .highest = 1}};
    static const reef_field beyond = {.name = "a", .kind = REEF_U32, .offset = 6, .bytes = 4},
                            uneven = {.name = "a", .kind = REEF_U32, .bytes = 6};
    static const reef_field nameless = {.name = NULL, .kind = REEF_U32, .bytes = 4},
                            kindless = {.name = "a", .kind = (reef_kind)99, .bytes = 4};
    (void)state;
    reef_component c = numbered_type("described", 1, 8, 4);
    reef_type_info info;
    assert_true(reef_type_get(c, &info));
    assert_null(info.fields);
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &beyond, 1));
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &uneven, 1));
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &nameless, 1));
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &kindless, 1));
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, NULL, 2));
    assert_status(REEF_UNKNOWN_TYPE, reef_type_describe((reef_component){0}, good, 2));
    assert_status(REEF_UNKNOWN_TYPE, reef_type_describe((reef_component){UINT32_MAX}, good, 2));
    assert_ok(reef_type_describe(c, good, 2));
    assert_ok(reef_type_describe(c, good, 2));
    assert_status(REEF_EXISTS, reef_type_describe(c, good, 1));
    assert_true(reef_type_get(c, &info));
    assert_int_equal(info.field_count, 2);
    assert_string_equal(info.fields[1].name, "b");
    assert_int_equal(info.fields[1].kind, REEF_U8);
    assert_int_equal(info.fields[1].bytes, 6);
}

static void the_number_of_fields_has_a_limit(void **state)
{
    static reef_field fields[REEF_FIELDS_MAX + 1];
    static char names[REEF_FIELDS_MAX + 1][8];
    (void)state;
    for (uint32_t i = 0; i <= REEF_FIELDS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "f%u", (unsigned)i);
        fields[i] = (reef_field){.name = names[i], .kind = REEF_U8, .offset = i, .bytes = 1};
    }
    reef_component c = numbered_type("fields", 1, 2048, 4);
    assert_true(reef_type_describe(c, fields, REEF_FIELDS_MAX + 1) < 0);
    assert_ok(reef_type_describe(c, fields, REEF_FIELDS_MAX));
    reef_type_info info;
    assert_true(reef_type_get(c, &info));
    assert_int_equal(info.field_count, REEF_FIELDS_MAX);
    assert_string_equal(info.fields[REEF_FIELDS_MAX - 1].name, "f1023");
}

/* ---- A6: several threads ---- */

#ifndef REEF_NO_THREADS
enum { THREADS = 4, THREAD_TYPES = 200 };

typedef struct meeting {
    pthread_t thread;
    uint32_t first;
    uint32_t id[THREAD_TYPES];
} meeting;

static void *make_types(void *context)
{
    meeting *m = context;
    for (uint32_t i = 0; i < THREAD_TYPES; i++) {
        char name[32];
        uint32_t n = (i + m->first) % THREAD_TYPES;
        snprintf(name, sizeof name, "thread%u", (unsigned)n);
        m->id[n] = reef_type_new(&(reef_type_desc){.name = name, .size = 4 + n % 3 * 4, .align = 4}, NULL).id;
        if (reef_type_find(name).id != m->id[n] || reef_type_name((reef_component){m->id[n]}) == NULL) m->id[n] = 0;
        reef_type_info info;
        if (!reef_type_get((reef_component){m->id[n]}, &info) || info.size != 4 + n % 3 * 4) m->id[n] = 0;
    }
    return NULL;
}

static void types_may_be_made_and_found_on_several_threads(void **state)
{
    static meeting m[THREADS];
    (void)state;
    for (uint32_t t = 0; t < THREADS; t++) {
        m[t].first = t * 50;
        assert_int_equal(pthread_create(&m[t].thread, NULL, make_types, &m[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) pthread_join(m[t].thread, NULL);
    for (int i = 0; i < THREAD_TYPES; i++) {
        assert_true(m[0].id[i] != 0);
        for (int t = 1; t < THREADS; t++) assert_int_equal(m[t].id[i], m[0].id[i]);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_line_makes_a_type_usable),
        TEST(names_and_ids_both_ways),
        TEST(two_components_share_a_struct),
        TEST(a_type_declared_in_two_files_is_one),
        TEST(contradicting_declarations_are_refused_by_name),
        TEST(nothing_visible_depends_on_the_order_of_first_use),
        TEST(making_a_type_again_is_harmless),
        TEST(the_parts_of_a_made_type_are_copied),
        TEST(bad_descriptions_are_refused),
        TEST(alignment_by_default_is_that_of_the_size),
        TEST(a_type_that_cannot_move_is_refused_by_tables),
        TEST(another_types_id_is_refused_by_its_size),
        TEST(fields_are_described_beside_the_struct_or_later),
        TEST(the_number_of_fields_has_a_limit),
#ifndef REEF_NO_THREADS
        TEST(types_may_be_made_and_found_on_several_threads),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
