/* reef_net beside players who send nonsense, lie, change what they pass on or sign two versions, and programs whose
 * states differ: the others play on, and what differs is named. */
#include "net_stage.h"
#include <math.h>

/* ---- what somebody else does ---- */

/* A transport that changes some bytes of some datagrams, once the program is a player. */
static void changing_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    program *p = context;
    unsigned char copy[REEF_NET_DATAGRAM_MAX];
    if (reef_net_state(p->net) != REEF_NET_PLAYING) {
        p->plain.send(p->plain.context, to, bytes, count);
        return;
    }
    memcpy(copy, bytes, count);
    uint64_t seed = 99 + ++p->changes;
    for (uint64_t i = random_below(&seed, 3) ? 0 : 1 + random_below(&seed, 4); i > 0 && count; i--)
        copy[random_below(&seed, (uint32_t)count)] = (unsigned char)random_below(&seed, 256);
    p->plain.send(p->plain.context, to, copy,
                  random_below(&seed, 8) ? count : random_below(&seed, (uint32_t)count + 1));
}

static void changing(reef_net_config *c, program *p) { stage_sends_by(c, p, changing_send); }

static void a_player_who_sends_nonsense_harms_only_himself(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 3; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    (void)stage_add_with(&s, changing);
    const uint64_t tick = reef_net_confirmed(s.of[0].net);
    stage_play(&s, 20000);
    for (uint32_t i = 0; i < 3; i++) {
        if (reef_net_state(s.of[i].net) != REEF_NET_PLAYING) fail_msg("%s", reef_net_reason(s.of[i].net));
        assert_true(reef_net_confirmed(s.of[i].net) > tick + 600);
        assert_true(equal_until(&s.of[0], &s.of[i]) > tick + 500);
    }
    assert_true(reef_net_statistics(s.of[0].net).refused > 10);
    stage_end(&s);
}

typedef enum lie { LIE_ECHO, LIE_HASHES, LIE_INPUTS, LIE_RELAYED, LIES } lie;
static lie lie_now;

/* A transport of a program that lies: about the digest of all inputs, about the hashes of its states, with inputs of
 * another player, or in what it passes on for others. */
static void lying_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    program *p = context;
    unsigned char copy[REEF_NET_DATAGRAM_MAX];
    memcpy(copy, bytes, count);
    const bool frame = count > FRAME_SEATS && copy[0] == FRAME && reef_net_state(p->net) == REEF_NET_PLAYING;
    const size_t at = frame ? stage_echo_at(copy) : 0;
    if (frame && lie_now == LIE_ECHO) copy[at + 8] ^= 1;
    if (frame && lie_now == LIE_HASHES)
        for (uint32_t i = 0; i < copy[at + 24]; i++) copy[at + 25 + i * 16 + 8] ^= 1;
    reef_net_player_info other;
    if (frame && lie_now == LIE_INPUTS && count + 26 <= sizeof copy && reef_net_player_get(p->net, 0, &other)) {
        copy[count++] = 0; /* the host's inputs for the next ticks */
        for (uint32_t i = 0; i < 8; i++) copy[count++] = (unsigned char)(other.known >> 8 * i);
        copy[count++] = 4;
        for (uint32_t i = 0; i < 4; i++) {
            copy[count++] = 0;
            copy[count++] = 1; /* right, up, no shot */
            copy[count++] = 1;
            copy[count++] = 0;
        }
    }
    unsigned char *relayed = copy + RELAY_HEAD;
    if (copy[0] == RELAY && count > RELAY_HEAD + FRAME_SEATS && relayed[0] == FRAME && lie_now == LIE_RELAYED) {
        const size_t hashes = stage_echo_at(relayed) + 24;
        for (uint32_t i = 0; i < relayed[hashes]; i++) relayed[hashes + 1 + i * 16 + 8] ^= 1;
    }
    p->changes++;
    p->plain.send(p->plain.context, to, copy, count);
}

static void lying(reef_net_config *c, program *p) { stage_sends_by(c, p, lying_send); }

/* Whatever one player says, the others play on, with equal states. */
static void a_player_who_lies_harms_only_himself(void **state)
{
    (void)state;
    for (lie_now = 0; lie_now < LIE_RELAYED; lie_now++) {
        stage s;
        stage_begin(&s);
        for (int i = 0; i < 3; i++) (void)stage_add(&s);
        stage_play_until_all_play(&s);
        const program *liar = stage_add_with(&s, lying);
        const uint64_t tick = reef_net_confirmed(s.of[0].net);
        stage_play(&s, 9000);
        for (uint32_t i = 0; i < 3; i++) {
            if (reef_net_state(s.of[i].net) != REEF_NET_PLAYING)
                fail_msg("%d: %s", lie_now, reef_net_reason(s.of[i].net));
            assert_true(reef_net_confirmed(s.of[i].net) > tick + 300);
            assert_true(equal_until(&s.of[0], &s.of[i]) > tick + 250);
        }
        assert_true(liar->changes > 100);
        if (lie_now == LIE_HASHES || lie_now == LIE_ECHO) assert_int_equal(reef_net_state(liar->net), REEF_NET_ENDED);
        stage_end(&s);
    }
}

