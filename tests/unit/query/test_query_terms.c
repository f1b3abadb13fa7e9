/* What each operator of a query means, which queries are refused and how, what changes a query sees, many tables,
 * and parts of a loop on threads. */
#include "support.h"
#ifndef REEF_NO_THREADS
#include <pthread.h>
#endif

#define OUT_OF(T) \
    { \
        .component = reef_id(T), .access = REEF_OUT \
    }
#define IN_OF(T) \
    { \
        .component = reef_id(T), .access = REEF_IN \
    }
#define HAS_OF(T) \
    { \
        .component = reef_id(T) \
    }
#define WITH_OF(T) \
    { \
        .component = reef_id(T), .access = REEF_WITH \
    }
#define NOT_OF(T) \
    { \
        .component = reef_id(T), .op = REEF_NOT \
    }
#define MAYBE_OF(T) \
    { \
        .component = reef_id(T), .op = REEF_OPTIONAL \
    }
#define CHANGED_OF(T) \
    { \
        .component = reef_id(T), .access = REEF_IN, .since = REEF_IF_CHANGED \
    }
#define ANY_OF(n) \
    { \
        .op = REEF_ANY_OF, .count = n \
    }
#define ALL_OF(n) \
    { \
        .op = REEF_ALL_OF, .count = n \
    }
#define NONE_OF(n) \
    { \
        .op = REEF_NONE_OF, .count = n \
    }
#define MAKE(w, ...) reef_query_make(w, &(reef_query_desc){.terms = {__VA_ARGS__}})

/* The entities that a query visits, as letters: entity number 0 is `a`. */
typedef struct cast {
    reef_world *w;
    reef_entity e[26];
    uint32_t count;
} cast;

static const char *visited(const cast *c, reef_query q)
{
    static char text[64];
    uint32_t n = 0;
    bool seen[26] = {false};
    assert_query(q);
    reef_each(c->w, q, row) for (uint32_t i = 0; i < c->count; i++) seen[i] |= reef_entity_equal(c->e[i], row.entity);
    for (uint32_t i = 0; i < c->count; i++)
        if (seen[i]) text[n++] = (char)('a' + i);
    text[n] = 0;
    assert_int_equal(reef_last_error(c->w).status, REEF_OK);
    return text;
}

/* The same by a query that is made for this once. */
static const char *once(const cast *c, reef_query q)
{
    const char *text = visited(c, q);
    for (uint32_t i = 0; i < c->count; i++)
        assert_int_equal(reef_query_matches(c->w, q, c->e[i]), strchr(text, (int)('a' + i)) != NULL);
    assert_int_equal(reef_query_count(c->w, q), strlen(text));
    assert_ok(reef_query_free(c->w, q));
    return text;
}

/* a: Position. b: Position, Velocity. c: Position, Velocity, Frozen. d: Mass. e: Mass, Frozen, Awake. f: nothing. g:
 * Awake alone. */
static cast cast_of(reef_world *w)
{
    cast c = {.w = w, .count = 7};
    c.e[0] = reef_spawn(w, reef_with(Position, 1, 2));
    c.e[1] = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4));
    c.e[2] = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4), reef_tag(Frozen));
    c.e[3] = reef_spawn(w, reef_with(Mass, 5));
    c.e[4] = reef_spawn(w, reef_with(Mass, 6), reef_tag(Frozen), reef_tag(Awake));
    c.e[5] = reef_create(w);
    c.e[6] = reef_spawn(w, reef_tag(Awake));
    return c;
}

/* ---- operators ---- */

static void F1_E9_has_not_and_optional(void **state)
{
    cast c = cast_of(world_of(state));
    assert_string_equal(once(&c, reef_query_new(c.w, "")), "abcdeg"); /* f has no row */
    assert_string_equal(once(&c, MAKE(c.w, HAS_OF(Position))), "abc");
    assert_string_equal(once(&c, MAKE(c.w, NOT_OF(Position))), "deg");
    assert_string_equal(once(&c, MAKE(c.w, HAS_OF(Position), NOT_OF(Frozen))), "ab");
    assert_string_equal(once(&c, MAKE(c.w, HAS_OF(Position), NOT_OF(Frozen), NOT_OF(Velocity))), "a");
    assert_string_equal(once(&c, MAKE(c.w, NOT_OF(Awake))), "abcd");
    assert_string_equal(once(&c, MAKE(c.w, HAS_OF(Awake), NOT_OF(Mass))), "g");
    assert_string_equal(once(&c, MAKE(c.w, MAYBE_OF(Velocity))), "abcdeg");
    assert_string_equal(once(&c, MAKE(c.w, HAS_OF(Mass), MAYBE_OF(Awake))), "de");
    assert_string_equal(once(&c, MAKE(c.w, WITH_OF(Velocity))), "bc");
    reef_query q = MAKE(c.w, IN_OF(Position), MAYBE_OF(Velocity));
    uint32_t with = 0;
    for (reef_block b = reef_begin(c.w, q); reef_next(&b);) {
        Velocity *v = reef_inout(&b, Velocity);
        assert_ptr_equal(v, reef_get(c.w, b.entities[0], Velocity));
        assert_ptr_equal(reef_in(&b, Position), reef_get(c.w, b.entities[0], Position));
        with += v != NULL;
    }
    assert_int_equal(with, 2);
}

