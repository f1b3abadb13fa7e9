/* Signatures: sets of types as values, and those of entities. */
#include "support.h"

enum { KINDS = 12, CROWD = 60, STEPS = 20000 };

static reef_signature of_types(void **state, const reef_component *types, uint32_t count)
{
    reef_signature s = reef_signature_new(world_of(state));
    assert_ok(reef_signature_set(&s, types, count));
    return s;
}

static reef_component spread(uint32_t number) { return numbered_type("spread", number, 0, 1); }

/* ---- one set ---- */

static void an_empty_signature_is_like_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_signature none = {0}, s = reef_signature_new(w);
    uint64_t calls = heap_of(state)->calls;
    reef_component types[1];
    assert_int_equal(reef_signature_count(&s), 0);
    assert_int_equal(reef_signature_types(&s, types, 1), 0);
    assert_false(reef_signature_has(&s, reef_id(Position)));
    assert_false(reef_signature_has(&s, (reef_component){0}));
    assert_true(reef_signature_equal(&s, &none) && reef_signature_equal(NULL, &s));
    assert_true(reef_signature_is_subset(&s, &none) && reef_signature_is_subset(NULL, NULL));
    assert_false(reef_signature_intersects(&s, &none));
    assert_ok(reef_signature_union(&s, &none, &none));
    assert_ok(reef_signature_set(&s, NULL, 0));
    assert_int_equal(heap_of(state)->calls, calls); /* nothing was allocated */
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2)), bare = reef_create(w);
    assert_true(reef_has_all(w, e, &s) && reef_has_all(w, bare, &s) && reef_has_all(w, bare, NULL));
    assert_false(reef_has_any(w, e, &s) || reef_has_any(w, bare, &s) || reef_has_any(w, e, NULL));
    reef_signature_free(&s);
    reef_signature_free(NULL);
}

static void types_come_and_go(void **state)
{
    reef_signature s = reef_signature_new(world_of(state));
    assert_status(REEF_ADDED, reef_signature_add(&s, reef_id(Position)));
    assert_status(REEF_OK, reef_signature_add(&s, reef_id(Position)));
    assert_status(REEF_ADDED, reef_signature_add(&s, reef_id(Awake)));
    assert_status(REEF_ADDED, reef_signature_add(&s, reef_id(Frozen)));
    assert_int_equal(reef_signature_count(&s), 3);
    assert_true(reef_signature_has(&s, reef_id(Awake)) && !reef_signature_has(&s, reef_id(Mass)));
    assert_status(REEF_ABSENT, reef_signature_remove(&s, reef_id(Mass)));
    assert_ok(reef_signature_remove(&s, reef_id(Frozen)));
    assert_status(REEF_ABSENT, reef_signature_remove(&s, reef_id(Frozen)));
    assert_int_equal(reef_signature_count(&s), 2);
    reef_component types[2] = {{7}, {7}};
    assert_int_equal(reef_signature_types(&s, types, 1), 2); /* too little room: nothing is written */
    assert_int_equal(types[0].id, 7);
    assert_int_equal(reef_signature_types(&s, types, 2), 2);
    assert_string_equal(reef_type_name(types[0]), "Awake");
    assert_string_equal(reef_type_name(types[1]), "Position");
    assert_ok(reef_signature_remove(&s, reef_id(Position)));
    assert_ok(reef_signature_remove(&s, reef_id(Awake)));
    assert_true(reef_signature_equal(&s, NULL));
    assert_status(REEF_ADDED, reef_signature_add(&s, reef_id(Mass)));
    reef_signature_free(&s);
    assert_true(reef_signature_equal(&s, NULL));
    assert_status(REEF_ADDED, reef_signature_add(&s, reef_id(Mass))); /* it may be used on */
    reef_signature_free(&s);
}

