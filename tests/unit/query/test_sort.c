/* Sorting storage: the order of rows, and everything that moves with them. */
#include "support.h"
#include <math.h>

enum { MANY = 5000 };

typedef struct {
    int32_t row;
    uint16_t column;
} Cell;
REEF_COMPONENT(Cell);
REEF_FIELDS(Cell, row, column);

typedef struct {
    float z;
} Depth;
REEF_COMPONENT(Depth);
REEF_TAG(Iced);
REEF_FIELDS(Depth, z);

typedef struct {
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
    reef_entity who;
    char text[8];
    char long_text[9];
    int32_t pair[2];
} Everything;
REEF_COMPONENT(Everything);
REEF_FIELDS(Everything, yes, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, who, text, long_text, pair);

static uint64_t cell_key(const void *value) { return reef_key_i32(((const Cell *)value)->row); }
static uint64_t tracked_key(const void *value) { return reef_key_i32(((const Tracked *)value)->value); }
static uint64_t unique_key(const void *value) { return reef_key_i32(((const Unique *)value)->value); }
static uint64_t constant_key(const void *value)
{
    (void)value;
    return 3;
}

#define BY(...) \
    &(reef_sort) \
    { \
        .order = { __VA_ARGS__ } \
    }

/* ---- what an entity has ---- */

static bool add_component(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    uint64_t *d = context;
    const char *name = reef_type_name(c);
    reef_type_info info;
    (void)e;
    *d = digest_bytes(*d, name, strlen(name));
    if (size) *d = digest_bytes(*d, data, reef_type_get(c, &info) && info.hooks ? 4 : size);
    return true;
}

static uint64_t possessions(const reef_world *w, reef_entity e)
{
    uint64_t d = 1;
    const char *name = reef_name(w, e);
    assert_true(reef_visit_entity(w, e, add_component, &d));
    return name ? digest_bytes(d, name, strlen(name)) : d;
}

static void remember(const reef_world *w, const reef_entity *e, uint32_t n, uint64_t *had)
{
    for (uint32_t i = 0; i < n; i++) had[i] = reef_is_alive(w, e[i]) ? possessions(w, e[i]) : 0;
}

static void assert_remembered(const reef_world *w, const reef_entity *e, uint32_t n, const uint64_t *had)
{
    for (uint32_t i = 0; i < n; i++)
        if ((reef_is_alive(w, e[i]) ? possessions(w, e[i]) : 0) != had[i]) fail_msg("entity %u has something else", i);
    assert_valid(w);
}

/* The rows of one query, in their order. */
static uint32_t walk(reef_world *w, const char *text, reef_entity *out)
{
    uint32_t n = 0;
    reef_query q = reef_query_new(w, text);
    assert_true(q.generation != 0);
    for (reef_block b = reef_begin(w, q); reef_next(&b);) {
        const uint64_t *mask = reef_block_mask(&b);
        for (uint32_t i = 0; i < b.count; i++)
            if (mask == NULL || (mask[i / 64] >> i % 64 & 1)) out[n++] = b.entities[i];
    }
    reef_query_free(w, q);
    return n;
}

static void assert_by_index(reef_world *w, const char *text, bool descending)
{
    static reef_entity e[MANY * 2];
    uint32_t n = walk(w, text, e);
    assert_true(n > 1);
    for (uint32_t i = 1; i < n; i++)
        assert_true(descending ? e[i - 1].index > e[i].index : e[i - 1].index < e[i].index);
}

/* Three tables, one with hooks, one of several blocks; switches, names; rows in disorder. */
static void crowd(reef_world *w, reef_entity *e, uint32_t n, uint64_t seed)
{
    char name[20];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = random_below(&seed, 1000);
        Cell cell = {.row = (int32_t)x - 500, .column = (uint16_t)(x / 7)};
        e[i] = reef_spawn(w, reef_with(Position, (float)i, 1), reef_with(Cell, .row = cell.row, .column = cell.column));
        if (i % 4 == 1) assert_ok(reef_add(w, e[i], Frozen));
        if (i % 8 == 2) assert_int_equal(reef_set(w, e[i], Tracked, .value = (int32_t)(x % 50)), REEF_ADDED);
        if (i % 8 == 2) assert_ok(reef_add(w, e[i], Unique));
        if (x % 3 == 0) assert_ok(reef_add(w, e[i], Awake));
        if (x % 5 == 0) assert_ok(reef_add(w, e[i], Seen));
        snprintf(name, sizeof name, "n%u", i);
        if (x % 50 == 0) assert_ok(reef_set_name(w, e[i], name));
    }
    for (uint32_t i = 0; i < n / 5; i++) {
        uint32_t at = random_below(&seed, n);
        if (reef_is_alive(w, e[at])) assert_ok(reef_destroy(w, e[at]));
    }
}

