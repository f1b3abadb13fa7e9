/* Visiting and printing: everything once, in an order that depends on the world's state alone. */
#include "support.h"

typedef struct {
    reef_entity mate;
    char label[8];
    int16_t depths[3];
    bool sick;
    uint8_t hours;
} Crab;
REEF_COMPONENT(Crab);
REEF_FIELDS(Crab, mate, label, (depths, "m", -100, 0), sick, (hours, "h", 0, 24));

typedef struct {
    struct {
        float x, y;
    } at;
    double heat;
    int64_t big;
    uint64_t bits;
} Probe;
typedef struct {
    int8_t a;
    uint16_t b;
    uint32_t c;
    float none, endless;
} Small;
REEF_COMPONENT(Small);
REEF_FIELDS(Small, a, b, c, none, endless);
REEF_COMPONENT(Probe);
REEF_FIELDS(Probe, (at.x, "m"), (heat, "K"), big, bits);

/* Somebody else's struct, from the C library (H6). */
REEF_COMPONENT(div_t);
REEF_FIELDS(div_t, quot, rem);

/* ---- B7: visiting ---- */

typedef struct notes {
    char text[4000];
    uint32_t stop_after;
    size_t size_sum;
} notes;

static bool note(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    notes *n = context;
    size_t length = strlen(n->text);
    const char *name = c.id ? reef_type_name(c) : "-";
    snprintf(n->text + length, sizeof n->text - length, "%s%u%s ", name, (unsigned)e.index, data ? "*" : "");
    n->size_sum += size;
    return n->stop_after == 0 || --n->stop_after > 0;
}

static void all_components_of_an_entity_by_type_name(void **state)
{
    reef_world *w = world_of(state);
    notes n = {0};
    reef_entity e = reef_spawn(w, reef_tag(Seen), reef_with(Velocity, 1, 2), reef_tag(Frozen), reef_with(Cargo, {1}),
                               reef_tag(Awake), reef_with(Tracked, .value = 2));
    assert_true(reef_visit_entity(w, e, note, &n));
    assert_string_equal(n.text, "Awake0 Cargo0* Frozen0 Seen0 Tracked0* Velocity0* ");
    assert_int_equal(n.size_sum, sizeof(Cargo) + sizeof(Tracked) + sizeof(Velocity));
    n = (notes){.stop_after = 2};
    assert_false(reef_visit_entity(w, e, note, &n));
    assert_string_equal(n.text, "Awake0 Cargo0* ");
    n = (notes){0};
    assert_true(reef_visit_entity(w, reef_create(w), note, &n));
    assert_ok(reef_destroy(w, e));
    assert_false(reef_visit_entity(w, e, note, &n));
    assert_false(reef_visit_entity(w, (reef_entity){0}, note, &n));
    assert_string_equal(n.text, "");
}

static void all_components_of_a_world_by_type_name_then_table_then_row(void **state)
{
    reef_world *w = world_of(state);
    notes n = {0};
    reef_spawn(w, reef_with(Position, 0, 0));
    reef_spawn(w, reef_with(Position, 0, 0), reef_with(Mass, 1), reef_tag(Awake));
    reef_spawn(w, reef_with(Flag, 1), reef_with(Position, 0, 0));
    reef_spawn(w, reef_tag(Awake));
    reef_spawn(w, reef_with(Position, 0, 0));
    reef_create(w);
    assert_true(reef_visit_world(w, note, &n));
    /* Tables in order: none, {Flag, Position}, {Mass, Position}, {Position}. */
    assert_string_equal(n.text, "Awake3 Awake1 Flag2* Mass1* Position2* Position1* Position0* Position4* ");
    n = (notes){.stop_after = 3};
    assert_false(reef_visit_world(w, note, &n));
    assert_string_equal(n.text, "Awake3 Awake1 Flag2* ");
    n = (notes){0};
    assert_true(reef_visit_entities(w, note, &n));
    assert_string_equal(n.text, "-0 -1 -2 -3 -4 -5 ");
    n = (notes){.stop_after = 2};
    assert_false(reef_visit_entities(w, note, &n));
}

static bool count_visit(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    uint32_t *seen = context;
    (void)c, (void)data, (void)size;
    seen[e.index]++;
    return true;
}

