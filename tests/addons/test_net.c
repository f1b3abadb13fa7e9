/* The add-on reef_net, case by case: joining and who is refused, leaving, links that fail, partitions, events, steps
 * and allocations that fail. (What others do: test_net_others.c. Who is a member: test_net_agree.c. Seeds with
 * everything at once: test_net_seeds.c.) */
#include "net_stage.h"

/* ---- joining ---- */

static void eight_play_the_same(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 8; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    uint32_t seats = 0;
    for (uint32_t i = 0; i < 8; i++) {
        seats |= 1u << reef_net_player(s.of[i].net);
        assert_true(equal_until(&s.of[0], &s.of[i]) > 60);
        assert_true(reef_net_statistics(s.of[i].net).hashes_compared > 10);
    }
    assert_int_equal(seats, 0xff);
    stage_end(&s);
}

static void spectating(reef_net_config *c, program *p)
{
    (void)p;
    c->spectator = true;
}

static void a_full_session_takes_spectators_only(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 8; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    const program *more = stage_add(&s), *spectator = stage_add_with(&s, spectating);
    stage_play(&s, 3000);
    assert_int_equal(reef_net_state(more->net), REEF_NET_ENDED);
    assert_string_equal(reef_net_reason(more->net), "the session is full");
    assert_int_equal(reef_net_state(spectator->net), REEF_NET_WATCHING);
    assert_int_equal(reef_net_player(spectator->net), -1);
    assert_true(equal_until(&s.of[0], spectator) > 60);
    assert_int_equal(reef_net_statistics(spectator->net).rollbacks, 0);
    assert_true(reef_net_tick_next(spectator->net) + 30 > reef_net_tick_next(s.of[0].net));
    stage_end(&s);
}

typedef struct Other {
    float x;
} Other;
REEF_COMPONENT(Other);
REEF_FIELDS(Other, (x, "", -1, 1));

static void stand(reef_block *b) { (void)b; }
static void other_step(reef_net_config *c, program *p)
{
    (void)p;
    c->step_ns += 1;
}
static void other_input(reef_net_config *c, program *p)
{
    (void)p;
    c->input = reef_id(Other);
    c->sample = NULL;
}
static void other_system(reef_net_config *c, program *p)
{
    (void)c;
    assert_false(reef_system_is_null(reef_system(p->world, stand, "in Other")));
}

static reef_status rules_load(reef_world *w, void *context)
{
    (void)context;
    return w ? REEF_OK : REEF_BAD_ARGUMENT;
}
static const reef_module rules = {.name = "rules", .version = 3, .load = rules_load};
static void other_module(reef_net_config *c, program *p)
{
    (void)c;
    assert_ok(reef_module_use(p->world, &rules));
}

static void another_program_is_refused_by_name(void **state)
{
    static const struct {
        void (*change)(reef_net_config *c, program *p);
        const char *here, *there;
    } all[] = {{other_step, "here \"step 16666667 ns\"", "there \"step 16666666 ns\""},
               {other_input, "here \"input Other: 4 bytes", "there \"input Keys: 3 bytes"},
               {other_module, "here \"module rules 3\"", "there \"system 0 game_move"},
               {other_system, "here \"system 2 stand: phase update", "there nothing"}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        stage s;
        stage_begin(&s);
        (void)stage_add(&s);
        const program *p = stage_add_with(&s, all[i].change);
        stage_play(&s, 2000);
        assert_int_equal(reef_net_state(p->net), REEF_NET_ENDED);
        if (!strstr(reef_net_reason(p->net), all[i].here) || !strstr(reef_net_reason(p->net), all[i].there))
            fail_msg("%s", reef_net_reason(p->net));
        assert_int_equal(reef_net_state(s.of[0].net), REEF_NET_PLAYING);
        stage_end(&s);
    }
}

/* A transport of a joiner for which the host is another build: its HELLO tells another digest, or another version, and
 * in the host's description a line is another one. */