/* ---- by entity ---- */

static void by_entity(void **state)
{
    static reef_entity e[MANY];
    static uint64_t had[MANY];
    reef_world *w = world_of(state);
    static reef_entity got[MANY];
    crowd(w, e, MANY, 3);
    assert_int_equal(walk(w, "Position", got), reef_count_alive(w));
    remember(w, e, MANY, had);
    uint64_t hash = reef_hash(w);
    assert_ok(reef_sort_storage(w, &(reef_sort){0}));
    assert_remembered(w, e, MANY, had);
    assert_by_index(w, "in Position, with Frozen", false);
    assert_by_index(w, "in Position, with Tracked", false);
    assert_true(reef_hash(w) != hash); /* the order of rows is state */
    assert_int_equal(walk(w, "Position", got), reef_count_alive(w));
    uint64_t sorted = reef_hash(w);
    assert_ok(reef_sort_storage(w, &(reef_sort){0}));
    assert_true(reef_hash(w) == sorted);
    assert_ok(reef_sort_storage(w, BY(.descending = true)));
    assert_remembered(w, e, MANY, had);
    assert_by_index(w, "in Position, with Frozen", true);
    assert_by_index(w, "in Position, with Tracked", true);
}

static void rows_of_switches_alone(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[200], seen[200];
    for (int i = 0; i < 200; i++) e[i] = reef_spawn(w, reef_tag(Awake));
    for (int i = 0; i < 200; i += 3) assert_ok(reef_add(w, e[i], Seen));
    for (int i = 0; i < 50; i++) assert_ok(reef_remove(w, e[i], Awake));
    assert_ok(reef_sort_storage(w, &(reef_sort){.exactly = true})); /* the table of the empty set */
    assert_valid(w);
    uint32_t n = walk(w, "with Awake", seen);
    assert_int_equal(n, 150);
    for (uint32_t i = 0; i < n; i++) assert_entity(e[50 + i], seen[i]);
    for (int i = 0; i < 200; i++) assert_int_equal(reef_has(w, e[i], Seen), i % 3 == 0);
}

/* ---- by value ---- */

static int by_row_then_index(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* The rows as the C library sorts them. */
static void assert_by_row(reef_world *w, const char *text, bool descending)
{
    static reef_entity e[MANY];
    static uint64_t want[MANY][2];
    uint32_t n = walk(w, text, e);
    assert_true(n > 100);
    for (uint32_t i = 0; i < n; i++) {
        want[i][0] = reef_key_i32(reef_get(w, e[i], Cell)->row) ^ (descending ? UINT64_MAX : 0);
        want[i][1] = e[i].index;
    }
    qsort(want, n, sizeof want[0], by_row_then_index);
    for (uint32_t i = 0; i < n; i++) assert_int_equal(e[i].index, want[i][1]);
}

static void by_a_component(void **state)
{
    static reef_entity e[MANY];
    static uint64_t had[MANY];
    reef_world *w = world_of(state);
    const reef_order orders[] = {{.component = reef_id(Cell), .key = cell_key},
                                 {.component = reef_id(Cell), .field = "row", .descending = true},
                                 {.component = reef_id(Cell), .field = "row"},
                                 {.component = reef_id(Cell), .key = cell_key, .descending = true}};
    crowd(w, e, MANY, 8);
    remember(w, e, MANY, had);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        assert_ok(reef_sort_storage(w, &(reef_sort){.order = orders[i]}));
        assert_remembered(w, e, MANY, had);
        assert_by_row(w, "in Cell, with Frozen", orders[i].descending);
        assert_by_row(w, "in Cell, with Tracked", orders[i].descending);
    }
    /* ties only: by entity */
    assert_ok(reef_sort_storage(w, BY(.component = reef_id(Cell), .key = constant_key, .descending = true)));
    assert_by_index(w, "in Cell, with Frozen", false);
}

