/* Ordered queries: their rows in the order of keys, groups, and lists that are repaired instead of sorted anew. */
#include "support.h"
#include <math.h>

typedef struct {
    float z;
} Depth;
REEF_COMPONENT(Depth);
REEF_FIELDS(Depth, z);

typedef struct {
    int32_t row;
    uint16_t column;
} Cell;
REEF_COMPONENT(Cell);
REEF_FIELDS(Cell, row, column);

static uint64_t depth_key(const void *value) { return reef_key_f32(((const Depth *)value)->z); }
static uint64_t tracked_key(const void *value) { return reef_key_i32(((const Tracked *)value)->value); }

/* ---- what the order should be ---- */

typedef enum sense { BY_ENTITY, BY_Z, BY_ROW, BY_COLUMN } sense;

typedef struct want {
    reef_entity entity;
    double value; /* NaN behind everything */
} want;

enum { WANTS = 20000 };
static want wants[WANTS];
static bool wants_descend;

static int values_compare(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

static int wants_compare(const void *a, const void *b)
{
    const want *x = a, *y = b;
    const int order = values_compare(x->value, y->value);
    if (order) return wants_descend ? -order : order;
    return x->entity.index < y->entity.index ? -1 : 1;
}

static double value_of(const reef_world *w, reef_entity e, sense by)
{
    switch (by) {
    case BY_Z: return (double)reef_get(w, e, Depth)->z;
    case BY_ROW: return reef_get(w, e, Cell)->row;
    case BY_COLUMN: return reef_get(w, e, Cell)->column;
    default: return e.index;
    }
}

/* The rows that match, in the visible order, sorted by qsort. */
static uint32_t wants_make(reef_world *w, reef_query plain, sense by, bool descending)
{
    uint32_t n = 0;
    reef_each(w, plain, row)
    {
        assert_true(n < WANTS);
        wants[n++] = (want){row.entity, value_of(w, row.entity, by)};
    }
    wants_descend = descending;
    qsort(wants, n, sizeof *wants, wants_compare);
    return n;
}

/* The loop visits wants[first ... first + n - 1]. */
static void assert_loop(reef_world *w, reef_block b, uint32_t first, uint32_t n)
{
    uint32_t i = 0;
    while (reef_next(&b)) {
        assert_true(b.count >= 1 && b.count <= REEF_BLOCK_ROWS && i + b.count <= n);
        assert_null(reef_block_mask(&b));
        for (uint32_t k = 0; k < b.count; k++) assert_entity(wants[first + i + k].entity, b.entities[k]);
        i += b.count;
    }
    assert_int_equal(reef_last_error(w).status, REEF_OK);
    assert_int_equal(i, n);
}

static const reef_loop all_rows;

static void assert_order(reef_world *w, reef_query q, reef_query plain, sense by, bool descending)
{
    const uint32_t n = wants_make(w, plain, by, descending);
    assert_loop(w, reef_begin(w, q), 0, n);
    assert_int_equal(reef_query_count(w, q), n);
}

/* ---- small ones ---- */

static void by_a_float(void **state)
{
    static const float z[] = {3, -1, 0, NAN, -INFINITY, -0.0f, 7, INFINITY, -2.5f, NAN, 1e-40f, -1e-40f};
    static const int up[] = {4, 8, 1, 11, 2, 5, 10, 0, 6, 7, 3, 9}, down[] = {3, 9, 7, 6, 0, 10, 2, 5, 11, 1, 8, 4};
    reef_world *w = world_of(state);
    reef_entity e[12];
    reef_query q = reef_query_new(w, "in Depth");
    for (int i = 0; i < 12; i++) {
        e[i] = reef_spawn(w, reef_with(Depth, z[i]));
        if (i % 3 == 0) reef_add(w, e[i], Frozen);
    }
    for (int turn = 0; turn < 4; turn++) {
        const bool descending = turn % 2;
        const reef_order by_field = {.component = reef_id(Depth), .descending = descending};
        const reef_order by_key = {.component = reef_id(Depth), .key = depth_key, .descending = descending};
        int i = 0;
        assert_ok(reef_query_order(w, q, turn < 2 ? &by_field : &by_key));
        reef_each(w, q, row)
        {
            const float want_z = z[(descending ? down : up)[i]];
            assert_entity(e[(descending ? down : up)[i++]], row.entity);
            assert_memory_equal(reef_in_at(row, Depth), &want_z, sizeof want_z);
        }
        assert_int_equal(i, 12);
    }
    /* Back to the visible order: tables by name. */
    reef_entity seen[12];
    int n = 0;
    assert_ok(reef_query_order(w, q, NULL));
    assert_ok(reef_query_order(w, q, NULL));
    reef_each(w, q, row) seen[n++] = row.entity;
    assert_int_equal(n, 12);
    assert_entity(e[1], seen[0]);
    assert_entity(e[0], seen[8]);
    assert_entity(e[1], reef_query_first(w, q));
}

static void blocks_are_runs_and_give_their_columns(void **state)
{
    enum { N = 5000 };
    reef_world *w = world_of(state);
    static reef_entity e[N];
    reef_query q = reef_query_new(w, "Depth, in Cell, ?Mass");
    for (int i = 0; i < N; i++)
        e[i] = reef_spawn(w, reef_with(Depth, (float)(i * 7919 % N)), reef_with(Cell, .row = i));
    assert_ok(reef_query_order(w, q, &(reef_order){.component = reef_id(Depth), .field = "z"}));
    float last = -1;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        Depth *d = reef_inout(&b, Depth);
        const Cell *c = reef_in(&b, Cell);
        assert_null(reef_in(&b, Mass));
        for (uint32_t i = 0; i < b.count; i++) {
            assert_true(d[i].z > last);
            assert_entity(e[c[i].row], b.entities[i]);
            last = d[i].z;
            d[i].z = -last; /* the order stays while the loop is open */
        }
    }
    last = -N;
    reef_each(w, q, row)
    {
        assert_true(reef_in_at(row, Depth)->z > last);
        last = reef_in_at(row, Depth)->z;
    }
    /* Storage in the same order: the runs are the chunks. */
    uint32_t blocks = 0;
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = {.component = reef_id(Depth)}}));
    for (reef_block b = reef_begin(w, q); reef_next(&b);) blocks++;
    assert_int_equal(blocks, (N + REEF_BLOCK_ROWS - 1) / REEF_BLOCK_ROWS);
    /* A block of a part of a chunk. */
    reef_block b = reef_begin_loop(w, q, &(reef_loop){.offset = 1030, .limit = 50});
    assert_true(reef_next(&b));
    assert_int_equal(b.count, 50);
    for (uint32_t i = 0; i < 50; i++) assert_true(reef_in(&b, Depth)[i].z == reef_get(w, b.entities[i], Depth)->z);
    assert_false(reef_next(&b));
}

