/* Terms about the values of fields: what each comparison means for each kind and in each home, parameters, groups,
 * relations, changes, everything that asks a query, and what is refused. */
#include "support.h"
#include <math.h>

typedef enum Mood { CALM, ANGRY, FLEEING } Mood;
REEF_ENUM(Mood, CALM, ANGRY, FLEEING);
REEF_MASK(Coat, (1, "WET"), (2, "COLD"), (4, "DARK"));
typedef struct {
    float x, y;
} Spot;
REEF_STRUCT(Spot, x, y);
typedef struct {
    int32_t left, most;
} Life;
REEF_COMPONENT(Life);
REEF_FIELDS(Life, left, most);
typedef struct {
    Spot at;
    Mood mood;
    uint32_t coat;
    char label[8];
    int16_t slots[3];
    reef_entity friend_of;
    bool tame;
} Crab;
REEF_COMPONENT(Crab);
REEF_FIELDS(Crab, (at, struct, Spot), (mood, enum, Mood), (coat, enum, Coat), label, slots, friend_of, tame);
typedef struct {
    int32_t depth;
} Wound;
REEF_COMPONENT_IN(Wound, REEF_MULTI);
REEF_FIELDS(Wound, depth);
typedef struct {
    float amount;
} Debt;
REEF_COMPONENT(Debt);
REEF_FIELDS(Debt, amount);
REEF_RELATION_OF(Owes, Debt);
REEF_RELATION_OF(Leases, Debt, REEF_EXCLUSIVE);
REEF_RELATION(PartOf_, REEF_TRANSITIVE | REEF_EXCLUSIVE | REEF_ACYCLIC);
typedef struct {
    int32_t left;
} Unsaid; /* without fields */
REEF_COMPONENT(Unsaid);
REEF_TAG(Boss);
REEF_SWITCH(Asleep);

/* ---- asking ---- */

/* The names of the entities that a query visits, in the visible order, by each entrance. */
static const char *names_of(reef_world *w, reef_query q)
{
    static char text[512];
    uint64_t n = 0;
    text[0] = 0;
    assert_query(q);
    reef_each(w, q, row)
    {
        if (n++) strcat(text, " ");
        strcat(text, reef_name(w, row.entity));
        assert_true(reef_query_matches(w, q, row.entity));
    }
    assert_int_equal(reef_last_error(w).status, REEF_OK);
    assert_int_equal(reef_query_count(w, q), n);
    assert_int_equal(reef_query_any(w, q), n != 0);
    return text;
}

/* The same for a text, and for the text that reef makes of it. */
static const char *ask(reef_world *w, const char *text)
{
    char first[512], again[2048];
    reef_query q = reef_query_new(w, text);
    if (reef_query_is_null(q)) print_error("%s: %s\n", text, reef_last_error(w).detail);
    assert_query(q);
    (void)strcpy(first, names_of(w, q));
    assert_true(reef_query_text(w, q, again, sizeof again) < sizeof again);
    reef_query same = reef_query_new(w, again);
    if (reef_query_is_null(same)) print_error("%s: %s\n", again, reef_last_error(w).detail);
    assert_string_equal(names_of(w, same), first);
    reef_query copy = reef_query_copy(w, w, q);
    assert_string_equal(names_of(w, copy), first);
    assert_ok(reef_query_free(w, q));
    assert_ok(reef_query_free(w, same));
    assert_ok(reef_query_free(w, copy));
    return names_of(w, q = reef_query_new(w, text));
}

static reef_entity named(reef_world *w, const char *name, reef_entity e)
{
    assert_ok(reef_set_name(w, e, name));
    return e;
}

/* ---- every kind, every comparison, every home ---- */

typedef struct all_kinds {
    bool yes;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    char text[5];
} all_kinds;
#define OF_ALL_KINDS(X) \
    X(i8, REEF_I8) \
    X(u8, REEF_U8) \
    X(i16, REEF_I16) \
    X(u16, REEF_U16) \
    X(i32, REEF_I32) \
    X(u32, REEF_U32) \
    X(i64, REEF_I64) \
    X(u64, REEF_U64) \
    X(f32, REEF_F32) \
    X(f64, REEF_F64)
static const reef_field all_fields[] = {
    REEF_FIELDS_OF(all_kinds, yes, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, text)};

static reef_component kinds_in(reef_home home)
{
    char name[32];
    reef_status s = REEF_OK;
    (void)snprintf(name, sizeof name, "Kinds%d", (int)home);
    reef_component c = reef_type_new(&(reef_type_desc){.name = name,
                                                       .size = sizeof(all_kinds),
                                                       .align = 8,
                                                       .home = home,
                                                       .fields = all_fields,
                                                       .field_count = sizeof all_fields / sizeof *all_fields},
                                     &s);
    assert_int_equal(s, REEF_OK);
    return c;
}

enum { KIND_ROWS = 700 };
static all_kinds kind_value[KIND_ROWS];

static void kinds_draw(void)
{
    static const double floats[] = {0.0,   -0.0,     0.1,       1,   -1,       10,       1e30,
                                    -1e30, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-149};
    static const uint64_t wholes[] = {0,
                                      1,
                                      2,
                                      3,
                                      5,
                                      10,
                                      100,
                                      127,
                                      128,
                                      200,
                                      255,
                                      32767,
                                      32768,
                                      65535,
                                      INT32_MAX,
                                      UINT64_C(0x80000000),
                                      UINT32_MAX,
                                      INT64_MAX,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX,
                                      UINT64_MAX - 1,
                                      UINT64_MAX - 9};
    static const char texts[][5] = {"", "a", "ab", "abcd", {'a', 'b', 'c', 'd', 'e'}, "b"};
    uint64_t seed = 5;
    for (uint32_t i = 0; i < KIND_ROWS; i++) {
        all_kinds *k = &kind_value[i];
        memset(k, 0, sizeof *k);
        const uint64_t x = wholes[random_below(&seed, sizeof wholes / sizeof *wholes)];
        k->yes = x & 1;
        k->i8 = (int8_t)x, k->u8 = (uint8_t)x, k->i16 = (int16_t)x, k->u16 = (uint16_t)x, k->i32 = (int32_t)x;
        k->u32 = (uint32_t)x, k->i64 = (int64_t)x, k->u64 = x;
        k->f64 = floats[random_below(&seed, sizeof floats / sizeof *floats)];
        k->f32 = (float)k->f64;
        memcpy(k->text, texts[random_below(&seed, 6)], 5);
    }
}

static const struct {
    const char *sign;
    reef_compare compare;
} signs[] = {{"==", REEF_EQUAL}, {"!=", REEF_UNEQUAL},  {"<", REEF_LESS},    {"<=", REEF_AT_MOST},
             {">", REEF_MORE},   {">=", REEF_AT_LEAST}, {"&", REEF_ANY_BIT}, {"has", REEF_ALL_BITS}};

/* What each comparison means, said in C. */
#define HOLDS(x, y, compare) \
    ((compare) == REEF_EQUAL     ? (x) == (y) \
     : (compare) == REEF_UNEQUAL ? (x) < (y) || (x) > (y) \
     : (compare) == REEF_LESS    ? (x) < (y) \
     : (compare) == REEF_AT_MOST ? (x) <= (y) \
     : (compare) == REEF_MORE    ? (x) > (y) \
                                 : (x) >= (y))