static void counts_of_rows_at_edges(void **state)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 8, 9, 24, 25, 1023, 1024, 1025, 2048, 2049, 3000};
    static reef_entity e[3000];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        reef_world *w = another_world(state, NULL);
        for (uint32_t i = 0; i < counts[c]; i++)
            e[i] = reef_spawn(w, reef_with(Depth, (float)(i * 7919 % 3001)), reef_with(Tracked, .value = (int32_t)i));
        assert_ok(reef_sort_storage(w, BY(.component = reef_id(Depth))));
        assert_valid(w);
        static reef_entity got[3000];
        float last = -1;
        assert_int_equal(walk(w, "in Depth, in Tracked", got), counts[c]);
        for (uint32_t i = 0; i < counts[c]; i++) {
            int32_t number = reef_get(w, got[i], Tracked)->value;
            assert_true(reef_get(w, got[i], Depth)->z > last);
            last = reef_get(w, got[i], Depth)->z;
            assert_true(last == (float)((uint32_t)number * 7919 % 3001));
            assert_entity(e[number], got[i]);
        }
        end_world(state, w);
    }
}

static void sizes_and_alignments(void **state)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 12, 16, 24, 40, 4096, 8192, 100000};
    enum { SIZES = sizeof sizes / sizeof *sizes, ROWS = 40 };
    reef_world *w = world_of(state);
    reef_component c[SIZES];
    reef_entity e[ROWS];
    for (uint32_t k = 0; k < SIZES; k++)
        c[k] = numbered_type("sized", k, sizes[k], sizes[k] % 4096 == 0 ? 4096 : sizes[k] % 16 == 0 ? 16 : 1);
    for (uint32_t i = 0; i < ROWS; i++) {
        e[i] = reef_spawn(w, reef_with(Depth, (float)(i * 11 % ROWS)));
        for (uint32_t k = 0; k < SIZES; k++) memset(reef_ensure_id(w, e[i], c[k], NULL), (int)(i + k), sizes[k]);
    }
    assert_ok(reef_sort_storage(w, BY(.component = reef_id(Depth), .descending = true)));
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t k = 0; k < SIZES; k++) {
            const uint8_t *p = reef_get_id(w, e[i], c[k]);
            for (uint32_t x = 0; x < sizes[k]; x++) assert_int_equal(p[x], (i + k) & 255);
        }
    }
}

/* ---- which tables ---- */

static void only_some_tables(void **state)
{
    reef_world *w = world_of(state);
    reef_entity plain[3], frozen[3], both[3], got[9];
    reef_component cold[] = {reef_id(Cell), reef_id(Frozen)};
    for (int i = 0; i < 3; i++) {
        plain[i] = reef_spawn(w, reef_with(Cell, .row = -i));
        frozen[i] = reef_spawn(w, reef_with(Cell, .row = -i), reef_tag(Frozen));
        both[i] = reef_spawn(w, reef_with(Cell, .row = -i), reef_tag(Frozen), reef_tag(Hungry));
        reef_spawn(w, reef_with(Mass, -i)); /* has no cell */
    }
    reef_sort sort = {{.component = reef_id(Cell), .key = cell_key}, cold, 2, true, false};
    assert_ok(reef_sort_storage(w, &sort));
    assert_int_equal(walk(w, "in Cell, with Frozen", got), 6);
    assert_entity(frozen[2], got[0]);
    assert_entity(both[0], got[3]);
    sort.exactly = false;
    assert_ok(reef_sort_storage(w, &sort));
    assert_int_equal(walk(w, "in Cell, with Frozen, with Hungry", got), 3);
    assert_entity(both[2], got[0]);
    assert_int_equal(walk(w, "in Cell", got), 9);
    assert_entity(plain[0], got[0]);
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = sort.order}));
    assert_int_equal(walk(w, "in Cell", got), 9);
    assert_entity(plain[2], got[0]);
    sort.types = (reef_component[]){reef_id(Cell), reef_id(Velocity)}; /* no such table */
    sort.exactly = true;
    assert_ok(reef_sort_storage(w, &sort));
}

/* ---- keys ---- */

