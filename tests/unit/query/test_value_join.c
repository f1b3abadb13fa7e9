/* Joins by values (F16): conditions that compare two fields, of a row or of entities that are bound to variables, with
 * value indexes and without, compared with a naive evaluator that tries every entity for every variable. `--deep` tries
 * more of them. */
#include "support.h"
#include <math.h>

typedef struct {
    int32_t boss;
    uint8_t ship;
    float pay;
    char name[4];
    reef_entity friend;
} Crew;
typedef struct {
    uint16_t number;
    int64_t large;
    double worth;
    char tag[8];
    reef_entity who;
} Badge;
typedef struct {
    int8_t left, most;
    float speed;
} Life;
typedef struct {
    uint64_t large;
    int16_t part;
    char name[12];
} Cut;
REEF_COMPONENT(Crew);
REEF_COMPONENT_IN(Badge, REEF_SPARSE);
REEF_COMPONENT_IN(Life, REEF_PAGED);
REEF_COMPONENT_IN(Cut, REEF_SPLIT);
REEF_FIELDS(Crew, boss, ship, pay, name, friend);
REEF_FIELDS(Badge, number, large, worth, tag, who);
REEF_FIELDS(Life, left, most, speed);
REEF_FIELDS(Cut, large, part, name);
typedef struct {
    int depth;
} Wound;
REEF_COMPONENT_IN(Wound, REEF_MULTI);
REEF_FIELDS(Wound, depth);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);

/* ---- what a person would try ---- */

static void expect(reef_world *w, const char *text, const char *names)
{
    char got[200] = "", again[400];
    reef_query q = reef_query_new(w, text);
    if (reef_query_is_null(q)) fail_msg("%s: %s", text, reef_last_error(w).detail);
    (void)reef_query_text(w, q, again, sizeof again);
    reef_query same = reef_query_new(w, again);
    assert_false(reef_query_is_null(same));
    reef_each(w, same, row)
    {
        if (got[0]) strcat(got, " ");
        strcat(got, reef_name(w, row.entity));
        const reef_entity *bound = reef_bound(&row.block, 1);
        if (bound) strcat(strcat(got, ">"), reef_name(w, bound[row.i]));
    }
    if (strcmp(got, names) != 0) fail_msg("%s: %s instead of %s", text, got, names);
    assert_ok(reef_query_free(w, q));
    assert_ok(reef_query_free(w, same));
}

static reef_entity named(reef_world *w, const char *name, reef_entity e)
{
    assert_ok(reef_set_name(w, e, name));
    return e;
}

static void fields_of_a_row(void **state)
{
    reef_world *w = world_of(state);
    named(w, "a",
          reef_spawn(w, reef_with(Life, 3, 10, 1), reef_with(Crew, .boss = 3, .ship = 3, .pay = 2, .name = "abc")));
    named(
        w, "b",
        reef_spawn(w, reef_with(Life, 10, 10, 2), reef_with(Crew, .boss = -1, .ship = 200, .pay = 2, .name = "abcd")));
    named(w, "c",
          reef_spawn(w, reef_with(Life, -3, -5, NAN), reef_with(Crew, .boss = -3, .ship = 0, .pay = NAN, .name = "x")));
    named(w, "d", reef_spawn(w, reef_with(Life, 1, 2, 2)));
    expect(w, "Life(most as $m, left < $m)", "d a");
    expect(w, "Life(left >= $m, most as $m)", "b c"); /* the order of the conditions doesn't matter */
    expect(w, "in Life(most as $m), Life(left == $m)", "b");
    expect(w, "Life(left as $l), Crew(boss == $l)", "a c");
    expect(w, "Life(left as $l, most as $m), Crew(boss in $l..$m)", "a");
    expect(w, "Life(left as $l), Crew(boss in $l..100, ship < 10)", "a c");
    expect(w, "Life(speed as $s), Crew(pay == $s)", "b");
    expect(w, "Life(speed as $s), Crew(pay != $s)", "a"); /* a NaN fulfils nothing */
    expect(w, "Life(left as $l), Crew(ship & $l)", "a b");
    expect(w, "Life(left as $l), Crew(ship has $l)", "a");
    expect(w, "Life(left as $unused)", "d a b c");
}

