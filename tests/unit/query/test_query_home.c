/* Loops and systems over values outside of the rows: where blocks are cut, what is marked, what a fork keeps, on any
 * number of threads. */
#include "support.h"

typedef struct Spark {
    uint32_t n;
} Spark;
typedef struct Leaf {
    uint32_t n;
} Leaf;
typedef struct Rust {
    uint32_t n;
} Rust;
typedef struct Bulk {
    uint64_t n[5];
} Bulk;
typedef struct Trace {
    uint32_t n;
} Trace;
REEF_COMPONENT_IN(Spark, REEF_SPARSE);
REEF_COMPONENT_PAGED(Leaf, 4);
REEF_COMPONENT_IN(Rust, REEF_COLD);
REEF_COMPONENT_IN(Bulk, REEF_SPARSE);
static const reef_hooks trace_hooks = {.track_rows = true};
REEF_COMPONENT_IN_HOOKS(Trace, REEF_SPARSE, &trace_hooks);

enum { ROWS = 200 };

static reef_query query_new(reef_world *w, const char *text)
{
    const reef_query q = reef_query_new(w, text);
    assert_query(q);
    return q;
}

/* Entities with a Position, of which number i has what the bits of set(i) say. */
static void rows_make(reef_world *w, reef_entity *e, uint32_t count, uint32_t (*set)(uint32_t i))
{
    for (uint32_t i = 0; i < count; i++) {
        e[i] = reef_spawn(w, reef_with(Position, (float)i, 1));
        if (set(i) & 1) assert_true(reef_set(w, e[i], Spark, i) >= 0);
        if (set(i) & 2) assert_true(reef_set(w, e[i], Leaf, i) > 0);
        if (set(i) & 4) assert_true(reef_set(w, e[i], Rust, i) > 0);
    }
}

static uint32_t all_have_all(uint32_t i) { return (void)i, 7; }
static uint32_t some_have_some(uint32_t i) { return (i * 2654435761u >> 11) & 7; }

/* ---- blocks ---- */

static void blocks_are_runs_of_values_side_by_side(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[10];
    rows_make(w, e, 10, all_have_all);
    const reef_query sparse = query_new(w, "Position, Spark"), paged = query_new(w, "Position, Leaf");
    reef_block b = reef_begin(w, sparse);
    assert_true(reef_next(&b));
    assert_int_equal(b.count, 10); /* they came in order */
    assert_true(reef_inout(&b, Spark) == reef_get(w, e[0], Spark) && reef_block_mask(&b) == NULL);
    assert_false(reef_next(&b));
    /* The last one's value takes the place of number 3's, and then comes back behind all others. */
    assert_ok(reef_remove(w, e[3], Spark));
    assert_true(reef_set(w, e[3], Spark, 33) > 0);
    const uint32_t runs[] = {3, 1, 5, 1};
    uint32_t row = 0, k = 0;
    for (b = reef_begin(w, sparse); reef_next(&b); row += b.count) {
        assert_int_equal(b.count, runs[k++]);
        for (uint32_t i = 0; i < b.count; i++) {
            assert_entity(e[row + i], b.entities[i]);
            assert_true(&reef_in(&b, Spark)[i] == reef_get(w, e[row + i], Spark) &&
                        &reef_in(&b, Position)[i] == reef_get(w, e[row + i], Position));
        }
    }
    assert_true(row == 10 && k == 4);
    /* Pages of four, by the entity's index. */
    row = 0;
    for (b = reef_begin(w, paged); reef_next(&b); row += b.count)
        assert_true(b.count == 4 - e[row].index % 4 || row + b.count == 10);
    assert_int_equal(row, 10);
    /* Where only presence is asked for nothing is cut. */
    b = reef_begin(w, query_new(w, "Position, with Spark, with Rust"));
    assert_true(reef_next(&b));
    assert_int_equal(b.count, 10);
    reef_end(&b);
}

/* Which rows have a value: alone, side by side, at the ends of words, more of them in a chunk than are found at
 * once. */
static bool alone(uint32_t pattern, uint32_t i)
{
    switch (pattern) {
    case 0: return i % 100 == 7;
    case 1: return i % 64 == 63;
    case 2: return i % 64 == 63 || i % 64 == 0;
    case 3: return i % 2 == 1;
    case 4: return i % 40 == 3 || i % 200 == 4;
    case 5: return i >= 1023 && i % 7 != 0;
    default: return (i * 2654435761u >> 9) % 8 == 0;
    }
}