/* What a player passes on for two others who don't reach each other isn't believed when he has changed it. */
static void a_relay_that_changes_datagrams_is_noticed(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    lie_now = LIES;
    (void)stage_add_with(&s, lying);
    for (int i = 0; i < 3; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    stage_cut(&s, 2, 3, true);
    stage_play(&s, 1000);
    assert_true(reef_net_statistics(s.of[0].net).relayed > 10);
    const uint64_t refused = reef_net_statistics(s.of[1].net).refused, tick = reef_net_confirmed(s.of[1].net);
    lie_now = LIE_RELAYED;
    stage_play(&s, 5000);
    assert_true(reef_net_statistics(s.of[1].net).refused > refused + 20);
    reef_net_desync d;
    for (uint32_t i = 0; i < 4; i++) assert_false(reef_net_desync_get(s.of[i].net, &d));
    for (uint32_t i = 0; i < 4; i++) { /* inputs come in signed blocks, by way of the others */
        assert_int_equal(reef_net_state(s.of[i].net), REEF_NET_PLAYING);
        assert_true(reef_net_confirmed(s.of[i].net) > tick + 150);
        assert_true(equal_until(&s.of[0], &s.of[i]) > tick + 100);
    }
    stage_end(&s);
}

/* One player as two programs with the same key: the first one talks to the host, the second one to the others, and both
 * hear everything. So the host and the others get different inputs, all of them signed. */
typedef struct twin {
    struct twin *other;
    reef_net_transport plain; /* of both */
    bool first;
    struct {
        uint64_t from;
        size_t count;
        unsigned char bytes[REEF_NET_DATAGRAM_MAX];
    } heard[256]; /* by the other one */
    uint32_t count, read;
} twin;

static void twin_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    const twin *t = context;
    if ((to == 1) == t->first) t->plain.send(t->plain.context, to, bytes, count);
}

static bool twin_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    twin *t = context;
    if (t->read < t->count) {
        const uint32_t i = t->read++ % 256;
        *from = t->heard[i].from;
        *count = t->heard[i].count;
        memcpy(bytes, t->heard[i].bytes, *count);
        return true;
    }
    if (!t->plain.receive(t->plain.context, from, bytes, count)) return false;
    twin *o = t->other;
    const uint32_t i = o->count++ % 256;
    o->heard[i].from = *from;
    o->heard[i].count = *count;
    memcpy(o->heard[i].bytes, bytes, *count);
    return true;
}

static twin twins[2];
static void twin_config(reef_net_config *c, program *p)
{
    twin *t = twins[0].other ? &twins[1] : &twins[0];
    t->first = t == &twins[0];
    t->other = t->first ? &twins[1] : &twins[0];
    t->plain = t->first ? c->transport : twins[0].plain;
    c->transport = (reef_net_transport){twin_send, twin_receive, t};
    c->nonce = 999;
    c->signer = net_game_signer(999);
    (void)p;
}

static void who_signs_two_versions_is_convicted_by_all(void **state)
{
    static const reef_net_line sound = {.latency_ns = 20 * MS, .jitter_ns = 5 * MS};
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        stage s;
        memset(twins, 0, sizeof twins);
        stage_begin_on(&s, seed, &sound);
        for (int i = 0; i < 3; i++) (void)stage_add(&s);
        stage_play_until_all_play(&s);
        const uint64_t tick = reef_net_confirmed(s.of[0].net);
        (void)stage_add_with(&s, twin_config);
        (void)stage_add_with(&s, twin_config);
        stage_play(&s, 12000);
        for (uint32_t i = 0; i < 3; i++) {
            reef_net_player_info cheat;
            if (reef_net_state(s.of[i].net) != REEF_NET_PLAYING) fail_msg("%s", reef_net_reason(s.of[i].net));
            assert_int_equal(reef_net_statistics(s.of[i].net).proofs, 1);
            assert_true(reef_net_player_get(s.of[i].net, 3, &cheat) && !cheat.present && cheat.known > 0);
            assert_true(reef_net_confirmed(s.of[i].net) > tick + 400);
            assert_true(equal_until(&s.of[0], &s.of[i]) > tick + 300);
        }
        stage_end(&s);
    }
}

