/* Recordings of the add-on reef_net: they lead to the recorded states; a difference is saved, and what plays it again
 * finds it; recordings that are cut, damaged, or can't be written. (What the tool makes of them: tests/tool/replay.) */
#include "net_game.h"
#include "reef_net_recording.h"
#include "support.h"
#include <stdlib.h>

#define MS UINT64_C(1000000)
enum { PROGRAMS = 2 };

typedef struct bytes {
    unsigned char *of;
    size_t count, room, at;
    size_t most; /* then the writer fails; 0: never */
} bytes;

static reef_status bytes_write(void *context, const void *data, size_t count)
{
    bytes *b = context;
    if (b->most && b->count + count > b->most) return REEF_IO;
    if (b->count + count > b->room) {
        b->room = (b->count + count) * 2;
        b->of = realloc(b->of, b->room);
        assert_non_null(b->of);
    }
    memcpy(b->of + b->count, data, count);
    b->count += count;
    return REEF_OK;
}

static reef_status bytes_read(void *context, void *data, size_t count, size_t *got)
{
    bytes *b = context;
    *got = count < b->count - b->at ? count : b->count - b->at;
    memcpy(data, b->of + b->at, *got);
    b->at += *got;
    return REEF_OK;
}

static reef_net_recording *open_recording(bytes *b, const reef_allocator *a, char *reason)
{
    b->at = 0;
    return reef_net_recording_open((reef_reader){bytes_read, b}, a, reason);
}

typedef struct stage {
    reef_net_sim *sim;
    reef_world *world[PROGRAMS];
    net_game game[PROGRAMS];
    reef_net *net[PROGRAMS];
    bytes record[PROGRAMS];
} stage;

static void stage_begin(stage *s, bool other_rule)
{
    const reef_net_line line = {.latency_ns = 40 * MS, .jitter_ns = 20 * MS, .loss = 50};
    s->sim = reef_net_sim_new(3, &line, NULL);
    for (uint64_t i = 0; i < PROGRAMS; i++) {
        s->world[i] = reef_world_new(&(reef_world_config){.seed = 5, .log = reef_log_none});
        net_game_begin(s->world[i], &s->game[i]);
        s->game[i].seed = i + 1;
        s->game[i].other_rule = other_rule && i == 1;
        reef_net_config c = {.world = s->world[i],
                             .transport = reef_net_sim_transport(s->sim, i + 1),
                             .step = net_game_step,
                             .sample = net_game_sample,
                             .context = &s->game[i],
                             .record = {bytes_write, &s->record[i]},
                             .input = net_game_input(),
                             .step_ns = 16666667,
                             .nonce = 10 + i};
        s->net[i] = i ? reef_net_join(&c, 1, NULL) : reef_net_host(&c, NULL);
        assert_non_null(s->net[i]);
    }
}

static void stage_play(stage *s, uint64_t from_ms, uint64_t ms)
{
    for (uint64_t now = from_ms * MS; now < (from_ms + ms) * MS; now += 4 * MS) {
        reef_net_sim_time(s->sim, now);
        for (int i = 0; i < PROGRAMS; i++) assert_int_equal(reef_net_update(s->net[i], now), REEF_OK);
    }
}

static void stage_end(stage *s)
{
    for (int i = 0; i < PROGRAMS; i++) {
        reef_net_free(s->net[i]);
        reef_world_free(s->world[i]);
        free(s->record[i].of);
    }
    reef_net_sim_free(s->sim);
}

/* Plays a recording again, and counts the states that are those of the program that recorded, and of the other one. */
static void play_again(reef_net_recording *r, bool other_rule, uint32_t *here, uint32_t *there)
{
    net_game game = {.other_rule = other_rule};
    reef_world *w = reef_world_new(&(reef_world_config){.log = reef_log_none});
    reef_net_tick tick;
    char reason[REEF_NET_REASON_MAX];
    net_game_begin(w, &game);
    const reef_status s = reef_net_recording_load(r, w, net_game_input(), NULL, reason);
    if (s < 0) fail_msg("%s: %s", reef_status_name(s), reason);
    const uint64_t first = reef_net_recording_get(r).first;
    *here = *there = 0;
    for (uint64_t t = first;; t++) {
        const uint64_t a = reef_net_recording_hash(r, t, false), b = reef_net_recording_hash(r, t, true);
        const uint64_t is = a || b ? reef_hash(w) : 0;
        *here += is && is == a;
        *there += is && is == b;
        if (!reef_net_recording_tick(r, t, &tick)) break;
        assert_int_equal(net_game_step(&game, w, &tick), REEF_OK);
    }
    reef_world_free(w);
}