static void entities_of_variables(void **state)
{
    reef_world *w = world_of(state);
    reef_entity port = named(w, "port", reef_spawn(w, reef_with(Life, 5, 9, 3))),
                mole = named(w, "mole", reef_spawn(w, reef_with(Life, 7, 9, 4)));
    reef_entity a = named(w, "a", reef_spawn(w, reef_with(Crew, .boss = 7, .ship = 1, .pay = 0, .name = "a"))),
                b = named(w, "b", reef_spawn(w, reef_with(Crew, .boss = 5, .ship = 1, .pay = 0, .name = "b")));
    reef_relate(w, a, DockedTo, port);
    reef_relate(w, b, DockedTo, port);
    named(w, "c", reef_spawn(w, reef_with(Crew, .boss = 7, .ship = 1, .pay = 0, .name = "c")));
    for (int indexed = 0; indexed < 2; indexed++) {
        expect(w, "Crew(boss as $b), DockedTo($p), Life($p, left == $b)", "b>port");
        expect(w, "Crew(boss < $l), DockedTo($p), Life($p, most as $l)", "a>port b>port");
        expect(w, "Crew(boss as $b), Life($p, left == $b)", "a>mole b>port c>mole");
        expect(w, "Crew(boss == $l), Life($p, left as $l)", "a>mole b>port c>mole");
        expect(w, "Life(left as $l), Crew($c, boss == $l)", "port>b mole>a mole>c");
        expect(w, "Life(left as $l), Crew($c, boss == $l), DockedTo($c, $this)", "port>b");
        expect(w, "Crew(boss as $b), Life($p, left == $b, speed > 3)", "a>mole c>mole");
        expect(w, "Crew(boss as $b), Life($p, left == $b), !DockedTo($this, $p)", "a>mole c>mole");
        expect(w, "Life(left as $l) of mole, Crew(boss == $l)", "a c");
        expect(w, "Crew(name as $n), Crew($o, name == $n)", "a>a b>b c>c"); /* the entity itself isn't left out */
        assert_non_null(reef_index_of(w, Life, left));
        assert_non_null(reef_index_of(w, Crew, boss));
    }
    reef_disable(w, mole, Life);
    expect(w, "Crew(boss as $b), Life($p, left == $b)", "b>port");
    reef_enable(w, mole, Life);
    assert_ok(reef_enable_id(w, mole, (reef_component){0}, false));
    expect(w, "Crew(boss as $b), Life($p, left == $b)", "b>port"); /* who isn't visited isn't found */
    expect(w, "Crew(boss as $b), Badge($p, number == $b)", "");    /* and nobody, where nobody has the type */
}

static void explained(void **state)
{
    static char text[4000];
    reef_world *w = world_of(state);
    for (int i = 0; i < 100; i++) reef_spawn(w, reef_with(Crew, .boss = i), reef_with(Life, (int8_t)i, 1, 1));
    reef_query q = reef_query_new(w, "Crew(boss as $b), Life($p, left == $b), Life(speed as $s), Crew(pay < $s)");
    (void)reef_query_explain(w, q, text, sizeof text);
    assert_non_null(strstr(text, "compares fields of each row that is left: Crew(pay < $s)\n"));
    assert_non_null(strstr(text,
                           "$p: each entity with Life(left == $b), by a list of 100 values of left that each loop "
                           "makes: there is no index of it; leaves 100 rows\n"));
    (void)reef_index_of(w, Life, left);
    (void)reef_query_explain(w, q, text, sizeof text);
    assert_non_null(strstr(text, "$p: each entity with Life(left == $b), by the index of left; leaves 100 rows\n"));
}

static void refused(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"!Life(left as $l), Crew(boss == $l)", "the name $l can't stand behind '!' or in a group"},
        {"Life(left as $l), !Crew(boss == $l)", "what is compared with $l can't stand behind '!' or in a group"},
        {"Life(left as $l), (Crew(boss == $l) | Hungry)",
         "what is compared with $l can't stand behind '!' or in a group"},
        {"Life(left as $l, most as $l)", "the name $l is given to two values"},
        {"Life(left as $l), Crew(pay < $l)", "pay is f32, which can't be compared with $l, which is i8"},
        {"Crew(name as $n), Crew(boss == $n)", "boss is i32, which can't be compared with $n, which is text"},
        {"Wound(depth as $d), Crew(boss == $d)", "the name $d can't be one of several values (REEF_MULTI)"},
        {"Life(left as 3)", "expected '$' and the value's name, found '3'"},
        {"Crew(boss as $b), Life($p, left < $b)",
         "its variable isn't joined to the visited entity by relations that must be there, or by equal values"},
        {"Crew(boss as $b), Life($p, left == $c)",
         "its variable isn't joined to the visited entity by relations that must be there, or by equal values"},
    };
    reef_world *w = world_of(state);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(reef_query_is_null(reef_query_new(w, bad[i].text)));
        if (strcmp(reef_last_error(w).detail, bad[i].why) != 0)
            fail_msg("%s: \"%s\" instead of \"%s\"", bad[i].text, reef_last_error(w).detail, bad[i].why);
    }
    const reef_condition wrong = {"left", REEF_AS, reef_literal_i64(3), reef_literal_i64(0)};
    assert_true(reef_query_is_null(reef_query_make(
        w, &(reef_query_desc){.terms = {{.component = reef_id(Life), .conditions = &wrong, .count = 1}}})));
    assert_string_equal(reef_last_error(w).detail, "term 1: 'as' stands before the name of the value");
    reef_query q = reef_query_new(w, "Life(left as $l, most == $l, speed < $s)");
    assert_int_equal(reef_query_set(w, q, "l", 3), REEF_BAD_ARGUMENT);
    assert_string_equal(reef_last_error(w).detail, "$l is the value of a field, which the query names by 'as'");
    assert_int_equal(reef_query_count(w, q), 0);
    assert_string_equal(reef_last_error(w).detail, "the parameter $s was never set (reef_query_set)");
    assert_ok(reef_query_set(w, q, "s", 3));
    reef_spawn(w, reef_with(Life, 3, 3, 2));
    assert_int_equal(reef_query_count(w, q), 1);
}

/* ---- systems, observers, bulk calls ---- */

static void heal(reef_block *b)
{
    Life *life = reef_inout(b, Life);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) life[i].left++;
}

