/* Whole queries at once: what they do is compared with single calls on a twin of the world, and what they refuse
 * changes nothing. */
#include "support.h"

/* ---- random worlds ---- */

typedef struct {
    int32_t at, left;
} Watched;
static const reef_hooks watched_rows = {.track_rows = true};
REEF_COMPONENT_HOOKS(Watched, &watched_rows);

/* Of every home. */
typedef struct {
    int32_t a, b;
} Sparse;
typedef Sparse Paged, Cold, Many, InCommon;
typedef struct {
    float x, y;
} Parted;
REEF_COMPONENT_IN_HOOKS(Sparse, REEF_SPARSE, &watched_rows);
REEF_COMPONENT_IN(Paged, REEF_PAGED);
REEF_COMPONENT_IN(Cold, REEF_COLD);
REEF_COMPONENT_IN(Many, REEF_MULTI);
REEF_COMPONENT_IN(InCommon, REEF_SHARED);
REEF_COMPONENT_IN(Parted, REEF_SPLIT);
REEF_FIELDS(Parted, x, y);

enum { TYPES = 19, PLAIN_TYPES = 17 };

/* that are used: the hash sees the tickets of those with hooks, which no two copies have in common */
static uint32_t types = TYPES;

static reef_component type_at(uint32_t i)
{
    const reef_component all[TYPES] = {reef_id(Position), reef_id(Velocity), reef_id(Health),  reef_id(Mass),
                                       reef_id(Cargo),    reef_id(Flag),     reef_id(Frozen),  reef_id(Hungry),
                                       reef_id(Awake),    reef_id(Seen),     reef_id(Watched), reef_id(Sparse),
                                       reef_id(Paged),    reef_id(Cold),     reef_id(Many),    reef_id(InCommon),
                                       reef_id(Parted),   reef_id(Tracked),  reef_id(Loose)};
    return all[i];
}

static uint32_t size_at(uint32_t i)
{
    static const uint32_t sizes[TYPES] = {sizeof(Position),
                                          sizeof(Velocity),
                                          sizeof(Health),
                                          sizeof(Mass),
                                          sizeof(Cargo),
                                          sizeof(Flag),
                                          0,
                                          0,
                                          0,
                                          0,
                                          sizeof(Watched),
                                          sizeof(Sparse),
                                          sizeof(Paged),
                                          sizeof(Cold),
                                          sizeof(Many),
                                          sizeof(InCommon),
                                          sizeof(Parted),
                                          sizeof(Tracked),
                                          sizeof(Loose)};
    return sizes[i];
}

/* Bytes of a value: those of types with hooks are outside of the ledger (ticket 0). */
static void value_of(uint32_t type, uint32_t number, unsigned char *bytes)
{
    memset(bytes, 0, 64);
    if (type >= PLAIN_TYPES) memcpy(bytes, &number, 4);
    else memset(bytes, (int)(number % 251), size_at(type));
}

static void random_add(reef_world *w, uint64_t *seed, reef_entity e)
{
    unsigned char bytes[64];
    uint32_t type = random_below(seed, types);
    value_of(type, random_next(seed), bytes);
    assert_true(reef_set_id(w, e, type_at(type), bytes, size_at(type)) >= 0);
}

