/* Datagrams: frames, which carry inputs, acknowledgements, clocks and hashes; relaying; what arrives.
 *
 *     FRAME   message, session, incarnation; flags (leaving, ready, promised); view; tick; confirmed; time; the
 *             receiver's time and how long ago it came; seats heard directly; `have` of each seat that has one, and how
 *             many of these aren't proven; proven ticks and their digest; hashes; runs
 *     run     seat, first tick, count; inputs: a byte (1: as the one before, 2: with a command, 4: with the signature
 *             of the block that ends here), bytes, command, signature
 *
 * A direct datagram counts only if it comes from the address of who it names, a relayed one if it is signed. */
#include "net.h"

enum {
    FLAG_LEAVING = 1,
    FLAG_READY = 2,
    FLAG_PROMISED = 4,
    INPUT_SAME = 1,
    INPUT_START = 2,
    INPUT_SIGNED = 4,
    HASHES = 4,
    RUN_MAX = 255,
    RELAY_TEXT = 64 + REEF_NET_DATAGRAM_MAX
};

void net__head(const reef_net *net, wire *w, net_message message)
{
    wire_u8(w, (uint32_t)message);
    wire_u64(w, net->session);
}

net_link *net__link_of(reef_net *net, uint64_t incarnation)
{
    for (uint32_t i = 0; i < NET_LINKS; i++)
        if (net->links[i].used && net->links[i].incarnation == incarnation) return &net->links[i];
    return NULL;
}

static int seat_of(const reef_net *net, const net_link *link)
{
    const ptrdiff_t i = link - net->links;
    return i < NET_SEATS ? (int)i : -1;
}

uint64_t net__silent(const reef_net *net, const net_link *link) { return net->now - link->heard_at; }

uint64_t net__has_confirmed(const net_link *link)
{
    return link->guest && link->blob_kind ? link->blob_at : link->confirmed;
}

static void send_raw(reef_net *net, uint64_t to, const void *bytes, size_t count)
{
    if (to == 0) return;
    net->config.transport.send(net->config.transport.context, to, bytes, count);
    net->stats.sent++;
    net->stats.sent_bytes += count;
}

/* A member that hears both ends directly; of several, each in turn, since one of them may not pass on what it gets. */
static net_link *relay_for(reef_net *net, const net_link *link)
{
    const int seat = seat_of(net, link);
    const uint64_t turn = net->now / (100 * NET_MS);
    for (uint64_t i = 0; seat >= 0 && i < NET_SEATS; i++) {
        net_link *l = &net->links[(i + turn) % NET_SEATS];
        if (l->used && l != link && net->now - l->direct_at < 400 * NET_MS && l->hears & 1u << seat) return l;
    }
    return NULL;
}

/* The text that the sender of a relayed datagram signs. Returns its length. */
static size_t relay_text(const reef_net *net, uint64_t from, uint64_t to, const void *bytes, size_t count,
                         unsigned char *text)
{
    static const char label[] = "reef_net: a relayed datagram";
    wire w = {text, 0, RELAY_TEXT, false};
    wire_put(&w, label, sizeof label);
    wire_u64(&w, net->session);
    wire_u64(&w, from);
    wire_u64(&w, to);
    wire_put(&w, bytes, count);
    return w.at;
}

void net__send(reef_net *net, net_link *link, const void *bytes, size_t count)
{
    send_raw(net, link->address, bytes, count);
    const bool heard = net->now - link->direct_at < 400 * NET_MS && (net->seat < 0 || link->hears >> net->seat & 1);
    if (net->seat < 0 || link->guest || heard) return;
    const net_link *by = relay_for(net, link);
    unsigned char room[REEF_NET_DATAGRAM_MAX];
    wire w = {room, 0, sizeof room, false};
    if (by == NULL) return;
    net__head(net, &w, NET_RELAY);
    wire_u64(&w, net->incarnation);
    wire_u64(&w, link->incarnation);
    if (net__signs(net)) {
        unsigned char text[RELAY_TEXT], signature[REEF_NET_SIGNATURE_BYTES];
        const size_t n = relay_text(net, net->incarnation, link->incarnation, bytes, count, text);
        net->config.signer.sign(net->config.signer.context, text, n, signature);
        wire_put(&w, signature, sizeof signature);
    }
    wire_put(&w, bytes, count);
    if (!w.bad) send_raw(net, by->address, room, w.at);
}

/* ---- sending frames ---- */

