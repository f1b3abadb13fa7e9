/* Relations that are disabled: no query follows them, by whatever term or order, and the calls about single entities
 * do. (test_query_graph.c and the model compare random ones with a naive evaluator.) */
#include "support.h"

typedef struct {
    int number;
} Team;
REEF_COMPONENT(Team);
REEF_TAG(Mars);
REEF_TAG(Part_of_it);
REEF_RELATION(Part, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_TRANSITIVE);
REEF_RELATION(Likes, REEF_TRANSITIVE);
REEF_RELATION(Near, REEF_TRANSITIVE | REEF_REFLEXIVE);
REEF_RELATION(Same, REEF_EXCLUSIVE | REEF_REFLEXIVE);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);

enum { CHAIN = 5, ROPE = 3000 };

/* Each entity is related to the one before it: 0 ◄ 1 ◄ 2 ◄ 3 ◄ 4. The first is named mars. */
typedef struct chain {
    reef_world *w;
    reef_entity e[CHAIN];
} chain;

static void chain_make(chain *c, reef_world *w)
{
    c->w = w;
    for (uint32_t i = 0; i < CHAIN; i++) {
        c->e[i] = reef_spawn(w, reef_tag(Part_of_it));
        if (i == 0) continue;
        assert_status(REEF_ADDED, reef_relate(w, c->e[i], ChildOf, c->e[i - 1]));
        assert_status(REEF_ADDED, reef_relate(w, c->e[i], Part, c->e[i - 1]));
        assert_status(REEF_ADDED, reef_relate(w, c->e[i], Likes, c->e[i - 1]));
        assert_status(REEF_ADDED, reef_relate(w, c->e[i], Near, c->e[i - 1]));
        assert_status(REEF_ADDED, reef_relate(w, c->e[i], Same, c->e[i - 1]));
        assert_status(REEF_ADDED, reef_relate(w, c->e[i], DockedTo, c->e[i - 1]));
    }
    assert_ok(reef_add(w, c->e[0], Mars));
    assert_status(REEF_ADDED, reef_set(w, c->e[0], Team, 7));
    assert_ok(reef_set_name(w, c->e[0], "mars"));
}

static void relations_enable(const chain *c, uint32_t i, bool on)
{
    const reef_component all[] = {reef_id(ChildOf), reef_id(Part), reef_id(Likes),
                                  reef_id(Near),    reef_id(Same), reef_id(DockedTo)};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) assert_ok(reef_enable_id(c->w, c->e[i], all[k], on));
}

/* The entities of the chain that a query matches, as digits; by loops and by questions. */
static const char *asked(const chain *c, const char *text)
{
    static char found[CHAIN + 1];
    uint32_t n = 0, rows = 0;
    const reef_query q = reef_query_new(c->w, text);
    if (reef_query_is_null(q)) fail_msg("%s: %s", text, reef_last_error(c->w).detail);
    for (uint32_t i = 0; i < CHAIN; i++)
        if (reef_query_matches(c->w, q, c->e[i])) found[n++] = (char)('0' + i);
    found[n] = 0;
    reef_entity last = {0, 0};
    reef_each(c->w, q, row)
    {
        if (reef_entity_equal(row.entity, last)) continue; /* one more binding */
        last = row.entity;
        bool there = false;
        for (uint32_t i = 0; i < n; i++) there |= reef_entity_equal(c->e[found[i] - '0'], row.entity);
        assert_true(there);
        rows++;
    }
    assert_int_equal(rows, n);
    assert_int_equal(reef_query_count(c->w, q), n);
    assert_ok(reef_query_free(c->w, q));
    return found;
}