static void offset_and_limit_count_in_the_order(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 3000; i++) {
        reef_entity e = reef_spawn(w, reef_with(Depth, (float)(i * 37 % 100)));
        if (i % 2) reef_add(w, e, Awake);
    }
    const char *const texts[] = {"in Depth", "in Depth, Awake"};
    const uint32_t cuts[] = {0, 1, 63, 700, 1499, 1500, 2999, 3000, 4000};
    for (int k = 0; k < 2; k++) {
        reef_query q = reef_query_new(w, texts[k]), plain = reef_query_new(w, texts[k]);
        assert_ok(reef_query_order(w, q, &(reef_order){.component = reef_id(Depth), .descending = true}));
        const uint32_t n = wants_make(w, plain, BY_Z, true);
        assert_int_equal(n, k ? 1500 : 3000);
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++) {
                const uint32_t offset = cuts[i] < n ? cuts[i] : n, rest = n - offset;
                const uint32_t limit = cuts[j] == 0 || cuts[j] > rest ? rest : cuts[j];
                assert_loop(w, reef_begin_loop(w, q, &(reef_loop){.offset = cuts[i], .limit = cuts[j]}), offset, limit);
            }
        assert_loop(w, reef_begin_loop(w, q, &(reef_loop){.offset = UINT64_MAX, .limit = UINT64_MAX}), 0, 0);
        assert_loop(w, reef_begin_loop(w, q, &all_rows), 0, n);
    }
}