static void mistakes_change_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_component two[] = {reef_id(Position), reef_id(Mass)};
    reef_component twice[] = {reef_id(Frozen), reef_id(Frozen)}, unknown[] = {reef_id(Frozen), {reef_type_count() + 1}};
    reef_signature s = of_types(state, two, 2), same = of_types(state, two, 2);
    reef_entity dead = reef_spawn(w, reef_with(Velocity, 1, 2));
    assert_ok(reef_destroy(w, dead));
    assert_status(REEF_UNKNOWN_TYPE, reef_signature_add(&s, (reef_component){0}));
    assert_status(REEF_UNKNOWN_TYPE, reef_signature_add(&s, unknown[1]));
    assert_status(REEF_UNKNOWN_TYPE, reef_signature_remove(&s, (reef_component){UINT32_MAX}));
    assert_status(REEF_UNKNOWN_TYPE, reef_signature_set(&s, unknown, 2));
    assert_status(REEF_DUPLICATE_TERM, reef_signature_set(&s, twice, 2));
    assert_status(REEF_BAD_ARGUMENT, reef_signature_set(&s, NULL, 1));
    assert_status(REEF_BAD_ARGUMENT, reef_signature_set(NULL, two, 2));
    assert_status(REEF_LIMIT, reef_signature_set(&s, two, REEF_TYPES_MAX + 1));
    assert_status(REEF_NOT_ALIVE, reef_signature_of(w, dead, &s));
    assert_status(REEF_NOT_ALIVE, reef_signature_of(w, (reef_entity){0}, &s));
    assert_status(REEF_NOT_ALIVE, reef_signature_of(w, (reef_entity){77, 1}, &s));
    assert_status(REEF_BAD_ARGUMENT, reef_signature_of(NULL, dead, &s));
    assert_status(REEF_BAD_ARGUMENT, reef_signature_of(w, dead, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_signature_add(NULL, two[0]));
    assert_status(REEF_BAD_ARGUMENT, reef_signature_remove(NULL, two[0]));
    assert_status(REEF_BAD_ARGUMENT, reef_signature_copy(&s, NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_signature_union(&s, NULL, &same));
    assert_status(REEF_BAD_ARGUMENT, reef_signature_difference(NULL, &s, &same));
    assert_true(reef_signature_equal(&s, &same));
    assert_false(reef_signature_has(&s, (reef_component){UINT32_MAX}));
    assert_false(reef_has_all(w, dead, &s) || reef_has_any(w, dead, &s) || reef_has_all(NULL, dead, &s));
    assert_false(reef_has_all(w, (reef_entity){0}, NULL));
    reef_signature_free(&s);
    reef_signature_free(&same);
}

static void a_signature_may_outlive_its_world(void **state)
{
    reef_world *w = another_world(state, NULL);
    reef_signature s = reef_signature_new(w);
    assert_ok(reef_signature_of(w, reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Awake)), &s));
    end_world(state, w);
    assert_int_equal(reef_signature_count(&s), 2);
    assert_status(REEF_ADDED, reef_signature_add(&s, reef_id(Frozen)));
    reef_signature_free(&s);
}

/* ---- two sets, against arrays of bool ---- */

enum { UNIVERSE = 400 };

static void random_set(uint64_t *seed, reef_signature *s, bool *has)
{
    reef_component types[UNIVERSE];
    uint32_t n = 0, part = 1 + random_below(seed, 5);
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        has[i] = random_below(seed, 10) < part && random_below(seed, 3) != 0;
        if (i / 64 == part) has[i] = false; /* a word without types */
        if (has[i]) types[n++] = spread(i);
    }
    for (uint32_t i = n; i > 1; i--) { /* in any order */
        uint32_t k = random_below(seed, i);
        reef_component x = types[k];
        types[k] = types[i - 1];
        types[i - 1] = x;
    }
    assert_ok(reef_signature_set(s, types, n));
    assert_int_equal(reef_signature_count(s), n);
}

static void assert_set(const reef_signature *s, const bool *has)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        assert_int_equal(reef_signature_has(s, spread(i)), has[i]);
        n += has[i];
    }
    assert_int_equal(reef_signature_count(s), n);
}

static void combine(const bool *a, const bool *b, int operation, bool *out)
{
    for (uint32_t i = 0; i < UNIVERSE; i++)
        out[i] = operation == 0 ? a[i] || b[i] : operation == 1 ? a[i] && b[i] : a[i] && !b[i];
}

static void two_signatures_agree_with_sets(void **state)
{
    static reef_status (*const calls[])(reef_signature *, const reef_signature *, const reef_signature *) = {
        reef_signature_union, reef_signature_intersection, reef_signature_difference};
    uint64_t seed = 5;
    uint32_t subsets = 0, meetings = 0;
    for (uint32_t i = 0; i < UNIVERSE; i++) (void)spread(i);
    for (int round = 0; round < 40; round++) {
        bool a[UNIVERSE], b[UNIVERSE], want[UNIVERSE];
        reef_signature s = reef_signature_new(world_of(state)), r = s, to = s;
        random_set(&seed, &s, a);
        random_set(&seed, &r, b);
        if (round % 2) { /* one is a part of the other */
            assert_ok(reef_signature_intersection(&s, &s, &r));
            combine(a, b, 1, a);
        }
        bool subset = true, meet = false;
        for (uint32_t i = 0; i < UNIVERSE; i++) subset = subset && (!a[i] || b[i]), meet = meet || (a[i] && b[i]);
        assert_int_equal(reef_signature_is_subset(&s, &r), subset);
        assert_int_equal(reef_signature_intersects(&s, &r), meet);
        assert_int_equal(reef_signature_equal(&s, &r), memcmp(a, b, sizeof a) == 0);
        assert_true(reef_signature_is_subset(&s, &s) && reef_signature_equal(&s, &s));
        subsets += subset, meetings += meet;
        for (int i = 0; i < 3; i++) {
            combine(a, b, i, want);
            assert_ok(calls[i](&to, &s, &r));
            assert_set(&to, want);
            reef_signature left = reef_signature_new(world_of(state)), right = left;
            assert_ok(reef_signature_copy(&left, &s));
            assert_ok(reef_signature_copy(&right, &r));
            assert_ok(calls[i](&left, &left, &r));
            assert_ok(calls[i](&right, &s, &right));
            assert_true(reef_signature_equal(&left, &to) && reef_signature_equal(&right, &to));
            reef_signature_free(&left);
            reef_signature_free(&right);
        }
        reef_signature_free(&s);
        reef_signature_free(&r);
        reef_signature_free(&to);
    }
    assert_true(subsets >= 20 && subsets < 40 && meetings > 10);
}

