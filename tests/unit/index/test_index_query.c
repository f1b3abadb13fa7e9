/* Conditions that are answered by value indexes: two worlds live the same life, one of them with indexes. All queries
 * find the same in both, in the same order, also while loops write what they ask for, and after rewinds. */
#include "support.h"
#include <reef/all.h>
#include <math.h>
#include <stdlib.h>

typedef enum Mood { CALM, ANGRY, FLEEING } Mood;
REEF_ENUM(Mood, CALM, ANGRY, FLEEING);
typedef struct {
    float at;
    double weight;
} Inner;
REEF_STRUCT(Inner, at, weight);
typedef struct {
    int32_t team;
    uint64_t big;
    int64_t deep;
    Inner in;
    Mood mood;
    uint8_t marks;
    char label[8];
    reef_entity owner;
    bool on;
} Crab;
REEF_COMPONENT(Crab);
REEF_FIELDS(Crab, team, big, deep, (in, struct, Inner), (mood, enum, Mood), marks, label, owner, on);
typedef struct {
    int32_t n;
    float x;
} Parts;
REEF_COMPONENT_IN(Parts, REEF_SPLIT);
REEF_FIELDS(Parts, n, x);
REEF_TAG(Rare);

static const char *const indexed_fields[] = {"team", "big",   "deep",  "in.at", "in.weight",
                                             "mood", "label", "owner", "on"};
enum { FIELDS = sizeof indexed_fields / sizeof *indexed_fields, CROWD = 5000, OWNERS = 80, SEEN = 2 * CROWD };

/* One of the two worlds. */
typedef struct twin {
    reef_world *w;
    reef_entity e[CROWD];
    reef_snapshot *s;
    reef_entity past[CROWD];
} twin;
typedef struct twins {
    twin t[2]; /* t[0] has indexes */
    uint64_t seed;
} twins;

static void indexes_make(reef_world *w)
{
    for (uint32_t i = 0; i < FIELDS; i++) assert_non_null(reef_index_of_id(w, reef_id(Crab), indexed_fields[i]));
    assert_non_null(reef_index_of(w, Parts, n));
    assert_non_null(reef_index_of(w, Parts, x));
}

static float drawn_float(uint64_t *seed)
{
    static const float odd[] = {-0.0f, 0.0f, (float)INFINITY, (float)-INFINITY, (float)NAN, 0.1f};
    if (random_below(seed, 8) == 0) return odd[random_below(seed, 6)];
    return (float)random_below(seed, 400) / 4 - 50;
}

static Crab drawn_crab(uint64_t *seed)
{
    static const uint64_t bigs[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, (UINT64_C(1) << 53) + 1};
    Crab c = {.team = (int32_t)random_below(seed, 200) - 100};
    c.big = random_below(seed, 3) ? random_below(seed, 300) : bigs[random_below(seed, 6)];
    c.deep = random_below(seed, 3) ? (int64_t)random_below(seed, 300) - 150
                                   : (random_below(seed, 2) ? INT64_MIN : INT64_MAX - (int64_t)random_below(seed, 2));
    c.in.at = drawn_float(seed);
    c.in.weight = drawn_float(seed);
    c.mood = random_below(seed, 40) ? CALM : random_below(seed, 2) ? ANGRY : FLEEING;
    c.marks = (uint8_t)random_below(seed, 8);
    snprintf(c.label, sizeof c.label, "c%u", random_below(seed, 150));
    c.owner = (reef_entity){random_below(seed, OWNERS), 1};
    c.on = random_below(seed, 50) == 0;
    return c;
}

/* ---- one life in both ---- */

static void born(twin *t, uint32_t i, const Crab *c, uint32_t kind)
{
    t->e[i] = reef_spawn(t->w, reef_with(Parts, c->team, c->in.at));
    if (kind) assert_status(REEF_ADDED, reef_set_id(t->w, t->e[i], reef_id(Crab), c, sizeof *c));
    if (kind > 1) assert_ok(reef_add(t->w, t->e[i], Rare));
}

