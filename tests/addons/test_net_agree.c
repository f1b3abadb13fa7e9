/* reef_net's agreement on who is a member and which inputs of a dropped player are the last, by schedules made by hand:
 * what one has confirmed stays, whoever is slow, lies, hinders, or dies. */
#include "net_stage.h"

/* A transport of a program that hinders the agreement on who goes: it never answers a ballot, answers each by saying
 * that it has promised a higher one, says that it is between a promise and a view all the time, or begins ballots all
 * the time. If it lies as well about what it has, its promises have less than the others have agreed on. */
typedef enum hindrance { NO_ANSWER, ALWAYS_BUSY, ALWAYS_PROMISED, BALLOTS, HINDRANCES } hindrance;
static hindrance hindrance_now;
static uint32_t hindering_view;
static bool hindering_lies;
static uint32_t hindering_rounds = 1023; /* after so many its ballots begin anew */

static void hindering_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    enum { PROPOSE = 1, BUSY = 5, VIEW = 6 };
    program *p = context;
    unsigned char copy[REEF_NET_DATAGRAM_MAX];
    memcpy(copy, bytes, count);
    const bool plays = reef_net_state(p->net) == REEF_NET_PLAYING;
    if (plays && copy[0] == FRAME) {
        memcpy(&hindering_view, copy + AGREE_VIEW, sizeof hindering_view);
        copy[stage_echo_at(copy) + 8] ^= hindering_lies;
        if (hindrance_now == ALWAYS_PROMISED) copy[FRAME_FLAGS] |= 4;
    }
    if (plays && copy[0] == AGREE && copy[AGREE_KIND] != VIEW && hindrance_now == NO_ANSWER) return;
    if (plays && copy[0] == AGREE && hindrance_now == ALWAYS_BUSY) {
        copy[AGREE_KIND] = BUSY;
        copy[AGREE_BALLOT + 1] = 1;
    }
    p->changes++;
    p->plain.send(p->plain.context, to, copy, count);
    if (!plays || copy[0] != FRAME || hindrance_now != BALLOTS) return;
    const uint32_t ballot = (uint32_t)(p->changes & hindering_rounds) << 3 | (uint32_t)reef_net_player(p->net);
    unsigned char more[AGREE_DROP + 1] = {AGREE};
    memcpy(more + 1, copy + 1, 16); /* session, incarnation */
    more[AGREE_KIND] = PROPOSE;
    memcpy(more + AGREE_VIEW, &hindering_view, sizeof hindering_view);
    memcpy(more + AGREE_BALLOT, &ballot, sizeof ballot);
    p->plain.send(p->plain.context, to, more, sizeof more);
}

static void hindering(reef_net_config *c, program *p) { stage_sends_by(c, p, hindering_send); }

/* One hinders the agreement. Who dies is dropped, and so is the one who hinders, if he lies about what he has. */
static void hindered(uint64_t seed, bool lies)
{
    stage s;
    hindering_lies = lies;
    stage_begin_on(&s, seed, &stage_line);
    for (int i = 0; i < 4; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    const program *other = stage_add_with(&s, hindering);
    stage_play(&s, 5000);
    const uint64_t tick = reef_net_confirmed(s.of[0].net);
    reef_net_free(s.of[3].net);
    s.of[3].net = NULL;
    stage_play(&s, 9000);
    for (uint32_t i = 0; i < 3; i++) {
        if (reef_net_state(s.of[i].net) != REEF_NET_PLAYING)
            fail_msg("%d: %s", hindrance_now, reef_net_reason(s.of[i].net));
        assert_true(reef_net_confirmed(s.of[i].net) > tick + 300);
        assert_true(equal_until(&s.of[0], &s.of[i]) > tick + 250);
    }
    assert_true(other->changes > 100);
    if (lies) assert_int_equal(reef_net_state(other->net), REEF_NET_ENDED);
    stage_end(&s);
}

static void who_hinders_agreement_stops_nobody(void **state)
{
    (void)state;
    for (hindrance_now = 0; hindrance_now < HINDRANCES; hindrance_now++) {
        hindered(7, true);
        hindered(7, false);
    }
    hindrance_now = ALWAYS_PROMISED;
    hindered(11, true); /* the others stop, since nothing is agreed on, before they find him out */
    hindrance_now = BALLOTS;
    hindered(3, false); /* when the other one dies, his ballots have just begun anew */
    hindered(8, false);
    hindering_rounds = (1u << 20) - 1;
    hindered(1, false);
    hindering_rounds = 1023;
}

static bool has_first(const program *p)
{
    reef_net_player_info first;
    return !reef_net_player_get(p->net, 0, &first) || first.present;
}

/* A transport of a program that falls silent as soon as it has a view without the first player. */
static void falling_silent_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    program *p = context;
    if (p->net && reef_net_state(p->net) == REEF_NET_PLAYING && !has_first(p)) return;
    p->plain.send(p->plain.context, to, bytes, count);
}