static void a_recording_leads_to_the_same_states(void **state)
{
    stage s = {0};
    uint32_t here, there;
    (void)state;
    stage_begin(&s, false);
    stage_play(&s, 0, 8000);
    for (int i = 0; i < PROGRAMS; i++) {
        reef_net_recording *r = open_recording(&s.record[i], NULL, NULL);
        assert_non_null(r);
        const reef_net_recorded about = reef_net_recording_get(r);
        assert_int_equal(about.first + about.ticks, reef_net_confirmed(s.net[i]));
        assert_true(i ? about.first % 16 == 0 : about.first == 0);
        assert_false(about.torn || about.differs);
        assert_non_null(strstr(about.input, "Keys: 3 bytes"));
        play_again(r, false, &here, &there);
        assert_true(here > 40 && there == 0);
        const uint32_t all = here;
        play_again(r, true, &here, &there); /* other rules lead to other states */
        assert_true(here < all / 2);
        assert_int_equal(reef_net_statistics(s.net[i]).unrecorded, 0);
        reef_net_recording_free(r);
    }
    stage_end(&s);
}

static void difference_check(const stage *s, int i, bytes *b)
{
    reef_net_desync d;
    uint32_t here, there, of_here, of_there;
    assert_true(reef_net_desync_get(s->net[i], &d));
    reef_net_recording *r = open_recording(b, NULL, NULL);
    assert_non_null(r);
    const reef_net_recorded a = reef_net_recording_get(r);
    assert_true(a.differs && !a.torn);
    assert_int_equal(a.what.tick, d.tick);
    assert_int_equal(a.what.player, d.player);
    assert_int_equal(reef_entity_bits(a.what.entity), reef_entity_bits(d.entity));
    assert_string_equal(a.what.system, "game_move");
    assert_string_equal(a.what.component, "Position");
    assert_string_equal(a.what.field, "x");
    assert_string_equal(a.what.here, d.here);
    assert_string_equal(a.what.there, d.there);
    assert_true(a.first <= d.tick && d.tick < a.first + a.ticks);
    assert_true(reef_net_recording_hash(r, d.tick + 1, false) != reef_net_recording_hash(r, d.tick + 1, true));
    /* Each rule leads to the states of its side, and only up to the tick to the others. */
    play_again(r, i == 1, &here, &there);
    play_again(r, i == 0, &of_here, &of_there);
    assert_true(here > there && of_there > of_here);
    reef_net_recording_free(r);
}

static void a_difference_is_saved_and_found_again(void **state)
{
    stage s = {0};
    (void)state;
    stage_begin(&s, true);
    assert_int_equal(reef_net_desync_save(s.net[0], (reef_writer){bytes_write, &s.record[0]}), REEF_BAD_ARGUMENT);
    stage_play(&s, 0, 9000);
    assert_int_equal(reef_net_state(s.net[0]), REEF_NET_PLAYING);
    assert_int_equal(reef_net_state(s.net[1]), REEF_NET_ENDED);
    for (int i = 0; i < PROGRAMS; i++) {
        bytes b = {0};
        assert_int_equal(reef_net_desync_save(s.net[i], (reef_writer){bytes_write, &b}), REEF_OK);
        difference_check(&s, i, &b);
        difference_check(&s, i, &s.record[i]); /* it is in the recording of the session, too */
        free(b.of);
    }
    stage_end(&s);
}

static void a_value_is_told_by_names(void **state)
{
    reef_world *w = reef_world_new(NULL);
    net_game game = {0};
    char text[32];
    (void)state;
    net_game_begin(w, &game);
    const reef_component position = reef_type_find("Position");
    const reef_entity e = reef_create(w), gone = reef_create(w);
    const float value[2] = {1.5f, -2};
    assert_true(reef_set_id(w, e, position, value, sizeof value) >= 0);
    assert_int_equal(reef_destroy(w, gone), REEF_OK);
    assert_true(reef_net_value_text(w, e, "Position", "y", text, sizeof text));
    assert_string_equal(text, "-2");
    assert_true(reef_net_value_text(w, e, "Position", "", text, sizeof text));
    assert_string_equal(text, "there");
    assert_true(reef_net_value_text(w, gone, "Position", "", text, sizeof text));
    assert_string_equal(text, "not there");
    assert_false(reef_net_value_text(w, gone, "Position", "y", text, sizeof text));
    assert_false(reef_net_value_text(w, e, "Position", "z", text, sizeof text));
    assert_false(reef_net_value_text(w, e, "Position", "y[1]", text, sizeof text));
    assert_false(reef_net_value_text(w, e, "Nothing", "y", text, sizeof text));
    reef_world_free(w);
}