static void rows_that_stand_alone_are_all_visited_in_order(void **state)
{
    enum { N = 2100, PATTERNS = 7 };
    static reef_entity e[N];
    for (uint32_t k = 0; k < 2 * PATTERNS; k++) {
        reef_world *w = world_of(state);
        for (uint32_t i = 0; i < N; i++) e[i] = reef_spawn(w, reef_with(Position, (float)i, 1));
        for (uint32_t n = 0; n < N; n++) { /* the second time some values come out of turn */
            const uint32_t i = k < PATTERNS ? n : n / 300 * 300 + (n % 300 + 150) % 300;
            if (alone(k % PATTERNS, i)) assert_true(reef_set(w, e[i], Spark, i) > 0);
        }
        const reef_query q = query_new(w, "Position, in Spark");
        uint32_t row = 0;
        for (reef_block b = reef_begin(w, q); reef_next(&b);)
            for (uint32_t i = 0; i < b.count; i++, row++) {
                while (row < N && !alone(k % PATTERNS, row)) row++;
                assert_entity(e[row], b.entities[i]);
                assert_int_equal(reef_in(&b, Spark)[i].n, row);
                assert_true(reef_inout(&b, Position)[i].x == (float)row);
                reef_inout(&b, Position)[i].y = 2;
            }
        for (uint32_t i = 0; i < N; i++)
            assert_true(reef_get(w, e[i], Position)->y == (alone(k % PATTERNS, i) ? 2 : 1));
        assert_ok(reef_query_free(w, q));
        assert_ok(reef_world_clear(w));
    }
}

/* A walk by one query; what it sees doesn't depend on homes. */
static void walk_check(reef_world *w, const reef_entity *e, uint32_t count, uint32_t (*set)(uint32_t), const char *text,
                       uint32_t must, uint32_t may)
{
    uint32_t row = 0;
    const reef_query q = query_new(w, text);
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        for (uint32_t i = 0; i < b.count; i++, row++) {
            while (row < count && (set(row) & must) != must) row++;
            assert_true(row < count);
            assert_entity(e[row], b.entities[i]);
            const Spark *s = may & 1 ? reef_in(&b, Spark) : NULL;
            const Leaf *l = may & 2 ? reef_in(&b, Leaf) : NULL;
            const Rust *r = may & 4 ? reef_in(&b, Rust) : NULL;
            assert_true((s != NULL) == (may & 1 && set(row) & 1) && (l != NULL) == (may & 2 && set(row) & 2));
            assert_true((r != NULL) == (may & 4 && set(row) & 4));
            assert_true((s == NULL || s[i].n == row) && (l == NULL || l[i].n == row) && (r == NULL || r[i].n == row));
        }
    }
    while (row < count && (set(row) & must) != must) row++;
    assert_int_equal(row, count);
}

static void C3_F1_optional_values_are_in_all_rows_of_a_block_or_in_none(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[3000];
    rows_make(w, e, 3000, some_have_some);
    walk_check(w, e, 3000, some_have_some, "in Position, in Spark, ?in Leaf, ?in Rust", 1, 7);
    walk_check(w, e, 3000, some_have_some, "in Leaf, in Rust", 6, 6);
    walk_check(w, e, 3000, some_have_some, "in Position, ?in Rust, ?in Spark", 0, 5);
    walk_check(w, e, 3000, some_have_some, "in Spark, in Leaf, in Rust, in Position", 7, 7);
}

typedef struct C1 {
    uint32_t n;
} C1;
typedef struct C2 {
    uint32_t n;
} C2;
typedef struct C3 {
    uint32_t n;
} C3;
typedef struct C4 {
    uint32_t n;
} C4;
REEF_COMPONENT_IN(C1, REEF_SPARSE);
REEF_COMPONENT_IN(C2, REEF_PAGED);
REEF_COMPONENT_IN(C3, REEF_COLD);
REEF_COMPONENT_IN(C4, REEF_SPARSE);