static void groups_nest(void **state)
{
    cast c = cast_of(world_of(state));
    assert_string_equal(once(&c, MAKE(c.w, ANY_OF(2), HAS_OF(Velocity), HAS_OF(Mass))), "bcde");
    assert_string_equal(once(&c, MAKE(c.w, ANY_OF(2), HAS_OF(Velocity), HAS_OF(Awake))), "bceg");
    assert_string_equal(once(&c, MAKE(c.w, ALL_OF(2), HAS_OF(Velocity), HAS_OF(Frozen))), "c");
    assert_string_equal(once(&c, MAKE(c.w, NONE_OF(2), HAS_OF(Velocity), HAS_OF(Frozen))), "adg");
    assert_string_equal(once(&c, MAKE(c.w, NONE_OF(1), ALL_OF(2), HAS_OF(Velocity), HAS_OF(Frozen))), "abdeg");
    assert_string_equal(once(&c, MAKE(c.w, ANY_OF(2), ALL_OF(2), HAS_OF(Velocity), NOT_OF(Frozen), HAS_OF(Mass))),
                        "bde");
    reef_query three =
        MAKE(c.w, ANY_OF(3), HAS_OF(Velocity), NONE_OF(2), HAS_OF(Position), HAS_OF(Mass), HAS_OF(Frozen));
    assert_string_equal(once(&c, three), "bceg");
    assert_string_equal(once(&c, MAKE(c.w, NONE_OF(1), NONE_OF(1), HAS_OF(Mass))), "de");
    assert_string_equal(once(&c, MAKE(c.w, ANY_OF(2), MAYBE_OF(Velocity), HAS_OF(Mass))), "abcdeg");
    assert_string_equal(once(&c, MAKE(c.w, HAS_OF(Frozen), ANY_OF(2), NOT_OF(Awake), WITH_OF(Frozen))), "ce");
    reef_query q = MAKE(c.w, ANY_OF(2), HAS_OF(Velocity), IN_OF(Mass));
    for (reef_block b = reef_begin(c.w, q); reef_next(&b);) {
        assert_ptr_equal(reef_inout(&b, Velocity), reef_get(c.w, b.entities[0], Velocity));
        assert_ptr_equal(reef_in(&b, Mass), reef_get(c.w, b.entities[0], Mass));
        assert_true((reef_in(&b, Mass) == NULL) != (reef_inout(&b, Velocity) == NULL));
    }
}

static void terms_of_another_entity(void **state)
{
    cast c = cast_of(world_of(state));
    reef_entity mass = c.e[3], awake = c.e[6], nothing = c.e[5];
    reef_query in = MAKE(c.w, WITH_OF(Velocity), {.component = reef_id(Mass), .source = mass, .access = REEF_IN});
    reef_query out = MAKE(c.w, WITH_OF(Velocity), {.component = reef_id(Mass), .source = mass});
    reef_query without = MAKE(c.w, WITH_OF(Velocity), {.component = reef_id(Mass), .source = mass, .op = REEF_NOT});
    reef_query maybe = MAKE(c.w, WITH_OF(Velocity), {.component = reef_id(Mass), .source = mass, .op = REEF_OPTIONAL});
    reef_query either =
        MAKE(c.w, ANY_OF(2), WITH_OF(Velocity), {.component = reef_id(Mass), .source = mass, .access = REEF_WITH});
    assert_string_equal(visited(&c, in), "bc");
    assert_string_equal(visited(&c, without), "");
    assert_string_equal(visited(&c, maybe), "bc");
    assert_string_equal(visited(&c, either), "abcdeg");
    assert_string_equal(once(&c, MAKE(c.w, {.component = reef_id(Awake), .source = awake}, WITH_OF(Frozen))), "ce");
    assert_string_equal(once(&c, MAKE(c.w, {.component = reef_id(Awake), .source = mass}, WITH_OF(Frozen))), "");
    assert_string_equal(once(&c, MAKE(c.w, {.component = reef_id(Mass), .source = nothing}, WITH_OF(Frozen))), "");
    for (reef_block b = reef_begin(c.w, in); reef_next(&b);) {
        assert_ptr_equal(reef_fixed_in(&b, Mass), reef_get(c.w, mass, Mass));
        assert_null(reef_fixed_inout(&b, Mass));
        assert_int_equal(reef_last_error(c.w).status, REEF_UNDECLARED);
        assert_null(reef_in(&b, Mass)); /* the one that is visited isn't asked for */
    }
    for (reef_block b = reef_begin(c.w, out); reef_next(&b);) reef_fixed_inout(&b, Mass)->kg += 1;
    assert_true(reef_get(c.w, mass, Mass)->kg == 7);
    assert_ok(reef_remove(c.w, mass, Mass));
    assert_string_equal(visited(&c, in), "");
    assert_string_equal(visited(&c, without), "bc");
    for (reef_block b = reef_begin(c.w, maybe); reef_next(&b);) assert_null(reef_fixed_in(&b, Mass));
    assert_status(REEF_ADDED, reef_set(c.w, mass, Mass, 1));
    assert_string_equal(visited(&c, in), "bc");
    assert_ok(reef_destroy(c.w, mass));
    assert_string_equal(visited(&c, in), "");
    assert_string_equal(visited(&c, without), "bc");
    assert_string_equal(visited(&c, either), "bc");
    reef_entity heir = reef_spawn(c.w, reef_with(Mass, 9)); /* has the index, not the life */
    assert_int_equal(heir.index, mass.index);
    assert_string_equal(visited(&c, in), "");
}

static void enabled_disabled_or_both(void **state)
{
    cast c = cast_of(world_of(state));
    assert_ok(reef_disable(c.w, c.e[1], Velocity));
    assert_ok(reef_disable(c.w, c.e[4], Frozen));
    assert_ok(reef_disable(c.w, c.e[4], Awake));
    assert_string_equal(once(&c, MAKE(c.w, HAS_OF(Velocity))), "c");
    assert_string_equal(once(&c, MAKE(c.w, NOT_OF(Velocity))), "abdeg");
    assert_string_equal(once(&c, MAKE(c.w, {.component = reef_id(Velocity), .enabled = REEF_DISABLED})), "b");
    assert_string_equal(once(&c, MAKE(c.w, {.component = reef_id(Velocity), .enabled = REEF_EITHER})), "bc");
    assert_string_equal(once(&c, MAKE(c.w, {.component = reef_id(Velocity), .enabled = REEF_DISABLED, .op = REEF_NOT})),
                        "acdeg");
    assert_string_equal(once(&c, MAKE(c.w, HAS_OF(Frozen))), "c");
    assert_string_equal(once(&c, MAKE(c.w, HAS_OF(Awake))), "g");
    assert_string_equal(once(&c, MAKE(c.w, {.component = reef_id(Awake), .enabled = REEF_EITHER})), "eg");
    assert_string_equal(
        once(&c, MAKE(c.w, ANY_OF(2), {.component = reef_id(Awake), .enabled = REEF_DISABLED}, HAS_OF(Frozen))), "ce");
    assert_string_equal(once(&c, MAKE(c.w, {.component = reef_id(Frozen), .source = c.e[4]})), "");
    reef_query all = reef_query_new(c.w, "");
    assert_ok(reef_disable(c.w, c.e[0]));
    assert_ok(reef_disable(c.w, c.e[5])); /* now it has a row */
    assert_string_equal(visited(&c, all), "bcdeg");
    assert_string_equal(once(&c, reef_query_make(c.w, &(reef_query_desc){.entities = REEF_DISABLED})), "af");
    assert_string_equal(once(&c, reef_query_make(c.w, &(reef_query_desc){.entities = REEF_EITHER})), "abcdefg");
    assert_ok(reef_enable(c.w, c.e[0]));
    assert_ok(reef_enable(c.w, c.e[5]));
    assert_string_equal(visited(&c, all), "abcdeg");
}