static uint32_t begun, ended;
static void full(const reef_notice *n)
{
    if (n->kind == REEF_ON_MATCH) begun++;
    else ended++;
}

static void where_values_are_compared(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3];
    for (int i = 0; i < 3; i++) e[i] = reef_spawn(w, reef_with(Life, (int8_t)i, 2, 1), reef_with(Crew, .boss = i));
    assert_false(reef_system_is_null(reef_system(w, heal, "inout Life(most as $m, left < $m)")));
    assert_ok(reef_tick(w, 1));
    for (int i = 0; i < 3; i++) assert_int_equal(reef_get(w, e[i], Life)->left, i < 2 ? i + 1 : 2);
    assert_ok(reef_tick(w, 1));
    assert_ok(reef_tick(w, 1));
    for (int i = 0; i < 3; i++) assert_int_equal(reef_get(w, e[i], Life)->left, 2);

    assert_true(reef_system_is_null(reef_system(w, heal, "Life(left as $l), Crew($c, boss == $l); reads Crew")));
    assert_string_equal(reef_last_error(w).detail,
                        "a system's query binds no variable by its value: it asks reef_indexed, for its rows");

    assert_false(
        reef_observer_is_null(reef_observer_new(w, &(reef_observer_desc){.name = "full",
                                                                         .function = full,
                                                                         .events = REEF_ON_MATCH | REEF_ON_UNMATCH,
                                                                         .text = "Life(most as $m, left == $m)"})));
    begun = ended = 0;
    reef_set(w, e[0], Life, 1, 2, 1);
    assert_int_equal(ended, 1);
    reef_set(w, e[0], Life, 1, 1, 1);
    assert_int_equal(begun, 1);
    reef_set(w, e[1], Life, 2, 2, 9);
    assert_true(begun == 1 && ended == 1);

    uint64_t n = 0;
    reef_query q = reef_query_new(w, "Life(left as $l), Crew(boss == $l)");
    assert_ok(reef_add_where_id(w, q, reef_id(Hungry), &n)); /* of e[2] alone: 2 and 2 */
    assert_int_equal(n, 1);
    assert_true(reef_has(w, e[2], Hungry) && !reef_has(w, e[0], Hungry));
    reef_query by_value = reef_query_new(w, "Life(left as $l), Crew($c, boss == $l)");
    assert_int_equal(reef_query_count(w, by_value), 3);
    reef_query copy = reef_query_copy(w, w, by_value);
    assert_int_equal(reef_query_count(w, copy), 3);
}

/* Who is bound to a variable was found before the loop began, whatever it writes. */
static void written_in_the_loop(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 3000; i++) reef_spawn(w, reef_with(Crew, .boss = i), reef_with(Badge, .number = (uint16_t)i));
    for (int indexed = 0; indexed < 2; indexed++) {
        uint32_t seen = 0;
        reef_query q = reef_query_new(w, "Crew(boss as $b), Badge($o, number == $b)");
        reef_each(w, q, row)
        {
            const reef_entity other = reef_bound(&row.block, 1)[row.i];
            assert_true(reef_entity_equal(other, row.entity));
            if (seen++ == 10) {
                reef_entity last = {0, 0};
                reef_each(w, q, inner) last = inner.entity;
                reef_mut(w, last, Badge)->number = 9999;
                (void)reef_index_of(w, Badge, number); /* the loop keeps what it found */
            }
        }
        assert_int_equal(seen, 3000);
        reef_query all = reef_query_new(w, "in Crew, inout Badge");
        for (reef_block b = reef_begin(w, all); reef_next(&b);)
            for (uint32_t i = 0; i < b.count; i++)
                reef_inout(&b, Badge)[i].number = (uint16_t)reef_in(&b, Crew)[i].boss;
        assert_ok(reef_query_free(w, q));
        assert_ok(reef_query_free(w, all));
        (void)reef_index_of(w, Badge, number);
    }
}

static uint64_t pairs_of(reef_world *w, reef_query q)
{
    uint64_t n = 0;
    reef_each(w, q, row) n++;
    return n;
}

/* A query that is kept follows what was written, also in worlds that go on from a state, with an index or without. */
static void a_query_that_is_kept(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[100];
    for (int i = 0; i < 100; i++) e[i] = reef_spawn(w, reef_with(Crew, .boss = i), reef_with(Badge, .number = 200));
    reef_query q = reef_query_new(w, "Crew(boss as $b), Badge($o, number == $b)");
    for (int indexed = 0; indexed < 2; indexed++) {
        if (indexed) assert_non_null(reef_index_of(w, Badge, number));
        assert_int_equal(pairs_of(w, q), 0);
        reef_mut(w, e[7], Badge)->number = 3;
        assert_int_equal(pairs_of(w, q), 1);
        reef_mut(w, e[8], Badge)->number = 3;
        assert_int_equal(pairs_of(w, q), 2);
        assert_int_equal(reef_query_count(w, q), 1); /* the row has two */
        reef_snapshot *two = reef_snapshot_take(w);
        reef_world *fork = reef_fork(w);
        assert_true(two && fork);
        const reef_query there = reef_query_copy(fork, w, q);
        reef_mut(w, e[8], Badge)->number = 200;
        reef_set(w, e[3], Crew, .boss = 900); /* nobody looks for it any more */
        assert_int_equal(pairs_of(w, q), 0);
        reef_mut(fork, e[9], Badge)->number = 3;
        assert_int_equal(pairs_of(fork, there), 3);
        assert_int_equal(pairs_of(w, q), 0);
        assert_ok(reef_restore(w, two));
        assert_int_equal(pairs_of(w, q), 2);
        assert_ok(reef_destroy(w, e[8]));
        assert_int_equal(pairs_of(w, q), 1);
        assert_ok(reef_restore(fork, two)); /* of another world */
        assert_int_equal(pairs_of(fork, there), 2);
        reef_snapshot_free(two);
        reef_world_free(fork);
        reef_mut(w, e[7], Badge)->number = 200;
        e[8] = reef_spawn(w, reef_with(Badge, .number = 200));
    }
}

