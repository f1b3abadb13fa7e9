/* Subtypes: what asks for a base finds them, on single entities and in queries. */
#include "support.h"

typedef struct {
    float speed;
} Moving;
typedef struct {
    Moving base;
    float x, y;
} AxisMoving;
typedef struct {
    AxisMoving base;
    uint64_t laps;
} CircleMoving;
typedef struct {
    Moving base;
    double where[4];
} PathMoving;
typedef struct {
    Moving base;
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

static void a_subtype_knows_its_base(void **state)
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

static void what_can_be_no_subtype_is_refused(void **state)
{
    const reef_component big = numbered_type("SubtypeBig", 1, 64, 16);
    (void)state;
    assert_int_equal(made("SubNoBase", 8, 8, REEF_TABLE, (reef_component){REEF_TYPES_MAX}), REEF_UNKNOWN_TYPE);
    assert_int_equal(made("SubSmaller", 48, 16, REEF_TABLE, big), REEF_BAD_ARGUMENT);
    assert_int_equal(made("SubLoose", 64, 8, REEF_TABLE, big), REEF_BAD_ARGUMENT);
    assert_int_equal(made("SubSplit", 64, 16, REEF_SPLIT, big), REEF_BAD_ARGUMENT);
    assert_int_equal(made("SubMulti", 64, 16, REEF_MULTI, big), REEF_BAD_ARGUMENT);
    assert_int_equal(made("SubSame", 64, 16, REEF_TABLE, big), REEF_OK);
    assert_int_equal(made("SubSame", 64, 16, REEF_TABLE, big), REEF_OK);
    assert_int_equal(made("SubSame", 64, 16, REEF_TABLE, (reef_component){0}), REEF_EXISTS); /* another base */
    assert_int_equal(made(reef_type_name(big), 64, 16, REEF_TABLE, big), REEF_BAD_ARGUMENT); /* of itself */
    assert_int_equal(reef_subtypes(big, NULL, 0), 1);
    assert_null(reef_declare_error());
}

/* Declarations by hand, as no macro makes them. The last test: only the first contradiction is kept. */
static void bases_in_a_circle_are_refused(void **state)
{
    static reef_type_decl one = {.name = "CircleOne", .size = 8, .align = 4},
                          two = {.name = "CircleTwo", .size = 8, .align = 4},
                          self = {.name = "CircleSelf", .size = 8, .align = 4},
                          onto = {.name = "OntoCircle", .size = 8, .align = 4},
                          wide = {.name = "WideBase", .size = 16, .align = 8},
                          less = {.name = "LessThanBase", .size = 8, .align = 8},
                          first = {.name = "DeepFirst", .size = 8, .align = 4},
                          second = {.name = "DeepSecond", .size = 8, .align = 4},
                          third = {.name = "DeepThird", .size = 8, .align = 4};
    (void)state;
    third.base = &second; /* the last is asked for first */
    second.base = &first;
    assert_true(reef_resolve(&third).id != 0);
    assert_true(reef_is_subtype(reef_id_of(&third), reef_id_of(&first)));
    assert_null(reef_declare_error());
    one.base = &two;
    two.base = &one;
    self.base = &self;
    onto.base = &one;
    less.base = &wide;
    reef_declare(&one);
    assert_int_equal(reef_resolve(&one).id, 0);
    assert_non_null(reef_declare_error());
    assert_non_null(strstr(reef_declare_error(), "CircleOne"));
    assert_non_null(strstr(reef_declare_error(), "circle"));
    assert_int_equal(reef_resolve(&two).id, 0);
    assert_int_equal(reef_resolve(&self).id, 0);
    assert_int_equal(reef_resolve(&onto).id, 0);
    assert_int_equal(reef_resolve(&less).id, 0);
    assert_true(reef_resolve(&wide).id != 0);
    assert_int_equal(reef_type_find("CircleTwo").id, 0);
}

/* ---- single entities ---- */

static void get_of_a_base_finds_the_only_subtype(void **state)
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

static void several_subtypes_are_ambiguous(void **state)
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

static void subtypes_in_another_home(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(HopMoving, {3}, 9)),
                      other = reef_spawn(w, reef_with(HopMoving, {4}, 9));
    assert_ptr_equal(reef_get(w, e, Moving), reef_get(w, e, HopMoving));
    reef_mut(w, e, Moving)->speed = 6;
    assert_float_equal(reef_get(w, e, HopMoving)->base.speed, 6, 0);
    assert_ok(reef_remove(w, e, Moving));
    assert_false(reef_has(w, e, Moving));
    assert_float_equal(reef_get(w, other, Moving)->speed, 4, 0);
}

