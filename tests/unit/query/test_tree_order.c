/* Orders by a hierarchy: queries that visit parents before their children, and storage sorted by a relation. */
#include "support.h"

typedef struct {
    int32_t sum;
} World;
typedef struct {
    int32_t value;
} Local;
REEF_COMPONENT(World);
REEF_COMPONENT(Local);
REEF_TAG(Red);
REEF_TAG(Blue);
REEF_SWITCH(Lit);
REEF_RELATION(Likes);
REEF_RELATION(PartOf, REEF_EXCLUSIVE | REEF_ACYCLIC);

static const reef_order by_parent = {.relation = {0}};
static reef_order tree_order(reef_component c)
{
    reef_order o = by_parent;
    o.relation = c;
    return o;
}

/* The query in the order of ChildOf, by one way or the other. */
static reef_query tree_query(reef_world *w, const char *text)
{
    static uint32_t times;
    char more[200];
    const reef_order o = tree_order(reef_id(ChildOf));
    snprintf(more, sizeof more, "%s%s", text, times++ % 2 ? ", cascade(ChildOf)" : "");
    const reef_query q = reef_query_new(w, more);
    assert_false(reef_query_is_null(q));
    if (times % 2) assert_ok(reef_query_order(w, q, &o));
    return q;
}

enum { FOLK = 3000 };

/* Walks the query and computes sums from the root down; answers how many rows there were. */
static uint32_t walk(reef_world *w, reef_query q, const reef_loop *loop, uint32_t *blocks)
{
    uint32_t n = 0, last = 0;
    static const reef_loop plain;
    *blocks = 0;
    for (reef_block b = reef_begin_loop(w, q, loop ? loop : &plain); reef_next(&b); ++*blocks) {
        World *world = reef_inout(&b, World);
        const Local *local = reef_in(&b, Local);
        const World *up = reef_parents_in(&b, World);
        const uint32_t *parent = reef_block_parent_rows(&b);
        assert_non_null(parent);
        for (uint32_t i = 0; i < b.count; i++) {
            const uint32_t depth = reef_depth(w, b.entities[i], ChildOf);
            const reef_entity above = reef_parent(w, b.entities[i]);
            assert_true(depth >= last);
            last = depth;
            const World *there = reef_entity_is_null(above) ? NULL : reef_get(w, above, World);
            if (there == NULL) assert_null(up);
            else assert_ptr_equal(there, up + parent[i]);
            world[i].sum = local[i].value + (up ? up[parent[i]].sum : 0);
        }
        n += b.count;
    }
    return n;
}

static int32_t sum_up(const reef_world *w, reef_entity e)
{
    int32_t sum = 0;
    for (; !reef_entity_is_null(e) && reef_has(w, e, World); e = reef_parent(w, e)) sum += reef_get(w, e, Local)->value;
    return sum;
}

static void check_sums(const reef_world *w, const reef_entity *e, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (reef_is_alive(w, e[i]) && reef_has(w, e[i], World))
            assert_int_equal(sum_up(w, e[i]), reef_get(w, e[i], World)->sum);
}

static void change(reef_world *w, reef_entity *e, uint64_t *seed)
{
    const uint32_t i = random_below(seed, FOLK), k = random_below(seed, FOLK), what = random_below(seed, 12);
    if (!reef_is_alive(w, e[i]))
        e[i] = what < 2 ? reef_spawn(w, reef_with(Local, 1)) /* the others can't see its sum */
                        : reef_spawn(w, reef_with(World, 0), reef_with(Local, (int32_t)random_below(seed, 100)));
    else if (what < 6) (void)reef_relate(w, e[i], ChildOf, e[k]);
    else if (what == 6) (void)reef_remove(w, e[i], ChildOf);
    else if (what == 7 && reef_source_count(w, e[i], ChildOf) < 3) assert_ok(reef_destroy(w, e[i]));
    else if (what == 8)
        assert_true(reef_has(w, e[i], Red) ? reef_remove(w, e[i], Red) == REEF_OK : reef_add(w, e[i], Red) >= 0);
    else if (what == 9)
        assert_true(reef_has(w, e[i], Blue) ? reef_remove(w, e[i], Blue) == REEF_OK : reef_add(w, e[i], Blue) >= 0);
    else if (what == 10 && reef_has(w, e[i], World)) reef_mut(w, e[i], Local)->value = (int32_t)random_below(seed, 100);
}

