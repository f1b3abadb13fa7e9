/* The socket: invitations, a channel for each address, and datagrams from and to them. */
#include "reef_net_udp.h"
#include "seal.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CHANNELS = 64,
    AGREED_MOST = 16
}; /* AGREED_MOST: INITs that are answered between two calls of reef_net_udp_time */

struct reef_net_udp {
    reef_allocator allocator;
    int socket;
    uint16_t port;
    bool hosts; /* it made invitations */
    uint64_t now, unix_seconds, expires;
    uint32_t agreed;
    seal all;
    unsigned char sign_public[crypto_sign_PUBLICKEYBYTES], sign_secret[crypto_sign_SECRETKEYBYTES];
    seal_channel channels[CHANNELS];
    reef_net_udp_stats stats;
};

static void reason_put(char *reason, const char *text)
{
    if (reason) (void)snprintf(reason, REEF_NET_REASON_MAX, "%s", text);
}

static void *resize(const reef_allocator *a, void *block, size_t old_bytes, size_t new_bytes)
{
    if (a->resize) return a->resize(a->context, block, old_bytes, new_bytes, 16);
    if (new_bytes) return realloc(block, new_bytes);
    free(block);
    return NULL;
}

static bool socket_open(reef_net_udp *u, const reef_net_udp_config *config, char *reason)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(config->port)};
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_ANY);
    if (config->bind && inet_pton(AF_INET, config->bind, &at.sin_addr) != 1) {
        reason_put(reason, "no IPv4 address to listen at");
        return false;
    }
    u->socket = socket(AF_INET, SOCK_DGRAM, 0);
    if (u->socket < 0 || bind(u->socket, (const struct sockaddr *)&at, sizeof at) != 0 ||
        fcntl(u->socket, F_SETFL, O_NONBLOCK) != 0 || fcntl(u->socket, F_SETFD, FD_CLOEXEC) != 0 ||
        getsockname(u->socket, (struct sockaddr *)&at, &size) != 0) {
        if (reason)
            (void)snprintf(reason, REEF_NET_REASON_MAX, "port %u can't be opened: %s", (unsigned)config->port,
                           strerror(errno));
        return false;
    }
    u->port = ntohs(at.sin_port);
    return true;
}

reef_net_udp *reef_net_udp_new(const reef_net_udp_config *config, char *reason)
{
    reason_put(reason, "");
    if (config == NULL || sodium_init() < 0) {
        reason_put(reason, config ? "libsodium can't begin" : "there is no configuration");
        return NULL;
    }
    reef_net_udp *u = resize(&config->allocator, NULL, 0, sizeof *u);
    if (u == NULL) {
        reason_put(reason, "no memory");
        return NULL;
    }
    *u = (reef_net_udp){.allocator = config->allocator, .socket = -1};
    randombytes_buf(u->all.session, SEAL_KEY);
    seal_time(&u->all, 0);
    (void)crypto_sign_keypair(u->sign_public, u->sign_secret);
    if (socket_open(u, config, reason)) return u;
    reef_net_udp_free(u);
    return NULL;
}

void reef_net_udp_free(reef_net_udp *u)
{
    if (u == NULL) return;
    const reef_allocator a = u->allocator;
    if (u->socket >= 0) (void)close(u->socket);
    sodium_memzero(u, sizeof *u);
    (void)resize(&a, u, sizeof *u, 0);
}

uint16_t reef_net_udp_port(const reef_net_udp *u) { return u ? u->port : 0; }
reef_net_udp_stats reef_net_udp_statistics(const reef_net_udp *u) { return u ? u->stats : (reef_net_udp_stats){0}; }

void reef_net_udp_time(reef_net_udp *u, uint64_t now_ns, uint64_t unix_seconds)
{
    if (u == NULL) return;
    u->now = now_ns + 1;
    u->unix_seconds = unix_seconds;
    u->agreed = 0;
    seal_time(&u->all, u->now);
}

/* ---- signatures ---- */