/* ---- entities ---- */

static reef_component kind_of_number(uint32_t i)
{
    const reef_component named[] = {reef_id(Position), reef_id(Mass),  reef_id(Tracked), reef_id(Frozen),
                                    reef_id(Hungry),   reef_id(Awake), reef_id(Seen)};
    return i < 7 ? named[i] : spread(i * 67); /* words apart */
}

static void check_entity(const reef_world *w, reef_entity e, reef_signature *s, uint64_t *seed)
{
    if (!reef_is_alive(w, e)) {
        assert_status(REEF_NOT_ALIVE, reef_signature_of(w, e, s));
        return;
    }
    uint32_t n = 0, all = 0, any = 0;
    assert_ok(reef_signature_of(w, e, s));
    for (uint32_t i = 0; i < KINDS; i++) {
        bool has = reef_has_id(w, e, kind_of_number(i));
        assert_int_equal(reef_signature_has(s, kind_of_number(i)), has);
        n += has;
    }
    assert_int_equal(reef_signature_count(s), n);
    assert_true(reef_has_all(w, e, s));
    assert_int_equal(reef_has_any(w, e, s), n > 0);
    reef_signature some = reef_signature_new(w);
    for (uint32_t i = 0; i < KINDS; i++) {
        if (random_below(seed, 4)) continue;
        assert_status(REEF_ADDED, reef_signature_add(&some, kind_of_number(i)));
        all += !reef_has_id(w, e, kind_of_number(i));
        any += reef_has_id(w, e, kind_of_number(i));
    }
    assert_int_equal(reef_has_all(w, e, &some), all == 0);
    assert_int_equal(reef_has_any(w, e, &some), any > 0);
    assert_int_equal(reef_has_all(w, e, &some), reef_signature_is_subset(&some, s));
    assert_int_equal(reef_has_any(w, e, &some), reef_signature_intersects(&some, s));
    reef_signature_free(&some);
}

static void one_step(reef_world *w, reef_entity *e, uint64_t *seed)
{
    uint32_t what = random_below(seed, 100);
    reef_component c = kind_of_number(random_below(seed, KINDS));
    if (!reef_is_alive(w, *e)) *e = reef_create(w); /* old indices come back */
    else if (what < 50) (void)(reef_has_id(w, *e, c) ? REEF_OK : reef_add_id(w, *e, c, NULL, NULL));
    else if (what < 85) (void)(reef_has_id(w, *e, c) ? reef_remove_id(w, *e, c) : REEF_OK);
    else if (what < 95) assert_ok(reef_destroy(w, *e));
    else if (what < 97) assert_ok(reef_remove_all(w, *e));
    else if (what == 97) assert_ok(remove_everywhere(w, c, NULL));
    else if (what == 98 && random_below(seed, 4) == 0) assert_ok(reef_world_clear(w));
}

static void signatures_of_entities_stay_right(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[CROWD] = {{0, 0}};
    uint64_t seed = 11;
    reef_signature s = reef_signature_new(w);
    reef_world *fork = NULL;
    for (uint32_t i = 0; i < UNIVERSE * 3; i++) (void)spread(i);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t at = random_below(&seed, CROWD);
        reef_entity was = e[at];
        one_step(w, &e[at], &seed);
        check_entity(w, e[at], &s, &seed);
        check_entity(w, was, &s, &seed); /* perhaps a handle of a dead one whose index lives on */
        check_entity(w, e[random_below(&seed, CROWD)], &s, &seed);
        if (step % 2000 == 0) {
            reef_world_free(fork);
            assert_non_null(fork = reef_fork(w));
        }
        if (step % 500 == 0) {
            assert_valid(w);
            for (uint32_t i = 0; i < CROWD; i++) check_entity(fork, e[i], &s, &seed);
        }
    }
    reef_world_free(fork);
    reef_signature_free(&s);
}

