/* A state with a bit of everything, built in several ways and with single differences: for the suites of the hash. */
#ifndef REEF_TESTS_HASH_STATE_H
#define REEF_TESTS_HASH_STATE_H

#include "support.h"
#include <inttypes.h>

typedef struct {
    float x, y;
} Point;
typedef struct {
    uint8_t kind;
    uint64_t number;
} Padded;
typedef struct {
    uint8_t kind;
    uint64_t number;
} Bare; /* without fields: its padding counts */
typedef struct {
    int32_t first, hidden, last;
} Partial;
typedef struct {
    reef_entity to;
    struct {
        int16_t low, high[3];
    } range;
    char text[9];
    double weight;
} Rich;
typedef struct {
    uint16_t value[2500];
    uint8_t rest;
} Wide;
typedef struct {
    int32_t value;
} Local; /* forks reset it: its values don't count */

static const reef_hooks local_hooks = {.on_fork = REEF_FORK_RESET};

REEF_COMPONENT(Point);
REEF_FIELDS(Point, (x, "m"), (y, "m"));
REEF_COMPONENT(Padded);
REEF_FIELDS(Padded, kind, number);
REEF_COMPONENT(Bare);
REEF_COMPONENT(Partial);
REEF_FIELDS(Partial, first, last);
REEF_COMPONENT(Rich);
REEF_FIELDS(Rich, to, range.low, range.high, text, weight);
REEF_COMPONENT(Wide);
REEF_FIELDS(Wide, value, rest);
REEF_COMPONENT_HOOKS(Local, &local_hooks);

/* Checks that hash and comparison agree: the worlds are equal, or differ in this part, with this text if it is
 * given. */
static inline void assert_equal_worlds(reef_world *a, reef_world *b)
{
    reef_difference d;
    char text[512];
    bool equal = reef_equal(a, b, &d);
    (void)reef_difference_text(&d, text, sizeof text);
    if (!equal) print_error("%s\n", text);
    assert_true(equal);
    assert_int_equal(d.kind, 0);
    assert_true(reef_equal(b, a, NULL));
    assert_true(reef_hash(a) != 0);
    assert_true(reef_hash(a) == reef_hash(b));
}

static inline reef_difference assert_different(reef_world *a, reef_world *b, reef_hash_kind kind, const char *wanted)
{
    reef_difference d, back;
    char text[512];
    assert_true(reef_hash(a) != reef_hash(b));
    assert_false(reef_equal(a, b, &d));
    assert_false(reef_equal(b, a, &back));
    assert_false(reef_equal(a, b, NULL));
    size_t length = reef_difference_text(&d, text, sizeof text);
    assert_int_equal(length, strlen(text));
    if (wanted) assert_string_equal(text, wanted);
    assert_int_equal(d.kind, kind);
    assert_int_equal(back.kind, kind);
    assert_int_equal(back.component.id, d.component.id);
    assert_int_equal(back.row, d.row);
    assert_entity(d.other, back.entity);
    assert_entity(d.entity, back.other);
    return d;
}

/* ---- one state, built in many ways ---- */

enum { PEOPLE = 60, FREED = 6 };

typedef enum variation {
    AS_IT_IS,
    ONE_BIT,
    LAST_BYTE,
    ROW_ORDER,
    TAGGED,
    NO_TAG,
    ONE_MORE_COMPONENT,
    NAME_TEXT,
    NAME_GONE,
    NAME_MORE,
    NAME_OWNER,
    SWITCHED_ON,
    SWITCHED_OFF,
    OTHER_SWITCH,
    FREE_ORDER,
    FREE_GENERATION,
    ROW_GENERATION,
    EMPTY_GENERATION,
    RESERVED,
    RESERVED_GENERATION,
    RETIRED,
    ONE_MORE_EMPTY,
    ONE_MORE_ROW,
    ONE_INDEX_LESS,
    EMPTY_GETS_ROW,
    LINK,
    VARIATIONS
} variation;

typedef struct expected {
    reef_hash_kind kind;
    const char *text;
} expected;

