/* Making entities: one, many, from arrays, from bundles, as copies. */
#include "support.h"

/* ---- C2: one expression, one step ---- */

static void spawn_makes_everything_in_one_step(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Health, .most = 7), reef_tag(Frozen),
                               reef_tag(Awake), reef_default(Mass));
    assert_position(w, e, 1, 2);
    assert_int_equal(reef_get(w, e, Health)->now, 0);
    assert_int_equal(reef_get(w, e, Health)->most, 7);
    assert_true(reef_get(w, e, Mass)->kg == 0);
    assert_true(reef_has(w, e, Frozen) && reef_has(w, e, Awake));
    assert_false(reef_has(w, e, Velocity) || reef_has(w, e, Seen));
    reef_stats s = reef_world_stats(w);
    assert_int_equal(s.moved, 0);
    assert_int_equal(s.spawned, 1);
    assert_int_equal(s.tables, 1);
    assert_int_equal(s.entities_empty, 0);
    reef_entity nothing = reef_spawn_values(w, NULL, 0);
    assert_true(reef_is_alive(w, nothing));
    assert_int_equal(reef_world_stats(w).entities_empty, 1);
    reef_entity only_bit = reef_spawn(w, reef_tag(Seen));
    assert_true(reef_has(w, only_bit, Seen));
    assert_int_equal(reef_count(w, Seen), 1);
}

static void wrong_lists_are_refused(void **state)
{
    reef_world *w = world_of(state);
    Position p = {1, 2};
    reef_value no_data = reef_value_make(reef_id(Position), REEF_VALUE_ONE, sizeof p, NULL);
    reef_value taken = reef_value_make(reef_id(Position), REEF_VALUE_REMOVE, 0, NULL);
    reef_value strange = reef_value_make(reef_id(Position), (reef_value_kind)9, sizeof p, &p);
    reef_value unknown = reef_value_make((reef_component){0}, REEF_VALUE_ONE, sizeof p, &p);
    assert_no_entity(w, REEF_DUPLICATE_TERM, reef_spawn(w, reef_with(Position, 1, 2), reef_with(Position, 3, 4)));
    assert_no_entity(w, REEF_DUPLICATE_TERM, reef_spawn(w, reef_tag(Frozen), reef_with(Mass, 3), reef_tag(Frozen)));
    assert_no_entity(w, REEF_DUPLICATE_TERM, reef_spawn(w, reef_tag(Awake), reef_tag(Awake)));
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_values(w, &no_data, 1));
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_values(w, &taken, 1));
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_values(w, &strange, 1));
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_values(w, NULL, 1));
    assert_no_entity(w, REEF_UNKNOWN_TYPE, reef_spawn_values(w, &unknown, 1));
    unknown.component.id = UINT32_MAX;
    assert_no_entity(w, REEF_UNKNOWN_TYPE, reef_spawn_values(w, &unknown, 1));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_spawn_many_values(w, 3, NULL, &no_data, 1));
    no_data.kind = REEF_VALUE_ARRAY;
    assert_refused(w, REEF_BAD_ARGUMENT, reef_spawn_many_values(w, 3, NULL, &no_data, 1));
    assert_refused(w, REEF_DUPLICATE_TERM, reef_spawn_many(w, 3, NULL, reef_tag(Frozen), reef_tag(Frozen)));
    assert_int_equal(reef_count_alive(w), 0);
}

/* ---- bulk ---- */

static const uint32_t amounts[] = {1, 2, 7, 8, 9, 100, 1023, 1024, 1025, 2048, 3000};
enum { AMOUNTS = sizeof amounts / sizeof *amounts, MOST = 3000 };

