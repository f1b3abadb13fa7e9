/* The host's side of joining: answers to HELLO, states in chunks, guests that fall silent.
 *
 * A state is that of the last confirmed tick at which a block begins: the view, when each seat plays, the digest of all
 * inputs so far, and the world as a file. Its chunks are
 * sent at state_rate at most, in datagrams of their own, so inputs never wait behind them. Who joins asks for what it
 * lacks; a chunk is sent again when it is still asked for after a round trip.
 *
 * No state is from before the end of a player who has gone: when his seat is given to another one, his inputs are
 * forgotten. Who asks too early asks again. So that nobody keeps the host busy by asking, states
 * are made some time apart, and a guest that is so far behind that its inputs aren't kept any more is sent away. */
#include "net.h"
#include <stdio.h>

void net__guest_release(reef_net *net, net_link *link)
{
    net__release(net, link->blob_bytes, link->blob_room);
    link->blob_bytes = NULL;
    link->blob_size = link->blob_room = 0;
    link->blob_kind = NET_BLOB_NONE;
}

static uint64_t blob_size(const reef_net *net, const net_link *l)
{
    return l->blob_kind == NET_BLOB_DESCRIPTION ? net->description_bytes - 1 : l->blob_size;
}

typedef struct sink {
    reef_net *net;
    net_link *link;
} sink;

static reef_status blob_write(void *context, const void *bytes, size_t count)
{
    const sink *b = context;
    net_link *l = b->link;
    if (count > l->blob_room - l->blob_size) {
        size_t room = l->blob_room ? l->blob_room * 2 : 4096;
        while (room < l->blob_size + count) room *= 2;
        unsigned char *more = net__alloc(b->net, room);
        if (more == NULL) return REEF_NO_MEMORY;
        if (l->blob_size) memcpy(more, l->blob_bytes, l->blob_size);
        net__release(b->net, l->blob_bytes, l->blob_room);
        l->blob_bytes = more;
        l->blob_room = room;
    }
    memcpy(l->blob_bytes + l->blob_size, bytes, count);
    l->blob_size += count;
    return REEF_OK;
}

/* Writes the part of the state before the file. */
static reef_status head_write(reef_net *net, sink *b, uint64_t tick)
{
    unsigned char room[8 + 6 + NET_SEATS * (24 + REEF_NET_KEY_BYTES) + NET_SEATS * 8 + NET_DIGEST];
    wire w = {room, 0, sizeof room, false};
    wire_u64(&w, tick);
    net__view_put(&w, &net->view);
    for (uint32_t s = 0; s < NET_SEATS; s++) wire_u64(&w, net->seats[s].first);
    wire_put(&w, net__digest_at(net, tick), NET_DIGEST);
    return blob_write(b, room, w.at);
}

static uint64_t state_tick(const reef_net *net) { return net->checked / NET_BLOCK * NET_BLOCK; }

/* Can a state be made now? */
static bool state_ready(const reef_net *net)
{
    enum { APART_MS = 50 };
    return state_tick(net) >= net__last_end(net) && state_tick(net) >= net->whole_from &&
           (net->stated_at == 0 || net->now - net->stated_at >= APART_MS * NET_MS);
}

static reef_status state_make(reef_net *net, net_link *l)
{
    const uint64_t tick = state_tick(net);
    reef_world *fork = net__fork_at(net, tick);
    const reef_save_desc desc = {.raw = true, .sealed = true};
    sink b = {net, l};
    char reason[REEF_DETAIL_MAX];
    net->stated_at = net->now;
    if (fork == NULL) return REEF_NO_MEMORY;
    reef_status s = head_write(net, &b, tick);
    if (s == REEF_OK && net->config.pack) s = net->config.pack(fork, (reef_writer){blob_write, &b}, &desc, 3, reason);
    else if (s == REEF_OK) s = reef_save_to(fork, (reef_writer){blob_write, &b}, &desc);
    reef_world_free(fork);
    if (s != REEF_OK) return s;
    l->blob_at = l->confirmed = l->equal_tick = tick;
    l->equal_known = true;
    l->view = net->view.number;
    for (uint32_t i = 0; i < NET_SEATS; i++)
        l->have[i] = l->proven[i] = net->seats[i].proven < tick ? net->seats[i].proven : tick;
    return REEF_OK;
}