static void a_disabled_relation_ends_every_way(void **state)
{
    static const struct {
        const char *text, *all, *cut; /* what matches before and after the relations of 2 are disabled */
    } questions[] = {
        {"Part(mars)", "1234", "1"},
        {"Likes(mars)", "1234", "1"},
        {"Part($x), Mars($x)", "1234", "1"},
        {"Likes($x), Mars($x)", "1234", "1"},
        {"Part($x), Part($x, mars)", "234", ""},
        {"Likes($x), Likes($x, mars)", "234", ""},
        {"Part_of_it, Part($x, $this), Likes($x, mars)", "0123", "0"},
        {"Part_of_it, !Part(mars)", "0", "0234"},
        {"DockedTo($x), !Part($x, mars)", "1", "134"},
        {"Near(mars)", "01234", "01"},
        {"Near($x), Mars($x)", "01234", "01"},
        {"Same(mars)", "01", "01"},
        {"with Mars up(ChildOf)", "1234", "1"},
        {"with Mars up(ChildOf, 2)", "12", "1"},
        {"with Mars self up(Part)", "01234", "01"},
        {"Part_of_it, !Mars self up(Part)", "", "234"},
        {"ChildOf(*)", "1234", "134"},
        {"ChildOf($x)", "1234", "134"},
        {"DockedTo($x), DockedTo($x, $y)", "234", "4"},
        {"*(mars)", "1", "1"},
        /* The word of a term is about the relation of the entity itself; other relations on a way are followed only if
         * they are enabled. */
        {"disabled Part(mars)", "", "2"},
        {"either Part(mars)", "1234", "12"},
        {"disabled Likes($x), Mars($x)", "", "2"},
        {"either Likes($x), Mars($x)", "1234", "12"},
        {"disabled Near(mars)", "", "2"},
        {"either Near($x), Mars($x)", "01234", "012"},
        {"Mars, disabled Part($x, $this)", "", "0"},
    };
    chain c;
    chain_make(&c, world_of(state));
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (strcmp(asked(&c, questions[i].text), questions[i].all) != 0)
            fail_msg("%s: %s before", questions[i].text, asked(&c, questions[i].text));
        relations_enable(&c, 2, false);
        if (strcmp(asked(&c, questions[i].text), questions[i].cut) != 0)
            fail_msg("%s: %s instead of %s", questions[i].text, asked(&c, questions[i].text), questions[i].cut);
        relations_enable(&c, 2, true);
    }
}

static void a_reflexive_term_holds_for_the_target_whatever_is_disabled(void **state)
{
    chain c;
    chain_make(&c, world_of(state));
    assert_status(REEF_ADDED, reef_relate(c.w, c.e[0], Near, c.e[4])); /* round in a circle */
    assert_string_equal(asked(&c, "Near(mars)"), "01234");
    assert_ok(reef_disable(c.w, c.e[0], Near));
    assert_string_equal(asked(&c, "Near(mars)"), "01234");
    assert_string_equal(asked(&c, "Near($x), Mars($x)"), "01234");
    assert_string_equal(asked(&c, "in Near(mars)"), "1234"); /* the data of a relation: there is none to itself */
    assert_string_equal(asked(&c, "disabled Near(mars)"), "0");
    assert_string_equal(asked(&c, "Part_of_it, !Near(mars)"), "");
    assert_ok(reef_enable(c.w, c.e[0], Near));
    assert_string_equal(asked(&c, "in Near(mars)"), "01234");
}

static void values_of_ancestors_come_over_enabled_relations(void **state)
{
    chain c;
    chain_make(&c, world_of(state));
    const reef_query q = reef_query_new(c.w, "Part_of_it, ?Team up(ChildOf)");
    for (uint32_t cut = 0; cut < CHAIN; cut++) {
        if (cut) relations_enable(&c, cut, false);
        for (reef_block b = reef_begin(c.w, q); reef_next(&b);) {
            const Team *team[REEF_BLOCK_ROWS];
            assert_non_null(reef_reach(&b, Team, 0, team));
            for (uint32_t i = 0; i < b.count; i++) {
                uint32_t k = 0;
                while (!reef_entity_equal(c.e[k], b.entities[i])) k++;
                assert_int_equal(team[i] != NULL, k > 0 && (cut == 0 || k < cut));
            }
        }
        if (cut) relations_enable(&c, cut, true);
    }
}

static void the_answers_of_long_ways_end_at_disabled_relations(void **state)
{
    static reef_entity e[ROPE];
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < ROPE; i++) {
        e[i] = reef_spawn(w, reef_tag(Part_of_it));
        if (i) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[i - 1]));
    }
    assert_ok(reef_add(w, e[0], Mars));
    const reef_query q = reef_query_new(w, "with Mars up(ChildOf)");
    assert_int_equal(reef_query_count(w, q), ROPE - 1);
    assert_ok(reef_disable(w, e[1000], ChildOf));
    assert_int_equal(reef_query_count(w, q), 999);
    assert_ok(reef_disable(w, e[500], ChildOf));
    assert_int_equal(reef_query_count(w, q), 499);
    assert_ok(reef_enable(w, e[500], ChildOf));
    assert_ok(reef_enable(w, e[1000], ChildOf));
    assert_int_equal(reef_query_count(w, q), ROPE - 1);
}

