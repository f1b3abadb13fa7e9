/* Signed blocks: a player signs NET_BLOCK of his inputs at a time, with the session, his incarnation, the tick of the
 * first one, and the command in them if there is one. So a signature costs a player and his readers little a tick, and
 * whoever has a block can hand it on without being believed.
 *
 * One who signs two versions of a block and sends them to different players is found by those whose echoes differ
 * (net.h). What the player himself tells of his own inputs later is no reason to take inputs back: the others may have
 * agreed on them. */
#include "net.h"

enum { TEXT_ROOM = 64 + NET_BLOCK * REEF_NET_INPUT_MAX + 64 };

bool net__signs(const reef_net *net) { return net->config.signer.sign != NULL; }

void net__sum(const reef_net *net, const void *bytes, size_t count, unsigned char *digest)
{
    const reef_net_signer *signer = &net->config.signer;
    if (net__signs(net)) {
        signer->digest(signer->context, bytes, count, digest);
        return;
    }
    wire w = {digest, 0, NET_DIGEST, false};
    const uint64_t h = net__digest(bytes, count);
    wire_u64(&w, h);
    wire_u64(&w, (h ^ h >> 31) * UINT64_C(0x9e3779b97f4a7c15) + count);
}

unsigned char *net__signature(reef_net *net, uint32_t seat, uint64_t tick)
{
    const size_t at = (size_t)seat * NET_BLOCKS + tick / NET_BLOCK % NET_BLOCKS;
    return net->signatures + at * REEF_NET_SIGNATURE_BYTES;
}

static uint64_t block_of(uint64_t tick) { return tick / NET_BLOCK * NET_BLOCK; }

/* The text that is signed. Returns its length. */
static size_t text_make(const reef_net *net, const net_block *b, unsigned char *text)
{
    static const char label[] = "reef_net: a block of inputs";
    wire w = {text, 0, TEXT_ROOM, false};
    wire_put(&w, label, sizeof label);
    wire_u64(&w, net->session);
    wire_u64(&w, net->seats[b->seat].incarnation);
    wire_u64(&w, b->first);
    wire_put(&w, b->inputs, (size_t)NET_BLOCK * net->input_bytes);
    wire_u8(&w, b->start.incarnation != 0);
    if (b->start.incarnation) {
        wire_u64(&w, b->start.tick);
        wire_u64(&w, b->start.incarnation);
        wire_u64(&w, b->start.first);
        wire_u32(&w, b->start.seat);
        wire_u32(&w, b->start.view);
    }
    return w.at;
}

/* The block as it is known here, without its signature. */
static void block_get(reef_net *net, uint32_t seat, uint64_t first, net_block *b)
{
    *b = (net_block){.seat = seat, .first = first};
    for (uint64_t t = first; t < first + NET_BLOCK; t++) {
        const net_start *start = net__start_find(net, seat, t);
        memcpy(b->inputs + (t - first) * net->input_bytes, net__input(net, seat, t), net->input_bytes);
        if (start) b->start = *start;
    }
}

static bool right(const reef_net *net, const net_block *b, const unsigned char *signature)
{
    unsigned char text[TEXT_ROOM];
    const size_t count = text_make(net, b, text);
    const reef_net_signer *signer = &net->config.signer;
    return signer->verify(signer->context, net->seats[b->seat].key, text, count, signature);
}

void net__block_sign(reef_net *net, uint64_t until)
{
    unsigned char text[TEXT_ROOM];
    net_block b;
    net_seat *seat = &net->seats[net->seat];
    block_get(net, (uint32_t)net->seat, until - NET_BLOCK, &b);
    const size_t count = text_make(net, &b, text);
    net->config.signer.sign(net->config.signer.context, text, count,
                            net__signature(net, (uint32_t)net->seat, until - NET_BLOCK));
    seat->proven = seat->blocks = until;
}