static void tags_have_subtypes_too(void **state)
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
/* A strict world that knows a subtype and not its base: the base is a type like any other that it doesn't know. */
static void B6_E3_a_strict_world_finds_no_subtype_of_a_base_that_it_does_not_know(void **state)
{
    reef_component all[4], found;
    (void)state;
    reef_world *w = reef_world_new(&(reef_world_config){.strict = true});
    assert_int_equal(reef_use(w, AxisMoving), REEF_OK);
    const reef_entity e = reef_spawn(w, reef_with(AxisMoving, {2}, 3, 4));
    assert_true(reef_is_alive(w, e));
    assert_null(reef_get(w, e, Moving));
    assert_false(reef_has(w, e, Moving));
    assert_null(reef_mut(w, e, Moving));
    assert_int_equal(reef_last_error(w).status, REEF_UNKNOWN_TYPE);
    assert_null(reef_ensure(w, e, Moving));
    assert_int_equal(reef_last_error(w).status, REEF_UNKNOWN_TYPE);
    assert_int_equal(reef_remove(w, e, Moving), REEF_UNKNOWN_TYPE);
    assert_int_equal(reef_find_sub(w, e, Moving, &found), REEF_UNKNOWN_TYPE);
    assert_int_equal(reef_find_subs(w, e, Moving, all, 4), 0);
    assert_true(reef_query_is_null(reef_query_new(w, "Moving+")));
    assert_int_equal(reef_last_error(w).status, REEF_UNKNOWN_TYPE);

    assert_int_equal(reef_use(w, Moving), REEF_OK); /* now it does */
    assert_true(reef_has(w, e, Moving));
    assert_true(reef_ensure(w, e, Moving) == reef_get_id(w, e, reef_id(AxisMoving)));
    assert_int_equal(reef_find_sub(w, e, Moving, &found), REEF_OK);
    assert_int_equal(found.id, reef_id(AxisMoving).id);
    assert_int_equal(reef_find_subs(w, e, Moving, all, 4), 1);
    assert_int_equal(reef_remove(w, e, Moving), REEF_OK);
    reef_world_free(w);
}

/* Such a world's files and differences say nothing of the base: worlds that don't know it either can read them. */
static void B6_E3_a_strict_world_reads_what_it_wrote_of_a_subtype(void **state)
{
    reef_bytes saved, difference;
    const reef_save_desc raw = {.raw = true};
    (void)state;
    reef_world *w = reef_world_new(&(reef_world_config){.strict = true});
    assert_int_equal(reef_use(w, AxisMoving), REEF_OK);
    reef_world *before = reef_fork(w), *other = reef_world_new(&(reef_world_config){.strict = true});
    const reef_entity e = reef_spawn(w, reef_with(AxisMoving, {2}, 3, 4));
    assert_int_equal(reef_diff_bytes(before, w, &difference, &raw), REEF_OK);
    assert_int_equal(reef_diff_apply(before, difference.data, difference.size), REEF_OK);
    assert_true(reef_hash(before) == reef_hash(w));
    assert_int_equal(reef_use(other, AxisMoving), REEF_OK);
    assert_int_equal(reef_save_bytes(w, &saved, &raw), REEF_OK);
    const reef_load_desc all = {.unknown = REEF_UNKNOWN_REFUSE};
    assert_int_equal(reef_load_bytes(other, saved.data, saved.size, &all), REEF_OK);
    assert_true(reef_get(other, e, AxisMoving)->y == 4);
    reef_bytes_free(&saved);
    reef_bytes_free(&difference);
    reef_world_free(other);
    reef_world_free(before);
    reef_world_free(w);
}

static void deferred_removal_of_a_base(void **state)
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

static void a_type_declared_later_is_found(void **state)
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

/* ---- queries ---- */

typedef struct {
    uint32_t rows, blocks;
    float sum;
    uint32_t of[6]; /* rows whose values are: Moving, AxisMoving, CircleMoving, HopMoving, PathMoving, none */
} tally;

static uint32_t kind_of(reef_component c)
{
    const reef_component all[] = {reef_id(Moving), reef_id(AxisMoving), reef_id(CircleMoving), reef_id(HopMoving),
                                  reef_id(PathMoving)};
    for (uint32_t i = 0; i < 5; i++)
        if (all[i].id == c.id) return i;
    return 5;
}

/* A loop that reads the term Moving+. */
static tally walk(reef_world *w, reef_query q)
{
    tally t = {0};
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const reef_strided m = reef_in_sub(&b, Moving);
        t.blocks++;
        for (uint32_t i = 0; i < b.count; i++) {
            if (reef_block_mask(&b) && !(reef_block_mask(&b)[i / 64] >> (i % 64) & 1)) continue;
            const Moving *one = reef_sub_in(m, Moving, i);
            const void *there = m.first ? reef_get_id(w, b.entities[i], m.type) : NULL;
            assert_ptr_equal(one, there);
            t.rows++;
            t.of[kind_of(m.type)]++;
            if (one) t.sum += one->speed;
        }
    }
    return t;
}