static void bulk_equals_one_by_one(void **state)
{
    static Position p[MOST];
    static Cargo c[MOST];
    static reef_entity ids[MOST];
    for (uint32_t i = 0; i < MOST; i++) {
        p[i] = (Position){(float)i, 1};
        c[i] = (Cargo){{(uint8_t)i, (uint8_t)(i >> 8)}};
    }
    for (uint32_t a = 0; a < AMOUNTS; a++) {
        uint32_t n = amounts[a];
        reef_world *bulk = another_world(state, NULL), *single = another_world(state, NULL);
        for (int round = 0; round < 2; round++) { /* into an empty table, then behind rows */
            assert_ok(reef_spawn_many(bulk, n, ids, reef_array(Position, p), reef_tag(Hungry), reef_array(Cargo, c),
                                      reef_with(Mass, 4), reef_tag(Awake), reef_default(Velocity)));
            for (uint32_t i = 0; i < n; i++) {
                reef_value v[] = {reef_array(Cargo, &c[i]), reef_with(Position, (float)i, 1),
                                  reef_with(Mass, 4),       reef_tag(Hungry),
                                  reef_tag(Awake),          reef_default(Velocity)};
                assert_entity(ids[i], reef_spawn_values(single, v, 6));
            }
        }
        assert_true(digest(bulk) == digest(single));
        assert_int_equal(reef_count_alive(bulk), 2 * n);
        for (uint32_t i = 0; i < n; i++) assert_position(bulk, ids[i], (float)i, 1);
        end_world(state, bulk);
        end_world(state, single);
    }
}

static void bulk_of_nothing_and_without_ids(void **state)
{
    reef_world *w = world_of(state);
    reef_entity none = {7, 7};
    assert_ok(reef_spawn_many(w, 0, &none, reef_with(Position, 1, 2)));
    assert_entity(((reef_entity){7, 7}), none);
    assert_int_equal(reef_count_alive(w), 0);
    assert_ok(reef_spawn_many(w, 100, NULL, reef_with(Position, 1, 2)));
    assert_int_equal(reef_count(w, Position), 100);
    assert_ok(reef_spawn_many_values(w, 50, NULL, NULL, 0));
    assert_int_equal(reef_world_stats(w).entities_empty, 50);
    assert_ok(reef_spawn_many(w, 5, NULL, reef_tag(Awake)));
    assert_int_equal(reef_count(w, Awake), 5);
}

static void bulk_is_all_or_none(void **state)
{
    reef_world *w = another_world(state, &(reef_world_config){.entities_max = 2000});
    reef_entity ids[10];
    assert_ok(reef_spawn_many(w, 1500, NULL, reef_with(Position, 1, 2)));
    assert_refused(w, REEF_LIMIT, reef_spawn_many(w, 501, NULL, reef_with(Position, 1, 2)));
    assert_ok(reef_spawn_many(w, 490, NULL, reef_with(Position, 1, 2)));
    assert_ok(reef_spawn_many(w, 10, ids, reef_with(Position, 1, 2)));
    assert_no_entity(w, REEF_LIMIT, reef_spawn(w, reef_with(Position, 1, 2)));
    assert_refused(w, REEF_LIMIT, reef_clone_many(w, ids[0], 1, NULL));
    assert_int_equal(reef_destroy_many(w, ids, 10), 10);
    assert_ok(reef_spawn_many(w, 10, NULL, reef_tag(Frozen)));
}

/* Ids may go to where values come from, one for all or one each: those are read before. */
static void ids_may_take_the_place_of_values(void **state)
{
    enum { N = 2500 };
    static reef_entity ids[N], were[N];
    reef_world *w = world_of(state);
    for (uint32_t round = 0; round < 4; round++) {
        assert_ok(reef_spawn_many(w, N, ids, reef_with(Position, 1, 2)));
        memcpy(were, ids, sizeof ids);
        const void *from = round % 2 ? (const void *)ids : (const char *)(ids + N / 2) + (round ? 4 : 0);
        const reef_value_kind kind = round % 2 ? REEF_VALUE_ARRAY : REEF_VALUE_ONE;
        const reef_value v[] = {reef_value_make(reef_id(Position), kind, sizeof(Position), from), reef_tag(Frozen)};
        assert_ok(reef_spawn_many_values(w, N, ids, v, 2));
        const char *was = (const char *)were + ((const char *)from - (const char *)ids);
        for (uint32_t i = 0; i < N; i++) {
            assert_memory_equal(reef_get(w, ids[i], Position), was + (round % 2 ? i * sizeof(Position) : 0),
                                sizeof(Position));
            assert_false(reef_entity_equal(ids[i], were[i]));
        }
    }
}