static const char *other_line;
static bool other_version;

static void other_build_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    enum { HELLO = 1, VERSION = 9, DIGEST = 25 };
    program *p = context;
    unsigned char copy[REEF_NET_DATAGRAM_MAX];
    memcpy(copy, bytes, count);
    if (copy[0] == HELLO) copy[other_version ? VERSION : DIGEST] ^= 64;
    p->plain.send(p->plain.context, to, copy, count);
}

static bool other_build_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    const program *p = context;
    unsigned char *b = bytes;
    if (!p->plain.receive(p->plain.context, from, bytes, count)) return false;
    for (size_t at = 0, n = strlen(other_line); at + n < *count; at++)
        if (memcmp(b + at, other_line, n) == 0) b[at + n - 1] = '~';
    return true;
}

static void other_build(reef_net_config *c, program *p)
{
    p->plain = c->transport;
    c->transport = (reef_net_transport){other_build_send, other_build_receive, p};
}

static void another_build_is_refused_by_name(void **state)
{
    static const char *const lines[][2] = {
        {"\nfloats ", "floats "},
        {"reef 0.", "reef 0."},
        {"\ninput Keys: 3", "input Keys: 3"},
        {"\nsystem 0 game_move: phase u", "system 0 game_move: phase u"},
        {"\n  type Position: 8 bytes, home 0, x f", "type Position: 8 bytes, home 0, x f"},
    };
    (void)state;
    for (size_t i = 0; i <= sizeof lines / sizeof lines[0]; i++) {
        stage s;
        other_version = i == sizeof lines / sizeof lines[0];
        other_line = other_version ? "nothing" : lines[i][0];
        stage_begin(&s);
        (void)stage_add(&s);
        const program *p = stage_add_with(&s, other_build);
        stage_play(&s, 2000);
        assert_int_equal(reef_net_state(p->net), REEF_NET_ENDED);
        const char *what = other_version ? "the host speaks version" : lines[i][1];
        if (!strstr(reef_net_reason(p->net), what)) fail_msg("%s: %s", what, reef_net_reason(p->net));
        assert_int_equal(reef_net_state(s.of[0].net), REEF_NET_PLAYING);
        stage_end(&s);
    }
}

static void nobody_answers(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    (void)stage_add(&s);
    reef_net_sim_cut(s.sim, 1, 2, true);
    const program *p = stage_add(&s);
    stage_play(&s, 1000);
    assert_int_equal(reef_net_state(p->net), REEF_NET_JOINING);
    assert_string_equal(reef_net_reason(p->net), "no answer from the host yet");
    stage_play(&s, 2000);
    assert_string_equal(reef_net_reason(p->net), "nobody answers at this address");
    assert_int_equal(reef_net_state(p->net), REEF_NET_ENDED);
    stage_end(&s);
}

/* On a busy machine a program may stand still for longer than its patience. It hasn't listened for so long then. */
static void who_stood_still_asks_again(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    (void)stage_add(&s);
    stage_play(&s, 100);
    program *p = stage_add(&s);
    reef_net_sim_time(s.sim, s.now);
    assert_ok(reef_net_update(p->net, s.now));
    s.now += 60000 * MS;
    reef_net_sim_time(s.sim, s.now);
    assert_ok(reef_net_update(p->net, s.now));
    assert_int_equal(reef_net_state(p->net), REEF_NET_JOINING);
    stage_end(&s);
}

/* ---- the state on its way ---- */

/* Packs each byte with another one, and counts. */
static uint64_t packed_bytes, unpacked_bytes;

static reef_status turned_write(void *context, const void *bytes, size_t count)
{
    const reef_writer *to = context;
    for (size_t i = 0; i < count; i++) {
        const unsigned char turned = ((const unsigned char *)bytes)[i] ^ 0x5a;
        const reef_status s = to->write(to->context, &turned, 1);
        if (s < 0) return s;
    }
    packed_bytes += count;
    return REEF_OK;
}