static void ties_are_ordered_by_entity(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[300];
    for (int i = 0; i < 300; i++) e[i] = reef_spawn(w, reef_with(Cell, .column = (uint16_t)(i % 3)));
    for (int i = 0; i < 300; i += 7) reef_destroy(w, e[i]);
    for (int i = 0; i < 300; i += 5) reef_spawn(w, reef_with(Cell, .column = 1), reef_tag(Hungry)); /* recycled ids */
    reef_query q = reef_query_new(w, "in Cell"), plain = reef_query_new(w, "in Cell");
    for (int descending = 0; descending < 2; descending++) {
        assert_ok(reef_query_order(
            w, q, &(reef_order){.component = reef_id(Cell), .field = "column", .descending = descending}));
        assert_order(w, q, plain, BY_COLUMN, descending);
        assert_ok(reef_query_order(w, q, &(reef_order){.descending = descending}));
        assert_order(w, q, plain, BY_ENTITY, descending);
    }
}

static void values_with_hooks(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 100; i++) reef_spawn(w, reef_with(Tracked, .value = i * 37 % 100 - 50));
    reef_query q = reef_query_new(w, "Tracked");
    assert_ok(reef_query_order(w, q, &(reef_order){.component = reef_id(Tracked), .key = tracked_key}));
    for (int turn = 0; turn < 2; turn++) {
        int32_t last = INT32_MIN;
        reef_each(w, q, row)
        {
            assert_true(reef_in_at(row, Tracked)->value > last);
            last = reef_in_at(row, Tracked)->value;
            reef_inout_at(row, Tracked)->value = -last;
        }
    }
}

/* ---- groups ---- */

static void assert_groups(reef_world *w, reef_query q, reef_query plain, bool descending)
{
    const uint32_t n = wants_make(w, plain, BY_COLUMN, descending);
    uint32_t i = 0;
    for (reef_group g = {0}; reef_query_next_group(w, q, &g);) {
        uint32_t end = i;
        assert_true(i < n);
        while (end < n && (uint64_t)wants[end].value == (uint64_t)wants[i].value) end++;
        assert_int_equal(g.key, (uint64_t)wants[i].value);
        assert_int_equal(g.count, end - i);
        assert_int_equal(reef_query_group_count(w, q, g.key), end - i);
        assert_loop(w, reef_begin_loop(w, q, &(reef_loop){.grouped = true, .group = g.key}), i, end - i);
        assert_loop(w, reef_begin_loop(w, q, &(reef_loop){.grouped = true, .group = g.key, .offset = 1, .limit = 3}),
                    i + (end - i > 1 ? 1 : 0), end - i < 4 ? end - i - 1 : 3);
        i = end;
    }
    assert_int_equal(i, n);
}

static void groups_of_an_order(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[2000];
    reef_query q = reef_query_new(w, "in Cell"), awake = reef_query_new(w, "in Cell, Awake");
    reef_query plain = reef_query_new(w, "in Cell"), plain_awake = reef_query_new(w, "in Cell, Awake");
    for (int i = 0; i < 2000; i++) {
        e[i] = reef_spawn(w, reef_with(Cell, .column = (uint16_t)(i * i % 97 * 3)));
        if (i % 5 == 0 && i * i % 97 != 1) reef_add(w, e[i], Awake);
    }
    for (int descending = 0; descending < 2; descending++) {
        const reef_order by = {.component = reef_id(Cell), .field = "column", .descending = descending};
        assert_ok(reef_query_order(w, q, &by));
        assert_ok(reef_query_order(w, awake, &by));
        assert_groups(w, q, plain, descending);
        assert_groups(w, awake, plain_awake, descending);
        assert_int_equal(reef_query_group_count(w, q, 1), 0);
        assert_int_equal(reef_query_group_count(w, q, UINT64_MAX), 0);
        assert_true(reef_query_group_count(w, q, 3) > 0);
        assert_int_equal(reef_query_group_count(w, awake, 3), 0);
        assert_loop(w, reef_begin_loop(w, q, &(reef_loop){.grouped = true, .group = 1}), 0, 0);
        assert_loop(w, reef_begin_loop(w, awake, &(reef_loop){.grouped = true, .group = 3}), 0, 0);
        reef_group g = {.key = 4, .begun = true}; /* of no row */
        assert_true(reef_query_next_group(w, q, &g));
        assert_int_equal(g.key, descending ? 3 : 6);
        g = (reef_group){.key = descending ? 0 : UINT64_MAX, .begun = true};
        assert_false(reef_query_next_group(w, q, &g));
        for (int i = 0; i < 2000; i += 11) reef_mut(w, e[i], Cell)->column ^= 512;
    }
}