/* ---- recordings that aren't right ---- */

/* Opens what may be damaged, and plays what it says. */
static bool try_to_play(bytes *b)
{
    char reason[REEF_NET_REASON_MAX] = "?";
    reef_net_recording *r = open_recording(b, NULL, reason);
    if (r == NULL) {
        assert_true(reason[0] && reason[0] != '?');
        return false;
    }
    net_game game = {0};
    reef_world *w = reef_world_new(&(reef_world_config){.log = reef_log_none});
    reef_net_tick tick;
    net_game_begin(w, &game);
    const bool loaded = reef_net_recording_load(r, w, net_game_input(), NULL, reason) >= 0;
    for (uint64_t t = reef_net_recording_get(r).first; loaded && reef_net_recording_tick(r, t, &tick); t++)
        if (net_game_step(&game, w, &tick) < 0) break;
    assert_true(loaded || reason[0]);
    reef_world_free(w);
    reef_net_recording_free(r);
    return loaded;
}

enum { MARK = 8, HEAD = 5 }; /* bytes before the first piece, and before the content of each */

static void recordings_that_are_cut_or_damaged(void **state)
{
    stage s = {0};
    bytes b = {0};
    uint32_t played = 0, refused = 0;
    uint64_t seed = 4;
    (void)state;
    stage_begin(&s, true);
    stage_play(&s, 0, 6000);
    assert_int_equal(reef_net_desync_save(s.net[0], (reef_writer){bytes_write, &b}), REEF_OK);
    for (size_t count = 0; count < b.count; count += 1 + count / 40) {
        bytes cut = b;
        cut.count = count;
        played += try_to_play(&cut);
    }
    assert_true(played > 5);
    for (uint32_t i = 0; i < 600; i++) {
        const size_t at = random_below(&seed, (uint32_t)b.count);
        const unsigned char was = b.of[at];
        b.of[at] = (unsigned char)(was ^ 1u << random_below(&seed, 8));
        refused += !try_to_play(&b);
        b.of[at] = was;
    }
    assert_true(refused > 100);
    assert_true(try_to_play(&b));
    free(b.of);
    stage_end(&s);
}

/* The last byte of a piece TICK is `fire` of the last player, which is 0 or 1. */
static void absurd_inputs_are_refused(void **state)
{
    enum { TICK = 3 };
    stage s = {0};
    char reason[REEF_NET_REASON_MAX];
    (void)state;
    stage_begin(&s, false);
    stage_play(&s, 0, 1000);
    bytes *b = &s.record[0];
    uint32_t ticks = 0;
    for (size_t at = MARK, count; at < b->count; at += HEAD + count) {
        count = b->of[at + 1] | (size_t)b->of[at + 2] << 8 | (size_t)b->of[at + 3] << 16;
        if (b->of[at] == TICK && ++ticks == 20) b->of[at + HEAD + count - 1] = 99;
    }
    reef_net_recording *r = open_recording(b, NULL, reason);
    reef_world *w = reef_world_new(&(reef_world_config){.log = reef_log_none});
    assert_int_equal(reef_net_recording_load(r, w, net_game_input(), NULL, reason), REEF_CORRUPT);
    assert_string_equal(reason, "an input of tick 19 is outside of its description");
    reef_world_free(w);
    reef_net_recording_free(r);
    stage_end(&s);
}