static reef_status turned_read(void *context, void *bytes, size_t count, size_t *got)
{
    const reef_reader *from = context;
    const reef_status s = from->read(from->context, bytes, count, got);
    for (size_t i = 0; i < *got; i++) ((unsigned char *)bytes)[i] ^= 0x5a;
    unpacked_bytes += *got;
    return s;
}

static reef_status turned_save(reef_world *w, reef_writer to, const reef_save_desc *desc, int level, char *reason)
{
    (void)level;
    reason[0] = 0;
    return reef_save_to(w, (reef_writer){turned_write, &to}, desc);
}

static reef_status turned_load(reef_world *w, reef_reader from, const reef_load_desc *desc, char *reason)
{
    reason[0] = 0;
    return reef_load_from(w, (reef_reader){turned_read, &from}, desc);
}

static void turned(reef_net_config *c, program *p)
{
    (void)p;
    c->pack = turned_save;
    c->unpack = turned_load;
}

static void a_state_is_packed_for_its_way(void **state)
{
    stage s;
    (void)state;
    packed_bytes = unpacked_bytes = 0;
    stage_begin(&s);
    (void)stage_add_with(&s, turned);
    stage_play(&s, 1000);
    (void)stage_add_with(&s, turned);
    stage_play_until_all_play(&s);
    assert_true(packed_bytes > 500 && packed_bytes == unpacked_bytes);
    assert_true(equal_until(&s.of[0], &s.of[1]) > 60);
    const program *other = stage_add(&s); /* doesn't know how to unpack */
    stage_play(&s, 2000);
    assert_int_equal(reef_net_state(other->net), REEF_NET_ENDED);
    assert_non_null(strstr(reef_net_reason(other->net), "here \"states are not packed\", there \"states are packed\""));
    stage_end(&s);
}

static void a_configuration_out_of_range_is_refused(void **state)
{
    stage s;
    program p = {0};
    char reason[REEF_NET_REASON_MAX];
    (void)state;
    stage_begin(&s);
    const reef_net_config right = stage_config(&s, &p, 1);
#define WRONG(member, value, text) \
    do { \
        reef_net_config c = right; \
        c.member = value; \
        assert_null(reef_net_host(&c, reason)); \
        assert_string_equal(reason, text); \
        assert_null(reef_net_join(&c, 2, NULL)); \
    } while (0)
    WRONG(world, NULL, "a session needs a world and a step");
    WRONG(step, NULL, "a session needs a world and a step");
    WRONG(transport.send, NULL, "a session needs a transport");
    WRONG(signer.verify, NULL, "a signer has all three functions, or none");
    WRONG(pack, turned_save, "what is packed must be unpacked: both functions, or none");
    WRONG(input, (reef_component){0}, "the type of inputs isn't known");
    WRONG(step_ns, 999999, "step_ns is 1,000,000 ... 1,000,000,000 nanoseconds");
    WRONG(step_ns, 1000000001, "step_ns is 1,000,000 ... 1,000,000,000 nanoseconds");
    WRONG(nonce, 0, "a session needs a random number: nonce");
    WRONG(ahead_max, 33, "ahead_max, delay_min and delay_max are at most 32 ticks");
    WRONG(delay_max, 33, "ahead_max, delay_min and delay_max are at most 32 ticks");
    WRONG(delay_max, (c.delay_min = 4, 3), "delay_min is more than delay_max");
    WRONG(hash_every, 1001, "hash_every is at most 1000 ticks");
    assert_null(reef_net_host(NULL, reason));
    assert_null(reef_net_join(&right, 0, reason));
    assert_int_equal(reef_net_update(NULL, 0), REEF_BAD_ARGUMENT);
    reef_net_free(NULL);
    reef_net_leave(NULL);
    assert_int_equal(reef_net_state(NULL), REEF_NET_ENDED);
    assert_int_equal(reef_net_player(NULL), -1);
    assert_false(reef_net_notice_next(NULL, NULL));
    assert_int_equal(reef_net_happen(NULL, 1, 1, NULL, 0), REEF_BAD_ARGUMENT);
    reef_world_free(p.world);
    stage_end(&s);
}