static const expected different[VARIATIONS] = {
    [ONE_BIT] = {REEF_HASH_COLUMN, "Point of entity 4v1 differs (table Frozen, Padded, Point, row 1)"},
    [LAST_BYTE] = {REEF_HASH_COLUMN, "Wide of entity 57v1 differs (table Bare, Rich, Wide, row 19)"},
    [ROW_ORDER] = {REEF_HASH_ROWS, "The entities differ: 5v1 and 59v1 (table Padded, Point, row 1)"},
    [TAGGED] = {REEF_HASH_ROWS, "The entities differ: none and 5v1 (table Frozen, Padded, Point, row 20)"},
    [NO_TAG] = {REEF_HASH_ROWS, "The entities differ: 1v1 and 58v1 (table Frozen, Padded, Point, row 0)"},
    [ONE_MORE_COMPONENT] = {REEF_HASH_ROWS, "The entities differ: none and 6v1 (table Bare, Mass, Rich, Wide, row 0)"},
    [NAME_TEXT] = {REEF_HASH_NAMES, "The name of entity 9v1 differs"},
    [NAME_GONE] = {REEF_HASH_NAMES, "The name of entity 9v1 differs"},
    [NAME_MORE] = {REEF_HASH_NAMES, "The name of entity 8v1 differs"},
    [NAME_OWNER] = {REEF_HASH_NAMES, "The name of entity 8v1 differs"},
    [SWITCHED_ON] = {REEF_HASH_SWITCH, "Awake of entity 14v1 differs (table Padded, Point, row 4)"},
    [SWITCHED_OFF] = {REEF_HASH_SWITCH, "Awake of entity 11v1 differs (table Padded, Point, row 3)"},
    [OTHER_SWITCH] = {REEF_HASH_SWITCH, "Awake of entity 11v1 differs (table Padded, Point, row 3)"},
    [FREE_ORDER] = {REEF_HASH_IDS, "Free id 2 differs: 62v2 and 65v2"},
    [FREE_GENERATION] = {REEF_HASH_IDS,
                         "Index 61 differs: whether it is free, reserved or used up, or its next generation"},
    [ROW_GENERATION] = {REEF_HASH_ROWS, "The entities differ: 66v5 and 66v6 (table Mass, row 0)"},
    [EMPTY_GENERATION] = {REEF_HASH_IDS, "Index 67 differs: entities 67v8 and 67v7"},
    [RESERVED] = {REEF_HASH_IDS, "Index 70 differs: whether it is free, reserved or used up, or its next generation"},
    [RESERVED_GENERATION] = {REEF_HASH_IDS,
                             "Index 70 differs: whether it is free, reserved or used up, or its next generation"},
    [RETIRED] = {REEF_HASH_IDS, "Index 69 differs: whether it is free, reserved or used up, or its next generation"},
    [ONE_MORE_EMPTY] = {REEF_HASH_IDS, "Index 71 differs: entities none and 71v1"},
    [ONE_MORE_ROW] = {REEF_HASH_IDS, "Index 71 differs: entities none and 71v1"},
    [ONE_INDEX_LESS] = {REEF_HASH_IDS,
                        "Index 70 differs: whether it is free, reserved or used up, or its next generation"},
    [EMPTY_GETS_ROW] = {REEF_HASH_IDS, "Index 67 differs: entities 67v8 and 67v8, one without components"},
    [LINK] = {REEF_HASH_COLUMN, "Rich of entity 3v1 differs (table Bare, Rich, Wide, row 1)"},
};

typedef enum path { AT_ONCE, ONE_BY_ONE, BACKWARDS, PATHS } path; /* how a row gets its components */