/* ---- random queries ---- */

enum {
    ENTITIES = 24,
    KINDS = 4,
    FIELDS = 14,
    VARIABLES = 2,
    TERMS = 12,
    CONDITIONS = 24,
    MATCHES = ENTITIES * ENTITIES
};

typedef enum family { WHOLE, FLOAT, TEXT, HANDLE } family;
typedef struct field {
    uint32_t kind;
    const char *name;
    family family;
    reef_kind is;
    uint32_t offset, bytes;
} field;
#define FIELD(k, T, member, f, is) \
    { \
        k, #member, f, is, offsetof(T, member), sizeof(((T *)0)->member) \
    }
static const field fields[FIELDS] = {
    FIELD(0, Crew, boss, WHOLE, REEF_I32),       FIELD(0, Crew, ship, WHOLE, REEF_U8),
    FIELD(0, Crew, pay, FLOAT, REEF_F32),        FIELD(0, Crew, name, TEXT, REEF_CHAR),
    FIELD(0, Crew, friend, HANDLE, REEF_ENTITY), FIELD(1, Badge, number, WHOLE, REEF_U16),
    FIELD(1, Badge, large, WHOLE, REEF_I64),     FIELD(1, Badge, worth, FLOAT, REEF_F64),
    FIELD(1, Badge, tag, TEXT, REEF_CHAR),       FIELD(1, Badge, who, HANDLE, REEF_ENTITY),
    FIELD(2, Life, left, WHOLE, REEF_I8),        FIELD(2, Life, speed, FLOAT, REEF_F32),
    FIELD(3, Cut, large, WHOLE, REEF_U64),       FIELD(3, Cut, name, TEXT, REEF_CHAR),
};
static reef_component kinds[KINDS];

typedef struct sea {
    reef_world *w;
    uint64_t seed;
    reef_entity e[ENTITIES], in_order[ENTITIES];
    uint32_t rows;
} sea;

static uint32_t below(sea *s, uint32_t n) { return random_below(&s->seed, n); }

static void texts_put(sea *s, char *to, uint32_t bytes)
{
    static const char *const some[] = {"", "a", "ab", "abcd", "abcdefgh", "abcdefghij"};
    const char *text = some[below(s, 6)];
    memset(to, 0, bytes);
    memcpy(to, text, strlen(text) < bytes ? strlen(text) : bytes);
}

static int64_t some_number(sea *s)
{
    static const int64_t far[] = {INT64_MIN, INT64_MAX, -129, -1, 255, 256, 65536, 1ll << 31, -(1ll << 31)};
    return below(s, 8) ? (int64_t)below(s, 5) - 1 : far[below(s, 9)];
}

static double some_float(sea *s)
{
    static const double some[] = {0, -0.0, 1, 2, 0.1, 1e300, INFINITY, -INFINITY, NAN};
    return some[below(s, below(s, 3) ? 4 : 9)];
}

static void value_put(sea *s, uint32_t kind, reef_entity e)
{
    if (kind == 0) {
        Crew c = {(int32_t)some_number(s), (uint8_t)some_number(s), (float)some_float(s), "", s->e[below(s, ENTITIES)]};
        texts_put(s, c.name, sizeof c.name);
        (void)reef_set_id(s->w, e, kinds[0], &c, sizeof c);
    } else if (kind == 1) {
        Badge b = {(uint16_t)some_number(s), some_number(s), some_float(s), "", s->e[below(s, ENTITIES)]};
        texts_put(s, b.tag, sizeof b.tag);
        (void)reef_set_id(s->w, e, kinds[1], &b, sizeof b);
    } else if (kind == 2) {
        const Life l = {(int8_t)some_number(s), 0, (float)some_float(s)};
        (void)reef_set_id(s->w, e, kinds[2], &l, sizeof l);
    } else {
        Cut c = {(uint64_t)some_number(s), 0, ""};
        texts_put(s, c.name, sizeof c.name);
        (void)reef_set_id(s->w, e, kinds[3], &c, sizeof c);
    }
}