static void first_single_and_pick(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = MAKE(w, WITH_OF(Hungry));
    reef_entity e[3];
    uint32_t picked[3] = {0};
    assert_none(reef_query_first(w, q));
    assert_no_entity(w, REEF_ABSENT, reef_query_single(w, q));
    assert_none(reef_query_pick(w, q, 5));
    e[1] = reef_spawn(w, reef_tag(Hungry), reef_with(Mass, 1));
    assert_entity(e[1], reef_query_single(w, q));
    e[0] = reef_spawn(w, reef_tag(Hungry)); /* its table comes before the other */
    e[2] = reef_spawn(w, reef_tag(Hungry), reef_with(Mass, 1));
    assert_entity(e[0], reef_query_first(w, q));
    assert_no_entity(w, REEF_AMBIGUOUS, reef_query_single(w, q));
    for (uint64_t seed = 0; seed < 3000; seed++) {
        reef_entity one = reef_query_pick(w, q, seed);
        assert_entity(one, reef_query_pick(w, q, seed));
        for (int i = 0; i < 3; i++) picked[i] += reef_entity_equal(one, e[i]);
    }
    assert_int_equal(picked[0] + picked[1] + picked[2], 3000);
    for (int i = 0; i < 3; i++) assert_true(picked[i] > 850 && picked[i] < 1150);
}

/* ---- refusals ---- */

#define DUPLICATE(w, which, ...) \
    do { \
        assert_no_query(w, REEF_DUPLICATE_TERM, reef_query_make(w, &(reef_query_desc){.terms = {__VA_ARGS__}})); \
        assert_int_equal(reef_last_error(w).number, which); \
    } while (0)
#define MADE(w, ...) assert_query(MAKE(w, __VA_ARGS__))

static void a_component_named_twice(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = reef_spawn(w, reef_with(Mass, 1)), b = reef_spawn(w, reef_with(Mass, 2));
    DUPLICATE(w, 2, HAS_OF(Mass), IN_OF(Mass));
    DUPLICATE(w, 3, HAS_OF(Mass), HAS_OF(Position), NOT_OF(Mass));
    DUPLICATE(w, 2, MAYBE_OF(Mass), WITH_OF(Mass));
    DUPLICATE(w, 2, WITH_OF(Mass), WITH_OF(Mass));
    DUPLICATE(w, 2, HAS_OF(Frozen), NOT_OF(Frozen));
    DUPLICATE(w, 2, HAS_OF(Awake), HAS_OF(Awake));
    DUPLICATE(w, 3, ANY_OF(2), IN_OF(Mass), WITH_OF(Mass));
    DUPLICATE(w, 3, WITH_OF(Mass), ANY_OF(2), IN_OF(Mass), HAS_OF(Position));
    DUPLICATE(w, 2, {.component = reef_id(Mass), .source = a}, {.component = reef_id(Mass), .source = a});
    MADE(w, WITH_OF(Mass), ANY_OF(2), NOT_OF(Mass), HAS_OF(Position));
    MADE(w, ANY_OF(2), WITH_OF(Mass), NONE_OF(2), HAS_OF(Mass), IN_OF(Position));
    MADE(w, HAS_OF(Frozen), ANY_OF(2), HAS_OF(Frozen), HAS_OF(Position));
    MADE(w, HAS_OF(Mass), {.component = reef_id(Mass), .source = a}, {.component = reef_id(Mass), .source = b});
}

static void the_most_terms(void **state)
{
    reef_world *w = world_of(state);
    reef_query_desc d = {.text = NULL};
    static char text[2000];
    strcpy(text, "!(");
    for (uint32_t i = 0; i < REEF_TERMS_MAX; i++) {
        d.terms[i] = (reef_term){.component = numbered_type("many", i, 4, 4), .access = REEF_IN};
        snprintf(text + strlen(text), sizeof text - strlen(text), "%smany%05u", i ? " | " : "", (unsigned)i);
    }
    assert_no_query(w, REEF_LIMIT, reef_query_new(w, strcat(text, ")"))); /* the group is one as well */
    assert_query(reef_query_make(w, &d));
    d.terms[0] = (reef_term)NONE_OF(REEF_TERMS_MAX - 1);
    reef_query none = reef_query_make(w, &d);
    assert_query(none);
    reef_entity e = reef_spawn(w, reef_with(Mass, 1));
    assert_true(reef_query_matches(w, none, e));
    assert_ok(reef_add_id(w, e, d.terms[REEF_TERMS_MAX - 1].component, NULL, NULL));
    assert_false(reef_query_matches(w, none, e));
    for (uint32_t i = 0; i + 1 < REEF_TERMS_MAX; i++) d.terms[i] = (reef_term)ANY_OF(1); /* as deep as can be */
    assert_true(reef_query_matches(w, reef_query_make(w, &d), e));
    assert_int_equal(reef_query_count(w, reef_query_make(w, &(reef_query_desc){.text = NULL})), 1);
}

static void bad_term(reef_world *w, reef_term term, reef_status status)
{
    reef_query_desc d = {.terms = {HAS_OF(Position), term, HAS_OF(Velocity)}};
    assert_no_query(w, status, reef_query_make(w, &d));
    assert_int_equal(reef_last_error(w).number, 2);
}