/* One's own inputs, and where nobody signs those of all, are sent one by one; those of others in signed blocks. */
static bool one_by_one(const reef_net *net, uint32_t s) { return (int)s == net->seat || !net__signs(net); }

/* The inputs of the seat before this tick can be sent. */
static uint64_t sendable(const reef_net *net, uint32_t s)
{
    const net_seat *seat = &net->seats[s];
    if (one_by_one(net, s)) return seat->have < seat->end ? seat->have : seat->end;
    const uint64_t end =
        seat->end > UINT64_MAX - NET_BLOCK ? seat->end : (seat->end + NET_BLOCK - 1) / NET_BLOCK * NET_BLOCK;
    return seat->blocks < end ? seat->blocks : end;
}

/* Writes inputs of a seat from `from` on, as many as fit. Returns the tick behind the last one. */
static uint64_t run_put(reef_net *net, wire *w, uint32_t s, uint64_t from)
{
    const uint64_t until = sendable(net, s), began = from;
    wire block = *w; /* up to here blocks are whole */
    uint32_t whole = 0;
    const unsigned char *before = NULL;
    wire start = *w;
    uint32_t count = 0;
    wire_u8(w, s);
    wire_u64(w, from);
    const size_t count_at = w->at;
    wire_u8(w, 0);
    while (!w->bad && from < until && count < RUN_MAX) {
        const unsigned char *input = net__input(net, s, from);
        const net_start *command = net__start_find(net, s, from);
        const bool same = before && memcmp(before, input, net->input_bytes) == 0;
        const bool closes = net__signs(net) && (from + 1) % NET_BLOCK == 0 && from < net->seats[s].blocks;
        wire one = *w;
        wire_u8(&one, (same ? INPUT_SAME : 0u) | (command ? INPUT_START : 0u) | (closes ? INPUT_SIGNED : 0u));
        if (!same) wire_put(&one, input, net->input_bytes);
        if (command) {
            wire_u8(&one, command->seat);
            wire_u32(&one, command->view);
            wire_u64(&one, command->incarnation);
            wire_u64(&one, command->first);
        }
        if (closes) wire_put(&one, net__signature(net, s, from), REEF_NET_SIGNATURE_BYTES);
        if (one.bad) break;
        *w = one;
        before = input;
        from++;
        count++;
        if (!closes) continue;
        block = *w;
        whole = count;
    }
    if (!one_by_one(net, s)) { /* the part of a block is worth nothing */
        *w = block;
        count = whole;
        from = began + whole;
    }
    if (w->bad || count == 0) {
        *w = start;
        return from;
    }
    w->bytes[count_at] = (unsigned char)count;
    return from;
}

static void frame_head(reef_net *net, wire *w, const net_link *link)
{
    net__head(net, w, NET_FRAME);
    wire_u64(w, net->incarnation);
    wire_u8(w, (net->leaving ? FLAG_LEAVING : 0u) | (net->promised_at ? FLAG_PROMISED : 0u) |
                   (net->phase == REEF_NET_WATCHING && net->seat < 0 ? FLAG_READY : 0u));
    wire_u32(w, net->view.number);
    wire_u64(w, net->tick);
    wire_u64(w, net->checked);
    wire_u64(w, net->now);
    wire_u64(w, link->their_time);
    wire_u64(w, net->now - link->their_time_at);
    uint32_t heard = 0, known = 0, hashes = 0;
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        if (net->links[s].used && net->links[s].direct_at && net->now - net->links[s].direct_at < 400 * NET_MS)
            heard |= 1u << s;
        if (net->seats[s].have) known |= 1u << s;
    }
    wire_u8(w, heard);
    wire_u8(w, known);
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        const net_seat *seat = &net->seats[s];
        if (!(known & 1u << s)) continue;
        wire_u64(w, seat->have);
        wire_u8(w, seat->have - seat->proven < 255 ? (uint32_t)(seat->have - seat->proven) : 255);
    }
    wire_u64(w, net->proven);
    wire_put(w, net__digest_at(net, net->proven), NET_DIGEST);
    const size_t hashes_at = w->at;
    wire_u8(w, 0);
    for (uint64_t t = net->hashed; hashes < HASHES && t >= net->config.hash_every; hashes++) {
        t -= net->config.hash_every;
        const uint64_t hash = reef_net_hash(net, t);
        if (hash == 0) break;
        wire_u64(w, t);
        wire_u64(w, hash);
    }
    w->bytes[hashes_at] = (unsigned char)hashes;
}