static void sea_change(sea *s)
{
    const uint32_t at = below(s, ENTITIES), kind = below(s, KINDS);
    const reef_entity e = s->e[at];
    switch (below(s, 16)) {
    case 0: (void)reef_remove_id(s->w, e, kinds[kind]); break;
    case 1: (void)reef_enable_id(s->w, e, kinds[kind], below(s, 3) != 0); break;
    case 2: (void)reef_enable_id(s->w, e, (reef_component){0}, below(s, 3) != 0); break;
    case 3:
        if (below(s, 3) == 0) {
            assert_ok(reef_destroy(s->w, e));
            s->e[at] = reef_create(s->w);
        }
        break;
    case 4:
        if (below(s, 4) == 0) (void)reef_add(s->w, e, ReefPrefab);
        else (void)reef_remove(s->w, e, ReefPrefab);
        break;
    case 5:
    case 6:
    case 7: (void)reef_relate(s->w, e, DockedTo, s->e[below(s, ENTITIES)]); break;
    case 8: (void)reef_add(s->w, e, Hungry); break;
    case 9: { /* in place, which nobody is told of */
        const field *f = &fields[below(s, FIELDS)];
        char *value = f->kind == 3 ? NULL : reef_mut_id(s->w, e, kinds[f->kind]);
        const int64_t x = some_number(s);
        if (value && f->family == WHOLE) memcpy(value + f->offset, &x, f->bytes);
        break;
    }
    default: value_put(s, kind, e);
    }
}

static void sea_order(sea *s)
{
    reef_query all = reef_query_make(s->w, &(reef_query_desc){.entities = REEF_ENABLED});
    s->rows = 0;
    reef_each(s->w, all, row) s->in_order[s->rows++] = row.entity;
    assert_ok(reef_query_free(s->w, all));
}

/* One condition: of a field of the visited entity or of a variable. */
typedef struct asked {
    uint32_t slot, field;
    reef_compare compare;
    int named[2]; /* the numbers of the names that it compares with; -1: none. Of REEF_AS the own one */
    int64_t literal;
} asked;

typedef struct question {
    reef_query_desc desc;
    reef_condition list[TERMS][CONDITIONS];
    asked ask[CONDITIONS];
    uint32_t count, names, variables, terms;
    int docked[VARIABLES + 1]; /* the slot whose DockedTo leads to the variable; -1: it is bound by a value */
    bool hungry;
} question;

static void ask_put(question *q, asked a) { q->ask[q->count++] = a; }

/* The number of a field's name; it gets one if it has none. */
static int name_of(question *q, uint32_t slot, uint32_t f)
{
    for (uint32_t i = 0; i < q->count; i++)
        if (q->ask[i].compare == REEF_AS && q->ask[i].slot == slot && q->ask[i].field == f) return q->ask[i].named[0];
    ask_put(q, (asked){slot, f, REEF_AS, {(int)q->names, -1}, 0});
    return (int)q->names++;
}

static uint32_t field_like(sea *s, family wanted)
{
    uint32_t f;
    do f = below(s, FIELDS);
    while (fields[f].family != wanted);
    return f;
}

static reef_compare compare_some(sea *s, family f)
{
    if (f == TEXT || f == HANDLE) return below(s, 3) ? REEF_EQUAL : REEF_UNEQUAL;
    return (reef_compare)(REEF_EQUAL + below(s, f == WHOLE ? 9 : 7));
}

static void compare_put(sea *s, question *q, uint32_t slot, uint32_t other, bool equal)
{
    const uint32_t f = below(s, FIELDS), g = field_like(s, fields[f].family);
    asked a = {slot, f, equal ? REEF_EQUAL : compare_some(s, fields[f].family), {name_of(q, other, g), -1}, 0};
    if (a.compare == REEF_WITHIN && below(s, 2)) a.named[1] = name_of(q, other, field_like(s, fields[f].family));
    a.literal = below(s, 5);
    ask_put(q, a);
}

static void question_text(question *q)
{
    static char names[CONDITIONS][4];
    for (uint32_t n = 0; n < q->names; n++) snprintf(names[n], sizeof names[n], "n%u", (unsigned)n);
    for (uint32_t slot = 0; slot <= q->variables; slot++) {
        if (slot && q->docked[slot] >= 0)
            q->desc.terms[q->terms++] = (reef_term){.component = reef_id(DockedTo),
                                                    .access = REEF_WITH,
                                                    .variable = (uint8_t)q->docked[slot],
                                                    .target_variable = (uint8_t)slot};
        for (uint32_t kind = 0; kind < KINDS; kind++) {
            reef_term *t = &q->desc.terms[q->terms];
            uint32_t n = 0;
            for (uint32_t i = 0; i < q->count; i++) {
                const asked *a = &q->ask[i];
                if (a->slot != slot || fields[a->field].kind != kind) continue;
                reef_condition *c = &q->list[q->terms][n++];
                *c = (reef_condition){.field = fields[a->field].name, .compare = a->compare};
                c->value = reef_literal_parameter(names[a->named[0]]);
                if (a->compare != REEF_WITHIN) continue;
                if (a->named[1] >= 0) c->last = reef_literal_parameter(names[a->named[1]]);
                else
                    c->last = fields[a->field].family == FLOAT ? reef_literal_f64((double)a->literal)
                                                               : reef_literal_i64(a->literal);
            }
            if (n == 0) continue;
            *t = (reef_term){.component = kinds[kind], .access = REEF_WITH, .variable = (uint8_t)slot, .count = n};
            t->conditions = q->list[q->terms++];
        }
    }
    if (q->hungry) q->desc.terms[q->terms++] = (reef_term){.component = reef_id(Hungry), .access = REEF_WITH};
}

