/* Fields in their short form, members that are structs, and the names of enums and bit masks. */
#include "support.h"

typedef enum Mood { CALM, ANGRY, FLEEING = 7 } Mood;
REEF_ENUM(Mood, CALM, ANGRY, (FLEEING, "flees"));
enum { WET = 1, COLD = 2, DARK = 8 };
REEF_MASK(Flags, WET, COLD, DARK);

typedef struct Point {
    float x, y;
} Point;
REEF_STRUCT(Point, x, (y, "m"));
typedef struct Box {
    Point least, most;
    Mood mood;
} Box;
REEF_STRUCT(Box, (least, struct, Point), (most, struct, Point), (mood, enum, Mood));

typedef struct Every {
    bool yes;
    char letter, text[5];
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    long l;
    unsigned long ul;
    long long ll;
    size_t size;
    float f32, matrix[3][4];
    const float fixed;
    double f64, list[6];
    reef_entity who, others[2];
    Mood mood, moods[2];
    bool flags[3];
} Every;
REEF_COMPONENT(Every);
REEF_FIELDS(Every, yes, letter, text, i8, u8, i16, i32, u32, i64, u64, l, ul, ll, size, f32, matrix, fixed, f64, list,
            who, others, mood, moods, flags, (others[1].index, "slots", 0, 9), (u16, REEF_U8, "raw", 0, 1));

typedef struct Crab {
    Box box, boxes[2];
    Mood mood;
    uint32_t flags;
    int8_t small[2];
} Crab;
REEF_COMPONENT(Crab);
REEF_FIELDS(Crab, (box, struct, Box), (boxes, struct, Box), (mood, enum, Mood), (flags, enum, Flags),
            (small, enum, Mood));

static const reef_field *field_of(reef_component c, const char *name)
{
    reef_type_info info;
    assert_true(reef_type_get(c, &info));
    for (uint32_t i = 0; i < info.field_count; i++)
        if (strcmp(info.fields[i].name, name) == 0) return &info.fields[i];
    return NULL;
}

static void kind_is(const char *name, reef_kind kind, uint32_t bytes)
{
    const reef_field *f = field_of(reef_id(Every), name);
    assert_non_null(f);
    assert_int_equal(f->kind, kind);
    assert_int_equal(f->bytes, bytes);
}

static void the_kind_of_a_field_follows_from_its_c_type(void **state)
{
    (void)state;
    kind_is("yes", REEF_BOOL, 1);
    kind_is("letter", REEF_CHAR, 1);
    kind_is("text", REEF_CHAR, 5);
    kind_is("i8", REEF_I8, 1);
    kind_is("u8", REEF_U8, 1);
    kind_is("i16", REEF_I16, 2);
    kind_is("i32", REEF_I32, 4);
    kind_is("u32", REEF_U32, 4);
    kind_is("i64", REEF_I64, 8);
    kind_is("u64", REEF_U64, 8);
    kind_is("l", sizeof(long) == 8 ? REEF_I64 : REEF_I32, sizeof(long));
    kind_is("ul", sizeof(long) == 8 ? REEF_U64 : REEF_U32, sizeof(long));
    kind_is("ll", REEF_I64, 8);
    kind_is("size", sizeof(size_t) == 8 ? REEF_U64 : REEF_U32, sizeof(size_t));
    kind_is("f32", REEF_F32, 4);
    kind_is("matrix", REEF_F32, 48);
    kind_is("fixed", REEF_F32, 4);
    kind_is("f64", REEF_F64, 8);
    kind_is("list", REEF_F64, 48);
    kind_is("who", REEF_ENTITY, 8);
    kind_is("others", REEF_ENTITY, 16);
    const reef_kind of_enum = field_of(reef_id(Every), "mood")->kind;
    assert_true(of_enum == REEF_U32 || of_enum == REEF_I32); /* whichever the compiler chose */
    kind_is("mood", of_enum, 4);
    kind_is("moods", of_enum, 8);
    kind_is("flags", REEF_BOOL, 3);
}

static void units_and_ranges_stand_beside_a_member(void **state)
{
    (void)state;
    const reef_field *f = field_of(reef_id(Every), "others[1].index");
    assert_non_null(f);
    assert_int_equal(f->kind, REEF_U32);
    assert_string_equal(f->unit, "slots");
    assert_true(f->lowest == 0 && f->highest == 9);
}