static inline void put_two(reef_world *w, reef_entity e, path by, Padded padded, Point point, bool frozen)
{
    if (by == AT_ONCE) {
        reef_component types[] = {reef_id(Padded), reef_id(Point), reef_id(Frozen)};
        reef_value values[] = {{types[0], REEF_VALUE_ONE, sizeof padded, &padded},
                               {types[1], REEF_VALUE_ONE, sizeof point, &point},
                               {types[2], REEF_VALUE_DEFAULT, 0, NULL}};
        assert_ok(reef_change_values(w, e, values, frozen ? 3 : 2));
    } else if (by == ONE_BY_ONE) {
        if (frozen) assert_ok(reef_add(w, e, Frozen));
        assert_int_equal(reef_set_id(w, e, reef_id(Padded), &padded, sizeof padded), REEF_ADDED);
        assert_int_equal(reef_set_id(w, e, reef_id(Point), &point, sizeof point), REEF_ADDED);
    } else {
        assert_ok(reef_add(w, e, Point));
        assert_ok(reef_add(w, e, Mass));
        assert_ok(reef_add(w, e, Padded));
        *reef_mut(w, e, Padded) = padded;
        *reef_mut(w, e, Point) = point;
        assert_ok(reef_remove(w, e, Mass));
        if (frozen) assert_ok(reef_add(w, e, Frozen));
    }
}

static inline void put_wide(reef_world *w, reef_entity e, uint32_t i, path by)
{
    Rich rich = {{i % 7, 1}, {(int16_t)i, {1, -2, 3}}, "fish", 1.0 / (i + 1)};
    Bare bare;
    memset(&bare, 0, sizeof bare);
    bare.number = i;
    if (by == BACKWARDS) assert_ok(reef_add(w, e, Wide));
    assert_int_equal(reef_set_id(w, e, reef_id(Rich), &rich, sizeof rich), REEF_ADDED);
    if (by != BACKWARDS) assert_ok(reef_add(w, e, Wide));
    Wide *wide = reef_mut(w, e, Wide);
    for (uint32_t k = 0; k < 2500; k++) wide->value[k] = (uint16_t)(k * i);
    wide->rest = (uint8_t)i;
    assert_int_equal(reef_set_id(w, e, reef_id(Bare), &bare, sizeof bare), REEF_ADDED);
}

/* Rows i % 3: 0 Bare, Rich, Wide; 1 Frozen, Padded, Point; 2 Padded, Point. The garbage is in Padded's padding. */
static inline void build_rows(reef_world *w, path by, int garbage)
{
    for (uint32_t i = 0; i < PEOPLE; i++) {
        Padded padded;
        memset(&padded, garbage, sizeof padded);
        padded.kind = (uint8_t)i, padded.number = i * 1000003u;
        reef_entity e = reef_create(w);
        assert_int_equal(e.index, i);
        if (i % 3 == 0) put_wide(w, e, i, by);
        else put_two(w, e, by, padded, (Point){(float)i, -1}, i % 3 == 1);
    }
}

/* Indices 60 ... 65 are free, 66 has a row, 67 and 68 have none, 69 is used up, 70 is reserved. */
static inline void build_ids(reef_world *w, variation v)
{
    for (uint32_t i = PEOPLE; i < PEOPLE + FREED; i++)
        assert_ok(reef_create_as(w, (reef_entity){i, v == FREE_GENERATION && i == 61 ? 2 : 1}));
    assert_ok(reef_create_as(w, (reef_entity){66, v == ROW_GENERATION ? 6 : 5}));
    assert_ok(reef_create_as(w, (reef_entity){67, v == EMPTY_GENERATION ? 7 : 8}));
    assert_some(reef_create(w));
    assert_ok(reef_create_as(w, (reef_entity){69, v == RETIRED ? UINT32_MAX - 1 : UINT32_MAX}));
    reef_entity reserved = v == ONE_INDEX_LESS ? (reef_entity){0, 0} : reef_reserve_id(w);
    if (v == RESERVED || v == RESERVED_GENERATION) assert_ok(reef_release_id(w, reserved));
    if (v == RESERVED_GENERATION) assert_entity(((reef_entity){70, 2}), reef_reserve_id(w));
    for (uint32_t i = 0; i < FREED; i++) {
        uint32_t swapped = i == 2 ? 5 : i == 5 ? 2 : i;
        assert_ok(reef_destroy(w, reef_entity_at(w, PEOPLE + (v == FREE_ORDER ? swapped : i))));
    }
    assert_ok(reef_destroy(w, reef_entity_at(w, 69)));
    assert_ok(reef_add(w, reef_entity_at(w, 66), Mass));
}

