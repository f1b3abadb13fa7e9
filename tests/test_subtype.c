/* Subtypes: what asks for a base finds them, on single entities and in queries. */
#include "support.h"

typedef struct {
    float speed;
} Moving;
typedef struct {
    Moving base;
    float  x, y;
} AxisMoving;
typedef struct {
    AxisMoving base;
    uint64_t   laps;
} CircleMoving;
typedef struct {
    Moving base;
    double where[4];
} PathMoving;
typedef struct {
    Moving  base;
    int32_t hops;
} HopMoving;
REEF_COMPONENT(Moving);
REEF_SUBTYPE(AxisMoving, Moving);
REEF_SUBTYPE(CircleMoving, AxisMoving);
REEF_SUBTYPE(PathMoving, Moving);
REEF_SUBTYPE_IN(HopMoving, Moving, REEF_SPARSE);
REEF_TAG(Colour);
REEF_SUBTAG(Red, Colour);
REEF_SUBTAG(Blue, Colour);

/* ---- types ---- */

static void B6_a_subtype_knows_its_base(void **state)
{
    reef_type_info info;
    reef_component names[4];
    (void)state;
    assert_true(reef_type_get(reef_id(CircleMoving), &info));
    assert_int_equal(info.base.id, reef_id(AxisMoving).id);
    assert_true(reef_type_get(reef_id(Moving), &info));
    assert_int_equal(info.base.id, 0);
    assert_true(reef_is_subtype(reef_id(AxisMoving), reef_id(Moving)));
    assert_true(reef_is_subtype(reef_id(CircleMoving), reef_id(Moving))); /* to any depth */
    assert_true(reef_is_subtype(reef_id(CircleMoving), reef_id(AxisMoving)));
    assert_false(reef_is_subtype(reef_id(Moving), reef_id(Moving)));
    assert_false(reef_is_subtype(reef_id(Moving), reef_id(AxisMoving)));
    assert_false(reef_is_subtype(reef_id(PathMoving), reef_id(AxisMoving)));
    assert_false(reef_is_subtype((reef_component){0}, reef_id(Moving)));
    assert_false(reef_is_subtype(reef_id(Moving), (reef_component){REEF_TYPES_MAX}));
    assert_int_equal(reef_subtypes(reef_id(Moving), names, 4), 4);
    assert_string_equal(reef_type_name(names[0]), "AxisMoving"); /* by name */
    assert_string_equal(reef_type_name(names[1]), "CircleMoving");
    assert_string_equal(reef_type_name(names[2]), "HopMoving");
    assert_string_equal(reef_type_name(names[3]), "PathMoving");
    names[1] = (reef_component){77};
    assert_int_equal(reef_subtypes(reef_id(Moving), names, 1), 4);
    assert_string_equal(reef_type_name(names[0]), "AxisMoving");
    assert_int_equal(names[1].id, 77);
    assert_int_equal(reef_subtypes(reef_id(PathMoving), NULL, 0), 0);
}

static reef_status made(const char *name, uint32_t size, uint32_t align, reef_home home, reef_component base)
{
    reef_status s;
    const reef_type_desc d = {.name = name, .size = size, .align = align, .home = home, .base = base};
    const reef_component c = reef_type_new(&d, &s);
    assert_int_equal(c.id != 0, s >= 0);
    return s;
}

static void B6_what_can_be_no_subtype_is_refused(void **state)
{
    const reef_component big = numbered_type("SubtypeBig", 1, 64, 16);
    (void)state;
    assert_int_equal(made("SubNoBase", 8, 8, REEF_TABLE, (reef_component){REEF_TYPES_MAX}), REEF_UNKNOWN_TYPE);
    assert_int_equal(made("SubSmaller", 48, 16, REEF_TABLE, big), REEF_BAD_ARGUMENT);
    assert_int_equal(made("SubLoose", 64, 8, REEF_TABLE, big), REEF_BAD_ARGUMENT);
    assert_int_equal(made("SubSplit", 64, 16, REEF_SPLIT, big), REEF_BAD_ARGUMENT);
    assert_int_equal(made("SubSame", 64, 16, REEF_TABLE, big), REEF_OK);
    assert_int_equal(made("SubSame", 64, 16, REEF_TABLE, big), REEF_OK);
    assert_int_equal(made("SubSame", 64, 16, REEF_TABLE, (reef_component){0}), REEF_EXISTS); /* another base */
    assert_int_equal(made(reef_type_name(big), 64, 16, REEF_TABLE, big), REEF_BAD_ARGUMENT); /* of itself */
    assert_int_equal(reef_subtypes(big, NULL, 0), 1);
    assert_null(reef_declare_error());
}