/* ---- leaving, and what fails ---- */

static void the_host_leaves_and_the_next_one_takes_over(void **state)
{
    stage s;
    reef_net_player_info info;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 2; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    reef_net_leave(s.of[0].net);
    stage_play(&s, 2000);
    assert_int_equal(reef_net_state(s.of[0].net), REEF_NET_ENDED);
    assert_string_equal(reef_net_reason(s.of[0].net), "this player left");
    assert_int_equal(reef_net_state(s.of[1].net), REEF_NET_PLAYING);
    assert_true(reef_net_player_get(s.of[1].net, 1, &info) && info.host && info.present);
    assert_true(reef_net_player_get(s.of[1].net, 0, &info) && !info.host && !info.present);
    assert_true(reef_net_confirmed(s.of[1].net) > reef_net_confirmed(s.of[0].net) + 60);
    reef_net_free(s.of[0].net); /* and he comes back, as another program would, by way of the new host */
    reef_net_config c = stage_config(&s, &s.of[0], 1);
    s.of[0].net = reef_net_join(&c, 2, NULL);
    stage_play(&s, 1000);
    assert_string_equal(reef_net_reason(s.of[0].net), "this nonce was used before in the session");
    reef_net_free(s.of[0].net);
    c.nonce = 777;
    s.of[0].game.confirmed = s.of[0].game.played_until = 0;
    s.of[0].net = reef_net_join(&c, 2, NULL);
    stage_play_until_all_play(&s);
    assert_true(equal_until(&s.of[1], &s.of[0]) > 100);
    stage_end(&s);
}

static void a_link_that_fails_is_relayed(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 3; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    const uint64_t tick = reef_net_confirmed(s.of[0].net);
    stage_cut(&s, 2, 3, true);
    stage_play(&s, 5000);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(reef_net_state(s.of[i].net), REEF_NET_PLAYING);
        assert_true(reef_net_confirmed(s.of[i].net) > tick + 270);
        assert_true(equal_until(&s.of[0], &s.of[i]) > tick + 200);
    }
    assert_true(reef_net_statistics(s.of[0].net).relayed > 100);
    stage_end(&s);
}