_Static_assert(crypto_sign_PUBLICKEYBYTES == REEF_NET_KEY_BYTES && crypto_sign_BYTES == REEF_NET_SIGNATURE_BYTES,
               "Ed25519");

static void udp_sign(void *context, const void *bytes, size_t count, unsigned char *signature)
{
    const reef_net_udp *u = context;
    (void)crypto_sign_detached(signature, NULL, bytes, count, u->sign_secret);
}

static bool udp_verify(void *context, const unsigned char *key, const void *bytes, size_t count,
                       const unsigned char *signature)
{
    (void)context;
    return crypto_sign_verify_detached(signature, bytes, count, key) == 0;
}

static void udp_digest(void *context, const void *bytes, size_t count, unsigned char *digest)
{
    (void)context;
    (void)crypto_generichash(digest, crypto_generichash_BYTES_MIN, bytes, count, NULL, 0);
}

reef_net_signer reef_net_udp_signer(reef_net_udp *u)
{
    reef_net_signer s = {.sign = udp_sign, .verify = udp_verify, .digest = udp_digest, .context = u};
    if (u == NULL) return (reef_net_signer){0};
    memcpy(s.key, u->sign_public, sizeof s.key);
    return s;
}

/* ---- invitations: reef-net:ADDRESS:PORT:EXPIRY:KEY ---- */