static void question_make(sea *s, question *q)
{
    memset(q, 0, sizeof *q);
    q->variables = below(s, VARIABLES + 1);
    for (uint32_t v = 1; v <= q->variables; v++) {
        q->docked[v] = below(s, 3) ? -1 : (int)below(s, v);
        if (q->docked[v] >= 0) continue;
        if (below(s, 2)) compare_put(s, q, v, below(s, v), true);
        else compare_put(s, q, below(s, v), v, true);
    }
    for (uint32_t n = below(s, q->variables ? 3 : 4) + (q->variables == 0); n > 0; n--)
        compare_put(s, q, below(s, q->variables + 1), below(s, q->variables + 1), false);
    q->hungry = below(s, 4) == 0;
    question_text(q);
    for (uint32_t v = 0; v < q->variables; v++) snprintf(q->desc.variables[v], 8, "v%u", (unsigned)v + 1);
}

/* ---- the naive evaluator ---- */

static const char *field_at(const sea *s, const field *f, reef_entity e, char *room)
{
    const char *value = f->kind == 3 ? room : reef_get_id(s->w, e, kinds[f->kind]);
    if (f->kind == 3 && !reef_read_id(s->w, e, kinds[3], room, sizeof(Cut))) return NULL;
    return value ? value + f->offset : NULL;
}

/* Numbers of all kinds have their exact value in one; a NaN is one. */
static long double number_at(const field *f, const char *p)
{
    union {
        int8_t a;
        uint8_t b;
        uint16_t c;
        int32_t d;
        int64_t e;
        uint64_t f;
        float g;
        double h;
    } x;
    memcpy(&x, p, f->bytes);
    switch (f->is) {
    case REEF_I8: return x.a;
    case REEF_U8: return x.b;
    case REEF_U16: return x.c;
    case REEF_I32: return x.d;
    case REEF_I64: return x.e;
    case REEF_U64: return x.f;
    case REEF_F32: return (long double)x.g;
    default: return (long double)x.h;
    }
}

static uint64_t bits_at(const field *f, const char *p)
{
    const long double x = number_at(f, p);
    return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static bool is_visited(const sea *s, reef_entity e)
{
    return reef_is_enabled_id(s->w, e, (reef_component){0}) && !reef_has(s->w, e, ReefPrefab);
}

static bool asked_holds(const sea *s, const question *q, const asked *a, const reef_entity *bound)
{
    char room[3][sizeof(Cut)];
    const field *f = &fields[a->field], *g[2] = {NULL, NULL};
    const char *p = field_at(s, f, bound[a->slot], room[0]), *with[2] = {NULL, NULL};
    if (p == NULL) return false;
    if (a->compare == REEF_AS) return true;
    if (a->compare == REEF_EQUAL && a->slot && !is_visited(s, bound[a->slot])) return false;
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 0; a->named[side] >= 0 && i < q->count; i++) {
            const asked *as = &q->ask[i];
            if (as->compare != REEF_AS || as->named[0] != a->named[side]) continue;
            g[side] = &fields[as->field];
            with[side] = field_at(s, g[side], bound[as->slot], room[1 + side]);
            if (with[side] == NULL) return false;
            if (a->compare == REEF_EQUAL && as->slot && !is_visited(s, bound[as->slot])) return false;
        }
    if (f->family == TEXT || f->family == HANDLE) {
        char x[16] = "", y[16] = "";
        memcpy(x, p, f->bytes);
        memcpy(y, with[0], g[0]->bytes);
        const bool same = f->family == TEXT ? strcmp(x, y) == 0 : memcmp(x, y, sizeof(reef_entity)) == 0;
        return same == (a->compare == REEF_EQUAL);
    }
    const long double x = number_at(f, p), y = number_at(g[0], with[0]),
                      z = with[1] ? number_at(g[1], with[1]) : (long double)a->literal;
    switch (a->compare) {
    case REEF_EQUAL: return x >= y && x <= y;
    case REEF_UNEQUAL: return x < y || x > y;
    case REEF_LESS: return x < y;
    case REEF_AT_MOST: return x <= y;
    case REEF_MORE: return x > y;
    case REEF_AT_LEAST: return x >= y;
    case REEF_WITHIN: return x >= y && x <= z;
    case REEF_ANY_BIT: return (bits_at(f, p) & bits_at(g[0], with[0])) != 0;
    default: return (bits_at(f, p) & bits_at(g[0], with[0])) == bits_at(g[0], with[0]);
    }
}

static bool has_enabled(const sea *s, reef_entity e, reef_component c)
{
    return reef_has_id(s->w, e, c) && reef_is_enabled_id(s->w, e, c);
}

static bool binding_holds(const sea *s, const question *q, const reef_entity *bound)
{
    for (uint32_t v = 1; v <= q->variables; v++)
        if (q->docked[v] >= 0 && !reef_entity_equal(reef_target(s->w, bound[q->docked[v]], DockedTo), bound[v]))
            return false;
    for (uint32_t i = 0; i < q->count; i++)
        if (!has_enabled(s, bound[q->ask[i].slot], kinds[fields[q->ask[i].field].kind]) ||
            !asked_holds(s, q, &q->ask[i], bound))
            return false;
    return !q->hungry || reef_has(s->w, bound[0], Hungry);
}

typedef struct found {
    reef_entity bound[VARIABLES + 1];
} found;
static found wanted[ENTITIES * MATCHES], got[ENTITIES * MATCHES];
static uint32_t wanted_count, got_count, matching;

