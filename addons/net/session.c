/* A session's life: its configuration, the order of an update, and what can be asked of it. */
#include "net.h"
#include <reef/control.h>
#include <stdio.h>

/* Who changes the world beside the session, changes it here alone, and the worlds differ from there on. */
static void own_time(reef_net *net, bool on)
{
    if (net->owns == on) return;
    const reef_status s = reef_own_time(net->config.world, on ? "a session of reef_net" : NULL);
    net->owns = on && s == REEF_OK;
}

/* ---- making ---- */

static const char *config_wrong(const reef_net_config *c)
{
    reef_type_info type;
    if (c->world == NULL || c->step == NULL) return "a session needs a world and a step";
    if (c->transport.send == NULL || c->transport.receive == NULL) return "a session needs a transport";
    if (!c->signer.sign != !c->signer.verify || !c->signer.sign != !c->signer.digest)
        return "a signer has all three functions, or none";
    if (!c->pack != !c->unpack) return "what is packed must be unpacked: both functions, or none";
    if (!reef_type_get(c->input, &type)) return "the type of inputs isn't known";
    if (type.size == 0 || type.size > REEF_NET_INPUT_MAX || type.hooks)
        return "an input has 1 ... 64 bytes, and no hooks";
    if (type.field_count == 0) return "the type of inputs has no fields";
    for (uint32_t i = 0; i < type.field_count; i++)
        if (type.fields[i].kind == REEF_ENTITY) return "an input has no entities: they may be others elsewhere";
    if (c->step_ns < 1000000 || c->step_ns > 1000000000) return "step_ns is 1,000,000 ... 1,000,000,000 nanoseconds";
    if (c->nonce == 0) return "a session needs a random number: nonce";
    if (c->ahead_max > 32 || c->delay_min > 32 || c->delay_max > 32)
        return "ahead_max, delay_min and delay_max are at most 32 ticks";
    if (c->delay_max && c->delay_min > c->delay_max) return "delay_min is more than delay_max";
    if (c->hash_every > 1000) return "hash_every is at most 1000 ticks";
    return NULL;
}

static void defaults(reef_net_config *c)
{
    if (c->ahead_max == 0) c->ahead_max = 12;
    if (c->delay_min == 0) c->delay_min = 1;
    if (c->delay_max == 0) c->delay_max = 6;
    if (c->delay_max < c->delay_min) c->delay_max = c->delay_min;
    if (c->rollback_wanted == 0) c->rollback_wanted = 4;
    if (c->silence_ns == 0) c->silence_ns = 2000 * NET_MS;
    if (c->patience_ns == 0) c->patience_ns = 10000 * NET_MS;
    if (c->state_bytes_max == 0) c->state_bytes_max = UINT64_C(256) << 20;
    if (c->state_rate == 0) c->state_rate = 1 << 20;
    if (c->hash_every == 0) c->hash_every = 8;
}

static reef_net *refused(char *reason, const char *text)
{
    if (reason) (void)snprintf(reason, REEF_NET_REASON_MAX, "%s", text);
    return NULL;
}

enum { SIGNATURES_BYTES = NET_SEATS * NET_BLOCKS * REEF_NET_SIGNATURE_BYTES, DIGESTS_BYTES = NET_RING * NET_DIGEST };

static size_t inputs_bytes(const reef_net *net) { return (size_t)NET_SEATS * NET_RING * net->input_bytes; }

static bool buffers_make(reef_net *net)
{
    net->inputs = net__alloc(net, inputs_bytes(net));
    net->signatures = net__alloc(net, SIGNATURES_BYTES);
    net->digests = net__alloc(net, DIGESTS_BYTES);
    net->packed = net__alloc(net, (size_t)NET_SLOTS * net->packed_bytes);
    net->late = net__alloc(net, NET_SLOTS * sizeof *net->late);
    net->slots = net__alloc(net, NET_SLOTS * sizeof *net->slots);
    return net->inputs && net->signatures && net->digests && net->packed && net->late && net->slots &&
           net__describe(net);
}

