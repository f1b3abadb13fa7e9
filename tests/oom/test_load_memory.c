/* Files and differences are read while memory runs out: the call returns NO_MEMORY, and has no effect. The sweep over
 * everything that a world may have is test_oom_files.c. */
#include "load_zoo.h"
#include "support.h"

typedef struct {
    int32_t n;
} Stamped;
typedef struct {
    int32_t n;
} Lot;
static const reef_hooks stamped_rows = {.track_rows = true};
REEF_COMPONENT_HOOKS(Stamped, &stamped_rows);
REEF_FIELDS(Stamped, n);
REEF_COMPONENT_IN(Lot, REEF_MULTI);
REEF_FIELDS(Lot, n);

/* Each allocation fails in turn, alone or with all that follow it, and the world must be unchanged, until nothing
 * fails. */
static void sweep_memory(void **state, reef_world *w, reef_status (*call)(reef_world *, const void *, size_t),
                         reef_bytes bytes)
{
    heap *h = heap_of(state);
    const uint64_t hash = reef_hash(w);
    reef_snapshot *before = reef_snapshot_take(w);
    for (uint64_t n = 1;; n++) {
        const uint64_t refused_before = h->refused;
        heap_fail_nth(h, n, n % 2);
        const reef_status s = call(w, bytes.data, bytes.size);
        const bool failed = h->refused != refused_before;
        heap_fail_never(h);
        if (s == REEF_OK && !failed) break;
        if (s == REEF_OK) { /* what failed was nothing that is needed */
            assert_ok(reef_restore(w, before));
            continue;
        }
        assert_status(REEF_NO_MEMORY, s);
        assert_valid(w);
        assert_true(reef_hash(w) == hash);
        assert_true(n < 5000);
    }
    assert_valid(w);
    reef_snapshot_free(before);
}

static reef_status load_call(reef_world *w, const void *data, size_t size)
{
    return reef_load_bytes(w, data, size, NULL);
}

static void without_memory_nothing_happens(void **state)
{
    reef_world *w = world_of(state), *target = another_world(state, NULL);
    zoo_steps(w, 21, 150);
    reef_world *before = reef_fork(w);
    zoo_steps(target, 3, 40);
    reef_bytes whole, difference = {NULL, 0};
    assert_ok(reef_save_bytes(w, &whole, NULL));
    zoo_steps(w, 8, 60);
    assert_ok(reef_diff_bytes(before, w, &difference, NULL));
    sweep_memory(state, target, load_call, whole);
    assert_true(reef_equal(before, target, NULL));
    reef_world_free(before);
    sweep_memory(state, target, reef_diff_apply, difference);
    assert_true(reef_equal(w, target, NULL));
    reef_bytes_free(&whole);
    reef_bytes_free(&difference);
}

static reef_bytes difference(reef_world *w, reef_world *after, bool sealed)
{
    reef_bytes bytes;
    assert_ok(reef_diff_bytes(w, after, &bytes, &(reef_save_desc){.sealed = sealed}));
    reef_world_free(after);
    return bytes;
}

/* The bits of some rows can be cleared, those of others not: then none of them ends. */
static void rows_end_once_where_memory_ends(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[10];
    for (int i = 0; i < 10; i++) e[i] = reef_spawn(w, reef_with(Tracked, .value = i));
    assert_ok(reef_disable(w, e[7], Tracked)); /* in its row, not the first of those that end */
    reef_world *fork = reef_fork(w);
    assert_int_equal(reef_destroy_many(fork, e, 6), 6);
    reef_bytes bytes = difference(w, fork, false);
    sweep_memory(state, w, reef_diff_apply, bytes);
    assert_int_equal(reef_count_alive(w), 4);
    assert_int_equal(book.live, 4);
    reef_bytes_free(&bytes);
}

static void a_difference_leaves_readers_of_removals_where_they_were(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[10], lost;
    for (int i = 0; i < 10; i++) e[i] = reef_spawn(w, reef_with(Stamped, i));
    const reef_removals r = reef_removals_new(w, reef_id(Stamped), true);
    Stamped value;
    assert_ok(reef_destroy(w, e[0]));
    reef_world *fork = reef_fork(w);
    assert_int_equal(reef_destroy_many(fork, e + 1, 6), 6);
    reef_bytes bytes = difference(w, fork, true);
    sweep_memory(state, w, reef_diff_apply, bytes);
    assert_int_equal(reef_count_alive(w), 3);
    /* as before a restore: of what it takes away nobody is told */
    assert_true(reef_removals_next(w, r, &lost, &value));
    assert_entity(e[0], lost);
    assert_int_equal(value.n, 0);
    assert_false(reef_removals_next(w, r, &lost, &value));
    assert_ok(reef_destroy(w, e[8]));
    assert_true(reef_removals_next(w, r, &lost, &value));
    assert_entity(e[8], lost);
    assert_int_equal(value.n, 8);
    assert_valid(w);
    reef_bytes_free(&bytes);
}

/* A hash needs memory. */
static void a_sealed_file_is_not_corrupt_where_memory_ends(void **state)
{
    reef_world *w = world_of(state);
    reef_bytes bytes;
    for (int i = 0; i < 10; i++) assert_ok(reef_disable(w, reef_spawn(w, reef_with(Tracked, .value = i)), Tracked));
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true}));
    sweep_memory(state, w, load_call, bytes);
    reef_bytes_free(&bytes);
}

/* The state after it has no index of an entity. */
static void several_values_may_become_none_at_all(void **state)
{
    reef_world *w = world_of(state), *fork = reef_fork(w);
    for (int i = 0; i < 3; i++)
        assert_non_null(reef_append_id(w, reef_create(w), reef_id(Lot), &(Lot){i}, sizeof(Lot)));
    reef_bytes bytes = difference(w, fork, false);
    sweep_memory(state, w, reef_diff_apply, bytes);
    assert_int_equal(reef_world_stats(w).indices, 0);
    reef_bytes_free(&bytes);
}

int main(void)
{
    static const reef_field value = {.name = "value", .kind = REEF_I32, .bytes = 4};
    if (reef_type_describe(reef_id(Tracked), &value, 1) < 0) return 1;
    const struct CMUnitTest tests[] = {
        TEST(without_memory_nothing_happens),
        TEST(rows_end_once_where_memory_ends),
        TEST(a_difference_leaves_readers_of_removals_where_they_were),
        TEST(a_sealed_file_is_not_corrupt_where_memory_ends),
        TEST(several_values_may_become_none_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