static void step(twins *x)
{
    const uint32_t i = random_below(&x->seed, CROWD), what = random_below(&x->seed, 60),
                   kind = random_below(&x->seed, 3);
    const Crab c = drawn_crab(&x->seed);
    for (uint32_t k = 0; k < 2; k++) {
        twin *t = &x->t[k];
        reef_world *w = t->w;
        const bool has = reef_has(w, t->e[i], Crab);
        switch (what) {
        case 0:
        case 1:
            assert_ok(reef_destroy(w, t->e[i]));
            born(t, i, &c, kind);
            break;
        case 2:
        case 3:
            if (has) assert_ok(reef_remove(w, t->e[i], Crab));
            break;
        case 4:
            if (reef_has(w, t->e[i], Rare)) assert_ok(reef_remove(w, t->e[i], Rare));
            else assert_ok(reef_add(w, t->e[i], Rare));
            break;
        case 5:
            if (t->s == NULL) {
                t->s = reef_snapshot_take(w);
                memcpy(t->past, t->e, sizeof t->e);
            } else if (i < 200) {
                assert_ok(reef_restore(w, t->s));
                memcpy(t->e, t->past, sizeof t->e);
                reef_snapshot_free(t->s);
                t->s = NULL;
            }
            break;
        case 6:
        case 7: {
            if (i > 300) break; /* a whole block is written in place */
            uint32_t n = 0;
            for (reef_block b = reef_begin_text(w, "Crab"); reef_next(&b);) {
                Crab *all = reef_inout(&b, Crab);
                for (uint32_t r = 0; n < 300 && r < b.count; r++, n++) all[r].team = c.team + (int32_t)(r % 7);
            }
            break;
        }
        default:
            if (!has) assert_status(REEF_ADDED, reef_set_id(w, t->e[i], reef_id(Crab), &c, sizeof c));
            else if (what % 2) *reef_mut(w, t->e[i], Crab) = c;
            else assert_ok(reef_set_id(w, t->e[i], reef_id(Crab), &c, sizeof c));
        }
    }
}

/* ---- what is asked ---- */

static const char *drawn_number(char *to, size_t size, uint64_t *seed, uint32_t field)
{
    static const char *const bigs[] = {"18446744073709551615", "9223372036854775808", "9007199254740993", "0"};
    static const char *const deeps[] = {"-9223372036854775808", "9223372036854775807", "-1", "9223372036854775806"};
    static const char *const floats[] = {"0.1", "-0.0", "inf", "-inf", "12.25", "-49.75"};
    const uint32_t odd = random_below(seed, 3);
    if (field == 1 && odd == 0) return bigs[random_below(seed, 4)];
    if (field == 2 && odd == 0) return deeps[random_below(seed, 4)];
    if ((field == 3 || field == 4) && odd == 0) return floats[random_below(seed, 6)];
    snprintf(to, size, "%d", (int)random_below(seed, 200) - (field == 1 ? 0 : 100));
    return to;
}

/* A text of a condition on field `f`, or on one of Parts (FIELDS and more). */
static void drawn_condition(char *to, size_t size, uint64_t *seed, uint32_t f)
{
    static const char *const compares[] = {"==", "!=", "<", "<=", ">", ">="}, *const moods[] = {"CALM", "ANGRY",
                                                                                                "FLEEING"};
    char a[32], b[32];
    const char *name = f < FIELDS    ? indexed_fields[f]
                       : f == FIELDS ? "n"
                                     : "x",
               *how = compares[random_below(seed, 3) ? 0 : random_below(seed, 6)];
    const uint32_t number = f < 5 ? f : f == FIELDS ? 0 : 3;
    if (f == 5) snprintf(to, size, "%s %s %s", name, how, moods[random_below(seed, 3)]);
    else if (f == 6)
        snprintf(to, size, "%s %s \"c%u\"", name, random_below(seed, 5) ? "==" : "!=", random_below(seed, 160));
    else if (f == 7)
        snprintf(to, size, "%s %s #%uv1", name, random_below(seed, 5) ? "==" : "!=", random_below(seed, OWNERS));
    else if (f == 8) snprintf(to, size, "%s == %s", name, random_below(seed, 2) ? "true" : "false");
    else if (random_below(seed, 4) == 0)
        snprintf(to, size, "%s in %s..%s", name, drawn_number(a, sizeof a, seed, number),
                 drawn_number(b, sizeof b, seed, number));
    else snprintf(to, size, "%s %s %s", name, how, drawn_number(a, sizeof a, seed, number));
}

static void drawn_query(char *to, size_t size, uint64_t *seed)
{
    static const char *const forms[] = {"in Crab(%s)",      "Crab(%s), Rare",        "Crab, Crab(%s)",
                                        "Crab(%s), !Rare",  "in Crab(%s, %s)",       "Rare | Crab(%s)",
                                        "Crab, !Crab(%s)",  "?Rare, inout Crab(%s)", "either Crab(%s)",
                                        "changed Crab(%s)", "Crab(%s), Crab(%s)"};
    char a[100], b[100];
    drawn_condition(a, sizeof a, seed, random_below(seed, FIELDS));
    drawn_condition(b, sizeof b, seed, random_below(seed, FIELDS));
    const uint32_t form = random_below(seed, sizeof forms / sizeof *forms + 2);
    if (form < sizeof forms / sizeof *forms) {
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#endif
        snprintf(to, size, forms[form], a, b);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
        return;
    }
    drawn_condition(b, sizeof b, seed, FIELDS + random_below(seed, 2));
    snprintf(to, size, form % 2 ? "Parts(%s)" : "Parts(%s), Crab(%s)", b, a);
}