static void some_of_all(reef_world *w)
{
    for (uint32_t i = 0; i < 5; i++) {
        assert_some(reef_spawn(w, reef_with(Moving, 1), reef_with(Mass, 1)));
        assert_some(reef_spawn(w, reef_with(AxisMoving, {10}, 1, 2), reef_with(Mass, 1)));
        assert_some(reef_spawn(w, reef_with(CircleMoving, {{100}, 1, 2}, 3)));
        assert_some(reef_spawn(w, reef_with(HopMoving, {1000}, 3)));
        assert_some(reef_spawn(w, reef_with(PathMoving, .base = {10000}), reef_with(AxisMoving, {20}, 1, 2)));
        assert_some(reef_spawn(w, reef_with(Mass, 1)));
    }
}

static tally walk_text(reef_world *w, const char *text)
{
    reef_query q = reef_query_new(w, text);
    assert_query(q);
    const tally t = walk(w, q);
    assert_int_equal(reef_query_count(w, q), t.rows);
    assert_ok(reef_query_free(w, q));
    return t;
}

static void a_plus_asks_for_subtypes_too(void **state)
{
    reef_world *w = world_of(state);
    some_of_all(w);
    tally t = walk_text(w, "in Moving+");
    assert_int_equal(t.rows, 25);
    assert_float_equal(t.sum, 5 * (1 + 10 + 100 + 1000 + 20), 0); /* of two subtypes the first by name */
    assert_int_equal(t.of[0], 5);
    assert_int_equal(t.of[1], 10);
    assert_int_equal(t.of[2], 5);
    assert_int_equal(t.of[3], 5);
    t = walk_text(w, "in Moving+, Mass");
    assert_int_equal(t.rows, 10);
    t = walk_text(w, "?in Moving+, Mass");
    assert_int_equal(t.rows, 15);
    assert_int_equal(t.of[5], 5);
    t = walk_text(w, "in Moving+, !AxisMoving");
    assert_int_equal(t.rows, 15);
    t = walk_text(w, "in Moving+, !AxisMoving+");
    assert_int_equal(t.rows, 10);
    reef_query q = reef_query_new(w, "!Moving+");
    assert_int_equal(reef_query_count(w, q), 5);
    q = reef_query_new(w, "Moving"); /* a plain name is exact */
    assert_int_equal(reef_query_count(w, q), 5);
    q = reef_query_new(w, "with AxisMoving+");
    assert_int_equal(reef_query_count(w, q), 15);
    q = reef_query_new(w, "HopMoving+ | (CircleMoving, !Mass)");
    assert_int_equal(reef_query_count(w, q), 10);
    q = reef_query_make(
        w, &(reef_query_desc){.terms = {{.component = reef_id(AxisMoving), .access = REEF_IN, .subtypes = 1}}});
    assert_int_equal(reef_query_count(w, q), 15);
    char text[64];
    reef_query_text(w, q, text, sizeof text);
    assert_string_equal(text, "in AxisMoving+");
    q = reef_query_copy(w, w, q);
    assert_int_equal(reef_query_count(w, q), 15);
}

static void what_a_plus_cannot_do_is_refused(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Moving, 1));
    assert_no_query(w, REEF_DUPLICATE_TERM, reef_query_new(w, "Moving+, in Moving+"));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, "added Moving+"));
    assert_no_query(w, REEF_BAD_TEXT, reef_query_new(w, "Moving+ of #2v1"));
    assert_no_query(w, REEF_BAD_TEXT, reef_query_new(w, "Moving++"));
    assert_no_query(
        w, REEF_BAD_ARGUMENT,
        reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Moving), .subtypes = 1, .source = e}}}));
    assert_no_query(w, REEF_BAD_ARGUMENT,
                    reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Moving), .subtypes = 2}}}));
    reef_query q = reef_query_new(w, "Moving+");
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_null(reef_in(&b, Moving)); /* strided: no plain array */
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    assert_null(reef_inout(&b, Moving));
    assert_null(reef_in(&b, AxisMoving));
    assert_non_null(reef_inout_sub(&b, Moving).first);
    assert_null(reef_in_sub(&b, AxisMoving).first);
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    reef_end(&b);
    q = reef_query_new(w, "in Moving+");
    b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_null(reef_inout_sub(&b, Moving).first); /* read only */
    reef_end(&b);
    q = reef_query_new(w, "Moving");
    b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_null(reef_in_sub(&b, Moving).first); /* no plus */
    reef_end(&b);
}