/* Does the peer need this seat's inputs from here? Then `from` is the first tick. */
static bool lacks(const reef_net *net, const net_link *link, uint32_t s, uint64_t *from)
{
    const net_seat *seat = &net->seats[s];
    const bool single = one_by_one(net, s);
    if (seat->first == NET_NEVER) return false;
    *from = single ? link->have[s] : link->proven[s] / NET_BLOCK * NET_BLOCK;
    if (!single && link->disputed && link != &net->links[s] && link->agreed / NET_BLOCK * NET_BLOCK < *from)
        *from = link->agreed / NET_BLOCK * NET_BLOCK; /* one of these blocks has two versions */
    if (*from < seat->first) *from = seat->first;
    if (*from >= sendable(net, s)) return false;
    return (int)s == net->seat || link->guest || link->disputed || net->now - link->have_at[s] > 150 * NET_MS;
}

/* Sends a frame; when the peer lacks much, some more, each with what follows. */
static void frames_send(reef_net *net, net_link *link)
{
    enum { FRAMES_MAX = 4, SOON = 24 };
    unsigned char room[NET_FRAME_ROOM];
    const uint64_t again = link->round_ns + 50 * NET_MS;
    if (net->now - link->cursor_at > again) {
        memset(link->cursor, 0, sizeof link->cursor);
        link->cursor_at = net->now;
    }
    for (uint32_t n = 0; n < FRAMES_MAX; n++) {
        wire w = {room, 0, sizeof room, false};
        bool more = false;
        frame_head(net, &w, link);
        for (uint32_t k = 0; k < NET_SEATS; k++) {
            const uint32_t s = net->seat < 0 ? k : (k + (uint32_t)net->seat) % NET_SEATS; /* one's own first */
            uint64_t from;
            if (!lacks(net, link, s, &from)) continue;
            const uint64_t until = sendable(net, s);
            if (until > NET_RING - 64 && from < until - (NET_RING - 64)) continue; /* no longer kept */
            if (until - from > SOON && link->cursor[s] > from) from = link->cursor[s];
            if (n > 0 && from >= until) continue;
            link->cursor[s] = run_put(net, &w, s, from);
            more |= link->cursor[s] < until;
        }
        net__send(net, link, room, w.at);
        if (!more) break;
    }
}

void net__frames_send(reef_net *net)
{
    if (net->phase != REEF_NET_WATCHING && net->phase != REEF_NET_PLAYING) return;
    if (net->now - net->frame_at < net->config.step_ns * 3 / 4) return;
    net->frame_at = net->now;
    for (uint32_t i = 0; i < NET_LINKS; i++) {
        net_link *l = &net->links[i];
        if (!l->used || (l->guest && l->blob_kind)) continue; /* who still loads doesn't read frames */
        if (net->seat < 0 && l->address != net->server) continue;
        if (net->seat >= 0) net__view_send(net, l);
        frames_send(net, l);
    }
}

/* ---- reading frames ---- */

/* Takes an input from its player, or where nobody signs from anybody. False: it isn't the next one, or not allowed. */
static bool input_take(reef_net *net, uint32_t s, const net_start *start, const unsigned char *input,
                       const unsigned char *signature)
{
    net_seat *seat = &net->seats[s];
    if (start->tick != seat->have || start->tick >= seat->end || start->tick >= net->tick + NET_REACH) return true;
    if (net__signs(net) && start->tick / NET_BLOCK != seat->proven / NET_BLOCK)
        return true; /* a signature is missing */
    if (net__input_wrong(net->config.input, input)) return false;
    memcpy(net__input(net, s, start->tick), input, net->input_bytes);
    if (start->incarnation) net__start_add(net, *start);
    seat->have++;
    seat->grew_at = net->now;
    if (!net__signs(net)) seat->proven = seat->have;
    else if (signature) return net__block_close(net, s, signature);
    return true;
}

/* Adds an input to a block that another one than its player sends. False: not allowed. */
static bool block_gather(reef_net *net, net_block *block, const net_start *start, const unsigned char *input,
                         const unsigned char *signature, const net_link *from)
{
    const uint64_t first = start->tick / NET_BLOCK * NET_BLOCK;
    if (start->tick == first) *block = (net_block){.seat = start->by, .first = first};
    if (block->first != first || block->seat != start->by) return true; /* its beginning is missing */
    if (net__input_wrong(net->config.input, input)) return false;
    memcpy(block->inputs + (start->tick - first) * net->input_bytes, input, net->input_bytes);
    if (start->incarnation) block->start = *start;
    if (signature == NULL || first >= net->tick + NET_REACH) return true;
    memcpy(block->signature, signature, sizeof block->signature);
    net__block_take(net, block, from);
    return true;
}

