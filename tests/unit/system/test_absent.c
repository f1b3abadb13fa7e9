/* What a state says of systems and phases that its world hasn't got. */
#include "support.h"

static void note_count(void *context, const reef_load_note *note) { ((uint32_t *)context)[note->kind]++; }

typedef struct {
    uint32_t number;
} Bell;
REEF_COMPONENT(Bell);
REEF_FIELDS(Bell, number);
static struct {
    uint32_t count, sum, runs, steps;
} heard;
static void hears(reef_block *b)
{
    reef_events bells = reef_receive(b, Bell);
    heard.count += (uint32_t)bells.count;
    for (const Bell *x; (x = reef_next_event(&bells)) != NULL;) heard.sum += x->number;
}
static void seldom(reef_block *b) { (void)b, heard.runs++; }
static void stepped(reef_block *b) { (void)b, heard.steps++; }

/* One reads events, one runs every fifth second, one in a phase with steps of its own. */
static void hearing_systems(reef_world *w)
{
    assert_ok(reef_phase_new(w, &(reef_phase_desc){.name = "steps", .step_ns = 400000000}));
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "hears", .function = hears, .text = "; receives Bell"})));
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "seldom", .function = seldom, .interval_ns = 5000000000})));
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "stepped", .function = stepped, .phase = "steps"})));
}

/* Sealed or not, through a program that has none of the systems, and back. */
static void carried(void **state, bool sealed, bool journal)
{
    const reef_save_desc desc = {.sealed = sealed};
    reef_world *w = another_world(state, NULL), *reader = another_world(state, NULL),
               *back = another_world(state, NULL), *late = another_world(state, NULL);
    reef_bytes bytes, again;
    hearing_systems(w);
    hearing_systems(back);
    assert_ok(reef_tick(w, 0.7f));
    for (uint32_t i = 1; i <= 5; i++) assert_ok(reef_post(w, Bell, .number = i));
    assert_ok(reef_system_enable(w, reef_system_find(w, "seldom"), false));
    assert_ok(reef_save_bytes(w, &bytes, &desc));
    uint32_t told[16] = {0};
    const reef_status s =
        reef_load_bytes(reader, bytes.data, bytes.size, &(reef_load_desc){.note = note_count, .context = told});
    if (s != REEF_OK) print_error("%s\n", reef_last_error(reader).detail);
    assert_status(REEF_OK, s);
    assert_int_equal(told[REEF_NOTE_SYSTEM_UNKNOWN], 4);
    assert_valid(reader);
    assert_true(reef_hash(reader) == reef_hash(w));
    assert_true(reef_equal(reader, w, NULL));
    reef_world *fork = reef_fork(reader); /* a fork, a snapshot and a difference keep it as well */
    reef_snapshot *snapshot = reef_snapshot_take(fork);
    assert_true(reef_hash(fork) == reef_hash(w));
    assert_ok(reef_post(fork, Bell, .number = 100));
    assert_int_equal(reef_world_stats(fork).events, 6);
    reef_bytes difference;
    assert_ok(reef_diff_bytes(reader, fork, &difference, &desc));
    assert_ok(reef_diff_apply(reader, difference.data, difference.size));
    assert_true(reef_equal(reader, fork, NULL));
    assert_ok(reef_restore(fork, snapshot));
    assert_true(reef_hash(fork) == reef_hash(w));
    assert_ok(reef_save_bytes(journal ? reader : fork, &again, &desc));
    const uint64_t hash = reef_hash(journal ? reader : fork);
    assert_ok(reef_load_bytes(back, again.data, again.size, NULL));
    assert_true(reef_hash(back) == hash);
    assert_false(reef_system_is_enabled(back, reef_system_find(back, "seldom")));
    assert_ok(reef_load_bytes(late, again.data, again.size, NULL)); /* the systems come behind loading */
    hearing_systems(late);
    assert_true(reef_hash(late) == hash);
    reef_world *both[] = {back, late};
    for (int i = 0; i < 2; i++) {
        memset(&heard, 0, sizeof heard);
        assert_ok(reef_tick(both[i], 0.7f));
        assert_int_equal(heard.count, journal ? 6 : 5);
        assert_int_equal(heard.sum, journal ? 115 : 15);
        assert_int_equal(heard.runs, 0);  /* off; and on it would have to wait */
        assert_int_equal(heard.steps, 2); /* 0.3 s were left over */
        assert_valid(both[i]);
    }
    /* Where systems run, nothing waits for those that aren't there. */
    assert_false(
        reef_system_is_null(reef_system_new(reader, &(reef_system_desc){.name = "other", .function = seldom})));
    assert_ok(reef_tick(reader, 0.5f));
    assert_int_equal(reef_world_stats(reader).events, 0);
    assert_valid(reader);
    reef_snapshot_free(snapshot);
    reef_bytes_free(&bytes);
    reef_bytes_free(&difference);
    reef_bytes_free(&again);
    reef_world_free(fork);
    end_world(state, w);
    end_world(state, reader);
    end_world(state, back);
    end_world(state, late);
}

static void what_systems_that_are_not_there_wait_for_is_kept(void **state)
{
    for (int i = 0; i < 4; i++) carried(state, i & 1, i & 2);
}