static void writing_by_stride(void **state)
{
    reef_world *w = world_of(state);
    some_of_all(w);
    reef_world *fork = reef_fork(w);
    const uint64_t hash = reef_hash(fork);
    reef_query q = reef_query_new(w, "Moving+");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const reef_strided m = reef_inout_sub(&b, Moving);
        for (uint32_t i = 0; i < b.count; i++) reef_sub(m, Moving, i)->speed *= 2;
    }
    assert_float_equal(walk(w, q).sum, 2 * 5 * (1 + 10 + 100 + 1000 + 20), 0);
    reef_each(w, q, row) reef_inout_at_sub(row, Moving)->speed += reef_in_at_sub(row, Moving)->speed;
    assert_float_equal(walk(w, q).sum, 4 * 5 * (1 + 10 + 100 + 1000 + 20), 0);
    assert_int_equal(reef_hash(fork), hash); /* blocks were copied */
    reef_each(w, reef_query_new(w, "in PathMoving"), row)
        assert_float_equal(reef_in_at(row, PathMoving)->base.speed, 10000, 0);
    reef_world_free(fork);
}

static void changed_if_any_of_them_changed(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity a = reef_spawn(w, reef_with(Moving, 1)), b = reef_spawn(w, reef_with(AxisMoving, {1}, 2, 3)),
                      c = reef_spawn(w, reef_with(HopMoving, {1}, 2), reef_with(Mass, 1));
    reef_query q = reef_query_new(w, "in changed Moving+");
    assert_int_equal(walk(w, q).rows, 3);
    assert_int_equal(walk(w, q).rows, 0);
    reef_mut(w, b, Moving)->speed = 5;
    tally t = walk(w, q);
    assert_int_equal(t.rows, 1);
    assert_int_equal(t.of[1], 1);
    reef_mut(w, c, HopMoving)->hops = 5;
    t = walk(w, q);
    assert_int_equal(t.rows, 1);
    assert_int_equal(t.of[3], 1);
    reef_mut(w, a, Moving)->speed = 5;
    assert_int_equal(walk(w, q).of[0], 1);
    assert_int_equal(walk(w, q).rows, 0);
}

/* Types that come after tables and cached queries. */
static void queries_find_types_that_are_declared_later(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "in Moving+"), none = reef_query_new(w, "!Moving+");
    const reef_entity e = reef_spawn(w, reef_with(Moving, 1)), f = reef_spawn(w, reef_with(Mass, 1)),
                      g = reef_spawn(w, reef_with(Mass, 1));
    assert_int_equal(walk(w, q).rows, 1);
    assert_int_equal(reef_query_count(w, none), 2);
    (void)e;
    for (uint32_t i = 0; i < 70; i++) { /* more than a query has terms */
        char name[32];
        snprintf(name, sizeof name, "New%uMoving", i);
        const reef_home home = i % 3 == 1 ? REEF_SPARSE : REEF_TABLE;
        const reef_component c = reef_type_new(
            &(reef_type_desc){.name = name, .size = 16, .align = 4, .home = home, .base = reef_id(Moving)}, NULL);
        const float value[4] = {3};
        assert_true(c.id != 0);
        assert_true(reef_set_id(w, f, c, value, 16) == REEF_ADDED);
        tally t = walk(w, q);
        assert_int_equal(t.rows, 2);
        assert_float_equal(t.sum, 4, 0);
        assert_int_equal(reef_query_count(w, none), 1);
        if (i % 2) assert_ok(reef_remove_id(w, f, c));
    }
    assert_true(reef_query_matches(w, q, f) && !reef_query_matches(w, q, g) && reef_query_matches(w, none, g));
    /* and all of them at once are written */
    reef_query all = reef_query_new(w, "Moving+");
    reef_world *fork = reef_fork(w);
    for (reef_block b = reef_begin(w, all); reef_next(&b);) {
        const reef_strided m = reef_inout_sub(&b, Moving);
        for (uint32_t i = 0; i < b.count; i++) reef_sub(m, Moving, i)->speed += 1;
    }
    assert_float_equal(walk(w, q).sum, 6, 0);
    reef_world_free(fork);
}

/* ---- against what each entity says of itself ---- */

enum { CROWD = 600, TYPES = 7 };
static uint32_t crowd_types(reef_component *to)
{
    const reef_component all[TYPES] = {reef_id(Moving),     reef_id(AxisMoving), reef_id(CircleMoving),
                                       reef_id(PathMoving), reef_id(HopMoving),  reef_id(Mass),
                                       reef_id(Red)};
    memcpy(to, all, sizeof all);
    return TYPES;
}

static bool any_of(const reef_world *w, reef_entity e, reef_component base)
{
    return reef_find_subs_id(w, e, base, NULL, 0) != 0;
}