static inline void build_names_and_switches(reef_world *w, path by)
{
    char name[32];
    if (by == BACKWARDS) assert_ok(reef_add(w, reef_entity_at(w, 17), Seen)); /* first used, last by name */
    for (uint32_t i = 9; i < PEOPLE; i += 7) {
        snprintf(name, sizeof name, "people.no%u", i);
        assert_ok(reef_set_name(w, reef_entity_at(w, i), name));
    }
    for (uint32_t i = 2; i < PEOPLE; i += 9) assert_ok(reef_add(w, reef_entity_at(w, i), Awake));
    assert_ok(reef_add(w, reef_entity_at(w, 13), Seen));
    if (by != BACKWARDS) assert_ok(reef_add(w, reef_entity_at(w, 17), Seen));
}

static inline void flip(void *byte) { *(uint8_t *)byte ^= 1; }

static inline void vary(reef_world *w, variation v)
{
    const reef_entity e5 = reef_entity_at(w, 5), e6 = reef_entity_at(w, 6), e8 = reef_entity_at(w, 8),
                      e9 = reef_entity_at(w, 9);
    const reef_entity e11 = reef_entity_at(w, 11), e14 = reef_entity_at(w, 14), e71 = {71, 1};
    switch (v) {
    case ONE_BIT: flip(&reef_mut(w, reef_entity_at(w, 4), Point)->x); break;
    case LAST_BYTE: flip(&reef_mut(w, reef_entity_at(w, 57), Wide)->rest); break;
    case ROW_ORDER: assert_ok(reef_add(w, e5, Mass)), assert_ok(reef_remove(w, e5, Mass)); break;
    case TAGGED: assert_ok(reef_add(w, e5, Frozen)); break;
    case NO_TAG: assert_ok(reef_remove(w, reef_entity_at(w, 1), Frozen)); break;
    case ONE_MORE_COMPONENT: assert_ok(reef_add(w, e6, Mass)); break;
    case NAME_TEXT: assert_ok(reef_set_name(w, e9, "people.no10")); break;
    case NAME_GONE: assert_ok(reef_set_name(w, e9, NULL)); break;
    case NAME_MORE: assert_ok(reef_set_name(w, e8, "people.no8")); break;
    case NAME_OWNER: assert_ok(reef_set_name(w, e9, NULL)), assert_ok(reef_set_name(w, e8, "people.no9")); break;
    case SWITCHED_ON: assert_ok(reef_add(w, e14, Awake)); break;
    case SWITCHED_OFF: assert_ok(reef_remove(w, e11, Awake)); break;
    case OTHER_SWITCH: assert_ok(reef_remove(w, e11, Awake)), assert_ok(reef_add(w, e11, Seen)); break;
    case ONE_MORE_EMPTY: assert_ok(reef_create_as(w, e71)); break;
    case ONE_MORE_ROW: assert_ok(reef_create_as(w, e71)), assert_ok(reef_add(w, e71, Mass)); break;
    case EMPTY_GETS_ROW: assert_ok(reef_add(w, reef_entity_at(w, 67), Frozen)); break;
    case LINK: flip(&reef_mut(w, reef_entity_at(w, 3), Rich)->to.generation); break;
    default: break;
    }
}

static inline void build(reef_world *w, variation v, path by, int garbage)
{
    build_rows(w, by, garbage);
    build_ids(w, v);
    build_names_and_switches(w, by);
    vary(w, v);
}

/* Rows of Point and Padded; every hundredth is Awake. */
static inline void spawn_rows(reef_world *w, uint32_t rows)
{
    reef_entity *e = calloc(rows + 1, sizeof *e);
    Point *p = calloc(rows + 1, sizeof *p);
    Padded *q = malloc((rows + 1) * sizeof *q);
    for (uint32_t i = 0; i < rows; i++)
        p[i] = (Point){(float)i, -(float)i}, q[i].kind = (uint8_t)i, q[i].number = ~(uint64_t)i;
    assert_ok(reef_spawn_many(w, rows, e, reef_array(Point, p), reef_array(Padded, q)));
    for (uint32_t i = 0; i < rows; i += 100) assert_ok(reef_add(w, e[i], Awake));
    free(e), free(p), free(q);
}

#endif