static void a_member_can_be_described_by_another_kind(void **state)
{
    (void)state;
    kind_is("u16", REEF_U8, 2);
    assert_string_equal(field_of(reef_id(Every), "u16")->unit, "raw");
}

/* ---- members that are structs ---- */

static void a_member_that_is_a_struct_becomes_its_fields(void **state)
{
    (void)state;
    reef_type_info info;
    assert_true(reef_type_get(reef_id(Crab), &info));
    assert_int_equal(info.field_count, 3 * 5 + 3);
    for (uint32_t i = 0; i < info.field_count; i++) assert_null(info.fields[i].nested);
    const reef_field *f = field_of(reef_id(Crab), "box.most.y");
    assert_non_null(f);
    assert_int_equal(f->offset, offsetof(Crab, box.most.y));
    assert_int_equal(f->kind, REEF_F32);
    assert_string_equal(f->unit, "m");
    f = field_of(reef_id(Crab), "boxes[1].least.x");
    assert_non_null(f);
    assert_int_equal(f->offset, offsetof(Crab, boxes) + sizeof(Box));
    assert_non_null(field_of(reef_id(Crab), "boxes[1].mood")->names);
}

/* A field's old names, with what joins them, have at most 255 bytes; so have those that its struct makes of them. */
static void old_names_have_a_limit(void **state)
{
    (void)state;
    char names[REEF_FIELD_WAS_MAX + 2];
    memset(names, 'a', sizeof names);
    names[REEF_FIELD_WAS_MAX] = names[REEF_FIELD_WAS_MAX + 1] = 0;
    reef_field x = {.name = "x", .kind = REEF_F32, .bytes = 4, .was = names};
    assert_ok(reef_type_describe(numbered_type("renamed", 1, 4, 4), &x, 1));
    names[REEF_FIELD_WAS_MAX] = 'a';
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(numbered_type("renamed", 2, 4, 4), &x, 1));
    const reef_field_list list = {&x, 1, 4};
    const reef_field f = {.name = "f", .bytes = 4, .nested = &list}; /* "f." comes before each */
    names[REEF_FIELD_WAS_MAX - 2] = 0;
    assert_ok(reef_type_describe(numbered_type("renamed", 3, 4, 4), &f, 1));
    names[REEF_FIELD_WAS_MAX - 2] = 'a';
    names[REEF_FIELD_WAS_MAX - 1] = 0;
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(numbered_type("renamed", 4, 4, 4), &f, 1));
}

static void wrong_lists_of_structs_are_refused(void **state)
{
    (void)state;
    const reef_field x = {.name = "x", .kind = REEF_F32, .bytes = 4};
    const reef_field_list odd = {&x, 1, 5}, empty = {NULL, 0, 4}, one = {&x, 1, 4};
    reef_field f = {.name = "f", .bytes = 8, .nested = &odd};
    const reef_component c = numbered_type("nested", 1, 8, 4);
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &f, 1));
    f.nested = &empty;
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &f, 1));
    f.nested = &one;
    f.kind = REEF_F32;
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &f, 1));
    f.kind = (reef_kind)0;
    f.bytes = 0;
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &f, 1));
    /* a struct that has itself as a member */
    reef_field inner = {.name = "f", .bytes = 4};
    const reef_field_list endless = {&inner, 1, 4};
    inner.nested = &endless;
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &inner, 1));
    f.bytes = 8;
    assert_ok(reef_type_describe(c, &f, 1));
    assert_non_null(field_of(c, "f[1].x"));
}

static void fields_of_structs_count_up_to_the_limit(void **state)
{
    (void)state;
    const reef_field x = {.name = "x", .kind = REEF_U8, .bytes = 1};
    const reef_field_list one = {&x, 1, 1};
    reef_field f = {.name = "f", .bytes = REEF_FIELDS_MAX + 1, .nested = &one};
    const reef_component c = numbered_type("nested_most", 1, 2048, 4);
    assert_status(REEF_BAD_ARGUMENT, reef_type_describe(c, &f, 1));
    f.bytes = REEF_FIELDS_MAX;
    assert_ok(reef_type_describe(c, &f, 1));
    assert_non_null(field_of(c, "f[1023].x"));
}

/* ---- names of values ---- */