/* What the texts below mean. */
static bool naive(const reef_world *w, reef_entity e, uint32_t what)
{
    const bool moving = any_of(w, e, reef_id(Moving)), axis = any_of(w, e, reef_id(AxisMoving)),
               mass = reef_has(w, e, Mass);
    switch (what) {
    case 0: return moving;
    case 1: return axis && mass;
    case 2: return mass;
    case 3: return (moving || mass) && !reef_has(w, e, Red);
    case 4: return axis && !any_of(w, e, reef_id(PathMoving));
    default: return mass && (axis || any_of(w, e, reef_id(Colour)));
    }
}
static const struct {
    const char *text;
    bool axis;
} asked[] = {
    {"Moving+", false},
    {"AxisMoving+, in Mass", true},
    {"?Moving+, Mass", false},
    {"Moving+ | Mass, !Colour+", false},
    {"AxisMoving+, !PathMoving+", true},
    {"Mass, AxisMoving+ | with Colour+", true},
};

static void compare_walk(reef_world *w, const reef_entity *e, uint32_t what, reef_query q, uint64_t offset)
{
    const reef_component base = asked[what].axis ? reef_id(AxisMoving) : reef_id(Moving);
    uint32_t wanted = 0, rows = 0;
    for (uint32_t i = 0; i < CROWD; i++) wanted += reef_is_alive(w, e[i]) && naive(w, e[i], what);
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.offset = offset}); reef_next(&b);) {
        const reef_strided m = reef_block_sub(&b, base, true);
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n) {
            for (uint32_t i = first; i < first + n; i++) {
                reef_component has[8];
                const uint32_t count = reef_find_subs_id(w, b.entities[i], base, has, 8);
                reef_component given = has[0];
                for (uint32_t k = 0; k < count; k++) given = has[k].id == base.id ? base : given;
                assert_true(naive(w, b.entities[i], what));
                assert_int_equal(m.first != NULL, count != 0);
                if (count) assert_int_equal(m.type.id, given.id);
                if (count) assert_ptr_equal(reef_sub_cell(m, i), reef_get_id(w, b.entities[i], given));
                if (count) *(float *)reef_sub_cell(m, i) += 1;
                rows++;
            }
        }
    }
    assert_int_equal(reef_last_error(w).status, REEF_OK);
    assert_int_equal(rows + offset, wanted);
    assert_int_equal(reef_query_count(w, q), wanted);
}

static void random_worlds_are_walked_as_each_entity_says(void **state)
{
    reef_world *w = world_of(state), *fork = NULL;
    reef_component type[TYPES];
    static reef_entity e[CROWD];
    reef_query q[6];
    uint64_t seed = 11;
    crowd_types(type);
    for (uint32_t i = 0; i < CROWD; i++) e[i] = reef_create(w);
    for (uint32_t k = 0; k < 6; k++) {
        q[k] = reef_query_new(w, asked[k].text);
        assert_query(q[k]);
    }
    for (uint32_t round = 0; round < 12; round++) {
        for (uint32_t n = 0; n < 300; n++) {
            const uint32_t i = random_below(&seed, CROWD);
            const reef_component c = type[random_below(&seed, TYPES)];
            if (n % 50 == 0) assert_ok(reef_destroy(w, e[i])), e[i] = reef_create(w);
            const reef_status s = reef_add_id(w, e[i], c, NULL, NULL);
            if (s == REEF_EXISTS) assert_ok(reef_remove_id(w, e[i], c));
        }
        const uint64_t hash = fork ? reef_hash(fork) : 0;
        for (uint32_t k = 0; k < 6; k++) compare_walk(w, e, k, q[k], round % 2 ? 7 : 0);
        if (fork) assert_int_equal(reef_hash(fork), hash);
        reef_world_free(fork);
        fork = round % 3 ? reef_fork(w) : NULL;
    }
    reef_world_free(fork);
}

/* Parts, single rows, disabled ones. */
static void other_ways_to_walk(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(PathMoving, .base = {2})),
                      f = reef_spawn(w, reef_with(HopMoving, {3}, 4));
    some_of_all(w);
    reef_query q = reef_query_new(w, "Moving+");
    reef_slices *s = reef_slices_begin(w, q, NULL, 3);
    float sum = 0;
    for (uint32_t i = 0; i < 3; i++)
        for (reef_block b = reef_slice(s, i); reef_next(&b);)
            for (uint32_t k = 0; k < b.count; k++) sum += reef_sub(reef_inout_sub(&b, Moving), Moving, k)->speed;
    reef_slices_end(s);
    assert_float_equal(sum, 5 + 5 * (1 + 10 + 100 + 1000 + 20), 0);
    reef_block row;
    assert_true(reef_query_row(w, q, e, &row));
    reef_sub(reef_inout_sub(&row, Moving), Moving, 0)->speed = 5;
    assert_float_equal(reef_get(w, e, PathMoving)->base.speed, 5, 0);
    assert_true(reef_query_row(w, q, f, &row));
    assert_ptr_equal(reef_in_sub(&row, Moving).first, reef_get(w, f, HopMoving));
    assert_ok(reef_disable(w, e, PathMoving));
    assert_int_equal(reef_query_count(w, q), 26);
    assert_int_equal(walk_text(w, "in disabled Moving+").rows, 1);
}

