/* Values outside of the rows: the same calls, whatever the home. */
#include "support.h"

typedef struct {
    int32_t a, b;
} Near;
typedef struct {
    int32_t a, b;
} Far;
typedef struct {
    int32_t a, b;
} Rare;
typedef Tracked TrackedSparse, TrackedPaged, TrackedCold;
REEF_COMPONENT_IN(Near, REEF_SPARSE);
REEF_COMPONENT_PAGED(Far, 16);
REEF_COMPONENT_IN(Rare, REEF_COLD);
REEF_COMPONENT_IN_HOOKS(TrackedSparse, REEF_SPARSE, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(TrackedPaged, REEF_PAGED, &tracked_hooks);
REEF_COMPONENT_IN_HOOKS(TrackedCold, REEF_COLD, &tracked_hooks);

static void homes(reef_component c[3]) { c[0] = reef_id(Near), c[1] = reef_id(Far), c[2] = reef_id(Rare); }

static void a_value_lives_outside_of_the_row(void **state)
{
    reef_component c[3];
    homes(c);
    for (int k = 0; k < 3; k++) {
        reef_world *w = another_world(state, NULL);
        const Near one = {1, 2}, two = {3, 4};
        reef_entity e = reef_spawn(w, reef_with(Position, 1, 2)), bare = reef_create(w);
        const uint64_t moved = reef_world_stats(w).moved;
        void *at = NULL;
        assert_null(reef_get_id(w, e, c[k]));
        assert_false(reef_has_id(w, e, c[k]));
        assert_ok(reef_add_id(w, e, c[k], NULL, &at));
        assert_non_null(at);
        assert_ptr_equal(at, reef_get_id(w, e, c[k]));
        assert_int_equal(((Near *)at)->a, 0);
        assert_refused(w, REEF_EXISTS, reef_add_id(w, e, c[k], NULL, NULL));
        assert_status(REEF_OK, reef_set_id(w, e, c[k], &one, sizeof one));
        assert_status(REEF_ADDED, reef_set_id(w, bare, c[k], &two, sizeof two));
        assert_memory_equal(reef_get_id(w, e, c[k]), &one, sizeof one);
        assert_memory_equal(reef_get_id(w, bare, c[k]), &two, sizeof two);
        ((Near *)reef_mut_id(w, e, c[k]))->a = 9;
        assert_int_equal(((const Near *)reef_get_id(w, e, c[k]))->a, 9);
        assert_ptr_equal(reef_ensure_id(w, e, c[k], NULL), reef_get_id(w, e, c[k]));
        assert_refused(w, REEF_WRONG_SIZE, reef_set_id(w, e, c[k], &one, 4));
        assert_int_equal(reef_count_id(w, c[k]), 2);
        assert_int_equal(reef_world_stats(w).moved, moved);
        assert_valid(w);
        assert_ok(reef_remove_id(w, e, c[k]));
        assert_refused(w, REEF_ABSENT, reef_remove_id(w, e, c[k]));
        assert_null(reef_get_id(w, e, c[k]));
        assert_memory_equal(reef_get_id(w, bare, c[k]), &two, sizeof two);
        assert_ok(reef_destroy(w, bare));
        assert_int_equal(reef_count_id(w, c[k]), 0);
        reef_entity again = reef_create(w);
        assert_null(reef_get_id(w, again, c[k]));
        assert_null(reef_get_id(w, bare, c[k]));
    }
}

/* Many come and go; what each has is compared with an array. */
static void values_follow_their_entities(void **state)
{
    enum { N = 700 };
    reef_component c[3];
    homes(c);
    reef_world *w = world_of(state);
    static reef_entity e[N];
    static int32_t has[N][3];
    memset(has, 0, sizeof has);
    assert_ok(reef_spawn_many(w, N, e, reef_with(Mass, 1)));
    uint32_t x = 12345;
    for (int step = 0; step < 6000; step++) {
        x = x * 1664525u + 1013904223u;
        const uint32_t i = (x >> 8) % N, k = (x >> 20) % 3;
        const Near v = {(int32_t)(x >> 4) | 1, step};
        switch (x >> 28 & 3) {
        case 0: assert_true(reef_set_id(w, e[i], c[k], &v, sizeof v) >= 0), has[i][k] = v.a; break;
        case 1: assert_int_equal(reef_remove_id(w, e[i], c[k]) == REEF_OK, has[i][k] != 0), has[i][k] = 0; break;
        case 2:
            if (x >> 26 & 1) break;
            assert_ok(reef_destroy(w, e[i]));
            e[i] = reef_spawn(w, reef_with(Position, 1, 2));
            has[i][0] = has[i][1] = has[i][2] = 0;
            break;
        default: assert_true(reef_set(w, e[i], Velocity, 1, 2) >= 0), (void)reef_remove(w, e[i], Mass);
        }
        for (uint32_t j = i; j < N && j < i + 20; j++)
            for (int h = 0; h < 3; h++) {
                const Near *p = reef_get_id(w, e[j], c[h]);
                assert_int_equal(p ? p->a : 0, has[j][h]);
                assert_int_equal(reef_has_id(w, e[j], c[h]), has[j][h] != 0);
            }
    }
}

static void hooks_run_once_in_every_home(void **state)
{
    const reef_component c[3] = {reef_id(TrackedSparse), reef_id(TrackedPaged), reef_id(TrackedCold)};
    for (int k = 0; k < 3; k++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e[40];
        for (int i = 0; i < 40; i++) {
            e[i] = reef_create(w);
            assert_ok(reef_add_id(w, e[i], c[k], NULL, NULL));
        }
        for (int i = 0; i < 40; i += 3) assert_ok(reef_remove_id(w, e[i], c[k]));
        for (int i = 1; i < 40; i += 3) assert_ok(reef_destroy(w, e[i]));
        reef_entity copy[5];
        assert_ok(reef_clone_many(w, e[2], 5, copy));
        assert_non_null(reef_get_id(w, copy[4], c[k]));
        assert_int_equal(reef_count_id(w, c[k]), 13 + 5);
        assert_ok(remove_everywhere(w, c[k], NULL));
        assert_int_equal(reef_count_id(w, c[k]), 0);
        assert_ok(reef_add_id(w, e[2], c[k], NULL, NULL));
        assert_ok(reef_remove_all(w, e[2]));
        assert_ok(reef_add_id(w, e[5], c[k], NULL, NULL));
        assert_ok(reef_world_clear(w));
    }
}

/* In one step with columns and switches, in arrays, by commands. */
static void stored_values_are_spawned_with_the_others(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e =
        reef_spawn(w, reef_with(Position, 1, 2), reef_with(Near, 3, 4), reef_with(Far, 5, 6), reef_with(Rare, 7, 8));
    assert_int_equal(reef_get(w, e, Near)->b, 4);
    assert_int_equal(reef_get(w, e, Far)->b, 6);
    assert_int_equal(reef_get(w, e, Rare)->b, 8);
    reef_entity rare = reef_spawn(w, reef_with(Rare, 1, 1)), many[50];
    assert_true(reef_has(w, rare, Rare));
    Near near[50];
    for (int i = 0; i < 50; i++) near[i] = (Near){i, -i};
    assert_ok(reef_spawn_many(w, 50, many, reef_array(Near, near), reef_with(Rare, 2, 2)));
    for (int i = 0; i < 50; i++) assert_int_equal(reef_get(w, many[i], Near)->b, -i);
    assert_ok(DESTROY_EVERYWHERE(w, reef_id(Near), reef_id(Rare)));
    assert_int_equal(reef_count_alive(w), 1);
    assert_true(reef_is_alive(w, rare));
    assert_ok(DESTROY_EVERYWHERE(w, reef_id(Rare)));
    assert_int_equal(reef_count_alive(w), 0);
}

static bool visited(void *context, reef_entity e, reef_component c, const void *data, size_t size)
{
    (void)e, (void)data, (void)size;
    uint64_t *n = context; /* n[0]: visits of the type with id n[1] */
    n[0] += c.id == n[1];
    return true;
}

static void assert_visited(const reef_world *w, const reef_entity *e, int count, reef_component c)
{
    uint64_t one[2] = {0, c.id}, all[2] = {0, c.id};
    for (int i = 0; i < count; i++) reef_visit_entity(w, e[i], visited, one);
    reef_visit_world(w, visited, all);
    assert_int_equal(one[0], reef_count_id(w, c));
    assert_int_equal(all[0], reef_count_id(w, c));
}

/* Most values come by fast paths and go with their entities: whatever counts only one of both is 0 at some time,
 * with values still there. */
static void values_that_came_straight_are_seen_to_the_last(void **state)
{
    enum { N = 9 };
    reef_component c[3];
    homes(c);
    for (int k = 0; k < 3; k++) {
        reef_world *w = another_world(state, NULL);
        reef_entity e[N];
        for (int i = 0; i < N; i++) e[i] = reef_spawn(w, reef_with(Position, 1, 2));
        for (int i = 1; i < N; i++) assert_ok(reef_add_id(w, e[i], c[k], NULL, NULL));
        assert_visited(w, e, N, c[k]);
        for (int i = 1; i < N - 1; i++) {
            reef_bytes bytes = {NULL, 0};
            assert_ok(reef_destroy(w, e[i]));
            assert_visited(w, e, N, c[k]);
            reef_world *before = reef_fork(w); /* as many have it afterwards, but others: only bits tell */
            assert_non_null(before);
            assert_status(REEF_ADDED, reef_set_id(w, e[0], c[k], &(Near){i, i}, sizeof(Near)));
            assert_ok(reef_remove_id(w, e[N - 1], c[k]));
            assert_ok(reef_diff_bytes(before, w, &bytes, &(reef_save_desc){.raw = true, .sealed = true}));
            assert_ok(reef_diff_apply(before, bytes.data, bytes.size));
            assert_true(reef_hash(before) == reef_hash(w));
            assert_visited(before, e, N, c[k]);
            assert_valid(before);
            reef_bytes_free(&bytes);
            reef_world_free(before);
            assert_ok(reef_remove_id(w, e[0], c[k]));
            assert_status(REEF_ADDED, reef_set_id(w, e[N - 1], c[k], &(Near){i, i}, sizeof(Near)));
            assert_visited(w, e, N, c[k]);
        }
        assert_valid(w);
    }
}

static void a_page_has_a_size_and_a_limit(void **state)
{
    (void)state;
    reef_type_info info;
    reef_status s;
    assert_true(reef_type_get(reef_id(Far), &info) && info.page_rows == 16 && info.home == REEF_PAGED);
    reef_component c =
        reef_type_new(&(reef_type_desc){.name = "PageOfItself", .size = 1 << 20, .home = REEF_PAGED}, &s);
    assert_true(reef_type_get(c, &info) && info.page_rows == 1);
    c = reef_type_new(&(reef_type_desc){.name = "PageOfMany", .size = 4, .home = REEF_PAGED}, &s);
    assert_true(reef_type_get(c, &info) && info.page_rows == 1024);
    c = reef_type_new(&(reef_type_desc){.name = "PageLargest", .size = 16384, .home = REEF_PAGED, .page_rows = 65536},
                      &s);
    assert_int_equal(s, REEF_OK);
    c = reef_type_new(&(reef_type_desc){.name = "PageTooLarge", .size = 16400, .home = REEF_PAGED, .page_rows = 65536},
                      &s);
    assert_int_equal(s, REEF_BAD_ARGUMENT);
    c = reef_type_new(&(reef_type_desc){.name = "PageTooMany", .size = 4, .home = REEF_PAGED, .page_rows = 131072}, &s);
    assert_int_equal(s, REEF_BAD_ARGUMENT);
    c = reef_type_new(&(reef_type_desc){.name = "PageOdd", .size = 4, .home = REEF_PAGED, .page_rows = 48}, &s);
    assert_int_equal(s, REEF_BAD_ARGUMENT);
    c = reef_type_new(&(reef_type_desc){.name = "PageElsewhere", .size = 4, .home = REEF_SPARSE, .page_rows = 64}, &s);
    assert_int_equal(s, REEF_BAD_ARGUMENT);
    assert_int_equal(c.id, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_value_lives_outside_of_the_row),
        TEST(values_follow_their_entities),
        TEST(hooks_run_once_in_every_home),
        TEST(stored_values_are_spawned_with_the_others),
        TEST(values_that_came_straight_are_seen_to_the_last),
        TEST(a_page_has_a_size_and_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