/* A few large groups of the same kind, and many entities of any kind; some have names, some died. */
static void fill_world(reef_world *w, uint64_t *seed)
{
    static reef_entity many[3000];
    for (uint32_t group = random_below(seed, 4); group; group--) {
        uint32_t n = 1 + random_below(seed, random_below(seed, 2) ? 3000 : 40), kinds = 1 + random_below(seed, 5);
        reef_value values[5];
        unsigned char bytes[5][64];
        uint32_t count = 0, used = 0;
        for (; kinds; kinds--) {
            uint32_t type = random_below(seed, types);
            if (used >> type & 1) continue;
            used |= 1u << type;
            value_of(type, random_next(seed), bytes[count]);
            values[count] = reef_value_make(type_at(type), REEF_VALUE_ONE, size_at(type), bytes[count]);
            count++;
        }
        assert_ok(reef_spawn_many_values(w, n, many, values, count));
        for (uint32_t k = random_below(seed, 2) ? random_below(seed, 60) : 0; k; k--)
            random_add(w, seed, many[random_below(seed, n)]);
        for (uint32_t k = random_below(seed, 2) ? random_below(seed, 30) : 0; k; k--)
            reef_destroy(w, many[random_below(seed, n)]);
        for (uint32_t k = random_below(seed, 3) ? 0 : 5; k; k--) {
            char name[16];
            snprintf(name, sizeof name, "n%u", random_below(seed, 1000));
            reef_set_name(w, many[random_below(seed, n)], name);
        }
    }
    for (uint32_t k = random_below(seed, 60); k; k--) {
        reef_entity e = reef_create(w);
        for (uint32_t t = random_below(seed, 5); t; t--) random_add(w, seed, e);
    }
}

/* ---- one operation, on both ---- */

typedef enum { ADD, REMOVE, SET, ENABLE, DISABLE, DESTROY, OPS } operation;

static void query_text(uint64_t *seed, char *text, size_t size)
{
    uint32_t used = 0;
    size_t length = 0;
    text[0] = 0;
    for (uint32_t n = random_below(seed, 4); n; n--) {
        reef_type_info info;
        uint32_t type = random_below(seed, types);
        if (used >> type & 1) continue;
        used |= 1u << type;
        assert_true(reef_type_get(type_at(type), &info));
        const char *const how[] = {"", "", "", "disabled ", "either "};
        length += (size_t)snprintf(text + length, size - length, "%s%swith %s%s", length ? ", " : "",
                                   random_below(seed, 6) ? "" : "!", how[random_below(seed, 5)], info.name);
    }
    if (random_below(seed, 5) == 0)
        snprintf(text + length, size - length, "%s%s *", length ? ", " : "",
                 random_below(seed, 2) ? "disabled" : "either");
}

static uint64_t one_by_one(reef_world *w, const char *text, operation op, uint32_t type, const void *value)
{
    uint64_t n = 0, room = reef_count_alive(w), changed = 0;
    reef_entity *list = malloc((size_t)(room + 1) * sizeof *list);
    reef_query q = reef_query_new(w, text);
    assert_query(q);
    reef_each(w, q, row) list[n++] = row.entity;
    for (uint64_t i = 0; i < n; i++) {
        bool has = type < TYPES && reef_has_id(w, list[i], type_at(type));
        if (op == ADD && !has) assert_ok(reef_add_id(w, list[i], type_at(type), NULL, NULL)), changed++;
        if (op == REMOVE && has) assert_ok(reef_remove_id(w, list[i], type_at(type))), changed++;
        if (op == SET) assert_true(reef_set_id(w, list[i], type_at(type), value, size_at(type)) >= 0), changed++;
        if ((op == ENABLE || op == DISABLE) && (type == TYPES || has)) {
            const reef_component c = type == TYPES ? (reef_component){0} : type_at(type);
            if (reef_is_enabled_id(w, list[i], c) != (op == ENABLE)) changed++;
            assert_ok(reef_enable_id(w, list[i], c, op == ENABLE));
        }
        if (op == DESTROY) assert_ok(reef_destroy(w, list[i])), changed++;
    }
    reef_query_free(w, q);
    free(list);
    return changed;
}

static reef_status at_once(reef_world *w, reef_query q, operation op, uint32_t type, const void *value,
                           uint64_t *changed)
{
    switch (op) {
    case ADD: return reef_add_where_id(w, q, type_at(type), changed);
    case REMOVE: return reef_remove_where_id(w, q, type_at(type), changed);
    case SET: return reef_set_where_id(w, q, type_at(type), value, size_at(type), changed);
    case ENABLE:
    case DISABLE:
        return reef_enable_where_id(w, q, type == TYPES ? (reef_component){0} : type_at(type), op == ENABLE, changed);
    default: return reef_destroy_where(w, q, changed);
    }
}

