/* The allocation sweep over queries: making, copying, splitting and ordering them, and looping. */
#include "oom_topics.h"

static uint64_t mass_key(const void *value) { return reef_key_f64(((const Mass *)value)->kg); }

static bool query_walk(sweep *s)
{
    uint32_t rows_seen = 0;
    for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);) rows_seen += b.count;
    return rows_seen == reef_count(s->w, Mass);
}

static void with_query(sweep *s)
{
    rows(s, 20);
    s->query = reef_query_new(s->w, "Position, in Mass");
    assert_query(s->query);
}

static void with_query_of(sweep *s, reef_access access, reef_since since, reef_op mass)
{
    rows(s, 1500);
    for (int i = 0; i < 1500; i += 2) assert_ok(reef_add(s->w, s->e[i], Awake));
    s->query = reef_query_make(
        s->w, &(reef_query_desc){.terms = {{.component = reef_id(Position), .access = access, .since = since},
                                           {.component = reef_id(Mass), .access = access, .op = mass}}});
    assert_query(s->query);
}

static void with_query_out(sweep *s) { with_query_of(s, REEF_OUT, REEF_ALWAYS, REEF_HAS); }
static void with_query_out_optional(sweep *s) { with_query_of(s, REEF_OUT, REEF_ALWAYS, REEF_OPTIONAL); }
static void with_query_inout(sweep *s) { with_query_of(s, REEF_INOUT, REEF_ALWAYS, REEF_HAS); }
static void with_query_changed(sweep *s) { with_query_of(s, REEF_INOUT, REEF_IF_CHANGED, REEF_HAS); }

/* An ordered one, and rows that are new to its list. */
static void with_ordered_query(sweep *s)
{
    with_query(s);
    assert_ok(reef_query_order(s->w, s->query, &(reef_order){.component = reef_id(Mass), .key = mass_key}));
    query_walk(s);
    for (int i = 0; i < 100; i++) reef_spawn(s->w, reef_with(Position, 1, 2), reef_with(Mass, 1 - i), reef_tag(Frozen));
}

/* A query that was used before, and tables that are new to it. */
static void with_used_query(sweep *s)
{
    with_query(s);
    assert_int_equal(reef_query_count(s->w, s->query), 20);
    for (uint32_t i = 0; i < 40; i++) {
        reef_component c = numbered_type("tag", i, 0, 1);
        reef_spawn_values(
            s->w, (reef_value[]){reef_with(Position, 1, 2), reef_with(Mass, 1), {c, REEF_VALUE_DEFAULT, 0, 0}}, 3);
    }
}

/* A query that was used, and then a subtype of its term is declared. */
static void with_sub_query(sweep *s)
{
    static uint32_t number;
    char name[32];
    some_rows(s);
    s->query = reef_query_new(s->w, "Position+");
    query_walk(s);
    snprintf(name, sizeof name, "SweptPosition%u", number++);
    const reef_component c = reef_type_new(&(reef_type_desc){.name = name,
                                                             .size = 16,
                                                             .align = 4,
                                                             .home = number % 2 ? REEF_SPARSE : REEF_TABLE,
                                                             .base = reef_id(Position)},
                                           NULL);
    assert_true(c.id != 0);
}
static bool sub_query_new(sweep *s)
{
    s->made = reef_query_new(s->w, "Position+, in Mass+");
    return !reef_query_is_null(s->made);
}

/* Values with fields, and a query that asks for them, whose parameter is set. */
typedef struct {
    int32_t left;
    char name[8];
} Asked;
REEF_COMPONENT(Asked);
REEF_FIELDS(Asked, left, name);
static void with_asked(sweep *s)
{
    rows(s, 1500);
    for (int i = 0; i < 1500; i += 3) assert_int_equal(reef_set(s->w, s->e[i], Asked, i, "a"), REEF_ADDED);
}
static void with_asking_query(sweep *s)
{
    with_asked(s);
    s->query = reef_query_new(s->w, "Position, Asked(left < $most, name == $name)");
    assert_ok(reef_query_set(s->w, s->query, "most", 100));
    assert_ok(reef_query_set(s->w, s->query, "name", "a"));
}
static bool asking_query_new(sweep *s)
{
    s->made = reef_query_new(s->w, "in Mass, Asked(left in 3..$most) | Asked(name != \"a\", left == 7)");
    return !reef_query_is_null(s->made) && reef_query_set(s->w, s->made, "most", 9) == REEF_OK &&
           reef_query_count(s->w, s->made) == 3;
}
static bool asking_query_walk(sweep *s)
{
    uint32_t rows_seen = 0;
    for (reef_row row = reef_rows(s->w, s->query); reef_plain_row_next(&row);) rows_seen++;
    return rows_seen == 34; /* 0, 3 ... 99 */
}

