/* Worlds that were saved come back, and go on as the saved ones. */
#include "load_repair.h"
#include "load_zoo.h"
#include "scenes.h"

static void zoo_make(reef_world *w, uint64_t seed, uint32_t n)
{
    const Season season = {3};
    assert_status(REEF_ADDED, reef_single_set_id(w, reef_id(Season), &season, sizeof season));
    zoo_steps(w, seed, n);
    assert_some(reef_reserve_id(w));
}

static reef_bytes saved(reef_world *w, bool raw)
{
    const reef_save_desc desc = {.raw = raw};
    reef_bytes bytes = {NULL, 0};
    assert_ok(reef_save_bytes(w, &bytes, &desc));
    return bytes;
}

static void assert_same(reef_world *a, reef_world *b)
{
    reef_difference d;
    char text[512];
    const bool equal = reef_equal(a, b, &d);
    if (!equal) (void)reef_difference_text(&d, text, sizeof text), print_error("%s\n", text);
    assert_true(equal);
    assert_true(reef_hash(a) == reef_hash(b));
}

static void load(reef_world *w, reef_bytes bytes)
{
    const reef_status s = reef_load_bytes(w, bytes.data, bytes.size, NULL);
    if (s != REEF_OK) print_error("%s\n", reef_last_error(w).detail);
    assert_status(REEF_OK, s);
    assert_valid(w);
}

/* ---- whole worlds ---- */

static void F10_an_empty_world_comes_back(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_bytes bytes = saved(w, false);
    zoo_make(other, 1, 100);
    load(other, bytes);
    assert_same(w, other);
    assert_int_equal(reef_world_stats(other).entities, 0);
    reef_bytes_free(&bytes);
}

static void F10_every_home_comes_back_and_goes_on(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    zoo_make(w, 7, 3000);
    reef_bytes bytes = saved(w, false);
    zoo_make(other, 2, 50);
    load(other, bytes);
    assert_same(w, other);
    reef_bytes again = saved(other, false);
    for (uint64_t round = 0; round < 4; round++) {
        zoo_steps(w, round, 200);
        zoo_steps(other, round, 200);
        assert_same(w, other);
    }
    load(w, bytes); /* and the world itself goes back */
    load(other, again);
    assert_same(w, other);
    reef_bytes_free(&bytes);
    reef_bytes_free(&again);
}

static void F10_many_rows_in_many_chunks(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    for (uint32_t i = 0; i < 3000; i++) {
        const Spot spot = {(float)i, 1, 2};
        const Track track = {1, (int32_t)i};
        const reef_entity e = reef_spawn(w, reef_value_make(reef_id(Spot), REEF_VALUE_ONE, sizeof spot, &spot),
                                         reef_value_make(reef_id(Track), REEF_VALUE_ONE, sizeof track, &track));
        if (i % 3 == 0) assert_ok(reef_add(w, e, Alert));
    }
    for (uint32_t i = 0; i < 3000; i += 7) assert_ok(reef_destroy(w, reef_entity_at(w, i)));
    reef_bytes bytes = saved(w, false);
    load(other, bytes);
    assert_same(w, other);
    zoo_steps(w, 5, 500);
    zoo_steps(other, 5, 500);
    assert_same(w, other);
    reef_bytes_free(&bytes);
}

/* ---- scenes: systems, events, clocks, what changed ---- */

static void scene_goes_on(void **state, const scene *s, uint32_t ticks)
{
    reef_world *w = another_world(state, NULL), *other = another_world(state, NULL);
    assert_true(scene_begin(s, w));
    assert_true(scene_begin(s, other));
    for (uint64_t t = 0; t < ticks; t++) assert_ok(scene_tick(s, w, t));
    reef_bytes bytes = saved(w, true);
    load(other, bytes);
    assert_same(w, other);
    const bool owns = strcmp(s->name, "owned") == 0; /* what its values own isn't in the file, and decides how it goes on */
    for (uint64_t t = ticks; t < ticks + 3 && !owns; t++) {
        assert_ok(scene_tick(s, w, t));
        assert_ok(scene_tick(s, other, t));
        if (reef_hash(w) != reef_hash(other)) print_error("scene %s, tick %u\n", s->name, (unsigned)t);
        assert_same(w, other);
    }
    reef_bytes_free(&bytes);
    end_world(state, w);
    end_world(state, other);
}

static void G4_scenes_go_on_as_the_saved_ones(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        scene_goes_on(state, &scenes[i], 1);
        scene_goes_on(state, &scenes[i], 4);
    }
}

/* ---- differences ---- */