static void falling_silent(reef_net_config *c, program *p) { stage_sends_by(c, p, falling_silent_send); }

/* The host is cut off, the others accept a view without him, and the only one who knows that it is decided falls
 * silent. The host, who is heard again, can't have another view decided in place of the first. */
static void what_is_decided_is_not_replaced(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    (void)stage_add(&s);
    const program *decides = stage_add_with(&s, falling_silent); /* has the second seat, so it proposes first */
    stage_play_until_all_play(&s);
    for (int i = 0; i < 3; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    for (uint64_t a = 2; a <= 5; a++) stage_cut(&s, 1, a, true);
    for (int i = 0; i < 500 && has_first(decides); i++) stage_play(&s, 4);
    assert_false(has_first(decides));
    for (uint32_t i = 2; i < 5; i++) assert_true(has_first(&s.of[i])); /* they don't know it */
    for (uint64_t a = 2; a <= 5; a++) stage_cut(&s, 1, a, false);
    const uint64_t tick = reef_net_confirmed(s.of[2].net);
    stage_play(&s, 6000);
    assert_int_equal(reef_net_state(s.of[0].net), REEF_NET_ENDED);
    for (uint32_t i = 2; i < 5; i++) {
        if (reef_net_state(s.of[i].net) != REEF_NET_PLAYING) fail_msg("%u: %s", i, reef_net_reason(s.of[i].net));
        assert_false(has_first(&s.of[i]));
        assert_true(reef_net_confirmed(s.of[i].net) > tick + 100);
        assert_true(equal_until(&s.of[2], &s.of[i]) > tick + 50);
    }
    stage_end(&s);
}

/* ---- schedules ---- */

/* A transport with faults that a test turns on and off in `mode`, whose bits 1 ... 15 are addresses. Datagrams of the
 * agreement pass always, unless it says NO_AGREE. */
enum {
    LIES = 1 << 16,      /* the digest of all inputs is wrong in frames to these addresses */
    MUTE = 1 << 17,      /* nothing reaches these addresses, directly or by others */
    DEAF = 1 << 18,      /* nothing is received */
    NOT_READY = 1 << 19, /* frames don't say that its state is loaded */
    DENIES = 1 << 21,    /* frames say that nobody is heard */
    NO_AGREE = 1 << 20,  /* what is received lacks the agreement */
    EVERYBODY = 0xfffe
};
#define TO(address) (1u << (address))

static void faulty_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    program *p = context;
    unsigned char copy[REEF_NET_DATAGRAM_MAX];
    memcpy(copy, bytes, count);
    const bool there = p->mode >> to & 1, agree = copy[0] == AGREE;
    if (p->mode & MUTE && !agree && (there || copy[0] == RELAY)) return;
    if (p->mode & LIES && there && copy[0] == FRAME && count > FRAME_SEATS) copy[stage_echo_at(copy) + 8] ^= 1;
    if (p->mode & DENIES && copy[0] == FRAME) copy[FRAME_KNOWN - 1] = 0;
    if (p->mode & NOT_READY && copy[0] == FRAME) copy[FRAME_FLAGS] &= 0xfd;
    p->plain.send(p->plain.context, to, copy, count);
}

