/* Systems that ask places: what they see, on any number of threads, which are refused, and where there is no memory. */
#include "support.h"

typedef struct Spot {
    float x, y;
} Spot;
typedef struct Ball {
    float r;
} Ball;
REEF_COMPONENT(Spot);
REEF_COMPONENT(Ball);
REEF_FIELDS(Spot, x, y);
REEF_FIELDS(Ball, r);
REEF_PLACE(Spot, x, y, .cell = 2, .radius = "Ball.r");

static reef_entity spot(reef_world *w, float x, float y) { return reef_spawn(w, reef_with(Spot, x, y)); }

static reef_query asked_by_system;
static uint32_t found_by_system;
static void ask_with_values(reef_block *b)
{
    reef_near to[4];
    const reef_place_ask ask = {.at = {1, 1}, .radius = 1, .only = asked_by_system};
    found_by_system = reef_place_within(reef_placed(b, Spot), &ask, to, 4);
}

/* Systems may write what a condition compares, so only questions outside of them have conditions. */
static void systems_ask_without_conditions(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity e = reef_spawn(w, reef_with(Spot, 1, 1), reef_with(Ball, 1));
    assert_ok(reef_add(w, e, Frozen));
    assert_false(reef_system_is_null(reef_system(w, ask_with_values, "Spot; reads Spot as placed")));
    asked_by_system = reef_query_new(w, "with Frozen");
    assert_ok(reef_tick(w, 1));
    assert_int_equal(found_by_system, 1);
    asked_by_system = reef_query_new(w, "with Ball(r < 2)");
    assert_ok(reef_tick(w, 1));
    assert_int_equal(found_by_system, 0);
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
}

/* A fork calls its systems with the context of its origin, and has the queries that the origin had. */
static void a_fork_asks_with_the_query_of_its_origin(void **state)
{
    reef_world *w = world_of(state);
    spot(w, 1, 1);
    assert_false(reef_system_is_null(reef_system(w, ask_with_values, "Spot; reads Spot as placed")));
    asked_by_system = reef_query_new(w, "in Spot");
    assert_ok(reef_tick(w, 1));
    assert_int_equal(found_by_system, 1);
    assert_status(REEF_OK, reef_last_error(w).status);
    reef_world *fork = reef_fork(w);
    found_by_system = 0;
    assert_ok(reef_tick(fork, 1));
    assert_int_equal(found_by_system, 1);
    assert_status(REEF_OK, reef_last_error(fork).status);
    asked_by_system = reef_query_new(w, "in Spot"); /* one that came later */
    assert_ok(reef_tick(fork, 1));
    assert_int_equal(found_by_system, 0);
    assert_status(REEF_OTHER_WORLD, reef_last_error(fork).status);
    assert_string_equal(reef_last_error(fork).operation, "reef_place_ask.only");
    reef_world_free(fork);
}

/* Each goes to the middle of its neighbours, as they were before anybody moved. */
static void gather(reef_block *b)
{
    const reef_place *p = reef_placed(b, Spot);
    Spot *at = reef_inout(b, Spot);
    reef_near near[64];
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t n = reef_place_within(
            p, &(reef_place_ask){.at = {(double)at[i].x, (double)at[i].y}, .radius = 3, .except = b->entities[i]}, near,
            64);
        float x = 0, y = 0;
        for (uint32_t k = 0; k < n && k < 64; k++) x += near[k].offset[0], y += near[k].offset[1];
        if (n) at[i].x += x / (float)n * 0.3f, at[i].y += y / (float)n * 0.3f;
    }
}
static void drift(reef_block *b)
{
    Spot *at = reef_inout(b, Spot);
    for (uint32_t i = 0; i < b->count; i++) at[i].x += 0.01f * (float)(b->entities[i].index % 7);
}