static reef_net *session_new(const reef_net_config *config, char *reason)
{
    reef_type_info type;
    if (reason) reason[0] = 0;
    const char *wrong = config ? config_wrong(config) : "there is no configuration";
    if (wrong) return refused(reason, wrong);
    if (reef_time_owner(config->world)) {
        char text[REEF_NET_REASON_MAX];
        (void)snprintf(text, sizeof text, "the time of this world belongs to %s", reef_time_owner(config->world));
        return refused(reason, text);
    }
    const reef_allocator a = net__allocator(&config->allocator);
    reef_net *net = a.resize(a.context, NULL, 0, sizeof *net, 16);
    if (net == NULL) return refused(reason, "no memory");
    memset(net, 0, sizeof *net);
    net->config = *config;
    net->allocator = a;
    net->incarnation = config->nonce;
    net->seat = -1;
    net->proposal.add = -1;
    defaults(&net->config);
    (void)reef_type_get(config->input, &type);
    net->input_bytes = type.size;
    net->packed_bytes = 16 + NET_SEATS * ((type.size + 15u) & ~15u);
    net->delay = net->config.delay_min;
    for (uint32_t s = 0; s < NET_SEATS; s++) net->seats[s].first = net->seats[s].end = NET_NEVER;
    if (buffers_make(net)) return net;
    reef_net_free(net);
    return refused(reason, "no memory");
}

reef_net *reef_net_host(const reef_net_config *config, char *reason)
{
    reef_net *net = session_new(config, reason);
    if (net == NULL) return NULL;
    if (config->spectator || net__history_begin(net, 0) != REEF_OK) {
        reef_net_free(net);
        return refused(reason, config->spectator ? "a host takes part, so it is no spectator" : "no memory");
    }
    net->session = net->incarnation;
    net->seat = 0;
    net->seats[0] = (net_seat){.incarnation = net->incarnation, .first = 0, .end = NET_NEVER};
    net->view = (net_view){.number = 1, .members = 1};
    for (uint32_t s = 0; s < NET_SEATS; s++) net->view.seat[s].end = NET_NEVER;
    net->view.seat[0].incarnation = net->incarnation;
    memcpy(net->view.seat[0].key, config->signer.key, REEF_NET_KEY_BYTES);
    memcpy(net->seats[0].key, config->signer.key, REEF_NET_KEY_BYTES);
    net->views[1] = net->view;
    net->caught_up = true;
    net->phase = REEF_NET_PLAYING;
    own_time(net, true);
    return net;
}

reef_net *reef_net_join(const reef_net_config *config, uint64_t address, char *reason)
{
    if (address == 0) return refused(reason, "there is no address");
    reef_net *net = session_new(config, reason);
    if (net == NULL) return NULL;
    net->server = address;
    net->phase = REEF_NET_JOINING;
    own_time(net, true);
    return net;
}

void reef_net_free(reef_net *net)
{
    if (net == NULL || net->updating) return;
    const reef_allocator a = net->allocator;
    own_time(net, false);
    for (uint32_t i = 0; i < NET_LINKS; i++) net__guest_release(net, &net->links[i]);
    net__join_release(net);
    reef_history_free(net->history);
    net__release(net, net->inputs, inputs_bytes(net));
    net__release(net, net->signatures, SIGNATURES_BYTES);
    net__release(net, net->digests, DIGESTS_BYTES);
    net__release(net, net->packed, (size_t)NET_SLOTS * net->packed_bytes);
    net__release(net, net->late, NET_SLOTS * sizeof *net->late);
    net__release(net, net->slots, NET_SLOTS * sizeof *net->slots);
    net__release(net, net->notices, net->notice_room * sizeof *net->notices);
    net__desync_free(net);
    net__kept_free(net);
    net__release(net, net->description, net->description_bytes);
    (void)a.resize(a.context, net, sizeof *net, 0, 16);
}

void reef_net_leave(reef_net *net)
{
    if (net == NULL || net->phase == REEF_NET_ENDED) return;
    if (net->seat < 0) net__end(net, "this player left");
    else if (net->leave_at == 0) net->leave_at = net->now ? net->now : 1;
}

/* Says that it leaves when the others know all its inputs, or after some time. */
static void leave_advance(reef_net *net)
{
    bool known = true;
    for (uint32_t i = 0; i < NET_SEATS; i++)
        known &= !net->links[i].used || net->links[i].have[net->seat] >= net->seats[net->seat].have;
    net->leaving = net->leaving || known || net->now - net->leave_at > net->config.silence_ns / 2;
}

/* ---- an update ---- */

/* First what others sent, then what follows from it: ticks are confirmed and corrected before anything is hashed or
 * told as final; what was agreed on, then new ticks; last what the others should know. */