static void keys_are_ordered_as_their_numbers(void **state)
{
    static const double numbers[] = {-INFINITY, -1e300, -3.5, -1, -1e-310, 0, 1e-310, 0.5, 1, 2, 1e300, INFINITY};
    static const float floats[] = {-INFINITY, -3e38f, -2.5f, -1, -1e-40f, 0, 1e-40f, 0.5f, 1, 2, 3e38f, INFINITY};
    static const int64_t longs[] = {INT64_MIN, INT64_MIN + 1, INT32_MIN,     -2,       -1, 0,
                                    1,         INT32_MAX,     INT64_MAX - 1, INT64_MAX};
    (void)state;
    for (int i = 1; i < 12; i++) {
        assert_true(reef_key_f64(numbers[i - 1]) < reef_key_f64(numbers[i]));
        assert_true(reef_key_f32(floats[i - 1]) < reef_key_f32(floats[i]));
    }
    for (int i = 1; i < 10; i++) assert_true(reef_key_i64(longs[i - 1]) < reef_key_i64(longs[i]));
    assert_true(reef_key_i32(INT32_MIN) < reef_key_i32(-1) && reef_key_i32(-1) < reef_key_i32(0));
    assert_true(reef_key_i32(0) < reef_key_i32(INT32_MAX) && reef_key_u32(0) < reef_key_u32(UINT32_MAX));
    assert_true(reef_key_f64(-0.0) == reef_key_f64(0.0) && reef_key_f32(-0.0f) == reef_key_f32(0.0f));
    assert_true(reef_key_f64(NAN) == reef_key_f64(-NAN) && reef_key_f32(NAN) == reef_key_f32(-NAN));
    assert_true(reef_key_f64(NAN) > reef_key_f64(INFINITY) && reef_key_f32(NAN) > reef_key_f32(INFINITY));
    uint64_t seed = 4;
    for (int i = 0; i < 20000; i++) { /* any bits */
        uint32_t u[2] = {random_next(&seed), random_next(&seed)};
        float x[2];
        memcpy(x, u, sizeof x);
        if (isnan(x[0]) || isnan(x[1])) continue;
        assert_int_equal(x[0] < x[1], reef_key_f32(x[0]) < reef_key_f32(x[1]));
        assert_int_equal((double)x[0] < (double)x[1], reef_key_f64(x[0]) < reef_key_f64(x[1]));
    }
}

/* In each field the values rise with the number; a sort by any field finds them again. */
static Everything rising(int i)
{
    Everything x = {
        .yes = i >= 8, .i8 = (int8_t)(i * 16 - 128), .u8 = (uint8_t)(i * 16), .i16 = (int16_t)(i * 4000 - 30000)};
    x.u16 = (uint16_t)(i * 4000);
    x.i32 = (i - 8) * 200000000;
    x.u32 = (uint32_t)i * 260000000u;
    x.i64 = (i - 8) * ((int64_t)1 << 58);
    x.u64 = (uint64_t)i << 60;
    x.f32 = i == 15 ? NAN : i == 14 ? INFINITY : (float)(i - 7) * 1e9f;
    x.f64 = i == 15 ? NAN : i == 0 ? -INFINITY : (i - 7) * 1e-300;
    x.who = (reef_entity){(uint32_t)i / 2 * 300, (uint32_t)i % 2 + 1};
    x.text[0] = (char)(i * 16); /* 0: the empty text. From 128 on it is still larger */
    x.text[1] = (char)('z' - i);
    return x;
}

static void each_kind_of_field(void **state)
{
    static const char *const fields[] = {"yes", "i8",  "u8",  "i16", "u16", "i32", "u32",
                                         "i64", "u64", "f32", "f64", "who", "text"};
    reef_world *w = world_of(state);
    for (int i = 0; i < 16; i++) {
        Everything x = rising(i * 7 % 16);
        assert_some(reef_spawn_values(w, &(reef_value){reef_id(Everything), REEF_VALUE_ONE, sizeof x, &x}, 1));
    }
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        reef_entity e[16];
        assert_ok(reef_sort_storage(w, &(reef_sort){0})); /* disorder again */
        assert_ok(reef_sort_storage(w, BY(.component = reef_id(Everything), .field = fields[f])));
        assert_int_equal(walk(w, "in Everything", e), 16);
        for (int i = 0; i < 16; i++) {
            Everything want = rising(i);
            if (f > 0) assert_int_equal(reef_get(w, e[i], Everything)->u64, want.u64);
            else assert_int_equal(reef_get(w, e[i], Everything)->yes, i >= 8);
        }
    }
}