static uint64_t flock_hash(void **state, uint32_t threads, uint64_t shuffle)
{
    reef_world *w = another_world(state, NULL);
    reef_pool *pool = threads > 1 ? reef_pool_new(&(reef_pool_config){.threads = threads, .shuffle = shuffle}) : NULL;
    uint64_t seed = 5;
    reef_set_pool(w, pool);
    for (uint32_t i = 0; i < 6000; i++)
        spot(w, (float)random_below(&seed, 5000) / 50, (float)random_below(&seed, 5000) / 50);
    const reef_system_id first = reef_system(w, gather, "Spot; reads Spot as placed");
    assert_false(reef_system_is_null(first));
    assert_false(reef_system_is_null(reef_system(w, drift, "Spot")));
    assert_false(reef_system_is_null(reef_system_add(w, "again", gather, "Spot; reads Spot as placed")));
    char text[4096];
    reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    if (strstr(text, "Spot as placed, writes Spot") == NULL) fail_msg("%s", text);
    assert_null(strstr(text, "not split"));
    for (uint32_t i = 0; i < 5; i++) assert_ok(reef_tick(w, 1));
    reef_world *fork = reef_fork(w);
    for (uint32_t i = 0; i < 3; i++) assert_ok(reef_tick(fork, 1));
    const uint64_t hash = reef_hash(fork);
    for (uint32_t i = 0; i < 3; i++) assert_ok(reef_tick(w, 1));
    assert_true(reef_hash(w) == hash);
    reef_world_free(fork);
    reef_set_pool(w, NULL);
    reef_pool_free(pool);
    end_world(state, w);
    return hash;
}

static void systems_ask_what_was_before(void **state)
{
    const uint64_t hash = flock_hash(state, 1, 0);
    assert_true(flock_hash(state, 2, 0) == hash);
    assert_true(flock_hash(state, 4, 77) == hash);
}

static bool asked;
static void asks_undeclared(reef_block *b)
{
    asked = reef_placed(b, Spot) != NULL;
    (void)reef_in(b, Spot);
}

static void systems_that_are_refused(void **state)
{
    reef_world *w = world_of(state);
    spot(w, 1, 1);
    assert_true(reef_system_is_null(reef_system(w, gather, "Position; reads Position as placed")));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    assert_true(reef_system_is_null(reef_system(w, gather, "Spot; writes Spot as placed")));
    assert_int_equal(reef_last_error(w).status, REEF_UNKNOWN_TYPE);
    assert_false(reef_system_is_null(reef_system(w, asks_undeclared, "in Spot; reads Spot")));
    assert_ok(reef_tick(w, 1));
    assert_false(asked);
    assert_int_equal(reef_last_error(w).status, REEF_UNDECLARED);
    assert_null(reef_placed_id(NULL, reef_id(Spot)));
    for (reef_block b = reef_begin_text(w, "in Spot"); reef_next(&b);) {
        assert_null(reef_placed(&b, Spot));
        assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    }
}

/* No memory for a picture: the system doesn't run, and runs when there is memory again. */
static void no_memory_for_a_picture(void **state)
{
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    reef_near to[4];
    for (uint32_t i = 0; i < 300; i++) spot(w, (float)i, 0);
    for (uint64_t n = 1;; n++) {
        heap_fail_nth(h, n, false);
        const reef_place *p = reef_place_of(w, Spot);
        const bool failed = h->refused != 0;
        heap_fail_never(h);
        assert_true((p == NULL) == failed);
        if (!failed) break;
        assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
    }
    assert_int_equal(reef_place_within(reef_place_of(w, Spot), &(reef_place_ask){.radius = 3}, to, 4), 4);
    assert_false(reef_system_is_null(reef_system(w, gather, "Spot; reads Spot as placed")));
    reef_world *other = reef_fork(w);
    uint32_t refused = 0;
    for (uint64_t n = 1;; n++) {
        reef_world *fork = reef_fork(w);
        heap_fail_nth(h, n, true);
        const reef_status s = reef_tick(fork, 1);
        const bool failed = h->refused != 0;
        heap_fail_never(h);
        if (s != REEF_OK) { /* (the checked build does without a copy for which there is no memory) */
            assert_int_equal(s, REEF_NO_MEMORY);
            assert_true(failed);
            refused++;
            assert_ok(reef_tick(fork, 1));
        }
        reef_world_free(fork);
        if (!failed) break;
    }
    assert_true(refused > 3);
    reef_world_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(systems_ask_without_conditions), TEST(a_fork_asks_with_the_query_of_its_origin),
        TEST(systems_ask_what_was_before),    TEST(systems_that_are_refused),
        TEST(no_memory_for_a_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