static void parents_are_visited_before_their_children(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[FOLK];
    uint64_t seed = 5;
    uint32_t blocks;
    memset(e, 0, sizeof e);
    const reef_query q = tree_query(w, "World, in Local");
    assert_int_equal(walk(w, q, NULL, &blocks), 0);
    for (int round = 0; round < 60; round++) {
        const uint32_t steps = round == 0 ? 20000 : round % 3 ? 30 : 300;
        for (uint32_t i = 0; i < steps; i++) change(w, e, &seed);
        if (round % 4 == 1) { /* somebody shares all blocks */
            reef_world *fork = reef_fork(w);
            assert_int_equal(walk(w, q, NULL, &blocks), reef_query_count(w, q));
            const reef_query other = reef_query_copy(fork, w, q);
            uint32_t more;
            assert_int_equal(walk(fork, other, NULL, &more), reef_query_count(w, q));
            assert_int_equal(blocks, more);
            assert_true(reef_hash(fork) == reef_hash(w));
            reef_world_free(fork);
        }
        if (round % 4 == 2) {
            reef_snapshot *s = reef_snapshot_take(w);
            for (uint32_t i = 0; i < 50; i++) change(w, e, &seed);
            assert_int_equal(walk(w, q, NULL, &blocks), reef_query_count(w, q));
            check_sums(w, e, FOLK);
            assert_ok(reef_restore(w, s));
            reef_snapshot_free(s);
            for (uint32_t i = 0; i < FOLK; i++)
                if (!reef_is_alive(w, e[i])) e[i] = (reef_entity){0, 0};
        }
        assert_int_equal(walk(w, q, NULL, &blocks), reef_query_count(w, q));
        check_sums(w, e, FOLK);
        if (round % 10 == 9) { /* in order again */
            const uint32_t before = blocks;
            const reef_order o = tree_order(reef_id(ChildOf));
            assert_ok(reef_sort_storage(w, &(reef_sort){.order = o}));
            assert_valid(w);
            assert_int_equal(walk(w, q, NULL, &blocks), reef_query_count(w, q));
            assert_true(blocks < before);
            check_sums(w, e, FOLK);
            const uint64_t hash = reef_hash(w);
            assert_ok(reef_sort_storage(w, &(reef_sort){.order = o}));
            assert_true(hash == reef_hash(w)); /* sorting again moves nothing */
        }
    }
    assert_ok(reef_query_free(w, q));
}