/* ---- mistakes ---- */

static void mistakes_change_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_component twice[] = {reef_id(Cell), reef_id(Frozen), reef_id(Cell)};
    reef_component turned[] = {reef_id(Cell), reef_id(Awake)}, unknown = {reef_type_count() + 1};
    reef_order rows = {.component = reef_id(Cell), .key = cell_key};
    for (int i = 0; i < 30; i++)
        reef_spawn(w, reef_with(Cell, .row = -i), reef_with(Everything, .i32 = -i), reef_tag(Frozen));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, NULL));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_sort_storage(w, BY(.component = unknown, .key = cell_key)));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, BY(.key = cell_key)));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, BY(.field = "row")));
    assert_refused(w, REEF_BAD_ARGUMENT,
                   reef_sort_storage(w, BY(.component = reef_id(Cell), .key = cell_key, .field = "row")));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, BY(.component = reef_id(Cell)))); /* two fields: which? */
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, BY(.component = reef_id(Cell), .field = "line")));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, BY(.component = reef_id(Position)))); /* no fields */
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, BY(.component = reef_id(Frozen), .key = cell_key)));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, BY(.component = reef_id(Awake), .key = cell_key)));
    assert_refused(w, REEF_BAD_ARGUMENT,
                   reef_sort_storage(w, BY(.component = reef_id(Everything), .field = "long_text")));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, BY(.component = reef_id(Everything), .field = "pair")));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, &(reef_sort){rows, NULL, 1, false, false}));
    assert_refused(w, REEF_DUPLICATE_TERM, reef_sort_storage(w, &(reef_sort){rows, twice, 3, false, false}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, &(reef_sort){rows, turned, 2, false, false}));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_sort_storage(w, &(reef_sort){rows, &unknown, 1, false, false}));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_sort_storage(w, &(reef_sort){rows, twice + 1, 1, true, false}));
    assert_refused(w, REEF_LIMIT,
                   reef_sort_storage(w, &(reef_sort){rows, twice, REEF_COMPONENTS_MAX + 1, false, false}));
    assert_int_equal(reef_sort_storage(NULL, &(reef_sort){0}), REEF_BAD_ARGUMENT);
    reef_query q = reef_query_new(w, "in Cell");
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    assert_refused(w, REEF_LOCKED, reef_sort_storage(w, &(reef_sort){.order = rows}));
    reef_end(&b);
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = rows}));
    reef_world *strict = another_world(state, &(reef_world_config){.strict = true});
    assert_refused(strict, REEF_UNKNOWN_TYPE, reef_sort_storage(strict, &(reef_sort){.order = rows}));
    assert_ok(reef_use(strict, Cell));
    assert_ok(reef_sort_storage(strict, &(reef_sort){.order = rows}));
}

/* ---- hooks ---- */

static void values_with_hooks_are_moved_and_nothing_else(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[300];
    uint64_t seed = 2;
    for (int i = 0; i < 300; i++) {
        e[i] = reef_spawn(w, reef_with(Tracked, .value = (int32_t)random_below(&seed, 90)), reef_default(Unique),
                          reef_with(Loose, .value = i));
        reef_mut(w, e[i], Unique)->value = -i;
    }
    ledger_count_anew();
    assert_ok(reef_sort_storage(w, BY(.component = reef_id(Tracked), .key = tracked_key)));
    assert_int_equal(book.copied + book.constructed + book.destroyed, 0);
    assert_in_range(book.moved, 500, 900); /* two columns have a hook; a cycle moves one value more than it has */
    for (int i = 0; i < 300; i++) assert_int_equal(reef_get(w, e[i], Unique)->value, -i);
    ledger_count_anew();
    assert_ok(reef_sort_storage(w, BY(.component = reef_id(Tracked), .key = tracked_key)));
    assert_int_equal(book.moved, 0); /* sorted already */
    assert_ok(reef_sort_storage(w, BY(.component = reef_id(Unique), .key = unique_key, .descending = true)));
    for (int i = 0; i < 300; i++) assert_int_equal(reef_get(w, e[i], Loose)->value, i);
    assert_null(book.mistake);
}

