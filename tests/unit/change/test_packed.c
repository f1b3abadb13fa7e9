/* Entities that commands make in runs (D3, D4, G5): put into rows by all threads of a pool, with one state whatever
 * their number; of runs with an entity that doesn't come; where memory ends; in memory that commands lay in. */
#include "storage/entity_index.h"
#include "storage/world_data.h"
#include "support.h"
#include "storage/table.h"

enum { MOTHERS = 2048, CHILDREN = 4, TICKS = 3, MANY = 6000 };

/* ---- systems ---- */

static void bear(reef_block *b)
{
    const Health *h = reef_in(b, Health);
    for (uint32_t i = 0; i < b->count; i++) {
        for (int k = h[i].now * CHILDREN, end = k + CHILDREN; k < end; k++) {
            if (k % 1000 == 999) reef_cmd_spawn(b, reef_with(Mass, (double)k), reef_tag(Frozen));
            reef_cmd_spawn(b, reef_with(Position, (float)k, 1), reef_default(Velocity), reef_with(Mass, (double)k));
        }
    }
}

static void cull(reef_block *b)
{
    const Mass *m = reef_in(b, Mass);
    for (uint32_t i = 0; i < b->count; i++)
        if ((int)m[i].kg % 3 == 0) reef_cmd_destroy(b, b->entities[i]);
}

/* The state after each tick. */
static void live(void **setup, reef_pool *p, uint64_t *hash)
{
    reef_world *w = another_world(setup, NULL);
    assert_ok(reef_set_pool(w, p));
    for (int i = 0; i < MOTHERS; i++) assert_some(reef_spawn(w, reef_with(Health, i, 0)));
    assert_false(reef_system_is_null(reef_system(w, bear, "in Health; spawns Position Velocity Mass Frozen")));
    const reef_system_desc last = {.name = "cull", .function = cull, .text = "in Mass; destroys", .phase = "end"};
    assert_false(reef_system_is_null(reef_system_new(w, &last)));
    for (int tick = 0; tick < TICKS; tick++) {
        assert_ok(reef_tick(w, 0));
        assert_ok(reef_last_error(w).status);
        hash[tick] = reef_hash(w);
    }
    assert_int_equal(reef_count(w, Position), TICKS * MOTHERS * CHILDREN - TICKS * ((MOTHERS * CHILDREN + 2) / 3));
    assert_valid(w);
    assert_ok(reef_set_pool(w, NULL));
    end_world(setup, w);
}

static void entities_of_commands_are_the_same_on_any_number_of_threads(void **setup)
{
    uint64_t wanted[TICKS], hash[TICKS];
    live(setup, NULL, wanted);
    for (uint32_t threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
        reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = threads, .shuffle = threads});
        if (p == NULL) continue; /* built without threads */
        live(setup, p, hash);
        for (int tick = 0; tick < TICKS; tick++) assert_int_equal(hash[tick], wanted[tick]);
        reef_pool_free(p);
    }
}

/* ---- recorded by a loop ---- */

static reef_block loop_open(reef_world *w)
{
    if (reef_count(w, Health) == 0) assert_some(reef_spawn(w, reef_with(Health, 0, 0)));
    reef_query q = reef_query_new(w, "in Health");
    reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true});
    assert_true(reef_next(&b));
    return b;
}

static void record(reef_world *w, reef_entity *made)
{
    for (int i = 0; i < MANY; i++) {
        made[i] = reef_spawn(w, reef_with(Position, (float)i, 0), reef_with(Mass, (double)i));
        assert_some(made[i]);
    }
}

static void check_one(const reef_world *w, reef_entity e, int i)
{
    assert_true(reef_is_alive(w, e));
    assert_true(reef_get(w, e, Position)->x == (float)i);
    assert_true(reef_get(w, e, Mass)->kg == (double)i);
}

static void entities_behind_one_that_does_not_come_are_made(void **setup)
{
    static const int gone[] = {0, 700, 701, 4999, MANY - 1};
    enum { GONE = sizeof gone / sizeof *gone };
    reef_world *w = world_of(setup);
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = 2});
    reef_entity *made = malloc(MANY * sizeof *made);
    assert_non_null(made);
    assert_ok(reef_set_pool(w, p));
    reef_block b = loop_open(w);
    record(w, made);
    for (int k = 0; k < GONE; k++) assert_true(reef__id_unpend(w, made[gone[k]]));
    assert_false(reef_next(&b));
    assert_int_equal(reef_count(w, Position), MANY - GONE);
    assert_int_equal(reef_last_error(w).status, REEF_NOT_ALIVE);
    for (int i = 0, k = 0; i < MANY; i++) {
        if (k < GONE && i == gone[k]) k++, assert_false(reef_is_alive(w, made[i]));
        else check_one(w, made[i], i);
    }
    assert_valid(w);
    assert_ok(reef_set_pool(w, NULL));
    reef_pool_free(p);
    free(made);
}