/* The text and the struct say the same; both are asked as a whole, and row by row. */
static void kind_check(reef_world *w, reef_component c, const char *field, const char *sign, reef_compare compare,
                       const char *literal, reef_literal l, const bool *wanted, const reef_entity *e)
{
    char text[200];
    (void)snprintf(text, sizeof text, "%s(%s %s %s)", reef_type_name(c), field, sign, literal);
    const reef_condition condition = {.field = field, .compare = compare, .value = l};
    reef_query q = reef_query_new(w, text),
               r = reef_query_make(
                   w, &(reef_query_desc){
                          .terms = {{.component = c, .access = REEF_WITH, .count = 1, .conditions = &condition}}});
    if (reef_query_is_null(q)) print_error("%s: %s\n", text, reef_last_error(w).detail);
    assert_query(q);
    assert_query(r);
    uint64_t n = 0;
    for (uint32_t i = 0; i < KIND_ROWS; i++) {
        n += wanted[i];
        if (reef_query_matches(w, q, e[i]) != wanted[i]) fail_msg("%s of row %u", text, (unsigned)i);
    }
    if (reef_query_count(w, q) != n || reef_query_count(w, r) != n)
        fail_msg("%s: %d", text, (int)reef_query_count(w, q));
    uint32_t at = 0;
    for (reef_block b = reef_begin(w, r); reef_next(&b);)
        for (uint32_t first = 0, run; (run = reef_block_run(&b, &first)) != 0; first += run)
            for (uint32_t i = first; i < first + run; i++, at++) {
                while (at < KIND_ROWS && !wanted[at]) at++;
                assert_entity(e[at], b.entities[i]);
            }
    assert_ok(reef_query_free(w, q));
    assert_ok(reef_query_free(w, r));
}

static void kinds_check(reef_world *w, reef_component c, const reef_entity *e)
{
    bool wanted[KIND_ROWS];
    static const int64_t literals[] = {0, 1, 3, 5, 127, 255};
    char text[64];
    for (uint32_t s = 0; s < sizeof signs / sizeof *signs; s++) {
        const reef_compare compare = signs[s].compare;
#define CHECK_KIND(field, kind) \
    for (uint32_t k = 0; k < sizeof literals / sizeof *literals; k++) { \
        const int64_t y = literals[k]; \
        if (compare >= REEF_ANY_BIT && ((kind) == REEF_F32 || (kind) == REEF_F64)) continue; \
        if ((kind) == REEF_I8 && y > 127) continue; \
        for (uint32_t i = 0; i < KIND_ROWS; i++) { \
            if (compare >= REEF_ANY_BIT) { \
                const uint64_t x = (uint64_t)kind_value[i].field; \
                wanted[i] = compare == REEF_ANY_BIT ? (x & (uint64_t)y) != 0 : (x & (uint64_t)y) == (uint64_t)y; \
            } else { \
                wanted[i] = HOLDS(kind_value[i].field, KIND_CAST(field, y), compare); \
            } \
        } \
        (void)snprintf(text, sizeof text, "%d", (int)y); \
        kind_check(w, c, #field, signs[s].sign, compare, text, reef_literal_i64(y), wanted, e); \
    }
#define KIND_CAST(field, y) (REEF_TYPEOF_##field) y
        typedef int8_t REEF_TYPEOF_i8;
        typedef uint8_t REEF_TYPEOF_u8;
        typedef int16_t REEF_TYPEOF_i16;
        typedef uint16_t REEF_TYPEOF_u16;
        typedef int32_t REEF_TYPEOF_i32;
        typedef uint32_t REEF_TYPEOF_u32;
        typedef int64_t REEF_TYPEOF_i64;
        typedef uint64_t REEF_TYPEOF_u64;
        typedef float REEF_TYPEOF_f32;
        typedef double REEF_TYPEOF_f64;
        OF_ALL_KINDS(CHECK_KIND)
        if (compare >= REEF_ANY_BIT) continue;
        /* a literal takes the field's kind: 0.1 is 0.1f for an f32 */
        for (uint32_t i = 0; i < KIND_ROWS; i++) wanted[i] = HOLDS(kind_value[i].f32, 0.1f, compare);
        kind_check(w, c, "f32", signs[s].sign, compare, "0.1", reef_literal_f64(0.1), wanted, e);
        for (uint32_t i = 0; i < KIND_ROWS; i++) wanted[i] = HOLDS(kind_value[i].f64, -1e30, compare);
        kind_check(w, c, "f64", signs[s].sign, compare, "-1e30", reef_literal_f64(-1e30), wanted, e);
        for (uint32_t i = 0; i < KIND_ROWS; i++) wanted[i] = HOLDS(kind_value[i].f64, INFINITY, compare);
        kind_check(w, c, "f64", signs[s].sign, compare, "inf", reef_literal_f64(INFINITY), wanted, e);
        memset(wanted, 0, sizeof wanted);
        kind_check(w, c, "f32", signs[s].sign, compare, "nan", reef_literal_f64(NAN), wanted, e);
        for (uint32_t i = 0; i < KIND_ROWS; i++) wanted[i] = HOLDS(kind_value[i].u64, UINT64_MAX - 1, compare);
        kind_check(w, c, "u64", signs[s].sign, compare, "18446744073709551614", reef_literal_u64(UINT64_MAX - 1),
                   wanted, e);
        for (uint32_t i = 0; i < KIND_ROWS; i++) wanted[i] = HOLDS(kind_value[i].i64, INT64_MIN, compare);
        kind_check(w, c, "i64", signs[s].sign, compare, "-9223372036854775808", reef_literal_i64(INT64_MIN), wanted, e);
        for (uint32_t i = 0; i < KIND_ROWS; i++) wanted[i] = HOLDS(kind_value[i].i8, -128, compare);
        kind_check(w, c, "i8", signs[s].sign, compare, "-128", reef_literal_i64(-128), wanted, e);
        if (compare > REEF_UNEQUAL) continue;
        const bool not = compare == REEF_UNEQUAL;
        for (uint32_t i = 0; i < KIND_ROWS; i++) wanted[i] = kind_value[i].yes != not ;
        kind_check(w, c, "yes", signs[s].sign, compare, "true", reef_literal_of(true), wanted, e);
        for (uint32_t i = 0; i < KIND_ROWS; i++) wanted[i] = kind_value[i].yes == not ;
        kind_check(w, c, "yes", signs[s].sign, compare, "false", reef_literal_of(0), wanted, e);
        static const char *const texts[] = {"", "a", "ab", "abcd", "abcde", "zz"};
        for (uint32_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            for (uint32_t i = 0; i < KIND_ROWS; i++)
                wanted[i] = (strncmp(kind_value[i].text, texts[k], 5) == 0) != not ;
            (void)snprintf(text, sizeof text, "\"%s\"", texts[k]);
            kind_check(w, c, "text", signs[s].sign, compare, text, reef_literal_text(texts[k]), wanted, e);
        }
    }
}

static void every_kind_and_comparison_in_every_home(void **state)
{
    static const reef_home all[] = {REEF_TABLE, REEF_SPARSE, REEF_PAGED, REEF_COLD,
                                    REEF_MULTI, REEF_SHARED, REEF_SPLIT};
    static reef_entity e[KIND_ROWS];
    kinds_draw();
    for (uint32_t h = 0; h < sizeof all / sizeof *all; h++) {
        const reef_component c = kinds_in(all[h]);
        reef_world *w = another_world(state, NULL);
        for (uint32_t i = 0; i < KIND_ROWS; i++) {
            e[i] = reef_spawn(w, reef_with(Mass, i));
            assert_status(REEF_ADDED, reef_set_id(w, e[i], c, &kind_value[i], sizeof *kind_value));
        }
        kinds_check(w, c, e);
        end_world(state, w);
    }
}

static void within_has_both_ends(void **state)
{
    reef_world *w = world_of(state);
    for (int32_t i = -3; i <= 3; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "n%d", (int)(i + 3));
        named(w, name, reef_spawn(w, reef_with(Life, i, 0)));
    }
    assert_string_equal(ask(w, "Life(left in -1..2)"), "n2 n3 n4 n5");
    assert_string_equal(ask(w, "Life(left in 2..-1)"), "");
    assert_string_equal(ask(w, "Life(left in -3..-3)"), "n0");
    assert_string_equal(ask(w, "Life(left>=-1,left<2)"), "n2 n3 n4");
    assert_string_equal(ask(w, "Life( left\t!= 0 , most == 0 )"), "n0 n1 n2 n4 n5 n6");
    assert_string_equal(ask(w, "Life(left < -2147483648)"), "");
    assert_string_equal(ask(w, "Life(left > 2147483647)"), "");
    assert_string_equal(ask(w, "Life(left <= 2147483647, left >= -2147483648, left == +1)"), "n4");
    assert_string_equal(ask(w, "Life(left == 0x2)"), "n5");
}