static void terms_out_of_range(void **state)
{
    reef_world *w = world_of(state);
    bad_term(w, (reef_term){.component = reef_id(Mass), .access = (reef_access)4}, REEF_BAD_ARGUMENT);
    bad_term(w, (reef_term){.component = reef_id(Mass), .op = (reef_op)6}, REEF_BAD_ARGUMENT);
    bad_term(w, (reef_term){.component = reef_id(Mass), .enabled = (reef_enabled)3}, REEF_BAD_ARGUMENT);
    bad_term(w, (reef_term){.component = reef_id(Mass), .since = (reef_since)3}, REEF_BAD_ARGUMENT);
    bad_term(w, (reef_term){.component = reef_id(Mass), .since = REEF_IF_ADDED}, REEF_BAD_ARGUMENT);
    bad_term(w, (reef_term){.component = reef_id(Frozen), .since = REEF_IF_CHANGED}, REEF_BAD_ARGUMENT);
    bad_term(w, (reef_term){.component = {UINT32_MAX}}, REEF_UNKNOWN_TYPE);
    bad_term(w, (reef_term){.component = {reef_type_count() + 1}}, REEF_UNKNOWN_TYPE);
    bad_term(w, (reef_term)ANY_OF(0), REEF_BAD_ARGUMENT);
    bad_term(w, (reef_term)ALL_OF(2), REEF_BAD_ARGUMENT); /* there is one */
    bad_term(w, (reef_term)NONE_OF(UINT32_MAX), REEF_BAD_ARGUMENT);
    bad_term(w, (reef_term){.component = reef_id(Mass), .op = REEF_ANY_OF, .count = 1}, REEF_BAD_ARGUMENT);
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_make(w, &(reef_query_desc){.entities = (reef_enabled)3}));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_make(w, NULL));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, NULL));
    assert_true(reef_query_is_null(reef_query_new(NULL, "Position")) &&
                reef_query_is_null(reef_query_make(NULL, NULL)));
    reef_world *strict = another_world(state, &(reef_world_config){.strict = true});
    assert_ok(reef_use(strict, Position));
    assert_query(MAKE(strict, HAS_OF(Position)));
    assert_no_query(strict, REEF_UNKNOWN_TYPE, reef_query_make(strict, &(reef_query_desc){.terms = {HAS_OF(Mass)}}));
    reef_query q = reef_query_new(w, "in Mass");
    assert_no_query(strict, REEF_UNKNOWN_TYPE, reef_query_copy(strict, w, q));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_copy(w, NULL, q));
}

static void never(reef_block *b) { assert_null(b); }

static void no_block(reef_world *w, reef_block b, reef_status status, const char *op)
{
    assert_int_equal(reef_last_error(w).status, status);
    if (op) assert_string_equal(reef_last_error(w).operation, op);
    assert_false(reef_next(&b));
    assert_false(reef_next_block(&b));
    assert_int_equal(reef_block_run(&b, &(uint32_t){0}), 0);
    assert_null(reef_block_mask(&b));
    reef_end(&b);
    assert_some(reef_create(w)); /* nothing is locked */
}

/* Every public call that takes a query. */
static void refused_by_all(reef_world *w, reef_query q, reef_status status)
{
    reef_block row;
    no_block(w, reef_begin(w, q), status, "reef_begin");
    no_block(w, reef_begin_loop(w, q, &(reef_loop){.limit = 1}), status, "reef_begin_loop");
    no_block(w, reef_rows(w, q).block, status, "reef_begin");
    reef_each(w, q, each) fail_msg("a query that was refused gives row %u", each.i);
    assert_status(status, reef_run(w, q, never, NULL));
    assert_no_pointer(w, status, reef_slices_begin(w, q, NULL, 2));
    assert_zero(w, status, reef_query_count(w, q));
    assert_zero(w, status, reef_query_any(w, q));
    assert_no_entity(w, status, reef_query_first(w, q));
    assert_no_entity(w, status, reef_query_single(w, q));
    assert_no_entity(w, status, reef_query_pick(w, q, 1));
    assert_zero(w, status, reef_query_matches(w, q, reef_entity_at(w, 0)));
    assert_zero(w, status, reef_query_row(w, q, reef_entity_at(w, 0), &row));
    assert_zero(w, status, reef_query_explain(w, q, NULL, 0));
    assert_no_query(w, status, reef_query_copy(w, w, q));
    assert_int_equal(reef_query_text(w, q, NULL, 0), 0); /* of a const world: no record */
}

static void freed_null_and_others_queries(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_spawn(w, reef_with(Position, 1, 2));
    reef_spawn(other, reef_with(Position, 1, 2));
    reef_query q = reef_query_new(w, "Position"), freed = reef_query_new(w, "Position");
    assert_ok(reef_query_free(w, freed));
    refused_by_all(w, freed, REEF_NOT_ALIVE);
    assert_refused(w, REEF_NOT_ALIVE, reef_query_free(w, freed));
    reef_query heir = reef_query_new(w, "Position"); /* in its place */
    refused_by_all(w, freed, REEF_NOT_ALIVE);
    refused_by_all(w, (reef_query){0, 0, 0}, REEF_NOT_ALIVE);
    refused_by_all(w, (reef_query){UINT32_MAX, 1, q.world}, REEF_NOT_ALIVE);
    assert_ok(reef_query_free(w, (reef_query){0, 0, 0}));
    refused_by_all(other, q, REEF_OTHER_WORLD);
    assert_refused(other, REEF_OTHER_WORLD, reef_query_free(other, q));
    reef_world *fork = reef_fork(w); /* has the world's queries of now */
    const reef_query late = reef_query_new(w, "Position");
    refused_by_all(fork, late, REEF_OTHER_WORLD);
    assert_ok(reef_query_free(fork, q));
    refused_by_all(fork, q, REEF_NOT_ALIVE);
    reef_world_free(fork);
    assert_int_equal(reef_query_count(w, q), 1);
    assert_int_equal(reef_query_count(w, heir), 1);
}