static void a_removed_system_that_a_restore_brings_back_waits_for_nothing(void **state)
{
    reef_world *w = world_of(state), *other = another_world(state, NULL);
    reef_bytes bytes;
    hearing_systems(w);
    assert_ok(reef_tick(w, 0.5f));
    assert_ok(reef_post(w, Bell, .number = 7));
    reef_snapshot *s = reef_snapshot_take(w);
    assert_ok(reef_system_remove(w, reef_system_find(w, "hears")));
    assert_ok(reef_restore(w, s));
    assert_valid(w);
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true}));
    assert_ok(reef_load_bytes(other, bytes.data, bytes.size, NULL));
    assert_true(reef_equal(w, other, NULL));
    reef_bytes_free(&bytes);
    reef_snapshot_free(s);
}

/* ---- versions ---- */

typedef struct {
    uint32_t number;
} Shell;
REEF_COMPONENT(Shell);
REEF_FIELDS(Shell, number);
static uint32_t seen_changed;
static void sees(reef_block *b) { seen_changed += b->count; }
static void sees_seldom(reef_block *b) { seen_changed += 1000 * b->count; }

static void seeing_systems(reef_world *w)
{
    assert_false(reef_system_is_null(
        reef_system_new(w, &(reef_system_desc){.name = "sees", .function = sees, .text = "changed in Shell"})));
    assert_false(reef_system_is_null(reef_system_new(
        w, &(reef_system_desc){
               .name = "seldom", .function = sees_seldom, .text = "changed in Shell", .interval_ns = 2000000000})));
}

static uint32_t tick_seen(reef_world *w)
{
    seen_changed = 0;
    assert_ok(reef_tick(w, 1));
    return seen_changed;
}

/* A restore goes back to old versions, and loading makes new ones: what lies between must not grow for ever. way: by
 * a file, by a journal, by differences there and back. */
static void versions_stay_near(void **state, int way)
{
    reef_world *w = another_world(state, NULL), *same = another_world(state, NULL);
    reef_entity e[3];
    reef_bytes bytes = {NULL, 0};
    seeing_systems(w);
    seeing_systems(same);
    for (uint32_t i = 0; i < 3; i++)
        e[i] = i == 0   ? reef_spawn(w, reef_with(Shell, i))
               : i == 1 ? reef_spawn(w, reef_with(Shell, i), reef_with(Bell, i))
                        : e[1];
    assert_int_equal(tick_seen(w) + tick_seen(w), 2002);
    reef_snapshot *s = reef_snapshot_take(w);
    const char *path = "versions.journal";
    reef_journal *j =
        way == 1 ? reef_journal_open(w, path, &(reef_journal_desc){.fresh = true, .unsynced = true}) : NULL;
    for (int i = 0; i < 80; i++) {
        reef_world *before = way == 2 ? reef_fork(w) : NULL;
        assert_ok(reef_restore(w, s));
        if (j) assert_ok(reef_journal_append(j));
        if (way == 2) {
            reef_bytes back;
            assert_ok(reef_tick(w, 1));
            assert_ok(reef_diff_bytes(before, w, &back, NULL));
            assert_ok(reef_diff_apply(before, back.data, back.size));
            assert_true(reef_hash(before) == reef_hash(w));
            reef_bytes_free(&back);
        }
        assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true}));
        const reef_status got = reef_load_bytes(w, bytes.data, bytes.size, NULL);
        if (got != REEF_OK) fail_msg("round %d: %s", i, reef_last_error(w).detail);
        reef_bytes_free(&bytes);
        if (j) {
            assert_ok(reef_journal_append(j));
            reef_journal_close(j);
            j = reef_journal_open(w, path, &(reef_journal_desc){.unsynced = true});
            if (j == NULL) fail_msg("round %d: %s", i, reef_last_error(w).detail);
        }
        if (before) reef_world_free(before);
    }
    assert_valid(w);
    /* Systems see what they would have seen. */
    (void)tick_seen(w);
    reef_mut(w, e[0], Shell)->number = 77;
    assert_ok(reef_save_bytes(w, &bytes, &(reef_save_desc){.sealed = true}));
    assert_ok(reef_load_bytes(same, bytes.data, bytes.size, NULL));
    for (int i = 0; i < 3; i++) {
        const uint32_t must = tick_seen(w);
        assert_int_equal(tick_seen(same), must);
        if (i == 0) assert_true(must % 1000 == 1);
        reef_mut(w, e[1], Shell)->number++;
        reef_mut(same, e[1], Shell)->number++;
    }
    assert_true(reef_version(w) < UINT64_C(1) << 50);
    reef_bytes_free(&bytes);
    if (j) reef_journal_close(j);
    (void)remove(path);
    reef_snapshot_free(s);
    end_world(state, w);
    end_world(state, same);
}

static void versions_do_not_grow_by_restoring_and_loading(void **state)
{
    for (int way = 0; way < 3; way++) versions_stay_near(state, way);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_systems_that_are_not_there_wait_for_is_kept),
        TEST(versions_do_not_grow_by_restoring_and_loading),
        TEST(a_removed_system_that_a_restore_brings_back_waits_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