static void assert_twins(reef_world *w, reef_world *twin, uint64_t seed, const char *text, operation op, uint32_t type)
{
    reef_difference difference;
    char words[400] = "";
    reef_type_info info;
    bool equal = types == TYPES || reef_equal(w, twin, &difference);
    if (!equal) reef_difference_text(&difference, words, sizeof words);
    if (!equal || (types < TYPES && reef_hash(w) != reef_hash(twin)) || digest(w) != digest(twin)) {
        const char *name = type < TYPES && reef_type_get(type_at(type), &info) ? info.name : "*";
        fail_msg("seed %llu, query \"%s\", operation %d, type %s: %s", (unsigned long long)seed, text, op, name, words);
    }
    assert_valid(w);
    assert_valid(twin);
}

/* Who was written, who got it, who lost it, in the same order. */
static void assert_tracks(reef_world *w, reef_world *twin, uint64_t since, uint64_t twin_since, reef_removals r,
                          reef_removals twin_r)
{
    reef_entity e, other;
    Watched last, other_last;
    for (uint32_t i = 0; i < reef_world_stats(w).indices; i++) {
        reef_entity one = reef_entity_at(w, i);
        assert_int_equal(reef_changed_since(w, one, Watched, since),
                         reef_changed_since(twin, one, Watched, twin_since));
        assert_int_equal(reef_added_since(w, one, Watched, since), reef_added_since(twin, one, Watched, twin_since));
        assert_int_equal(reef_changed_since(w, one, Sparse, since), reef_changed_since(twin, one, Sparse, twin_since));
        assert_int_equal(reef_added_since(w, one, Sparse, since), reef_added_since(twin, one, Sparse, twin_since));
    }
    while (reef_removals_next(w, r, &e, &last)) {
        assert_true(reef_removals_next(twin, twin_r, &other, &other_last));
        assert_entity(other, e);
        assert_memory_equal(&last, &other_last, sizeof last);
    }
    assert_false(reef_removals_next(twin, twin_r, &other, NULL));
}

/* Several operations on a world and its twin, which is a fork, or was made in the same way; now and then something
 * is shared anew. */
static void play(void **state, uint64_t first_seed)
{
    uint64_t seed = first_seed, again = first_seed, changed;
    reef_world *w = another_world(state, NULL), *twin, *other = NULL;
    char text[200];
    bool forked = random_below(&seed, 2) != 0;
    random_below(&again, 2);
    types = first_seed % 3 ? PLAIN_TYPES : TYPES;
    fill_world(w, &seed);
    if (forked) twin = reef_fork(w);
    else fill_world(twin = another_world(state, NULL), &again);
    assert_non_null(twin);
    reef_removals gone = reef_removals_new(w, reef_id(Watched), true),
                  twin_gone = reef_removals_new(twin, reef_id(Watched), true);
    for (uint32_t n = 1 + random_below(&seed, 8); n; n--) {
        operation op = (operation)random_below(&seed, random_below(&seed, 4) ? DESTROY : OPS);
        uint32_t type = random_below(&seed, types);
        unsigned char bytes[64] = {0};
        if ((op == ENABLE || op == DISABLE) && random_below(&seed, 4) == 0) type = TYPES; /* whole entities */
        else value_of(type, random_next(&seed), bytes);
        query_text(&seed, text, sizeof text);
        reef_query q = reef_query_new(w, text);
        assert_query(q);
        const uint64_t since = reef_version(w), twin_since = reef_version(twin);
        changed = 1 << 30;
        assert_ok(at_once(w, q, op, type, bytes, &changed));
        assert_int_equal(changed, one_by_one(twin, text, op, type, bytes));
        assert_twins(w, twin, first_seed, text, op, type);
        assert_tracks(w, twin, since, twin_since, gone, twin_gone);
        reef_query_free(w, q);
        if (random_below(&seed, 4) == 0) {
            if (other) reef_world_free(other);
            other = reef_fork(w);
            assert_non_null(other);
        }
        if (random_below(&seed, 4) == 0) assert_ok(reef_shrink(w));
    }
    for (uint32_t i = 0; i < 100; i++) { /* and it goes on as the twin does */
        reef_entity e = reef_entity_at(w, random_below(&seed, 3000));
        uint64_t same = seed;
        if (!reef_entity_is_null(e)) random_add(w, &seed, e), random_add(twin, &same, e);
        if (i % 8 == 0) assert_entity(reef_create(w), reef_create(twin));
    }
    assert_twins(w, twin, first_seed, "afterwards", ADD, 0);
    if (other) assert_valid(other), reef_world_free(other);
    if (forked) reef_world_free(twin);
    else end_world(state, twin);
    end_world(state, w);
}