/* ---- fields ---- */

static void crabs_make(reef_world *w, reef_entity *a, reef_entity *b)
{
    *a = named(w, "anna", reef_spawn(w, reef_with(Crab, {1, 2}, ANGRY, 3, "boss", {1, 2, 3}, {0, 0}, false)));
    *b = named(w, "bert", reef_spawn(w, reef_with(Crab, {5, -2}, FLEEING, 4, "bossy", {4, 5, 6}, *a, true)));
}

static void nested_fields_enums_masks_arrays_and_entities(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a, b;
    crabs_make(w, &a, &b);
    assert_string_equal(ask(w, "Crab(at.x in 0..4.5)"), "anna");
    assert_string_equal(ask(w, "Crab(at.y < 0)"), "bert");
    assert_string_equal(ask(w, "Crab(mood == ANGRY)"), "anna");
    assert_string_equal(ask(w, "Crab(mood in ANGRY..FLEEING)"), "anna bert");
    assert_string_equal(ask(w, "Crab(mood != 2)"), "anna");
    assert_string_equal(ask(w, "Crab(coat & COLD|DARK)"), "anna bert");
    assert_string_equal(ask(w, "Crab(coat has WET|COLD)"), "anna");
    assert_string_equal(ask(w, "Crab(coat & 4)"), "bert");
    assert_string_equal(ask(w, "Crab(label == \"boss\")"), "anna");
    assert_string_equal(ask(w, "Crab(label != \"boss\")"), "bert");
    assert_string_equal(ask(w, "Crab(slots[2] == 6)"), "bert");
    assert_string_equal(ask(w, "Crab(friend_of == anna)"), "bert");
    assert_string_equal(ask(w, "Crab(friend_of != anna)"), "anna");
    assert_string_equal(ask(w, "Crab(friend_of == #0v0)"), "anna");
    assert_string_equal(ask(w, "Crab(tame == true)"), "bert");
    assert_string_equal(ask(w, "Crab(\"at.x\" > 1, tame == true, label == \"bossy\")"), "bert");
    char text[400];
    reef_query q = reef_query_new(w, "in Crab(at.x<.5,mood==ANGRY,coat has 0x3,label==\"a \\\"b\",slots[0]in 1..2)");
    if (reef_query_is_null(q)) print_error("%s\n", reef_last_error(w).detail);
    assert_query(q);
    (void)reef_query_text(w, q, text, sizeof text);
    assert_string_equal(
        text, "in Crab(at.x < 0.5, mood == ANGRY, coat has WET|COLD, label == \"a \\\"b\", slots[0] in 1..2)");
    (void)b;
}

/* ---- terms ---- */

static void life_scene(reef_world *w)
{
    named(w, "ada", reef_spawn(w, reef_with(Life, 5, 10)));
    named(w, "bob", reef_spawn(w, reef_with(Life, 10, 10), reef_tag(Boss)));
    named(w, "cid", reef_spawn(w, reef_with(Life, 2, 10), reef_tag(Boss)));
    named(w, "dan", reef_spawn(w, reef_tag(Boss)));
    named(w, "eva", reef_spawn(w, reef_with(Life, 7, 7), reef_tag(Asleep)));
}

static void conditions_with_every_operator(void **state)
{
    reef_world *w = world_of(state);
    life_scene(w);
    assert_string_equal(ask(w, "Life(left < 6)"), "cid ada");
    assert_string_equal(ask(w, "!Life(left < 6)"), "dan bob eva");
    assert_string_equal(ask(w, "Life, !Life(left < 6)"), "bob eva");
    assert_string_equal(ask(w, "Life(left < 6) | Asleep"), "cid ada eva");
    assert_string_equal(ask(w, "Life(left < 3) | Life(left > 9)"), "bob cid");
    assert_string_equal(ask(w, "(Boss, Life(left < 3)) | Asleep"), "cid eva");
    assert_string_equal(ask(w, "!(Boss | Life(left == 7))"), "ada");
    assert_string_equal(ask(w, "Life, Life(left < 6), Life(most == 10), !Boss"), "ada");
    assert_string_equal(ask(w, "Life(left < 6), Asleep"), "");
    assert_ok(reef_disable(w, reef_find(w, "cid"), Life));
    assert_string_equal(ask(w, "Life(left < 6)"), "ada");
    assert_string_equal(ask(w, "disabled Life(left < 6)"), "cid");
    assert_string_equal(ask(w, "either Life(left < 6)"), "cid ada");
    assert_string_equal(ask(w, "Life, Life(left > 6) of bob"), "bob ada eva");
    assert_string_equal(ask(w, "Life, Life(left < 6) of bob"), "");
    assert_string_equal(ask(w, "Life, !Life(left < 6) of bob"), "bob ada eva");
}

static void a_term_gives_data_where_a_word_says_so(void **state)
{
    reef_world *w = world_of(state);
    int32_t sum = 0;
    life_scene(w);
    for (reef_block b = reef_begin_text(w, "in Life(left < 6)"); reef_next(&b);)
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) sum += reef_in(&b, Life)[i].left;
    assert_int_equal(sum, 7);
    reef_query q = reef_query_new(w, "Life, Life(left < 6)");
    reef_each(w, q, row) reef_inout_at(row, Life)->left += 100;
    assert_int_equal(reef_get(w, reef_find(w, "ada"), Life)->left, 105);
    assert_int_equal(reef_get(w, reef_find(w, "eva"), Life)->left, 7);
    assert_int_equal(reef_query_count(w, q), 0);
    reef_block b = reef_begin_text(w, "Life(left < 6)");
    assert_true(!reef_next(&b));
    reef_query both = reef_query_new(w, "inout Life(left > 100), out Life");
    assert_true(reef_query_is_null(both));
    assert_int_equal(reef_last_error(w).status, REEF_DUPLICATE_TERM);
}