static void refuse(reef_net *net, uint64_t to, uint64_t incarnation, const char *text)
{
    unsigned char room[REEF_NET_DATAGRAM_MAX];
    wire w = {room, 0, sizeof room, false};
    net__head(net, &w, NET_REFUSE);
    wire_u64(&w, incarnation);
    wire_put(&w, text, strlen(text));
    net->config.transport.send(net->config.transport.context, to, room, w.at);
}

static void welcome(reef_net *net, uint64_t to, uint64_t incarnation, uint64_t host, const net_link *l)
{
    unsigned char room[REEF_NET_DATAGRAM_MAX];
    wire w = {room, 0, sizeof room, false};
    net__head(net, &w, NET_WELCOME);
    wire_u64(&w, incarnation);
    wire_u64(&w, host);
    wire_u32(&w, l ? l->blob : 0);
    wire_u8(&w, l ? (uint32_t)l->blob_kind : 0);
    wire_u64(&w, l ? blob_size(net, l) : 0);
    net->config.transport.send(net->config.transport.context, to, room, w.at);
}

/* A guest's link: its own, or a free one. */
static net_link *guest_link(reef_net *net, uint64_t incarnation)
{
    net_link *l = net__link_of(net, incarnation);
    for (uint32_t i = NET_SEATS; l == NULL && i < NET_LINKS; i++)
        if (!net->links[i].used) l = &net->links[i];
    return l;
}

void net__hello_read(reef_net *net, wire *w, uint64_t from)
{
    const uint32_t version = wire_get32(w);
    const uint64_t incarnation = wire_get64(w);
    const uint32_t attempt = wire_get32(w);
    const uint64_t digest = wire_get64(w);
    const bool spectator = wire_get8(w) != 0;
    unsigned char key[REEF_NET_KEY_BYTES];
    wire_bytes(w, key, sizeof key);
    if (w->bad || incarnation == 0 || net->seat < 0 || net->phase != REEF_NET_PLAYING) {
        net->stats.refused++;
        return;
    }
    if ((int)net->view.host != net->seat) {
        welcome(net, from, incarnation, net->links[net->view.host].address, NULL);
        return;
    }
    if (version != NET_VERSION) {
        char text[96];
        (void)snprintf(text, sizeof text, "the host speaks version %d of the protocol, not %u", NET_VERSION, version);
        refuse(net, from, incarnation, text);
        return;
    }
    for (uint32_t s = 0; s < NET_SEATS; s++) { /* a seat's ticks belong to one incarnation for good */
        if (net->seats[s].incarnation != incarnation) continue;
        /* what a member asked before it was one may arrive late, but comes from its address */
        if (!(net->view.members & 1u << s) || (int)s == net->seat ||
            (net->links[s].used && net->links[s].address != from))
            refuse(net, from, incarnation, "this nonce was used before in the session");
        return;
    }
    net_link *l = guest_link(net, incarnation);
    if (l == NULL || (!spectator && net->view.members == 0xff)) {
        refuse(net, from, incarnation, "the session is full");
        return;
    }
    if (!l->guest && l->used) return;       /* a member already */
    if (l->used && attempt <= l->attempt) { /* the answer was lost, or this was on its way for long */
        l->heard_at = net->now;
        if (l->blob_kind && l->address == from) welcome(net, from, incarnation, 0, l);
        return;
    }
    if (digest == net->digest && !state_ready(net)) return; /* it asks again */
    net__guest_release(net, l);
    *l = (net_link){.used = true,
                    .guest = true,
                    .incarnation = incarnation,
                    .address = from,
                    .spectator = spectator,
                    .heard_at = net->now,
                    .direct_at = net->now,
                    .blob = ++net->blob_number,
                    .attempt = attempt,
                    .blob_at = net->checked};
    memcpy(l->key, key, sizeof l->key);
    l->blob_kind = digest == net->digest ? NET_BLOB_STATE : NET_BLOB_DESCRIPTION;
    const reef_status s = l->blob_kind == NET_BLOB_STATE ? state_make(net, l) : REEF_OK;
    if (s != REEF_OK) {
        net__guest_release(net, l);
        *l = (net_link){0};
        refuse(net, from, incarnation,
               s == REEF_NO_MEMORY ? "the host has no memory for the state" : "the host can't save its state");
        return;
    }
    welcome(net, from, incarnation, 0, l);
}