/* ---- single entities ---- */

static void B6_get_of_a_base_finds_the_only_subtype(void **state)
{
    reef_world *w = world_of(state);
    reef_component found;
    const reef_entity e = reef_spawn(w, reef_with(CircleMoving, {{2}, 3, 4}, 5), reef_with(Mass, 1));
    assert_true(reef_has(w, e, Moving) && reef_has(w, e, AxisMoving) && reef_has(w, e, CircleMoving));
    assert_false(reef_has(w, e, PathMoving));
    assert_ptr_equal(reef_get(w, e, Moving), reef_get(w, e, CircleMoving));
    assert_ptr_equal(reef_get_id(w, e, reef_id(AxisMoving)), reef_get(w, e, CircleMoving));
    assert_float_equal(reef_get(w, e, Moving)->speed, 2, 0);
    assert_float_equal(reef_get(w, e, AxisMoving)->y, 4, 0);
    reef_mut(w, e, Moving)->speed = 7;
    reef_mut(w, e, AxisMoving)->x = 8;
    assert_float_equal(reef_get(w, e, CircleMoving)->base.base.speed, 7, 0);
    assert_float_equal(reef_get(w, e, CircleMoving)->base.x, 8, 0);
    assert_ok(reef_find_sub(w, e, Moving, &found));
    assert_int_equal(found.id, reef_id(CircleMoving).id);
    /* the base itself comes first */
    assert_true(reef_set(w, e, Moving, 1) == REEF_ADDED);
    assert_float_equal(reef_get(w, e, Moving)->speed, 1, 0);
    assert_ok(reef_find_sub(w, e, Moving, &found));
    assert_int_equal(found.id, reef_id(Moving).id);
    assert_ok(reef_remove(w, e, Moving));
    assert_float_equal(reef_get(w, e, Moving)->speed, 7, 0);
    assert_ok(reef_remove(w, e, Moving)); /* the only subtype */
    assert_false(reef_has(w, e, CircleMoving) || reef_has(w, e, Moving));
    assert_null(reef_get(w, e, Moving));
    assert_refused(w, REEF_ABSENT, reef_remove(w, e, Moving));
    assert_no_pointer(w, REEF_ABSENT, reef_mut(w, e, Moving));
    assert_int_equal(reef_find_sub(w, e, Moving, &found), REEF_ABSENT);
    assert_int_equal(found.id, 0);
    assert_non_null(reef_ensure(w, e, Moving)); /* none is there: it makes the base */
    assert_int_equal(reef_count(w, Moving), 1);
}