static void more_terms_with_data_than_a_block_has_cells(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[30];
    rows_make(w, e, 30, all_have_all);
    for (uint32_t i = 0; i < 30; i++) {
        assert_true(reef_set(w, e[i], C1, i) > 0 && reef_set(w, e[i], C2, i) > 0 && reef_set(w, e[i], C3, i) > 0);
        if (i % 2) assert_true(reef_set(w, e[i], C4, i) > 0);
    }
    for (uint32_t i = 30; i-- > 0;) /* in the other order, so that no two lie side by side as their rows do */
        if (i % 2 == 0) assert_true(reef_set(w, e[i], C4, i) > 0);
    uint32_t row = 0;
    for (reef_block b = reef_begin(w, query_new(w, "Position, in Spark, in Leaf, in Rust, C1, C2, C3, C4"));
         reef_next(&b); row++) {
        assert_int_equal(b.count, 1);
        assert_true(reef_in(&b, Spark)->n == row && reef_in(&b, Leaf)->n == row && reef_in(&b, Rust)->n == row &&
                    reef_in(&b, C1)->n == row);
        assert_true(reef_in(&b, C2)->n == row && reef_in(&b, C3)->n == row && reef_in(&b, C4)->n == row);
        assert_true(reef_in(&b, Position)->x == (float)row);
        reef_inout(&b, C4)->n += 100;
        assert_null(reef_inout(&b, Leaf)); /* only read */
        assert_status(REEF_UNDECLARED, reef_last_error(w).status);
    }
    assert_int_equal(row, 30);
    for (uint32_t i = 0; i < 30; i++) assert_int_equal(reef_get(w, e[i], C4)->n, i + 100);
}

/* ---- forks ---- */

static void E2_F1_loops_leave_a_forks_values_alone(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[ROWS];
    rows_make(w, e, ROWS, all_have_all);
    reef_world *f = reef_fork(w);
    assert_non_null(f);
    const reef_query q = query_new(w, "in Position, Spark, Leaf, Rust");
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++)
            reef_inout(&b, Spark)[i].n += 1000, reef_inout(&b, Leaf)[i].n += 1000, reef_inout(&b, Rust)[i].n += 1000;
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_true(reef_get(w, e[i], Spark)->n == i + 1000 && reef_get(w, e[i], Leaf)->n == i + 1000 &&
                    reef_get(w, e[i], Rust)->n == i + 1000);
        assert_true(reef_get(f, e[i], Spark)->n == i && reef_get(f, e[i], Leaf)->n == i &&
                    reef_get(f, e[i], Rust)->n == i);
    }
    assert_valid(f);
    reef_world_free(f);
}

/* A write by a call inside of the loop takes a column, or a page, away from a fork: later blocks show where the
 * values are then. */
static void later_blocks_show_what_calls_wrote_meanwhile(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[ROWS];
    rows_make(w, e, ROWS, some_have_some);
    reef_world *f = reef_fork(w);
    const reef_query q = query_new(w, "in Position, in Spark");
    uint32_t blocks = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); blocks++) {
        assert_true(reef_in(&b, Position) == reef_get(w, b.entities[0], Position) &&
                    reef_in(&b, Spark) == reef_get(w, b.entities[0], Spark));
        assert_int_equal(reef_in(&b, Spark)->n, b.entities[0].index - e[0].index + (blocks ? 1000 : 0));
        if (blocks) continue;
        for (uint32_t i = 0; i < ROWS; i++) {
            reef_mut(w, e[i], Position)->y = 5;
            if (some_have_some(i) & 1) reef_mut(w, e[i], Spark)->n += 1000;
        }
    }
    assert_true(blocks > 10);
    reef_world_free(f);
}

/* ---- what changed ---- */

/* Visits all; how many rows the query saw, and to each its number is added. */
static uint32_t visit(reef_world *w, reef_query q, uint32_t add)
{
    uint32_t rows = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0, n; (n = reef_block_run(&b, &i)) != 0; i += n, rows += n)
            for (uint32_t k = i; add && k < i + n; k++) reef_inout(&b, Leaf)[k].n += add;
    return rows;
}

