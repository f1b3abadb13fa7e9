/* reef-bench-net: what a session of reef_net takes for a tick among four players in one process, whose line delivers at
 * once: receiving, checking, encoding and sending, with the step of a world of four dots and its history. Prints the
 * median of a player's updates in which a tick is due, in processor time, without signatures and, where libsodium is
 * there, with them:
 *
 *     signed_ns N plain_ns N */
#include "timing.h"
#include <reef.h>
#include <reef/all.h>
#include <reef_net.h>
#include <reef_net_sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef REEF_BENCH_SIGNED
#include <reef_net_udp.h>
#endif

enum { PLAYERS = 4, TICKS = 3000, WARM = 600, STEP_NS = 16666667 };

typedef struct Dot {
    float x, speed;
    uint32_t player;
} Dot;
typedef struct Keys {
    int8_t move[2], aim[2];
    uint32_t held;
} Keys;
REEF_COMPONENT(Dot);
REEF_FIELDS(Dot, x, speed, player);
REEF_COMPONENT(Keys);
REEF_FIELDS(Keys, (move, "", -100, 100), (aim, "", -100, 100), held);

static reef_status step(void *context, reef_world *w, const reef_net_tick *t)
{
    (void)context;
    for (reef_block b = reef_begin_text(w, "Dot"); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) {
            Dot *d = &reef_inout(&b, Dot)[i];
            const Keys *k = t->input[d->player];
            d->x += k != NULL ? (float)k->move[0] : 0;
        }
    return reef_tick(w, 1.0f / 60);
}

static void sample(void *context, void *input)
{
    uint32_t *count = context;
    Keys *k = input;
    ++*count;
    *k = (Keys){.move = {(int8_t)(*count / 7 % 100), 3}, .aim = {1, 2}, .held = *count / 20}; /* changes now and then */
}

/* The mean would be that of a block's signature and checks; so the median is over means of a block's sixteen ticks. */
static uint64_t measure(bool is_signed)
{
    static uint64_t blocks[TICKS / 16 + 1];
    static uint32_t samples[PLAYERS];
    reef_net_sim *line = reef_net_sim_new(1, NULL, NULL);
    reef_world *w[PLAYERS];
    reef_net *net[PLAYERS];
#ifdef REEF_BENCH_SIGNED
    reef_net_udp *keys[PLAYERS];
#endif
    uint32_t count = 0, ticks = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < PLAYERS; i++) {
        w[i] = reef_world_new(NULL);
        for (uint32_t p = 0; p < PLAYERS; p++) (void)reef_spawn(w[i], reef_with(Dot, .player = p));
        reef_net_config c = {.world = w[i],
                             .transport = reef_net_sim_transport(line, i + 1),
                             .step = step,
                             .sample = sample,
                             .context = &samples[i],
                             .input = reef_id(Keys),
                             .step_ns = STEP_NS,
                             .nonce = 10 + i};
#ifdef REEF_BENCH_SIGNED
        keys[i] = reef_net_udp_new(&(reef_net_udp_config){.bind = "127.0.0.1"}, NULL);
        if (is_signed) c.signer = reef_net_udp_signer(keys[i]);
#endif
        net[i] = i == 0 ? reef_net_host(&c, NULL) : reef_net_join(&c, 1, NULL);
        if (net[i] == NULL) exit(1);
    }
    for (uint64_t now = 0; reef_net_tick_next(net[0]) < WARM + TICKS; now += STEP_NS) {
        reef_net_sim_time(line, now);
        for (uint32_t i = 0; i < PLAYERS; i++) {
            const uint64_t began = processor_ns();
            if (reef_net_update(net[i], now) < 0) exit(1);
            if (i == 1 && reef_net_tick_next(net[0]) > WARM) {
                sum += processor_ns() - began;
                if (++ticks % 16 == 0) {
                    if (count < TICKS / 16) blocks[count++] = sum / 16;
                    sum = 0;
                }
            }
        }
    }
    for (uint32_t i = 0; i < PLAYERS; i++) {
        if (reef_net_state(net[i]) != REEF_NET_PLAYING) exit(1);
        reef_net_free(net[i]);
        reef_world_free(w[i]);
#ifdef REEF_BENCH_SIGNED
        reef_net_udp_free(keys[i]);
#endif
    }
    reef_net_sim_free(line);
    (void)is_signed;
    return median_of(blocks, count);
}

int main(void)
{
    const uint64_t plain = measure(false), with = measure(true);
    printf("signed_ns %llu plain_ns %llu\n", (unsigned long long)with, (unsigned long long)plain);
    return 0;
}