static void after_a_partition(const uint32_t side, uint32_t goes_on)
{
    stage s;
    stage_begin(&s);
    for (int i = 0; i < 4; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    for (uint64_t a = 0; a < 4; a++)
        for (uint64_t b = 0; b < 4; b++) reef_net_sim_cut(s.sim, a + 1, b + 1, (side >> a & 1) != (side >> b & 1));
    stage_play(&s, 4000);
    const program *first = NULL;
    for (uint32_t i = 0; i < 4; i++) {
        if (!(goes_on & 1u << i)) {
            assert_int_equal(reef_net_state(s.of[i].net), REEF_NET_ENDED);
            assert_string_equal(reef_net_reason(s.of[i].net), "no majority: the others can't be reached");
            continue;
        }
        assert_int_equal(reef_net_state(s.of[i].net), REEF_NET_PLAYING);
        if (first) assert_true(equal_until(first, &s.of[i]) > 200);
        else first = &s.of[i];
    }
    stage_end(&s);
}

static void the_majority_goes_on_or_the_hosts_half(void **state)
{
    (void)state;
    after_a_partition(1, 14);
    after_a_partition(8, 7);
    after_a_partition(3, 3);
    after_a_partition(6, 9);
}

static void a_step_that_fails_is_tried_again(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 2; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    for (int i = 0; i < 40; i++) {
        uint32_t failed = 0;
        s.of[1].game.fails = true;
        for (int k = 0; k < 10; k++) {
            s.now += 4 * MS;
            reef_net_sim_time(s.sim, s.now);
            assert_ok(reef_net_update(s.of[0].net, s.now));
            const reef_status status = reef_net_update(s.of[1].net, s.now);
            failed += status == REEF_NO_MEMORY;
            assert_true(status == REEF_OK || status == REEF_NO_MEMORY);
        }
        assert_int_equal(failed, 1);
    }
    stage_play(&s, 1000);
    assert_int_equal(reef_net_state(s.of[1].net), REEF_NET_PLAYING);
    assert_true(equal_until(&s.of[0], &s.of[1]) > 100);
    stage_end(&s);
}

/* In a session of two, each allocation in turn fails, of the session and the world of one side, from its beginning. */
static void allocations_fail(bool of_host, uint64_t *refused)
{
    bool more = true;
    for (uint64_t n = 1; more; n += n < 40 ? 1 : n / 8) {
        heap h = {0};
        stage s;
        stage_begin(&s);
        heap_fail_nth(&h, n, false);
        for (uint32_t i = 0; i < 2; i++) {
            program *p = &s.of[s.count++];
            char reason[REEF_NET_REASON_MAX] = "";
            s.heap = of_host == (i == 0) ? &h : NULL;
            reef_net_config c = stage_config(&s, p, s.count);
            if (c.world) p->net = i ? reef_net_join(&c, 1, reason) : reef_net_host(&c, reason);
            if (p->net == NULL) break;
            stage_play(&s, i ? 1600 : 200);
        }
        heap_fail_never(&h);
        const bool both = s.of[0].net && s.of[1].net;
        if (!both) assert_int_equal(h.refused, 1);
        else stage_play(&s, 400);
        for (uint32_t i = 0; both && i < 2; i++) {
            const reef_net_phase phase = reef_net_state(s.of[i].net);
            if (phase != REEF_NET_PLAYING && (phase != REEF_NET_ENDED || reef_net_reason(s.of[i].net)[0] == 0))
                fail_msg("allocation %u: state %d: %s", (unsigned)n, (int)phase, reef_net_reason(s.of[i].net));
        }
        if (both && reef_net_state(s.of[1].net) == REEF_NET_PLAYING) assert_true(equal_until(&s.of[0], &s.of[1]) > 0);
        more = h.refused > 0;
        *refused += h.refused;
        stage_end(&s);
        assert_null(h.mistake);
        assert_int_equal(h.blocks, 0);
    }
}

static void every_allocation_may_fail(void **state)
{
    uint64_t refused = 0;
    (void)state;
    allocations_fail(false, &refused);
    allocations_fail(true, &refused);
    assert_true(refused > 80);
}

/* ---- the owner of time ---- */

/* Between the updates of a session nobody else plays ticks, goes back, loads, or changes systems; the refusal names
 * the owner. Forks and saves go on. When the session has ended, the world is free again. */
static void the_time_of_the_world_belongs_to_the_session(void **state)
{
    stage s;
    char text[REEF_DETAIL_MAX], reason[REEF_NET_REASON_MAX];
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 2; i++) (void)stage_add(&s);
    for (int i = 0; i < 2; i++) { /* also before the first update */
        assert_string_equal(reef_time_owner(s.of[i].world), "a session of reef_net");
        const reef_net_config again = stage_config(&s, &s.of[i], 9);
        assert_null(reef_net_join(&again, 1, reason));
    }
    reef_snapshot *early = reef_snapshot_take(s.of[0].world);
    stage_play_until_all_play(&s);
    reef_world *w = s.of[0].world;
    assert_string_equal(reef_time_owner(w), "a session of reef_net");
    assert_int_equal(reef_tick(w, 0.1f), REEF_LOCKED);
    (void)reef_error_text(w, text, sizeof text);
    if (strstr(text, "the time of this world belongs to a session of reef_net") == NULL) fail_msg("%s", text);
    assert_int_equal(reef_restore(w, early), REEF_LOCKED);
    assert_int_equal(reef_tick_phase(w, "main", 0.1f), REEF_LOCKED);
    assert_int_equal(reef_world_clear(w), REEF_LOCKED);
    assert_int_equal(reef_load_bytes(w, "nothing", 7, NULL), REEF_LOCKED);
    assert_int_equal(reef_merge(w, s.of[1].world, NULL, NULL), REEF_LOCKED);
    assert_int_equal(reef_system_enable(w, reef_system_find(w, "game_move"), false), REEF_LOCKED);
    assert_int_equal(reef_own_time(w, "somebody"), REEF_EXISTS);
    reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 4, .step = NULL});
    reef_history_free(h);
    reef_net_config c = stage_config(&s, &s.of[0], 9);
    assert_null(reef_net_host(&c, reason));
    assert_string_equal(reason, "the time of this world belongs to a session of reef_net");
    reef_world_free(w); /* the session needs it */
    assert_int_equal(reef_last_error(w).status, REEF_LOCKED);
    reef_world *fork = reef_fork(w), *confirmed = reef_net_fork_confirmed(s.of[0].net);
    assert_null(reef_time_owner(fork));
    assert_ok(reef_tick(fork, 0.1f));
    assert_true(reef_hash(confirmed) != 0);
    reef_world_free(fork);
    reef_world_free(confirmed);
    const uint64_t tick = reef_net_confirmed(s.of[0].net);
    stage_play(&s, 2000);
    assert_true(equal_until(&s.of[0], &s.of[1]) > tick);
    reef_net_leave(s.of[0].net);
    stage_play(&s, 3000);
    assert_int_equal(reef_net_state(s.of[0].net), REEF_NET_ENDED);
    assert_null(reef_time_owner(w));
    assert_ok(reef_restore(w, early));
    reef_snapshot_free(early);
    stage_end(&s);
}