static bool faulty_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    const program *p = context;
    while (p->plain.receive(p->plain.context, from, bytes, count)) {
        const bool agree = *(unsigned char *)bytes == AGREE;
        if (!(p->mode & (agree ? NO_AGREE : DEAF))) return true;
    }
    return false;
}

static void faulty(reef_net_config *c, program *p)
{
    p->plain = c->transport;
    c->transport = (reef_net_transport){faulty_send, faulty_receive, p};
    c->patience_ns = 60000 * MS; /* who lies doesn't give up */
}

static void watching(reef_net_config *c, program *p)
{
    c->spectator = true;
    faulty(c, p);
}

static const reef_net_line sound = {.latency_ns = 20 * MS, .jitter_ns = 5 * MS};

static void begin_with(stage *s, uint32_t programs)
{
    stage_begin_on(s, 7, &sound);
    for (uint32_t i = 0; i < programs; i++) { /* one after the other, so that program i has seat i */
        (void)stage_add_with(s, faulty);
        stage_play_until_all_play(s);
    }
}

static void stop(program *p)
{
    reef_net_free(p->net);
    p->net = NULL;
}

static reef_net_player_info info_of(const program *p, uint32_t player)
{
    reef_net_player_info info = {0};
    assert_true(reef_net_player_get(p->net, player, &info));
    return info;
}

/* Plays until this program knows all but the last inputs of a block of the player, which aren't signed yet. */
static void play_until_block_ends(stage *s, const program *p, uint32_t player)
{
    for (int i = 0; i < 200 && info_of(p, player).known % 16 != 14; i++) stage_play(s, 4);
    assert_int_equal(info_of(p, player).known % 16, 14);
}

static void play_until_gone(stage *s, const program *p, uint32_t player)
{
    for (int i = 0; i < 400 && info_of(p, player).present; i++) stage_play(s, 4);
    assert_false(info_of(p, player).present);
}

/* Those of the set play on, with equal states; what others have confirmed before they ended is equal, too. */
static void go_on(const stage *s, uint32_t set, uint64_t after)
{
    const program *first = NULL;
    for (uint32_t i = 0; i < s->count; i++) {
        const program *p = &s->of[i];
        if (p->net == NULL) continue;
        if (first) (void)equal_until(first, p);
        if (!(set & 1u << i)) continue;
        if (reef_net_state(p->net) < REEF_NET_WATCHING || reef_net_state(p->net) == REEF_NET_ENDED)
            fail_msg("program %u: %s", i, reef_net_reason(p->net));
        if (reef_net_confirmed(p->net) <= after + 60) fail_msg("program %u hangs: %s", i, reef_net_reason(p->net));
        if (first) assert_true(equal_until(first, p) > after);
        else first = p;
    }
}

/* The second one doesn't hear the third, and the host doesn't hear the second, until the third has confirmed a tick
 * after `tick`, and nobody else has. */
static void only_the_third_confirms(stage *s, uint64_t tick)
{
    program *of = s->of;
    of[1].mode = MUTE | TO(1);
    of[2].mode = MUTE | TO(2);
    for (int i = 0; i < 200 && reef_net_confirmed(of[2].net) <= tick; i++) stage_play(s, 4);
    assert_true(reef_net_confirmed(of[2].net) > tick);
    assert_true(reef_net_confirmed(of[0].net) <= tick && reef_net_confirmed(of[1].net) <= tick);
}

/* One lies about what he has, so the others go on without him. The third one then confirms ticks, and only he. The
 * fourth one dies. The ticks that the third
 * one has confirmed stay as they are, though the liar had less of the dead one's inputs. */