reef_status reef_net_udp_invite(reef_net_udp *u, const char *address, uint64_t expires, char *text, size_t size)
{
    struct in_addr at;
    char key[sodium_base64_ENCODED_LEN(SEAL_KEY, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
    if (u == NULL || address == NULL || text == NULL || inet_pton(AF_INET, address, &at) != 1) return REEF_BAD_ARGUMENT;
    (void)sodium_bin2base64(key, sizeof key, u->all.session, SEAL_KEY, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    const int n = snprintf(text, size, "reef-net:%s:%u:%llu:%s", address, u->port, (unsigned long long)expires, key);
    if (n < 0 || (size_t)n >= size) return REEF_LIMIT;
    u->hosts = true;
    if (expires > u->expires) u->expires = expires;
    return REEF_OK;
}

uint64_t reef_net_udp_invited(reef_net_udp *u, const char *invitation, uint64_t unix_seconds, char *reason)
{
    char address[16], key[64];
    unsigned port = 0;
    unsigned long long expires = 0;
    struct in_addr at;
    size_t bytes = 0;
    reason_put(reason, "");
    if (u == NULL || invitation == NULL || strlen(invitation) >= REEF_NET_INVITATION_MAX ||
        sscanf(invitation, "reef-net:%15[0-9.]:%5u:%20llu:%63s", address, &port, &expires, key) != 4 ||
        inet_pton(AF_INET, address, &at) != 1 || port == 0 || port > 65535 ||
        sodium_base642bin(u->all.session, SEAL_KEY, key, strlen(key), NULL, &bytes, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        bytes != SEAL_KEY) {
        reason_put(reason, "this is no invitation, or a damaged one");
        return 0;
    }
    if (expires < unix_seconds) {
        reason_put(reason, "the invitation has expired");
        return 0;
    }
    return (uint64_t)ntohl(at.s_addr) << 16 | port;
}

/* ---- datagrams ---- */

static void raw_send(const reef_net_udp *u, uint64_t to, const void *bytes, size_t count)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(to & 0xffff))};
    at.sin_addr.s_addr = htonl((uint32_t)(to >> 16));
    (void)sendto(u->socket, bytes, count, 0, (const struct sockaddr *)&at, sizeof at); /* or it is lost */
}

/* The channel of an address; a new one takes the place of the one that was used least recently. */
static seal_channel *channel_of(reef_net_udp *u, uint64_t address, bool make)
{
    seal_channel *oldest = &u->channels[0];
    for (uint32_t i = 0; i < CHANNELS; i++) {
        seal_channel *c = &u->channels[i];
        if (c->address == address) return c;
        if (c->used_at < oldest->used_at) oldest = c;
    }
    if (!make) return NULL;
    sodium_memzero(oldest, sizeof *oldest);
    oldest->address = address;
    oldest->used_at = u->now;
    return oldest;
}

static void ask(reef_net_udp *u, seal_channel *c)
{
    unsigned char out[SEAL_INIT_BYTES];
    if (c->asked && c->asked_at && u->now - c->asked_at < UINT64_C(200000000)) return;
    c->asked_at = u->now;
    seal_ask(&u->all, c, out);
    raw_send(u, c->address, out, sizeof out);
}

static void udp_send(void *context, uint64_t to, const void *bytes, size_t count)
{
    reef_net_udp *u = context;
    unsigned char out[SEAL_WIRE_MAX];
    if (to == 0 || to >> 48 || count > REEF_NET_DATAGRAM_MAX) return;
    seal_channel *c = channel_of(u, to, true);
    if (!c->now.there && !c->next.there) { /* the session sends again what gets lost meanwhile */
        ask(u, c);
        return;
    }
    c->used_at = u->now;
    raw_send(u, to, out, seal_close(c, bytes, count, out));
    u->stats.sealed++;
}

/* May somebody begin to agree on keys now? */
static bool open_to_all(const reef_net_udp *u)
{
    return u->agreed < AGREED_MOST && (!u->hosts || u->unix_seconds <= u->expires);
}

/* Reads a datagram. True: `out` has what was sealed. */
static bool take(reef_net_udp *u, uint64_t from, const unsigned char *in, size_t count, unsigned char *out,
                 size_t *bytes)
{
    seal_channel *c = channel_of(u, from, false);
    if (count && in[0] == SEAL_INIT) {
        const seal_result r = open_to_all(u) ? seal_judge(&u->all, from, in, count, out) : SEAL_STRANGE;
        if (r == SEAL_ANSWERED) raw_send(u, from, out, SEAL_COOKIE_MESSAGE);
        if (r == SEAL_STRANGE) u->stats.strangers++;
        if (r != SEAL_DONE) return false;
        c = channel_of(u, from, true);
        u->agreed++;
    }
    const seal_result r = c ? seal_read(&u->all, c, in, count, out, bytes) : SEAL_STRANGE;
    if (r == SEAL_STRANGE) u->stats.strangers++;
    if (r == SEAL_REPEATED) u->stats.repeated++;
    if (r == SEAL_ANSWERED) {
        raw_send(u, from, out, *bytes);
        u->stats.agreed++;
    }
    if (r == SEAL_DONE && c->asked && c->asked_at == 0) ask(u, c);
    if (r != SEAL_OPENED) return false;
    c->used_at = u->now;
    u->stats.opened++;
    return true;
}

static bool udp_receive(void *context, uint64_t *from, void *bytes, size_t *count)
{
    enum { MOST = 256 }; /* of strangers, before the session goes on */
    reef_net_udp *u = context;
    unsigned char in[SEAL_WIRE_MAX + 1], out[SEAL_WIRE_MAX];
    for (uint32_t i = 0; i < MOST; i++) {
        struct sockaddr_in at;
        socklen_t size = sizeof at;
        const ssize_t n = recvfrom(u->socket, in, sizeof in, 0, (struct sockaddr *)&at, &size);
        if (n < 0 && (errno == EINTR || errno == ECONNREFUSED)) continue; /* the latter: of an earlier datagram */
        if (n < 0) return false;
        *from = (uint64_t)ntohl(at.sin_addr.s_addr) << 16 | ntohs(at.sin_port);
        if (!take(u, *from, in, (size_t)n, out, count) || *count > REEF_NET_DATAGRAM_MAX) continue;
        memcpy(bytes, out, *count);
        return true;
    }
    return false;
}

reef_net_transport reef_net_udp_transport(reef_net_udp *u)
{
    return u ? (reef_net_transport){udp_send, udp_receive, u} : (reef_net_transport){0};
}