/* Where memory fails in the middle, no id of an entity that isn't there is left. */
static void bulk_that_fails_names_nobody(void **state)
{
    enum { N = 5000 };
    static reef_entity ids[N];
    uint32_t failures = 0;
    for (uint32_t n = 1;; n++) {
        reef_world *w = another_world(state, NULL);
        memset(ids, 0, sizeof ids);
        heap_fail_nth(heap_of(state), n, true);
        const reef_status s = reef_spawn_many(w, N, ids, reef_with(Position, 1, 2), reef_tag(Frozen));
        heap_fail_never(heap_of(state));
        if (s != REEF_OK) {
            for (uint32_t i = 0; i < N; i++) assert_true(reef_entity_is_null(ids[i]));
            assert_int_equal(reef_count_alive(w), 0);
        } else {
            for (uint32_t i = 0; i < N; i++) assert_true(reef_is_alive(w, ids[i]));
        }
        end_world(state, w);
        if (s == REEF_OK) break;
        failures++;
    }
    assert_true(failures > 5);
}

/* ---- rows beside switches ---- */

enum { BESIDE = 3000 };

static void count_awake(reef_world *w, uint32_t want)
{
    uint32_t n = 0;
    for (reef_block b = reef_begin_text(w, "in Position, with Awake"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++)
            n += reef_block_mask(&b) == NULL || reef_block_mask(&b)[i / 64] >> (i % 64) & 1;
    assert_int_equal(n, want);
    assert_int_equal(reef_count(w, Awake), want);
}

/* Rows that come where others have switches on, or marks, or had them, have none: by a bundle, by a list, with ids
 * that come back. */
static void rows_beside_switches_have_none(void **state)
{
    static reef_entity ids[BESIDE];
    reef_world *w = world_of(state);
    reef_bundle *b = reef_bundle_new(w, (reef_bundle_part[]){{reef_id(Position), 0}}, 1);
    assert_non_null(b);
    for (uint32_t round = 0; round < 3; round++) {
        const uint32_t first = round ? BESIDE / 3 : 0;
        for (uint32_t i = first; i < BESIDE; i++) {
            const Position p = {(float)i, 1};
            ids[i] = i % 2 ? reef_spawn_bundle(w, b, &p) : reef_spawn(w, reef_with(Position, (float)i, 1));
            assert_position(w, ids[i], (float)i, 1);
            assert_false(reef_has(w, ids[i], Awake));
            assert_true(reef_is_enabled(w, ids[i], Position));
            if (i % 3 == 0) assert_ok(reef_add(w, ids[i], Awake));
            if (round && i % 5 == 0) assert_ok(reef_disable(w, ids[i], Position));
            if (round == 0 && i % 1000 == 7) count_awake(w, i / 3 + 1);
        }
        assert_int_equal(reef_count(w, Awake), BESIDE / 3);
        for (uint32_t i = BESIDE; i-- > BESIDE / 3;) assert_ok(reef_destroy(w, ids[i]));
    }
    count_awake(w, BESIDE / 9 + 1);
    reef_bundle_free(b);
}

/* ---- bundles ---- */

typedef struct fish {
    double weight;
    Position place;
    uint8_t flag;
    Health health;
} fish;

static reef_bundle *fish_bundle(reef_world *w)
{
    return reef_bundle_new(w,
                           (reef_bundle_part[]){{reef_id(Mass), offsetof(fish, weight)},
                                                {reef_id(Hungry), 0},
                                                {reef_id(Health), offsetof(fish, health)},
                                                {reef_id(Awake), 0},
                                                {reef_id(Position), offsetof(fish, place)},
                                                {reef_id(Flag), offsetof(fish, flag)}},
                           6);
}

static void a_bundle_spawns_what_it_was_prepared_for(void **state)
{
    enum { N = 2500 };
    static reef_entity e[N];
    reef_world *w = world_of(state), *v = another_world(state, NULL);
    reef_bundle *b = fish_bundle(w);
    assert_non_null(b);
    for (int i = 0; i < N; i++) {
        fish packed = {i, {(float)i, 2}, (uint8_t)i, {i, 9}};
        e[i] = reef_spawn_bundle(w, b, &packed);
        assert_entity(e[i], reef_spawn(v, reef_with(Position, (float)i, 2), reef_with(Flag, (uint8_t)i),
                                       reef_with(Health, i, 9), reef_tag(Hungry), reef_tag(Awake), reef_with(Mass, i)));
        if (i % 5 == 4) {
            assert_ok(reef_destroy(w, e[i - 2]));
            assert_ok(reef_destroy(v, e[i - 2]));
        }
    }
    assert_true(digest(w) == digest(v));
    reef_bundle_free(b);
    reef_bundle_free(NULL);
}

/* Plain data only: values of 8 bytes, of 16, of other sizes, and a tag. */
typedef struct {
    double a, b;
} Pair;
REEF_COMPONENT(Pair);

static void a_bundle_of_plain_data(void **state)
{
    typedef struct {
        Flag flag;
        Position place;
        Pair pair;
        Cargo cargo;
        Mass mass;
    } packed;
    reef_bundle_part parts[] = {{reef_id(Cargo), offsetof(packed, cargo)},
                                {reef_id(Pair), offsetof(packed, pair)},
                                {reef_id(Hungry), 0},
                                {reef_id(Flag), offsetof(packed, flag)},
                                {reef_id(Position), offsetof(packed, place)},
                                {reef_id(Mass), offsetof(packed, mass)}};
    static const uint32_t counts[] = {2, 4, 6}; /* the parts from the end */
    for (int c = 0; c < 3; c++) {
        reef_world *w = another_world(state, NULL);
        reef_bundle *b = reef_bundle_new(w, parts + 6 - counts[c], counts[c]);
        for (int i = 0; i < 2100; i++) {
            packed p = {{(uint8_t)i}, {(float)i, 1}, {i, -i}, {{1, (uint8_t)i}}, {i * 2.0}};
            reef_entity e = reef_spawn_bundle(w, b, &p);
            assert_position(w, e, (float)i, 1);
            assert_true(reef_get(w, e, Mass)->kg == i * 2.0);
            if (c >= 1) assert_int_equal(reef_get(w, e, Flag)->on, (uint8_t)i);
            assert_int_equal(reef_has(w, e, Hungry), c >= 1);
            if (c == 2) assert_true(reef_get(w, e, Pair)->b == -i);
            if (c == 2) assert_int_equal(reef_get(w, e, Cargo)->byte[1], (uint8_t)i);
        }
        end_world(state, w);
    }
}

static void a_bundle_outlives_the_tables_that_it_filled(void **state)
{
    reef_world *w = world_of(state);
    reef_bundle *b = fish_bundle(w);
    fish packed = {1, {2, 3}, 4, {5, 6}};
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 50; i++) assert_some(reef_spawn_bundle(w, b, &packed));
        assert_int_equal(reef_count(w, Awake), 50);
        if (round % 2) assert_ok(reef_world_clear(w));
        else assert_ok(reef_world_clear(w));
        assert_ok(reef_shrink(w));
    }
    reef_entity e = reef_spawn_bundle(w, b, &packed);
    assert_int_equal(reef_get(w, e, Health)->most, 6);
    /* not freed: ends with its world */
}