static void one_depth_or_a_part_is_visited(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[FOLK];
    uint64_t seed = 8;
    uint32_t blocks, all = 0, levels = 0;
    memset(e, 0, sizeof e);
    const reef_query q = tree_query(w, "World, in Local");
    for (uint32_t i = 0; i < 20000; i++) change(w, e, &seed);
    for (reef_group g = {0}; reef_query_next_group(w, q, &g); levels++) {
        assert_int_equal(walk(w, q, &(reef_loop){.grouped = true, .group = g.key}, &blocks), g.count);
        assert_int_equal(reef_query_group_count(w, q, g.key), g.count);
        for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.grouped = true, .group = g.key}); reef_next(&b);)
            for (uint32_t i = 0; i < b.count; i++) assert_int_equal(reef_depth(w, b.entities[i], ChildOf), g.key);
        all += (uint32_t)g.count;
    }
    assert_int_equal(all, reef_query_count(w, q));
    assert_true(levels > 3);
    check_sums(w, e, FOLK);
    assert_int_equal(walk(w, q, &(reef_loop){.offset = 100, .limit = 50}, &blocks), 50);
    assert_int_equal(walk(w, q, &(reef_loop){.offset = all - 7}, &blocks), 7);
    /* rows that don't match are passed over */
    const reef_query lit = tree_query(w, "World, in Local, Lit");
    uint32_t lights = 0;
    for (uint32_t i = 0; i < FOLK; i++)
        if (reef_is_alive(w, e[i]) && reef_has(w, e[i], World) && i % 3)
            assert_true(reef_add(w, e[i], Lit) >= 0), lights++;
    assert_int_equal(walk(w, lit, NULL, &blocks), lights);
    for (uint32_t i = 0; i < FOLK; i++)
        if (reef_is_alive(w, e[i]) && i % 3 == 1 && reef_has(w, e[i], Lit)) assert_ok(reef_disable(w, e[i])), lights--;
    assert_int_equal(walk(w, lit, NULL, &blocks), lights);
    char text[2000];
    assert_true(reef_query_explain(w, lit, text, sizeof text) > 0);
    assert_non_null(strstr(text, "by their depth in ChildOf"));
    assert_ok(reef_query_order(w, q, NULL));
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        assert_null(reef_block_parent_rows(&b));
        assert_null(reef_parents_in(&b, World));
    }
    assert_null(reef_block_parent_rows(NULL));
}

static void storage_is_sorted_by_a_relation(void **state)
{
    reef_world *w = world_of(state);
    enum { NODES = 2500 };
    static reef_entity e[NODES], order[NODES];
    uint64_t seed = 3;
    uint32_t n = 0, blocks;
    for (uint32_t i = 0; i < NODES; i++) e[i] = reef_spawn(w, reef_with(World, 0), reef_with(Local, 1));
    for (uint32_t i = 1; i < NODES; i++)
        assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[random_below(&seed, i)]));
    for (uint32_t i = 1; i < NODES; i++) (void)reef_relate(w, e[i], ChildOf, e[random_below(&seed, NODES)]);
    const reef_order o = tree_order(reef_id(ChildOf));
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = o}));
    const reef_query q = tree_query(w, "World, in Local"), plain = reef_query_new(w, "World");
    for (reef_block b = reef_begin(w, plain); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) order[n++] = b.entities[i];
    assert_int_equal(n, NODES);
    uint32_t next = 1; /* rows are a walk level by level: the children of row i follow those of row i - 1 */
    for (uint32_t i = 0; i < NODES; i++)
        for (reef_sources s = reef_sources_of(w, order[i], ChildOf); reef_sources_next(&s);)
            for (uint32_t k = 0; k < s.count; k++) assert_entity(s.sources[k], order[next++]);
    assert_int_equal(next, NODES);
    assert_int_equal(walk(w, q, NULL, &blocks), NODES);
    check_sums(w, e, NODES);
    assert_valid(w);
}

