/* Heavy mode (G4, G5). Each scene (scenes.h) is played again, and after every tick it is saved and loaded, or copied or
 * restored in another way. Each state must have the same hash as in a world that just plays on. So files and copies
 * must contain everything that the future depends on. */
#include "scenes.h"
#include <unistd.h>

enum { HEAVY_TICKS = 64 };

typedef struct alone {
    const scene *scene;
    reef_world *world;
    uint64_t hash[HEAVY_TICKS + 1];
} alone;

static reef_world *scene_world(void **state, const scene *s)
{
    reef_world *w = another_world(state, &(reef_world_config){.seed = 77});
    reef_watch_systems(w, false);
    assert_true(scene_begin(s, w));
    return w;
}

static void alone_make(alone *a, void **state, const scene *s)
{
    a->scene = s;
    a->world = scene_world(state, s);
    a->hash[0] = reef_hash(a->world);
    for (uint32_t t = 0; t < s->ticks; t++) {
        assert_ok(scene_tick(s, a->world, t));
        a->hash[t + 1] = reef_hash(a->world);
    }
}

/* For values that own something, a file contains only the fields, but their future depends on the rest. */
static bool goes_on(const scene *s) { return strcmp(s->name, "owned") != 0; }

static void assert_state(const alone *a, reef_world *w, uint32_t tick, const char *after)
{
    reef_difference d;
    char text[300] = "";
    if (reef_hash(w) == a->hash[tick]) return;
    if (tick == a->scene->ticks && !reef_equal(a->world, w, &d)) reef_difference_text(&d, text, sizeof text);
    fail_msg("%s: state %u after %s is another one %s", a->scene->name, tick, after, text);
}

static void check_status(reef_world *w, const scene *s, uint32_t tick, reef_status status)
{
    char text[600];
    if (status == REEF_OK) return;
    reef_error_text(w, text, sizeof text);
    fail_msg("%s, tick %u: %s", s->name, tick, text);
}

/* After each tick the world is saved, and a new world loads it and goes on. */
static void saved_and_loaded_in_every_tick(void **state)
{
    const reef_save_desc raw = {.raw = true};
    for (uint32_t i = 0; i < scene_count; i++) {
        alone a;
        const scene *s = &scenes[i];
        alone_make(&a, state, s);
        reef_world *w = scene_world(state, s);
        for (uint32_t t = 0; t < s->ticks; t++) {
            reef_bytes saved, again;
            check_status(w, s, t, scene_tick(s, w, t));
            check_status(w, s, t, reef_save_bytes(w, &saved, &raw));
            assert_state(&a, w, t + 1, "saving");
            reef_world *fresh = scene_world(state, s);
            check_status(fresh, s, t, reef_load_bytes(fresh, saved.data, saved.size, NULL));
            assert_state(&a, fresh, t + 1, "loading");
            if (t % 4 == 0) { /* saved again, it gives the same file, except for the versions of writes */
                check_status(fresh, s, t, reef_save_bytes(fresh, &again, &raw));
                assert_int_equal(saved.size, again.size);
                reef_bytes_free(&again);
                assert_valid(fresh);
            }
            reef_bytes_free(&saved);
            end_world(state, goes_on(s) ? w : fresh);
            w = goes_on(s) ? fresh : w;
        }
        assert_true(reef_equal(a.world, w, NULL));
        end_world(state, w);
        end_world(state, a.world);
    }
}

/* A replica in another family gets what each tick changed, and could go on from any of them. */
static void a_replica_by_differences(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        alone a;
        reef_bytes bytes;
        const scene *s = &scenes[i];
        alone_make(&a, state, s);
        reef_world *w = scene_world(state, s), *replica = scene_world(state, s);
        check_status(w, s, 0, reef_save_bytes(w, &bytes, &(reef_save_desc){.raw = true}));
        check_status(replica, s, 0, reef_load_bytes(replica, bytes.data, bytes.size, NULL));
        reef_bytes_free(&bytes);
        for (uint32_t t = 0; t < s->ticks; t++) {
            reef_world *before = reef_fork(w);
            check_status(w, s, t, scene_tick(s, w, t));
            check_status(w, s, t, reef_diff_bytes(before, w, &bytes, &(reef_save_desc){.raw = true, .sealed = t % 2}));
            check_status(replica, s, t, reef_diff_apply(replica, bytes.data, bytes.size));
            assert_state(&a, replica, t + 1, "a difference");
            reef_bytes_free(&bytes);
            reef_world_free(before);
        }
        assert_valid(replica);
        assert_true(reef_equal(a.world, replica, NULL));
        end_world(state, replica);
        end_world(state, w);
        end_world(state, a.world);
    }
}

/* The changes of a tick are undone by the difference in the other direction. */
static void there_and_back(void **state)
{
    for (uint32_t i = 0; i < scene_count; i++) {
        alone a;
        const scene *s = &scenes[i];
        alone_make(&a, state, s);
        reef_world *w = scene_world(state, s);
        reef_bytes undo[HEAVY_TICKS];
        for (uint32_t t = 0; t < s->ticks; t++) {
            reef_world *before = reef_fork(w);
            check_status(w, s, t, scene_tick(s, w, t));
            check_status(before, s, t, reef_diff_bytes(w, before, &undo[t], &(reef_save_desc){.raw = true}));
            reef_world_free(before);
        }
        for (uint32_t t = s->ticks; t-- > 0;) {
            check_status(w, s, t, reef_diff_apply(w, undo[t].data, undo[t].size));
            assert_state(&a, w, t, "undoing");
            reef_bytes_free(&undo[t]);
        }
        assert_valid(w);
        for (uint32_t t = 0; t < s->ticks && goes_on(s); t++) check_status(w, s, t, scene_tick(s, w, t));
        if (goes_on(s)) assert_state(&a, w, s->ticks, "undoing and playing again");
        end_world(state, w);
        end_world(state, a.world);
    }
}

/* Each tick is an append; after every third one the program ends, and another one goes on with the file. */
static void a_journal_of_every_tick(void **state)
{
    char path[100];
    snprintf(path, sizeof path, "heavy_%ld.journal", (long)getpid());
    for (uint32_t i = 0; i < scene_count; i++) {
        alone a;
        const scene *s = &scenes[i];
        alone_make(&a, state, s);
        reef_world *w = scene_world(state, s);
        const reef_journal_desc desc = {.raw = true, .unsynced = true, .compact_bytes = 40000};
        reef_journal *j = reef_journal_open(w, path, &desc);
        check_status(w, s, 0, j ? REEF_OK : REEF_IO);
        for (uint32_t t = 0; t < s->ticks; t++) {
            check_status(w, s, t, scene_tick(s, w, t));
            check_status(w, s, t, reef_journal_append(j));
            assert_state(&a, w, t + 1, "an append");
            if (t % 3 != 0 || !goes_on(s)) continue;
            reef_journal_close(j);
            end_world(state, w);
            w = scene_world(state, s);
            j = reef_journal_open(w, path, &desc);
            check_status(w, s, t, j ? REEF_OK : REEF_IO);
            assert_state(&a, w, t + 1, "opening the journal again");
        }
        reef_journal_close(j);
        assert_valid(w);
        end_world(state, w);
        end_world(state, a.world);
        assert_int_equal(remove(path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(saved_and_loaded_in_every_tick),
        TEST(a_replica_by_differences),
        TEST(there_and_back),
        TEST(a_journal_of_every_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