static void a_bundle_may_read_from_the_world_and_from_hooks(void **state)
{
    reef_world *w = world_of(state);
    reef_bundle_part parts[] = {{reef_id(Tracked), 0}, {reef_id(Cargo), sizeof(Tracked)}};
    reef_bundle *b = reef_bundle_new(w, parts, 2), *one = reef_bundle_new(w, parts, 1);
    struct {
        Tracked t;
        Cargo c;
    } packed = {.t = {.value = 5}, .c = {{6}}};
    for (int i = 0; i < 30; i++) {
        reef_entity e = reef_spawn_bundle(w, b, &packed);
        assert_int_equal(reef_get(w, e, Tracked)->value, 5);
        assert_int_equal(reef_get(w, e, Cargo)->byte[0], 6);
    }
    reef_entity first = reef_spawn_bundle(w, one, &packed);
    for (int i = 0; i < 30; i++) /* the packed value is a row of the table that grows */
        assert_int_equal(reef_get(w, reef_spawn_bundle(w, one, reef_get(w, first, Tracked)), Tracked)->value, 5);
    book.fail_copy = 1;
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_bundle(w, b, &packed));
}

/* What a bundle knows of its table ends with each fork, snapshot and restored state; bundles take turns, and one may
 * be freed. */
static void bundles_follow_their_tables(void **state)
{
    static const struct {
        Position p;
        Velocity v;
        Cargo c;
    } packed = {{1, 2}, {3, 4}, {{0}}};
    reef_world *w = world_of(state);
    reef_bundle_part parts[] = {
        {reef_id(Velocity), 8}, {reef_id(Position), 0}, {reef_id(Cargo), 16}, {reef_id(Hungry), 0}};
    reef_bundle *b[4];
    for (uint32_t i = 0; i < 4; i++) b[i] = reef_bundle_new(w, parts, i + 1);
    for (int round = 0; round < 40; round++) {
        reef_snapshot *s = round % 3 == 1 ? reef_snapshot_take(w) : NULL;
        reef_world *fork = round % 5 == 2 ? reef_fork(w) : NULL;
        const uint64_t before = reef_count_alive(w);
        for (int i = 0; i < 8; i++) {
            reef_entity e = reef_spawn_bundle(w, b[i % 4], &packed);
            assert_true(reef_get(w, e, Velocity)->y == 4);
            assert_int_equal(reef_has(w, e, Position), i % 4 > 0);
            if (i % 4) assert_true(reef_get(w, e, Position)->x == 1);
            assert_int_equal(reef_has(w, e, Hungry), i % 4 == 3);
        }
        assert_valid(w);
        assert_int_equal(reef_count_alive(w), before + 8);
        if (fork) assert_int_equal(reef_count_alive(fork), before);
        if (fork) assert_no_entity(fork, REEF_OTHER_WORLD, reef_spawn_bundle(fork, b[0], &packed));
        if (s) assert_ok(reef_restore(w, s));
        reef_snapshot_free(s);
        reef_world_free(fork);
        if (round % 7 == 3)
            reef_bundle_free(b[round / 7 % 4]),
                b[round / 7 % 4] = reef_bundle_new(w, parts, (uint32_t)round / 7 % 4 + 1);
    }
    for (int i = 0; i < 4; i++) reef_bundle_free(b[i]);
}