/* The entities of the chain in the order of a query, as digits. */
static const char *in_order(const chain *c, reef_query q)
{
    static char found[CHAIN + 1];
    uint32_t n = 0;
    reef_each(c->w, q, row)
    {
        assert_true(n < CHAIN);
        for (uint32_t i = 0; i < CHAIN; i++)
            if (reef_entity_equal(c->e[i], row.entity)) found[n] = (char)('0' + i);
        n++;
    }
    found[n] = 0;
    return found;
}

static void orders_leave_out_disabled_relations(void **state)
{
    chain c;
    chain_make(&c, world_of(state));
    const reef_query parents_first = reef_query_new(c.w, "Part_of_it, cascade(ChildOf)");
    const reef_query with_team = reef_query_new(c.w, "Part_of_it, !Team, cascade(ChildOf)");
    const reef_query by_target = reef_query_new(c.w, "Part_of_it"), all = reef_query_new(c.w, "either ChildOf");
    assert_ok(reef_query_order(c.w, by_target, &(reef_order){.relation = reef_id(DockedTo)}));
    assert_string_equal(in_order(&c, parents_first), "01234");
    assert_string_equal(in_order(&c, by_target), "12340");
    relations_enable(&c, 2, false); /* 2 is a root now, 3 and 4 are one and two steps below it */
    assert_string_equal(in_order(&c, parents_first), "02134");
    assert_string_equal(in_order(&c, by_target), "13402");
    reef_each(c.w, with_team, row)
    { /* the first of them has a team */
        const Team *team = reef_parents_in(&row.block, Team);
        assert_int_equal(team != NULL, reef_entity_equal(row.entity, c.e[1]));
    }
    relations_enable(&c, 2, true);
    assert_string_equal(in_order(&c, parents_first), "01234");
    assert_string_equal(in_order(&c, by_target), "12340");
    /* all at once */
    uint64_t n = 0;
    assert_ok(reef_enable_where_id(c.w, all, reef_id(ChildOf), false, &n));
    assert_int_equal(n, 4);
    assert_string_equal(asked(&c, "ChildOf(*)"), "");
    reef_each(c.w, with_team, row) assert_null(reef_parents_in(&row.block, Team));
    assert_ok(reef_enable_where_id(c.w, all, reef_id(ChildOf), true, &n));
    assert_string_equal(in_order(&c, parents_first), "01234");
}

/* A query that names the relation of its order lists only the rows that have it. */
static void orders_by_a_relation_that_is_named(void **state)
{
    static const struct {
        const char *by_tree, *by_target, *whole, *cut; /* what it visits, and when the relations of 2 are disabled */
    } asked[] = {
        {"with ChildOf, with Part_of_it, cascade(ChildOf)", "with Part_of_it, with DockedTo", "1234", "134"},
        {"either ChildOf, with Part_of_it, cascade(ChildOf)", "with Part_of_it, either DockedTo", "1234", NULL},
        {"disabled ChildOf, with Part_of_it, cascade(ChildOf)", "with Part_of_it, disabled DockedTo", "", "2"},
        {"!ChildOf, with Part_of_it, cascade(ChildOf)", "with Part_of_it, !DockedTo", "0", NULL},
        {"?ChildOf, with Part_of_it, cascade(ChildOf)", "with Part_of_it, ?DockedTo", NULL, NULL},
    };
    chain c;
    chain_make(&c, world_of(state));
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        const reef_query by_tree = reef_query_new(c.w, asked[i].by_tree);
        const reef_query by_target = reef_query_new(c.w, asked[i].by_target);
        assert_query(by_tree);
        assert_ok(reef_query_order(c.w, by_target, &(reef_order){.relation = reef_id(DockedTo)}));
        for (int round = 0; round < 2; round++) {
            assert_string_equal(in_order(&c, by_tree), asked[i].whole ? asked[i].whole : "01234");
            assert_string_equal(in_order(&c, by_target), asked[i].whole ? asked[i].whole : "12340");
            relations_enable(&c, 2, false);
            if (asked[i].cut) assert_string_equal(in_order(&c, by_tree), asked[i].cut);
            if (asked[i].cut) assert_string_equal(in_order(&c, by_target), asked[i].cut);
            assert_int_equal(reef_query_count(c.w, by_tree), strlen(in_order(&c, by_tree)));
            assert_int_equal(reef_query_count(c.w, by_target), strlen(in_order(&c, by_target)));
            relations_enable(&c, 2, true);
        }
        /* one that gets the relation, and loses it */
        if (i == 0) {
            assert_status(REEF_ADDED, reef_relate(c.w, c.e[0], DockedTo, c.e[4]));
            assert_string_equal(in_order(&c, by_target), "12340");
            assert_ok(reef_unrelate(c.w, c.e[0], DockedTo, c.e[4]));
            assert_string_equal(in_order(&c, by_target), "1234");
        }
    }
}