static void names_are_part_of_the_type(void **state)
{
    (void)state;
    const reef_names *n = field_of(reef_id(Crab), "mood")->names;
    assert_non_null(n);
    assert_true(n != &reef_declared_by_REEF_ENUM_Mood); /* a copy */
    assert_ptr_equal(n, field_of(reef_id(Crab), "small")->names);
    assert_string_equal(n->name, "Mood");
    assert_false(n->mask);
    assert_int_equal(n->count, 3);
    assert_string_equal(n->values[2].name, "flees");
    assert_int_equal(n->values[2].value, 7);
    assert_true(field_of(reef_id(Crab), "flags")->names->mask);
    assert_null(field_of(reef_id(Crab), "box.least.x")->names);
}

static reef_status named(const char *type, reef_kind kind, reef_names names)
{
    const uint32_t bytes = kind == REEF_U64 || kind == REEF_I64 || kind == REEF_F64 ? 8 : kind == REEF_I8 ? 1 : 4;
    const reef_field f = {.name = "f", .kind = kind, .bytes = bytes, .names = &names};
    reef_status status = REEF_OK;
    (void)reef_type_new(&(reef_type_desc){.name = type, .size = 8, .fields = &f, .field_count = 1}, &status);
    return status;
}
#define NAMES(...) \
    (reef_names) \
    { \
        "Enum", (reef_named_value[]){__VA_ARGS__}, \
            sizeof((reef_named_value[]){__VA_ARGS__}) / sizeof(reef_named_value), false \
    }

static void wrong_names_are_refused(void **state)
{
    (void)state;
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I32, NAMES({"A", 0}, {"A", 1})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I32, NAMES({"A", 1}, {"B", 1})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_F32, NAMES({"A", 0})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_CHAR, NAMES({"A", 0})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_BOOL, NAMES({"A", 0})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I32, NAMES({"", 0})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I32, NAMES({NULL, 0})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I32, NAMES({"1A", 0})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I32, NAMES({"A|B", 0})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I32, NAMES({"A B", 0})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I32, ((reef_names){"E", NULL, 1, false})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I32, ((reef_names){"E", &(reef_named_value){"A", 0}, 0, false})));
    assert_status(REEF_BAD_ARGUMENT,
                  named("N1", REEF_I32, ((reef_names){NULL, &(reef_named_value){"A", 0}, 1, false})));
    /* what fits the kind, and one more than that */
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I8, NAMES({"A", 128})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_I8, NAMES({"A", -129})));
    assert_ok(named("N2", REEF_I8, NAMES({"A", 127}, {"B", -128})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_U32, NAMES({"A", -1})));
    assert_status(REEF_BAD_ARGUMENT, named("N1", REEF_U32, NAMES({"A", INT64_C(1) << 32})));
    assert_ok(named("N3", REEF_U32, NAMES({"A", UINT32_MAX}, {"B", 0})));
    assert_ok(named("N4", REEF_I64, NAMES({"A", INT64_MIN}, {"B", INT64_MAX})));
    assert_ok(named("N5", REEF_U64, NAMES({"A", -1})));
    /* other names, another type */
    assert_ok(named("N5", REEF_U64, NAMES({"A", -1})));
    assert_status(REEF_EXISTS, named("N5", REEF_U64, NAMES({"B", -1})));
    assert_status(REEF_EXISTS, named("N5", REEF_U64, NAMES({"A", -2})));
    assert_status(REEF_EXISTS, named("N5", REEF_U64, NAMES({"A", -1}, {"B", 2})));
}

static void the_number_of_names_has_a_limit(void **state)
{
    static reef_named_value values[REEF_NAMES_MAX + 1];
    static char texts[REEF_NAMES_MAX + 1][8];
    (void)state;
    for (uint32_t i = 0; i <= REEF_NAMES_MAX; i++) {
        snprintf(texts[i], sizeof texts[i], "V%u", (unsigned)i);
        values[i] = (reef_named_value){texts[i], i};
    }
    assert_status(REEF_BAD_ARGUMENT, named("Most", REEF_I32, (reef_names){"E", values, REEF_NAMES_MAX + 1, false}));
    assert_ok(named("Most", REEF_I32, (reef_names){"E", values, REEF_NAMES_MAX, false}));
    char text[REEF_NAMES_TEXT_MAX];
    const reef_names *n = field_of(reef_type_find("Most"), "f")->names;
    assert_int_equal(reef_names_write(n, REEF_NAMES_MAX - 1, text, sizeof text), 5);
    assert_string_equal(text, "V1023");
}