static void difference_applies(reef_world *before, reef_world *after, reef_world *target, bool sealed)
{
    reef_bytes bytes = {NULL, 0};
    assert_ok(reef_diff_bytes(before, after, &bytes, &(reef_save_desc){.raw = true, .sealed = sealed}));
    const reef_status s = reef_diff_apply(target, bytes.data, bytes.size);
    if (s != REEF_OK) print_error("%s\n", reef_last_error(target).detail);
    assert_status(REEF_OK, s);
    assert_valid(target);
    assert_same(after, target);
    reef_bytes_free(&bytes);
}

static void F10_differences_lead_from_one_state_to_the_next(void **state)
{
    reef_world *w = world_of(state), *far = another_world(state, NULL);
    zoo_make(w, 3, 1500);
    reef_bytes bytes = saved(w, false);
    load(far, bytes);
    reef_bytes_free(&bytes);
    for (uint64_t round = 0; round < 6; round++) {
        reef_world *before = reef_fork(w), *near = reef_fork(w);
        zoo_steps(w, round, round % 3 == 2 ? 1000 : 60);
        difference_applies(before, w, near, round % 2);
        difference_applies(before, w, far, round % 2);
        difference_applies(w, before, near, round % 2);
        reef_world_free(before);
        reef_world_free(near);
    }
}

/* ---- damage ---- */

/* The world is refused the file, and is as it was. */
static void refused(reef_world *w, const unsigned char *data, size_t size, uint64_t hash)
{
    const reef_status s = reef_load_bytes(w, data, size, NULL);
    if (s != REEF_CORRUPT && s != REEF_VERSION) print_error("%d\n", (int)s);
    assert_true(s == REEF_CORRUPT || s == REEF_VERSION);
    assert_true(reef_hash(w) == hash);
}

static reef_world *small_zoo(void **state, reef_bytes *bytes)
{
    reef_world *w = world_of(state);
    zoo_make(w, 11, 120);
    *bytes = saved(w, false);
    return w;
}

static void G5_every_bit_counts(void **state)
{
    reef_bytes bytes;
    reef_world *w = small_zoo(state, &bytes);
    const uint64_t hash = reef_hash(w);
    unsigned char *data = bytes.data;
    for (size_t i = 0; i < bytes.size; i++) {
        const unsigned char was = data[i];
        data[i] = (unsigned char)(was ^ 1u << i % 8);
        refused(w, data, bytes.size, hash);
        data[i] = was;
    }
    assert_valid(w);
    reef_bytes_free(&bytes);
}

static void G5_every_truncation_is_refused(void **state)
{
    reef_bytes bytes;
    reef_world *w = small_zoo(state, &bytes);
    const uint64_t hash = reef_hash(w);
    for (size_t n = 0; n < bytes.size; n++) refused(w, bytes.data, n, hash);
    assert_valid(w);
    reef_bytes_free(&bytes);
}

/* One change behind right sums: refused, or a sound world. */
static void survives(reef_world *w, const unsigned char *data, size_t size)
{
    const reef_status s = reef_load_bytes(w, data, size, NULL);
    if (s == REEF_OK) {
        assert_valid(w);
        (void)reef_hash(w);
        zoo_steps(w, 1, 20);
        assert_valid(w);
        return;
    }
    if (s != REEF_CORRUPT) print_message("%s: %s\n", reef_status_text(s), reef_last_error(w).detail);
    assert_true(s == REEF_CORRUPT || s == REEF_VERSION || s == REEF_LIMIT || s == REEF_NOT_PORTABLE || s == REEF_NO_MEMORY);
}

static void G5_files_that_lie_are_refused_or_sound(void **state)
{
    reef_bytes bytes;
    (void)small_zoo(state, &bytes);
    reef_world *w = another_world(state, NULL);
    unsigned char *copy = malloc(bytes.size);
    uint64_t seed = 5;
    assert_non_null(copy);
    for (size_t i = FILE_HEADER_BYTES; i < bytes.size; i++) {
        static const unsigned char values[] = {0, 1, 0x7F, 0x80, 0xFF};
        memcpy(copy, bytes.data, bytes.size);
        if (i % 3 == 0) copy[i] ^= (unsigned char)(1u << random_below(&seed, 8));
        else if (i % 3 == 1) copy[i] = values[random_below(&seed, 5)];
        else copy[i]++;
        repair(copy, bytes.size);
        survives(w, copy, bytes.size);
    }
    free(copy);
    reef_bytes_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(F10_an_empty_world_comes_back),
        TEST(F10_every_home_comes_back_and_goes_on),
        TEST(F10_many_rows_in_many_chunks),
        TEST(F10_differences_lead_from_one_state_to_the_next),
        TEST(G4_scenes_go_on_as_the_saved_ones),
        TEST(G5_every_bit_counts),
        TEST(G5_every_truncation_is_refused),
        TEST(G5_files_that_lie_are_refused_or_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