static void calls_about_single_entities_follow_disabled_relations(void **state)
{
    chain c;
    chain_make(&c, world_of(state));
    relations_enable(&c, 2, false);
    assert_entity(c.e[1], reef_parent(c.w, c.e[2]));
    assert_entity(c.e[0], reef_root(c.w, c.e[4], ChildOf));
    assert_int_equal(reef_depth(c.w, c.e[4], ChildOf), 4);
    assert_true(reef_is_above(c.w, c.e[0], c.e[4], ChildOf));
    assert_true(reef_related(c.w, c.e[4], Part, c.e[0]));
    assert_true(reef_related(c.w, c.e[4], Likes, c.e[0]));
    assert_true(reef_related(c.w, c.e[2], DockedTo, c.e[1]));
    assert_int_equal(reef_source_count(c.w, c.e[1], Part), 1);
    reef_entity below[CHAIN];
    assert_int_equal(reef_descendants(c.w, c.e[0], ChildOf, below, CHAIN), 4);
    uint32_t walked = 0;
    for (reef_walk x = reef_walk_from(c.w, c.e[0], ChildOf); reef_walk_next(&x);) walked++;
    assert_int_equal(walked, CHAIN);
    assert_status(REEF_CYCLE, reef_relate(c.w, c.e[0], Part, c.e[4]));
}

/* ---- systems and observers ---- */

static uint32_t system_rows;
static void count_rows(reef_block *b)
{
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n) system_rows += n;
}

static uint32_t ticked(reef_world *w)
{
    system_rows = 0;
    assert_ok(reef_tick(w, 0.1f));
    return system_rows;
}

static void systems_follow_no_disabled_relation(void **state)
{
    static const char *const texts[] = {"Part_of_it, with Team up(ChildOf)", "with Part(mars)",
                                        "Part_of_it, Likes($x), Mars($x)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        chain c;
        chain_make(&c, another_world(state, NULL));
        assert_false(reef_system_is_null(reef_system_add(c.w, "count_rows", count_rows, texts[i])));
        assert_int_equal(ticked(c.w), 4);
        relations_enable(&c, 2, false);
        assert_int_equal(ticked(c.w), 1);
        relations_enable(&c, 2, true);
        assert_int_equal(ticked(c.w), 4);
        end_world(state, c.w);
    }
}

static int matches_now;
static void watch_matches(const reef_notice *n)
{
    matches_now += n->kind == REEF_ON_MATCH ? (int)n->count : -(int)n->count;
}

static void observers_hear_that_a_relation_is_disabled(void **state)
{
    chain c;
    chain_make(&c, world_of(state));
    matches_now = 0;
    const reef_observer_id id =
        reef_observer_new(c.w, &(reef_observer_desc){.name = "docked",
                                                     .function = watch_matches,
                                                     .text = "with DockedTo",
                                                     .existing = true,
                                                     .events = REEF_ON_MATCH | REEF_ON_UNMATCH});
    assert_false(reef_observer_is_null(id));
    assert_int_equal(matches_now, 4);
    assert_ok(reef_disable(c.w, c.e[2], DockedTo));
    assert_int_equal(matches_now, 3);
    assert_ok(reef_unrelate(c.w, c.e[2], DockedTo, c.e[1]));
    assert_int_equal(matches_now, 3);
    assert_status(REEF_ADDED, reef_relate(c.w, c.e[2], DockedTo, c.e[1])); /* a new one is enabled */
    assert_int_equal(matches_now, 4);
    assert_int_equal(reef_query_count(c.w, reef_query_new(c.w, "DockedTo(*)")), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_disabled_relation_ends_every_way),
        TEST(a_reflexive_term_holds_for_the_target_whatever_is_disabled),
        TEST(values_of_ancestors_come_over_enabled_relations),
        TEST(the_answers_of_long_ways_end_at_disabled_relations),
        TEST(orders_leave_out_disabled_relations),
        TEST(orders_by_a_relation_that_is_named),
        TEST(calls_about_single_entities_follow_disabled_relations),
        TEST(systems_follow_no_disabled_relation),
        TEST(observers_hear_that_a_relation_is_disabled),
    };
    return cmocka_run_group_tests_name("query disabled", tests, NULL, NULL);
}