/* A recording whose inputs have the text of the game's type, but one byte each. */
static void inputs_of_another_size_are_refused(void **state)
{
    enum { BEGIN = 1, TICK = 3, SIZE = 12, INPUTS = 9 }; /* in the contents of BEGIN and TICK */
    stage s = {0};
    bytes to = {0};
    char reason[REEF_NET_REASON_MAX];
    (void)state;
    stage_begin(&s, false);
    stage_play(&s, 0, 1000);
    const bytes *b = &s.record[0];
    (void)bytes_write(&to, b->of, MARK);
    for (size_t at = MARK, count; at < b->count; at += HEAD + count) {
        unsigned char piece[1 << 16];
        count = b->of[at + 1] | (size_t)b->of[at + 2] << 8 | (size_t)b->of[at + 3] << 16;
        size_t n = count;
        assert_true(HEAD + count <= sizeof piece);
        memcpy(piece, b->of + at, HEAD + count);
        if (piece[0] == BEGIN) piece[HEAD + SIZE] = 1, piece[HEAD + SIZE + 1] = 0;
        if (piece[0] == TICK) {
            const size_t players = (count - INPUTS) / sizeof(Keys);
            for (size_t i = 0; i < players; i++) piece[HEAD + INPUTS + i] = piece[HEAD + INPUTS + i * sizeof(Keys)];
            n = INPUTS + players;
        }
        piece[1] = (unsigned char)n, piece[2] = (unsigned char)(n >> 8), piece[3] = (unsigned char)(n >> 16);
        (void)bytes_write(&to, piece, HEAD + n);
    }
    reef_net_recording *r = open_recording(&to, NULL, reason);
    assert_non_null(r);
    reef_world *w = reef_world_new(&(reef_world_config){.log = reef_log_none});
    assert_int_equal(reef_net_recording_load(r, w, net_game_input(), NULL, reason), REEF_NOT_PORTABLE);
    reef_world_free(w);
    reef_net_recording_free(r);
    free(to.of);
    stage_end(&s);
}

static void inputs_of_another_type_are_refused(void **state)
{
    stage s = {0};
    char reason[REEF_NET_REASON_MAX];
    (void)state;
    stage_begin(&s, false);
    stage_play(&s, 0, 1000);
    reef_net_recording *r = open_recording(&s.record[0], NULL, NULL);
    reef_world *w = reef_world_new(&(reef_world_config){.log = reef_log_none});
    assert_int_equal(reef_net_recording_load(r, w, reef_type_find("Position"), NULL, reason), REEF_NOT_PORTABLE);
    assert_memory_equal(reason, "the inputs are of another type: recorded", 40);
    assert_int_equal(reef_net_recording_load(r, w, (reef_component){0}, NULL, reason), REEF_BAD_ARGUMENT);
    assert_int_equal(reef_net_recording_load(r, NULL, net_game_input(), NULL, NULL), REEF_BAD_ARGUMENT);
    assert_null(reef_net_recording_open((reef_reader){0}, NULL, reason));
    assert_string_equal(reason, "there is no reader");
    reef_net_recording_free(NULL);
    reef_world_free(w);
    reef_net_recording_free(r);
    stage_end(&s);
}

static void a_session_goes_on_when_its_recording_cannot(void **state)
{
    stage s = {0};
    (void)state;
    s.record[0].most = 6000;
    stage_begin(&s, false);
    stage_play(&s, 0, 6000);
    const uint64_t missing = reef_net_statistics(s.net[0]).unrecorded;
    assert_true(reef_net_confirmed(s.net[0]) > 200 && missing > 20);
    reef_net_recording *r = open_recording(&s.record[0], NULL, NULL);
    assert_non_null(r);
    assert_int_equal(reef_net_recording_get(r).ticks + missing, reef_net_confirmed(s.net[0]));
    reef_net_recording_free(r);
    stage_end(&s);
}

static void every_allocation_may_fail(void **state)
{
    stage s = {0};
    uint64_t refused = 0;
    (void)state;
    stage_begin(&s, false);
    stage_play(&s, 0, 2000);
    for (uint64_t n = 1;; n++) {
        heap h = {0};
        char reason[REEF_NET_REASON_MAX];
        const reef_allocator a = heap_allocator(&h);
        heap_fail_nth(&h, n, false);
        reef_net_recording *r = open_recording(&s.record[0], &a, reason);
        if (r == NULL) assert_string_equal(reason, "no memory");
        reef_net_recording_free(r);
        assert_null(h.mistake);
        assert_int_equal(h.blocks, 0);
        if (h.refused == 0) break;
        refused++;
    }
    assert_true(refused >= 3);
    stage_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_leads_to_the_same_states),
        cmocka_unit_test(a_difference_is_saved_and_found_again),
        cmocka_unit_test(a_value_is_told_by_names),
        cmocka_unit_test(recordings_that_are_cut_or_damaged),
        cmocka_unit_test(inputs_of_another_type_are_refused),
        cmocka_unit_test(absurd_inputs_are_refused),
        cmocka_unit_test(inputs_of_another_size_are_refused),
        cmocka_unit_test(a_session_goes_on_when_its_recording_cannot),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
