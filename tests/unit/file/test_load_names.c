/* Loading what an older program wrote: values follow the names of their enum. */
#include "load_checks.h"
#include "load_notes.h"
#include "load_zoo.h"
#include "reef/diff.h"
#include "reef/renamed.h"
#include "reef/type_info.h"

typedef struct MoodWas {
    int32_t mood, moods[2];
    uint8_t flags, mixed;
    int32_t bare;
} MoodWas;
typedef struct MoodNow {
    int16_t mood, moods[2];
    uint64_t flags, mixed;
    int32_t bare;
} MoodNow;
typedef struct MoodNew {
    int32_t mood, moods[2];
    uint8_t flags, mixed;
    int32_t bare;
} MoodNew;
enum { WAS_CALM, WAS_ANGRY, WAS_HUNTING, WAS_WET = 1, WAS_COLD = 2, WAS_DARK = 4 };
enum { NOW_AFRAID = 1, NOW_ANGRY = -7, NOW_CALM = 2, NOW_COLD = 1, NOW_WET = 1 << 9 };
REEF_ENUM(Was, (WAS_CALM, "CALM"), (WAS_ANGRY, "ANGRY"), (WAS_HUNTING, "HUNTING"));
REEF_ENUM(Now, (NOW_AFRAID, "AFRAID"), (NOW_ANGRY, "ANGRY"), (NOW_CALM, "CALM"));
REEF_ENUM(New, (WAS_CALM, "CALM"), (WAS_ANGRY, "ANGRY"), (WAS_HUNTING, "HUNTING"), (3, "AFRAID"));
REEF_MASK(FlagsWas, (WAS_WET, "WET"), (WAS_COLD, "COLD"), (WAS_DARK, "DARK"));
REEF_MASK(FlagsNow, (NOW_COLD, "COLD"), (NOW_WET, "WET"));
REEF_COMPONENT(MoodWas);
REEF_FIELDS(MoodWas, (mood, enum, Was), (moods, enum, Was), (flags, enum, FlagsWas), (mixed, enum, FlagsWas), bare);
REEF_COMPONENT(MoodNow);
REEF_FIELDS(MoodNow, (mood, enum, Now), (moods, enum, Now), (flags, enum, FlagsNow), (mixed, enum, FlagsNow),
            (bare, enum, Now));
REEF_COMPONENT(MoodNew);
REEF_FIELDS(MoodNew, (mood, enum, New), (moods, enum, New), (flags, enum, FlagsWas), (mixed, enum, FlagsWas), bare);

static void values_follow_their_names(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const MoodWas old = {WAS_ANGRY, {WAS_CALM, 99}, WAS_WET | WAS_COLD, WAS_COLD | WAS_DARK | 64, 1};
    const reef_entity e = reef_spawn(w, reef_value_make(reef_id(MoodWas), REEF_VALUE_ONE, sizeof old, &old)),
                      gone = reef_spawn(w, reef_with(MoodWas, .mood = WAS_HUNTING));
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "MoodWas", "MoodNow");
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_valid(other);
    const MoodNow *x = reef_get(other, e, MoodNow);
    assert_non_null(x);
    assert_int_equal(x->mood, NOW_ANGRY);
    assert_int_equal(x->moods[0], NOW_CALM);
    assert_int_equal(x->moods[1], 99); /* it had no name */
    assert_int_equal(x->flags, NOW_WET | NOW_COLD);
    assert_int_equal(x->mixed, NOW_COLD | 64); /* DARK is gone */
    assert_int_equal(x->bare, 1);              /* it was only a number */
    x = reef_get(other, gone, MoodNow);
    assert_non_null(x);
    assert_int_equal(x->mood, 0);
    assert_int_equal(n.count[REEF_NOTE_NAMES_CHANGED], 5);
    assert_int_equal(n.count[REEF_NOTE_NAME_DROPPED], 4); /* HUNTING in two fields, DARK in two */
    reef_bytes_free(&bytes);
}

static void names_that_came_along_change_no_values(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_entity e = reef_spawn(w, reef_with(MoodWas, .mood = WAS_HUNTING, .moods = {3, 0}));
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "MoodWas", "MoodNew");
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    assert_int_equal(reef_get(other, e, MoodNew)->mood, WAS_HUNTING);
    assert_int_equal(reef_get(other, e, MoodNew)->moods[0], 3);
    assert_string_equal(n.text, "10 MoodNew mood\n10 MoodNew moods\n");
    reef_bytes_free(&bytes);
}

/* ---- fields that were renamed ---- */

