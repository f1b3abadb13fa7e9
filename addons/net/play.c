/* Ticks: going back when inputs differ from what was predicted, playing what is due, hashes of confirmed states. */
#include "net.h"
#include <reef/control.h>

static reef_status step(void *context, reef_world *world, uint64_t tick, const void *input, size_t input_bytes)
{
    reef_net *net = context;
    reef_net_tick t = {.tick = net->base + tick, .net = net};
    (void)input_bytes;
    net__unpack(net, input, &t);
    if (net->replaying) net->stats.replayed++;
    net->stepping = t.tick;
    net__events_begin(net, t.tick);
    return net__step(net, world, &t);
}

reef_status net__step(reef_net *net, reef_world *world, const reef_net_tick *tick)
{
    reef_hold_readers(world, true);
    const reef_status s = net->config.step(net->config.context, world, tick);
    reef_hold_readers(world, false);
    return s;
}

reef_status net__history_begin(reef_net *net, uint64_t tick)
{
    reef_history_free(net->history);
    net__kept_free(net);
    net->whole_from = tick;
    net->history = reef_history_new(
        net->config.world,
        &(reef_history_config){.ticks = NET_SLOTS, .step = step, .context = net, .input_bytes = net->packed_bytes});
    net->base = net->tick = net->checked = net->final = tick;
    for (uint32_t i = 0; i < NET_SLOTS; i++) {
        net->slots[i].tick = NET_NEVER;
        net->slots[i].count = net->slots[i].told_count = 0;
        net->slots[i].dirty = false;
    }
    memset(net->hashes, 0, sizeof net->hashes);
    net->hashed = (tick + net->config.hash_every - 1) / net->config.hash_every * net->config.hash_every;
    if (net->history == NULL) return REEF_NO_MEMORY;
    net__record_begin(net, tick);
    return REEF_OK;
}

reef_world *net__fork_at(reef_net *net, uint64_t tick)
{
    if (tick == net->tick) return reef_fork(net->config.world);
    const reef_snapshot *kept = net->history ? reef_history_at(net->history, tick - net->base) : NULL;
    return kept ? reef_snapshot_fork(kept) : NULL;
}

/* ---- correcting ---- */

/* Counts the predicted inputs of the tick that turned out to be others. */
static void count_changes(reef_net *net, uint64_t tick, const unsigned char *was, const unsigned char *is)
{
    reef_net_tick a, b;
    net__unpack(net, was, &a);
    net__unpack(net, is, &b);
    for (uint32_t s = 0; s < NET_SEATS; s++)
        if (tick < net->seats[s].have && a.input[s] && b.input[s] &&
            memcmp(a.input[s], b.input[s], net->input_bytes) != 0)
            net->stats.inputs_changed++;
}

reef_status net__correct(reef_net *net)
{
    uint32_t count = 0;
    for (uint64_t t = net->checked; t < net->tick; t++) {
        unsigned char *now = net->packed + (size_t)count * net->packed_bytes;
        size_t bytes;
        const unsigned char *was = reef_history_input(net->history, t - net->base, &bytes);
        net__pack(net, t, now);
        if (was == NULL || memcmp(was, now, net->packed_bytes) == 0) continue;
        count_changes(net, t, was, now);
        net->late[count++] = (reef_late_input){t - net->base, now, net->packed_bytes};
    }
    if (count) {
        const uint64_t depth = net->tick - net->base - net->late[0].tick;
        net->replaying = true;
        const reef_status s = reef_history_correct(net->history, net->late, count);
        net->replaying = false;
        if (s < 0) return s;
        net->stats.rollbacks++;
        if (depth > net->stats.deepest) net->stats.deepest = (uint32_t)depth;
    }
    const uint64_t checked = net->agreed < net->tick ? net->agreed : net->tick;
    for (; net->checked < checked; net->checked++) {
        reef_net_tick t = {.tick = net->checked};
        size_t bytes;
        const unsigned char *input = reef_history_input(net->history, t.tick - net->base, &bytes);
        if (input == NULL) continue;
        net__unpack(net, input, &t);
        net__record_tick(net, &t);
        if (net->config.confirmed) net->config.confirmed(net->config.context, &t);
    }
    return REEF_OK;
}

/* ---- playing ---- */

static bool may_play(const reef_net *net)
{
    /* nobody waits for who has no seat, and to play what it missed would make its answers late */
    if (net->seat < 0 && net__searches(net)) return false;
    const uint64_t told = net->final + NET_SLOTS / 2; /* events that there was no memory to tell wait in their slots */
    const uint64_t known = net->config.spectator ? net->agreed : net->complete + net->config.ahead_max;
    return net->tick < (known < told ? known : told);
}

static reef_status play(reef_net *net)
{
    net__kept_advance(net);
    net__emit(net);
    net__pack(net, net->tick, net->packed);
    const reef_status s = reef_history_step(net->history, net->packed, net->packed_bytes);
    if (s < 0) return s;
    net->tick++;
    net->stats.ticks++;
    return REEF_OK;
}

/* Who is ahead slows down, by at most a tenth. Who is behind plays further ticks until it isn't, some in an update. */
reef_status net__pace(reef_net *net)
{
    enum { FURTHER = 8 };
    const uint64_t passed = net->now - net->paced_at;
    const double ahead = net__ahead(net);
    double rate = 1;
    if (ahead > 0.5) rate = ahead * 0.02 < 0.1 ? 1 - ahead * 0.02 : 0.9;
    net->paced_at = net->now;
    net->owed += rate * (double)passed / (double)net->config.step_ns;
    if (net->owed > FURTHER) net->owed = FURTHER; /* the program was stopped; what it missed is caught up below */
    uint32_t further = ahead < -2 ? (uint32_t)(ahead < -FURTHER ? FURTHER : -ahead) : 0;
    while (net->owed >= 1 || further) {
        if (!may_play(net)) {
            if (net->owed >= 1 && !net->config.spectator) {
                net->stats.stalls++;
                net->stats.stalled_ns += passed;
            }
            if (net->owed > 1) net->owed = 1;
            break;
        }
        const reef_status s = play(net);
        if (s < 0) return s;
        if (net->owed >= 1) net->owed--;
        else further--;
    }
    return REEF_OK;
}

/* ---- hashes ---- */

reef_status net__hash(reef_net *net)
{
    const uint64_t until = net->checked;
    while (net->hashed <= until) {
        reef_world *fork = net__fork_at(net, net->hashed);
        if (fork == NULL) return REEF_NO_MEMORY;
        const uint64_t hash = reef_hash(fork);
        reef_world_free(fork);
        if (hash == 0) return REEF_NO_MEMORY;
        const size_t at = net->hashed / net->config.hash_every % NET_HASHES;
        net->hashes[at].tick = net->hashed;
        net->hashes[at].hash = hash;
        net__record_hash(net, net->hashed, hash);
        net->hashed += net->config.hash_every;
    }
    return REEF_OK;
}