static void pages_say_what_changed(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[ROWS];
    rows_make(w, e, ROWS, all_have_all);
    const reef_query q = query_new(w, "in changed Leaf"), changes = query_new(w, "changed Leaf"),
                     tracked = query_new(w, "with changed Trace");
    assert_true(visit(w, q, 0) == ROWS && visit(w, q, 0) == 0);
    reef_mut(w, e[50], Leaf)->n = 7;
    const uint64_t page = e[50].index / 4;
    assert_int_equal(reef_query_count(w, q), 4);
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) assert_int_equal(b.entities[i].index / 4, page);
    assert_int_equal(visit(w, q, 0), 0);
    /* A loop that writes what it asks about comes to the other rows of a page that it marked itself; its own marks
     * are no news to it. */
    assert_true(visit(w, changes, 1) == ROWS && visit(w, changes, 1) == 0 && visit(w, q, 0) == ROWS);
    reef_mut(w, e[50], Leaf)->n = 8;
    assert_true(visit(w, changes, 1) == 4 && visit(w, changes, 1) == 0 && visit(w, q, 0) == 4);
    /* Tracked rows are exact. */
    for (uint32_t i = 0; i < 20; i++) assert_true(reef_set(w, e[i], Trace, i) > 0);
    assert_int_equal(visit(w, tracked, 0), 20);
    reef_mut(w, e[3], Trace)->n = 4;
    assert_true(reef_query_count(w, tracked) == 1 && reef_query_matches(w, tracked, e[3]) &&
                !reef_query_matches(w, tracked, e[4]));
    /* And so are those that a loop wrote. */
    assert_int_equal(visit(w, tracked, 0), 1);
    for (reef_block b = reef_begin_loop(w, query_new(w, "Trace"), &(reef_loop){.offset = 5, .limit = 3});
         reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) reef_inout(&b, Trace)[i].n++;
    assert_true(reef_query_count(w, tracked) == 3 && reef_query_matches(w, tracked, e[5]) &&
                reef_query_matches(w, tracked, e[7]));
}

static void what_cant_be_asked_is_refused(void **state)
{
    reef_world *w = world_of(state);
    const reef_component tag = reef_type_new(&(reef_type_desc){.name = "ColdTag", .home = REEF_COLD}, NULL);
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, "with changed ColdTag"));
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, "in added Spark"));
    assert_query(reef_query_new(w, "in changed Spark, ColdTag"));
    const reef_component types[] = {reef_id(Spark), tag};
    const reef_query q = query_new(w, "Position");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, &(reef_sort){.types = types, .type_count = 1}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, &(reef_sort){.types = types + 1, .type_count = 1}));
    assert_refused(w, REEF_BAD_ARGUMENT,
                   reef_sort_storage(w, &(reef_sort){.order = {.component = reef_id(Position), .pool = true}}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, &(reef_sort){.order = {.pool = true}}));
    assert_refused(w, REEF_BAD_ARGUMENT,
                   reef_query_order(w, q, &(reef_order){.component = reef_id(Spark), .pool = true}));
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = {.component = tag, .pool = true}}));
}

/* ---- orders ---- */

static uint64_t spark_key(const void *value) { return ((const Spark *)value)->n; }
static uint64_t spark_tens(const void *value) { return ((const Spark *)value)->n / 10; }

/* The loop visits Sparks in the order of their numbers; how many. */
static uint32_t ordered(reef_world *w, reef_query q, bool descending)
{
    uint32_t rows = 0, last = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); rows += b.count)
        for (uint32_t i = 0; i < b.count; i++) {
            const uint32_t n = reef_in(&b, Spark)[i].n;
            assert_true(&reef_in(&b, Spark)[i] == reef_get(w, b.entities[i], Spark));
            assert_true(rows + i == 0 || (descending ? n <= last : n >= last));
            last = n;
        }
    return rows;
}

static void ordered_by_a_value_outside_of_the_rows(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[ROWS];
    uint64_t seed = 5;
    uint32_t have = 0;
    rows_make(w, e, ROWS, some_have_some);
    const reef_query up = query_new(w, "in Spark"), down = query_new(w, "in Position, Spark"),
                     tens = query_new(w, "in Spark");
    assert_ok(reef_query_order(w, up, &(reef_order){.component = reef_id(Spark), .key = spark_key}));
    assert_ok(
        reef_query_order(w, down, &(reef_order){.component = reef_id(Spark), .key = spark_key, .descending = true}));
    assert_ok(reef_query_order(w, tens, &(reef_order){.component = reef_id(Spark), .key = spark_tens}));
    for (uint32_t i = 0; i < ROWS; i++) have += some_have_some(i) & 1;
    for (uint32_t k = 0; k < 60; k++) {
        assert_true(ordered(w, up, false) == have && ordered(w, down, true) == have);
        uint64_t in_groups = 0;
        for (reef_group g = {0}; reef_query_next_group(w, tens, &g); in_groups += g.count)
            for (reef_block b = reef_begin_loop(w, tens, &(reef_loop){.grouped = true, .group = g.key}); reef_next(&b);)
                assert_int_equal(reef_in(&b, Spark)->n / 10, g.key);
        assert_int_equal(in_groups, have);
        const reef_entity some = e[random_below(&seed, ROWS)];
        switch (random_below(&seed, 3)) {
        case 0: have += reef_set(w, some, Spark, random_below(&seed, 500)) == REEF_ADDED; break;
        case 1: have -= reef_remove(w, some, Spark) == REEF_OK; break;
        default:
            if (reef_has(w, some, Spark)) reef_mut(w, some, Spark)->n = random_below(&seed, 500);
        }
    }
}