static void a_term_of_another_entity_closes_all_groups(void **state)
{
    reef_world *w = world_of(state);
    reef_entity sun = reef_spawn(w, reef_with(Mass, 1));
    assert_ok(reef_set_name(w, sun, "sun"));
    for (int i = 0; i < 10; i++) reef_spawn(w, reef_with(Cell, .column = 4));
    reef_query q = reef_query_new(w, "in Cell, in Mass of sun");
    reef_group g = {0};
    assert_query(q);
    assert_ok(reef_query_order(w, q, &(reef_order){.component = reef_id(Cell), .field = "column"}));
    assert_int_equal(reef_query_group_count(w, q, 4), 10);
    assert_true(reef_query_next_group(w, q, &g));
    assert_ok(reef_remove(w, sun, Mass));
    g = (reef_group){0};
    assert_int_equal(reef_query_group_count(w, q, 4), 0);
    assert_false(reef_query_next_group(w, q, &g));
    assert_loop(w, reef_begin(w, q), 0, 0);
}

/* ---- random worlds, random histories ---- */

static uint64_t seed_now;
static uint32_t any_below(uint32_t n)
{
    seed_now = seed_now * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed_now >> 33) % n);
}

static float any_z(void)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, 0, -0.0f, 1e-42f, -1e-42f, 1};
    return any_below(4) == 0 ? special[any_below(8)] : ((float)any_below(2000) - 1000) / 8;
}

typedef struct asked {
    const char *text;
    sense by;
    bool descending, key;
} asked;

static const asked questions[] = {
    {"in Depth", BY_Z, false, false},
    {"in Depth, !Frozen", BY_Z, true, false},
    {"Cell, in Depth, Awake", BY_ROW, false, false},
    {"in Cell | in Depth", BY_ENTITY, true, false},
    {"Depth, ?Cell, !Awake", BY_Z, false, true},
    {"Awake", BY_ENTITY, false, false},
    {"in Cell, ?Mass", BY_COLUMN, true, false},
    {"in Cell, Frozen | Hungry | Awake", BY_COLUMN, false, false},
};
enum { QUESTIONS = sizeof questions / sizeof *questions, CROWD = 3000 };

static reef_order order_of(const asked *a)
{
    reef_order o = {.descending = a->descending};
    if (a->by == BY_Z) o.component = reef_id(Depth);
    else if (a->by != BY_ENTITY) o.component = reef_id(Cell);
    if (a->key) o.key = depth_key;
    else if (a->by == BY_ROW || a->by == BY_COLUMN) o.field = a->by == BY_ROW ? "row" : "column";
    return o;
}

typedef struct crowd {
    reef_world *w;
    reef_query ordered[QUESTIONS], plain[QUESTIONS];
    reef_entity e[CROWD];
    uint32_t count;
} crowd;

static void crowd_ask(crowd *c, reef_world *w)
{
    c->w = w;
    for (int i = 0; i < QUESTIONS; i++) {
        const reef_order o = order_of(&questions[i]);
        c->ordered[i] = reef_query_new(w, questions[i].text);
        c->plain[i] = reef_query_new(w, questions[i].text);
        assert_query(c->plain[i]);
        assert_ok(reef_query_order(w, c->ordered[i], &o));
    }
}

static void crowd_spawn(crowd *c)
{
    if (c->count == CROWD) return;
    reef_entity e = reef_create(c->w);
    if (any_below(4)) reef_set(c->w, e, Depth, any_z());
    if (any_below(3)) reef_set(c->w, e, Cell, .row = (int32_t)any_below(50) - 25, .column = (uint16_t)any_below(12));
    if (any_below(4) == 0) reef_set(c->w, e, Mass, 1);
    if (any_below(5) == 0) reef_add(c->w, e, Frozen);
    if (any_below(5) == 0) reef_add(c->w, e, Hungry);
    if (any_below(3) == 0) reef_add(c->w, e, Awake);
    c->e[c->count++] = e;
}

