/* Random numbers: known answers, what they depend on and what not, ranges and floats. */
#include "storage/world_data.h"
#include "storage/state.h" /* before cmocka, which has a macro of the name fail */
#include "support.h"

/* ---- the generator ---- */

static void assert_philox(const uint32_t counter[4], const uint32_t key[2], const uint32_t wanted[4])
{
    reef_random r = {.left = 0};
    memcpy(r.counter, counter, sizeof r.counter);
    memcpy(r.key, key, sizeof r.key);
    for (int i = 0; i < 4; i++) assert_int_equal(reef_random_u32(&r), wanted[i]);
    assert_int_equal(r.counter[0], counter[0] + 1);
}

/* Of the paper's own test vectors for philox4x32 with 10 rounds: zeroes, ones, digits of pi. */
static void philox_gives_the_known_answers(void **test)
{
    (void)test;
    assert_philox((uint32_t[4]){0, 0, 0, 0}, (uint32_t[2]){0, 0},
                  (uint32_t[4]){0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
    assert_philox((uint32_t[4]){0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, (uint32_t[2]){0xFFFFFFFF, 0xFFFFFFFF},
                  (uint32_t[4]){0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD});
    assert_philox((uint32_t[4]){0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, (uint32_t[2]){0xA4093822, 0x299F31D0},
                  (uint32_t[4]){0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1});
}

static void numbers_of_64_bits_are_two_of_32(void **test)
{
    reef_random a = reef_random_of(world_of(test), 1, (reef_entity){2, 3}), b = a;
    for (int i = 0; i < 10; i++) {
        const uint64_t low = reef_random_u32(&b), high = reef_random_u32(&b);
        assert_true(reef_random_u64(&a) == (high << 32 | low));
    }
}

/* ---- what they depend on ---- */

static uint64_t first_of(const reef_world *w, uint64_t stream, reef_entity e)
{
    reef_random r = reef_random_of(w, stream, e);
    return reef_random_u64(&r);
}

static void numbers_depend_on_seed_tick_step_stream_and_entity_alone(void **test)
{
    reef_world *w = another_world(test, &(reef_world_config){.seed = 5});
    const reef_entity e = {7, 1};
    uint64_t seen[12];
    uint32_t n = 0;
    seen[n++] = first_of(w, 0, e);
    assert_true(first_of(w, 0, e) == seen[0]);
    assert_some(reef_spawn(w, reef_with(Mass, 1))); /* what else is in the world doesn't count */
    assert_true(first_of(w, 0, e) == seen[0]);
    seen[n++] = first_of(w, 1, e);
    seen[n++] = first_of(w, (uint64_t)1 << 32, e);
    seen[n++] = first_of(w, 0, (reef_entity){7, 2});
    seen[n++] = first_of(w, 0, (reef_entity){8, 1});
    seen[n++] = first_of(w, 0, (reef_entity){0, 0});
    assert_ok(reef_set_seed(w, 6));
    seen[n++] = first_of(w, 0, e);
    assert_ok(reef_set_seed(w, 5 + ((uint64_t)1 << 32)));
    seen[n++] = first_of(w, 0, e);
    assert_ok(reef_set_seed(w, 5));
    w->state.ticks = 1;
    seen[n++] = first_of(w, 0, e);
    w->state.ticks = (uint64_t)1 << 32;
    seen[n++] = first_of(w, 0, e);
    w->state.ticks = 0;
    w->step = 1;
    seen[n++] = first_of(w, 0, e);
    w->step = 0;
    assert_true(first_of(w, 0, e) == seen[0]);
    seen[n++] = first_of(NULL, 0, e);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++) assert_true(seen[i] != seen[k]);
    assert_true(first_of(world_of(test), 0, e) == first_of(NULL, 0, e));
}

/* The same on every machine. Computed a second time by a few lines of Python. */
static void numbers_are_the_same_everywhere(void **test)
{
    reef_world *w = another_world(test, &(reef_world_config){.seed = 1234567});
    w->state.ticks = 89;
    reef_random r = reef_random_of(w, 10, (reef_entity){11, 12});
    assert_int_equal(reef_random_u32(&r), 0x2587765F);
    assert_true(reef_random_u64(&r) == 0x2F1508A24DBD02B8);
    assert_float_equal(reef_random_float(&r), 13722613 / 16777216.0, 0);
    assert_int_equal(reef_random_range(&r, -1000, 1000), 858);
}

static void outside_of_systems_a_block_has_stream_0(void **test)
{
    reef_world *w = world_of(test);
    const reef_entity e = reef_spawn(w, reef_with(Mass, 1));
    reef_query q = reef_query_new(w, "in Mass");
    reef_block b = reef_begin(w, q);
    assert_true(reef_next(&b));
    reef_random r = reef_random_for(&b, e), null = reef_random_for(NULL, e);
    assert_true(reef_random_u64(&r) == first_of(w, 0, e));
    assert_true(reef_random_u64(&null) == first_of(NULL, 0, e));
    reef_end(&b);
}

/* ---- the seed ---- */

static void the_seed_is_state(void **test)
{
    reef_world *w = another_world(test, &(reef_world_config){.seed = 1}), *other = another_world(test, NULL);
    assert_int_equal(reef_seed(w), 1);
    assert_int_equal(reef_seed(other), 0);
    assert_int_equal(reef_seed(NULL), 0);
    assert_int_not_equal(reef_hash(w), reef_hash(other));
    assert_false(reef_equal(w, other, NULL));
    const uint64_t before = reef_hash(w);
    reef_snapshot *s = reef_snapshot_take(w);
    reef_world *fork = reef_fork(w);
    assert_ok(reef_set_seed(w, 2));
    assert_int_not_equal(reef_hash(w), before);
    assert_int_equal(reef_hash(w), hash_anew(w));
    assert_int_equal(reef_seed(fork), 1);
    assert_ok(reef_restore(w, s));
    assert_int_equal(reef_seed(w), 1);
    assert_int_equal(reef_hash(w), before);
    assert_int_equal(reef_set_seed(NULL, 1), REEF_BAD_ARGUMENT);
    reef_world_free(fork);
    reef_snapshot_free(s);
}

/* ---- ranges and floats ---- */

static void floats_are_below_1_and_of_24_bits(void **test)
{
    reef_random r = {.left = 4, .block = {0, 0xFFFFFFFF, 0x100, 0xFF}};
    (void)test;
    assert_float_equal(reef_random_float(&r), 0, 0);
    assert_float_equal(reef_random_float(&r), 16777215.0 / 16777216.0, 0);
    assert_float_equal(reef_random_float(&r), 1.0 / 16777216.0, 0);
    assert_float_equal(reef_random_float(&r), 0, 0);
    uint32_t tenth[10] = {0};
    for (int i = 0; i < 100000; i++) tenth[(int)(reef_random_float(&r) * 10)]++;
    for (int i = 0; i < 10; i++) assert_in_range(tenth[i], 9600, 10400); /* 10,000 +- 4 standard deviations */
}

static void ranges_include_both_ends(void **test)
{
    reef_random r = reef_random_of(world_of(test), 0, (reef_entity){1, 1});
    const reef_random before = r;
    assert_int_equal(reef_random_range(&r, 5, 5), 5);
    assert_int_equal(reef_random_range(&r, 5, 4), 5);
    assert_int_equal(reef_random_range(&r, INT64_MAX, INT64_MIN), INT64_MAX);
    assert_memory_equal(&r, &before, sizeof r);
    for (int64_t i = 0; i < 1000; i++) assert_in_range(reef_random_range(&r, 0, i), 0, i);
    bool low = false, high = false;
    for (int i = 0; i < 200; i++) {
        const int64_t x = reef_random_range(&r, INT64_MIN, INT64_MAX);
        low |= x < INT64_MIN / 2;
        high |= x > INT64_MAX / 2;
        assert_true(reef_random_range(&r, INT64_MAX - 1, INT64_MAX) >= INT64_MAX - 1);
        assert_true(reef_random_range(&r, INT64_MIN, INT64_MIN + 1) <= INT64_MIN + 1);
        const int64_t y = reef_random_range(&r, -1, (int64_t)UINT32_MAX); /* the least span beyond 32 bits */
        assert_true(y >= -1 && y <= (int64_t)UINT32_MAX);
    }
    assert_true(low && high);
}

static void ranges_have_no_bias(void **test)
{
    reef_random r = reef_random_of(world_of(test), 0, (reef_entity){1, 1});
    uint32_t count[6] = {0};
    for (int i = 0; i < 60000; i++) count[reef_random_range(&r, -2, 3) + 2]++;
    for (int i = 0; i < 6; i++) assert_in_range(count[i], 9635, 10365); /* 10,000 +- 4 standard deviations */
    /* Three quarters of 2^32: drawn modulo the span, the lower third would come twice as often as each of the
     * others. */
    uint32_t lower = 0;
    for (int i = 0; i < 60000; i++) lower += reef_random_range(&r, 0, (int64_t)3 << 30) < (int64_t)1 << 30;
    assert_in_range(lower, 19538, 20462); /* 20,000 +- 4 standard deviations */
}

/* ---- in systems ---- */

static void add_noise(reef_block *b)
{
    Mass *m = reef_inout(b, Mass);
    for (uint32_t i = 0; i < b->count; i++) {
        reef_random r = reef_random_for(b, b->entities[i]);
        m[i].kg += (double)reef_random_float(&r) + (double)reef_random_range(&r, 1, 6);
    }
}
static void add_other_noise(reef_block *b) { add_noise(b); }

static reef_world *noisy(void **test, reef_pool *pool)
{
    reef_world *w = another_world(test, &(reef_world_config){.seed = 77});
    assert_ok(reef_set_pool(w, pool));
    reef_watch_systems(w, false); /* threads are tested */
    assert_ok(reef_spawn_many(w, 3000, NULL, reef_with(Mass, 0)));
    assert_ok(reef_spawn_many(w, 3000, NULL, reef_with(Mass, 0), reef_tag(Frozen)));
    assert_false(reef_system_is_null(reef_system(w, add_noise, "Mass, !Frozen")));
    assert_false(reef_system_is_null(reef_system(w, add_other_noise, "Mass, with Frozen")));
    return w;
}

static void numbers_are_the_same_on_any_number_of_threads(void **test)
{
    uint64_t hash[5] = {0};
    for (uint32_t threads = 1; threads <= 16; threads *= 4) {
        reef_pool *p = reef_pool_new(&(reef_pool_config){.threads = threads});
        assert_non_null(p);
        reef_world *w = noisy(test, p);
        for (int tick = 0; tick < 5; tick++) {
            assert_ok(reef_tick(w, 0.1f));
            if (threads == 1) hash[tick] = reef_hash(w);
            assert_true(reef_hash(w) == hash[tick]);
        }
        end_world(test, w);
        reef_pool_free(p);
    }
}

static double seen_kg(const reef_world *w, uint32_t index) { return reef_get(w, reef_entity_at(w, index), Mass)->kg; }

static void ticks_systems_and_steps_have_numbers_of_their_own(void **test)
{
    reef_world *w = noisy(test, NULL);
    double kg[3];
    assert_ok(reef_tick(w, 0.1f));
    kg[0] = seen_kg(w, 0);
    assert_ok(reef_tick(w, 0.1f));
    assert_true(seen_kg(w, 0) - kg[0] != kg[0]); /* another tick */
    /* Two systems over the same rows, and a phase of three steps. */
    w = another_world(test, NULL);
    const reef_entity e = reef_spawn(w, reef_with(Mass, 0));
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "steps", .step_ns = 100000000}));
    const reef_system_id s = reef_system_new(
        w, &(reef_system_desc){.name = "noise", .function = add_noise, .text = "Mass", .phase = "steps"});
    assert_false(reef_system_is_null(s));
    assert_ok(reef_tick(w, 0.1f));
    kg[0] = reef_get(w, e, Mass)->kg;
    assert_ok(reef_tick(w, 0.3f));
    kg[1] = reef_get(w, e, Mass)->kg - kg[0]; /* of three steps, the same number three times otherwise */
    assert_ok(reef_set(w, e, Mass, 0));
    w->state.ticks = 1;
    assert_ok(reef_tick(w, 0.1f)); /* tick 2 again, with one step */
    kg[2] = reef_get(w, e, Mass)->kg;
    assert_true(kg[1] != 3 * kg[2]);
    assert_int_equal(w->step, 0);
    assert_ok(reef_system_remove(w, s));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){.name = "other", .function = add_noise, .text = "Mass", .phase = "steps"})));
    assert_ok(reef_set(w, e, Mass, 0));
    w->state.ticks = 1;
    assert_ok(reef_tick(w, 0.1f));
    assert_true(reef_get(w, e, Mass)->kg != kg[2]); /* another name */
}

static reef_status seed_in_tick;
static void set_seed(reef_block *b) { seed_in_tick = reef_set_seed(b->world, 9); }

static void the_seed_stays_while_systems_run(void **test)
{
    reef_world *w = world_of(test);
    assert_false(reef_system_is_null(reef_system(w, set_seed, NULL)));
    assert_ok(reef_tick(w, 0));
    assert_int_equal(seed_in_tick, REEF_LOCKED);
    assert_int_equal(reef_seed(w), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(philox_gives_the_known_answers),
        TEST(numbers_of_64_bits_are_two_of_32),
        TEST(numbers_depend_on_seed_tick_step_stream_and_entity_alone),
        TEST(numbers_are_the_same_everywhere),
        TEST(outside_of_systems_a_block_has_stream_0),
        TEST(the_seed_is_state),
        TEST(floats_are_below_1_and_of_24_bits),
        TEST(ranges_include_both_ends),
        TEST(ranges_have_no_bias),
        TEST(numbers_are_the_same_on_any_number_of_threads),
        TEST(ticks_systems_and_steps_have_numbers_of_their_own),
        TEST(the_seed_stays_while_systems_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
