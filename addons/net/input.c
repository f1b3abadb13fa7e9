/* Inputs: those of each seat in a ring by tick, what a tick is played with, how far ticks are confirmed, the commands
 * by which members begin to play, and the local player's.
 *
 * The inputs of a tick as the history keeps them, `packed`: a byte whose bit s says that seat s plays, and from byte 16
 * on one input of each seat, each at a multiple of 16 bytes; zeros for who doesn't play. So equal inputs are equal
 * bytes. */
#include "net.h"
#include <math.h>

enum { PACKED_HEAD = 16 };

static size_t stride(const reef_net *net) { return (net->input_bytes + 15u) & ~(size_t)15; }

unsigned char *net__input(reef_net *net, uint32_t seat, uint64_t tick)
{
    return net->inputs + ((size_t)seat * NET_RING + (tick & (NET_RING - 1))) * net->input_bytes;
}

bool net__plays(const net_seat *seat, uint64_t tick) { return seat->first <= tick && tick < seat->end; }

/* ---- what is allowed ---- */

static bool named(const reef_names *names, int64_t value)
{
    int64_t bits = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        if (!names->mask && names->values[i].value == value) return true;
        bits |= names->values[i].value;
    }
    return names->mask && (value & ~bits) == 0;
}

static bool whole_allowed(const reef_field *f, int64_t value, bool is_signed)
{
    const double number = is_signed ? (double)value : (double)(uint64_t)value;
    if (f->names) return named(f->names, value);
    return (f->lowest == 0 && f->highest == 0) || (number >= f->lowest && number <= f->highest);
}

static bool float_allowed(const reef_field *f, double value)
{
    if (!isfinite(value)) return false;
    return (f->lowest == 0 && f->highest == 0) || (value >= f->lowest && value <= f->highest);
}

/* Is the element at `at` allowed? Its size is written to *bytes. */
static bool element_allowed(const reef_field *f, const unsigned char *at, size_t *bytes)
{
    switch (f->kind) {
#define WHOLE(KIND, type, is_signed) \
    case KIND: { \
        type v; \
        memcpy(&v, at, *bytes = sizeof v); \
        return whole_allowed(f, (int64_t)v, is_signed); \
    }
        WHOLE(REEF_I8, int8_t, true)
        WHOLE(REEF_U8, uint8_t, false)
        WHOLE(REEF_I16, int16_t, true)
        WHOLE(REEF_U16, uint16_t, false)
        WHOLE(REEF_I32, int32_t, true)
        WHOLE(REEF_U32, uint32_t, false)
        WHOLE(REEF_I64, int64_t, true)
        WHOLE(REEF_U64, uint64_t, false)
#undef WHOLE
    case REEF_BOOL: *bytes = 1; return *at <= 1;
    case REEF_F32: {
        float v;
        memcpy(&v, at, *bytes = sizeof v);
        return float_allowed(f, (double)v);
    }
    case REEF_F64: {
        double v;
        memcpy(&v, at, *bytes = sizeof v);
        return float_allowed(f, v);
    }
    case REEF_CHAR: *bytes = 1; return true;
    default: *bytes = 1; return false;
    }
}

const char *net__input_wrong(reef_component id, const void *input)
{
    reef_type_info type;
    if (!reef_type_get(id, &type)) return "its type isn't known";
    for (uint32_t i = 0; i < type.field_count; i++) {
        const reef_field *f = &type.fields[i];
        size_t bytes = 1;
        for (size_t at = 0; at < f->bytes; at += bytes)
            if (!element_allowed(f, (const unsigned char *)input + f->offset + at, &bytes)) return f->name;
    }
    return NULL;
}

/* ---- the inputs of a tick ---- */

void net__pack(reef_net *net, uint64_t tick, unsigned char *packed)
{
    memset(packed, 0, net->packed_bytes);
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        const net_seat *seat = &net->seats[s];
        unsigned char *to = packed + PACKED_HEAD + s * stride(net);
        if (!net__plays(seat, tick)) continue;
        packed[0] = (unsigned char)(packed[0] | 1u << s);
        if (tick < seat->have) {
            memcpy(to, net__input(net, s, tick), net->input_bytes);
            continue;
        }
        const uint64_t since = tick + 1 - seat->have;
        if (seat->have > seat->first) memcpy(to, net__input(net, s, seat->have - 1), net->input_bytes);
        if (net->config.predict) net->config.predict(net->config.context, s, tick, since, to);
    }
}

void net__unpack(const reef_net *net, const unsigned char *packed, reef_net_tick *tick)
{
    tick->players = packed[0];
    for (uint32_t s = 0; s < NET_SEATS; s++)
        tick->input[s] = tick->players & 1u << s ? packed + PACKED_HEAD + s * stride(net) : NULL;
}

/* ---- commands ---- */

void net__start_add(reef_net *net, net_start start) { net->starts[net->start_at++ % NET_STARTS] = start; }

