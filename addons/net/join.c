/* The side of who joins: HELLO until there is an answer, the chunks of the state or of the host's description, loading.
 * When the host falls silent, another member is asked. */
#include "net.h"
#include <stdio.h>

void net__join_release(reef_net *net)
{
    net__release(net, net->blob_bytes, net->blob_size + 1);
    net__release(net, net->blob_seen, net->blob_chunks + 1);
    net->blob_bytes = net->blob_seen = NULL;
    net->blob_size = net->blob_chunks = 0;
}

static void send_to_server(reef_net *net, const wire *w)
{
    net->config.transport.send(net->config.transport.context, net->server, w->bytes, w->at);
    net->stats.sent++;
    net->stats.sent_bytes += w->at;
}

static void hello_send(reef_net *net)
{
    unsigned char room[96];
    wire w = {room, 0, sizeof room, false};
    wire_u8(&w, NET_HELLO);
    wire_u64(&w, 0);
    wire_u32(&w, NET_VERSION);
    wire_u64(&w, net->incarnation);
    wire_u32(&w, net->attempt);
    wire_u64(&w, net->digest);
    wire_u8(&w, net->config.spectator);
    wire_put(&w, net->config.signer.key, REEF_NET_KEY_BYTES);
    send_to_server(net, &w);
}

static void ask_send(reef_net *net)
{
    unsigned char room[64];
    wire w = {room, 0, sizeof room, false};
    uint64_t have = 0;
    for (uint64_t i = 0; i < NET_WINDOW && net->blob_base + i < net->blob_chunks; i++)
        if (net->blob_seen == NULL || net->blob_seen[net->blob_base + i]) have |= UINT64_C(1) << i;
    net__head(net, &w, NET_ASK);
    wire_u64(&w, net->incarnation);
    wire_u32(&w, net->blob);
    wire_u32(&w, (uint32_t)net->blob_base);
    wire_u64(&w, have);
    send_to_server(net, &w);
}

/* Asks another member than the last server. */
void net__join_again(reef_net *net)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i <= NET_SEATS && next == 0; i++) {
        const uint32_t s = i == 0 ? net->view.host : (net->attempt + i) % NET_SEATS;
        const uint64_t address = net->view.seat[s].address;
        if (net->view.members & 1u << s && address && address != net->server) next = address;
    }
    net->attempt++;
    /* The others may have made the program a member meanwhile without its knowledge, and will drop that one. */
    net->incarnation = net->incarnation * UINT64_C(0x5851f42d4c957f2d) + 0x14057b7ef767814f;
    if (net->incarnation == 0) net->incarnation = 1;
    if (next) net->server = next;
    net__join_release(net);
    net__kept_free(net);
    reef_history_free(net->history);
    net->history = NULL;
    net->tick = net->complete = net->proven = net->agreed = net->checked = 0;
    for (uint32_t i = 0; i < NET_LINKS; i++) net->links[i] = (net_link){0};
    memset(net->hashes, 0, sizeof net->hashes); /* the others may have gone on from an earlier state */
    net->phase = REEF_NET_JOINING;
    net->began_at = net->welcomed_at = net->now;
    net->asked_at = 0;
}

void net__refuse_read(reef_net *net, wire *w, uint64_t from)
{
    char text[REEF_NET_REASON_MAX];
    size_t count = 0;
    if (net->seat >= 0 || net->phase == REEF_NET_ENDED || from != net->server) return;
    if (wire_get64(w) != net->incarnation || w->bad) return;
    for (; count + 1 < sizeof text && wire_left(w); count++) {
        const uint32_t c = wire_get8(w);
        text[count] = c >= ' ' && c < 127 ? (char)c : '?'; /* it may be shown in a terminal */
    }
    text[count] = 0;
    net__end(net, "%s", text);
}

