/* Sealed channels, without sockets.
 *
 *     INIT     1; the initiator's public key, 32 bytes; a cookie, 16; zeros up to 96; code, 32        in all 128
 *     COOKIE   2; a cookie, 16; code, 16                                                              33
 *     ANSWER   3; the answerer's public key, 32; code, 32                                             65
 *     DATA     4; number, 8; sealed bytes, with a tag of 16
 *
 * The codes of INIT and COOKIE are keyed hashes (BLAKE2b) with the session's key from the invitation: who lacks it
 * gets no answer, and no answer is longer than what it answers. An INIT whose cookie isn't the present one is
 * answered with the cookie, a keyed hash of its address and public key, and leaves no state behind; so a recorded
 * INIT is worth nothing elsewhere or later. Both public keys are made for this channel alone. The keys of the two
 * directions are the hash of the X25519 product, the session's key and both public keys; ANSWER's code shows that
 * the answerer has them. An INIT that comes again gets the same ANSWER: over a slow line it is repeated before the
 * first ANSWER comes, and the keys that it agreed on must stay. DATA is sealed by ChaCha20-Poly1305 (RFC 8439),
 * whose nonce is the number; a window of 1,024 numbers refuses what came before.
 *
 * When both begin at once, the one with the larger public key goes on. A channel that is agreed on anew is used when
 * the first datagram opens with its keys, so nobody can end the old one by a recorded INIT. */
#ifndef REEF_NET_SEAL_H
#define REEF_NET_SEAL_H

#include "reef_net.h"
#include <sodium.h>
#include <string.h>

enum {
    SEAL_INIT = 1,
    SEAL_COOKIE,
    SEAL_ANSWER,
    SEAL_DATA,
    SEAL_KEY = 32,
    SEAL_COOKIE_BYTES = 16,
    SEAL_INIT_BYTES = 128,
    SEAL_COOKIE_MESSAGE = 1 + SEAL_COOKIE_BYTES + 16,
    SEAL_ANSWER_BYTES = 1 + SEAL_KEY + 32,
    SEAL_HEAD = 9,
    SEAL_OVERHEAD = SEAL_HEAD + 16,
    SEAL_WIRE_MAX = REEF_NET_DATAGRAM_MAX + SEAL_OVERHEAD,
    SEAL_WINDOW = 1024 /* numbers; a multiple of 64 */
};

/* The keys of a channel, and what was received with them. */
typedef struct seal_keys {
    bool there;
    unsigned char send[SEAL_KEY], receive[SEAL_KEY];
    uint64_t next;    /* number of the next datagram to send */
    uint64_t highest; /* one more than the highest number received */
    uint64_t seen[SEAL_WINDOW / 64];
} seal_keys;

typedef struct seal_channel {
    uint64_t address; /* 0: free */
    seal_keys now, next;
    bool asked; /* an INIT is on its way */
    unsigned char secret[SEAL_KEY], public_key[SEAL_KEY], cookie[SEAL_COOKIE_BYTES];
    unsigned char answered[SEAL_KEY], answer[SEAL_ANSWER_BYTES]; /* the last INIT's public key, and what it got */
    uint64_t asked_at, used_at;
} seal_channel;

/* What all channels of a program share. */
typedef struct seal {
    unsigned char session[SEAL_KEY];    /* of the invitation */
    unsigned char cookies[2][SEAL_KEY]; /* the present key for cookies, and the one before */
    uint64_t cookies_at;
} seal;

/* What an incoming datagram was. */
typedef enum seal_result { SEAL_STRANGE, SEAL_REPEATED, SEAL_DONE, SEAL_ANSWERED, SEAL_OPENED } seal_result;

/* Begins to agree on keys, or repeats that: writes SEAL_INIT_BYTES. */
void seal_ask(seal *all, seal_channel *channel, unsigned char *out);
/* Seals a datagram; returns its length. The channel has keys. */
size_t seal_close(seal_channel *channel, const void *bytes, size_t count, unsigned char *out);
/* Judges an INIT without any channel. SEAL_STRANGE; SEAL_ANSWERED: a COOKIE is in `out`; SEAL_DONE: its sender has
 * shown that it gets what is sent to `address`. */
seal_result seal_judge(const seal *all, uint64_t address, const unsigned char *bytes, size_t count, unsigned char *out);
/* Reads any datagram for a channel; an INIT must have been judged. SEAL_ANSWERED: `out` has *out_bytes to send.
 * SEAL_OPENED: `out` has *out_bytes that were sealed. `out` has room for SEAL_WIRE_MAX bytes. */
seal_result seal_read(seal *all, seal_channel *channel, const unsigned char *bytes, size_t count, unsigned char *out,
                      size_t *out_bytes);
/* Changes the key for cookies each minute; the one before still counts. */
void seal_time(seal *all, uint64_t now_ns);

#endif