static void wrong_bundles_are_refused(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_bundle_part twice[] = {{reef_id(Mass), 0}, {reef_id(Mass), 8}}, unknown = {{0}, 0};
    assert_no_pointer(w, REEF_DUPLICATE_TERM, reef_bundle_new(w, twice, 2));
    assert_no_pointer(w, REEF_UNKNOWN_TYPE, reef_bundle_new(w, &unknown, 1));
    assert_no_pointer(w, REEF_BAD_ARGUMENT, reef_bundle_new(w, NULL, 1));
    reef_bundle *b = reef_bundle_new(w, twice, 1), *empty = reef_bundle_new(w, NULL, 0);
    Mass packed = {3};
    assert_no_entity(other, REEF_OTHER_WORLD, reef_spawn_bundle(other, b, &packed));
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_bundle(w, NULL, &packed));
    assert_no_entity(w, REEF_BAD_ARGUMENT, reef_spawn_bundle(w, b, NULL));
    assert_some(reef_spawn_bundle(w, empty, NULL));
    assert_int_equal(reef_world_stats(w).entities_empty, 1);
}

/* ---- clones ---- */

static void a_clone_has_all_but_the_name(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Cargo, {3}), reef_tag(Frozen), reef_tag(Awake));
    assert_ok(reef_set_name(w, e, "one"));
    reef_entity f = reef_clone(w, e);
    assert_position(w, f, 1, 2);
    assert_int_equal(reef_get(w, f, Cargo)->byte[0], 3);
    assert_true(reef_has(w, f, Frozen) && reef_has(w, f, Awake));
    assert_false(reef_has(w, f, Seen));
    assert_null(reef_name(w, f));
    assert_entity(e, reef_find(w, "one"));
    reef_mut(w, f, Position)->x = 9;
    assert_position(w, e, 1, 2);
    reef_entity empty = reef_create(w), copy = reef_clone(w, empty);
    assert_true(reef_is_alive(w, copy));
    assert_int_equal(reef_world_stats(w).entities_empty, 2);
    reef_entity bit = reef_spawn(w, reef_tag(Seen));
    assert_true(reef_has(w, reef_clone(w, bit), Seen));
}