#if !defined(BULK_WORLDS) /* fewer where each costs more: tests/suites.cmake */
#define BULK_WORLDS 400
#endif

static void whole_queries_do_what_single_calls_do(void **state)
{
    for (uint64_t seed = 1; seed <= BULK_WORLDS; seed++) play(state, seed);
}

/* ---- tables that change as a whole ---- */

/* One more and one less, in tables of a chunk's part up to several chunks, over the border where a chunk needs more
 * units. */
static void whole_tables_come_and_go(void **state)
{
    static const uint32_t sizes[] = {1, 8, 9, 1023, 1024, 1025, 3000};
    for (int s = 0; s < 7; s++) {
        for (int shared = 0; shared < 2; shared++) {
            reef_world *w = another_world(state, NULL), *fork = NULL;
            reef_entity es[3000];
            uint64_t changed = 0, moved;
            assert_ok(reef_spawn_many(w, sizes[s], es, reef_with(Position, 1, 2), reef_with(Mass, 3)));
            assert_ok(reef_add(w, es[0], Awake));
            reef_query q = reef_query_new(w, "Position");
            uint64_t before = reef_hash(w);
            if (shared) fork = reef_fork(w);
            moved = reef_world_stats(w).moved;
            assert_ok(reef_set_where_id(w, q, reef_id(Velocity), &(Velocity){5, 6}, sizeof(Velocity), &changed));
            assert_int_equal(changed, sizes[s]);
            assert_int_equal(reef_world_stats(w).moved - moved, sizes[s]);
            assert_ok(reef_add_where(w, q, Frozen));
            assert_ok(reef_add_where(w, q, Cargo));
            for (uint32_t i = 0; i < sizes[s]; i++) {
                assert_true(reef_get(w, es[i], Velocity)->x == 5 && reef_get(w, es[i], Velocity)->y == 6);
                assert_int_equal(reef_get(w, es[i], Cargo)->byte[39], 0);
                assert_position(w, es[i], 1, 2);
                assert_true(reef_has(w, es[i], Awake) == (i == 0));
            }
            if (fork) assert_true(reef_hash(fork) == before);
            assert_ok(reef_remove_where(w, q, Velocity));
            assert_ok(reef_remove_where(w, q, Cargo));
            assert_ok(reef_remove_where_id(w, q, reef_id(Frozen), &changed));
            assert_int_equal(changed, sizes[s]);
            assert_true(reef_hash(w) == before);
            assert_ok(reef_remove_where_id(w, q, reef_id(Frozen), &changed));
            assert_int_equal(changed, 0);
            if (fork) reef_world_free(fork);
            end_world(state, w);
        }
    }
}