/* A parent without a row, one in a table that the query doesn't visit, and a chain that is as deep as it is long. */
static void orders_of_odd_trees(void **state)
{
    reef_world *w = world_of(state);
    enum { DEEP = 5000 };
    static reef_entity e[DEEP];
    uint32_t blocks;
    const reef_entity bare = reef_create(w), other = reef_spawn(w, reef_with(Local, 5)),
                      with = reef_spawn(w, reef_with(World, 7), reef_default(Red));
    const reef_query q = tree_query(w, "World, in Local");
    reef_entity child[3];
    for (int i = 0; i < 3; i++) child[i] = reef_spawn(w, reef_with(World, 0), reef_with(Local, 1));
    assert_status(REEF_ADDED, reef_relate(w, child[0], ChildOf, bare));
    assert_status(REEF_ADDED, reef_relate(w, child[1], ChildOf, other));
    assert_status(REEF_ADDED, reef_relate(w, child[2], ChildOf, with));
    assert_int_equal(walk(w, q, NULL, &blocks), 3);
    assert_int_equal(reef_get(w, child[0], World)->sum, 1);
    assert_int_equal(reef_get(w, child[1], World)->sum, 1);
    assert_int_equal(reef_get(w, child[2], World)->sum,
                     8);                       /* its parent has a sum, though the query doesn't visit it */
    assert_true(reef_add(w, with, Blue) >= 0); /* the parent alone moves */
    assert_int_equal(walk(w, q, NULL, &blocks), 3);
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = tree_order(reef_id(ChildOf))}));
    assert_int_equal(walk(w, q, NULL, &blocks), 3);
    for (int i = DEEP - 1; i >= 0; i--) e[i] = reef_spawn(w, reef_with(World, 0), reef_with(Local, 1));
    for (int i = 1; i < DEEP; i++) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[i - 1]));
    assert_int_equal(walk(w, q, NULL, &blocks), DEEP + 3);
    assert_int_equal(reef_get(w, e[DEEP - 1], World)->sum, DEEP);
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = tree_order(reef_id(ChildOf))}));
    assert_int_equal(walk(w, q, NULL, &blocks), DEEP + 3);
    assert_valid(w);
}

static void orders_that_are_no_trees_are_refused(void **state)
{
    reef_world *w = world_of(state);
    const reef_query q = reef_query_new(w, "World"), since = reef_query_new(w, "changed World");
    reef_order o = tree_order(reef_id(Likes));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_order(w, q, &o)); /* several targets */
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, &(reef_sort){.order = o}));
    o = tree_order(reef_id(World));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_order(w, q, &o));
    o = tree_order((reef_component){60000});
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_query_order(w, q, &o));
    o = tree_order(reef_id(PartOf));
    o.component = reef_id(World);
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_order(w, q, &o));
    o.component = (reef_component){0};
    o.descending = true;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_order(w, q, &o));
    o.descending = false;
    assert_ok(reef_query_order(w, q, &o));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_order(w, since, &o));
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = o}));
}

/* ---- systems ---- */

static void sum_children(reef_block *b)
{
    World *world = reef_inout(b, World);
    const Local *local = reef_in(b, Local);
    const World *up = reef_parents_in(b, World);
    const uint32_t *parent = reef_block_parent_rows(b);
    for (uint32_t i = 0; i < b->count; i++) world[i].sum = local[i].value + (up ? up[parent[i]].sum : 0);
}
static void grow(reef_block *b)
{
    Local *local = reef_inout(b, Local);
    for (uint32_t i = 0; i < b->count; i++) local[i].value++;
}

static void systems_visit_parents_first_on_any_number_of_threads(void **state)
{
    enum { MANY = 40000 };
    static reef_entity e[MANY];
    uint64_t hash[4][6];
    static const uint32_t threads[4] = {0, 1, 2, 7};
    for (int run = 0; run < 4; run++) {
        reef_world *w = another_world(state, NULL);
        reef_pool *pool = run ? reef_pool_new(&(reef_pool_config){.threads = threads[run]}) : NULL;
        uint64_t seed = 12;
        for (uint32_t i = 0; i < MANY; i++)
            e[i] = reef_spawn(w, reef_with(World, 0), reef_with(Local, (int32_t)(i % 7)));
        for (uint32_t i = 1; i < MANY; i++) {
            const uint32_t deep = i < 3000 ? i - 1 : i < 12000 ? random_below(&seed, i) : random_below(&seed, 200);
            assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[deep]));
            if (i % 5 == 0) assert_true(reef_add(w, e[i], Red) >= 0);
        }
        assert_false(reef_system_is_null(reef_system(w, grow, "Local")));
        assert_false(reef_system_is_null(reef_system(w, sum_children, "World, in Local, cascade(ChildOf)")));
        if (pool) assert_ok(reef_set_pool(w, pool));
        for (int tick = 0; tick < 6; tick++) {
            for (int i = 0; i < 40 && tick; i++)
                (void)reef_relate(w, e[random_below(&seed, MANY)], ChildOf, e[random_below(&seed, MANY)]);
            reef_world *fork = tick % 2 ? reef_fork(w) : NULL; /* then all blocks are shared */
            assert_ok(reef_tick(w, 1));
            if (fork) reef_world_free(fork);
            hash[run][tick] = reef_hash(w);
            assert_true(hash[run][tick] == hash[0][tick]);
        }
        check_sums(w, e, 3000);
        for (uint32_t i = 3000; i < MANY; i += 17) check_sums(w, e + i, 1);
        assert_valid(w);
        if (pool) assert_ok(reef_set_pool(w, NULL));
        reef_pool_free(pool);
    }
}