const net_start *net__start_find(const reef_net *net, uint32_t by, uint64_t tick)
{
    for (uint32_t i = 0; i < NET_STARTS; i++) {
        const net_start *s = &net->starts[i];
        if (s->incarnation && s->by == by && s->tick == tick) return s;
    }
    return NULL;
}

/* Applies the command in the input of this seat for this tick, if there is one, and the seat hosts. */
static void start_apply(reef_net *net, uint32_t by, uint64_t tick)
{
    enum { LATEST = 8 * NET_BLOCK };
    const net_start *s = net__start_find(net, by, tick);
    if (s == NULL) return;
    net_seat *seat = &net->seats[s->seat];
    const net_view *view = &net->views[s->view % NET_VIEWS];
    if (view->number == s->view && view->host != by) return;
    if (seat->incarnation != s->incarnation || seat->first != NET_NEVER) return;
    if (s->first <= tick || s->first > tick + LATEST || s->first % NET_BLOCK) return;
    seat->first = s->first;
    if (seat->have < s->first) seat->have = seat->proven = seat->blocks = s->first;
    if (net->complete > s->first) net->complete = s->first;
    seat->grew_at = net->now;
    if ((int)s->seat == net->seat) net->local_next = s->first;
}

/* ---- confirming ---- */

static void complete(reef_net *net)
{
    while (net->complete < net->tick + NET_REACH / 2) {
        for (uint32_t s = 0; s < NET_SEATS; s++)
            if (net__plays(&net->seats[s], net->complete) && net->seats[s].have <= net->complete) return;
        net->complete++;
        net->complete_at = net->now;
    }
}

unsigned char *net__digest_at(reef_net *net, uint64_t tick)
{
    return net->digests + (tick & (NET_RING - 1)) * NET_DIGEST;
}

/* The digest of all inputs up to those of tick t, from the digest of those before. */
static void digest_next(reef_net *net, uint64_t t, uint32_t playing)
{
    unsigned char room[NET_DIGEST + 1 + NET_SEATS * (REEF_NET_INPUT_MAX + 1 + 24)];
    wire w = {room, 0, sizeof room, false};
    wire_put(&w, net__digest_at(net, t), NET_DIGEST);
    wire_u8(&w, playing);
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        const net_start *start = net__start_find(net, s, t);
        if (!(playing & 1u << s)) continue;
        wire_put(&w, net__input(net, s, t), net->input_bytes);
        wire_u8(&w, start != NULL);
        if (start == NULL) continue;
        wire_u32(&w, start->seat);
        wire_u32(&w, start->view);
        wire_u64(&w, start->incarnation);
        wire_u64(&w, start->first);
    }
    net__sum(net, room, w.at, net__digest_at(net, t + 1));
}

static void prove(reef_net *net)
{
    while (net->proven < net->complete) {
        const uint64_t t = net->proven;
        uint32_t playing = 0, later = 0;
        for (uint32_t s = 0; s < NET_SEATS; s++) {
            const net_seat *seat = &net->seats[s];
            if (seat->first != NET_NEVER && seat->first > t && seat->first < seat->end) later |= 1u << s;
            if (!net__plays(seat, t)) continue;
            const net_start *start = net__start_find(net, s, t);
            if (seat->proven <= t || (start && start->view > net->view.number)) return;
            playing |= 1u << s;
        }
        if (playing == 0 && later == 0) {
            net__end(net, "no player is left");
            return;
        }
        digest_next(net, t, playing);
        for (uint32_t s = 0; s < NET_SEATS; s++)
            if (playing & 1u << s) start_apply(net, s, t);
        net->proven++;
    }
}

/* ---- what all agree on ---- */

static void echo_compare(reef_net *net, net_link *l)
{
    if (l->echo_there && l->echo_view < net->view.number) l->echo_there = false;
    if (l->echo_there && l->echo_view == net->view.number && l->echo_tick <= net->proven) {
        l->echo_there = false;
        if (l->echo_tick >= net->base && l->echo_tick + NET_RING / 2 > net->proven) {
            l->disputed = memcmp(net__digest_at(net, l->echo_tick), l->echo, NET_DIGEST) != 0;
            if (!l->disputed && l->echo_tick > l->agreed) l->agreed = l->echo_tick;
        }
    }
    if (l->agreed >= l->awaited) { /* what was proven at that time is agreed now */
        l->awaited = net->proven;
        l->awaited_at = net->now;
    }
}

/* Can this member have got what it should tell? It says that it hears this program, or it plays on where it would have
 * to wait for it. */
static bool should_know(const reef_net *net, uint32_t s)
{
    enum { DELAY_MOST = 32 };
    const net_link *l = &net->links[s];
    if (net->seat < 0) return false; /* nobody waits for who has no seat */
    const uint64_t last = l->have[net->seat] + net->config.ahead_max + DELAY_MOST;
    return l->hears >> net->seat & 1 || net->seats[s].have > last;
}