/* ---- states that differ ---- */

static void with_another_rule(reef_net_config *c, program *p)
{
    (void)c;
    p->game.other_rule = true;
}

static void with_a_slow_state(reef_net_config *c, program *p)
{
    (void)p;
    c->state_rate = 3000;
}

/* With a slow state the joiner is far behind, and the two see the difference at different ticks. */
static void difference_is_named(uint64_t seed)
{
    static const reef_net_line bad = {.latency_ns = 60 * MS, .jitter_ns = 30 * MS, .loss = 100};
    stage s;
    reef_net_desync d[2];
    stage_begin_on(&s, seed, &bad);
    (void)stage_add_with(&s, seed % 2 ? with_a_slow_state : NULL);
    (void)stage_add_with(&s, with_another_rule);
    for (int i = 0; i < 500 && reef_net_state(s.of[1].net) != REEF_NET_ENDED; i++) stage_play(&s, 8);
    stage_play(&s, 4000);
    assert_int_equal(reef_net_state(s.of[0].net), REEF_NET_PLAYING); /* of two, the host is right */
    assert_int_equal(reef_net_state(s.of[1].net), REEF_NET_ENDED);
    assert_memory_equal(reef_net_reason(s.of[1].net), "desync in tick", 14);
    for (int i = 0; i < 2; i++) {
        assert_true(reef_net_desync_get(s.of[i].net, &d[i]));
        assert_string_equal(d[i].system, "game_move");
        assert_string_equal(d[i].component, "Position");
        assert_string_equal(d[i].field, "x");
        assert_true(d[i].player == 1 - i || (i == 0 && d[i].player == -1)); /* -1: it didn't play yet */
    }
    assert_int_equal(d[0].tick, d[1].tick);
    assert_true(reef_entity_equal(d[0].entity, d[1].entity));
    assert_string_equal(d[0].here, d[1].there);
    assert_string_equal(d[1].here, d[0].there);
    const float here = strtof(d[0].here, NULL), there = strtof(d[0].there, NULL);
    assert_true(here != there && nextafterf(here, there) == there);
    reef_net_player_info gone;
    assert_true(reef_net_player_get(s.of[0].net, 1, &gone) && !gone.present);
    assert_true(reef_net_confirmed(s.of[0].net) > d[0].tick + 120);
    stage_end(&s);
}

static void a_difference_of_one_unit_in_the_last_place_is_named(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) difference_is_named(seed);
}

/* Over a line of 150 +- 30 ms there and back and 5% loss: from when a tick is played that leads to different states. */
static uint64_t named_after(uint64_t seed)
{
    static const reef_net_line real = {.latency_ns = 60 * MS, .jitter_ns = 30 * MS, .loss = 50};
    static uint64_t played_at[1024];
    stage s;
    reef_net_desync d[2];
    uint64_t ticks = 0, after = 0;
    stage_begin_on(&s, seed, &real);
    (void)stage_add(&s);
    (void)stage_add_with(&s, with_another_rule);
    for (uint32_t named = 0; named != 3;) {
        stage_play(&s, 4);
        for (; ticks < reef_net_tick_next(s.of[1].net); ticks++) played_at[ticks % 1024] = s.now;
        for (uint32_t i = 0; i < 2; i++) {
            if (named >> i & 1 || !reef_net_desync_get(s.of[i].net, &d[i])) continue;
            named |= 1u << i;
            assert_string_equal(d[i].field, "x");
            after = s.now - played_at[d[i].tick % 1024];
        }
        assert_true(s.now < 20000 * MS);
    }
    stage_end(&s);
    return after;
}

static void a_difference_is_named_within_a_second(void **state)
{
    enum { SEEDS = 40 };
    uint64_t all = 0, longest = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const uint64_t after = named_after(seed);
        all += after;
        if (after > longest) longest = after;
    }
    if (longest > 1000 * MS) fail_msg("after %.0f ms", (double)longest / 1e6);
    print_message("             after %.0f ms on average, at most %.0f\n", (double)all / SEEDS / 1e6,
                  (double)longest / 1e6);
}

/* A thousand things that stand, and one that moves. */
static reef_entity moving;

static void with_a_crowd(reef_net_config *c, program *p)
{
    static const float still[2] = {0, 0}, speed[2] = {2, 0};
    (void)p;
    moving = (reef_entity){0};
    for (uint32_t i = 0; i < 1000; i++) {
        const reef_entity e = reef_create(c->world);
        const bool moves = i > 700 && reef_entity_is_null(moving) && e.index % 2 == 1;
        assert_true(reef_set_id(c->world, e, reef_type_find("Position"), still, sizeof still) >= 0);
        assert_true(reef_set_id(c->world, e, reef_type_find("Velocity"), moves ? speed : still, sizeof still) >= 0);
        if (moves) moving = e;
    }
}