static void changed_and_of_a_value(void **state)
{
    reef_world *w = world_of(state);
    life_scene(w);
    reef_query q = reef_query_new(w, "changed Life(left < 6)");
    reef_block b = reef_begin(w, q);
    reef_end(&b);
    assert_int_equal(reef_query_count(w, q), 0);
    reef_set(w, reef_find(w, "bob"), Life, 1, 1);
    assert_int_equal(reef_query_count(w, q), 2); /* bob and cid share a block */
    assert_string_equal(reef_name(w, reef_query_first(w, q)), "bob");
}

static void several_values_of_one_entity(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a = named(w, "ada", reef_spawn(w, reef_with(Wound, 3))),
                b = named(w, "bob", reef_spawn(w, reef_with(Wound, 9)));
    assert_non_null(reef_append(w, a, Wound, 7));
    assert_non_null(reef_append(w, a, Wound, 8));
    assert_non_null(reef_append(w, b, Wound, 1));
    assert_string_equal(ask(w, "Wound(depth > 6)"), "ada bob");
    assert_string_equal(ask(w, "Wound(depth > 3, depth < 8)"), "ada");
    assert_string_equal(ask(w, "!Wound(depth == 9)"), "ada");
    int32_t seen[8], n = 0;
    reef_each(w, reef_query_new(w, "each in Wound(depth > 6)"), row) seen[n++] = reef_in_at(row, Wound)->depth;
    assert_int_equal(n, 3);
    assert_int_equal(seen[0], 7);
    assert_int_equal(seen[1], 8);
    assert_int_equal(seen[2], 9);
}

/* ---- relations ---- */

static void data_of_relations(void **state)
{
    reef_world *w = world_of(state);
    reef_entity bank = named(w, "bank", reef_spawn(w, reef_tag(Boss)));
    reef_entity a = named(w, "ada", reef_spawn(w, reef_with(Life, 1, 1)));
    reef_entity b = named(w, "bob", reef_spawn(w, reef_with(Life, 2, 1)));
    assert_status(REEF_ADDED, reef_relate_data(w, a, Owes, bank, 5));
    assert_status(REEF_ADDED, reef_relate_data(w, a, Owes, b, 50));
    assert_status(REEF_ADDED, reef_relate_data(w, b, Owes, bank, 20));
    assert_status(REEF_ADDED, reef_relate_data(w, b, Leases, bank, 3));
    assert_string_equal(ask(w, "Owes(amount > 10)"), "ada bob");
    assert_string_equal(ask(w, "Owes(data.amount > 30)"), "ada");
    assert_string_equal(ask(w, "Owes(bank, amount > 10)"), "bob");
    assert_string_equal(ask(w, "Owes(bank), !Owes(bank, amount > 10)"), "ada");
    assert_string_equal(ask(w, "Owes(target == bob)"), "ada");
    assert_string_equal(ask(w, "Leases(bank, amount == 3)"), "bob");
    assert_string_equal(ask(w, "Leases(amount < 3)"), "");
    assert_string_equal(ask(w, "Owes($to, amount > 10), Boss($to)"), "bob");
    assert_string_equal(ask(w, "Owes($to), Life($to, left == 2)"), "ada");
    assert_string_equal(ask(w, "Owes($x, $this, amount >= 20), Life($x, left < 9)"), "bank bob");
    assert_string_equal(ask(w, "Leases($to, amount > 2), Boss($to)"), "bob");
    assert_string_equal(ask(w, "Leases($to, amount > 3), Boss($to)"), "");
    assert_string_equal(ask(w, "Owes($to), Leases($to, *, amount > 2)"), "ada");
    assert_string_equal(ask(w, "Owes($to), !Life($to, left < 9)"), "ada bob");
}

static void values_of_ancestors(void **state)
{
    reef_world *w = world_of(state);
    reef_entity root = named(w, "root", reef_spawn(w, reef_with(Life, 9, 0)));
    reef_entity mid = named(w, "mid", reef_spawn(w, reef_with(Life, 1, 0)));
    reef_entity leaf = named(w, "leaf", reef_spawn(w, reef_tag(Boss)));
    assert_status(REEF_ADDED, reef_relate(w, mid, ChildOf, root));
    assert_status(REEF_ADDED, reef_relate(w, leaf, ChildOf, mid));
    assert_string_equal(ask(w, "Boss, Life(left > 5) up(ChildOf)"), "leaf");
    assert_string_equal(ask(w, "Boss, with Life(left > 9) up(ChildOf)"), "");
    for (reef_block b = reef_begin_text(w, "Boss, Life(left > 5) up(ChildOf)"); reef_next(&b);) {
        const Life *above[REEF_BLOCK_ROWS];
        assert_non_null(reef_reach(&b, Life, 0, above));
        assert_int_equal(above[0]->left, 9); /* the nearest one that fulfils it */
    }
}

/* Ways up are long, so answers would be kept for a loop: but not those that depend on values. */
static void values_of_ancestors_are_those_of_now(void **state)
{
    enum { LONG = 1500 };
    reef_world *w = world_of(state);
    const reef_entity root = reef_spawn(w, reef_with(Life, 9, 0));
    reef_entity above = root;
    for (uint32_t i = 0; i < LONG; i++) {
        const reef_entity e = reef_spawn(w, reef_tag(Boss));
        assert_status(REEF_ADDED, reef_relate(w, e, ChildOf, above));
        above = e;
    }
    reef_query q = reef_query_new(w, "Boss, with Life(left > 5) up(ChildOf)");
    assert_int_equal(reef_query_count(w, q), LONG);
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    reef_mut(w, root, Life)->left = 0;
    assert_int_equal(reef_query_count(w, q), 0);
    reef_end(&b);
}

static void names_with_signs_of_comparison(void **state)
{
    reef_world *w = world_of(state);
    char text[100];
    reef_entity bank = named(w, "a<b", reef_spawn(w, reef_tag(Boss)));
    reef_entity ada = named(w, "ada", reef_spawn(w, reef_with(Life, 1, 1)));
    assert_status(REEF_ADDED, reef_relate_data(w, ada, Owes, bank, 5));
    assert_string_equal(ask(w, "Owes(\"a<b\")"), "ada");
    assert_string_equal(ask(w, "Owes(\"a<b\", amount > 4)"), "ada");
    reef_query q = reef_query_new(w, "Owes(\"a<b\", amount<=4)");
    (void)reef_query_text(w, q, text, sizeof text);
    assert_string_equal(text, "Owes(\"a<b\", amount <= 4)");
}

/* ---- parameters ---- */