void net__welcome_read(reef_net *net, wire *w, uint64_t from)
{
    if (net->phase != REEF_NET_JOINING || from != net->server || wire_get64(w) != net->incarnation) return;
    const uint64_t host = wire_get64(w);
    const uint32_t blob = wire_get32(w), kind = wire_get8(w);
    const uint64_t size = wire_get64(w);
    wire head = {w->bytes, 1, w->end, false};
    if (w->bad) return;
    net__say(net, "%s", "");
    if (kind == NET_BLOB_NONE) { /* another one hosts */
        if (host) net->server = host;
        net->asked_at = 0;
        return;
    }
    if (size == 0 || size > net->config.state_bytes_max || size >= SIZE_MAX - NET_CHUNK ||
        kind > NET_BLOB_DESCRIPTION) {
        net__end(net, "the host's state has %llu bytes, which is more than this program takes",
                 (unsigned long long)size);
        return;
    }
    net__join_release(net);
    net->blob_size = (size_t)size;
    net->blob_chunks = (net->blob_size + NET_CHUNK - 1) / NET_CHUNK;
    net->blob_bytes = net__alloc(net, net->blob_size + 1);
    net->blob_seen = net__alloc(net, net->blob_chunks + 1);
    if (net->blob_bytes == NULL || net->blob_seen == NULL) {
        net__join_release(net); /* the next HELLO tries again */
        return;
    }
    net->session = wire_get64(&head);
    net->blob = blob;
    net->blob_kind = (net_blob_kind)kind;
    net->blob_base = 0;
    net->phase = REEF_NET_LOADING;
    net->welcomed_at = net->now;
    net->asked_at = 0;
}

/* ---- a description ---- */

enum { ROOM = 104 };

/* Writes a line in quotes, or "nothing" for none. Of a long one it writes what it is about, which stands before a
 * colon, and goes on shortly before what is different. */
static void line_part(char *text, const char *line, int count, const char *other, int other_count)
{
    enum { FITS = ROOM - 3, HEAD_MAX = 40, BEFORE = 20 };
    int same = 0, head = 0;
    while (same < count && same < other_count && line[same] == other[same]) same++;
    if (count > FITS && same > HEAD_MAX + BEFORE) {
        while (head < HEAD_MAX && line[head] != ':') head++;
        line += same - BEFORE;
        count -= same - BEFORE;
    }
    const int most = FITS - (head ? head + 3 : 0);
    if (count == 0) (void)snprintf(text, ROOM, "nothing");
    else
        (void)snprintf(text, ROOM, "\"%.*s%s%.*s\"", head, line - (head ? same - BEFORE : 0), head ? "..." : "",
                       count < most ? count : most, line);
}