/* A session isn't updated, left or freed by what it calls. */
static reef_net *within_net;
static uint32_t within_refused;

static reef_status within_step(void *context, reef_world *w, const reef_net_tick *t)
{
    within_refused += reef_net_update(within_net, 1) == REEF_LOCKED;
    reef_net_free(within_net);
    return net_game_step(context, w, t);
}

static void within(reef_net_config *c, program *p)
{
    (void)p;
    c->step = within_step;
}

static void what_a_session_calls_leaves_it_alone(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    within_refused = 0;
    within_net = NULL;
    within_net = stage_add_with(&s, within)->net;
    stage_play(&s, 500);
    assert_true(within_refused > 20 && reef_net_tick_next(within_net) > 20);
    stage_end(&s);
}

/* A sample that others would refuse is replaced by zeros, and the reason says which field is wrong. */
static void bad_sample(void *context, void *input)
{
    (void)context;
    *(Keys *)input = (Keys){.x = 100};
}

static void sampling(reef_net_config *c, program *p)
{
    (void)p;
    c->sample = bad_sample;
}

static void a_sample_out_of_range_is_told(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    const program *p = stage_add_with(&s, sampling);
    stage_play(&s, 500);
    assert_string_equal(reef_net_reason(p->net), "the local input isn't allowed, so zeros are played: Keys.x");
    assert_true(reef_net_statistics(p->net).refused > 20);
    assert_int_equal(reef_net_state(p->net), REEF_NET_PLAYING);
    stage_end(&s);
}

/* Whoever joins with the nonce of a player, the host's or another one's, is told so. */
static uint64_t nonce_of;
static void same_nonce(reef_net_config *c, program *p)
{
    (void)p;
    c->nonce = nonce_of;
}

static void a_players_nonce_is_refused(void **state)
{
    (void)state;
    for (nonce_of = 101; nonce_of <= 102; nonce_of++) {
        stage s;
        stage_begin(&s);
        for (int i = 0; i < 2; i++) (void)stage_add(&s);
        stage_play_until_all_play(&s);
        const program *p = stage_add_with(&s, same_nonce);
        stage_play(&s, 500);
        assert_int_equal(reef_net_state(p->net), REEF_NET_ENDED);
        assert_string_equal(reef_net_reason(p->net), "this nonce was used before in the session");
        stage_play(&s, 1000);
        assert_true(equal_until(&s.of[0], &s.of[1]) > 60);
        stage_end(&s);
    }
}