/* A variable isn't set; a parameter chooses the target of a relation. */
static void a_variable_is_chosen_by_a_parameter(void **state)
{
    reef_world *w = world_of(state);
    reef_entity bank = named(w, "bank", reef_spawn(w, reef_tag(Boss))), shop = named(w, "shop", reef_create(w));
    reef_entity ada = named(w, "ada", reef_create(w)), bob = named(w, "bob", reef_create(w));
    assert_status(REEF_ADDED, reef_relate_data(w, ada, Owes, bank, 5));
    assert_status(REEF_ADDED, reef_relate_data(w, ada, Owes, shop, 6));
    assert_status(REEF_ADDED, reef_relate_data(w, bob, Owes, shop, 7));
    assert_status(REEF_ADDED, reef_relate_data(w, shop, Owes, bank, 8));
    reef_query q = reef_query_new(w, "Owes($to), Owes($to, $of, target == $chosen)");
    assert_query(q);
    assert_ok(reef_query_set(w, q, "chosen", bank));
    assert_string_equal(names_of(w, q), "ada bob");
    assert_ok(reef_query_set(w, q, "chosen", shop));
    assert_string_equal(names_of(w, q), "");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, q, "of", bank));
    assert_string_equal(
        reef_last_error(w).detail,
        "$of is a variable, which the query binds; a condition chooses its entity: R(..., target == $other)");
    reef_query one = reef_query_new(w, "Owes(target == $chosen)");
    assert_ok(reef_query_set(w, one, "chosen", shop));
    assert_string_equal(names_of(w, one), "ada bob");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, one, "of", bank));
    assert_string_equal(reef_last_error(w).detail, "no parameter is named $of");
}

static void parameters(void **state)
{
    reef_world *w = world_of(state);
    life_scene(w);
    reef_query q = reef_query_new(w, "Life(left < $most, left >= $least), !Life(left == $most)");
    assert_query(q);
    assert_zero(w, REEF_BAD_ARGUMENT, reef_query_count(w, q));
    assert_non_null(strstr(reef_last_error(w).detail, "$most was never set"));
    assert_false(reef_query_matches(w, q, reef_find(w, "ada")));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    reef_block b = reef_begin(w, q);
    assert_false(reef_next(&b));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    assert_refused(w, REEF_BAD_ARGUMENT, reef_destroy_where(w, q, NULL));
    assert_ok(reef_query_set(w, q, "most", 6));
    assert_zero(w, REEF_BAD_ARGUMENT, reef_query_count(w, q));
    assert_non_null(strstr(reef_last_error(w).detail, "$least was never set"));
    assert_ok(reef_query_set(w, q, "least", 3));
    assert_string_equal(names_of(w, q), "ada");
    assert_ok(reef_query_set(w, q, "most", 11));
    assert_string_equal(names_of(w, q), "bob ada eva");
    reef_query copy = reef_query_copy(w, w, q);
    assert_string_equal(names_of(w, copy), "bob ada eva");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, q, "mst", 1));
    assert_string_equal(reef_last_error(w).detail, "no parameter is named $mst; did you mean $most?");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, q, "most", 1.5));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, q, "most", "text"));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, q, "most", INT64_C(3000000000)));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set_parameter(w, q, "most", reef_literal_parameter("least")));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set_parameter(w, q, NULL, reef_literal_i64(1)));
    assert_refused(w, REEF_NOT_ALIVE, reef_query_set(w, (reef_query){0}, "most", 1));
    assert_string_equal(names_of(w, q), "bob ada eva");
    b = reef_begin(w, q);
    assert_refused(w, REEF_LOCKED, reef_query_set(w, q, "most", 1));
    reef_end(&b);
    reef_world *fork = reef_fork(w);
    reef_query there = reef_query_copy(fork, w, q);
    assert_ok(reef_query_set(fork, there, "most", 6));
    assert_string_equal(names_of(fork, there), "ada");
    assert_string_equal(names_of(w, q), "bob ada eva");
    reef_world_free(fork);
}

static void parameters_of_each_kind(void **state)
{
    reef_world *w = world_of(state);
    reef_entity a, b;
    crabs_make(w, &a, &b);
    reef_query q = reef_query_new(w, "Crab(label == $l, friend_of == $f, at.x >= $x, tame == $t, mood == $m)");
    assert_query(q);
    assert_ok(reef_query_set(w, q, "l", "bossy"));
    assert_ok(reef_query_set(w, q, "f", a));
    assert_ok(reef_query_set(w, q, "x", 4.5f));
    assert_ok(reef_query_set(w, q, "t", true));
    assert_ok(reef_query_set(w, q, "m", FLEEING));
    assert_string_equal(names_of(w, q), "bert");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, q, "l", "much too long"));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, q, "f", 7));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, q, "x", 1e300));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, q, "t", 2));
    reef_query two = reef_query_new(w, "Crab(at.x > $n, slots[0] > $n)"); /* of two kinds */
    assert_ok(reef_query_set(w, two, "n", 0));
    assert_string_equal(names_of(w, two), "anna bert");
    assert_refused(w, REEF_BAD_ARGUMENT, reef_query_set(w, two, "n", 4.5));
    assert_string_equal(names_of(w, two), "anna bert");
    assert_ok(reef_query_set(w, q, "l", "boss"));
    assert_string_equal(names_of(w, q), "");
}

/* ---- others that ask ---- */

static void tick_weak(reef_block *b)
{
    Life *l = reef_inout(b, Life);
    for (uint32_t first = 0, n; (n = reef_block_run(b, &first)) != 0; first += n)
        for (uint32_t i = first; i < first + n; i++) l[i].left++;
}

static void systems_and_bulk_calls(void **state)
{
    reef_world *w = world_of(state);
    uint64_t n = 0;
    life_scene(w);
    assert_false(reef_system_is_null(reef_system(w, tick_weak, "inout Life(left < 6)")));
    reef_tick(w, 1);
    reef_tick(w, 1);
    assert_int_equal(reef_get(w, reef_find(w, "ada"), Life)->left, 6); /* once, and then it isn't weak any more */
    assert_int_equal(reef_get(w, reef_find(w, "cid"), Life)->left, 4);
    assert_int_equal(reef_get(w, reef_find(w, "eva"), Life)->left, 7);
    reef_world *fork = reef_fork(w);
    reef_tick(fork, 1);
    assert_int_equal(reef_get(fork, reef_find(fork, "cid"), Life)->left, 5);
    reef_world_free(fork);
    assert_true(reef_system_is_null(reef_system(w, tick_weak, "inout Life(left < $most)")));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    reef_query q = reef_query_new(w, "Life(left in 6..8)");
    assert_ok(reef_add_where_id(w, q, reef_id(Boss), &n));
    assert_int_equal(n, 2);
    assert_ok(reef_set_where_id(w, q, reef_id(Life), &(Life){1, 2}, sizeof(Life), &n));
    assert_int_equal(n, 2);
    assert_int_equal(reef_get(w, reef_find(w, "ada"), Life)->left, 1);
    q = reef_query_new(w, "Life(left == 1)");
    assert_ok(reef_destroy_where(w, q, &n));
    assert_int_equal(n, 2);
}