static void whole_queries_are_disabled_and_enabled(void **state)
{
    reef_world *w = world_of(state);
    reef_entity es[1100];
    uint64_t changed = 0;
    assert_ok(reef_spawn_many(w, 1100, es, reef_with(Position, 1, 2), reef_with(Mass, 3)));
    reef_query q = reef_query_new(w, "with Position"), off = reef_query_new(w, "with disabled Position"),
               all = reef_query_new(w, "either *");
    uint64_t before = reef_hash(w);
    assert_ok(reef_enable_where_id(w, q, reef_id(Position), false, &changed));
    assert_int_equal(changed, 1100);
    assert_int_equal(reef_query_count(w, q), 0);
    assert_int_equal(reef_query_count(w, off), 1100);
    assert_ok(reef_enable_where_id(w, q, reef_id(Position), false, &changed));
    assert_int_equal(changed, 0);
    assert_ok(reef_enable_where(w, off, Position));
    assert_int_equal(reef_query_count(w, q), 1100);
    assert_ok(reef_disable_where(w, q));
    assert_int_equal(reef_query_count(w, q), 0);
    assert_false(reef_is_enabled(w, es[1099]));
    assert_ok(reef_enable_where(w, all));
    assert_int_equal(reef_query_count(w, q), 1100);
    assert_true(reef_hash(w) == before);
    assert_ok(reef_enable_where_id(w, all, reef_id(Velocity), false, &changed)); /* nobody has it */
    assert_int_equal(changed, 0);
}

static void a_value_of_the_world_itself_may_be_set(void **state)
{
    reef_world *w = world_of(state);
    reef_entity es[20],
        one = reef_spawn(w, reef_with(Position, 1, 2), reef_with(Velocity, 8, 9), reef_with(Tracked, .value = 77));
    assert_ok(reef_spawn_many(w, 20, es, reef_with(Position, 3, 4)));
    reef_query q = reef_query_new(w, "Position");
    assert_ok(reef_set_where_id(w, q, reef_id(Velocity), reef_get(w, one, Velocity), sizeof(Velocity), NULL));
    assert_ok(reef_set_where_id(w, q, reef_id(Tracked), reef_get(w, one, Tracked), sizeof(Tracked), NULL));
    for (int i = 0; i < 20; i++) {
        assert_true(reef_get(w, es[i], Velocity)->x == 8);
        assert_int_equal(reef_get(w, es[i], Tracked)->value, 77);
    }
    assert_int_equal(reef_get(w, one, Tracked)->value, 77);
}

static void blocks_given_to_other_tables_come_back(void **state)
{
    reef_world *w = world_of(state);
    reef_query q = reef_query_new(w, "Position");
    for (int turn = 0; turn < 3; turn++) {
        assert_ok(reef_spawn_many(w, 200000, NULL, reef_with(Position, 1, 2), reef_with(Velocity, 3, 4)));
        assert_ok(reef_add_where(w, q, Mass));
        assert_ok(reef_remove_where(w, q, Velocity));
        assert_ok(reef_destroy_where(w, q, NULL));
        assert_int_equal(reef_count_alive(w), 0);
    }
    const uint64_t held = heap_of(state)->bytes;
    assert_ok(reef_shrink(w));
    assert_true(heap_of(state)->bytes + 200000 * 16 < held);
    assert_int_equal(reef_world_stats(w).bytes_rows, 0);
}

/* ---- refusals ---- */

static void hooks_that_refuse_change_nothing(void **state)
{
    reef_world *w = world_of(state);
    reef_entity es[1500];
    assert_ok(reef_spawn_many(w, 1500, es, reef_with(Position, 1, 2), reef_with(Loose, .value = 4)));
    for (int i = 0; i < 1500; i += 3) assert_true(reef_set(w, es[i], Tracked, .value = i) >= 0);
    reef_query q = reef_query_new(w, "with Position");
    Tracked value;
    tracked_make(&value, 9);
    for (uint32_t n = 1; n < 1000; n += 333) {
        book.fail_construct = n;
        book.fail_status = REEF_IO;
        assert_refused(w, REEF_IO, reef_add_where(w, q, Tracked));
        book.fail_construct = 0;
        book.fail_copy = n;
        assert_refused(w, REEF_IO, reef_set_where_id(w, q, reef_id(Tracked), &value, sizeof value, NULL));
        book.fail_copy = 0;
    }
    assert_ok(reef_set_where_id(w, q, reef_id(Tracked), &value, sizeof value, NULL));
    for (int i = 0; i < 1500; i++) assert_int_equal(reef_get(w, es[i], Tracked)->value, 9);
    tracked_drop(&value);
}

