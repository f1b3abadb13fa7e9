/* States from which a search for a difference can begin, though the history doesn't have them any more.
 *
 * A search begins with a state that is equal on both sides: that of the last equal hash, or the one that a joiner got.
 * Who loads slowly tells the hashes of the ticks since then seconds later, when the history has dropped their states.
 * So while a link is that far behind, the state of its last equal tick is kept. It shares with the world what hasn't
 * changed, and there is at most one of a link. The inputs since are those of the ring, of NET_RING ticks.
 *
 * Rejected: a longer history. It would cost each session what only a joiner needs, and the next one would be slower. */
#include "net.h"
#include <reef/snapshot.h>

static void drop(net_kept *k)
{
    reef_snapshot_free(k->state);
    *k = (net_kept){0};
}

void net__kept_free(reef_net *net)
{
    for (uint32_t i = 0; i < NET_LINKS; i++) drop(&net->kept[i]);
}

/* Are the inputs of all ticks from `tick` on known? Those of a player whose seat another one has are forgotten. */
static bool inputs_known(const reef_net *net, uint64_t tick)
{
    if (tick < net->base || tick < net->whole_from) return false;
    for (uint32_t s = 0; s < NET_SEATS; s++)
        if (net->seats[s].have > tick + NET_RING - NET_BLOCK) return false;
    return true;
}

static net_kept *kept_of(reef_net *net, uint64_t incarnation)
{
    for (uint32_t i = 0; i < NET_LINKS; i++)
        if (net->kept[i].state && net->kept[i].incarnation == incarnation) return &net->kept[i];
    return NULL;
}

/* Keeps what the next tick would drop. Without memory it isn't kept: a difference may then remain without a name. */
static void keep(reef_net *net, const net_link *l)
{
    net_kept *k = kept_of(net, l->incarnation);
    for (uint32_t i = 0; k == NULL && i < NET_LINKS; i++)
        if (net->kept[i].state == NULL) k = &net->kept[i];
    reef_world *fork = k ? net__fork_at(net, l->equal_tick) : NULL;
    reef_snapshot *state = fork ? reef_snapshot_take(fork) : NULL;
    reef_world_free(fork);
    if (state == NULL) return;
    drop(k);
    *k = (net_kept){.incarnation = l->incarnation, .tick = l->equal_tick, .state = state};
}

void net__kept_advance(reef_net *net)
{
    enum { SPARE = 16 }; /* more ticks than an update plays */
    const uint64_t first = net->base + reef_history_reach(net->history).first;
    const bool full = net->tick >= net->base + NET_SLOTS - SPARE;
    for (uint32_t i = 0; i < NET_LINKS; i++) {
        net_kept *k = &net->kept[i];
        const net_link *l = k->state ? net__link_of(net, k->incarnation) : NULL;
        const bool other = l && l->equal_tick > k->tick && l->equal_tick >= first; /* a later state is in the history */
        if (k->state && (l == NULL || other || !inputs_known(net, k->tick))) drop(k);
    }
    for (uint32_t i = 0; full && i < NET_LINKS; i++) {
        const net_link *l = &net->links[i];
        const bool soon = l->equal_tick >= first && l->equal_tick < first + SPARE;
        const net_kept *k = l->used && l->equal_known && soon ? kept_of(net, l->incarnation) : NULL;
        if (l->used && l->equal_known && soon && (k == NULL || k->tick != l->equal_tick)) keep(net, l);
    }
}

reef_world *net__kept_fork(reef_net *net, const net_link *link, uint64_t *tick)
{
    const net_kept *k = kept_of(net, link->incarnation);
    if (net->history == NULL) return NULL;
    if (*tick >= net->base + reef_history_reach(net->history).first) return net__fork_at(net, *tick);
    if (k == NULL || k->tick > *tick || !inputs_known(net, k->tick)) return NULL;
    *tick = k->tick;
    return reef_snapshot_fork(k->state);
}