static void loops_out_of_range(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "Position");
    reef_spawn(w, reef_with(Position, 1, 2));
    no_block(w, reef_begin_loop(w, q, NULL), REEF_BAD_ARGUMENT, "reef_begin_loop");
    /* it asks for no changes */
    no_block(w, reef_begin_loop(w, q, &(reef_loop){.since = 1}), REEF_BAD_ARGUMENT, "reef_begin_loop");
    reef_query since = MAKE(w, CHANGED_OF(Position));
    no_block(w, reef_begin_loop(w, since, &(reef_loop){.since = UINT64_MAX}), REEF_BAD_ARGUMENT, "reef_begin_loop");
    no_block(w, reef_begin_text(w, "Position,,"), REEF_BAD_TEXT, "reef_begin_text");
    no_block(w, reef_begin_text(w, NULL), REEF_BAD_ARGUMENT, "reef_begin_text");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_run(w, q, NULL, NULL));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_slices_begin(w, q, NULL, 0));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_slices_begin(w, q, NULL, REEF_SLICES_MAX + 1));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_slices_begin(w, q, &(reef_loop){.offset = 1}, 2));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_slices_begin(w, q, &(reef_loop){.limit = 1}, 2));
    reef_slices *s = reef_slices_begin(w, q, NULL, REEF_SLICES_MAX);
    assert_non_null(s);
    no_block(w, (reef_end(NULL), reef_slices_end(s), reef_slice(NULL, 0)), REEF_OK, NULL);
    assert_false(reef_query_row(w, q, reef_entity_at(w, 0), NULL));
}

static void a_query_in_use_is_not_freed(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "Position"), other = reef_query_new(w, "Mass");
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    reef_block b = reef_begin(w, q), row;
    assert_refused(w, REEF_LOCKED, reef_query_free(w, q));
    assert_ok(reef_query_free(w, other));
    assert_query(other = reef_query_new(w, "Mass"));
    assert_true(reef_next(&b));
    assert_refused(w, REEF_LOCKED, reef_query_free(w, q));
    assert_true(reef_query_row(w, q, e, &row));
    assert_false(reef_next(&b));
    reef_slices *s = reef_slices_begin(w, q, NULL, 3);
    assert_refused(w, REEF_LOCKED, reef_query_free(w, q));
    assert_refused(w, REEF_LOCKED, reef_destroy(w, e));
    reef_slices_end(s);
    assert_true(reef_query_row(w, q, e, &row)); /* no loop */
    assert_ok(reef_query_free(w, q));
    assert_ok(reef_query_free(w, other));
}

static void refused_access(reef_world *w, const void *p)
{
    assert_null(p);
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    (void)reef_release_id(w, (reef_entity){0}); /* another error, so that the next one shows */
    assert_int_not_equal(reef_last_error(w).status, REEF_UNDECLARED);
}

static void refused_accesses(reef_world *w, reef_block *b)
{
    refused_access(w, reef_inout(b, Velocity)); /* in */
    refused_access(w, reef_inout(b, Mass));     /* with */
    refused_access(w, reef_in(b, Mass));
    refused_access(w, reef_in(b, Frozen)); /* a tag, a switch */
    refused_access(w, reef_in(b, Awake));
    refused_access(w, reef_in(b, Cargo)); /* not named; named to be absent */
    refused_access(w, reef_in(b, Flag));
    refused_access(w, reef_fixed_in(b, Position));
    refused_access(w, reef_fixed_inout(b, Position));
    refused_access(w, reef_block_in(b, (reef_component){0}));
    refused_access(w, reef_block_inout(b, (reef_component){UINT32_MAX}));
    refused_access(w, reef_block_in(b, (reef_component){UINT32_MAX}));
    refused_access(w, reef_block_in(b, (reef_component){UINT32_MAX / 2}));
    refused_access(w, reef_block_inout(b, (reef_component){UINT32_MAX / 2}));
    assert_non_null(reef_inout(b, Position));
    assert_non_null(reef_in(b, Velocity));
}

static void undeclared_access_is_refused(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 1, 2), reef_with(Mass, 1),
                               reef_with(Cargo, {1}), reef_tag(Frozen), reef_tag(Awake));
    reef_query q[2];
    q[0] = MAKE(w, HAS_OF(Position), IN_OF(Velocity), WITH_OF(Mass), HAS_OF(Frozen), NOT_OF(Flag));
    /* looks at rows */
    q[1] = MAKE(w, HAS_OF(Position), IN_OF(Velocity), WITH_OF(Mass), HAS_OF(Frozen), NOT_OF(Flag), HAS_OF(Awake));
    for (int i = 0; i < 2; i++) {
        reef_block row;
        for (reef_block b = reef_begin(w, q[i]); reef_next(&b);) refused_accesses(w, &b);
        assert_true(reef_query_row(w, q[i], e, &row));
        refused_accesses(w, &row);
        reef_each(w, q[i], each) assert_null(reef_in_at(each, Cargo));
    }
}

/* ---- changes ---- */

enum { THREE = 2500 }; /* rows in three blocks */

static uint32_t rows_of(reef_world *w, reef_query q)
{
    uint32_t n = 0, asked = (uint32_t)reef_query_count(w, q);
    reef_each(w, q, row) n++;
    assert_int_equal(n, asked);
    assert_int_equal(reef_last_error(w).status, REEF_OK);
    return n;
}