/* Loops over others compare values too: only with a declaration, and once all parameters are set. */
static reef_query others;
static reef_status others_status;
static uint32_t others_found;
static void tick_others(reef_block *b)
{
    others_found = 0;
    for (reef_block o = reef_others(b, others); reef_next(&o);)
        for (uint32_t first = 0, n; (n = reef_block_run(&o, &first)) != 0; first += n) others_found += n;
}
static void tick_and_note(reef_world *w)
{
    others_status = reef_tick(w, 1);
    if (others_status == REEF_OK) others_status = reef_last_error(w).status;
}

static void loops_over_others(void **state)
{
    reef_world *w = world_of(state);
    life_scene(w);
    others = reef_query_new(w, "with Life(left < 6)");
    const reef_query open = reef_query_new(w, "with Life(left < $most)");
    reef_spawn(w, reef_with(Wound, 1)); /* one more table, so that queries have to look */
    const reef_system_id undeclared = reef_system_add(w, "undeclared", tick_others, NULL);
    tick_and_note(w);
    assert_int_equal(others_status, REEF_UNDECLARED);
    assert_ok(reef_system_remove(w, undeclared));
    assert_false(reef_system_is_null(reef_system_add(w, "declared", tick_others, "; reads Life")));
    tick_and_note(w);
    assert_int_equal(others_status, REEF_OK);
    assert_int_equal(others_found, 2);
    others = open;
    tick_and_note(w);
    assert_int_equal(others_status, REEF_BAD_ARGUMENT);
    assert_ok(reef_query_set(w, open, "most", 100));
    tick_and_note(w);
    assert_int_equal(others_status, REEF_OK);
    assert_int_equal(others_found, 4);
}

typedef struct {
    int32_t of;
} Apart;
REEF_COMPONENT_IN(Apart, REEF_SPARSE);
REEF_FIELDS(Apart, of);
static void tick_apart(reef_block *b)
{
    Apart *a = reef_inout(b, Apart);
    for (uint32_t i = 0; i < b->count; i++) a[i].of += 3;
}
static void nothing(reef_block *b) { (void)b; }
static void a_system_reads_what_its_conditions_compare(void **state)
{
    reef_world *w = world_of(state);
    char text[2000];
    assert_false(reef_system_is_null(reef_system(w, tick_weak, "inout Life")));
    assert_false(reef_system_is_null(reef_system(w, nothing, "in Mass, Life(left < 6)")));
    assert_false(reef_system_is_null(reef_system_add(w, "later", nothing, "in Mass, Crab(label != \"x\")")));
    (void)reef_schedule_explain(w, REEF_EXPLAIN_TEXT, text, sizeof text);
    assert_non_null(strstr(text, "in Mass, Life(left < 6)"));
    assert_non_null(strstr(text, "in Mass, Crab(label != \"x\")"));
    assert_non_null(strstr(text, "waits for tick_weak"));
}

static uint64_t most_key(const void *value) { return reef_key_i32(((const Life *)value)->most); }
static void ordered_queries_leave_rows_out(void **state)
{
    reef_world *w = world_of(state);
    life_scene(w);
    reef_query q = reef_query_new(w, "in Life, Life(left < 8)");
    assert_ok(reef_query_order(w, q, &(reef_order){.component = reef_id(Life), .key = most_key}));
    assert_string_equal(names_of(w, q), "eva ada cid");
    assert_int_equal(reef_query_group_count(w, q, reef_key_i32(10)), 2);
    reef_set(w, reef_find(w, "cid"), Life, 8, 10);
    assert_string_equal(names_of(w, q), "eva ada");
    assert_int_equal(reef_query_group_count(w, q, reef_key_i32(10)), 1);
    reef_query r = reef_query_new(w, "in Life, Life(left < $most)");
    assert_ok(reef_query_order(w, r, &(reef_order){.component = reef_id(Life), .key = most_key}));
    assert_zero(w, REEF_BAD_ARGUMENT, reef_query_group_count(w, r, 0));
    assert_ok(reef_query_set(w, r, "most", 8));
    assert_string_equal(names_of(w, r), "eva ada");
}

#ifndef REEF_NO_THREADS
static void threads_find_the_same_rows(void **state)
{
    uint64_t hashes[3];
    for (uint32_t threads = 0; threads < 3; threads++) {
        reef_world *w = another_world(state, NULL);
        reef_pool *pool = threads ? reef_pool_new(&(reef_pool_config){.threads = threads + 1}) : NULL;
        for (int32_t i = 0; i < 5000; i++) {
            reef_entity e = reef_spawn(w, reef_with(Life, i * 7 % 1000, i), reef_with(Wound, i % 10));
            if (i % 3 == 0) reef_set(w, e, Apart, i * 11 % 100);
        }
        if (pool) assert_ok(reef_set_pool(w, pool));
        assert_false(reef_system_is_null(reef_system(w, tick_weak, "inout Life(left in 100..500)")));
        assert_false(reef_system_is_null(reef_system(w, tick_apart, "inout Apart(of < 50), Life(left & 1)")));
        for (uint32_t i = 0; i < 5; i++) reef_tick(w, 1);
        hashes[threads] = reef_hash(w);
        end_world(state, w);
        reef_pool_free(pool);
    }
    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}
#endif

static char heard[200];
static void hear(const reef_notice *n)
{
    for (uint32_t i = 0; i < n->count; i++) {
        if (*heard) strcat(heard, " ");
        strcat(heard, n->kind == REEF_ON_MATCH ? "+" : "-");
        strcat(heard, reef_name(n->world, n->entities[i]));
    }
}

static void match_observers_judge_values(void **state)
{
    reef_world *w = world_of(state);
    life_scene(w);
    heard[0] = 0;
    reef_observer_id o = reef_observer_new(w, &(reef_observer_desc){.name = "weak",
                                                                    .function = hear,
                                                                    .events = REEF_ON_MATCH | REEF_ON_UNMATCH,
                                                                    .text = "Life(left < 6), !Asleep",
                                                                    .existing = true});
    assert_false(reef_observer_is_null(o));
    assert_string_equal(heard, "+cid +ada");
    heard[0] = 0;
    reef_set(w, reef_find(w, "bob"), Life, 1, 1);
    reef_set(w, reef_find(w, "bob"), Life, 2, 1);
    reef_set(w, reef_find(w, "ada"), Life, 9, 1);
    reef_remove(w, reef_find(w, "cid"), Life);
    assert_string_equal(heard, "+bob -ada -cid");
    heard[0] = 0;
    assert_ok(reef_observer_remove(w, o));
    o = reef_observer_new(w, &(reef_observer_desc){.name = "net",
                                                   .function = hear,
                                                   .events = REEF_ON_MATCH | REEF_ON_UNMATCH,
                                                   .text = "Life(left < 6)",
                                                   .collected = true});
    for (reef_block b = reef_begin_loop(w, reef_query_new(w, "Boss"), &(reef_loop){.deferred = true}); reef_next(&b);) {
        reef_set(w, reef_find(w, "bob"), Life, 8, 8); /* weak no more, and then again */
        reef_set(w, reef_find(w, "bob"), Life, 3, 8);
        reef_set(w, reef_find(w, "ada"), Life, 1, 8);
        reef_set(w, reef_find(w, "dan"), Life, 1, 8);
        reef_end(&b);
    }
    assert_string_equal(heard, "+ada +dan");
    assert_true(reef_observer_is_null(reef_observer_new(
        w, &(reef_observer_desc){
               .name = "open", .function = hear, .events = REEF_ON_MATCH, .text = "Life(left < $most)"})));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
}