/* A query that joins by values, from a list that its loop makes, or from an index. */
static void with_join(sweep *s)
{
    with_asked(s);
    s->query = reef_query_new(s->w, "Position, Asked(left as $l), Asked($o, left == $l, name == \"a\")");
}
static void with_indexed_join(sweep *s)
{
    with_join(s);
    assert_non_null(reef_index_of(s->w, Asked, left));
    reef_mut(s->w, s->e[3], Asked)->left = 0; /* two have this one now */
}
static bool join_new(sweep *s)
{
    s->made = reef_query_new(s->w, "in Position, Asked(left as $l), Asked($o, left == $l)");
    return !reef_query_is_null(s->made) && reef_query_count(s->w, s->made) == 500;
}
static bool join_rows(sweep *s, uint32_t wanted)
{
    uint32_t rows_seen = 0;
    for (reef_row row = reef_rows(s->w, s->query); reef_plain_row_next(&row);) rows_seen++;
    return rows_seen == wanted;
}
static bool join_walk(sweep *s) { return join_rows(s, 500); }
static bool indexed_join_walk(sweep *s) { return join_rows(s, 502); }
static bool asking_query_bulk(sweep *s) { return done(reef_add_where_id(s->w, s->query, reef_id(Frozen), NULL)); }
static void asking_update(reef_block *b) { (void)b; }
static bool asking_system(sweep *s)
{
    return !reef_system_is_null(reef_system(s->w, asking_update, "in Position, Asked(name == \"a\")"));
}
static void asked_heard(const reef_notice *n) { (void)n; }
static bool asking_observer(sweep *s)
{
    return !reef_observer_is_null(reef_observer_new(s->w, &(reef_observer_desc){.name = "asking",
                                                                                .function = asked_heard,
                                                                                .text = "Asked(left < 100)",
                                                                                .events = REEF_ON_MATCH,
                                                                                .existing = true}));
}
static bool query_new(sweep *s)
{
    s->made = reef_query_new(s->w, "Position, in Mass, with Awake, with Frozen");
    return !reef_query_is_null(s->made);
}
static bool query_use(sweep *s)
{
    s->made = reef_query_new(s->w, "in Mass");
    return !reef_query_is_null(s->made) && reef_query_count(s->w, s->made) > 0;
}
static bool query_rows(sweep *s)
{
    uint32_t rows_seen = 0;
    for (reef_row row = reef_rows(s->w, s->query); reef_plain_row_next(&row);) rows_seen++;
    return rows_seen == reef_count(s->w, Mass);
}
static bool query_make(sweep *s)
{
    s->made = reef_query_make(s->w, &(reef_query_desc){.terms = {{.op = REEF_ANY_OF, .count = 3},
                                                                 {.component = reef_id(Position)},
                                                                 {.op = REEF_NONE_OF, .count = 1},
                                                                 {.component = reef_id(Mass)},
                                                                 {.component = reef_id(Awake)}}});
    return !reef_query_is_null(s->made);
}
bool query_copy(sweep *s) { return !reef_query_is_null(s->made = reef_query_copy(s->w, s->w, s->query)); }
static bool query_once(sweep *s)
{
    uint32_t rows_seen = 0;
    for (reef_block b = reef_begin_text(s->w, "in Mass, ?Position"); reef_next(&b);) rows_seen += b.count;
    return rows_seen == reef_count(s->w, Mass);
}

/* Writes the values that are there already: so the world is the same after a loop that ended in its middle. */
static uint64_t values_again(reef_block *b)
{
    uint64_t n, all = 0;
    Position *p = reef_out(b, Position);
    Mass *m = reef_out(b, Mass);
    for (uint32_t first = 0; (n = reef_block_run(b, &first)) != 0; first += (uint32_t)n, all += n)
        for (uint32_t i = first; p && m && i < first + n; i++) p[i] = (Position){1, 2}, m[i] = (Mass){3};
    return all;
}
static bool query_out(sweep *s)
{
    uint64_t rows_seen = 0;
    for (reef_block b = reef_begin(s->w, s->query); reef_next(&b);) rows_seen += values_again(&b);
    return rows_seen == reef_count(s->w, Mass);
}
static bool query_split(sweep *s)
{
    uint64_t rows_seen = 0;
    reef_slices *split = reef_slices_begin(s->w, s->query, NULL, 3);
    for (uint32_t k = 0; split && k < 3; k++)
        for (reef_block b = reef_slice(split, k); reef_next(&b);) rows_seen += values_again(&b);
    reef_slices_end(split);
    return rows_seen == reef_count(s->w, Mass);
}
static bool query_order(sweep *s)
{
    return done(reef_query_order(s->w, s->query, &(reef_order){.component = reef_id(Mass), .key = mass_key}));
}
static bool query_groups(sweep *s)
{
    uint32_t groups = 0;
    for (reef_group g = {0}; reef_query_next_group(s->w, s->query, &g);) groups++;
    return groups == 101;
}

const scenario query_scenarios[] = {
    {"query_new", some_rows, query_new},
    {"query_new, subtypes", some_rows, sub_query_new},
    {"query_new, values", with_asked, asking_query_new},
    {"query_copy, values", with_asking_query, query_copy},
    {"query, values", with_asking_query, asking_query_walk},
    {"query_new, join by values", with_asked, join_new},
    {"query, join by values", with_join, join_walk},
    {"query, join by an index", with_indexed_join, indexed_join_walk},
    {"add_where, values", with_asking_query, asking_query_bulk},
    {"system, values", with_asked, asking_system},
    {"observer_new, values", with_asked, asking_observer},
    {"query, new subtypes", with_sub_query, query_walk},
    {"query_new, first use", many_tables, query_use},
    {"query, first use", with_query, query_walk},
    {"query, row by row", with_query, query_rows},
    {"query, tables that are new to it", with_used_query, query_walk},
    {"query_make, groups", some_rows, query_make},
    {"query_make, many tables", many_tables, query_make},
    {"query_copy", with_used_query, query_copy},
    {"begin_text", with_bits, query_once},
    {"query, out", with_query_out, query_out},
    {"query, out, one optional", with_query_out_optional, query_out},
    {"query, changed: first run", with_query_changed, query_walk},
    {"split_begin", with_query_inout, query_split},
    {"split_begin, out", with_query_out, query_split},
    {"split_begin, changed", with_query_changed, query_split},
    {"query_order", with_query, query_order},
    {"query, ordered", with_ordered_query, query_walk},
    {"query, ordered, groups", with_ordered_query, query_groups},
    {"query_copy, ordered", with_ordered_query, query_copy},
    {0},
};