static void systems_that_cant_visit_parents_first_are_refused(void **state)
{
    reef_world *w = world_of(state);
    static const struct {
        const char *text, *why;
        reef_status status;
        uint32_t column;
    } wrong[] = {
        {"World, in Local, cascade(Likes)", "exclusive and acyclic", REEF_BAD_ARGUMENT, 26},
        {"World, cascade(Local)", "exclusive and acyclic", REEF_BAD_ARGUMENT, 16},
        {"changed World, cascade(ChildOf)", "can't ask what changed", REEF_BAD_ARGUMENT, 24},
        {"World, ChildOf($p), Local($p), cascade(ChildOf)", "can't have variables", REEF_BAD_ARGUMENT, 40},
        {"World, cascade(ChildOf), cascade(PartOf)", "only once", REEF_BAD_TEXT, 26},
        {"World, !cascade(ChildOf)", "can't be in a group", REEF_BAD_TEXT, 9},
        {"World, in cascade(ChildOf)", "can't be in a group", REEF_BAD_TEXT, 11},
        {"World | cascade(ChildOf)", "can't be in a group", REEF_BAD_TEXT, 9},
        {"cascade(ChildOf) | World", "expected ','", REEF_BAD_TEXT, 18},
        {"World, cascade()", "expected the name of a relation", REEF_BAD_TEXT, 16},
        {"World, cascade(ChildOf, 2)", "expected ')'", REEF_BAD_TEXT, 23},
        {"World, cascade(Nothing)", "Nothing", REEF_UNKNOWN_TYPE, 16},
    };
    reef_system_desc d = {.name = "sum", .function = sum_children};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        d.text = wrong[i].text;
        assert_true(reef_system_is_null(reef_system_new(w, &d)));
        assert_status(wrong[i].status, reef_last_error(w).status);
        assert_true(reef_query_is_null(reef_query_new(w, wrong[i].text)));
        assert_status(wrong[i].status, reef_last_error(w).status);
        assert_int_equal(reef_last_error(w).number, wrong[i].column);
        assert_non_null(strstr(reef_last_error(w).detail, wrong[i].why));
    }
    static const char *const good[] = {"World, in Local, cascade(ChildOf)", "cascade(PartOf)",
                                       "World, cascade(ChildOf), either *"};
    for (uint32_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[200];
        const reef_query q = reef_query_new(w, good[i]), copy = reef_query_copy(w, w, q);
        assert_query(q);
        assert_int_equal(reef_query_text(w, q, text, sizeof text), strlen(good[i]));
        assert_string_equal(text, good[i]);
        assert_int_equal(reef_query_text(w, copy, text, sizeof text), strlen(good[i]));
        assert_string_equal(text, good[i]);
        assert_ok(reef_query_free(w, q));
        assert_ok(reef_query_free(w, copy));
    }
    assert_true(reef_query_is_null(
        reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(World)}}, .cascade = reef_id(Likes)})));
    assert_status(REEF_BAD_ARGUMENT, reef_last_error(w).status);
    d.text = "World, in Local, cascade(ChildOf)";
    assert_false(reef_system_is_null(reef_system_new(w, &d)));
    assert_ok(reef_tick(w, 1)); /* there are no rows */
    const reef_entity e = reef_spawn(w, reef_with(World, 0), reef_with(Local, 3)), f = reef_clone(w, e);
    assert_status(REEF_ADDED, reef_relate(w, e, ChildOf, f));
    assert_ok(reef_tick(w, 1));
    assert_int_equal(reef_get(w, e, World)->sum, 6);
    reef_world *fork = reef_fork(w);
    assert_ok(reef_unrelate(fork, e, ChildOf, f));
    assert_ok(reef_tick(fork, 1));
    assert_int_equal(reef_get(fork, e, World)->sum, 3);
    reef_world_free(fork);
}