/* A fork that shares the records: they are made the world's own. */
static void entities_of_commands_leave_a_fork_alone(void **setup)
{
    reef_world *w = world_of(setup);
    reef_entity *made = malloc(MANY * sizeof *made);
    assert_non_null(made);
    assert_ok(reef_spawn_many(w, 100, NULL, reef_with(Position, -1, 0), reef_with(Mass, -1)));
    reef_block b = loop_open(w);
    reef_end(&b);
    reef_world *fork = reef_fork(w);
    const uint64_t before = digest(fork);
    b = loop_open(w);
    record(w, made);
    assert_false(reef_next(&b));
    for (int i = 0; i < MANY; i++) check_one(w, made[i], i);
    assert_int_equal(digest(fork), before);
    assert_valid(fork);
    reef_world_free(fork);
    free(made);
}

/* What was made stays; what wasn't is made later, with the same ids in the same rows. */
static void entities_for_which_memory_ends_are_made_later(void **setup)
{
    uint64_t whole = 0, refused = 1;
    reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = 2});
    reef_entity *made = malloc(MANY * sizeof *made);
    assert_non_null(made);
    for (uint64_t n = 0; refused; n++) {
        reef_world *w = another_world(setup, NULL);
        heap *h = heap_of(setup);
        assert_ok(reef_set_pool(w, p));
        reef_block b = loop_open(w);
        record(w, made);
        if (n) heap_fail_nth(h, n, true);
        assert_false(reef_next(&b));
        refused = n ? h->refused : 1;
        heap_fail_never(h);
        h->refused = 0;
        assert_valid(w);
        if (reef_count(w, Position) < MANY) assert_int_equal(reef_last_error(w).status, REEF_NO_MEMORY);
        assert_ok(reef_flush(w));
        for (int i = 0; i < MANY; i++) check_one(w, made[i], i);
        assert_valid(w);
        if (n == 0) whole = reef_hash(w);
        else assert_int_equal(reef_hash(w), whole);
        assert_ok(reef_set_pool(w, NULL));
        end_world(setup, w);
    }
    reef_pool_free(p);
    free(made);
}

/* Rows lie in memory that commands had; all of it can be given back. */
static void memory_of_commands_that_became_that_of_rows_is_given_back(void **setup)
{
    reef_world *w = another_world(setup, NULL);
    heap *h = heap_of(setup);
    reef_entity *made = malloc(MANY * sizeof *made);
    assert_non_null(made);
    reef_block b = loop_open(w);
    reef_end(&b);
    assert_ok(reef_shrink(w));
    const uint64_t before = h->bytes;
    for (int round = 0; round < 3; round++) {
        b = loop_open(w);
        record(w, made);
        assert_false(reef_next(&b));
        for (int i = 0; i < MANY; i++) check_one(w, made[i], i);
    }
    const uint64_t full = h->bytes;
    reef_query q = reef_query_new(w, "with Position");
    assert_ok(reef_destroy_where(w, q, NULL));
    assert_ok(reef_query_free(w, q));
    assert_ok(reef_shrink(w));
    assert_valid(w);
    assert_true(h->bytes - before < (full - before) / 2); /* records and free ids stay */
    end_world(setup, w);
    free(made);
}

/* What will be touched ahead is noted, of runs that are long enough; once. */
static void memory_that_is_used_for_the_first_time_is_known(void **setup)
{
    enum { BLOCKS = 200, BYTES = 16384, SHORT = 32 };
    memory *m = &world_of(setup)->family->memory;
    memory_fresh fresh, other;
    char *block[BLOCKS];
    for (int round = 0; round < 2; round++) {
        reef__memory_fresh_begin(m, &fresh);
        reef__memory_fresh_begin(m, &other);
        for (int i = 0; i < BLOCKS; i++)
            assert_non_null(block[i] = reef__memory_block(m, MEMORY_OTHER, ARENA_COLUMNS, BYTES, 64));
        reef__memory_fresh_end(m, &other);
        reef__memory_fresh_end(m, &fresh);
        assert_null(m->fresh);
        assert_int_equal(other.count, 0);
        /* the second time they are those that were freed */
        assert_true(fresh.count < MEMORY_PARTS && (fresh.count == 0) == (round == 1));
        for (int i = SHORT; i < BLOCKS && fresh.count; i++) {
            uint32_t in = 0;
            for (uint32_t k = 0; k < fresh.count; k++) {
                const memory_part *p = &fresh.part[k];
                in += block[i] >= p->from && block[i] < p->from + p->bytes;
                in += block[i] + BYTES > p->from && block[i] + BYTES <= p->from + p->bytes;
            }
            assert_int_equal(in, 2);
        }
        memset(block[0], 7, BYTES);
        reef__memory_touch(block[0], BYTES);
        for (uint32_t k = 0; k < fresh.count; k++) reef__memory_touch(fresh.part[k].from, fresh.part[k].bytes);
        for (int i = 0; i < BYTES; i++) assert_int_equal(block[0][i], 7);
        for (int i = 0; i < BLOCKS; i++) reef__memory_block_free(m, MEMORY_OTHER, ARENA_COLUMNS, block[i], BYTES, 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(entities_of_commands_are_the_same_on_any_number_of_threads),
        TEST(entities_behind_one_that_does_not_come_are_made),
        TEST(entities_of_commands_leave_a_fork_alone),
        TEST(entities_for_which_memory_ends_are_made_later),
        TEST(memory_of_commands_that_became_that_of_rows_is_given_back),
        TEST(memory_that_is_used_for_the_first_time_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