/* Takes the inputs of a run that are new. A malformed run makes the message bad. */
static void run_get(reef_net *net, wire *w, const net_link *from_link)
{
    net_block block = {.first = NET_NEVER};
    const uint32_t s = wire_get8(w);
    const uint64_t from = wire_get64(w);
    const uint32_t count = wire_get8(w);
    const unsigned char *input = NULL;
    if (s >= NET_SEATS || from > UINT64_MAX - RUN_MAX) w->bad = true;
    for (uint32_t i = 0; !w->bad && i < count; i++) {
        const uint32_t kind = wire_get8(w);
        net_start start = {.tick = from + i, .by = s};
        const unsigned char *signature = NULL;
        if (!(kind & INPUT_SAME)) input = wire_take(w, net->input_bytes);
        if (kind & INPUT_START) {
            start.seat = wire_get8(w);
            start.view = wire_get32(w);
            start.incarnation = wire_get64(w);
            start.first = wire_get64(w);
        }
        if (kind & INPUT_SIGNED) signature = wire_take(w, REEF_NET_SIGNATURE_BYTES);
        if (w->bad || input == NULL || start.seat >= NET_SEATS || kind > 7 ||
            (signature && (!net__signs(net) || (start.tick + 1) % NET_BLOCK))) {
            w->bad = true;
            return;
        }
        const net_seat *seat = &net->seats[s];
        if ((int)s == net->seat || seat->first == NET_NEVER || seat->frozen || seat->convicted) continue;
        const bool own = !net__signs(net) || from_link == &net->links[s];
        if (own ? input_take(net, s, &start, input, signature)
                : block_gather(net, &block, &start, input, signature, from_link))
            continue;
        net->stats.refused++;
        return;
    }
}

/* Who has left answers until everybody has the view without it. */
static void left_read(reef_net *net, wire *w, uint64_t from)
{
    net_link link = {.used = true, .guest = true, .address = from};
    net_link *l = net__link_of(net, wire_get64(w));
    (void)wire_get8(w);
    link.view = wire_get32(w);
    if (w->bad) return;
    if (l) l->view = link.view;
    net__view_send(net, &link);
}

void net__frame_read(reef_net *net, wire *w, uint64_t from, bool relayed)
{
    net_link *l = net__link_of(net, wire_get64(w));
    const uint32_t flags = wire_get8(w), view = wire_get32(w);
    if (l == NULL || (!relayed && from != l->address)) {
        net->stats.refused++;
        if (l == NULL && !w->bad && net->seat >= 0) { /* perhaps one that is out and hasn't heard of it */
            net_link gone = {.used = true, .guest = true, .address = from, .view = view};
            net__view_send(net, &gone);
        }
        return;
    }
    const uint64_t tick = wire_get64(w), confirmed = wire_get64(w), time = wire_get64(w);
    const uint64_t echo = wire_get64(w), held = wire_get64(w);
    const uint32_t hears = wire_get8(w), known = wire_get8(w);
    if (w->bad) {
        net->stats.refused++;
        return;
    }
    const bool newer = time >= l->their_time;
    if (!relayed) l->direct_at = net->now;
    if (!relayed || newer) { /* a relay may keep datagrams, and send them when he likes */
        if (net__silent(net, l) > net->config.silence_ns / 4) l->steady_at = net->now;
        l->heard_at = net->now;
    }
    if (newer) {
        l->hears = hears;
        l->view = view;
        l->tick = tick;
        l->confirmed = confirmed;
        l->tick_at = l->their_time_at = net->now;
        l->their_time = time;
        l->ready = (flags & FLAG_READY) != 0;
        l->leaving = (flags & FLAG_LEAVING) != 0;
        if (!l->promised) l->promised_since = net->now;
        l->promised = (flags & FLAG_PROMISED) != 0;
        if (echo && echo <= net->now && held <= net->now - echo) {
            const uint64_t round = net->now - echo - held;
            l->round_ns = l->round_ns ? (l->round_ns * 7 + round) / 8 : round;
            if (l->round_ns == 0) l->round_ns = 1;
        }
    }
    for (uint32_t s = 0; s < NET_SEATS; s++) {
        if (!(known & 1u << s)) continue;
        const uint64_t have = wire_get64(w), open = wire_get8(w), proven = have - (open < have ? open : have);
        if (w->bad || (have <= l->have[s] && proven <= l->proven[s])) continue;
        if (have > l->have[s]) l->have[s] = have;
        if (proven > l->proven[s]) l->proven[s] = proven;
        l->have_at[s] = net->now;
    }
    const uint64_t proven = wire_get64(w);
    const unsigned char *digest = wire_take(w, NET_DIGEST);
    if (digest && newer && (!l->echo_there || l->echo_view != view || proven < l->echo_tick)) {
        l->echo_there = true;
        l->echo_view = view;
        l->echo_tick = proven;
        memcpy(l->echo, digest, NET_DIGEST);
    }
    const uint32_t hashes = wire_get8(w);
    uint64_t hash[HASHES][2];
    for (uint32_t i = 0; i < hashes && i < HASHES && !w->bad; i++) {
        hash[i][0] = wire_get64(w);
        hash[i][1] = wire_get64(w);
    }
    if (hashes > HASHES) w->bad = true;
    for (uint32_t i = hashes; !w->bad && i-- > 0;) net__hash_compare(net, l, hash[i][0], hash[i][1]);
    while (!w->bad && wire_left(w)) run_get(net, w, l);
    if (w->bad) net->stats.refused++;
}

