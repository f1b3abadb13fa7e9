/* Time: where the others are, and how late a sample of the local input takes effect.
 *
 * Another program's tick now is the one it told, plus what has passed since, plus half a round trip. The middle one of
 * these counts, so that one wrong clock moves nobody. */
#include "net.h"

static bool counts(const reef_net *net, uint32_t i)
{
    const net_link *l = &net->links[i];
    return l->used && !l->guest && l->tick_at && net->now - l->tick_at < 500 * NET_MS && l->round_ns;
}

double net__ahead(const reef_net *net)
{
    double at[NET_SEATS];
    uint32_t count = 0;
    if (net->config.spectator) return (double)net->tick - (double)net->agreed + 6; /* some are kept for jitter */
    for (uint32_t i = 0; i < NET_SEATS; i++) {
        const net_link *l = &net->links[i];
        if (!counts(net, i)) continue;
        const double passed = (double)(net->now - l->tick_at) + (double)l->round_ns / 2;
        const double tick = (double)l->tick + passed / (double)net->config.step_ns;
        uint32_t k = count++;
        for (; k > 0 && at[k - 1] > tick; k--) at[k] = at[k - 1];
        at[k] = tick;
    }
    if (count == 0) return 0;
    return (double)net->tick + net->owed - (at[(count - 1) / 2] + at[count / 2]) / 2;
}

/* The delay follows the slowest link, one tick at a time, so that about rollback_wanted ticks are predicted. A longer
 * delay repeats a sample, a shorter one leaves one out (net__emit). */
void net__delay_adapt(reef_net *net)
{
    uint64_t way = 0;
    if (net->now < net->delay_at) return;
    for (uint32_t i = 0; i < NET_SEATS; i++)
        if (counts(net, i) && net->links[i].round_ns / 2 > way) way = net->links[i].round_ns / 2;
    uint64_t wanted = (way + net->config.step_ns - 1) / net->config.step_ns;
    wanted = wanted > net->config.rollback_wanted ? wanted - net->config.rollback_wanted : 0;
    if (wanted < net->config.delay_min) wanted = net->config.delay_min;
    if (wanted > net->config.delay_max) wanted = net->config.delay_max;
    if (wanted > net->delay) net->delay++;
    if (wanted < net->delay) net->delay--;
    net->delay_at = net->now + 500 * NET_MS;
}