static void a_copy_hook_that_fails(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 100; i++)
        reef_spawn(w, reef_with(Tracked, .value = i * 37 % 100), reef_with(Cell, .row = i), reef_tag(Awake));
    reef_world *fork = reef_fork(w);
    uint64_t forks = digest(fork);
    book.fail_copy = 60;
    assert_refused(w, REEF_NO_MEMORY, reef_sort_storage(w, BY(.component = reef_id(Tracked), .key = tracked_key)));
    assert_int_equal(reef_last_error(w).component.id, reef_id(Tracked).id);
    assert_ok(reef_sort_storage(w, BY(.component = reef_id(Tracked), .key = tracked_key)));
    assert_true(digest(fork) == forks && digest(w) != forks);
    reef_world_free(fork);
}

/* ---- forks ---- */

static void a_fork_and_a_snapshot_keep_their_order(void **state)
{
    static reef_entity e[MANY];
    static uint64_t had[MANY];
    reef_world *w = world_of(state);
    crowd(w, e, MANY, 21);
    remove_everywhere(w, reef_id(Unique), NULL); /* which can't be forked */
    remember(w, e, MANY, had);
    uint64_t before = digest(w), hash = reef_hash(w);
    reef_snapshot *was = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    assert_ok(reef_sort_storage(fork, BY(.component = reef_id(Cell), .key = cell_key)));
    assert_remembered(fork, e, MANY, had);
    assert_true(digest(w) == before && reef_hash(w) == hash);
    assert_ok(reef_sort_storage(w, BY(.component = reef_id(Cell), .key = cell_key)));
    assert_true(reef_hash(w) == reef_hash(fork) && reef_hash(w) != hash);
    assert_true(reef_equal(w, fork, NULL));
    assert_true(digest(w) == digest(fork));
    assert_ok(reef_restore(w, was));
    assert_true(digest(w) == before && reef_hash(w) == hash);
    assert_remembered(w, e, MANY, had);
    reef_world_free(fork);
    reef_snapshot_free(was);
}

/* Every block of a sorted table stays shared; of one with two rows in the wrong order only their blocks are copied. */
static void what_is_sorted_is_not_touched(void **state)
{
    static reef_entity e[MANY];
    reef_world *w = world_of(state);
    assert_ok(reef_spawn_many(w, MANY, e, reef_with(Cargo, {1}), reef_with(Cell, .row = 5)));
    for (int i = 0; i < MANY; i++) reef_mut(w, e[i], Cell)->row = i;
    reef_world *fork = reef_fork(w);
    uint64_t version = reef_world_stats(w).bytes_rows;
    assert_ok(reef_sort_storage(w, &(reef_sort){0}));
    assert_ok(reef_sort_storage(w, BY(.component = reef_id(Cell), .key = cell_key)));
    assert_true(reef_world_stats(w).bytes_rows == version);
    reef_mut(w, e[2100], Cell)->row = 2200;
    reef_mut(w, e[2200], Cell)->row = 2100; /* in the same block */
    uint64_t written = reef_world_stats(w).bytes_rows;
    assert_ok(reef_sort_storage(w, BY(.component = reef_id(Cell), .key = cell_key)));
    assert_int_equal(reef_world_stats(w).bytes_rows - written, 1024 * (sizeof(Cargo) + sizeof(reef_entity)));
    assert_int_equal(reef_get(w, e[2100], Cell)->row, 2200);
    assert_int_equal(reef_get(fork, e[2100], Cell)->row, 2100);
    assert_valid(w);
    assert_valid(fork);
    reef_world_free(fork);
}

/* ---- afterwards ---- */

static void life_goes_on(void **state)
{
    static reef_entity e[MANY];
    reef_world *w = world_of(state);
    uint64_t seed = 6;
    crowd(w, e, 2000, 77);
    for (int round = 0; round < 30; round++) {
        assert_ok(reef_sort_storage(w, round % 3
                                           ? BY(.component = reef_id(Cell), .key = cell_key, .descending = round % 2)
                                           : BY(.descending = false)));
        for (int i = 0; i < 60; i++) {
            uint32_t at = random_below(&seed, 2000);
            if (!reef_is_alive(w, e[at])) e[at] = reef_spawn(w, reef_with(Cell, .row = i), reef_with(Position, 1, 2));
            else if (i % 4 == 0) assert_ok(reef_destroy(w, e[at]));
            else if (i % 4 == 1)
                (void)(reef_has(w, e[at], Mass) ? reef_remove(w, e[at], Mass) : reef_add(w, e[at], Mass));
            else if (i % 4 == 2)
                (void)(reef_has(w, e[at], Awake) ? reef_remove(w, e[at], Awake) : reef_add(w, e[at], Awake));
            else reef_mut(w, e[at], Cell)->row = i;
        }
        assert_valid(w);
    }
}