/* ---- no memory ---- */

static void C3_G5_without_memory_a_signature_stays(void **state)
{
    reef_world *w = world_of(state);
    reef_component many[90];
    for (uint32_t i = 0; i < 90; i++) many[i] = spread(i * 13);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_tag(Awake));
    for (uint32_t i = 0; i < 90; i++) assert_ok(reef_add_id(w, e, many[i], NULL, NULL));
    reef_signature big = of_types(state, many, 90), was = of_types(state, (reef_component[]){reef_id(Mass)}, 1);
    for (int call = 0; call < 6; call++) {
        for (int rest = 0; rest < 2; rest++) {
            for (uint64_t n = 1;; n++) {
                reef_signature s = of_types(state, (reef_component[]){reef_id(Mass)}, 1);
                reef_status got = REEF_CORRUPT;
                heap_fail_nth(heap_of(state), n, rest == 1);
                if (call == 0) got = reef_signature_set(&s, many, 90);
                if (call == 1) got = reef_signature_copy(&s, &big);
                if (call == 2) got = reef_signature_of(w, e, &s);
                if (call == 3) got = reef_signature_union(&s, &s, &big);
                if (call == 4) got = reef_signature_difference(&s, &big, &s);
                if (call == 5)
                    for (uint32_t i = 0; i < 90 && (i == 0 || got >= 0); i++) got = reef_signature_add(&s, many[i]);
                bool failed = heap_of(state)->refused != 0;
                heap_fail_never(heap_of(state));
                heap_of(state)->refused = 0;
                assert_int_equal(failed, got == REEF_NO_MEMORY);
                if (failed && call != 5) assert_true(reef_signature_equal(&s, &was));
                if (!failed) assert_true(got >= REEF_OK && reef_signature_count(&s) >= 90);
                reef_signature_free(&s);
                if (failed) continue;
                assert_true(n > 1);
                break;
            }
        }
    }
    reef_signature_free(&big);
    reef_signature_free(&was);
}

/* ---- 65,536 types: last, since they stay until the process ends ---- */

static void C3_H7_all_types_that_there_can_be(void **state)
{
    reef_world *w = world_of(state);
    uint32_t first = reef_type_count() + 1;
    for (uint32_t i = 0; reef_type_count() < REEF_TYPES_MAX; i++) assert_true(numbered_type("edge", i, 0, 1).id != 0);
    reef_component last = {REEF_TYPES_MAX}, past = {REEF_TYPES_MAX + 1};
    reef_component *all = malloc(REEF_TYPES_MAX * sizeof *all);
    reef_signature s = reef_signature_new(w), other = s;
    assert_non_null(all);
    for (uint32_t i = 0; i < REEF_TYPES_MAX; i++) all[i].id = REEF_TYPES_MAX - i;
    assert_ok(reef_signature_set(&s, all, REEF_TYPES_MAX));
    assert_int_equal(reef_signature_count(&s), REEF_TYPES_MAX);
    assert_true(reef_signature_has(&s, last) && !reef_signature_has(&s, past));
    assert_status(REEF_UNKNOWN_TYPE, reef_signature_add(&s, past));
    assert_int_equal(reef_signature_types(&s, all, REEF_TYPES_MAX), REEF_TYPES_MAX);
    for (uint32_t i = 1; i < REEF_TYPES_MAX; i++)
        assert_true(strcmp(reef_type_name(all[i - 1]), reef_type_name(all[i])) < 0);
    assert_ok(reef_signature_copy(&other, &s));
    assert_ok(reef_signature_remove(&other, last));
    assert_true(reef_signature_is_subset(&other, &s) && !reef_signature_is_subset(&s, &other));
    reef_entity e = reef_create(w);
    assert_ok(reef_add_id(w, e, last, NULL, NULL));
    assert_ok(reef_add_id(w, e, (reef_component){first}, NULL, NULL));
    assert_true(reef_has_any(w, e, &s) && !reef_has_all(w, e, &s));
    assert_ok(reef_signature_of(w, e, &other));
    assert_int_equal(reef_signature_count(&other), 2);
    assert_true(reef_signature_has(&other, last) && reef_has_all(w, e, &other));
    reef_signature_free(&s);
    reef_signature_free(&other);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_signature_is_like_nothing),
        TEST(types_come_and_go),
        TEST(mistakes_change_nothing),
        TEST(a_signature_may_outlive_its_world),
        TEST(two_signatures_agree_with_sets),
        TEST(signatures_of_entities_stay_right),
        TEST(C3_G5_without_memory_a_signature_stays),
        TEST(C3_H7_all_types_that_there_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