typedef struct PartWas {
    float a, b;
} PartWas;
REEF_STRUCT(PartWas, a, b);
typedef struct FieldWas {
    int32_t power, rage, kept;
    PartWas at, parts[2];
} FieldWas;
REEF_COMPONENT(FieldWas);
REEF_FIELDS(FieldWas, power, rage, kept, (at, struct, PartWas), (parts, struct, PartWas));
typedef struct PartNow {
    float y, x;
} PartNow;
REEF_STRUCT(PartNow, REEF_FIELD_WAS(y, b), REEF_FIELD_WAS((x, "m"), a));
typedef struct FieldNow {
    PartNow spots[2], spot;
    double strength;
    int32_t kept, rage, calm;
} FieldNow;
REEF_COMPONENT(FieldNow);
/* `rage` has its own name in the file, so `calm` doesn't get it; of several old names the first that is there counts */
REEF_FIELDS(FieldNow, REEF_FIELD_WAS((spots, struct, PartNow), parts), REEF_FIELD_WAS((spot, struct, PartNow), at),
            REEF_FIELD_WAS(strength, might, power), kept, rage, REEF_FIELD_WAS(calm, rage));

static void renamed_fields_keep_their_values(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const FieldWas old = {1, 2, 3, {4, 5}, {{6, 7}, {8, 9}}};
    const reef_entity e = reef_spawn(w, reef_value_make(reef_id(FieldWas), REEF_VALUE_ONE, sizeof old, &old));
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "FieldWas", "FieldNow");
    notes n = {0};
    const reef_load_desc desc = {.note = note_down, .context = &n};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &desc));
    const FieldNow *x = reef_get(other, e, FieldNow);
    assert_true(x && x->strength == 1 && x->rage == 2 && x->kept == 3 && x->calm == 0);
    assert_true(x->spot.x == 4 && x->spot.y == 5);
    assert_true(x->spots[0].x == 6 && x->spots[0].y == 7 && x->spots[1].x == 8 && x->spots[1].y == 9);
    assert_int_equal(n.count[REEF_NOTE_FIELD_DROPPED], 0);
    assert_int_equal(n.count[REEF_NOTE_FIELD_DEFAULT], 1);
    reef_bytes_free(&bytes);
    reef_type_info info;
    assert_true(reef_type_get(reef_id(FieldNow), &info));
    assert_string_equal(info.fields[0].name, "spots[0].y");
    assert_string_equal(info.fields[0].was, "parts[0].y, spots[0].b, parts[0].b");
    assert_string_equal(info.fields[6].was, "might, power");
    assert_null(info.fields[7].was);
}

/* A type with as many fields as there may be, in another order and of another kind; one of them was renamed. */
static reef_component many_fields(const char *name, reef_kind kind, uint32_t size, bool backward)
{
    static char text[REEF_FIELDS_MAX][8];
    static reef_field fields[REEF_FIELDS_MAX];
    for (uint32_t i = 0; i < REEF_FIELDS_MAX; i++) {
        const uint32_t number = backward ? REEF_FIELDS_MAX - 1 - i : i;
        (void)snprintf(text[i], sizeof text[i], "f%u", number);
        fields[i] = (reef_field){.name = text[i], .kind = kind, .offset = i * size, .bytes = size};
        if (backward && number == 700) fields[i].name = "fresh", fields[i].was = text[i];
    }
    return reef_type_new(&(reef_type_desc){.name = name,
                                           .size = REEF_FIELDS_MAX * size,
                                           .align = size,
                                           .fields = fields,
                                           .field_count = REEF_FIELDS_MAX},
                         NULL);
}

static void as_many_fields_as_there_may_be(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const reef_component was = many_fields("ManyWas", REEF_U8, 1, false),
                         now = many_fields("ManyNow", REEF_U16, 2, true);
    uint8_t old[REEF_FIELDS_MAX];
    for (uint32_t i = 0; i < REEF_FIELDS_MAX; i++) old[i] = (uint8_t)(i * 7 + 1);
    const reef_entity e = reef_create(w);
    assert_int_equal(reef_set_id(w, e, was, old, sizeof old), REEF_ADDED);
    reef_bytes bytes = saved(w, false);
    rename_type(bytes, "ManyWas", "ManyNow");
    notes n = {0};
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &(reef_load_desc){.note = note_down, .context = &n}));
    const uint16_t *x = reef_get_id(other, e, now);
    assert_non_null(x);
    for (uint32_t i = 0; i < REEF_FIELDS_MAX; i++) assert_int_equal(x[REEF_FIELDS_MAX - 1 - i], old[i]);
    assert_int_equal(n.count[REEF_NOTE_FIELD_DROPPED] + n.count[REEF_NOTE_FIELD_DEFAULT], 0);
    reef_bytes_free(&bytes);
}