static reef_status advance(reef_net *net)
{
    reef_status s;
    net__confirm(net);
    s = net__correct(net);
    if (s >= 0) s = net__pace(net);
    if (s < 0) return s;
    net__confirm(net); /* the local inputs may have been what was missing */
    s = net__correct(net);
    if (s >= 0) s = net__events_tell(net);
    if (s >= 0) s = net__hash(net);
    return s;
}

/* Everybody else has the view without this player, or has had the time to ask for it. */
static void left_advance(reef_net *net)
{
    bool known = true;
    for (uint32_t i = 0; i < NET_SEATS; i++) known &= !net->links[i].used || net->links[i].view >= net->view.number;
    if (known || net->now - net->left_at > 2 * net->config.silence_ns) net__end(net, "this player left");
}

/* A program that stood still for longer didn't ask meanwhile: the rest doesn't count as waiting for an answer. */
#define ASLEEP (250 * NET_MS)

static reef_status update(reef_net *net, uint64_t now_ns)
{
    now_ns++; /* 0 means never */
    if (!net->clock_begun) {
        net->clock_begun = true;
        net->now = net->began_at = net->paced_at = now_ns;
    }
    const uint64_t passed = now_ns > net->now ? now_ns - net->now : 0;
    net->now += passed;
    if (passed > ASLEEP) net->began_at += passed - ASLEEP;
    if (net->phase == REEF_NET_ENDED) return REEF_OK;
    net__receive(net);
    if (net->left) {
        left_advance(net);
        return REEF_OK;
    }
    reef_status s = net->desync ? net__desync(net) : REEF_OK;
    if (s < 0) return s;
    net__join(net);
    if (net->phase == REEF_NET_WATCHING || net->phase == REEF_NET_PLAYING) {
        if (net->leave_at) leave_advance(net);
        net__agree(net);
        if (net->phase != REEF_NET_ENDED && !net->left) s = advance(net);
        net__delay_adapt(net);
        net__serve(net, passed);
    }
    net__frames_send(net);
    return s;
}

/* Between updates the time of the world belongs to the session, until that has ended. */
reef_status reef_net_update(reef_net *net, uint64_t now_ns)
{
    if (net == NULL) return REEF_BAD_ARGUMENT;
    if (net->updating) return REEF_LOCKED;
    net->updating = true;
    own_time(net, false);
    const reef_status s = update(net, now_ns);
    if (net->phase == REEF_NET_ENDED) net__kept_free(net);
    own_time(net, net->phase != REEF_NET_ENDED);
    net->updating = false;
    return s;
}

/* ---- asking ---- */

reef_net_phase reef_net_state(const reef_net *net) { return net ? net->phase : REEF_NET_ENDED; }
const char *reef_net_reason(const reef_net *net) { return net ? net->reason : ""; }
int reef_net_player(const reef_net *net) { return net ? net->seat : -1; }
uint64_t reef_net_tick_next(const reef_net *net) { return net ? net->tick : 0; }
uint64_t reef_net_confirmed(const reef_net *net) { return net ? net->checked : 0; }

uint64_t reef_net_hash(const reef_net *net, uint64_t tick)
{
    if (net == NULL || tick % net->config.hash_every) return 0;
    const size_t at = tick / net->config.hash_every % NET_HASHES;
    return net->hashes[at].tick == tick ? net->hashes[at].hash : 0;
}

reef_world *reef_net_fork_confirmed(reef_net *net)
{
    return net && net->history ? net__fork_at(net, net->checked) : NULL;
}

bool reef_net_player_get(const reef_net *net, uint32_t player, reef_net_player_info *info)
{
    if (net == NULL || info == NULL || player >= NET_SEATS) return false;
    const net_link *l = &net->links[player];
    *info = (reef_net_player_info){.present = net->view.members >> player & 1, .known = net->seats[player].have};
    if (info->known > net->seats[player].end) info->known = net->seats[player].end;
    info->host = info->present && net->view.host == player;
    info->address = l->used ? l->address : 0;
    info->round_ns = l->used ? l->round_ns : 0;
    return true;
}

reef_net_stats reef_net_statistics(const reef_net *net)
{
    reef_net_stats s = net ? net->stats : (reef_net_stats){0};
    if (net) s.delay = net->delay;
    return s;
}
