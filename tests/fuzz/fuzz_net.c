/* Fuzzes what a session of reef_net reads. A host and a player play over a perfect line. Then the player's datagrams
 * are what the fuzzer makes: a byte says whether the head with the session and the sender is the right one, two bytes
 * the length. The host must go on or end with a reason, stay within its bounds, and its world must be valid. */
#include "must.h"
#include "reef/all.h"
#include "reef_net.h"
#include "reef_net_sim.h"
#include <reef.h>
#include <string.h>

typedef struct Keys {
    int8_t x;
    uint8_t fire;
} Keys;
typedef struct Count {
    int32_t n;
} Count;
REEF_COMPONENT(Keys);
REEF_FIELDS(Keys, (x, "", -1, 1), (fire, "", 0, 1));
REEF_COMPONENT(Count);
REEF_FIELDS(Count, n);

#define STEP_NS UINT64_C(16666667)
enum { AHEAD = 12, HEAD = 17 }; /* HEAD: message, session, incarnation */

static reef_status step(void *context, reef_world *w, const reef_net_tick *t)
{
    (void)context;
    int32_t sum = 0;
    for (int p = 0; p < REEF_NET_PLAYERS_MAX; p++) {
        const Keys *k = t->input[p];
        if (k == NULL) continue;
        MUST(k->x >= -1 && k->x <= 1 && k->fire <= 1);
        sum += k->x;
        if (k->fire && reef_entity_is_null(reef_spawn(w, reef_with(Count, sum)))) return REEF_NO_MEMORY;
    }
    return reef_tick(w, 1.0f / 60);
}

static reef_net *begin(reef_net_sim *sim, reef_world *w, uint64_t address)
{
    const reef_net_config c = {.world = w,
                               .transport = reef_net_sim_transport(sim, address),
                               .step = step,
                               .input = reef_id(Keys),
                               .step_ns = STEP_NS,
                               .nonce = address,
                               .ahead_max = AHEAD};
    reef_net *net = address == 1 ? reef_net_host(&c, NULL) : reef_net_join(&c, 1, NULL);
    MUST(net);
    return net;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reef_net_sim *sim = reef_net_sim_new(1, &(reef_net_line){0}, NULL);
    reef_world *w[2] = {reef_world_new(NULL), reef_world_new(NULL)};
    reef_net *net[2] = {begin(sim, w[0], 1), begin(sim, w[1], 2)};
    const reef_net_transport line = reef_net_sim_transport(sim, 2);
    uint64_t now = 0;
    for (int i = 0; i < 60 && reef_net_state(net[1]) != REEF_NET_PLAYING; i++, now += STEP_NS)
        for (int k = 0; k < 2; k++) {
            reef_net_sim_time(sim, now);
            MUST(reef_net_update(net[k], now) == REEF_OK);
        }
    MUST(reef_net_state(net[1]) == REEF_NET_PLAYING);
    while (size >= 3) {
        unsigned char bytes[REEF_NET_DATAGRAM_MAX] = {0};
        const uint8_t kind = data[0];
        size_t count = (size_t)data[1] | (size_t)(data[2] & 7) << 8;
        data += 3;
        size -= 3;
        if (count > size) count = size;
        if (count > sizeof bytes) count = sizeof bytes;
        memcpy(bytes, data, count);
        data += count;
        size -= count;
        if (kind & 1 && count >= HEAD) { /* session 1 of sender 2, in little endian */
            memset(bytes + 1, 0, HEAD - 1);
            bytes[1] = 1;
            bytes[9] = 2;
        }
        line.send(line.context, 1, bytes, count);
        if (kind & 2) now += STEP_NS;
        reef_net_sim_time(sim, now);
        MUST(reef_net_update(net[0], now) == REEF_OK);
        MUST(reef_net_tick_next(net[0]) <= reef_net_confirmed(net[0]) + AHEAD);
    }
    char message[REEF_DETAIL_MAX];
    MUST(reef_net_state(net[0]) != REEF_NET_ENDED || reef_net_reason(net[0])[0]);
    MUST(reef_validate(w[0], message, sizeof message) == REEF_OK);
    for (int k = 0; k < 2; k++) {
        reef_net_free(net[k]);
        reef_world_free(w[k]);
    }
    reef_net_sim_free(sim);
    return 0;
}