static void each_component_comes_exactly_once(void **state)
{
    enum { N = 2500 };
    static uint32_t seen[N], wanted[N];
    reef_world *w = world_of(state);
    uint64_t seed = 8;
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < N; i++) {
        reef_entity e = reef_create(w);
        uint32_t set = random_below(&seed, 32);
        if (set & 1) assert_ok(reef_add(w, e, Position));
        if (set & 2) assert_ok(reef_add(w, e, Frozen));
        if (set & 4) assert_ok(reef_add(w, e, Awake));
        if (set & 8) assert_ok(reef_add(w, e, Cargo));
        if (set & 16) assert_ok(reef_add(w, e, Seen));
        wanted[i] = 0;
        for (; set; set &= set - 1) wanted[i]++;
    }
    assert_true(reef_visit_world(w, count_visit, seen));
    assert_memory_equal(seen, wanted, sizeof seen);
    for (uint32_t i = 0; i < N; i++) reef_visit_entity(w, reef_entity_at(w, i), count_visit, seen);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(seen[i], 2 * wanted[i]);
    memset(seen, 0, sizeof seen);
    assert_true(reef_visit_entities(w, count_visit, seen));
    for (uint32_t i = 0; i < N; i++) assert_int_equal(seen[i], 1);
}

/* ---- printing ---- */

static const char *printed(FILE *file)
{
    static char text[8000];
    rewind(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = 0;
    fclose(file);
    return text;
}

static const char *print_one(const reef_world *w, reef_entity e)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(reef_print(w, e, file));
    return printed(file);
}

static void assert_holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("not found: \"%s\" in:\n%s", part, text);
}

static void an_entity_is_printed_with_fields_values_and_units(void **state)
{
    reef_world *w = world_of(state);
    reef_entity mate = reef_create(w);
    assert_ok(reef_set_name(w, mate, "clara"));
    Crab crab = {.mate = mate, .label = "pinchers", .depths = {-3, 0, -40}, .sick = true, .hours = 9};
    memcpy(crab.label, "pincher!", 8); /* fills the array: no zero at its end */
    Probe probe = {.at = {1.5f, 2}, .heat = -0.1, .big = INT64_MIN, .bits = UINT64_MAX};
    reef_entity e = reef_spawn(w, reef_tag(Frozen), reef_with(div_t, .quot = 7, .rem = -2), reef_tag(Awake));
    assert_status(REEF_ADDED, reef_set_id(w, e, reef_id(Crab), &crab, sizeof crab));
    assert_status(REEF_ADDED, reef_set_id(w, e, reef_id(Probe), &probe, sizeof probe));
    const char *text = print_one(w, e);
    assert_holds(text, "clara");
    assert_holds(text, "pincher!");
    assert_holds(text, "[-3, 0, -40] m");
    assert_holds(text, "sick true");
    assert_holds(text, "hours 9 h");
    assert_holds(text, "at.x 1.5 m");
    assert_holds(text, "heat -0.1 K");
    assert_holds(text, "-9223372036854775808");
    assert_holds(text, "18446744073709551615");
    assert_holds(text, "quot 7");
    assert_holds(text, "rem -2");
    const char *order[] = {"Awake", "Crab", "Frozen", "Probe", "div_t"};
    for (int i = 0; i < 4; i++) assert_true(strstr(text, order[i]) < strstr(text, order[i + 1]));
    assert_holds(print_one(w, mate), "clara");
}

static void each_kind_of_number_is_printed(void **state)
{
    reef_world *w = world_of(state);
    volatile float zero = 0;
    reef_entity e = reef_spawn(w, reef_with(Small, -128, 65535, UINT32_MAX, zero / zero, 1 / zero));
    const char *text = print_one(w, e);
    assert_holds(text, "a -128");
    assert_holds(text, "b 65535");
    assert_holds(text, "c 4294967295");
    assert_holds(text, "none nan");
    assert_holds(text, "endless inf");
}

static void bytes_are_printed_where_no_fields_are_known(void **state)
{
    reef_world *w = world_of(state);
    reef_component c = numbered_type("bytes", 1, 4, 1);
    reef_entity e = reef_create(w);
    assert_status(REEF_ADDED, reef_set_id(w, e, c, (uint8_t[]){0xDE, 0xAD, 0x00, 0x07}, 4));
    const char *text = print_one(w, e);
    assert_holds(text, "bytes00001");
    assert_holds(text, "de ad 00 07");
    assert_ok(reef_destroy(w, e));
    assert_holds(print_one(w, e), "not alive");
    assert_true(strlen(print_one(w, (reef_entity){0})) > 0);
}

static void a_world_is_printed_up_to_a_number_of_entities(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 30; i++) {
        reef_entity e = reef_spawn(w, reef_with(div_t, .quot = 1000 + i), reef_tag(Hungry));
        if (i % 3 == 0) assert_ok(reef_add(w, e, Frozen));
    }
    FILE *file = tmpfile();
    assert_true(reef_print_world(w, file, 5));
    const char *text = printed(file);
    assert_holds(text, "30");
    assert_holds(text, "Hungry, div_t");
    assert_holds(text, "Frozen, Hungry, div_t");
    assert_holds(text, "quot 1004");
    assert_null(strstr(text, "quot 1005"));
    file = tmpfile();
    assert_true(reef_print_world(w, file, UINT64_MAX));
    assert_holds(printed(file), "quot 1029");
    file = tmpfile();
    assert_true(reef_print_world(another_world(state, NULL), file, 5));
    assert_true(strlen(printed(file)) > 0);
}