/* ---- what arrives ---- */

static void relay_read(reef_net *net, wire *w, uint64_t from)
{
    const uint64_t sender = wire_get64(w), receiver = wire_get64(w);
    const net_link *by = net__link_of(net, sender);
    const unsigned char *signature = net__signs(net) ? wire_take(w, REEF_NET_SIGNATURE_BYTES) : NULL;
    unsigned char copy[REEF_NET_DATAGRAM_MAX];
    const size_t count = wire_left(w);
    if (w->bad || by == NULL || by->guest || net->seat < 0) {
        net->stats.refused++;
        return;
    }
    if (receiver == net->incarnation) {
        unsigned char text[RELAY_TEXT];
        memcpy(copy, w->bytes + w->at, count);
        const reef_net_signer *signer = &net->config.signer;
        if (signature && !signer->verify(signer->context, by->key, text,
                                         relay_text(net, sender, receiver, copy, count, text), signature)) {
            net->stats.refused++;
            return;
        }
        if (count && copy[0] != NET_RELAY) net__datagram(net, by->address, copy, count, true);
        return;
    }
    const net_link *to = net__link_of(net, receiver);
    if (to == NULL || to->guest || from != by->address) return; /* passed on once only */
    send_raw(net, to->address, w->bytes, w->end);
    net->stats.relayed++;
}

void net__datagram(reef_net *net, uint64_t from, unsigned char *bytes, size_t count, bool relayed)
{
    wire w = {bytes, 0, count, false};
    const uint32_t message = wire_get8(&w);
    const uint64_t session = wire_get64(&w);
    const bool playing = net->phase == REEF_NET_PLAYING || net->phase == REEF_NET_WATCHING;
    const bool ours = session == net->session && net->session != 0;
    if (w.bad) net->stats.refused++;
    else if (message == NET_HELLO && session == 0 && !relayed) net__hello_read(net, &w, from);
    else if (message == NET_WELCOME && !relayed) net__welcome_read(net, &w, from);
    else if (message == NET_REFUSE && !relayed) net__refuse_read(net, &w, from);
    else if (!ours) net->stats.refused++;
    else if (message == NET_CHUNK_OF && !relayed) net__chunk_read(net, &w);
    else if (message == NET_ASK && !relayed) net__ask_read(net, &w, from);
    else if (net->left && message == NET_FRAME) left_read(net, &w, from);
    else if (net->left && message == NET_AGREE) net__agree_read(net, &w);
    else if (!playing) return;
    else if (message == NET_FRAME) net__frame_read(net, &w, from, relayed);
    else if (message == NET_AGREE) net__agree_read(net, &w);
    else if (message == NET_DESYNC) net__desync_read(net, &w);
    else if (message == NET_RELAY && !relayed) relay_read(net, &w, from);
    else net->stats.refused++;
}

void net__receive(reef_net *net)
{
    enum { MOST = 512 }; /* in an update, so that a flood doesn't stop the game */
    unsigned char bytes[REEF_NET_DATAGRAM_MAX];
    uint64_t from;
    size_t count;
    for (uint32_t i = 0; i < MOST && net->phase != REEF_NET_ENDED; i++) {
        if (!net->config.transport.receive(net->config.transport.context, &from, bytes, &count)) return;
        net->stats.received++;
        net->stats.received_bytes += count;
        if (count <= sizeof bytes) net__datagram(net, from, bytes, count, false);
    }
}
