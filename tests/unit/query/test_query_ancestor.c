/* Terms about ancestors (F4, F5) where the ways up are long: the answers are kept for a loop, and have to be those of a
 * walk. */
#include "support.h"

typedef struct {
    int number;
} Team;
REEF_COMPONENT(Team);
REEF_TAG(Gun);
REEF_SWITCH(Hidden);

enum { ROPE = 3000, CHAIN = 100000 };

static uint32_t chance(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* Ropes that hang together: each entity is a child of one of the last few before it. */
static void ropes_make(reef_world *w, reef_entity *e, uint64_t *seed)
{
    for (uint32_t i = 0; i < ROPE; i++) {
        e[i] = reef_create(w);
        if (chance(seed, 100) == 0) assert_status(REEF_ADDED, reef_set(w, e[i], Team, (int)i));
        if (chance(seed, 3)) assert_ok(reef_add(w, e[i], Gun));
        if (i && chance(seed, 500))
            assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[i - 1 - chance(seed, i < 9 ? 1 : 9)]));
    }
}

static bool has_team(const reef_world *w, reef_entity e) { return reef_is_enabled(w, e, Team); }

static reef_entity nearest(const reef_world *w, reef_entity e, bool self)
{
    if (!self) e = reef_parent(w, e);
    while (!reef_entity_is_null(e) && !has_team(w, e)) e = reef_parent(w, e);
    return e;
}

static bool is_kept(reef_world *w, reef_query q)
{
    char text[2000];
    assert_true(reef_query_explain(w, q, text, sizeof text) < sizeof text);
    return strstr(text, "each entity's answer is kept") != NULL;
}

static void block_compare(reef_block *b, bool self, uint32_t *rows)
{
    const Team *team[REEF_BLOCK_ROWS];
    assert_non_null(reef_reach(b, Team, 0, team));
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++, ++*rows)
            assert_ptr_equal(team[i], reef_get(b->world, nearest(b->world, b->entities[i], self), Team));
}

static void ropes_compare(reef_world *w, const reef_query *q, const reef_entity *e)
{
    for (uint32_t self = 0; self < 2; self++) {
        uint32_t there = 0, rows = 0;
        for (uint32_t i = 0; i < ROPE; i++) {
            const bool above = reef_has(w, e[i], Gun) && !reef_entity_is_null(nearest(w, e[i], self));
            there += above;
            assert_int_equal(reef_query_matches(w, q[self], e[i]), above);
        }
        for (reef_block b = reef_begin(w, q[self]); reef_next(&b);) {
            block_compare(&b, self, &rows);
            assert_true(reef_query_matches(w, q[1 - self], e[ROPE - 1]) || !reef_has(w, e[ROPE - 1], Gun) ||
                        reef_entity_is_null(nearest(w, e[ROPE - 1], !self)));
        }
        assert_int_equal(rows, there);
        assert_int_equal(reef_query_count(w, q[self]), there);
        assert_int_equal(reef_query_count(w, q[2 + self]), reef_count(w, Gun) - there);
        assert_true(is_kept(w, q[self]));
    }
}

static void answers_of_long_ways_are_those_of_a_walk(void **state)
{
    static reef_entity e[ROPE];
    reef_world *w = world_of(state);
    uint64_t seed = 7;
    ropes_make(w, e, &seed);
    const reef_query q[] = {reef_query_new(w, "Gun, Team up(ChildOf)"), reef_query_new(w, "Gun, Team self up(ChildOf)"),
                            reef_query_new(w, "Gun, !Team up(ChildOf)"),
                            reef_query_new(w, "Gun, !Team self up(ChildOf)")};
    ropes_compare(w, q, e);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 20; i++) { /* a cycle is refused */
            const reef_entity x = e[chance(&seed, ROPE)];
            if (chance(&seed, 2)) reef_unrelate(w, x, ChildOf, reef_parent(w, x));
            else reef_relate(w, x, ChildOf, e[chance(&seed, ROPE)]);
            if (has_team(w, x)) chance(&seed, 2) ? reef_disable(w, x, Team) : reef_remove(w, x, Team);
        }
        assert_true(reef_set(w, e[chance(&seed, ROPE)], Team, round) >= 0);
        for (int i = 0; i < 3; i++) reef_spawn(w, reef_tag(Gun)); /* more entities than there was room for */
        for (uint32_t i = 1; i < ROPE; i++)                       /* what hangs nowhere hangs on the rope again */
            if (reef_entity_is_null(reef_parent(w, e[i]))) reef_relate(w, e[i], ChildOf, e[i - 1]);
        uint32_t guns = 0;
        for (reef_block b = reef_begin(w, q[2]); reef_next(&b);)
            for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
                for (uint32_t i = first; i < first + n; i++, guns++)
                    assert_true(reef_entity_is_null(nearest(w, b.entities[i], false)));
        assert_int_equal(guns, reef_query_count(w, q[2]));
        for (uint32_t self = 0, rows = 0; self < 2; self++)
            for (reef_block b = reef_begin(w, q[self]); reef_next(&b);) block_compare(&b, self, &rows);
    }
    assert_valid(w);
}

/* Jobs of a system read the answers that were found before they began. */
static void guns_compare(reef_block *b)
{
    uint32_t rows = 0;
    block_compare(b, false, &rows);
}

static void systems_on_threads_read_the_answers(void **state)
{
    static reef_entity e[ROPE];
    reef_world *w = world_of(state);
    reef_pool *pool = reef_pool_new(&(reef_pool_config){.threads = 4});
    uint64_t seed = 9;
    ropes_make(w, e, &seed);
    assert_non_null(pool);
    assert_ok(reef_set_pool(w, pool));
    assert_false(reef_system_is_null(reef_system(w, guns_compare, "Gun, Team up(ChildOf); reads Team ChildOf")));
    for (int i = 0; i < 3; i++) {
        assert_ok(reef_tick(w, 1));
        assert_true(reef_last_error(w).status >= 0);
        assert_true(reef_set(w, e[chance(&seed, ROPE)], Team, i) >= 0);
    }
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(pool);
}

/* In time that grows with the length of a chain, not with its square: that would be a minute. */
static void a_chain_is_hidden_in_linear_time(void **state)
{
    reef_world *w = world_of(state);
    reef_entity first = reef_spawn(w, reef_tag(Gun)), last = first;
    for (int i = 1; i < CHAIN; i++) {
        const reef_entity next = reef_spawn(w, reef_tag(Gun), reef_with(ChildOf, .target = last));
        last = next;
    }
    const reef_query shown = reef_query_new(w, "Gun, !Hidden self up(ChildOf)"),
                     hidden = reef_query_new(w, "Gun, Hidden self up(ChildOf)");
    assert_int_equal(reef_query_count(w, shown), CHAIN);
    assert_true(is_kept(w, shown));
    assert_ok(reef_add(w, first, Hidden));
    assert_int_equal(reef_query_count(w, shown), 0);
    assert_int_equal(reef_query_count(w, hidden), CHAIN);
    assert_ok(reef_remove(w, first, Hidden));
    assert_ok(reef_add(w, last, Hidden));
    assert_int_equal(reef_query_count(w, shown), CHAIN - 1);
    assert_int_equal(reef_query_count(w, hidden), 1);
    assert_ok(reef_destroy(w, first));
    assert_int_equal(reef_query_count(w, shown), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_of_long_ways_are_those_of_a_walk),
        TEST(systems_on_threads_read_the_answers),
        TEST(a_chain_is_hidden_in_linear_time),
    };
    return cmocka_run_group_tests_name("query ancestor", tests, NULL, NULL);
}