bool net__late(const reef_net *net, uint32_t s, uint64_t since)
{
    enum { HEARS_LATE_MS = 500 }; /* packet.c says that it hears who was heard 400 ms ago */
    const net_link *l = &net->links[s];
    if (!l->used || l->awaited_at == 0 || l->agreed >= net->proven || net->leaving) return false;
    if (net__silent(net, l) > net->config.silence_ns / 4) return false; /* that is another matter */
    const uint64_t from = l->awaited_at > l->steady_at ? l->awaited_at : l->steady_at;
    /* who has promised takes no inputs of who is to go; and that nothing reaches it may be the fault of a line */
    const bool excused = l->promised || net->promised_at || !should_know(net, s);
    return net->now - from > since * (excused ? 4 : 1) + HEARS_LATE_MS * NET_MS + l->round_ns;
}

/* What members with the same inputs say that they have confirmed, in this view. */
static uint64_t vouched(const reef_net *net)
{
    uint64_t most = 0;
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        const net_link *l = &net->links[s];
        if (!l->used || !(net->view.members & 1u << s) || l->view != net->view.number) continue;
        const uint64_t told = l->confirmed < l->agreed ? l->confirmed : l->agreed;
        if (told > most) most = told;
    }
    return most;
}

/* What all members have told: agree.c says why it is the same for all. One may tell this program less than the others.
 * After some time these are believed: what one member has confirmed, all have told him. */
static void agree(reef_net *net)
{
    const net_link *host = &net->links[net->view.host];
    uint64_t agreed = net->proven;
    if (net->seat < 0 && host->view != net->view.number) return; /* its confirmed ticks may have other inputs */
    if (net->seat < 0 && host->confirmed < agreed) agreed = host->confirmed;
    for (uint32_t s = 0; s < NET_SEATS && net->seat >= 0; s++) {
        net_link *l = &net->links[s];
        if (!l->used || !(net->view.members & 1u << s)) continue;
        echo_compare(net, l);
        if (net->elders & 1u << s && l->agreed) net->caught_up = true;
        uint64_t told = l->agreed;
        if (told < agreed && net__late(net, s, net->config.silence_ns) && vouched(net) > told) told = vouched(net);
        if (told < agreed) agreed = told;
    }
    if (agreed <= net->agreed) return;
    net->agreed = agreed;
    net->agreed_at = net->now;
}

void net__confirm(reef_net *net)
{
    complete(net);
    prove(net);
    agree(net);
}

/* ---- the local player ---- */

/* As the host: lets a member begin, by a command in the input for `tick`. Not before all ends are confirmed, so that no
 * command of an earlier host for the same member can still be on its way; and one command after the other, so that a
 * block contains at most one. */
static void start_put(reef_net *net, uint64_t tick)
{
    for (uint32_t s = 0; s < NET_SEATS; s++)
        if (net->seats[s].incarnation && net->seats[s].end != NET_NEVER && net->seats[s].end > net->proven) return;
    for (uint32_t i = 0; i < NET_STARTS; i++)
        if (net->starts[i].incarnation && net->starts[i].tick >= net->proven) return;
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        if (!(net->view.members & 1u << s) || net->seats[s].first != NET_NEVER) continue;
        const uint64_t first = tick + 2 * NET_BLOCK + net->config.ahead_max + 8;
        net__start_add(net, (net_start){.tick = tick,
                                        .incarnation = net->seats[s].incarnation,
                                        .first = (first + NET_BLOCK - 1) / NET_BLOCK * NET_BLOCK,
                                        .by = (uint32_t)net->seat,
                                        .seat = s,
                                        .view = net->view.number});
        return;
    }
}

void net__emit(reef_net *net)
{
    if (net->seat < 0 || net->leave_at || net->seats[net->seat].frozen) return;
    net_seat *seat = &net->seats[net->seat];
    _Alignas(16) unsigned char input[REEF_NET_INPUT_MAX] = {0};
    if (seat->first == NET_NEVER || seat->end != NET_NEVER || net->local_next > net->tick + net->delay) return;
    if (net->config.sample) net->config.sample(net->config.context, input);
    net->sample_wrong = net__input_wrong(net->config.input, input);
    if (net->sample_wrong) { /* the others would refuse it */
        memset(input, 0, sizeof input);
        net->stats.refused++;
    }
    while (net->local_next <= net->tick + net->delay) {
        memcpy(net__input(net, (uint32_t)net->seat, net->local_next), input, net->input_bytes);
        if ((int)net->view.host == net->seat) start_put(net, net->local_next);
        seat->have = ++net->local_next;
        seat->grew_at = net->now;
        if (!net__signs(net)) seat->proven = seat->have;
        else if (seat->have % NET_BLOCK == 0) net__block_sign(net, seat->have);
    }
}