/* What matched before is part of the state: going back tells nothing, and afterwards each change is told as at that
 * time. */
static void match_observers_after_rewinds(void **state)
{
    reef_world *w = world_of(state);
    life_scene(w);
    heard[0] = 0;
    for (uint32_t collected = 0; collected < 2; collected++)
        assert_false(
            reef_observer_is_null(reef_observer_new(w, &(reef_observer_desc){.name = collected ? "net" : "weak",
                                                                             .function = hear,
                                                                             .events = REEF_ON_MATCH | REEF_ON_UNMATCH,
                                                                             .text = "Life(left < 6)",
                                                                             .collected = collected != 0})));
    reef_set(w, reef_find(w, "bob"), Life, 1, 1);
    assert_ok(reef_flush(w));
    assert_string_equal(heard, "+bob +bob");
    heard[0] = 0;
    reef_snapshot *weak = reef_snapshot_take(w);
    reef_set(w, reef_find(w, "bob"), Life, 9, 1);
    reef_set(w, reef_find(w, "ada"), Life, 9, 1);
    assert_ok(reef_flush(w));
    assert_string_equal(heard, "-bob -bob -ada -ada");
    heard[0] = 0;
    for (uint32_t round = 0; round < 3; round++) {
        assert_ok(reef_restore(w, weak));
        assert_ok(reef_flush(w));
        assert_string_equal(heard, "");
        reef_set(w, reef_find(w, "bob"), Life, 2, 1); /* it is weak, and stays so */
        reef_set(w, reef_find(w, "ada"), Life, 3, 1);
        assert_ok(reef_flush(w));
        assert_string_equal(heard, "");
        reef_set(w, reef_find(w, "ada"), Life, 9 + (int)round, 1);
        assert_ok(reef_flush(w));
        assert_string_equal(heard, "-ada -ada");
        heard[0] = 0;
    }
    reef_snapshot_free(weak);
}

/* A query that asks for changes has the same answers after a rewind as it had then. */
static void changed_values_after_rewinds(void **state)
{
    reef_world *w = world_of(state);
    life_scene(w);
    reef_query q = reef_query_new(w, "changed Life(left < 6)");
    reef_block b = reef_begin(w, q);
    reef_end(&b);
    reef_snapshot *s = reef_snapshot_take(w);
    for (uint32_t round = 0; round < 3; round++) {
        assert_int_equal(reef_query_count(w, q), 0);
        reef_set(w, reef_find(w, "bob"), Life, round == 1 ? 7 : 1, 1);
        assert_int_equal(reef_query_count(w, q), round == 1 ? 1 : 2); /* cid is in the block */
        for (b = reef_begin(w, q); reef_next(&b);) {}
        assert_int_equal(reef_query_count(w, q), 0);
        assert_ok(reef_restore(w, s));
    }
    reef_snapshot_free(s);
}

static void what_explain_says(void **state)
{
    reef_world *w = world_of(state);
    char text[1000];
    life_scene(w);
    reef_query q = reef_query_new(w, "Life(left < 6, most == 10)");
    (void)reef_query_explain(w, q, text, sizeof text);
    assert_non_null(strstr(text, "looks at the values of 4 rows: Life(left < 6, most == 10), 64 rows at a time\n"));
    assert_non_null(strstr(text, "2 entities match"));
}

/* ---- what is refused ---- */

static void messages(void **state)
{
    static const struct {
        const char *text;
        reef_status status;
        int column;
        const char *detail;
    } all[] = {
        {"Life(lft < 10)", REEF_BAD_ARGUMENT, 6, "no field is named lft; did you mean left?"},
        {"Life(wholly_other < 10)", REEF_BAD_ARGUMENT, 6, "Life has no field wholly_other"},
        {"Unsaid(left < 10)", REEF_BAD_ARGUMENT, 8, "Unsaid has no fields (REEF_FIELDS) that could be compared"},
        {"Life(left = 10)", REEF_BAD_TEXT, 11,
         "expected a comparison (==, !=, <, <=, >, >=, &, has, in, as), found '='"},
        {"Life(left < )", REEF_BAD_TEXT, 13, "expected a number, found ')'"},
        {"Life(left < abc)", REEF_BAD_TEXT, 13, "expected a number, found 'abc'"},
        {"Life(left < 10", REEF_BAD_TEXT, 15, "expected ',' or ')' after the condition, found the end"},
        {"Life(left < 10 most)", REEF_BAD_TEXT, 16, "expected ',' or ')' after the condition, found 'most'"},
        {"Life(left < 10,)", REEF_BAD_TEXT, 16, "expected a field's name, found ')'"},
        {"Life(left in 3)", REEF_BAD_TEXT, 15, "expected '..' and the last value, found ')'"},
        {"Life(left < 1.5)", REEF_BAD_ARGUMENT, 13, "left is i32, which can't be compared with a fraction"},
        {"Life(left < \"a\")", REEF_BAD_ARGUMENT, 13,
         "left is i32, which can't be compared with what is no whole number"},
        {"Life(left < 3000000000)", REEF_BAD_ARGUMENT, 13, "left is i32: 3000000000 is out of its range"},
        {"Life(left < 99999999999999999999)", REEF_BAD_ARGUMENT, 13,
         "left is i32: 99999999999999999999 is out of its range"},
        {"Life(left < -2147483649)", REEF_BAD_ARGUMENT, 13, "left is i32: -2147483649 is out of its range"},
        {"Crab(at.x < 1e39)", REEF_BAD_ARGUMENT, 13, "at.x is f32: 1e39 is out of its range"},
        {"Crab(mood == ANGRI)", REEF_BAD_ARGUMENT, 14, "no value is named ANGRI; did you mean ANGRY?"},
        {"Crab(mood == PURPLE)", REEF_BAD_ARGUMENT, 14, "Mood has no value PURPLE"},
        {"Crab(label < \"a\")", REEF_BAD_ARGUMENT, 12, "label is text, which can't be compared by '<'"},
        {"Crab(label == \"123456789\")", REEF_BAD_ARGUMENT, 15, "label has 8 bytes, and this text is longer"},
        {"Crab(label == boss)", REEF_BAD_TEXT, 15, "expected a text in quotes, found 'boss'"},
        {"Crab(label == \"boss", REEF_BAD_TEXT, 20, "expected the quote that ends the text, found the end"},
        {"Crab(at.x & 1)", REEF_BAD_ARGUMENT, 11, "at.x is f32, which can't be compared by '&'"},
        {"Crab(tame == 2)", REEF_BAD_TEXT, 14, "expected true or false, found '2'"},
        {"Crab(slots == 2)", REEF_BAD_ARGUMENT, 6,
         "slots is an array of 3: a condition names one element, such as [0]"},
        {"Crab(slots[3] == 2)", REEF_BAD_ARGUMENT, 6,
         "slots is an array of 3: a condition names one element, such as [0]"},
        {"Crab(friend_of == nobody)", REEF_NOT_ALIVE, 19, "no entity is named nobody"},
        {"Life(left < $)", REEF_BAD_TEXT, 14, "expected a parameter's name behind '$', found ')'"},
        {"Owes($x), Owes(amount < $x)", REEF_BAD_TEXT, 25, "$x is a variable already: a parameter needs another name"},
        {"Owes(amount < $x), Owes($x)", REEF_BAD_TEXT, 25, "$x is a parameter already: a variable needs another name"},
        {"*(left < 3)", REEF_BAD_TEXT, 3, "any relation '*(...)' has no fields to compare"},
        {"?Life(left < 3)", REEF_BAD_ARGUMENT, 2, "an optional term has no conditions"},
        {"Life, Life(left < 3), Life", REEF_DUPLICATE_TERM, 23, NULL},
        {"Life, changed Life(left < 3)", REEF_DUPLICATE_TERM, 15, NULL},
        {"Boss(left < 3)", REEF_BAD_ARGUMENT, 6, "Boss has no fields (REEF_FIELDS) that could be compared"},
        {"Life(sun)", REEF_BAD_TEXT, 5, "Life is no relation, so it has no target"},
    };
    reef_world *w = world_of(state);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const reef_query q = reef_query_new(w, all[i].text);
        const reef_error e = reef_last_error(w);
        if (!reef_query_is_null(q) || e.status != all[i].status || (int)e.number != all[i].column ||
            (all[i].detail && strcmp(e.detail, all[i].detail) != 0))
            fail_msg("%s: %s, column %d: %s", all[i].text, reef_status_name(e.status), (int)e.number, e.detail);
    }
    reef_entity bank = named(w, "bank", reef_create(w));
    assert_true(reef_query_is_null(reef_query_new(w, "PartOf_(bank, target == bank)")));
    assert_int_equal(reef_last_error(w).status, REEF_BAD_ARGUMENT);
    (void)bank;
}