/* Variables that are bound by values come in the order in which they are bound, each by entity. */
static void evaluate(const sea *s, const question *q, const reef_entity *by_index, const uint32_t *order)
{
    wanted_count = matching = 0;
    for (uint32_t i = 0; i < s->rows; i++) {
        const uint32_t first = wanted_count, a_count = q->variables > 0 ? ENTITIES : 1,
                       b_count = q->variables > 1 ? ENTITIES : 1;
        for (uint32_t a = 0; a < a_count; a++)
            for (uint32_t b = 0; b < b_count; b++) {
                found f = {{s->in_order[i]}};
                if (q->variables > 0) f.bound[order[0]] = by_index[a];
                if (q->variables > 1) f.bound[order[1]] = by_index[b];
                if (binding_holds(s, q, f.bound)) wanted[wanted_count++] = f;
            }
        matching += wanted_count > first;
    }
}

static void visit(const question *q, const reef_block *b, uint32_t i)
{
    found f = {{b->entities[i]}};
    for (uint32_t v = 1; v <= q->variables; v++) f.bound[v] = reef_bound(b, v)[i];
    assert_true(got_count < ENTITIES * MATCHES);
    got[got_count++] = f;
}

static int by_row(const void *a, const void *b)
{
    const found *x = a, *y = b;
    for (uint32_t v = 0; v <= VARIABLES; v++)
        if (x->bound[v].index != y->bound[v].index) return x->bound[v].index < y->bound[v].index ? -1 : 1;
    return 0;
}

static bool answers_agree(const question *q)
{
    const bool sources = q->variables == 2 && (q->docked[1] >= 0 || q->docked[2] >= 0);
    if (sources && got_count == wanted_count) { /* a relation may be followed back: then its order holds */
        qsort(got, got_count, sizeof *got, by_row);
        qsort(wanted, wanted_count, sizeof *wanted, by_row);
    }
    return got_count == wanted_count && memcmp(got, wanted, wanted_count * sizeof *got) == 0;
}

static void question_agrees(sea *s, question *q, uint32_t *some, uint32_t *several)
{
    static char text[2000];
    reef_entity by_index[ENTITIES];
    reef_query h = reef_query_make(s->w, &q->desc);
    if (reef_query_is_null(h))
        fail_msg("refused: %s, term %d: %s", reef_status_name(reef_last_error(s->w).status),
                 (int)reef_last_error(s->w).number, reef_last_error(s->w).detail);
    assert_true(reef_query_text(s->w, h, text, sizeof text) < sizeof text);
    reef_query same = reef_query_new(s->w, text);
    if (reef_query_is_null(same)) fail_msg("%s: %s", text, reef_last_error(s->w).detail);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        uint32_t at = i;
        for (; at > 0 && by_index[at - 1].index > s->e[i].index; at--) by_index[at] = by_index[at - 1];
        by_index[at] = s->e[i];
    }
    /* In one of the two orders the answers are those of the evaluator: which variable is bound first, the plan says. */
    static const uint32_t orders[2][2] = {{1, 2}, {2, 1}};
    uint32_t k = 0;
    for (; k < (q->variables == 2 ? 2 : 1); k++) {
        evaluate(s, q, by_index, orders[k]);
        got_count = 0;
        for (reef_block b = reef_begin(s->w, h); reef_next(&b);)
            for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
                for (uint32_t i = first; i < first + n; i++) visit(q, &b, i);
        if (answers_agree(q)) break;
    }
    if (k == (q->variables == 2 ? 2 : 1)) {
        print_error("%s: %u matches instead of %u\n", text, (unsigned)got_count, (unsigned)wanted_count);
        for (uint32_t i = 0; i < got_count || i < wanted_count; i++)
            for (uint32_t v = 0; v <= q->variables; v++)
                print_error("%s%d %d%s", v ? ", " : "  ", i < wanted_count ? (int)wanted[i].bound[v].index : -1,
                            i < got_count ? (int)got[i].bound[v].index : -1, v == q->variables ? "\n" : "");
        (void)reef_query_explain(s->w, h, text, sizeof text);
        print_error("%s", text);
        fail();
    }
    got_count = 0;
    reef_each(s->w, same, row) visit(q, &row.block, row.i);
    assert_true(answers_agree(q));
    assert_int_equal(reef_query_count(s->w, h), matching);
    for (uint32_t i = 0; i < s->rows; i++) {
        bool matches = false;
        for (uint32_t n = 0; n < wanted_count; n++) matches |= reef_entity_equal(wanted[n].bound[0], s->in_order[i]);
        assert_int_equal(reef_query_matches(s->w, h, s->in_order[i]), matches);
    }
    if (below(s, 16) == 0) assert_true(reef_query_explain(s->w, h, text, sizeof text) > 0);
    *some += wanted_count != 0;
    *several += wanted_count > matching;
    assert_ok(reef_query_free(s->w, h));
    assert_ok(reef_query_free(s->w, same));
}

static uint32_t queries = 3000;
static uint64_t first_seed = 5;