static void B6_several_subtypes_are_ambiguous(void **state)
{
    reef_world *w = world_of(state);
    reef_component found, all[4];
    const reef_entity e = reef_spawn(w, reef_with(PathMoving, .base = {2}), reef_with(AxisMoving, .base = {3}));
    assert_true(reef_has(w, e, Moving));
    assert_null(reef_get(w, e, Moving));
    assert_int_equal(reef_find_sub(w, e, Moving, &found), REEF_AMBIGUOUS);
    assert_int_equal(found.id, 0);
    assert_no_pointer(w, REEF_AMBIGUOUS, reef_mut(w, e, Moving));
    assert_no_pointer(w, REEF_AMBIGUOUS, reef_mut_id(w, e, reef_id(Moving)));
    assert_no_pointer(w, REEF_AMBIGUOUS, reef_ensure(w, e, Moving));
    assert_refused(w, REEF_AMBIGUOUS, reef_remove(w, e, Moving));
    assert_int_equal(reef_find_subs(w, e, Moving, all, 3), 2);
    assert_int_equal(all[0].id, reef_id(AxisMoving).id);
    assert_int_equal(all[1].id, reef_id(PathMoving).id);
    assert_true(reef_set(w, e, HopMoving, .base = {4}) == REEF_ADDED);
    assert_true(reef_set(w, e, Moving, 5) == REEF_ADDED);
    assert_int_equal(reef_find_subs(w, e, Moving, all, 4), 4);
    assert_int_equal(all[1].id, reef_id(HopMoving).id);
    assert_int_equal(all[2].id, reef_id(Moving).id);
    assert_float_equal(reef_get(w, e, Moving)->speed, 5, 0); /* itself */
    assert_int_equal(reef_find_subs(w, e, AxisMoving, NULL, 0), 1);
    assert_ok(reef_destroy(w, e));
    assert_int_equal(reef_find_subs(w, e, Moving, all, 3), 0);
    assert_int_equal(reef_find_sub(w, e, Moving, NULL), REEF_NOT_ALIVE);
    assert_int_equal(reef_find_sub_id(w, e, (reef_component){0}, NULL), REEF_UNKNOWN_TYPE);
}

static void B6_subtypes_in_another_home(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(HopMoving, {3}, 9)), other = reef_spawn(w, reef_with(HopMoving, {4}, 9));
    assert_ptr_equal(reef_get(w, e, Moving), reef_get(w, e, HopMoving));
    reef_mut(w, e, Moving)->speed = 6;
    assert_float_equal(reef_get(w, e, HopMoving)->base.speed, 6, 0);
    assert_ok(reef_remove(w, e, Moving));
    assert_false(reef_has(w, e, Moving));
    assert_float_equal(reef_get(w, other, Moving)->speed, 4, 0);
}

static void B6_tags_have_subtypes_too(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_tag(Red)), both = reef_spawn(w, reef_tag(Red), reef_tag(Blue));
    assert_true(reef_has(w, e, Colour) && reef_has(w, both, Colour));
    assert_null(reef_get_id(w, e, reef_id(Colour)));
    assert_ok(reef_remove(w, e, Colour));
    assert_false(reef_has(w, e, Red));
    assert_refused(w, REEF_AMBIGUOUS, reef_remove(w, both, Colour));
}

/* What a loop or a system defers is decided when it is done. */
static void B6_deferred_removal_of_a_base(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(AxisMoving, {1}, 2, 3)), f = reef_spawn(w, reef_with(Moving, 1));
    reef_query q = reef_query_new(w, "");
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);) {
        if (b.entities[0].index != e.index) continue;
        assert_ok(reef_remove(w, e, Moving));
        assert_ok(reef_remove(w, f, Moving));
    }
    assert_false(reef_has(w, e, Moving) || reef_has(w, f, Moving));
}

static void B6_a_type_declared_later_is_found(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Moving, 1));
    assert_ok(reef_remove(w, e, Moving));
    assert_false(reef_has(w, e, Moving));
    static const reef_type_desc d = {.name = "LateMoving", .size = 24, .align = 4};
    reef_type_desc late = d;
    late.base = reef_id(Moving);
    const reef_component c = reef_type_new(&late, NULL);
    assert_true(c.id != 0 && reef_is_subtype(c, reef_id(Moving)));
    assert_ok(reef_add_id(w, e, c, NULL, NULL));
    assert_true(reef_has(w, e, Moving));
    assert_ptr_equal(reef_get(w, e, Moving), reef_get_id(w, e, c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(B6_a_subtype_knows_its_base),
        TEST(B6_what_can_be_no_subtype_is_refused),
        TEST(B6_get_of_a_base_finds_the_only_subtype),
        TEST(B6_several_subtypes_are_ambiguous),
        TEST(B6_subtypes_in_another_home),
        TEST(B6_tags_have_subtypes_too),
        TEST(B6_deferred_removal_of_a_base),
        TEST(B6_a_type_declared_later_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