static void what_one_has_confirmed_stays(void **state)
{
    stage s;
    (void)state;
    begin_with(&s, 5);
    program *of = s.of;
    of[4].mode = LIES | EVERYBODY;
    stage_play(&s, 1500);
    play_until_block_ends(&s, &of[0], 3);
    const uint64_t tick = info_of(&of[0], 3).known / 16 * 16;
    of[4].mode |= DEAF;
    only_the_third_confirms(&s, tick);
    stop(&of[3]);
    play_until_gone(&s, &of[0], 3);
    of[1].mode = of[2].mode = 0;
    of[4].mode = LIES | EVERYBODY;
    stage_play(&s, 5000);
    go_on(&s, 7, tick + 100);
    stage_end(&s);
}

/* As before, but nobody lies: the one who has less of the dead one's inputs has just become a member. */
static void what_was_confirmed_before_one_came_stays(void **state)
{
    stage s;
    (void)state;
    begin_with(&s, 4);
    program *of = s.of;
    program *late = stage_add_with(&s, faulty);
    late->mode = NOT_READY;
    stage_play(&s, 1500);
    assert_int_equal(reef_net_state(late->net), REEF_NET_WATCHING);
    play_until_block_ends(&s, &of[2], 3);
    late->mode |= DEAF;
    const uint64_t tick = info_of(late, 3).known;
    only_the_third_confirms(&s, tick);
    late->mode = DEAF;
    for (int i = 0; i < 200 && reef_net_state(late->net) != REEF_NET_PLAYING; i++) stage_play(&s, 4);
    assert_true(info_of(&of[0], 4).present);
    stop(&of[3]);
    stage_play(&s, 1000);
    of[1].mode = of[2].mode = late->mode = 0;
    stage_play(&s, 6000);
    go_on(&s, 7, tick + 100);
    stage_end(&s);
}

/* The host has inputs of a player that the second one lacks, and passes them on to a spectator. The player dies, and
 * the next view ends him before these inputs, but the spectator hears of this view only later. */
static void a_spectator_confirms_what_the_players_confirm(void **state)
{
    stage s;
    (void)state;
    begin_with(&s, 3);
    program *of = s.of;
    program *spectator = stage_add_with(&s, watching);
    stage_play(&s, 2000);
    assert_int_equal(reef_net_state(spectator->net), REEF_NET_WATCHING);
    play_until_block_ends(&s, &of[1], 2);
    const uint64_t known = info_of(&of[1], 2).known;
    of[1].mode = DEAF;
    spectator->mode = NO_AGREE;
    for (int i = 0; i < 100 && info_of(spectator, 2).known < known + 2; i++) stage_play(&s, 4);
    assert_true(info_of(spectator, 2).known >= known + 2);
    stop(&of[2]);
    play_until_gone(&s, &of[0], 2);
    assert_true(info_of(&of[0], 2).known < known);
    of[1].mode = 0;
    stage_play(&s, 2000);
    spectator->mode = 0;
    stage_play(&s, 3000);
    go_on(&s, 1 | 2 | 8, known + 100);
    stage_end(&s);
}

/* The host lets a new member begin, and dies. The third program hasn't got the input with that command, so it doesn't
 * count, and the next host gives another one. */
static void a_beginning_that_does_not_count_is_taken_back(void **state)
{
    stage s;
    (void)state;
    begin_with(&s, 3);
    program *late = stage_add_with(&s, faulty);
    late->mode = NOT_READY;
    stage_play(&s, 1500);
    play_until_block_ends(&s, &s.of[1], 0);
    stage_play(&s, 60);
    late->mode = 0;
    for (int i = 0; i < 100 && !(info_of(&s.of[2], 3).present && info_of(late, 3).present); i++) stage_play(&s, 4);
    assert_true(info_of(&s.of[2], 3).present && info_of(late, 3).present);
    s.of[2].mode = DEAF;
    for (int i = 0; i < 200 && info_of(&s.of[1], 3).known == 0; i++) stage_play(&s, 4);
    assert_true(info_of(&s.of[1], 3).known > 0 && info_of(&s.of[2], 3).known == 0);
    stop(&s.of[0]);
    const uint64_t tick = reef_net_confirmed(s.of[1].net);
    play_until_gone(&s, &s.of[1], 0);
    s.of[2].mode = 0;
    stage_play(&s, 6000);
    go_on(&s, 2 | 4 | 8, tick + 100);
    assert_true(info_of(&s.of[1], 3).known > tick + 100);
    stage_end(&s);
}