static void description_compare(reef_net *net)
{
    const char *mine = net->description, *theirs = (const char *)net->blob_bytes;
    while (*mine && *theirs) {
        const size_t a = strcspn(mine, "\n"), b = strcspn(theirs, "\n");
        if (a != b || memcmp(mine, theirs, a) != 0) break;
        mine += a + (mine[a] == '\n');
        theirs += b + (theirs[b] == '\n');
    }
    const int a = (int)strcspn(mine, "\n"), b = (int)strcspn(theirs, "\n");
    char here[ROOM], there[ROOM];
    line_part(here, mine, a, theirs, b);
    line_part(there, theirs, b, mine, a);
    net__end(net, "another program than the host's: here %s, there %s", here, there);
    for (char *c = net->reason; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
}

/* ---- a state ---- */

/* What loading reports is a difference between the programs. */
static void note(void *context, const reef_load_note *n)
{
    reef_net *net = context;
    if (net->reason[0] == 0)
        net__say(net, "another program than the host's: type or system %s%s%s", n->type ? n->type : "?",
                 n->field ? ", field " : "", n->field ? n->field : "");
}

static reef_status blob_read(void *context, void *bytes, size_t count, size_t *got)
{
    wire *w = context;
    *got = count < wire_left(w) ? count : wire_left(w);
    wire_bytes(w, bytes, *got);
    return REEF_OK;
}

static void state_load(reef_net *net)
{
    wire w = {net->blob_bytes, 0, (size_t)net->blob_size, false};
    net_view view;
    uint64_t first[NET_SEATS];
    const uint64_t tick = wire_get64(&w);
    net__view_get(&w, &view);
    for (uint32_t s = 0; s < NET_SEATS; s++) first[s] = wire_get64(&w);
    const unsigned char *digest = wire_take(&w, NET_DIGEST);
    if (w.bad || tick > UINT64_MAX / 2 || tick % NET_BLOCK) {
        net__end(net, "the host's state is damaged");
        return;
    }
    net->reason[0] = 0;
    const reef_load_desc desc = {.unknown = REEF_UNKNOWN_REFUSE, .note = note, .context = net};
    char reason[REEF_DETAIL_MAX] = "";
    const reef_status s = net->config.unpack
                              ? net->config.unpack(net->config.world, (reef_reader){blob_read, &w}, &desc, reason)
                              : reef_load_bytes(net->config.world, net->blob_bytes + w.at, wire_left(&w), &desc);
    if (s == REEF_NO_MEMORY) return; /* the next update tries again */
    if (s < 0 || net->reason[0]) {
        char text[REEF_NET_REASON_MAX];
        const reef_error error = reef_last_error(net->config.world);
        const char *why = error.detail[0] ? error.detail : reef_status_text(s);
        if (reason[0]) why = reason;
        (void)snprintf(text, sizeof text, "%s", net->reason[0] ? net->reason : why);
        net__end(net, "the host's state can't be loaded: %.200s", text);
        return;
    }
    if (net__history_begin(net, tick) != REEF_OK) return;
    net->complete = net->proven = net->agreed = tick;
    memcpy(net__digest_at(net, tick), digest, NET_DIGEST);
    net->complete_at = net->now;
    net->view = view;
    net->views[view.number % NET_VIEWS] = view;
    for (uint32_t i = 0; i < NET_SEATS; i++) {
        net_seat *seat = &net->seats[i];
        *seat = (net_seat){.incarnation = view.seat[i].incarnation,
                           .address = view.seat[i].address,
                           .first = first[i],
                           .end = view.seat[i].incarnation ? view.seat[i].end : NET_NEVER,
                           .grew_at = net->now};
        if (seat->first != NET_NEVER) seat->have = seat->first > tick ? seat->first : tick;
        if (seat->have > seat->end) seat->have = seat->end;
        seat->proven = seat->blocks = seat->have;
        memcpy(seat->key, view.seat[i].key, REEF_NET_KEY_BYTES);
    }
    memset(net->starts, 0, sizeof net->starts);
    net->links[view.host] = (net_link){.used = true,
                                       .incarnation = view.seat[view.host].incarnation,
                                       .address = net->server,
                                       .heard_at = net->now,
                                       .equal_tick = tick,
                                       .equal_known = true};
    memcpy(net->links[view.host].key, view.seat[view.host].key, REEF_NET_KEY_BYTES);
    net->phase = REEF_NET_WATCHING;
    net->paced_at = net->now;
    net->owed = 0;
    net__release(net, net->blob_bytes, net->blob_size + 1);
    net__release(net, net->blob_seen, net->blob_chunks + 1);
    net->blob_bytes = net->blob_seen = NULL;
}

void net__chunk_read(reef_net *net, wire *w)
{
    const uint32_t blob = wire_get32(w), chunk = wire_get32(w);
    const size_t count = wire_left(w);
    if (net->phase != REEF_NET_LOADING || w->bad || blob != net->blob || chunk >= net->blob_chunks ||
        net->blob_seen == NULL)
        return;
    const uint64_t at = (uint64_t)chunk * NET_CHUNK, left = net->blob_size - at;
    if (count != (left < NET_CHUNK ? left : NET_CHUNK)) {
        net->stats.refused++;
        return;
    }
    net->welcomed_at = net->now;
    memcpy(net->blob_bytes + at, w->bytes + w->at, count);
    net->blob_seen[chunk] = 1;
    while (net->blob_base < net->blob_chunks && net->blob_seen[net->blob_base]) net->blob_base++;
}

/* ---- in time ---- */

void net__join(reef_net *net)
{
    const uint64_t patience = net->config.patience_ns;
    if (net->phase == REEF_NET_JOINING) {
        if (net->now - net->began_at > patience) net__end(net, "nobody answers at this address");
        else if (net->asked_at == 0 || net->now - net->asked_at > 250 * NET_MS) {
            if (net->asked_at) net__say(net, "no answer from the host yet");
            net->asked_at = net->now;
            hello_send(net);
        }
        return;
    }
    if (net->phase == REEF_NET_LOADING) {
        if (net->now - net->welcomed_at > net->config.silence_ns * 2) {
            net__join_again(net);
            return;
        }
        if (net->asked_at == 0 || net->now - net->asked_at > 30 * NET_MS || net->blob_base == net->blob_chunks) {
            net->asked_at = net->now;
            ask_send(net);
        }
        if (net->blob_base < net->blob_chunks) return;
        if (net->blob_kind == NET_BLOB_DESCRIPTION) description_compare(net);
        else state_load(net);
        return;
    }
    if (net->phase != REEF_NET_WATCHING) return;
    net_link *host = &net->links[net->view.host];
    if (!host->used || net->now - host->heard_at > 2 * net->config.silence_ns) {
        net__join_again(net);
        return;
    }
    if (host->direct_at == 0 && net->now - net->asked_at > 100 * NET_MS) { /* it doesn't know yet that all is there */
        net->asked_at = net->now;
        ask_send(net);
    }
}