static void crowd_touch(crowd *c, reef_entity e)
{
    reef_world *w = c->w;
    switch (any_below(11)) {
    case 0: reef_set(w, e, Depth, any_z()); break;
    case 1:
        if (reef_has(w, e, Depth)) reef_mut(w, e, Depth)->z = any_z();
        break;
    case 2:
        if (reef_has(w, e, Cell)) reef_mut(w, e, Cell)->row = (int32_t)any_below(50) - 25;
        break;
    case 3: reef_set(w, e, Cell, .row = 1, .column = (uint16_t)any_below(12)); break;
    case 4:
        if (reef_has(w, e, Depth)) reef_remove(w, e, Depth);
        break;
    case 5:
        if (reef_has(w, e, Frozen)) reef_remove(w, e, Frozen);
        else reef_add(w, e, Frozen);
        break;
    case 6:
        if (reef_has(w, e, Awake)) reef_remove(w, e, Awake);
        else reef_add(w, e, Awake);
        break;
    case 7:
        if (reef_has(w, e, Mass)) reef_remove(w, e, Mass);
        else reef_set(w, e, Mass, 2);
        break;
    case 8:
        if (reef_has(w, e, Depth)) reef_enable_id(w, e, reef_id(Depth), any_below(3) > 0);
        break;
    case 9: reef_enable_id(w, e, (reef_component){0}, any_below(3) > 0); break;
    default:
        if (reef_has(w, e, Cell)) reef_mut(w, e, Cell)->column = (uint16_t)any_below(12);
        break;
    }
}

static void crowd_change(crowd *c)
{
    reef_world *w = c->w;
    const uint32_t what = any_below(40), i = c->count ? any_below(c->count) : 0;
    if (what < 8 || c->count == 0) {
        crowd_spawn(c);
    } else if (what < 14) {
        assert_ok(reef_destroy(w, c->e[i]));
        c->e[i] = c->e[--c->count];
    } else if (what < 37) {
        crowd_touch(c, c->e[i]);
    } else if (what == 37) {
        reef_each(w, c->ordered[2], row) reef_inout_at(row, Cell)->row = (int32_t)any_below(50) - 25;
    } else if (what == 38) {
        const reef_order o = order_of(&questions[any_below(QUESTIONS)]);
        const reef_component tag = any_below(2) ? reef_id(Hungry) : reef_id(Mass);
        const reef_query q = c->plain[any_below(QUESTIONS)];
        if (any_below(4) == 0) assert_ok(reef_sort_storage(w, &(reef_sort){.order = o}));
        else if (any_below(2)) assert_ok(reef_add_where_id(w, q, tag, NULL)); /* whole chunks go to another table */
        else assert_ok(reef_remove_where_id(w, q, tag, NULL));
    } else {
        const uint32_t n = any_below(40);
        for (uint32_t k = 0; k < n; k++) crowd_spawn(c);
        for (uint32_t k = 0; k < n && any_below(3) && c->count; k++) assert_ok(reef_destroy(w, c->e[--c->count]));
    }
}

/* Blocks and all: a query with a history walks as one that was just made. */
static void assert_as_fresh(crowd *c, int i)
{
    reef_world *w = c->w;
    const reef_order o = order_of(&questions[i]);
    reef_query fresh = reef_query_new(w, questions[i].text);
    assert_ok(reef_query_order(w, fresh, &o));
    reef_block x = reef_begin(w, c->ordered[i]), y = reef_begin(w, fresh);
    while (reef_next(&x)) {
        assert_true(reef_next(&y));
        assert_int_equal(x.count, y.count);
        assert_entity(x.entities[0], y.entities[0]);
        assert_ptr_equal(x.entities, y.entities);
    }
    assert_false(reef_next(&y));
    assert_ok(reef_query_free(w, fresh));
}

static void crowd_check(crowd *c, int i)
{
    const asked *a = &questions[i];
    assert_order(c->w, c->ordered[i], c->plain[i], a->by, a->descending);
    if (a->by == BY_COLUMN && any_below(4) == 0) assert_groups(c->w, c->ordered[i], c->plain[i], a->descending);
    if (any_below(8) == 0) assert_as_fresh(c, i);
}