/* ---- subtrees that don't show ---- */

REEF_SWITCH(Hidden);

static void a_parent_hides_what_is_below_it(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[6];
    static const int parent[6] = {-1, 0, 1, 1, 0, -1};
    for (int i = 0; i < 6; i++) e[i] = reef_spawn(w, reef_with(World, 0), reef_with(Local, 1));
    for (int i = 0; i < 6; i++)
        if (parent[i] >= 0) assert_status(REEF_ADDED, reef_relate(w, e[i], ChildOf, e[parent[i]]));
    const reef_query shown = reef_query_new(w, "World, !Hidden self up(ChildOf)"), all = reef_query_new(w, "World");
    assert_int_equal(reef_query_count(w, shown), 6);
    assert_true(reef_add(w, e[1], Hidden) >= 0); /* with 2 and 3 */
    assert_int_equal(reef_query_count(w, shown), 3);
    assert_int_equal(reef_query_count(w, all), 6);
    assert_status(REEF_ADDED, reef_relate(w, e[3], ChildOf, e[4])); /* out of the hidden part */
    assert_int_equal(reef_query_count(w, shown), 4);
    assert_status(REEF_ADDED, reef_relate(w, e[5], ChildOf, e[2])); /* into it */
    assert_int_equal(reef_query_count(w, shown), 3);
    assert_ok(reef_remove(w, e[1], Hidden));
    assert_int_equal(reef_query_count(w, shown), 6);
}

/* ---- entities that are disabled as a whole ---- */

static bool is_off(const reef_world *w, reef_entity e, uint32_t most)
{
    for (uint32_t steps = 0; steps <= most && !reef_entity_is_null(e); steps++, e = reef_parent(w, e))
        if (!reef_is_enabled_id(w, e, (reef_component){0})) return true;
    return false;
}

static void a_disabled_parent_hides_what_is_below_it(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[FOLK];
    uint64_t seed = 21;
    memset(e, 0, sizeof e);
    const reef_query shown = reef_query_new(w, "World, !disabled * up(ChildOf)"),
                     dark = reef_query_new(w, "World, disabled * up(ChildOf)"),
                     near = reef_query_new(w, "World, !disabled * up(ChildOf, 2), either *"),
                     self = reef_query_new(w, "either *, World, disabled * self up(ChildOf)"),
                     group = reef_query_new(w, "World, (Red | disabled * up(ChildOf))");
    for (uint32_t i = 0; i < 20000; i++) change(w, e, &seed);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t n[5] = {0};
        for (uint32_t i = 0; i < 20; i++) {
            const uint32_t k = random_below(&seed, FOLK);
            if (!reef_is_alive(w, e[k])) continue;
            (void)(i % 3 ? reef_disable(w, e[k]) : reef_enable(w, e[k]));
        }
        for (uint32_t i = 0; i < FOLK; i++) {
            if (!reef_is_alive(w, e[i]) || !reef_has(w, e[i], World)) continue;
            const bool off = !reef_is_enabled_id(w, e[i], (reef_component){0}),
                       below = is_off(w, reef_parent(w, e[i]), FOLK);
            n[0] += !off && !below;
            n[1] += !off && below;
            n[2] += !is_off(w, reef_parent(w, e[i]), 1);
            n[3] += off || below;
            n[4] += !off && (below || reef_has(w, e[i], Red));
            assert_int_equal(reef_query_matches(w, shown, e[i]), !off && !below);
        }
        assert_int_equal(reef_query_count(w, shown), n[0]);
        assert_int_equal(reef_query_count(w, dark), n[1]);
        assert_int_equal(reef_query_count(w, near), n[2]);
        assert_int_equal(reef_query_count(w, self), n[3]);
        assert_int_equal(reef_query_count(w, group), n[4]);
        for (uint32_t i = 0; i < 200; i++) change(w, e, &seed);
    }
    char text[2000];
    assert_true(reef_query_explain(w, shown, text, sizeof text) > 0);
    assert_non_null(strstr(text, "walks up ChildOf to the nearest entity that is disabled, which mustn't be there"));
}