static void structs_that_are_refused(void **state)
{
    reef_world *w = world_of(state);
    const reef_condition all[] = {{0},
                                  {.field = "lft", .compare = REEF_LESS, .value = {.kind = REEF_I64}},
                                  {.field = "left", .value = {.kind = REEF_I64}},
                                  {.field = "left", .compare = REEF_AS + 1, .value = {.kind = REEF_I64}},
                                  {.field = "left", .compare = REEF_LESS},
                                  {.field = "left", .compare = REEF_LESS, .value = {.text = "a b"}},
                                  {.field = "left", .compare = REEF_LESS, .value = {.kind = REEF_CHAR}},
                                  {.field = "left", .compare = REEF_LESS, .value = {.kind = REEF_U8}},
                                  {.field = "left", .compare = REEF_LESS, .value = {.kind = REEF_F64}},
                                  {.field = "left", .compare = REEF_WITHIN, .value = {.kind = REEF_I64}}};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) {
        const reef_query_desc d = {
            .terms = {{.component = reef_id(Life), .access = REEF_WITH, .count = 1, .conditions = &all[i]}}};
        assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_make(w, &d));
        assert_true(reef_last_error(w).detail[0] != 0);
    }
}

static void the_most_conditions_and_parameters(void **state)
{
    reef_world *w = world_of(state);
    char text[8192] = "Life(left == 0";
    for (uint32_t i = 1; i < REEF_CONDITIONS_MAX; i++) strcat(text, ", left == 0");
    const size_t full = strlen(text);
    strcat(text, ")");
    named(w, "ada", reef_spawn(w, reef_with(Life, 0, 0)));
    assert_string_equal(ask(w, text), "ada");
    (void)strcpy(text + full, ", left == 0)");
    assert_no_query(w, REEF_LIMIT, reef_query_new(w, text));
    (void)strcpy(text, "Life(left != $p0");
    for (uint32_t i = 1; i < REEF_PARAMETERS_MAX; i++)
        (void)snprintf(text + strlen(text), 32, ", left != $p%d", (int)i);
    const size_t named_all = strlen(text);
    strcat(text, ")");
    reef_query q = reef_query_new(w, text);
    assert_query(q);
    for (uint32_t i = 0; i < REEF_PARAMETERS_MAX; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "p%d", (int)i);
        assert_ok(reef_query_set(w, q, name, (int)i + 1));
    }
    assert_string_equal(names_of(w, q), "ada");
    (void)strcpy(text + named_all, ", left != $more)");
    assert_no_query(w, REEF_LIMIT, reef_query_new(w, text));
    char name[REEF_VARIABLE_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[REEF_VARIABLE_NAME_MAX] = 0;
    (void)snprintf(text, sizeof text, "Life(left < $%s)", name);
    q = reef_query_new(w, text);
    assert_query(q);
    assert_ok(reef_query_set(w, q, name, 1));
    (void)snprintf(text, sizeof text, "Life(left < $n%s)", name);
    assert_no_query(w, REEF_BAD_TEXT, reef_query_new(w, text));
    memset(text, 'x', sizeof text);
    memcpy(text, "Crab(label == \"", 15); /* of the 4,096 bytes the name of the field takes 6 */
    (void)strcpy(text + 15 + REEF_CONDITION_TEXTS_MAX - 7, "\")");
    assert_no_query(w, REEF_BAD_ARGUMENT, reef_query_new(w, text));
    (void)strcpy(text + 15 + REEF_CONDITION_TEXTS_MAX - 7, "x\")");
    assert_no_query(w, REEF_LIMIT, reef_query_new(w, text));
    reef_condition c[REEF_CONDITIONS_MAX + 1];
    for (uint32_t i = 0; i <= REEF_CONDITIONS_MAX; i++)
        c[i] = (reef_condition){"left", REEF_EQUAL, reef_literal_of(0), {0}};
    reef_query_desc d = {.terms = {{.component = reef_id(Life), .count = REEF_CONDITIONS_MAX, .conditions = c}}};
    assert_query(reef_query_make(w, &d));
    d.terms[0].count++;
    assert_no_query(w, REEF_LIMIT, reef_query_make(w, &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_and_comparison_in_every_home),
        TEST(within_has_both_ends),
        TEST(nested_fields_enums_masks_arrays_and_entities),
        TEST(conditions_with_every_operator),
        TEST(a_term_gives_data_where_a_word_says_so),
        TEST(changed_and_of_a_value),
        TEST(several_values_of_one_entity),
        TEST(data_of_relations),
        TEST(values_of_ancestors),
        TEST(values_of_ancestors_are_those_of_now),
        TEST(names_with_signs_of_comparison),
        TEST(a_variable_is_chosen_by_a_parameter),
        TEST(parameters),
        TEST(parameters_of_each_kind),
        TEST(systems_and_bulk_calls),
        TEST(loops_over_others),
        TEST(a_system_reads_what_its_conditions_compare),
        TEST(ordered_queries_leave_rows_out),
#ifndef REEF_NO_THREADS
        TEST(threads_find_the_same_rows),
#endif
        TEST(match_observers_judge_values),
        TEST(match_observers_after_rewinds),
        TEST(changed_values_after_rewinds),
        TEST(what_explain_says),
        TEST(messages),
        TEST(structs_that_are_refused),
        TEST(the_most_conditions_and_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
