/* What loops remember of rows with values outside of them: whatever happens in between, they visit what a loop that
 * remembers nothing does. */
#include "support.h"

typedef struct Spark {
    uint32_t n;
} Spark;
typedef struct Ember {
    uint32_t n;
} Ember;
REEF_COMPONENT_IN(Spark, REEF_SPARSE);
REEF_COMPONENT_IN(Ember, REEF_SPARSE);
REEF_TAG(Odd);
typedef struct Marked {
    uint32_t n;
} Marked;
static const reef_hooks marked_hooks = {.track_rows = true};
REEF_COMPONENT_IN_HOOKS(Marked, REEF_SPARSE, &marked_hooks);

enum { N = 2600, ROUNDS = 40, BLOCKS_MAX = 2 * N };

typedef struct visit {
    const reef_entity *entities;
    const Position *position;
    const Spark *spark;
    uint32_t count;
} visit;

static visit wanted[BLOCKS_MAX];
static reef_entity all[N], then[N];

static visit visit_of(const reef_block *b)
{
    return (visit){b->entities, reef_in(b, Position), reef_in(b, Spark), b->count};
}

static bool visit_is(const visit *x, const reef_block *b)
{
    return x->entities == b->entities && x->position == reef_in(b, Position) && x->spark == reef_in(b, Spark) &&
           x->count == b->count;
}

/* A loop that skips or counts rows looks at them all. */
static uint32_t wanted_find(reef_world *w, reef_query q)
{
    uint32_t n = 0;
    for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.limit = N}); reef_next(&b); n++) {
        assert_true(n < BLOCKS_MAX);
        wanted[n] = visit_of(&b);
        for (uint32_t i = 0; i < b.count; i++) {
            assert_true(&wanted[n].spark[i] == reef_get(w, b.entities[i], Spark));
            assert_true(&wanted[n].position[i] == reef_get(w, b.entities[i], Position));
        }
    }
    return n;
}

/* The same rows one by one; a walk that is left is left. */
static void rows_check(reef_world *w, reef_query q, uint32_t n, uint32_t leave)
{
    uint32_t k = 0, i = 0, rows = 0;
    reef_each(w, q, row)
    {
        assert_true(k < n && reef_entity_equal(row.entity, wanted[k].entities[i]));
        assert_true(reef_in_at(row, Position) == &wanted[k].position[i] &&
                    reef_in_at(row, Spark) == &wanted[k].spark[i]);
        assert_true(reef_entity_equal(row.block.entities[row.i], row.entity) &&
                    (const Spark *)reef_in(&row.block, Spark) + row.i == &wanted[k].spark[i]);
        const uint64_t *mask = reef_block_mask(&row.block);
        assert_true(row.i < row.block.count && (mask == NULL || mask[row.i / 64] >> (row.i % 64) & 1));
        if (++i == wanted[k].count) i = 0, k++;
        if (rows++ == leave) break;
    }
    assert_true((k == n && i == 0) || rows == leave + 1);
    assert_ok(reef_last_error(w).status);
}

static void loop_check(reef_world *w, reef_query q, uint32_t n)
{
    uint32_t k = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b); k++) assert_true(k < n && visit_is(&wanted[k], &b));
    assert_int_equal(k, n);
    rows_check(w, q, n, UINT32_MAX);
}

/* One loop inside of another, and several parts. */
static void loops_check(reef_world *w, reef_query q)
{
    const uint32_t n = wanted_find(w, q);
    uint32_t k = 0;
    rows_check(w, q, n, n / 3);
    for (reef_block b = reef_begin(w, q); reef_next(&b); k++) {
        if (k % 400 == 0) loop_check(w, q, n);
        assert_true(k < n && visit_is(&wanted[k], &b));
    }
    assert_int_equal(k, n);
    loop_check(w, q, n);
    reef_slices *s = reef_slices_begin(w, q, NULL, 3);
    assert_non_null(s);
    k = 0;
    for (uint32_t part = 0; part < 3; part++)
        for (reef_block b = reef_slice(s, part); reef_next(&b); k++) assert_true(k < n && visit_is(&wanted[k], &b));
    reef_slices_end(s);
    assert_int_equal(k, n);
}