typedef struct {
    float x, y;
    int16_t list[3];
} Placed;
REEF_COMPONENT(Placed);
REEF_FIELDS(Placed, (x, "m"), y, list);

static void a_value_is_printed_whole_or_one_field_of_it(void **state)
{
    reef_world *w = world_of(state);
    reef_type_info info;
    const Placed value = {1.5f, -2, {3, 4, 5}};
    assert_true(reef_type_get(reef_id(Placed), &info));
    FILE *file = tmpfile();
    assert_true(reef_print_value(w, reef_id(Placed), NULL, &value, file));
    assert_string_equal(printed(file), "x 1.5 m, y -2, list [3, 4, 5]");
    file = tmpfile();
    assert_true(reef_print_value(w, reef_id(Placed), &info.fields[0], &value, file));
    assert_true(reef_print_value(w, reef_id(Placed), &info.fields[2], &value, file));
    assert_true(reef_print_value(w, reef_id(Placed), NULL, NULL, file)); /* no value: nothing */
    assert_string_equal(printed(file), "1.5 m[3, 4, 5]");
    file = tmpfile();
    assert_true(reef_print_value(w, numbered_type("bytes", 1, 4, 1), NULL, (uint8_t[]){1, 2, 3, 255}, file));
    assert_false(reef_print_value(w, (reef_component){0}, NULL, &value, file));
    assert_false(reef_print_value(NULL, reef_id(Placed), NULL, &value, file));
    assert_false(reef_print_value(w, reef_id(Placed), NULL, &value, NULL));
    assert_string_equal(printed(file), "01 02 03 ff");
}

typedef struct tables_seen {
    char text[256];
    uint32_t left;
} tables_seen;

static bool table_seen(void *context, const reef_component *types, uint32_t count, uint64_t rows)
{
    tables_seen *seen = context;
    for (uint32_t i = 0; i < count; i++) {
        strcat(seen->text, reef_type_name(types[i]));
        strcat(seen->text, " ");
    }
    snprintf(seen->text + strlen(seen->text), 16, "%d;", (int)rows);
    return --seen->left != 0;
}

static void tables_are_visited_with_their_types_and_rows(void **state)
{
    reef_world *w = world_of(state);
    tables_seen seen = {"", 99};
    (void)reef_create(w);
    assert_true(reef_visit_tables(w, table_seen, &seen));
    assert_string_equal(seen.text, "");
    (void)reef_spawn(w, reef_with(div_t, .quot = 1), reef_tag(Hungry));
    (void)reef_spawn(w, reef_tag(Hungry), reef_tag(Frozen));
    (void)reef_spawn(w, reef_tag(Hungry), reef_tag(Frozen));
    const reef_entity gone = reef_spawn(w, reef_tag(Frozen));
    assert_ok(reef_destroy(w, gone));
    assert_true(reef_visit_tables(w, table_seen, &seen));
    assert_string_equal(seen.text, "Frozen Hungry 2;Hungry div_t 1;");
    seen = (tables_seen){"", 1};
    assert_false(reef_visit_tables(w, table_seen, &seen));
    assert_string_equal(seen.text, "Frozen Hungry 2;");
    assert_false(reef_visit_tables(NULL, table_seen, &seen));
    assert_false(reef_visit_tables(w, NULL, NULL));
    heap_fail_nth(heap_of(state), 1, false);
    assert_false(reef_visit_tables(w, table_seen, &seen));
    heap_fail_never(heap_of(state));
    assert_string_equal(seen.text, "Frozen Hungry 2;");
}

#if defined(__linux__)
static void a_file_that_cannot_be_written_is_reported(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_false(reef_print(w, e, full));
    clearerr(full);
    assert_false(reef_print_world(w, full, 10));
    fclose(full);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_components_of_an_entity_by_type_name),
        TEST(all_components_of_a_world_by_type_name_then_table_then_row),
        TEST(each_component_comes_exactly_once),
        TEST(a_value_is_printed_whole_or_one_field_of_it),
        TEST(tables_are_visited_with_their_types_and_rows),
        TEST(an_entity_is_printed_with_fields_values_and_units),
        TEST(each_kind_of_number_is_printed),
        TEST(bytes_are_printed_where_no_fields_are_known),
        TEST(a_world_is_printed_up_to_a_number_of_entities),
#if defined(__linux__)
        TEST(a_file_that_cannot_be_written_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