/* ---- readers outside of systems ---- */

typedef struct Shout {
    int32_t tick;
} Shout;
REEF_COMPONENT(Shout);
REEF_FIELDS(Shout, tick);
typedef struct Lamp {
    int32_t lit;
} Lamp;
static const reef_hooks tracked = {.track_rows = true};
REEF_COMPONENT_HOOKS(Lamp, &tracked);
REEF_FIELDS(Lamp, lit);

static reef_event_reader shouts[2];
static reef_removals lamps[2];
static uint32_t step_read, step_refused;

/* A step that would play something else for who joins later, if it could read. */
static reef_status reading_step(void *context, reef_world *w, const reef_net_tick *t)
{
    for (int i = 0; i < 2; i++) {
        if (shouts[i].world == 0 || reef_events_missed(w, shouts[i])) continue;
        if (reef_event_next(w, shouts[i], NULL) || reef_removals_next(w, lamps[i], NULL, NULL)) step_read++;
        else step_refused += reef_last_error(w).status == REEF_LOCKED;
    }
    (void)reef_post(w, Shout, (int32_t)t->tick);
    const reef_entity lamp = reef_find(w, "lamp");
    if (reef_is_alive(w, lamp)) (void)reef_destroy(w, lamp);
    else (void)reef_set_name(w, reef_spawn(w, reef_with(Lamp, 1)), "lamp");
    return net_game_step(context, w, t);
}

static void reading(reef_net_config *c, program *p)
{
    const uint32_t i = p->game.seed == 1 ? 0 : 1;
    shouts[i] = reef_event_reader_new(p->world, reef_id(Shout));
    lamps[i] = reef_removals_new(p->world, reef_id(Lamp), false);
    c->step = reading_step;
}

/* What readers outside of systems read isn't in the state of a joiner. So a step can't read by them, and the joiner
 * plays on equally; between updates they read. */
static void a_step_reads_nothing_that_a_joiner_lacks(void **state)
{
    stage s;
    uint32_t read = 0, lost = 0;
    (void)state;
    step_read = step_refused = 0;
    stage_begin(&s);
    (void)stage_add_with(&s, reading);
    stage_play(&s, 1000);
    (void)stage_add_with(&s, reading);
    stage_play_until_all_play(&s);
    assert_int_equal(step_read, 0);
    assert_true(step_refused > 200);
    assert_true(equal_until(&s.of[0], &s.of[1]) > 60);
    for (int i = 0; i < 2; i++) {
        while (reef_event_next(s.of[i].world, shouts[i], NULL)) read++;
        while (reef_removals_next(s.of[i].world, lamps[i], NULL, NULL)) lost++;
    }
    assert_true(read > 100 && lost > 50);
    shouts[0] = shouts[1] = (reef_event_reader){0};
    stage_end(&s);
}

/* ---- events ---- */

static void final_events_are_the_same_for_all_and_once(void **state)
{
    enum { MOST = 4096 };
    static uint64_t final[2][MOST];
    uint32_t count[2] = {0}, begun = 0, undone = 0;
    stage s;
    (void)state;
    stage_begin(&s);
    reef_net_sim_line(s.sim, &(reef_net_line){.latency_ns = 90 * MS, .jitter_ns = 20 * MS, .loss = 30});
    for (int i = 0; i < 2; i++) (void)stage_add(&s);
    for (int i = 0; i < 500; i++) {
        stage_play(&s, 16);
        for (uint32_t k = 0; k < 2; k++) {
            reef_net_notice n;
            while (reef_net_notice_next(s.of[k].net, &n)) {
                begun += n.notice == REEF_NET_BEGUN;
                undone += n.notice == REEF_NET_UNDONE;
                if (n.notice == REEF_NET_FINAL && n.tick >= 120 && n.tick < 300 && count[k] < MOST)
                    final[k][count[k]++] = n.id;
            }
        }
    }
    assert_true(undone > 20);
    assert_true(begun > undone);
    assert_int_equal(count[0], count[1]);
    assert_true(count[0] > 50);
    for (uint32_t i = 0; i < count[0]; i++) {
        assert_int_equal(final[0][i], final[1][i]);
        for (uint32_t k = 0; k < i; k++) assert_int_not_equal(final[0][i], final[0][k]);
    }
    stage_end(&s);
}