static void joins_agree_with_a_naive_evaluator(void **state)
{
    static sea s, there;
    static question q;
    uint32_t some = 0, several = 0;
    const reef_component all[KINDS] = {reef_id(Crew), reef_id(Badge), reef_id(Life), reef_id(Cut)};
    memcpy(kinds, all, sizeof kinds);
    s = (sea){.w = world_of(state), .seed = first_seed};
    for (uint32_t i = 0; i < ENTITIES; i++) s.e[i] = reef_create(s.w);
    for (uint32_t i = 0; i < 150; i++) sea_change(&s);
    for (uint32_t done = 0; done < queries; done++) {
        for (uint32_t i = below(&s, 5); i > 0; i--) sea_change(&s);
        if (below(&s, 60) == 0) {
            const field *f = &fields[below(&s, FIELDS)];
            const bool small = f->family != TEXT || f->bytes <= 8;
            if (small) assert_non_null(reef_index_of_id(s.w, kinds[f->kind], f->name));
        }
        if (done % 50 == 49) { /* back to how it was, after another future */
            there = s;
            reef_snapshot *was = reef_snapshot_take(s.w);
            assert_non_null(was);
            for (int k = 0; k < 4; k++) {
                sea_change(&s);
                sea_order(&s);
                question_make(&s, &q);
                question_agrees(&s, &q, &some, &several);
            }
            assert_ok(reef_restore(s.w, was));
            reef_snapshot_free(was);
            there.seed = s.seed;
            s = there;
        }
        if (done % 50 == 24) { /* a fork goes its own way */
            there = s;
            there.w = reef_fork(s.w);
            assert_non_null(there.w);
            for (int k = 0; k < 4; k++) {
                sea_change(&there);
                sea_order(&there);
                question_make(&there, &q);
                question_agrees(&there, &q, &some, &several);
            }
            reef_world_free(there.w);
            s.seed = there.seed;
        }
        sea_order(&s);
        question_make(&s, &q);
        question_agrees(&s, &q, &some, &several);
    }
    print_message("%u queries: %u with matches, %u with rows that match more than once\n", (unsigned)queries,
                  (unsigned)some, (unsigned)several);
    assert_true(some > queries / 4 && several > queries / 40);
}

/* The index by which a variable is bound also finds the rows: it is brought up to date twice before the loop begins. */
static void an_index_finds_rows_and_variables(void **state)
{
    reef_world *w = world_of(state);
    reef_entity last = {0, 0};
    for (uint32_t i = 0; i < 3000; i++) last = reef_spawn(w, reef_with(Badge, .number = (uint16_t)(i / 3)));
    const reef_query q = reef_query_new(w, "Badge(number as $n, number < 7), Badge($m, number == $n)");
    for (uint32_t round = 0; round < 4; round++) {
        const uint32_t more = round > 1 ? 1 : 0; /* one more has the number 2 */
        uint32_t rows = 0;
        if (round) assert_non_null(reef_index_of(w, Badge, number));
        reef_each(w, q, row) rows++;
        assert_int_equal(rows, 63 + 7 * more);
        assert_int_equal(reef_query_count(w, q), 21 + more);
        if (round == 1) assert_int_equal(reef_set(w, last, Badge, .number = 2), REEF_OK);
    }
}

/* An index changes its rows where they are, although a query found rows by it: its loop has ended. While one is open it
 * keeps those that it began with. */
static void an_index_is_not_copied_for_a_loop_that_ended(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[3000];
    for (uint32_t i = 0; i < 3000; i++) e[i] = reef_spawn(w, reef_with(Badge, .number = (uint16_t)i));
    const reef_entity crew = reef_spawn(w, reef_with(Crew, .boss = 7));
    assert_non_null(reef_index_of(w, Badge, number));
    const reef_query q = reef_query_new(w, "Crew(boss as $b), Badge($m, number == $b)");
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t round = 0; round < 8; round++) {
        reef_set(w, e[round + 100], Badge, .number = (uint16_t)(round % 2 ? 7 : 9000));
        assert_int_equal(reef_query_count(w, q), 1);
        uint32_t rows = 0;
        reef_each(w, q, row) rows++;
        assert_int_equal(rows, (round + 1) / 2 + 1);
        reef_set(w, e[round + 200], Badge, .number = 9001);
        const uint64_t calls = heap_of(state)->calls;
        assert_int_equal(reef_index_get(reef_index_of(w, Badge, number), 9001, NULL, 0), round + 1);
        const uint64_t made = heap_of(state)->calls - calls;
        least = made < least ? made : least;
        most = round && made > most ? made : most;
    }
    assert_int_equal(least, 0);
    assert_in_range(most, 0, 3); /* a copy would have a chunk's rows for each 1,024 of them, and more */
    uint32_t rows = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        rows += b.count;
        assert_non_null(reef_index_of(w, Badge, number));
    }
    assert_true(rows > 0);
    assert_ok(reef_destroy(w, crew));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--deep") == 0) queries = 200000;
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        TEST(fields_of_a_row),
        TEST(entities_of_variables),
        TEST(explained),
        TEST(refused),
        TEST(where_values_are_compared),
        TEST(written_in_the_loop),
        TEST(a_query_that_is_kept),
        TEST(an_index_finds_rows_and_variables),
        TEST(an_index_is_not_copied_for_a_loop_that_ended),
        TEST(joins_agree_with_a_naive_evaluator),
    };
    return cmocka_run_group_tests_name("value joins", tests, NULL, NULL);
}