/* ---- systems ---- */

static float slowest;
static void slow_down(reef_block *b)
{
    const reef_strided m = reef_inout_sub(b, Moving);
    for (uint32_t i = 0; i < b->count; i++) reef_sub(m, Moving, i)->speed *= 0.5f;
}
static void look_axis(reef_block *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (reef_in(b, AxisMoving)[i].base.speed < slowest) slowest = reef_in(b, AxisMoving)[i].base.speed;
}
static void look_mass(reef_block *b) { (void)b; }

static void access_rules_know_subtypes(void **state)
{
    reef_world *w = world_of(state);
    char text[1024];
    some_of_all(w);
    slowest = 1e9f;
    assert_false(reef_system_is_null(reef_system_add(w, "slow_down", slow_down, "Moving+")));
    assert_false(reef_system_is_null(reef_system_add(w, "look_axis", look_axis, "in AxisMoving")));
    assert_false(reef_system_is_null(reef_system_add(w, "look_mass", look_mass, "in Mass")));
    assert_false(reef_system_is_null(reef_system_add(w, "look_path", look_mass, "in PathMoving, in AxisMoving")));
    reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    assert_non_null(
        strstr(text, "slow_down uses Moving, look_axis uses AxisMoving, one of which is a subtype of the other"));
    assert_non_null(strstr(text, "writes Moving+"));
    for (int i = 0; i < 3; i++) {
        reef_world *fork = reef_fork(w);
        const uint64_t hash = reef_hash(fork);
        assert_ok(reef_tick(w, 0.1f));
        assert_int_equal(reef_hash(fork), hash); /* what its jobs write is the world's own */
        reef_world_free(fork);
    }
    assert_float_equal(slowest, 10 / 8.0f, 0); /* what the first one left in the last tick */
    assert_float_equal(walk_text(w, "in Moving+").sum, 5 * (1 + 10 + 100 + 1000 + 20) / 8.0f, 0.01f);
}

/* Enabling and disabling is of the type itself. */
static void a_base_is_disabled_where_it_is_itself(void **state)
{
    reef_world *w = world_of(state);
    const reef_component base = numbered_type("marked", 1, 4, 4);
    reef_status s;
    const reef_component sub =
        reef_type_new(&(reef_type_desc){.name = "marked_more", .size = 8, .align = 4, .base = base}, &s);
    const reef_entity e = reef_spawn_values(w, &(reef_value){sub, REEF_VALUE_DEFAULT, 0, NULL}, 1);
    assert_true(reef_has_id(w, e, base));
    assert_status(REEF_ABSENT, reef_enable_id(w, e, base, false));
    assert_ok(reef_enable_id(w, e, sub, false));
    assert_false(reef_is_enabled_id(w, e, sub));
    assert_valid(w);
}

/* ---- handles of nobody ---- */

static void handles_of_nobody_in_a_world_without_entities(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity nobody[] = {
        {0, 0}, {0, 7}, {4000000000u, 1}, reef_spawn(another_world(state, NULL), reef_with(AxisMoving, {1}, 2, 3))};
    for (uint32_t i = 0; i < 4; i++) {
        reef_component found, all[2];
        reef_ref ref = reef_ref_make(w, nobody[i], Moving);
        assert_no_pointer(w, REEF_NOT_ALIVE, reef_mut(w, nobody[i], Moving));
        assert_no_pointer(w, REEF_NOT_ALIVE, reef_mut_id(w, nobody[i], reef_id(Moving)));
        assert_no_pointer(w, REEF_NOT_ALIVE, reef_ref_mut(w, &ref, Moving));
        assert_no_pointer(w, REEF_NOT_ALIVE, reef_ensure(w, nobody[i], Moving));
        assert_refused(w, REEF_NOT_ALIVE, reef_remove(w, nobody[i], Moving));
        assert_null(reef_ref_get(w, &ref, Moving));
        assert_null(reef_get(w, nobody[i], Moving));
        assert_false(reef_has(w, nobody[i], Moving));
        assert_int_equal(reef_find_sub(w, nobody[i], Moving, &found), REEF_NOT_ALIVE);
        assert_int_equal(reef_find_subs(w, nobody[i], Moving, all, 2), 0);
    }
}

/* ---- the type itself: what doesn't ask for a base by get, mut, has, remove and ensure ---- */