static void asking_for_disabled_ancestors(void **state)
{
    reef_world *w = world_of(state);
    static const char *const wrong[] = {
        "* up(ChildOf)",           "either * up(ChildOf)",           "in disabled * up(ChildOf)",
        "?disabled * up(ChildOf)", "changed disabled * up(ChildOf)", "disabled * up(Likes)",
        "disabled * self",         "disabled * up(ChildOf)+",        "disabled * up(ChildOf), disabled * up(ChildOf)"};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_true(reef_query_is_null(reef_query_new(w, wrong[i])));
        assert_true(strlen(reef_last_error(w).detail) > 0);
    }
    static const char *const good[] = {"disabled * up(ChildOf)", "!disabled * self up(ChildOf, 3), World",
                                       "disabled * up(ChildOf) | World, disabled *"};
    for (uint32_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[200];
        const reef_query q = reef_query_new(w, good[i]);
        assert_query(q);
        assert_int_equal(reef_query_text(w, q, text, sizeof text), strlen(good[i]));
        assert_string_equal(text, good[i]);
    }
    /* the same as a struct */
    const reef_term off = {.op = REEF_NOT, .access = REEF_WITH, .enabled = REEF_DISABLED, .up = reef_id(ChildOf)};
    const reef_query q = reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(World)}, off}});
    assert_query(q);
    const reef_entity parent = reef_create(w);
    const reef_entity child = reef_spawn(w, reef_with(World, 1), reef_with(ChildOf, .target = parent));
    assert_true(reef_query_matches(w, q, child));
    assert_true(reef_disable(w, parent) >= 0);
    assert_false(reef_query_matches(w, q, child));
}

static void sum_shown(reef_block *b)
{
    World *world = reef_inout(b, World);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) world[i].sum++;
}

static void systems_pass_over_what_a_disabled_parent_hides(void **state)
{
    reef_world *w = world_of(state);
    const reef_entity parent = reef_create(w);
    const reef_entity child = reef_spawn(w, reef_with(World, 0), reef_with(ChildOf, .target = parent));
    assert_false(reef_system_is_null(reef_system(w, sum_shown, "World, !disabled * up(ChildOf)")));
    assert_ok(reef_tick(w, 0));
    assert_true(reef_disable(w, parent) >= 0);
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_get(w, child, World)->sum, 1);
    assert_true(reef_enable(w, parent) >= 0);
    assert_ok(reef_tick(w, 0));
    assert_int_equal(reef_get(w, child, World)->sum, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parents_are_visited_before_their_children),
        TEST(one_depth_or_a_part_is_visited),
        TEST(storage_is_sorted_by_a_relation),
        TEST(orders_of_odd_trees),
        TEST(orders_that_are_no_trees_are_refused),
        TEST(systems_visit_parents_first_on_any_number_of_threads),
        TEST(systems_that_cant_visit_parents_first_are_refused),
        TEST(a_parent_hides_what_is_below_it),
        TEST(a_disabled_parent_hides_what_is_below_it),
        TEST(asking_for_disabled_ancestors),
        TEST(systems_pass_over_what_a_disabled_parent_hides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