static void rows_follow_the_order_of_a_pool(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[ROWS];
    uint64_t seed = 9;
    for (uint32_t i = 0; i < ROWS; i++) e[i] = reef_spawn(w, reef_with(Position, (float)i, 1));
    for (uint32_t i = 0; i < 100; i++) {
        const uint32_t k = random_below(&seed, ROWS);
        assert_true(reef_set(w, e[k], Spark, k) >= 0);
    }
    const reef_query q = query_new(w, "in Position, in Spark");
    const uint64_t have = reef_query_count(w, q);
    uint32_t blocks = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) blocks++;
    assert_true(blocks > have / 2);
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = {.component = reef_id(Spark), .pool = true}}));
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_int_equal(b.count, have); /* all in one run, in front */
    for (uint32_t i = 0; i < b.count; i++) assert_true(reef_in(&b, Position)[i].x == (float)reef_in(&b, Spark)[i].n);
    assert_false(reef_next(&b));
    /* Those without it come last, by entity. */
    uint32_t rows = 0, last = 0;
    for (b = reef_begin(w, query_new(w, "in Position, !Spark")); reef_next(&b);)
        for (uint32_t i = 0, n; (n = reef_block_run(&b, &i)) != 0; i += n)
            for (uint32_t k = i; k < i + n; k++, rows++) {
                assert_true(rows == 0 || b.entities[k].index > last);
                last = b.entities[k].index;
            }
    assert_int_equal(rows, ROWS - have);
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = {.component = reef_id(Spark), .key = spark_key}}));
    b = reef_begin(w, q);
    for (last = 0; reef_next(&b); last = reef_in(&b, Spark)[b.count - 1].n) assert_true(reef_in(&b, Spark)->n >= last);
}

/* ---- systems ---- */

static void grow(reef_block *b)
{
    const Position *p = reef_in(b, Position);
    Spark *s = reef_inout(b, Spark);
    Leaf *l = reef_inout(b, Leaf);
    Trace *t = reef_inout(b, Trace);
    for (uint32_t i = 0; i < b->count; i++) {
        s[i].n = s[i].n * 3 + (uint32_t)p[i].x;
        l[i].n += s[i].n % 17;
        if (t) t[i].n++;
    }
}
static void ripen(reef_block *b) /* changed Leaf */
{
    Leaf *l = reef_inout(b, Leaf);
    for (uint32_t i = 0; i < b->count; i++) l[i].n += 1000;
}
static void scatter(reef_block *b) /* writes another's */
{
    const Rust *r = reef_in(b, Rust);
    for (uint32_t i = 0; i < b->count; i++) {
        const reef_entity other = {b->entities[i].index ^ 1, b->entities[i].generation};
        if (reef_has(b->world, other, Spark)) reef_mut(b->world, other, Spark)->n += r[i].n;
    }
}

static void systems_make(reef_world *w)
{
    assert_false(reef_system_is_null(reef_system(w, grow, "in Position, Spark, Leaf, ?Trace")));
    assert_false(reef_system_is_null(reef_system(w, ripen, "changed Leaf, !Rust")));
    assert_false(reef_system_is_null(reef_system(w, scatter, "in Rust; writes Spark")));
}

enum { MANY = 6000 };

static reef_world *world_of_many(void **state, reef_pool *pool)
{
    static reef_entity e[MANY];
    reef_world *w = another_world(state, NULL);
    if (pool) assert_ok(reef_set_pool(w, pool));
    reef_watch_systems(w, pool == NULL);
    rows_make(w, e, MANY, some_have_some);
    for (uint32_t i = 0; i < MANY; i += 7) assert_true(reef_set(w, e[i], Trace, i) > 0);
    systems_make(w);
    return w;
}

static void systems_over_homes_are_the_same_on_any_number_of_threads(void **state)
{
    reef_world *w = world_of_many(state, NULL), *f = NULL;
    uint64_t hash[6];
    for (uint32_t t = 0; t < 6; t++) {
        assert_ok(reef_tick(w, 1));
        hash[t] = reef_hash(w);
    }
    for (uint32_t threads = 2; threads <= 8; threads *= 2) {
        reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = threads, .shuffle = threads == 2 ? 0 : 77});
        reef_world *x = world_of_many(state, p);
        for (uint32_t t = 0; t < 6; t++) {
            if (t == 3) f = reef_fork(x); /* what is written is shared */
            assert_ok(reef_tick(x, 1));
            if (reef_hash(x) != hash[t]) fail_msg("tick %u on %u threads is another one", t, threads);
        }
        assert_int_equal(reef_hash(f), hash[2]);
        for (uint32_t t = 3; t < 6; t++) assert_ok(reef_tick(f, 1));
        assert_true(reef_equal(f, x, NULL));
        assert_valid(f);
        reef_world_free(f);
        end_world(state, x);
        reef_pool_free(p);
    }
}