/* Another world with the same state: its queries are copies. */
static void fork_check(crowd *c)
{
    static crowd other;
    reef_world *w = c->w;
    other = *c;
    other.w = reef_fork(w);
    assert_non_null(other.w);
    for (int i = 0; i < QUESTIONS; i++) {
        other.ordered[i] = reef_query_copy(other.w, w, c->ordered[i]);
        other.plain[i] = reef_query_copy(other.w, w, c->plain[i]);
    }
    for (int round = 0; round < 4; round++) {
        for (uint32_t k = any_below(20); k > 0; k--) crowd_change(&other);
        crowd_check(&other, (int)any_below(QUESTIONS));
        crowd_change(c);
        crowd_check(c, (int)any_below(QUESTIONS));
    }
    assert_valid(other.w);
    reef_world_free(other.w);
}

static void random_world(void **state, uint64_t seed, uint32_t crowd_size, int rounds)
{
    static crowd c, then;
    reef_world *w = another_world(state, NULL);
    reef_snapshot *snapshot = NULL;
    seed_now = seed;
    memset(&c, 0, sizeof c);
    crowd_ask(&c, w);
    for (uint32_t i = 0; i < crowd_size; i++) {
        c.w = w;
        crowd_spawn(&c);
    }
    for (int round = 0; round < rounds; round++) {
        for (uint32_t k = any_below(30); k > 0; k--) crowd_change(&c);
        for (uint32_t k = any_below(3); k > 0; k--) crowd_check(&c, (int)any_below(QUESTIONS));
        if (any_below(30) == 0) fork_check(&c);
        if (snapshot == NULL && any_below(10) == 0) {
            snapshot = reef_snapshot_take(w);
            then = c;
        } else if (snapshot && any_below(10) == 0) {
            assert_ok(reef_restore(w, snapshot));
            c = then;
            if (any_below(2)) reef_snapshot_free(snapshot), snapshot = NULL;
        }
    }
    for (int i = 0; i < QUESTIONS; i++) crowd_check(&c, i);
    reef_snapshot_free(snapshot);
    assert_valid(w);
    end_world(state, w);
}

static void repaired_lists_are_right(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) random_world(state, seed, (uint32_t)(seed % 7) * 30, 40);
    for (uint64_t seed = 100; seed < 104; seed++) random_world(state, seed, 2600, 60);
}

/* ---- loops within loops ---- */

static void a_loop_inside_another(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 100; i++) reef_spawn(w, reef_with(Depth, (float)(i * 37 % 100)));
    reef_query q = reef_query_new(w, "Depth"), writer = reef_query_new(w, "Depth"),
               plain = reef_query_new(w, "in Depth");
    assert_ok(reef_query_order(w, q, &(reef_order){.component = reef_id(Depth)}));
    const uint32_t n = wants_make(w, plain, BY_Z, false);
    uint32_t i = 0;
    reef_each(w, q, row)
    {
        assert_entity(wants[i++].entity, row.entity);
        reef_inout_at(row, Depth)->z *= -1;
        if (i == 50) assert_loop(w, reef_begin(w, q), 0, n); /* as it began */
    }
    assert_int_equal(i, n);
    assert_order(w, q, plain, BY_Z, false);
    reef_query other = reef_query_new(w, "in Depth");
    assert_ok(reef_query_order(w, other, &(reef_order){.component = reef_id(Depth)}));
    /* What a loop writes behind an ordered one inside it is not missed. */
    for (int turn = 0; turn < 3; turn++) {
        for (reef_block b = reef_begin(w, writer); reef_next(&b);) {
            Depth *d = reef_inout(&b, Depth);
            d[0].z = (float)turn;
            if (turn) (void)reef_query_group_count(w, q, 7);
            else
                for (reef_block inner = reef_begin(w, other); reef_next(&inner);) continue;
            d[1].z = turn % 2 ? 3000 : -3000;
            d[99].z = turn % 2 ? -2000 : 2000;
        }
        assert_order(w, other, plain, BY_Z, false);
        assert_order(w, q, plain, BY_Z, false); /* this one writes */
    }
}

