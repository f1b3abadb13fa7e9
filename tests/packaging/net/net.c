/* Hosts a session on a simulated line, and plays three ticks. */
#include <reef_net_sim.h>
#include <reef.h>
#include <reef/all.h>
#include <stdio.h>

typedef struct Keys {
    uint8_t keys;
} Keys;
REEF_COMPONENT(Keys);
REEF_FIELDS(Keys, keys);

static reef_status step(void *context, reef_world *w, const reef_net_tick *tick)
{
    (void)context;
    return tick->players == 1 ? reef_tick(w, 0.01f) : REEF_BAD_ARGUMENT;
}

int main(void)
{
    reef_net_sim *sim = reef_net_sim_new(1, NULL, NULL);
    reef_world *w = reef_world_new(NULL);
    const reef_net_config c = {.world = w,
                               .transport = reef_net_sim_transport(sim, 1),
                               .step = step,
                               .input = reef_id(Keys),
                               .step_ns = 10000000,
                               .nonce = 1};
    reef_net *net = reef_net_host(&c, NULL);
    bool good = net != NULL;
    for (uint64_t now = 0; now <= 35000000; now += 5000000) good = good && reef_net_update(net, now) == REEF_OK;
    good = good && reef_net_confirmed(net) == 3;
    reef_net_free(net);
    reef_net_sim_free(sim);
    reef_world_free(w);
    puts(good ? "hello, 1 entity at 3 4" : "the session didn't play");
    return 0;
}