static void written(const reef_names *n, int64_t value, const char *expected)
{
    char text[64], little[4] = "???";
    int64_t back = value + 1;
    assert_int_equal(reef_names_write(n, value, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
    assert_true(reef_names_read(n, text, strlen(text), &back));
    assert_int_equal(back, value);
    (void)reef_names_write(n, value, little, sizeof little);
    assert_true(strncmp(little, expected, 3) == 0 && little[3] == 0);
}

static void values_are_written_and_read_by_name(void **state)
{
    (void)state;
    written(&reef_declared_by_REEF_ENUM_Mood, ANGRY, "ANGRY");
    written(&reef_declared_by_REEF_ENUM_Mood, FLEEING, "flees");
    written(&reef_declared_by_REEF_ENUM_Mood, 5, "5");
    written(&reef_declared_by_REEF_ENUM_Mood, -5, "-5");
    written(&reef_declared_by_REEF_ENUM_Mood, INT64_MIN, "-9223372036854775808");
    written(&reef_declared_by_REEF_ENUM_Flags, 0, "0");
    written(&reef_declared_by_REEF_ENUM_Flags, WET, "WET");
    written(&reef_declared_by_REEF_ENUM_Flags, WET | DARK, "WET|DARK");
    written(&reef_declared_by_REEF_ENUM_Flags, WET | COLD | 4, "WET|COLD|4");
    written(&reef_declared_by_REEF_ENUM_Flags, -1, "WET|COLD|DARK|-12");
    written(NULL, 12, "12");
    int64_t value = 99;
    static const struct {
        const char *text;
        int64_t value;
    } also[] = {{" ANGRY ", ANGRY}, {"0x7", FLEEING}, {"18446744073709551615", -1}};
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(reef_names_read(&reef_declared_by_REEF_ENUM_Mood, also[i].text, strlen(also[i].text), &value));
        assert_int_equal(value, also[i].value);
    }
    assert_true(reef_names_read(&reef_declared_by_REEF_ENUM_Flags, "COLD | WET|0x10", 15, &value));
    assert_int_equal(value, COLD | WET | 16);
    static const char *const wrong[] = {"",
                                        "ANGR",
                                        "ANGRYY",
                                        "angry",
                                        "1x",
                                        "-",
                                        "0x",
                                        "ANGRY|CALM",
                                        "18446744073709551616",
                                        "1 2",
                                        "+1",
                                        "FLEEING",
                                        "0xg",
                                        " ",
                                        "--1",
                                        "-9223372036854775809"};
    value = 99;
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(reef_names_read(&reef_declared_by_REEF_ENUM_Mood, wrong[i], strlen(wrong[i]), &value));
    assert_false(reef_names_read(&reef_declared_by_REEF_ENUM_Flags, "WET|", 4, &value));
    assert_false(reef_names_read(&reef_declared_by_REEF_ENUM_Flags, "|WET", 4, &value));
    assert_false(reef_names_read(&reef_declared_by_REEF_ENUM_Flags, NULL, 0, &value));
    assert_false(reef_names_read(&reef_declared_by_REEF_ENUM_Flags, "WET", 3, NULL));
    assert_int_equal(value, 99);
}

/* A name for several bits counts where it stands in the list. */
static void a_name_may_stand_for_several_bits(void **state)
{
    (void)state;
    const reef_names n = {"Rights", (reef_named_value[]){{"NONE", 0}, {"ALL", 7}, {"READ", 1}, {"WRITE", 2}}, 4, true};
    written(&n, 0, "NONE");
    written(&n, 7, "ALL");
    written(&n, 3, "READ|WRITE");
    written(&n, 15, "ALL|8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_kind_of_a_field_follows_from_its_c_type),
        TEST(units_and_ranges_stand_beside_a_member),
        TEST(a_member_can_be_described_by_another_kind),
        TEST(a_member_that_is_a_struct_becomes_its_fields),
        TEST(wrong_lists_of_structs_are_refused),
        TEST(old_names_have_a_limit),
        TEST(fields_of_structs_count_up_to_the_limit),
        TEST(names_are_part_of_the_type),
        TEST(wrong_names_are_refused),
        TEST(the_number_of_names_has_a_limit),
        TEST(values_are_written_and_read_by_name),
        TEST(a_name_may_stand_for_several_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