static void ordered_and_changed(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[4000];
    for (int i = 0; i < 4000; i++) {
        e[i] = reef_spawn(w, reef_with(Depth, (float)(i * 1237 % 4000)), reef_with(Cell, .row = i));
        if (i % 10 == 3) reef_add(w, e[i], Awake);
    }
    /* It writes Cell where it comes by: that isn't a change to the loop itself. */
    reef_query q = reef_query_new(w, "in Depth, Awake | changed Cell");
    reef_query plain = reef_query_new(w, "in Depth, Awake | changed in Cell");
    assert_query(q);
    assert_ok(reef_query_order(w, q, &(reef_order){.component = reef_id(Depth)}));
    uint32_t n = wants_make(w, plain, BY_Z, false);
    assert_int_equal(n, 4000);
    assert_loop(w, reef_begin(w, q), 0, n);
    for (int turn = 0; turn < 3; turn++) {
        for (reef_block b = reef_begin(w, plain); reef_next(&b);) continue;
        reef_mut(w, e[1024 * turn + 5], Cell)->row++;
        n = wants_make(w, plain, BY_Z, false);
        assert_true(n > 1024 && n < 1500);
        if (turn == 1) { /* one that is left early has its rows, too */
            reef_query copy = reef_query_copy(w, w, plain);
            assert_ok(reef_query_order(w, copy, &(reef_order){.component = reef_id(Depth)}));
            reef_block left = reef_begin(w, copy), inner;
            assert_true(reef_next(&left));
            inner = reef_begin(w, copy);
            assert_true(reef_next(&inner));
            reef_end(&left);
            reef_end(&inner);
            assert_ok(reef_query_free(w, copy));
            assert_loop(w, reef_begin_loop(w, q, &(reef_loop){.limit = 100}), 0, 100);
        } else {
            assert_loop(w, reef_begin_loop(w, q, &(reef_loop){.offset = 3}), 3, n - 3);
        }
    }
}

/* ---- refusals ---- */

static void mistakes_change_nothing(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    for (int i = 0; i < 20; i++)
        reef_spawn(w, reef_with(Depth, (float)-i), reef_with(Cell, .row = i), reef_tag(Frozen));
    reef_entity e = reef_spawn(w, reef_with(Mass, 1));
    assert_ok(reef_set_name(w, e, "sun"));
    reef_query q = reef_query_new(w, "in Depth, ?Cell, Frozen, Position | Frozen, in Mass of sun, !Health");
    reef_query gone = reef_query_new(w, "Depth");
    reef_group g = {0};
    const reef_order by = {.component = reef_id(Depth)};
    const reef_component bad[] = {reef_id(Cell),   reef_id(Frozen),   reef_id(Position), reef_id(Mass),
                                  reef_id(Health), reef_id(Velocity), reef_id(Awake)};
    assert_query(q);
    assert_ok(reef_query_free(w, gone));
    /* Without an order. */
    reef_block refused = reef_begin_loop(w, q, &(reef_loop){.grouped = true});
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    assert_false(reef_next(&refused));
    assert_zero(w, REEF_BAD_ARGUMENT, reef_query_group_count(w, q, 0));
    assert_zero(w, REEF_BAD_ARGUMENT, reef_query_next_group(w, q, &g));
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            assert_refused(w, REEF_BAD_ARGUMENT,
                           reef_query_order(w, q, &(reef_order){.component = bad[i], .key = depth_key}));
        assert_refused(w, REEF_BAD_ARGUMENT,
                       reef_query_order(w, q, &(reef_order){.component = reef_id(Depth), .field = "x"}));
        assert_refused(
            w, REEF_BAD_ARGUMENT,
            reef_query_order(w, q, &(reef_order){.component = reef_id(Depth), .field = "z", .key = depth_key}));
        assert_refused(w, REEF_BAD_ARGUMENT, reef_query_order(w, q, &(reef_order){.key = depth_key}));
        assert_refused(w, REEF_UNKNOWN_TYPE, reef_query_order(w, q, &(reef_order){.component = {REEF_TYPES_MAX + 1}}));
        assert_refused(w, REEF_NOT_ALIVE, reef_query_order(w, gone, &by));
        assert_refused(w, REEF_NOT_ALIVE, reef_query_order(w, (reef_query){0, 0, 0}, NULL));
        assert_refused(other, REEF_OTHER_WORLD, reef_query_order(other, q, &by));
        assert_zero(w, REEF_NOT_ALIVE, reef_query_group_count(w, gone, 0));
        assert_zero(w, REEF_NOT_ALIVE, reef_query_next_group(w, gone, &g));
        assert_zero(other, REEF_OTHER_WORLD, reef_query_group_count(other, q, 0));
        assert_zero(w, REEF_BAD_ARGUMENT, reef_query_next_group(w, q, NULL));
        if (turn == 0) assert_ok(reef_query_order(w, q, &by));
    }
    assert_int_equal(reef_query_order(NULL, q, &by), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_query_group_count(NULL, q, 0), 0);
    assert_false(reef_query_next_group(NULL, q, &g));
    assert_false(g.begun);
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_slices_begin(w, q, NULL, 2));
    /* The order that it had is still there. */
    float last = -100;
    reef_each(w, q, row)
    {
        assert_true(reef_in_at(row, Depth)->z > last);
        last = reef_in_at(row, Depth)->z;
    }
    assert_true(last == 0);
}