static void a_deferred_change_of_a_base_is_of_the_base_itself(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(AxisMoving, {1}, 2, 3)), bare = reef_spawn(w, reef_with(Mass, 1));
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Mass"), &(reef_loop){.deferred = true});
    assert_ok(reef_change(w, bare, reef_with(Moving, 4)));
    assert_ok(reef_change(w, e, reef_with(Moving, 5)));
    assert_int_equal(reef_count(w, Moving), 0);
    reef_end(&b);
    assert_ok(reef_last_error(w).status);
    assert_int_equal(reef_count(w, Moving), 2);
    assert_true(reef_get(w, e, Moving)->speed == 5 && reef_get(w, e, AxisMoving)->base.speed == 1);
    b = reef_begin_loop(w, reef_query_new(w, "Mass"), &(reef_loop){.deferred = true});
    assert_ok(reef_change(w, e, reef_with(Moving, 6))); /* it is there: at once */
    assert_true(reef_get(w, e, Moving)->speed == 6);
    reef_end(&b);
}

static void a_deferred_add_of_a_base_with_arguments(void **state)
{
    reef_world *w = world_of(state);
    reef_status s;
    const reef_component base = reef_type_new(
        &(reef_type_desc){.name = "built", .size = sizeof(Tracked), .align = 4, .hooks = &tracked_hooks}, &s);
    const reef_component sub =
        reef_type_new(&(reef_type_desc){.name = "built_more", .size = 16, .align = 4, .base = base}, &s);
    const reef_entity e = reef_spawn_values(w, &(reef_value){sub, REEF_VALUE_DEFAULT, 0, NULL}, 1);
    const int32_t seven = 7;
    reef_block b = reef_begin_loop(w, reef_query_new(w, "Mass"), &(reef_loop){.deferred = true});
    assert_ok(reef_add_id(w, e, base, &seven, NULL));
    reef_end(&b);
    assert_ok(reef_last_error(w).status);
    assert_int_equal(reef_count_id(w, base), 1);
}

static void what_is_shared_of_a_base_is_its_own(void **state)
{
    reef_world *w = world_of(state);
    reef_status s;
    const reef_component base =
        reef_type_new(&(reef_type_desc){.name = "held", .size = 8, .align = 8, .home = REEF_SHARED}, &s);
    const reef_component sub =
        reef_type_new(&(reef_type_desc){.name = "held_more", .size = 16, .align = 8, .base = base}, &s);
    const uint64_t value[2] = {3, 4};
    const reef_entity e = reef_spawn_values(w, &(reef_value){sub, REEF_VALUE_ONE, 16, value}, 1),
                      to = reef_spawn(w, reef_with(Mass, 1));
    assert_non_null(reef_get_id(w, e, base));
    assert_true(reef_pin_is_null(reef_pin_id(w, e, base)));
    assert_refused(w, REEF_ABSENT, reef_share_id(w, e, to, base));
    assert_status(REEF_ADDED, reef_set_id(w, to, base, value, 8));
    assert_status(REEF_ADDED, reef_share_id(w, to, e, base));
    assert_ptr_equal(reef_get_id(w, to, base), reef_get_id(w, e, base));
}

static void many_values_and_marks_are_of_the_base_itself(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t home = 0; home < 2; home++) {
        reef_status s;
        const reef_component base = reef_type_new(&(reef_type_desc){.name = home ? "bulk_sparse" : "bulk_table",
                                                                    .size = 8,
                                                                    .align = 8,
                                                                    .home = home ? REEF_SPARSE : REEF_TABLE,
                                                                    .hooks = &(reef_hooks){.track_rows = true}},
                                                  &s);
        const reef_component sub = reef_type_new(
            &(reef_type_desc){
                .name = home ? "bulk_sparse_more" : "bulk_table_more", .size = 16, .align = 8, .base = base},
            &s);
        uint64_t value[2] = {3, 4}, got = 99;
        const reef_entity e = reef_spawn_values(w, &(reef_value){sub, REEF_VALUE_ONE, 16, value}, 1);
        const uint64_t before = reef_version(w);
        assert_int_equal(reef_get_many_id(w, base, &e, 1, &got, 8), 0);
        assert_int_equal(got, 99);
        assert_int_equal(reef_write_many_id(w, base, &e, 1, &got, 8), 0);
        assert_true(*(const uint64_t *)reef_get_id(w, e, sub) == 3);
        assert_false(reef_is_enabled_id(w, e, base));
        assert_non_null(reef_append_id(w, e, base, value, 8));
        assert_int_equal(reef_count_id(w, base), 1);
        assert_true(reef_added_since_id(w, e, base, before));
        assert_ok(reef_remove_id(w, e, base)); /* its stamp is still there */
        assert_true(reef_has_id(w, e, base));
        assert_false(reef_added_since_id(w, e, base, before));
        assert_false(reef_changed_since_id(w, e, base, before));
    }
}

static uint32_t told_adds, told_others;
static void count_notice(const reef_notice *n) { *(n->kind == REEF_ON_ADD ? &told_adds : &told_others) += n->count; }