static void a_value_that_cannot_be_copied_goes_to_one_entity(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e = reef_spawn(w, reef_with(Position, 1, 2));
    reef_query q = reef_query_new(w, "with Position");
    Unique value;
    unique_make(&value, 5);
    assert_ok(reef_set_where_id(w, q, reef_id(Unique), &value, sizeof value, NULL));
    assert_int_equal(reef_get(w, e, Unique)->value, 5);
    assert_some(reef_spawn(w, reef_with(Position, 3, 4)));
    unique_make(&value, 6);
    assert_refused(w, REEF_NOT_COPYABLE, reef_set_where_id(w, q, reef_id(Unique), &value, sizeof value, NULL));
    unique_drop(&value);
}

static void refusals_of_whole_queries(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    const Position p = {1, 2};
    uint64_t n = 5;
    assert_ok(reef_spawn_many(w, 10, NULL, reef_with(Position, 1, 2)));
    reef_query q = reef_query_new(w, "with Position"), foreign = reef_query_new(other, "with Position"),
               freed = reef_query_new(w, "Mass");
    assert_ok(reef_query_free(w, freed));
    assert_status(REEF_BAD_ARGUMENT, reef_add_where_id(NULL, q, reef_id(Mass), NULL));
    assert_status(REEF_BAD_ARGUMENT, reef_destroy_where(NULL, q, NULL));
    const reef_query bad[] = {freed, foreign, {0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        const reef_status s = i == 1 ? REEF_OTHER_WORLD : REEF_NOT_ALIVE;
        assert_refused(w, s, reef_add_where_id(w, bad[i], reef_id(Mass), &n));
        assert_refused(w, s, reef_remove_where_id(w, bad[i], reef_id(Position), &n));
        assert_refused(w, s, reef_set_where_id(w, bad[i], reef_id(Position), &p, sizeof p, &n));
        assert_refused(w, s, reef_disable_where(w, bad[i], Position));
        assert_refused(w, s, reef_destroy_where(w, bad[i], &n));
    }
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_add_where_id(w, q, (reef_component){0}, &n));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_remove_where_id(w, q, (reef_component){60000}, &n));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_set_where_id(w, q, (reef_component){0x80000001u}, &p, sizeof p, &n));
    assert_refused(w, REEF_UNKNOWN_TYPE, reef_enable_where_id(w, q, (reef_component){0x80000001u}, true, &n));
    assert_refused(w, REEF_WRONG_SIZE, reef_set_where_id(w, q, reef_id(Position), &p, 4, &n));
    assert_refused(w, REEF_BAD_ARGUMENT, reef_set_where_id(w, q, reef_id(Position), NULL, sizeof p, &n));
    reef_block b = reef_begin(w, q);
    assert_refused(w, REEF_LOCKED, reef_add_where_id(w, q, reef_id(Mass), &n));
    assert_refused(w, REEF_LOCKED, reef_remove_where_id(w, q, reef_id(Position), &n));
    assert_refused(w, REEF_LOCKED, reef_set_where_id(w, q, reef_id(Position), &p, sizeof p, &n));
    assert_refused(w, REEF_LOCKED, reef_disable_where(w, q, Position));
    assert_refused(w, REEF_LOCKED, reef_destroy_where(w, q, &n));
    reef_end(&b);
    assert_int_equal(n, 5);
    assert_ok(reef_set_where(w, q, Position, 7, 8));
    assert_ok(reef_destroy_where(w, q, &n));
    assert_int_equal(n, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whole_queries_do_what_single_calls_do),
        TEST(whole_tables_come_and_go),
        TEST(whole_queries_are_disabled_and_enabled),
        TEST(a_value_of_the_world_itself_may_be_set),
        TEST(blocks_given_to_other_tables_come_back),
        TEST(hooks_that_refuse_change_nothing),
        TEST(a_value_that_cannot_be_copied_goes_to_one_entity),
        TEST(refusals_of_whole_queries),
    };
    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