static void with_a_very_slow_state(reef_net_config *c, program *p)
{
    with_a_crowd(c, p);
    c->state_rate = 6000;
}

/* The joiner loads for so long that the host's history has dropped all ticks that it plays first. The state that it got
 * is kept, so both name the difference as soon as for anybody else, and the host plays on meanwhile. */
static void a_difference_of_who_loads_slowly_is_named(void **state)
{
    enum { HISTORY = 128 };
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        static const reef_net_line real = {.latency_ns = 60 * MS, .jitter_ns = 30 * MS, .loss = 50};
        stage s;
        reef_net_desync d[2];
        uint64_t played_at = 0, differs_at = 0, began = 0;
        stage_begin_on(&s, seed, &real);
        (void)stage_add_with(&s, with_a_very_slow_state);
        (void)stage_add_with(&s, with_another_rule);
        for (uint32_t named = 0; named != 3;) {
            stage_play(&s, 4);
            if (played_at == 0 && reef_net_state(s.of[1].net) == REEF_NET_WATCHING) played_at = s.now;
            if (played_at == 0) began = reef_net_tick_next(s.of[0].net);
            for (uint32_t i = 0; i < 2; i++)
                if (!(named >> i & 1) && reef_net_desync_get(s.of[i].net, &d[i])) {
                    named |= 1u << i;
                    differs_at = s.now;
                }
            assert_true(s.now < 30000 * MS);
        }
        assert_true(began > d[0].tick + HISTORY);
        assert_true(differs_at < played_at + 1000 * MS);
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(d[i].tick, d[0].tick);
            assert_string_equal(d[i].system, "game_move");
            assert_string_equal(d[i].component, "Position");
            assert_string_equal(d[i].field, "x");
        }
        assert_int_equal(d[0].player, -1); /* it didn't play yet */
        assert_string_equal(d[0].here, d[1].there);
        stage_play(&s, 4000);
        assert_int_equal(reef_net_state(s.of[0].net), REEF_NET_PLAYING);
        assert_int_equal(reef_net_state(s.of[1].net), REEF_NET_ENDED);
        assert_memory_equal(reef_net_reason(s.of[1].net), "desync in tick", 14);
        assert_int_equal(reef_net_statistics(s.of[0].net).stalls, 0);
        stage_end(&s);
    }
}

/* Who still plays the ticks that it missed isn't a member yet: the others don't wait for it. */
static void nobody_waits_for_who_loads_slowly(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    (void)stage_add_with(&s, with_a_very_slow_state);
    (void)stage_add(&s);
    for (int i = 0; i < 10000 && (reef_net_state(s.of[1].net) != REEF_NET_PLAYING ||
                                  reef_net_tick_next(s.of[1].net) + 40 < reef_net_tick_next(s.of[0].net));
         i++) {
        s.now += 4 * MS;
        reef_net_sim_time(s.sim, s.now);
        (void)reef_net_update(s.of[0].net, s.now);
        if (i % 24 == 0) (void)reef_net_update(s.of[1].net, s.now); /* a slow machine: it gains on the host slowly */
    }
    assert_int_equal(reef_net_state(s.of[1].net), REEF_NET_PLAYING);
    assert_int_equal(reef_net_statistics(s.of[0].net).stalls, 0);
    stage_play(&s, 2000);
    assert_int_equal(reef_net_statistics(s.of[0].net).stalls, 0);
    assert_true(equal_until(&s.of[0], &s.of[1]) + 100 > reef_net_tick_next(s.of[0].net));
    stage_end(&s);
}

/* Who plays more slowly than the others never catches up. When the inputs that it lacks are gone, it is told
 * so, and those who come later get a seat. */
static void who_falls_too_far_behind_is_sent_away(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 2; i++) (void)stage_add(&s);
    for (int i = 0; i < 20000 && reef_net_state(s.of[1].net) != REEF_NET_ENDED; i++) {
        s.now += 4 * MS;
        reef_net_sim_time(s.sim, s.now);
        (void)reef_net_update(s.of[0].net, s.now);
        if (i % 224 == 0) (void)reef_net_update(s.of[1].net, s.now);
    }
    assert_int_equal(reef_net_state(s.of[1].net), REEF_NET_ENDED);
    assert_string_equal(reef_net_reason(s.of[1].net), "the inputs since the state aren't kept any more: loading it or "
                                                      "playing on took too long");
    assert_int_equal(reef_net_statistics(s.of[0].net).stalls, 0);
    (void)stage_add(&s);
    stage_play(&s, 3000);
    assert_int_equal(reef_net_state(s.of[2].net), REEF_NET_PLAYING);
    stage_end(&s);
}