static void one_changes(reef_world *w, uint32_t kind, uint32_t i)
{
    const reef_entity e = all[i];
    if (kind == 0) {
        assert_true(reef_set(w, e, Spark, i) >= 0);
    } else if (kind == 1) {
        if (reef_has(w, e, Spark)) assert_ok(reef_remove(w, e, Spark));
    } else if (kind == 2) {
        assert_ok(reef_destroy(w, e));
        all[i] = reef_spawn(w, reef_with(Position, 0, 0));
    } else if (kind == 3) {
        assert_ok(reef_has(w, e, Odd) ? reef_remove(w, e, Odd) : reef_add(w, e, Odd));
    } else {
        assert_true(reef_set(w, e, Ember, i) >= 0);
    }
}

/* A few changes here and there, or a stretch that gets or loses its values. */
static void some_change(reef_world *w, uint64_t *seed)
{
    if (random_below(seed, 8) == 0) {
        const uint32_t first = random_below(seed, N - 400), kind = random_below(seed, 2);
        for (uint32_t i = first; i < first + 400; i++) one_changes(w, kind, i);
    }
    for (uint32_t k = random_below(seed, 12); k > 0; k--) one_changes(w, random_below(seed, 5), random_below(seed, N));
}

static void glow(reef_block *b)
{
    Position *p = reef_inout(b, Position);
    const Spark *s = reef_in(b, Spark);
    for (uint32_t i = 0; i < b->count; i++) p[i].x += (float)s[i].n;
}
static void grow(reef_block *b)
{
    Spark *s = reef_inout(b, Spark);
    for (uint32_t i = 0; i < b->count; i++) s[i].n++;
}

/* Two systems, the second of which writes the values that lie outside, and a loop that does. */
static void tick_check(reef_world *w, reef_query writes)
{
    static float x[N];
    static uint32_t n[N];
    for (uint32_t i = 0; i < N; i++) {
        x[i] = reef_get(w, all[i], Position)->x;
        n[i] = reef_has(w, all[i], Spark) ? reef_get(w, all[i], Spark)->n : 0;
    }
    assert_ok(reef_tick(w, 1));
    for (reef_block b = reef_begin(w, writes); reef_next(&b);) grow(&b);
    for (uint32_t i = 0; i < N; i++) {
        assert_true(reef_get(w, all[i], Position)->x == x[i] + (float)n[i]);
        if (reef_has(w, all[i], Spark)) assert_int_equal(reef_get(w, all[i], Spark)->n, n[i] + 2);
    }
}

/* The world goes over to the state of a fork, which ends. */
static void goes_over(reef_world *w, reef_world *f, reef_query q)
{
    reef_snapshot *s = reef_snapshot_take(f);
    assert_non_null(s);
    assert_ok(reef_restore(w, s));
    reef_snapshot_free(s);
    reef_world_free(f);
    loops_check(w, q);
}

/* The world and a fork of it change at the same time; then it goes over to the fork's state, whose versions are
 * those of its own. */
static void history_other(reef_world *w, reef_query q, uint64_t *seed)
{
    static reef_entity now[N];
    reef_world *f = reef_fork(w);
    assert_non_null(f);
    memcpy(now, all, sizeof now);
    for (uint32_t k = 0; k < 3; k++) some_change(w, seed);
    loops_check(w, q);
    memcpy(all, now, sizeof all);
    for (uint32_t k = 0; k < 3; k++) some_change(f, seed);
    goes_over(w, f, q);
}

static void C3_F1_what_is_remembered_is_what_would_be_found(void **state)
{
    reef_world *w = world_of(state);
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = 2});
    assert_ok(reef_set_pool(w, p));
    for (uint32_t i = 0; i < N; i++) {
        all[i] = reef_spawn(w, reef_with(Position, 0, 0));
        if (i % 19 == 3 || (i > 2000 && i < 2200)) assert_true(reef_set(w, all[i], Spark, i) >= 0);
    }
    const reef_query reads = reef_query_new(w, "in Position, in Spark"), both = reef_query_new(w, "Position, in Spark");
    const reef_query writes = reef_query_new(w, "Spark, in Position");
    assert_query(reads);
    assert_query(both);
    assert_query(writes);
    assert_false(reef_system_is_null(reef_system(w, glow, "Position, in Spark")));
    assert_false(reef_system_is_null(reef_system(w, grow, "Spark, in Position")));
    reef_snapshot *s = NULL;
    uint64_t seed = 4711;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (round % 3) some_change(w, &seed);
        loops_check(w, reads);
        if (round % 8 == 1) {
            reef_snapshot_free(s);
            assert_non_null(s = reef_snapshot_take(w));
            memcpy(then, all, sizeof all);
        }
        tick_check(w, writes);
        if (round % 16 == 6) {
            assert_ok(reef_restore(w, s));
            memcpy(all, then, sizeof all);
            loops_check(w, reads);
        }
        if (round % 4 == 2) history_other(w, reads, &seed);
        loops_check(w, both);
    }
    reef_snapshot_free(s);
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(p);
}

