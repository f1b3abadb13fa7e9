#include "net_stage.h"

const reef_net_line stage_line = {.latency_ns = 20 * MS, .jitter_ns = 5 * MS, .loss = 10, .twice = 5};

void stage_begin_on(stage *s, uint64_t seed, const reef_net_line *line)
{
    *s = (stage){.sim = reef_net_sim_new(seed, line, NULL)};
    assert_non_null(s->sim);
}
void stage_begin(stage *s) { stage_begin_on(s, 7, &stage_line); }

void stage_end(stage *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        reef_net_free(s->of[i].net);
        reef_world_free(s->of[i].world);
    }
    reef_net_sim_free(s->sim);
}

reef_net_config stage_config(stage *s, program *p, uint64_t address)
{
    reef_world_config world = {.seed = 5, .log = reef_log_none};
    if (s->heap) world.allocator = heap_allocator(s->heap);
    if (p->world == NULL) {
        p->world = reef_world_new(&world);
        if (p->world) net_game_begin(p->world, &p->game);
    }
    p->game.seed = address;
    reef_net_config c = {
        .world = p->world, .transport = reef_net_sim_transport(s->sim, address), .step = net_game_step};
    if (s->heap) c.allocator = heap_allocator(s->heap);
    c.sample = net_game_sample;
    c.context = &p->game;
    c.input = net_game_input();
    c.step_ns = STEP_NS;
    c.nonce = 100 + address;
    c.signer = net_game_signer(address);
    c.silence_ns = 500 * MS;
    c.patience_ns = 2000 * MS;
    return c;
}

program *stage_add_with(stage *s, void (*change)(reef_net_config *config, program *p))
{
    program *p = &s->of[s->count++];
    reef_net_config c = stage_config(s, p, s->count);
    char reason[REEF_NET_REASON_MAX];
    if (change) change(&c, p);
    p->net = s->count == 1 ? reef_net_host(&c, reason) : reef_net_join(&c, 1, reason);
    if (p->net == NULL) fail_msg("%s", reason);
    return p;
}
program *stage_add(stage *s) { return stage_add_with(s, NULL); }

void stage_play(stage *s, uint64_t ms)
{
    for (uint64_t i = 0; i < ms; i += 4) {
        s->now += 4 * MS;
        reef_net_sim_time(s->sim, s->now);
        for (uint32_t k = 0; k < s->count; k++)
            if (s->of[k].net) (void)reef_net_update(s->of[k].net, s->now);
    }
}

void stage_play_until_all_play(stage *s)
{
    for (uint32_t i = 0; i < 200; i++) {
        bool all = true;
        stage_play(s, 40);
        for (uint32_t k = 0; k < s->count; k++) all &= reef_net_state(s->of[k].net) == REEF_NET_PLAYING;
        if (all) break;
    }
    for (uint32_t k = 0; k < s->count; k++)
        if (reef_net_state(s->of[k].net) != REEF_NET_PLAYING)
            fail_msg("program %u: %s", k, reef_net_reason(s->of[k].net));
    stage_play(s, 1000);
}

uint64_t equal_until(const program *a, const program *b)
{
    uint64_t last = 0;
    const uint64_t until = reef_net_confirmed(a->net);
    for (uint64_t t = 8; t <= until; t += 8) {
        const uint64_t x = reef_net_hash(a->net, t), y = reef_net_hash(b->net, t);
        if (x == 0 || y == 0) continue;
        assert_int_equal(x, y);
        last = t;
    }
    return last;
}

void stage_cut(stage *s, uint64_t a, uint64_t b, bool is)
{
    reef_net_sim_cut(s->sim, a, b, is);
    reef_net_sim_cut(s->sim, b, a, is);
}

/* ---- transports ---- */

static bool plain_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    const program *p = context;
    return p->plain.receive(p->plain.context, from, bytes, count);
}

void stage_sends_by(reef_net_config *c, program *p, void (*send)(void *, uint64_t, const void *, size_t))
{
    p->plain = c->transport;
    c->transport = (reef_net_transport){send, plain_receive, p};
}

size_t stage_echo_at(const unsigned char *frame)
{
    size_t at = FRAME_SEATS;
    for (uint32_t known = frame[FRAME_KNOWN]; known; known &= known - 1) at += 9;
    return at;
}