static void a_claim_without_memory_leaves_every_value(void **state)
{
    for (uint64_t n = 1;; n++) {
        reef_world *w = world_of_many(state, NULL), *f = reef_fork(w);
        reef_watch_systems(w, false);
        const uint64_t hash = reef_hash(w);
        heap_fail_nth(heap_of(state), n * n, true);
        const reef_status s = reef_tick(w, 1);
        const bool failed = heap_of(state)->refused != 0;
        heap_fail_never(heap_of(state));
        if (failed) assert_status(REEF_NO_MEMORY, s);
        assert_int_equal(reef_hash(f), hash);
        assert_valid(w);
        reef_world_free(f);
        end_world(state, w);
        if (!failed) break;
    }
}

#ifdef REEF_CHECKED

static void cheat(reef_block *b)
{
    const reef_entity *first = b->context;
    ((Spark *)(uintptr_t)reef_get(b->world, *first, Spark))->n = 99;
}
static void lean(reef_block *b) /* its result depends on the order of rows */
{
    static uint32_t last;
    Spark *s = reef_inout(b, Spark);
    for (uint32_t i = 0; i < b->count; i++) last = s[i].n = s[i].n + last;
}
static uint32_t misuses;
static void count_misuse(void *context, reef_status s, const char *message)
{
    (void)context, (void)s, (void)message, misuses++;
}

static void stored_values_are_watched(void **state)
{
    static reef_entity e[20];
    reef_world *w = another_world(state, &(reef_world_config){.misuse = count_misuse});
    rows_make(w, e, 20, all_have_all);
    const reef_system_id id = reef_system_new(
        w, &(reef_system_desc){.name = "cheat", .function = cheat, .text = "in Spark; reads Spark", .context = e});
    misuses = 0;
    assert_ok(reef_tick(w, 1));
    assert_status(REEF_UNDECLARED, reef_last_error(w).status);
    assert_true(misuses == 1 && reef_last_error(w).component.id == reef_id(Spark).id);
    assert_entity(e[0], reef_last_error(w).entity);
    assert_string_equal(reef_last_error(w).system, "cheat");
    assert_ok(reef_system_remove(w, id));
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "lean", .function = lean, .text = "Spark, with Leaf"})));
    assert_ok(reef_tick(w, 1));
    assert_true(misuses == 2 && reef_last_error(w).component.id == reef_id(Spark).id);
    assert_string_equal(reef_last_error(w).system, "lean");
}

#endif

/* ---- what is walked, in words ---- */

static void explained(void **state)
{
    reef_world *w = world_of(state);
    char text[2000];
    const reef_query q = query_new(w, "Position, in Spark, with Leaf, Rust");
    assert_true(reef_query_explain(w, q, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "looks at rows: Spark is a bit of the row, 64 rows at a time\n"));
    assert_non_null(strstr(text, "looks at rows: Rust is cold, and looked up row by row\n"));
    assert_non_null(
        strstr(text, "cuts blocks where the values of Spark don't lie side by side: their home is REEF_SPARSE\n"));
    assert_null(strstr(text, "the values of Leaf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocks_are_runs_of_values_side_by_side),
        TEST(rows_that_stand_alone_are_all_visited_in_order),
        TEST(C3_F1_optional_values_are_in_all_rows_of_a_block_or_in_none),
        TEST(more_terms_with_data_than_a_block_has_cells),
        TEST(E2_F1_loops_leave_a_forks_values_alone),
        TEST(later_blocks_show_what_calls_wrote_meanwhile),
        TEST(pages_say_what_changed),
        TEST(what_cant_be_asked_is_refused),
        TEST(ordered_by_a_value_outside_of_the_rows),
        TEST(rows_follow_the_order_of_a_pool),
        TEST(systems_over_homes_are_the_same_on_any_number_of_threads),
        TEST(a_claim_without_memory_leaves_every_value),
#ifdef REEF_CHECKED
        TEST(stored_values_are_watched),
#endif
        TEST(explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