/* Loops that only read make no new version: what changes between them is told from what was there all the same. */
static void changes_between_loops_that_read(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 100; i++) all[i] = reef_spawn(w, reef_with(Position, 0, 0));
    const reef_query q = reef_query_new(w, "in Position, in Spark");
    assert_query(q);
    for (uint32_t i = 0; i < 60; i++) {
        assert_true(reef_set(w, all[i * 7 % 100], Spark, i) >= 0);
        if (i % 3 == 2) assert_ok(reef_remove(w, all[(i - 1) * 7 % 100], Spark));
        loop_check(w, q, wanted_find(w, q));
    }
}

/* A loop looks for the rows of the next chunk ahead; it is left, and then they are others. */
static void rows_that_were_looked_for_too_early(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < N; i++) {
        all[i] = reef_spawn(w, reef_with(Position, 0, 0));
        if (i % 100 == 3) assert_true(reef_set(w, all[i], Spark, i) > 0);
    }
    for (uint32_t kind = 0; kind < 3; kind++) {
        const reef_query q = reef_query_new(w, "Position, in Spark");
        assert_query(q);
        reef_each(w, q, row) break;
        for (uint32_t i = 1024; i < 2048; i += 50) one_changes(w, reef_has(w, all[i], Spark), i);
        const uint32_t n = wanted_find(w, q);
        if (kind == 1) {
            reef_slices *s = reef_slices_begin(w, q, NULL, 1);
            assert_non_null(s);
            for (reef_block b = reef_slice(s, 0); reef_next(&b);) {}
            reef_slices_end(s);
        }
        if (kind == 2) rows_check(w, q, n, UINT32_MAX);
        loop_check(w, q, n);
    }
}

static void rows_of_which_some_lack_a_column(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 300; i++) {
        all[i] = reef_spawn(w, reef_with(Position, 0, 0));
        if (i % 7 == 3) assert_true(reef_set(w, all[i], Spark, i) > 0);
        if (i % 2) assert_true(reef_set(w, all[i], Mass, (float)i) > 0);
    }
    const reef_query q = reef_query_new(w, "in Spark, ?in Mass");
    assert_query(q);
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t rows = 0;
        reef_each(w, q, row)
        {
            assert_true(reef_in_at(row, Mass) == reef_get(w, row.entity, Mass) &&
                        reef_in_at(row, Spark) == reef_get(w, row.entity, Spark));
            rows++;
        }
        assert_int_equal(rows, 43);
        if (round == 1) assert_true(reef_set(w, all[3], Mass, 1) >= 0);
    }
}

/* Of a chunk with more than 256 rows nothing is remembered. */
static void as_many_rows_as_are_remembered(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 1024; i++) all[i] = reef_spawn(w, reef_with(Position, 0, 0));
    for (uint32_t i = 0; i < 255; i++) assert_true(reef_set(w, all[i * 4], Spark, i) > 0);
    const reef_query q = reef_query_new(w, "in Position, in Spark");
    assert_query(q);
    for (uint32_t i = 255; i < 259; i++) {
        assert_true(reef_set(w, all[i * 4 % 1023], Spark, i) >= 0); /* rows 1020, 1, 5 and 9 */
        assert_int_equal(wanted_find(w, q), i + 1);
        loops_check(w, q);
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(reef_remove(w, all[i * 40], Spark));
        loops_check(w, q);
    }
}

/* Two worlds give one more the value, at the same version of theirs and in the same slot: then one takes over the
 * other's state. */
static void C3_F1_two_histories_with_the_same_versions(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < 100; i++) {
        all[i] = reef_spawn(w, reef_with(Position, 0, 0));
        if (i % 9 == 0) assert_true(reef_set(w, all[i], Spark, i) >= 0);
    }
    const reef_query q = reef_query_new(w, "in Position, in Spark");
    assert_query(q);
    for (uint32_t k = 0; k < 8; k++) {
        loops_check(w, q);
        reef_world *f = reef_fork(w);
        assert_non_null(f);
        for (uint32_t i = 0; i < k / 2; i++) (void)reef_hash(k % 2 ? w : f); /* each makes a new version */
        assert_true(reef_set(w, all[k * 9 + 1], Spark, 1) > 0);
        assert_true(reef_set(f, all[k * 9 + 2], Spark, 2) > 0);
        loops_check(w, q);
        goes_over(w, f, q);
    }
}