static void observers_of_a_base_are_told_of_the_base_itself(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(AxisMoving, {1}, 2, 3));
    told_adds = told_others = 0;
    (void)reef_observer_add(w, "counts", count_notice, REEF_ON_ADD | REEF_ON_SET | REEF_ON_REMOVE, reef_id(Moving));
    assert_status(REEF_ADDED, reef_set(w, e, Mass, 1)); /* the row moves */
    assert_ok(reef_change(w, e, reef_without(Moving), reef_without(Mass)));
    assert_int_equal(told_adds + told_others, 0);
    assert_status(REEF_ADDED, reef_set(w, e, Moving, 4));
    assert_int_equal(told_adds, 1);
    assert_int_equal(told_others, 0);
    assert_ok(reef_remove(w, e, Moving));
    assert_int_equal(told_others, 1);
    assert_ok(reef_destroy(w, e));
    assert_int_equal(told_others, 1);
}

static void a_fixed_term_asks_for_the_base_itself(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(AxisMoving, {1}, 2, 3));
    (void)reef_spawn(w, reef_with(Mass, 1));
    assert_ok(reef_set_name(w, e, "lead"));
    const reef_query q = reef_query_new(w, "Mass, in Moving of lead");
    assert_query(q);
    assert_int_equal(reef_query_count(w, q), 0);
    assert_status(REEF_ADDED, reef_set(w, e, Moving, 4));
    assert_int_equal(reef_query_count(w, q), 1);
}

static void set_base_of_others(reef_block *b)
{
    *(reef_status *)b->context = reef_set(b->world, b->entities[0], Moving, 9);
}

static void a_system_sets_the_base_itself(void **state)
{
    reef_world *w = world_of(state);
    reef_status got = REEF_OK;
    const reef_entity e = reef_spawn(w, reef_with(AxisMoving, {1}, 2, 3));
    const reef_system_desc d = {
        .name = "sets", .function = set_base_of_others, .text = "in AxisMoving; writes Moving", .context = &got};
    (void)reef_system_once(w, &d, 0);
    assert_int_equal(got, REEF_LOCKED);
    assert_true(reef_get(w, e, AxisMoving)->base.speed == 1);
}

#ifdef REEF_CHECKED

static char told[256];
static void tell(void *context, reef_status status, const char *message)
{
    (void)context, (void)status;
    snprintf(told, sizeof told, "%s", message);
}

static void loops_over_rows_that_do_not_match_are_told(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.misuse = tell});
    for (int i = 0; i < 10; i++) {
        const reef_entity e = reef_spawn(w, reef_default(AxisMoving));
        if (i % 2) reef_add(w, e, Awake);
    }
    const reef_query q = reef_query_new(w, "in AxisMoving+, Awake");
    told[0] = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        if (reef_block_mask(&b)) assert_non_null(reef_in_sub(&b, AxisMoving).first);
    assert_string_equal(told, "");
    for (reef_block b = reef_begin(w, q); reef_next(&b);) assert_non_null(reef_in_sub(&b, AxisMoving).first);
    assert_non_null(strstr(told, "reef_next: component AxisMoving: the access was not declared: not all rows"));
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_base_is_disabled_where_it_is_itself),
        TEST(a_subtype_knows_its_base),
        TEST(what_can_be_no_subtype_is_refused),
        TEST(get_of_a_base_finds_the_only_subtype),
        TEST(several_subtypes_are_ambiguous),
        TEST(subtypes_in_another_home),
        TEST(tags_have_subtypes_too),
        TEST(B6_E3_a_strict_world_finds_no_subtype_of_a_base_that_it_does_not_know),
        TEST(B6_E3_a_strict_world_reads_what_it_wrote_of_a_subtype),
        TEST(deferred_removal_of_a_base),
        TEST(a_type_declared_later_is_found),
        TEST(a_plus_asks_for_subtypes_too),
        TEST(what_a_plus_cannot_do_is_refused),
        TEST(writing_by_stride),
        TEST(changed_if_any_of_them_changed),
        TEST(queries_find_types_that_are_declared_later),
        TEST(random_worlds_are_walked_as_each_entity_says),
        TEST(other_ways_to_walk),
        TEST(access_rules_know_subtypes),
        TEST(handles_of_nobody_in_a_world_without_entities),
        TEST(a_deferred_change_of_a_base_is_of_the_base_itself),
        TEST(a_deferred_add_of_a_base_with_arguments),
        TEST(what_is_shared_of_a_base_is_its_own),
        TEST(many_values_and_marks_are_of_the_base_itself),
        TEST(observers_of_a_base_are_told_of_the_base_itself),
        TEST(a_fixed_term_asks_for_the_base_itself),
        TEST(a_system_sets_the_base_itself),
        TEST(bases_in_a_circle_are_refused),
#ifdef REEF_CHECKED
        TEST(loops_over_rows_that_do_not_match_are_told),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