static void blocks_that_changed_since_the_last_run(void **state)
{
    static reef_entity e[THREE];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, THREE, e, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    reef_query q = MAKE(w, CHANGED_OF(Position)), second = reef_query_copy(w, w, q),
               all = reef_query_new(w, "Position");
    reef_query in = reef_query_new(w, "in Position, in Mass"), mass = reef_query_new(w, "Mass, in Position");
    assert_int_equal(rows_of(w, q), THREE); /* never ran */
    assert_int_equal(rows_of(w, q), 0);
    reef_mut(w, e[1500], Position)->x = 9; /* one row: its block */
    assert_int_equal(reef_query_count(w, q), 1024);
    assert_entity(e[1024], reef_query_first(w, q));
    assert_true(reef_query_matches(w, q, e[1500]) && reef_query_matches(w, q, e[2047]));
    assert_false(reef_query_matches(w, q, e[1023]) || reef_query_matches(w, q, e[2048]));
    assert_int_equal(rows_of(w, q), 1024); /* asking was no run */
    assert_int_equal(rows_of(w, q), 0);
    for (reef_block b = reef_begin(w, in); reef_next(&b);) assert_non_null(reef_in(&b, Position));
    for (reef_block b = reef_begin(w, mass); reef_next(&b);) reef_inout(&b, Mass)->kg = 4;
    assert_int_equal(rows_of(w, q), 0); /* to read marks nothing, and Mass is another column */
    reef_block b = reef_begin(w, all);
    assert_true(reef_next(&b));
    reef_end(&b);
    assert_int_equal(rows_of(w, q), 1024); /* the block that was visited */
    for (reef_block c = reef_begin(w, all); reef_next(&c);) {}
    assert_int_equal(rows_of(w, q), THREE);
    assert_int_equal(rows_of(w, second), THREE); /* each query has its own last run */
    assert_ok(reef_set(w, e[2499], Position, 5, 6));
    b = reef_begin(w, q); /* a loop that is left early is a run */
    reef_end(&b);
    assert_int_equal(rows_of(w, q), 0);
    assert_int_equal(rows_of(w, second), THREE - 2048);
    assert_status(REEF_OK, reef_change(w, e[0], reef_with(Position, 1, 1)));
    assert_int_equal(reef_write_many(w, Position, &e[1], 1, &((Position){2, 2})), 1);
    assert_int_equal(rows_of(w, q), 1024);
}

static void what_a_query_writes_is_not_new_to_itself(void **state)
{
    static reef_entity e[THREE];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, THREE, e, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    reef_query q =
        reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Position), .since = REEF_IF_CHANGED}}});
    reef_query other = MAKE(w, CHANGED_OF(Position));
    reef_query groups =
        MAKE(w, ANY_OF(2), {.component = reef_id(Position), .since = REEF_IF_CHANGED}, CHANGED_OF(Mass));
    assert_int_equal(rows_of(w, other) + rows_of(w, groups), 2 * THREE);
    assert_int_equal(rows_of(w, q), THREE);
    assert_int_equal(rows_of(w, q), 0);
    assert_int_equal(rows_of(w, other), THREE); /* but to others */
    assert_int_equal(rows_of(w, groups), THREE);
    assert_int_equal(rows_of(w, groups), 0);
    assert_int_equal(rows_of(w, q), THREE); /* what `groups` wrote */
    reef_mut(w, e[0], Mass)->kg = 1;
    assert_int_equal(rows_of(w, groups), THREE); /* what q wrote */
    reef_mut(w, e[0], Mass)->kg = 1;
    assert_int_equal(rows_of(w, groups), 1024);
    assert_int_equal(rows_of(w, q), THREE); /* what `groups` wrote, in two loops */
    assert_int_equal(rows_of(w, q), 0);
}

typedef struct {
    float x;
} Follower;
static const reef_hooks tracks_rows = {.track_rows = true};
REEF_COMPONENT_HOOKS(Follower, &tracks_rows);

/* Marking a tracked column makes a new version: what is written afterwards in the same loop is still the loop's own. */
static void own_writes_beside_tracked_ones(void **state)
{
    reef_world *w = world_of(state);
    reef_entity both = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Follower, 1));
    reef_entity later = reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Hungry)),
                first = reef_spawn(w, reef_with(Position, 1, 2));
    reef_query q = MAKE(w, {.component = reef_id(Position), .since = REEF_IF_CHANGED}, MAYBE_OF(Follower)), row = q;
    assert_int_equal(rows_of(w, q), 3);
    assert_int_equal(rows_of(w, q), 0);
    reef_mut(w, later, Position)->x = 3;
    assert_int_equal(rows_of(w, q), 1);
    row = MAKE(w, ANY_OF(2), {.component = reef_id(Follower), .since = REEF_IF_ADDED},
               {.component = reef_id(Position), .since = REEF_IF_CHANGED});
    assert_int_equal(rows_of(w, row), 3);
    assert_int_equal(rows_of(w, row), 0);
    reef_block b;
    assert_int_equal(rows_of(w, q), 3); /* what `row` wrote */
    /* to be written outside of a loop */
    assert_true(reef_query_matches(w, row, both) && reef_query_row(w, row, first, &b));
    assert_int_equal(rows_of(w, row), 3);
    assert_int_equal(rows_of(w, q), 3);
}

/* What another loop writes meanwhile is new, also in blocks that the outer loop was at already. */
static void loops_inside_a_loop_that_asks_for_changes(void **state)
{
    static reef_entity e[THREE];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, THREE, e, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    reef_query q = MAKE(w, CHANGED_OF(Position));
    reef_query inner[3];
    inner[0] = reef_query_new(w, "Position");
    inner[1] = MAKE(w, IN_OF(Mass), MAYBE_OF(Position));
    inner[2] = MAKE(w, HAS_OF(Position), NOT_OF(Awake));
    assert_int_equal(rows_of(w, q), THREE);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rows_of(w, q), 0);
        reef_mut(w, e[2100], Position)->x = 1;
        for (reef_block b = reef_begin(w, q); reef_next(&b);)
            for (reef_block c = reef_begin(w, inner[i]); reef_next(&c);) reef_inout(&c, Position)[0].x = 2;
        assert_int_equal(rows_of(w, q), THREE);
    }
}

static void rows_that_come_and_go_change_their_blocks(void **state)
{
    static reef_entity e[THREE];
    reef_world *w = world_of(state);
    reef_query q = MAKE(w, CHANGED_OF(Position));
    assert_ok(reef_spawn_many(w, THREE, e, reef_with(Position, 1, 2)));
    assert_int_equal(rows_of(w, q), THREE);
    reef_entity late = reef_spawn(w, reef_with(Position, 3, 4));
    assert_true(reef_query_matches(w, q, late));
    (void)rows_of(w, q);
    assert_ok(reef_add(w, e[7], Frozen)); /* it moves; the last row takes its place */
    assert_true(reef_query_matches(w, q, e[7]) && reef_query_matches(w, q, late));
    (void)rows_of(w, q);
    assert_ok(reef_destroy(w, e[2000]));
    /* whoever came into its place */
    assert_true(reef_query_matches(w, q, e[2498]) || reef_query_matches(w, q, e[2499]));
    assert_false(reef_query_matches(w, q, e[0]));
    (void)rows_of(w, q);
    assert_int_equal(rows_of(w, q), 0);
}