/* One tells some that he has other inputs than they, and others the truth. Whoever he lies to goes on: he is dropped,
 * or those to whom he tells the truth say what is confirmed. It doesn't help him to say that he hears nobody. */
static void who_lies_to_some_only_stops_nobody(void **state)
{
    static const uint32_t to[] = {TO(1), TO(2), TO(1) | TO(2), TO(2) | TO(3), EVERYBODY, EVERYBODY | DENIES};
    (void)state;
    for (size_t k = 0; k < sizeof to / sizeof to[0]; k++) {
        stage s;
        begin_with(&s, 4);
        s.of[3].mode = LIES | to[k];
        const uint64_t tick = reef_net_confirmed(s.of[0].net);
        stage_play(&s, 12000);
        go_on(&s, 7, tick + 400);
        stage_end(&s);
    }
}

/* One becomes a member and hears nothing from then on: the others drop him, and go on. */
static void who_hears_nothing_stops_nobody(void **state)
{
    stage s;
    (void)state;
    begin_with(&s, 3);
    program *late = stage_add_with(&s, faulty);
    for (int i = 0; i < 500 && reef_net_state(late->net) != REEF_NET_PLAYING; i++) stage_play(&s, 4);
    assert_int_equal(reef_net_state(late->net), REEF_NET_PLAYING);
    late->mode = DEAF | NO_AGREE;
    const uint64_t tick = reef_net_confirmed(s.of[0].net);
    stage_play(&s, 6000);
    assert_false(info_of(&s.of[0], 3).present);
    go_on(&s, 7, tick + 100);
    stage_end(&s);
}

static void trusting(reef_net_config *c, program *p)
{
    (void)p;
    c->signer = (reef_net_signer){0};
}

/* The seat of a player who left is given to another one; when that is being agreed on, a third one asks for the state.
 * He gets no state from before that player's end: the inputs since would be forgotten with the seat. */
static void a_seat_is_given_again_when_its_end_is_in_all_states(void **state)
{
    static const reef_net_line slow = {.latency_ns = 80 * MS};
    (void)state;
    for (uint64_t after = 0; after < 60; after++) {
        stage s;
        stage_begin_on(&s, 3, &slow);
        for (int i = 0; i < 3; i++) (void)stage_add_with(&s, trusting);
        stage_play_until_all_play(&s);
        stage_play(&s, 80 + after % 2 * 100); /* so that no block begins with the end */
        reef_net_leave(s.of[2].net);
        stage_play(&s, after % 6 * 40);
        (void)stage_add_with(&s, trusting);
        stage_play(&s, 160 + after / 6 * 40);
        (void)stage_add_with(&s, trusting);
        for (int i = 0; i < 200 && reef_net_state(s.of[4].net) != REEF_NET_PLAYING; i++) stage_play(&s, 40);
        stage_play(&s, 1000);
        for (uint32_t i = 0; i < 5; i++) {
            if (i == 2) continue;
            if (reef_net_state(s.of[i].net) != REEF_NET_PLAYING)
                fail_msg("%u after %u ms: %s", i, (unsigned)after, reef_net_reason(s.of[i].net));
            assert_true(equal_until(&s.of[0], &s.of[i]) + 100 > reef_net_tick_next(s.of[0].net));
        }
        stage_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_hinders_agreement_stops_nobody),
        cmocka_unit_test(what_is_decided_is_not_replaced),
        cmocka_unit_test(what_one_has_confirmed_stays),
        cmocka_unit_test(what_was_confirmed_before_one_came_stays),
        cmocka_unit_test(a_spectator_confirms_what_the_players_confirm),
        cmocka_unit_test(a_beginning_that_does_not_count_is_taken_back),
        cmocka_unit_test(who_lies_to_some_only_stops_nobody),
        cmocka_unit_test(who_hears_nothing_stops_nobody),
        cmocka_unit_test(a_seat_is_given_again_when_its_end_is_in_all_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