static void many_clones_equal_single_ones(void **state)
{
    for (uint32_t a = 0; a < AMOUNTS; a++) {
        static reef_entity ids[MOST];
        reef_world *bulk = another_world(state, NULL), *single = another_world(state, NULL);
        reef_entity e = {0}, f = {0};
        for (int i = 0; i < 5; i++) {
            e = reef_spawn(bulk, reef_with(Position, (float)i, 2), reef_with(Cargo, {3}), reef_tag(Hungry),
                           reef_tag(Awake));
            f = reef_spawn(single, reef_with(Position, (float)i, 2), reef_with(Cargo, {3}), reef_tag(Hungry),
                           reef_tag(Awake));
        }
        assert_ok(reef_clone_many(bulk, e, amounts[a], ids));
        for (uint32_t i = 0; i < amounts[a]; i++) assert_entity(ids[i], reef_clone(single, f));
        assert_true(digest(bulk) == digest(single));
        assert_int_equal(reef_count(bulk, Awake), amounts[a] + 5);
        end_world(state, bulk);
        end_world(state, single);
    }
}

static void clones_of_nothing_and_of_nobody(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2)), dead = reef_create(w);
    assert_ok(reef_destroy(w, dead));
    assert_ok(reef_clone_many(w, e, 0, NULL));
    assert_ok(reef_clone_many(w, e, 3, NULL));
    assert_int_equal(reef_count(w, Position), 4);
    assert_refused(w, REEF_NOT_ALIVE, reef_clone_many(w, dead, 3, NULL));
    assert_refused(w, REEF_NOT_ALIVE, reef_clone_many(w, (reef_entity){0}, 3, NULL));
    assert_no_entity(w, REEF_NOT_ALIVE, reef_clone(w, dead));
}

typedef struct FarStamped {
    int32_t n;
} FarStamped;
static const reef_hooks stamped_hooks = {.track_rows = true};
REEF_COMPONENT_IN_HOOKS(FarStamped, REEF_SPARSE, &stamped_hooks);