static void an_open_loop_keeps_the_order(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 20; i++) reef_spawn(w, reef_with(Depth, (float)-i));
    reef_query q = reef_query_new(w, "in Depth"), other = reef_query_new(w, "in Depth");
    const reef_order by = {.component = reef_id(Depth)};
    for (int turn = 0; turn < 2; turn++) {
        reef_block b = reef_begin(w, q);
        assert_true(reef_next(&b));
        assert_refused(w, REEF_LOCKED, reef_query_order(w, q, &by));
        assert_refused(w, REEF_LOCKED, reef_query_order(w, q, NULL));
        assert_refused(w, REEF_LOCKED, reef_query_free(w, q));
        assert_ok(reef_query_order(w, other, &by)); /* of another query */
        reef_end(&b);
        assert_ok(reef_query_order(w, q, &by));
    }
    reef_query copy = reef_query_copy(w, w, q);
    assert_order(w, copy, reef_query_new(w, "in Depth"), BY_Z, false);
    /* A query that takes the place of one that was freed has no order. */
    assert_ok(reef_query_free(w, q));
    q = reef_query_new(w, "in Depth");
    assert_zero(w, REEF_BAD_ARGUMENT, reef_query_group_count(w, q, 0));
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_int_equal(b.count, 20);
    reef_end(&b);
}

/* ---- no memory ---- */

static void without_memory(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[3000];
    for (int i = 0; i < 3000; i++)
        e[i] = reef_spawn(w, reef_with(Depth, (float)(i * 1237 % 3000)), reef_with(Cell, .row = i));
    reef_query q = reef_query_new(w, "Depth, changed in Cell"), plain = reef_query_new(w, "in Depth, in Cell");
    for (int turn = 0; turn < 6; turn++) {
        const uint32_t n = turn == 3 ? 0 : 3000;
        uint64_t refused = 0;
        if (turn == 4)
            for (int i = 0; i < 3000; i += 2) reef_mut(w, e[i], Depth)->z += 2000;
        for (int i = 0; turn != 3 && i < 3000; i += 100) reef_mut(w, e[i], Cell)->row++;
        if (turn == 5) { /* some chunks are new to the list, and the loop unshares what it writes */
            for (int i = 0; i < 1500; i++) reef_spawn(w, reef_with(Depth, 1), reef_with(Cell, 1, 0), reef_tag(Frozen));
            reef_world_free(reef_fork(w));
        }
        const uint32_t rows = wants_make(w, plain, BY_Z, false);
        for (uint64_t nth = 1;; nth++) {
            assert_true(nth < 40);
            heap_fail_nth(heap_of(state), nth, nth % 2);
            if (turn == 0 && reef_query_order(w, q, &(reef_order){.component = reef_id(Depth)}) != REEF_OK) {
                heap_fail_never(heap_of(state));
                refused++;
                continue;
            }
            reef_block b = reef_begin(w, q);
            const bool failed = reef_last_error(w).status == REEF_NO_MEMORY;
            heap_fail_never(heap_of(state));
            if (!failed) {
                assert_loop(w, b, 0, turn == 3 ? n : rows);
                break;
            }
            refused++;
            assert_false(reef_next(&b));
            assert_valid(w);
            assert_some(reef_create(w)); /* nothing is open */
        }
        assert_true(refused > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(by_a_float),
        TEST(blocks_are_runs_and_give_their_columns),
        TEST(offset_and_limit_count_in_the_order),
        TEST(ties_are_ordered_by_entity),
        TEST(values_with_hooks),
        TEST(groups_of_an_order),
        TEST(a_term_of_another_entity_closes_all_groups),
        TEST(repaired_lists_are_right),
        TEST(a_loop_inside_another),
        TEST(ordered_and_changed),
        TEST(mistakes_change_nothing),
        TEST(an_open_loop_keeps_the_order),
        TEST(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