/* ---- time ---- */

static void the_delay_follows_the_line(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 2; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    assert_int_equal(reef_net_statistics(s.of[0].net).delay, 1);
    reef_net_sim_line(s.sim, &(reef_net_line){.latency_ns = 130 * MS});
    stage_play(&s, 5000);
    const uint32_t delay = reef_net_statistics(s.of[0].net).delay;
    assert_in_range(delay, 4, 5); /* 8 ticks one way, of which 4 are predicted */
    reef_net_sim_line(s.sim, &stage_line);
    stage_play(&s, 5000);
    assert_int_equal(reef_net_statistics(s.of[0].net).delay, 1);
    stage_end(&s);
}

static void a_slow_program_makes_the_others_wait_visibly(void **state)
{
    stage s;
    (void)state;
    stage_begin(&s);
    for (int i = 0; i < 2; i++) (void)stage_add(&s);
    stage_play_until_all_play(&s);
    const uint64_t tick = reef_net_tick_next(s.of[0].net);
    for (int i = 0; i < 100; i++) { /* the second one updates rarely enough to be waited for, and isn't dropped */
        s.now += 4 * MS;
        reef_net_sim_time(s.sim, s.now);
        assert_ok(reef_net_update(s.of[0].net, s.now));
        if (i == 98) assert_ok(reef_net_update(s.of[1].net, s.now));
    }
    assert_true(reef_net_tick_next(s.of[0].net) <= tick + 14);
    assert_true(reef_net_statistics(s.of[0].net).stalls > 10);
    assert_true(reef_net_statistics(s.of[0].net).stalled_ns > 50 * MS);
    stage_play(&s, 2000);
    assert_int_equal(reef_net_state(s.of[1].net), REEF_NET_PLAYING);
    const uint64_t a = reef_net_tick_next(s.of[0].net), b = reef_net_tick_next(s.of[1].net);
    assert_true(a <= b + 3 && b <= a + 3);
    stage_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_play_the_same),
        cmocka_unit_test(a_full_session_takes_spectators_only),
        cmocka_unit_test(another_program_is_refused_by_name),
        cmocka_unit_test(another_build_is_refused_by_name),
        cmocka_unit_test(nobody_answers),
        cmocka_unit_test(what_a_session_calls_leaves_it_alone),
        cmocka_unit_test(a_sample_out_of_range_is_told),
        cmocka_unit_test(a_players_nonce_is_refused),
        cmocka_unit_test(who_stood_still_asks_again),
        cmocka_unit_test(a_configuration_out_of_range_is_refused),
        cmocka_unit_test(a_state_is_packed_for_its_way),
        cmocka_unit_test(the_host_leaves_and_the_next_one_takes_over),
        cmocka_unit_test(a_link_that_fails_is_relayed),
        cmocka_unit_test(the_majority_goes_on_or_the_hosts_half),
        cmocka_unit_test(a_step_that_fails_is_tried_again),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_time_of_the_world_belongs_to_the_session),
        cmocka_unit_test(a_step_reads_nothing_that_a_joiner_lacks),
        cmocka_unit_test(final_events_are_the_same_for_all_and_once),
        cmocka_unit_test(the_delay_follows_the_line),
        cmocka_unit_test(a_slow_program_makes_the_others_wait_visibly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