static void switches_change_as_well(void **state)
{
    static reef_entity e[THREE];
    reef_world *w = world_of(state);
    reef_query q = MAKE(w, {.component = reef_id(Awake), .since = REEF_IF_CHANGED});
    reef_query still = MAKE(w, WITH_OF(Mass), {.component = reef_id(Awake), .since = REEF_IF_CHANGED, .op = REEF_NOT});
    assert_ok(reef_spawn_many(w, THREE, e, reef_with(Mass, 3)));
    for (uint32_t i = 0; i < THREE; i += 100) assert_ok(reef_add(w, e[i], Awake));
    assert_int_equal(rows_of(w, q), 25);
    assert_int_equal(rows_of(w, q), 0);
    (void)rows_of(w, still);
    assert_int_equal(rows_of(w, still), THREE);
    assert_ok(reef_add(w, e[2050], Awake));
    assert_int_equal(reef_query_count(w, still), THREE - 5);
    assert_int_equal(rows_of(w, q), 5); /* those of its block that are on */
    assert_ok(reef_remove(w, e[2050], Awake));
    assert_int_equal(rows_of(w, q), 4);
}

static void a_restore_brings_the_last_run_back(void **state)
{
    static reef_entity e[THREE];
    reef_world *w = world_of(state);
    reef_query q = MAKE(w, CHANGED_OF(Position)), later = q;
    assert_ok(reef_spawn_many(w, THREE, e, reef_with(Position, 1, 2)));
    assert_int_equal(rows_of(w, q), THREE);
    reef_mut(w, e[1500], Position)->x = 9;
    reef_snapshot *s = reef_snapshot_take(w);
    assert_int_equal(rows_of(w, q), 1024);
    reef_mut(w, e[0], Position)->x = 9;
    later = reef_query_copy(w, w, q);
    assert_int_equal(rows_of(w, later), THREE);
    assert_ok(reef_restore(w, s));
    assert_int_equal(rows_of(w, q), 1024); /* the block of e[1500] again, and not that of e[0] */
    assert_int_equal(rows_of(w, q), 0);
    assert_int_equal(rows_of(w, later), THREE); /* it hadn't run then */
    assert_ok(reef_restore(w, s));
    assert_int_equal(rows_of(w, q), 1024);
    assert_ok(reef_query_free(w, later));
    assert_ok(reef_restore(w, s));
    assert_int_equal(rows_of(w, q), 1024);
    reef_world *fork = reef_snapshot_fork(s);
    reef_query there = reef_query_copy(fork, w, q);
    assert_int_equal(rows_of(fork, there), THREE); /* another query, that never ran */
    assert_int_equal(rows_of(fork, there), 0);
    reef_mut(fork, e[2100], Position)->x = 1;
    assert_int_equal(rows_of(w, q), 0);
    assert_int_equal(rows_of(fork, there), THREE - 2048);
    reef_world_free(fork);
    reef_snapshot_free(s);
}

static void changes_since_a_version(void **state)
{
    static reef_entity e[THREE];
    reef_world *w = world_of(state);
    reef_query q = MAKE(w, CHANGED_OF(Position));
    uint64_t versions[4];
    assert_ok(reef_spawn_many(w, THREE, e, reef_with(Position, 1, 2)));
    for (uint32_t i = 0; i < 3; i++) {
        versions[i] = reef_version(w);
        reef_mut(w, e[i * 1024], Position)->x = 9;
    }
    versions[3] = reef_version(w);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t n = 0;
        for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.since = versions[i]}); reef_next(&b);) n += b.count;
        assert_int_equal(n, i < 3 ? THREE - i * 1024 : 0);
        assert_int_equal(rows_of(w, q), 0); /* that was a run */
    }
    no_block(w, reef_begin_loop(w, q, &(reef_loop){.since = reef_version(w) + 1000}), REEF_BAD_ARGUMENT,
             "reef_begin_loop");
}

/* The state doesn't show that a query ran. */
static void runs_are_not_hashed(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 100; i++) reef_spawn(w, reef_with(Position, (float)i, 2));
    uint64_t hash = reef_hash(w);
    reef_query q = MAKE(w, CHANGED_OF(Position));
    assert_int_equal(rows_of(w, q), 100);
    assert_true(reef_hash(w) == hash);
    assert_int_equal(rows_of(w, q), 0);
}

/* ---- OUT ---- */

static void out_takes_no_copy_of_shared_blocks(void **state)
{
    static reef_entity e[THREE];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, THREE, e, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    for (uint32_t i = 0; i < THREE; i += 2) assert_ok(reef_add(w, e[i], Awake));
    reef_query q[2];
    reef_world *fork = reef_fork(w);
    q[0] = MAKE(w, OUT_OF(Position), IN_OF(Mass));
    q[1] = MAKE(w, OUT_OF(Position), IN_OF(Mass), HAS_OF(Awake)); /* half of the rows: the others keep their values */
    for (int k = 1; k >= 0; k--) {
        for (reef_block b = reef_begin(w, q[k]); reef_next(&b);) {
            Position *p = reef_out(&b, Position);
            assert_non_null(p);
            for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
                for (uint32_t i = first; i < first + n; i++)
                    p[i] = (Position){(float)k + 10, (float)reef_in(&b, Mass)[i].kg};
        }
        for (uint32_t i = 0; i < THREE; i++) {
            if (k == 0 || i % 2 == 0) assert_position(w, e[i], (float)k + 10, 3);
            else assert_position(w, e[i], 1, 2);
            assert_position(fork, e[i], 1, 2);
        }
    }
    assert_valid(fork);
    reef_world_free(fork);
}

/* ---- many tables ---- */

#ifndef MANY_TAGS
#define MANY_TAGS 16
#endif