void net__ask_read(reef_net *net, wire *w, uint64_t from)
{
    net_link *l = net__link_of(net, wire_get64(w));
    const uint32_t blob = wire_get32(w), base = wire_get32(w);
    const uint64_t have = wire_get64(w);
    if (w->bad || l == NULL || !l->guest || l->address != from) {
        net->stats.refused++;
        return;
    }
    l->heard_at = l->direct_at = net->now;
    if (blob != l->blob || l->blob_kind == NET_BLOB_NONE || base < l->blob_base) return;
    for (; l->blob_base < base; l->blob_base++) l->chunk_sent_at[l->blob_base % NET_WINDOW] = 0;
    l->blob_acked = have;
    if (l->blob_base * NET_CHUNK < blob_size(net, l)) return;
    const bool state = l->blob_kind == NET_BLOB_STATE;
    net__guest_release(net, l);
    if (!state) *l = (net_link){0}; /* it has read what differs */
}

static void chunk_send(reef_net *net, net_link *l, uint64_t chunk, size_t count)
{
    unsigned char room[REEF_NET_DATAGRAM_MAX];
    wire w = {room, 0, sizeof room, false};
    const uint64_t at = chunk * NET_CHUNK;
    net__head(net, &w, NET_CHUNK_OF);
    wire_u32(&w, l->blob);
    wire_u32(&w, (uint32_t)chunk);
    if (l->blob_kind == NET_BLOB_DESCRIPTION) wire_put(&w, net->description + at, count);
    else wire_put(&w, l->blob_bytes + at, count);
    net__send(net, l, room, w.at);
}

void net__serve(reef_net *net, uint64_t passed_ns)
{
    for (uint32_t i = NET_SEATS; i < NET_LINKS; i++) {
        net_link *l = &net->links[i];
        if (!l->used || !l->guest) continue;
        if (net__silent(net, l) > 2 * net->config.silence_ns) {
            net__guest_release(net, l);
            *l = (net_link){0};
            continue;
        }
        if (net__has_confirmed(l) + NET_BEHIND < net->checked) {
            refuse(net, l->address, l->incarnation,
                   "the inputs since the state aren't kept any more: loading it or "
                   "playing on took too long");
            net__guest_release(net, l);
            *l = (net_link){0};
            continue;
        }
        if (l->blob_kind == NET_BLOB_NONE) continue;
        const uint64_t size = blob_size(net, l), again = 250 * NET_MS;
        const double more = (double)net->config.state_rate * (double)passed_ns / 1e9;
        l->blob_budget += more < 65536 ? (uint64_t)more : 65536;
        if (l->blob_budget > 65536) l->blob_budget = 65536;
        for (uint64_t k = l->blob_base; k < l->blob_base + NET_WINDOW && k * NET_CHUNK < size; k++) {
            const size_t count = size - k * NET_CHUNK < NET_CHUNK ? (size_t)(size - k * NET_CHUNK) : NET_CHUNK;
            uint64_t *at = &l->chunk_sent_at[k % NET_WINDOW];
            if (l->blob_acked >> (k - l->blob_base) & 1 || (*at && net->now - *at < again)) continue;
            if (l->blob_budget < count) break;
            l->blob_budget -= count;
            *at = net->now;
            chunk_send(net, l, k, count);
        }
    }
}