/* A tool that doesn't have the type gets its names from the file, and writes the same file again. */
static void an_unknown_type_gets_its_names_from_the_file(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_spawn(w, reef_with(MoodWas, .mood = WAS_ANGRY, .flags = WAS_WET));
    reef_bytes bytes = saved(w, false), again;
    rename_type(bytes, "MoodWas", "MoodOdd");
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, &(reef_load_desc){.unknown = REEF_UNKNOWN_DECLARE}));
    reef_type_info info;
    assert_true(reef_type_get(reef_type_find("MoodOdd"), &info));
    assert_string_equal(info.fields[0].names->name, "Was");
    assert_string_equal(info.fields[0].names->values[1].name, "ANGRY");
    assert_ptr_equal(info.fields[0].names, info.fields[1].names);
    assert_true(info.fields[2].names->mask);
    assert_null(info.fields[4].names);
    again = saved(other, false);
    assert_int_equal(again.size, bytes.size);
    assert_memory_equal(again.data, bytes.data, bytes.size);
    reef_world *third = another_world(state, NULL);
    load(third, again);
    assert_same(other, third);
    reef_bytes_free(&again);
    reef_bytes_free(&bytes);
}

static void a_difference_with_other_values_of_names_is_refused(void **state)
{
    reef_world *w = world_of(state), *before = reef_fork(w);
    reef_bytes bytes = {NULL, 0};
    const reef_entity e = reef_spawn(w, reef_with(MoodWas, .mood = WAS_ANGRY));
    assert_ok(reef_diff_bytes(before, w, &bytes, NULL));
    rename_type(bytes, "MoodWas", "MoodNew");
    assert_ok(reef_diff_apply(before, bytes.data, bytes.size));
    assert_int_equal(reef_get(before, e, MoodNew)->mood, WAS_ANGRY);
    reef_world_free(before);
    before = another_world(state, NULL);
    rename_type(bytes, "MoodNew", "MoodNow");
    assert_status(REEF_NOT_PORTABLE, reef_diff_apply(before, bytes.data, bytes.size));
    reef_bytes_free(&bytes);
}

/* Bytes behind the first `text` of a file are others: it is refused, and the world stays as it is. */
static void damaged(reef_world *w, reef_bytes bytes, const char *text, int behind, const void *is, size_t size)
{
    unsigned char *p = bytes.data, *end = p + bytes.size - strlen(text), was[16];
    while (p < end && memcmp(p, text, strlen(text)) != 0) p++;
    assert_true(p < end);
    p += behind;
    memcpy(was, p, size);
    memcpy(p, is, size);
    repair(bytes.data, bytes.size);
    const uint64_t hash = reef_hash(w);
    assert_status(REEF_CORRUPT, reef_load_bytes(w, bytes.data, bytes.size, NULL));
    assert_true(reef_hash(w) == hash);
    memcpy(p, was, size);
    repair(bytes.data, bytes.size);
}

static void names_that_are_damaged_are_refused(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_spawn(w, reef_with(MoodWas, .mood = WAS_ANGRY));
    reef_bytes bytes = saved(w, false);
    /* "Was" u8 mask u16 count, then each value: u16 length, text, u64 value */
    damaged(other, bytes, "CALM", 0, "CA|M", 4);
    damaged(other, bytes, "CALM", 0, "1ALM", 4);
    damaged(other, bytes, "ANGRY", 5, "\0\0\0\0\0\0\0\0", 8);    /* the value that CALM has */
    damaged(other, bytes, "ANGRY", 5, "\1\0\0\0\1\0\0\0", 8);    /* more than an i32 */
    damaged(other, bytes, "DARK", 4, "\0\1\0\0\0\0\0\0", 8);     /* more than a u8 */
    damaged(other, bytes, "CALM", -5, "\2", 1);                  /* neither an enum nor a mask */
    damaged(other, bytes, "CALM", -4, "\0\0", 2);                /* no names */
    damaged(other, bytes, "CALM", -4, "\xFF\xFF", 2);            /* more names than bytes */
    damaged(other, bytes, "DARK", 4 + 8, "\1\0\1\0\3", 5);       /* a list that isn't there */
    damaged(other, bytes, "DARK", 4 + 8, "\1\0\1\0\1\0\1\0", 8); /* a list that no field has */
    load(other, bytes);
    reef_bytes_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_follow_their_names),
        TEST(names_that_came_along_change_no_values),
        TEST(renamed_fields_keep_their_values),
        TEST(as_many_fields_as_there_may_be),
        TEST(an_unknown_type_gets_its_names_from_the_file),
        TEST(names_that_are_damaged_are_refused),
        TEST(a_difference_with_other_values_of_names_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