static void values_outside_of_rows_are_stamped_when_they_come(void **state)
{
    reef_world *w = world_of(state);
    for (int i = 0; i < 3; i++) { /* the first list of a kind goes another way than the others */
        const uint64_t since = reef_version(w);
        const reef_entity e = reef_spawn(w, reef_with(Position, 1, 2), reef_with(FarStamped, i));
        assert_int_equal(reef_get(w, e, FarStamped)->n, i);
        assert_true(reef_added_since(w, e, FarStamped, since));
        assert_false(reef_added_since(w, e, FarStamped, reef_version(w)));
    }
}

/* The world remembers lists by keys (set_key in src/change/spawn.c), and different lists may have the same one: here
 * two of three types, of which one has one type in tables and the other has two. */
static uint64_t part_of_key(reef_component c) { return (c.id + 1) * 0x9E3779B97F4A7C15u ^ (uint64_t)c.id << 40; }

static uint32_t spawned_with(reef_world *w, const reef_component *types, uint32_t kinds, reef_component a,
                             reef_component b, reef_component c)
{
    const reef_value v[] = {reef_value_make(a, REEF_VALUE_DEFAULT, 0, NULL),
                            reef_value_make(b, REEF_VALUE_DEFAULT, 0, NULL),
                            reef_value_make(c, REEF_VALUE_DEFAULT, 0, NULL)};
    const reef_entity e = reef_spawn_values(w, v, 3);
    uint32_t has = 0;
    for (uint32_t i = 0; i < kinds; i++) has += reef_has_id(w, e, types[i]);
    assert_true(reef_has_id(w, e, a) && reef_has_id(w, e, b) && reef_has_id(w, e, c));
    assert_ok(reef_destroy(w, e));
    return has;
}

static void a_list_gets_no_components_of_another_one(void **state)
{
    enum { KINDS = 24, IN = KINDS / 2 }; /* the first ones are in tables */
    reef_world *w = world_of(state);
    reef_component type[KINDS];
    uint32_t same = 0;
    for (uint32_t i = 0; i < KINDS; i++) {
        char name[32];
        snprintf(name, sizeof name, "beside_%u", i);
        const reef_home home = i < IN ? REEF_TABLE : REEF_SPARSE;
        type[i] = reef_type_new(&(reef_type_desc){.name = name, .size = 4, .align = 4, .home = home}, NULL);
        assert_true(type[i].id != 0);
    }
    for (uint32_t b = 1; b < IN; b++)
        for (uint32_t c = IN; c < KINDS; c++)
            for (uint32_t d = IN; d < KINDS; d++)
                for (uint32_t e = d + 1; e < KINDS; e++) {
                    if (part_of_key(type[b]) + part_of_key(type[c]) != part_of_key(type[d]) + part_of_key(type[e]))
                        continue;
                    assert_int_equal(spawned_with(w, type, KINDS, type[0], type[b], type[c]), 3);
                    assert_int_equal(spawned_with(w, type, KINDS, type[0], type[d], type[e]), 3);
                    same++;
                }
    assert_true(same > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(spawn_makes_everything_in_one_step),
        TEST(wrong_lists_are_refused),
        TEST(bulk_equals_one_by_one),
        TEST(bulk_of_nothing_and_without_ids),
        TEST(bulk_is_all_or_none),
        TEST(ids_may_take_the_place_of_values),
        TEST(bulk_that_fails_names_nobody),
        TEST(rows_beside_switches_have_none),
        TEST(a_bundle_spawns_what_it_was_prepared_for),
        TEST(a_bundle_of_plain_data),
        TEST(a_bundle_outlives_the_tables_that_it_filled),
        TEST(a_bundle_may_read_from_the_world_and_from_hooks),
        TEST(bundles_follow_their_tables),
        TEST(wrong_bundles_are_refused),
        TEST(a_clone_has_all_but_the_name),
        TEST(many_clones_equal_single_ones),
        TEST(clones_of_nothing_and_of_nobody),
        TEST(a_list_gets_no_components_of_another_one),
        TEST(values_outside_of_rows_are_stamped_when_they_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