/* What a walk row by row writes is the world's alone, chunk by chunk. */
static void F1_E1_rows_that_are_written_beside_a_fork(void **state)
{
    reef_world *w = world_of(state);
    for (uint32_t i = 0; i < N; i++) {
        all[i] = reef_spawn(w, reef_with(Position, 0, 0));
        if (i % 7 == 0) assert_int_equal(reef_set(w, all[i], Spark, i), REEF_ADDED);
    }
    const reef_query q = reef_query_new(w, "Position, in Spark");
    assert_query(q);
    for (uint32_t round = 1; round <= 4; round++) {
        reef_world *f = round > 2 ? reef_fork(w) : NULL;
        reef_each(w, q, row) reef_inout_at(row, Position)->x += (float)reef_in_at(row, Spark)->n;
        for (uint32_t i = 0; i < N; i += 7) {
            assert_true(reef_get(w, all[i], Position)->x == (float)(i * round));
            if (f) assert_true(reef_get(f, all[i], Position)->x == (float)(i * (round - 1)));
        }
        reef_world_free(f);
    }
    assert_ok(reef_query_free(w, q));
}

/* Nothing is allocated by a loop that remembers all, and hardly anything after a change; without memory it goes
 * without. */
static void G5_F1_memory_to_remember_may_be_short(void **state)
{
    reef_world *w = world_of(state);
    heap *h = heap_of(state);
    for (uint32_t i = 0; i < N; i++) {
        all[i] = reef_spawn(w, reef_with(Position, 0, 0));
        if (i % 50 == 3) assert_true(reef_set(w, all[i], Spark, i) >= 0);
    }
    const reef_query q = reef_query_new(w, "Position, in Spark");
    assert_query(q);
    const uint32_t n = wanted_find(w, q);
    const uint64_t bytes = h->bytes;
    heap_fail_nth(h, 1, true);
    loop_check(w, q, n);
    assert_true(h->refused > 0 && h->bytes == bytes);
    assert_ok(reef_last_error(w).status);
    for (uint64_t k = 1; k < 4; k++) { /* one list after the other finds no room */
        heap_fail_nth(h, k, true);
        loop_check(w, q, n);
        assert_ok(reef_last_error(w).status);
    }
    heap_fail_never(h);
    loop_check(w, q, n);
    loop_check(w, q, n);
    assert_true(h->bytes > bytes && h->bytes - bytes < 64 * 1024);
    const uint64_t calls = h->calls;
    loop_check(w, q, n);
    assert_true(h->calls == calls);
    assert_ok(reef_query_free(w, q));
}

/* Rows that a loop may write are stamped, and a loop that asks for what changed sees these alone, however often it
 * ran. */
static void stamps_and_changes_of_values_outside_of_rows(void **state)
{
    reef_world *w = world_of(state);
    reef_entity e[64];
    for (uint32_t i = 0; i < 64; i++) {
        e[i] = reef_spawn(w, reef_with(Position, 0, 0));
        if (i % 2) reef_set(w, e[i], Marked, i);
    }
    const reef_query writes = reef_query_new(w, "Position, Marked"),
                     asks = reef_query_new(w, "Position, in changed Marked");
    for (uint32_t round = 0; round < 5; round++) {
        uint64_t since = reef_version(w);
        for (reef_block b = reef_begin(w, writes); reef_next(&b);) reef_inout(&b, Marked)->n++;
        for (uint32_t i = 0; i < 64; i++) assert_int_equal(reef_changed_since(w, e[i], Marked, since), i % 2);
        uint32_t rows = 0;
        for (reef_block b = reef_begin(w, asks); reef_next(&b);) rows += b.count;
        assert_int_equal(rows, 32);
        assert_true(reef_mut(w, e[2 * round + 1], Marked) != NULL);
        rows = 0;
        for (reef_block b = reef_begin(w, asks); reef_next(&b); rows += b.count)
            assert_true(b.count == 1 && reef_entity_equal(b.entities[0], e[2 * round + 1]));
        assert_int_equal(rows, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(C3_F1_what_is_remembered_is_what_would_be_found),
        TEST(changes_between_loops_that_read),
        TEST(rows_that_were_looked_for_too_early),
        TEST(rows_of_which_some_lack_a_column),
        TEST(as_many_rows_as_are_remembered),
        TEST(C3_F1_two_histories_with_the_same_versions),
        TEST(F1_E1_rows_that_are_written_beside_a_fork),
        TEST(G5_F1_memory_to_remember_may_be_short),
        TEST(stamps_and_changes_of_values_outside_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
