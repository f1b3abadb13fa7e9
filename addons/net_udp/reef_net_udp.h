/* The add-on reef_net_udp: a transport for reef_net over UDP (IPv4), whose datagrams are sealed by libsodium.
 *
 *     reef_net_udp *udp = reef_net_udp_new(&(reef_net_udp_config){.port = 4000}, reason);
 *     reef_net_udp_invite(udp, "203.0.113.5", expires, text, sizeof text);         the host, for those who will join
 *     uint64_t host = reef_net_udp_invited(udp, text, now, reason);                who joins: the address for
 * reef_net_join
 *
 * Who has no invitation gets no answer at all. Each two programs agree on keys of their own (X25519); each direction
 * has its key, each datagram its number, and none is taken twice. addons/net_udp/seal.h describes the datagrams. There
 * is no traversal of address translation: the host's UDP port must be reachable, and so must those of the players for
 * each other; where two can't reach each other, a third passes their datagrams on. */
#ifndef REEF_NET_UDP_H
#define REEF_NET_UDP_H

#include "reef_net.h"

REEF_BEGIN_C

typedef struct reef_net_udp reef_net_udp;

enum { REEF_NET_INVITATION_MAX = 160 }; /* bytes of an invitation, with its zero */

typedef struct reef_net_udp_config {
    const char *bind;         /* the IPv4 address to listen at; NULL: all of this machine */
    uint16_t port;            /* 0: any that is free */
    reef_allocator allocator; /* {0}: the C library's */
} reef_net_udp_config;

/* Opens a socket. NULL on failure, and `reason` (NULL, or room for REEF_NET_REASON_MAX bytes) says why. */
reef_net_udp *reef_net_udp_new(const reef_net_udp_config *config, char *reason);
/* Closes the socket and forgets all keys. The sessions that use it must be freed before. NULL does nothing. */
void reef_net_udp_free(reef_net_udp *udp);
/* For reef_net_config. It lives as long as the socket, and is used by one thread. */
reef_net_transport reef_net_udp_transport(reef_net_udp *udp);
/* Signatures by Ed25519, with a pair of keys that was made with the socket; for reef_net_config.signer. It lives as
 * long as the socket, and may be used with any transport. */
reef_net_signer reef_net_udp_signer(reef_net_udp *udp);
/* The port at which it listens. */
uint16_t reef_net_udp_port(const reef_net_udp *udp);
/* Tells the time: nanoseconds of a clock that never goes back, and seconds since 1970, for the expiry of invitations.
 * To be called before each reef_net_update. */
void reef_net_udp_time(reef_net_udp *udp, uint64_t now_ns, uint64_t unix_seconds);

/* Writes an invitation: where the host can be reached, the key of the session, until when somebody may begin to join by
 * it. Whoever has it can join and read: hand it over privately. All invitations of a host have the same key, and the
 * latest expiry counts. Errors: BAD_ARGUMENT (no IPv4 address), LIMIT (`size` is too small). */
reef_status reef_net_udp_invite(reef_net_udp *udp, const char *address, uint64_t expires, char *text, size_t size);
/* Takes an invitation, and returns the address of the host. 0: it is damaged or expired, and `reason` says so. */
uint64_t reef_net_udp_invited(reef_net_udp *udp, const char *invitation, uint64_t unix_seconds, char *reason);

typedef struct reef_net_udp_stats {
    uint64_t sealed, opened; /* datagrams */
    uint64_t strangers;      /* datagrams that weren't made with the key of the session */
    uint64_t repeated;       /* datagrams that came before */
    uint64_t agreed;         /* answers to programs that asked for keys, also repeated ones */
} reef_net_udp_stats;
reef_net_udp_stats reef_net_udp_statistics(const reef_net_udp *udp);

REEF_END_C

#endif