bool net__block_close(reef_net *net, uint32_t s, const unsigned char *signature)
{
    net_block b;
    net_seat *seat = &net->seats[s];
    block_get(net, s, seat->have - NET_BLOCK, &b);
    if (!right(net, &b, signature)) return false;
    memcpy(net__signature(net, s, b.first), signature, REEF_NET_SIGNATURE_BYTES);
    seat->proven = seat->blocks = seat->have;
    return true;
}

/* ---- blocks from others ---- */

void net__starts_drop(reef_net *net, uint32_t by, uint64_t from)
{
    for (uint32_t i = 0; i < NET_STARTS; i++) {
        net_start *start = &net->starts[i];
        if (start->incarnation == 0 || start->by != by || start->tick < from) continue;
        net_seat *seat = &net->seats[start->seat];
        if (seat->incarnation == start->incarnation && seat->first == start->first) { /* it hasn't begun after all */
            seat->first = NET_NEVER;
            seat->have = seat->proven = seat->blocks = 0;
        }
        *start = (net_start){0};
    }
}

/* The player has signed another version than the one that is proven here. */
static void convict(reef_net *net, const net_block *mine, const net_block *theirs, const net_link *from)
{
    net_seat *seat = &net->seats[mine->seat];
    uint64_t t = mine->first;
    while (t < mine->first + NET_BLOCK - 1 &&
           memcmp(mine->inputs + (t - mine->first) * net->input_bytes,
                  theirs->inputs + (t - mine->first) * net->input_bytes, net->input_bytes) == 0 &&
           t != mine->start.tick && t != theirs->start.tick)
        t++;
    if (!seat->convicted) net->stats.proofs++;
    seat->convicted = true;
    if (from == &net->links[mine->seat] || t < net->checked || t >= seat->proven) return;
    seat->have = seat->proven = t;
    if (net->complete > t) net->complete = t;
    if (net->proven > t) net->proven = t;
    if (net->agreed > t) net->agreed = t;
    for (uint32_t s = 0; s < NET_SEATS; s++)
        if (net->links[s].agreed > t) net->links[s].agreed = t;
    net__starts_drop(net, mine->seat, t); /* who was to begin by a command that no longer counts */
}

void net__block_take(reef_net *net, const net_block *b, const net_link *from)
{
    net_seat *seat = &net->seats[b->seat];
    net_block mine;
    if (b->first < seat->blocks) { /* known; is it the same? */
        if (b->first + NET_RING / 2 < net->proven || b->first < net->base || seat->convicted) return;
        block_get(net, b->seat, b->first, &mine);
        const bool same = memcmp(mine.inputs, b->inputs, sizeof mine.inputs) == 0 &&
                          mine.start.incarnation == b->start.incarnation && mine.start.tick == b->start.tick &&
                          mine.start.first == b->start.first && mine.start.seat == b->start.seat &&
                          mine.start.view == b->start.view;
        if (!same && right(net, b, b->signature)) convict(net, &mine, b, from);
        return;
    }
    if (b->first != seat->blocks || seat->convicted || !right(net, b, b->signature)) return;
    for (uint32_t i = 0; i < NET_STARTS; i++) /* what came unsigned doesn't count beside it */
        if (net->starts[i].by == b->seat && block_of(net->starts[i].tick) == b->first) net->starts[i] = (net_start){0};
    for (uint64_t t = b->first; t < b->first + NET_BLOCK; t++)
        memcpy(net__input(net, b->seat, t), b->inputs + (t - b->first) * net->input_bytes, net->input_bytes);
    if (b->start.incarnation) net__start_add(net, b->start);
    memcpy(net__signature(net, b->seat, b->first), b->signature, REEF_NET_SIGNATURE_BYTES);
    seat->proven = seat->blocks = b->first + NET_BLOCK;
    if (seat->have < seat->proven) seat->have = seat->proven;
    seat->grew_at = net->now;
}