static void the_entity_is_found_in_a_crowd(void **state)
{
    stage s;
    reef_net_desync d;
    (void)state;
    stage_begin(&s);
    (void)stage_add_with(&s, with_a_crowd);
    (void)stage_add_with(&s, with_another_rule);
    stage_play(&s, 6000);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(reef_net_desync_get(s.of[i].net, &d));
        assert_int_equal(reef_entity_bits(d.entity), reef_entity_bits(moving));
    }
    stage_end(&s);
}

typedef struct Other {
    float x;
} Other;
REEF_COMPONENT(Other);
REEF_FIELDS(Other, x);

/* A joiner's world that isn't what it got: nothing was played that could be blamed. */
static reef_status load_and_change(reef_world *w, reef_reader from, const reef_load_desc *desc, char *reason)
{
    (void)reason;
    const reef_status s = reef_load_from(w, from, desc);
    for (reef_block b = reef_begin_text(w, "Other"); reef_next(&b);) reef_inout(&b, Other)[0].x++;
    return s;
}

static reef_status save_plainly(reef_world *w, reef_writer to, const reef_save_desc *desc, int level, char *reason)
{
    (void)level, (void)reason;
    return reef_save_to(w, to, desc);
}

static void packed(reef_net_config *c, program *p)
{
    if (p->game.seed == 1) (void)reef_spawn(c->world, reef_with(Other, 1));
    c->pack = save_plainly;
    c->unpack = load_and_change;
}

static void a_state_that_was_loaded_as_another_one_is_named(void **state)
{
    stage s;
    reef_net_desync d;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 2; i++) (void)stage_add_with(&s, packed);
    stage_play(&s, 6000);
    assert_int_equal(reef_net_state(s.of[0].net), REEF_NET_PLAYING);
    assert_int_equal(reef_net_state(s.of[1].net), REEF_NET_ENDED);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(reef_net_desync_get(s.of[i].net, &d));
        assert_string_equal(d.system, "none: the states before this tick differ");
        assert_string_equal(d.component, "Other");
        assert_string_equal(d.here, i ? "2" : "1");
    }
    stage_end(&s);
}

/* What a tool changes between updates isn't played by the others. Who is out takes the host's state and goes on. */
static void a_world_that_is_changed_from_outside_is_noticed(void **state)
{
    stage s;
    reef_net_desync d;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 2; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    assert_false(reef_net_desync_get(s.of[0].net, &d));
    for (int i = 0; i < 40; i++) { /* some of them are taken back by corrections */
        (void)reef_spawn(s.of[1].world, reef_with(Other, 1));
        stage_play(&s, 40);
    }
    stage_play(&s, 4000);
    assert_int_equal(reef_net_state(s.of[0].net), REEF_NET_PLAYING);
    assert_int_equal(reef_net_state(s.of[1].net), REEF_NET_ENDED);
    for (uint32_t i = 0; i < 2; i++) assert_true(reef_net_desync_get(s.of[i].net, &d));
    reef_net_config again = stage_config(&s, &s.of[1], 2);
    again.nonce = 777;
    reef_net_free(s.of[1].net);
    s.of[1].net = reef_net_join(&again, 1, NULL);
    stage_play_until_all_play(&s);
    assert_true(equal_until(&s.of[0], &s.of[1]) + 100 > reef_net_tick_next(s.of[0].net));
    stage_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_player_who_sends_nonsense_harms_only_himself),
        cmocka_unit_test(a_player_who_lies_harms_only_himself),
        cmocka_unit_test(a_relay_that_changes_datagrams_is_noticed),
        cmocka_unit_test(who_signs_two_versions_is_convicted_by_all),
        cmocka_unit_test(a_difference_of_one_unit_in_the_last_place_is_named),
        cmocka_unit_test(a_difference_is_named_within_a_second),
        cmocka_unit_test(a_difference_of_who_loads_slowly_is_named),
        cmocka_unit_test(nobody_waits_for_who_loads_slowly),
        cmocka_unit_test(who_falls_too_far_behind_is_sent_away),
        cmocka_unit_test(a_state_that_was_loaded_as_another_one_is_named),
        cmocka_unit_test(the_entity_is_found_in_a_crowd),
        cmocka_unit_test(a_world_that_is_changed_from_outside_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