/* ---- asking both ---- */

static bool seen_by_index;

/* Visits what matches; `writes`: each visit changes the team of somebody. Returns how many were visited. */
static uint32_t visit(twin *t, reef_query q, reef_entity *seen, uint64_t seed, bool writes)
{
    reef_world *w = t->w;
    uint32_t n = 0;
    char text[2000];
    (void)reef_query_explain(w, q, text, sizeof text);
    seen_by_index |= strstr(text, "found by the index of") != NULL;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t row = 0, rows; (rows = reef_block_run(&b, &row)) != 0; row += rows)
            for (uint32_t i = row; i < row + rows; i++) {
                if (n < SEEN) seen[n] = b.entities[i];
                n++;
                if (!writes || n % 3) continue;
                const reef_entity e = t->e[random_below(&seed, CROWD)];
                const Crab c = drawn_crab(&seed);
                if (reef_has(w, e, Crab)) *reef_mut(w, e, Crab) = c;
            }
    return n;
}

static void ask_both(twins *x)
{
    static reef_entity seen[2][SEEN];
    char text[400];
    uint32_t n[2];
    uint64_t counts[2];
    reef_entity first[2];
    drawn_query(text, sizeof text, &x->seed);
    const bool writes = random_below(&x->seed, 8) == 0;
    const uint64_t seed = random_below(&x->seed, 1u << 30);
    for (uint32_t k = 0; k < 2; k++) {
        reef_world *w = x->t[k].w;
        reef_query q = reef_query_new(w, text);
        if (reef_query_is_null(q)) print_message("%s: %s\n", text, reef_last_error(w).detail);
        assert_query(q);
        first[k] = reef_query_first(w, q);
        counts[k] = reef_query_count(w, q);
        n[k] = visit(&x->t[k], q, seen[k], seed, writes);
        if (!writes && strstr(text, "changed") == NULL) assert_int_equal(n[k], counts[k]);
        reef_query_free(w, q);
    }
    if (n[0] != n[1] || memcmp(seen[0], seen[1], n[0] * sizeof **seen) != 0)
        print_message("%s: %u by indexes, %u without\n", text, n[0], n[1]);
    assert_int_equal(n[0], n[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_entity(first[1], first[0]);
    assert_memory_equal(seen[0], seen[1], n[0] * sizeof **seen);
}

static void as_without_indexes(void **state)
{
    const char *queries = getenv("INDEX_QUERIES");
    const uint32_t count = queries ? (uint32_t)strtoul(queries, NULL, 10) : 1500;
    static twins x;
    memset(&x, 0, sizeof x);
    x.seed = 77;
    x.t[0].w = world_of(state);
    x.t[1].w = another_world(state, NULL);
    for (uint32_t i = 0; i < 2 * OWNERS; i++) assert_some(reef_create(x.t[i % 2].w)); /* entities 0v1 and so on */
    for (uint32_t i = 0; i < CROWD; i++) {
        const Crab c = drawn_crab(&x.seed);
        const uint32_t kind = random_below(&x.seed, 3);
        born(&x.t[0], i, &c, kind);
        born(&x.t[1], i, &c, kind);
    }
    indexes_make(x.t[0].w);
    seen_by_index = false;
    for (uint32_t n = 0; n < count; n++) {
        for (uint32_t k = random_below(&x.seed, 6); k > 0; k--) step(&x);
        ask_both(&x);
        if (n % 500 == 499) assert_true(reef_hash(x.t[0].w) == reef_hash(x.t[1].w));
    }
    assert_true(seen_by_index);
    reef_snapshot_free(x.t[0].s);
    reef_snapshot_free(x.t[1].s);
}

static void what_explain_says(void **state)
{
    reef_world *w = world_of(state);
    char text[2000];
    for (int32_t i = 0; i < 4000; i++) (void)reef_spawn(w, reef_with(Crab, .team = i % 1000));
    reef_query q = reef_query_new(w, "in Crab(team == $t)");
    assert_ok(reef_query_set(w, q, "t", 5));
    (void)reef_query_explain(w, q, text, sizeof text);
    assert_non_null(strstr(text, "looks at the values of 4000 rows: Crab(team == $t), 64 rows at a time\n"));
    assert_non_null(reef_index_of(w, Crab, team));
    (void)reef_query_explain(w, q, text, sizeof text);
    assert_non_null(strstr(text, "looks at the values of 4 rows, found by the index of team: Crab(team == $t)\n"));
    assert_int_equal(reef_query_count(w, q), 4);
    assert_ok(reef_query_set(w, q, "t", 2000));
    assert_int_equal(reef_query_count(w, q), 0);
    reef_query many = reef_query_new(w, "in Crab(team > 100)"); /* so many that it doesn't pay */
    (void)reef_query_explain(w, many, text, sizeof text);
    assert_non_null(strstr(text, "looks at the values of 4000 rows: "));
    assert_int_equal(reef_query_count(w, many), 4 * 899);
}

/* A loop in a loop, and values that the outer one writes. */
static void loops_in_loops(void **state)
{
    reef_world *w = world_of(state);
    static reef_entity e[4000];
    for (int32_t i = 0; i < 4000; i++) e[i] = reef_spawn(w, reef_with(Crab, .team = i % 1000));
    (void)reef_index_of(w, Crab, team);
    reef_query q = reef_query_new(w, "in Crab(team == 5)"), inner = reef_query_new(w, "in Crab(team == 6)");
    uint32_t n = 0, m = 0;
    assert_int_equal(reef_query_count(w, inner), 4);
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        if (n++ == 0) reef_mut(w, e[3999], Crab)->team = 5, reef_mut(w, e[3998], Crab)->team = 6;
        m += (uint32_t)reef_query_count(w, inner);
    }
    assert_int_equal(n, 4);
    reef_query of = reef_query_new(w, "in Crab(team == $t)");
    assert_ok(reef_query_set(w, of, "t", 7));
    assert_int_equal(reef_query_count(w, of), 4);
    for (reef_block b = reef_begin_text(w, "in Crab"); reef_next(&b);) { /* where no index is asked */
        assert_ok(reef_query_set(w, of, "t", 8));
        assert_int_equal(reef_query_count(w, of), 4);
        assert_int_equal(reef_get(w, reef_query_first(w, of), Crab)->team, 8);
    }
    assert_int_equal(m, 4 * 5);
    assert_int_equal(reef_query_count(w, q), 5);
    assert_ok(reef_destroy(w, e[5]));
    assert_int_equal(reef_query_count(w, q), 4);
    assert_ok(reef_disable(w, e[1005]));
    assert_int_equal(reef_query_count(w, q), 3);
    assert_ok(reef_enable(w, e[1005]));
    assert_int_equal(reef_query_count(w, q), 4);
}

/* Indexes have neither templates nor what is disabled; queries that ask for these look at rows. */
static void what_no_index_has(void **state)
{
    reef_world *w = world_of(state);
    for (int32_t i = 0; i < 4000; i++) {
        reef_entity e = reef_spawn(w, reef_with(Crab, .team = i % 1000));
        if (i == 5) assert_ok(reef_make_prefab(w, e));
    }
    (void)reef_index_of(w, Crab, team);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "in Crab(team == 5)")), 3);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "?ReefPrefab, in Crab(team == 5)")), 4);
    const reef_query either = reef_query_new(w, "either Crab(team == 5)");
    assert_int_equal(reef_query_count(w, either), 3);
    assert_ok(reef_enable_id(w, reef_query_first(w, either), reef_id(Crab), false));
    assert_int_equal(reef_query_count(w, either), 3);
    assert_int_equal(reef_query_count(w, reef_query_new(w, "in Crab(team == 5)")), 2);
}

/* Without memory a loop looks at all rows. */
static void no_memory_to_mark(void **state)
{
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    for (int32_t i = 0; i < 4000; i++) (void)reef_spawn(w, reef_with(Crab, .team = i % 1000));
    (void)reef_index_of(w, Crab, team);
    reef_query q = reef_query_new(w, "in Crab(team == $t)");
    for (int32_t i = 0; i < 60; i++) {
        (void)reef_spawn(w, reef_with(Crab, .team = i));
        assert_ok(reef_query_set(w, q, "t", i));
        for (uint64_t n = 1;; n++) {
            heap_fail_nth(h, n, n % 2);
            const uint64_t count = reef_query_count(w, q);
            const bool failed = h->refused != 0;
            heap_fail_never(h);
            if (count == 0) assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
            else assert_int_equal(count, 5);
            if (!failed) break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(as_without_indexes), TEST(what_explain_says), TEST(loops_in_loops),
        TEST(what_no_index_has),  TEST(no_memory_to_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