/* The same state by two ways: the same order. */
static void C8_H1_the_result_depends_on_the_state_alone(void **state)
{
    static reef_entity e[MANY];
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_order o = {.component = reef_id(Cell), .field = "column"};
    for (int i = 0; i < 800; i++) {
        e[i] = reef_spawn(w, reef_with(Cell, .column = (uint16_t)(i % 10)));
        (void)reef_spawn(other, reef_with(Cell, .column = (uint16_t)(i % 10)));
    }
    for (int i = 0; i < 800; i += 3) { /* to and fro: other rows, the same entities */
        assert_ok(reef_add(w, e[i], Frozen));
        assert_ok(reef_remove(w, e[i], Frozen));
    }
    assert_true(reef_hash(w) != reef_hash(other));
    assert_ok(reef_sort_storage(w, &(reef_sort){.order = o}));
    assert_ok(reef_sort_storage(other, &(reef_sort){.order = o}));
    assert_true(reef_hash(w) == reef_hash(other));
}

/* A sort that finds no memory has copied some blocks that are shared. A query that remembers where they were looks
 * again. (The snapshot that shared them may be gone by then.) */
static void a_query_follows_blocks_that_a_failed_sort_copied(void **state)
{
    reef_world *w = world_of(state);
    const reef_sort backwards = {.order = {.descending = true}};
    uint32_t failed = 0;
    for (int i = 0; i < 600; i++)
        assert_some(i % 2 ? reef_spawn(w, reef_with(Cell, i, 0))
                          : reef_spawn(w, reef_with(Cell, i, 0), reef_tag(Iced)));
    const reef_query q = reef_query_new(w, "Cell");
    for (uint64_t n = 1;; n++) {
        uint32_t rows = 0;
        reef_snapshot *s = reef_snapshot_take(w);
        for (uint32_t k = 0; k < 2; k++) /* the first one copies the chunks' directory, the second remembers them */
            for (reef_block b = reef_begin(w, q); reef_next(&b);) rows += b.count;
        heap_fail_nth(heap_of(state), n, true);
        const reef_status status = reef_sort_storage(w, &backwards);
        heap_fail_never(heap_of(state));
        assert_valid(w);
        reef_snapshot_free(s);
        for (reef_block b = reef_begin(w, q); reef_next(&b);) {
            const Cell *c = reef_inout(&b, Cell);
            for (uint32_t i = 0; i < b.count; i++, rows++) assert_int_equal(c[i].row, b.entities[i].index);
        }
        assert_int_equal(rows, 1800);
        if (status == REEF_OK) break;
        assert_int_equal(status, REEF_NO_MEMORY);
        failed++;
    }
    assert_true(failed > 5);
}

int main(void)
{
    /* Of tracked values the hash takes the value, not the ticket. */
    static const reef_field value = {.name = "value", .kind = REEF_I32, .bytes = 4};
    if (reef_type_describe(reef_id(Tracked), &value, 1) < 0) return 1;
    const struct CMUnitTest tests[] = {
        TEST(by_entity),
        TEST(rows_of_switches_alone),
        TEST(by_a_component),
        TEST(counts_of_rows_at_edges),
        TEST(sizes_and_alignments),
        TEST(only_some_tables),
        TEST(keys_are_ordered_as_their_numbers),
        TEST(each_kind_of_field),
        TEST(mistakes_change_nothing),
        TEST(values_with_hooks_are_moved_and_nothing_else),
        TEST(a_copy_hook_that_fails),
        TEST(a_fork_and_a_snapshot_keep_their_order),
        TEST(what_is_sorted_is_not_touched),
        TEST(life_goes_on),
        TEST(C8_H1_the_result_depends_on_the_state_alone),
        TEST(a_query_follows_blocks_that_a_failed_sort_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