static void H2_65536_tables(void **state)
{
    enum { TAGS = MANY_TAGS, TABLES = 1 << TAGS };
    reef_world *w = another_world(state, &(reef_world_config){.allocator = {NULL, NULL}});
    reef_component tag[TAGS];
    reef_query all = MAKE(w, WITH_OF(Mass)), few = reef_query_new(w, "Mass, in Position");
    reef_value values[TAGS + 2];
    uint32_t rows = 0, blocks = 0;
    for (uint32_t i = 0; i < TAGS; i++) tag[i] = numbered_type("bit_of_many", i, 0, 1);
    for (uint32_t i = 0; i < TABLES; i++) {
        uint32_t n = 0;
        values[n++] = reef_with(Mass, i);
        for (uint32_t k = 0; k < TAGS; k++)
            if (i >> k & 1) values[n++] = reef_value_make(tag[k], REEF_VALUE_DEFAULT, 0, NULL);
        assert_some(reef_spawn_values(w, values, n));
        if (i % (TABLES / 4 + 1) != 7) continue;
        assert_int_equal(reef_query_count(w, all), i + 1 + rows);
        values[n++] = reef_with(Position, 1, 2);
        assert_some(reef_spawn_values(w, values, n));
        assert_int_equal(reef_query_count(w, few), ++rows);
    }
    assert_int_equal(reef_query_count(w, all), TABLES + rows);
    assert_int_equal(reef_query_count(w, few), 4);
    for (reef_block b = reef_begin(w, all); reef_next(&b); blocks++) assert_int_equal(b.count, 1);
    assert_int_equal(blocks, TABLES + 4);
    reef_query late = reef_query_new(w, "Mass, in Position");
    reef_query none = MAKE(w, WITH_OF(Mass), NONE_OF(2), HAS_OF(Position), ANY_OF(2), {.component = tag[0]},
                           {.component = tag[TAGS - 1]});
    assert_int_equal(reef_query_count(w, late), 4);
    assert_int_equal(reef_query_count(w, none), TABLES / 4);
    blocks = 0;
    for (reef_block b = reef_begin(w, few), c = reef_begin(w, late); reef_next(&b); blocks++) {
        assert_true(reef_next(&c));
        assert_entity(b.entities[0], c.entities[0]);
        if (blocks == 3) assert_false(reef_next(&c));
    }
    assert_int_equal(blocks, 4);
    end_world(state, w);
}

/* ---- parts on threads ---- */

#ifndef REEF_NO_THREADS
enum { PARTS = 4, PEOPLE = 20000 };

typedef struct part {
    reef_slices *split;
    uint32_t number;
    uint64_t rows, blocks;
} part;

static void *part_walk(void *context)
{
    part *p = context;
    for (reef_block b = reef_slice(p->split, p->number); reef_next(&b); p->blocks++) {
        Position *position = reef_inout(&b, Position);
        const Velocity *velocity = reef_in(&b, Velocity);
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++, p->rows++) {
                position[i].x += velocity ? velocity[i].x : 1;
                if (!reef_has(b.world, b.entities[i], Position)) p->rows += 1000000; /* a const world may be asked */
            }
    }
    return NULL;
}

static void walk_in_parts(reef_world *w, reef_query q, uint64_t wanted)
{
    part parts[PARTS];
    pthread_t thread[PARTS];
    uint64_t rows = 0;
    reef_slices *s = reef_slices_begin(w, q, NULL, PARTS);
    assert_non_null(s);
    for (uint32_t i = 0; i < PARTS; i++) {
        parts[i] = (part){s, i, 0, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, part_walk, &parts[i]), 0);
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        rows += parts[i].rows;
        assert_true(parts[i].blocks > 0);
    }
    reef_slices_end(s);
    assert_int_equal(rows, wanted);
}

static void parts_of_a_loop_on_threads(void **state)
{
    static reef_entity e[PEOPLE];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, PEOPLE, e, reef_with(Position, 0, 0), reef_with(Velocity, 2, 0), reef_with(Mass, 1)));
    for (uint32_t i = 0; i < PEOPLE; i += 3) assert_ok(reef_add(w, e[i], Awake));
    for (uint32_t i = 0; i < PEOPLE; i += 5) assert_ok(reef_remove(w, e[i], Velocity));
    reef_world *fork = reef_fork(w); /* so that begin must unshare */
    reef_query all = reef_query_new(w, "Position, in Velocity"),
               awake = reef_query_new(w, "Position, ?in Velocity, Awake");
    reef_query changed =
        MAKE(w, HAS_OF(Position), {.component = reef_id(Velocity), .access = REEF_IN, .since = REEF_IF_CHANGED});
    walk_in_parts(w, all, PEOPLE * 4 / 5);
    walk_in_parts(w, awake, (PEOPLE + 2) / 3);
    walk_in_parts(w, changed, PEOPLE * 4 / 5);
    for (uint32_t i = 0; i < PEOPLE; i++) {
        float x = (i % 5 ? 4.0f : 0.0f) + (i % 3 ? 0.0f : i % 5 ? 2.0f : 1.0f);
        assert_position(w, e[i], x, 0);
        assert_position(fork, e[i], 0, 0);
    }
    reef_world_free(fork);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(F1_E9_has_not_and_optional),
        TEST(groups_nest),
        TEST(terms_of_another_entity),
        TEST(enabled_disabled_or_both),
        TEST(first_single_and_pick),
        TEST(a_component_named_twice),
        TEST(the_most_terms),
        TEST(terms_out_of_range),
        TEST(freed_null_and_others_queries),
        TEST(loops_out_of_range),
        TEST(a_query_in_use_is_not_freed),
        TEST(undeclared_access_is_refused),
        TEST(blocks_that_changed_since_the_last_run),
        TEST(what_a_query_writes_is_not_new_to_itself),
        TEST(own_writes_beside_tracked_ones),
        TEST(loops_inside_a_loop_that_asks_for_changes),
        TEST(rows_that_come_and_go_change_their_blocks),
        TEST(switches_change_as_well),
        TEST(a_restore_brings_the_last_run_back),
        TEST(changes_since_a_version),
        TEST(runs_are_not_hashed),
        TEST(out_takes_no_copy_of_shared_blocks),
        TEST(H2_65536_tables),
#ifndef REEF_NO_THREADS
        TEST(parts_of_a_loop_on_threads),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
