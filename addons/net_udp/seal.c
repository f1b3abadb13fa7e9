#include "seal.h"

/* A keyed hash of some parts. */
static void code(unsigned char *to, size_t bytes, const unsigned char *key, const void *a, size_t a_bytes,
                 const void *b, size_t b_bytes)
{
    crypto_generichash_state h;
    crypto_generichash_init(&h, key, SEAL_KEY, bytes);
    crypto_generichash_update(&h, a, a_bytes);
    crypto_generichash_update(&h, b, b_bytes);
    crypto_generichash_final(&h, to, bytes);
}

static void number_put(unsigned char *to, uint64_t n)
{
    for (int i = 0; i < 8; i++) to[i] = (unsigned char)(n >> (8 * i));
}

static uint64_t number_get(const unsigned char *from)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) n |= (uint64_t)from[i] << (8 * i);
    return n;
}

void seal_time(seal *all, uint64_t now_ns)
{
    if (all->cookies_at && now_ns - all->cookies_at < UINT64_C(60000000000)) return;
    memcpy(all->cookies[1], all->cookies[0], SEAL_KEY);
    randombytes_buf(all->cookies[0], SEAL_KEY);
    all->cookies_at = now_ns ? now_ns : 1;
}

static void cookie_make(const unsigned char *key, uint64_t address, const unsigned char *public_key, unsigned char *to)
{
    unsigned char from[8];
    number_put(from, address);
    code(to, SEAL_COOKIE_BYTES, key, from, sizeof from, public_key, SEAL_KEY);
}

void seal_ask(seal *all, seal_channel *c, unsigned char *out)
{
    if (!c->asked) {
        randombytes_buf(c->secret, SEAL_KEY);
        (void)crypto_scalarmult_base(c->public_key, c->secret);
        memset(c->cookie, 0, sizeof c->cookie);
        c->asked = true;
    }
    memset(out, 0, SEAL_INIT_BYTES);
    out[0] = SEAL_INIT;
    memcpy(out + 1, c->public_key, SEAL_KEY);
    memcpy(out + 1 + SEAL_KEY, c->cookie, SEAL_COOKIE_BYTES);
    code(out + 96, 32, all->session, "init", 4, out, 96);
}

seal_result seal_judge(const seal *all, uint64_t address, const unsigned char *bytes, size_t count, unsigned char *out)
{
    unsigned char wanted[32];
    if (count != SEAL_INIT_BYTES || bytes[0] != SEAL_INIT) return SEAL_STRANGE;
    code(wanted, 32, all->session, "init", 4, bytes, 96);
    if (sodium_memcmp(wanted, bytes + 96, 32) != 0) return SEAL_STRANGE;
    for (int i = 0; i < 2; i++) {
        cookie_make(all->cookies[i], address, bytes + 1, wanted);
        if (sodium_memcmp(wanted, bytes + 1 + SEAL_KEY, SEAL_COOKIE_BYTES) == 0) return SEAL_DONE;
    }
    out[0] = SEAL_COOKIE;
    cookie_make(all->cookies[0], address, bytes + 1, out + 1);
    code(out + 1 + SEAL_COOKIE_BYTES, 16, all->session, bytes + 1, SEAL_KEY, out, 1 + SEAL_COOKIE_BYTES);
    return SEAL_ANSWERED;
}

/* The keys of both directions, and the code of ANSWER. False: the other's public key is worthless. */
static bool keys_make(const seal *all, const unsigned char *secret, const unsigned char *theirs,
                      const unsigned char *first, const unsigned char *second, bool asked, seal_keys *keys,
                      unsigned char *proof)
{
    unsigned char both[2 * SEAL_KEY], product[SEAL_KEY], made[64];
    if (crypto_scalarmult(product, secret, theirs) != 0) return false;
    memcpy(both, first, SEAL_KEY);
    memcpy(both + SEAL_KEY, second, SEAL_KEY);
    code(made, 64, all->session, product, SEAL_KEY, both, sizeof both);
    *keys = (seal_keys){.there = true};
    memcpy(keys->send, made + (asked ? 0 : SEAL_KEY), SEAL_KEY);
    memcpy(keys->receive, made + (asked ? SEAL_KEY : 0), SEAL_KEY);
    code(proof, 32, made, "answer", 6, both, sizeof both);
    sodium_memzero(product, sizeof product);
    sodium_memzero(made, sizeof made);
    return true;
}

static seal_result init_read(seal *all, seal_channel *c, const unsigned char *bytes, unsigned char *out,
                             size_t *out_bytes)
{
    unsigned char secret[SEAL_KEY];
    if (c->answer[0] == SEAL_ANSWER && memcmp(c->answered, bytes + 1, SEAL_KEY) == 0) {
        memcpy(out, c->answer, SEAL_ANSWER_BYTES);
        *out_bytes = SEAL_ANSWER_BYTES;
        return SEAL_ANSWERED;
    }
    if (c->asked && memcmp(c->public_key, bytes + 1, SEAL_KEY) >= 0) return SEAL_DONE; /* it answers this program's */
    c->asked = false;
    randombytes_buf(secret, SEAL_KEY);
    out[0] = SEAL_ANSWER;
    (void)crypto_scalarmult_base(out + 1, secret);
    const bool made = keys_make(all, secret, bytes + 1, bytes + 1, out + 1, false, &c->next, out + 1 + SEAL_KEY);
    sodium_memzero(secret, sizeof secret);
    if (!made) return SEAL_STRANGE;
    memcpy(c->answered, bytes + 1, SEAL_KEY);
    memcpy(c->answer, out, SEAL_ANSWER_BYTES);
    *out_bytes = SEAL_ANSWER_BYTES;
    return SEAL_ANSWERED;
}

static seal_result cookie_read(const seal *all, seal_channel *c, const unsigned char *bytes, size_t count)
{
    unsigned char wanted[16];
    if (count != SEAL_COOKIE_MESSAGE || !c->asked) return SEAL_STRANGE;
    code(wanted, 16, all->session, c->public_key, SEAL_KEY, bytes, 1 + SEAL_COOKIE_BYTES);
    if (sodium_memcmp(wanted, bytes + 1 + SEAL_COOKIE_BYTES, 16) != 0) return SEAL_STRANGE;
    memcpy(c->cookie, bytes + 1, SEAL_COOKIE_BYTES);
    c->asked_at = 0; /* ask again at once */
    return SEAL_DONE;
}

static seal_result answer_read(const seal *all, seal_channel *c, const unsigned char *bytes, size_t count)
{
    unsigned char proof[32];
    seal_keys keys;
    if (count != SEAL_ANSWER_BYTES || !c->asked) return SEAL_STRANGE;
    if (!keys_make(all, c->secret, bytes + 1, c->public_key, bytes + 1, true, &keys, proof)) return SEAL_STRANGE;
    if (sodium_memcmp(proof, bytes + 1 + SEAL_KEY, 32) != 0) return SEAL_STRANGE;
    c->now = keys;
    c->next.there = c->asked = false;
    sodium_memzero(c->secret, sizeof c->secret);
    return SEAL_DONE;
}

/* ---- datagrams ---- */

size_t seal_close(seal_channel *c, const void *bytes, size_t count, unsigned char *out)
{
    unsigned char nonce[12] = {0};
    seal_keys *keys = c->now.there ? &c->now : &c->next;
    unsigned long long made = 0;
    out[0] = SEAL_DATA;
    number_put(out + 1, keys->next);
    number_put(nonce + 4, keys->next++);
    (void)crypto_aead_chacha20poly1305_ietf_encrypt(out + SEAL_HEAD, &made, bytes, count, out, SEAL_HEAD, NULL, nonce,
                                                    keys->send);
    return SEAL_HEAD + (size_t)made;
}

/* Was this number received, or is it too old to know? */
static bool seen(const seal_keys *k, uint64_t n)
{
    if (n >= k->highest) return false;
    return k->highest - n > SEAL_WINDOW || (k->seen[n / 64 % (SEAL_WINDOW / 64)] >> (n % 64) & 1);
}

static void see(seal_keys *k, uint64_t n)
{
    if (n >= k->highest) {
        const uint64_t ahead = n + 1 - k->highest < SEAL_WINDOW ? n + 1 - k->highest : SEAL_WINDOW;
        for (uint64_t i = n + 1 - ahead; i <= n; i++)
            k->seen[i / 64 % (SEAL_WINDOW / 64)] &= ~(UINT64_C(1) << (i % 64));
        k->highest = n + 1;
    }
    k->seen[n / 64 % (SEAL_WINDOW / 64)] |= UINT64_C(1) << (n % 64);
}

static seal_result data_open(seal_keys *k, const unsigned char *bytes, size_t count, unsigned char *out,
                             size_t *out_bytes)
{
    unsigned char nonce[12] = {0};
    unsigned long long made = 0;
    const uint64_t n = number_get(bytes + 1);
    number_put(nonce + 4, n);
    if (!k->there || n == UINT64_MAX ||
        crypto_aead_chacha20poly1305_ietf_decrypt(out, &made, NULL, bytes + SEAL_HEAD, count - SEAL_HEAD, bytes,
                                                  SEAL_HEAD, nonce, k->receive) != 0)
        return SEAL_STRANGE;
    if (seen(k, n)) return SEAL_REPEATED;
    see(k, n);
    *out_bytes = (size_t)made;
    return SEAL_OPENED;
}

static seal_result data_read(seal_channel *c, const unsigned char *bytes, size_t count, unsigned char *out,
                             size_t *out_bytes)
{
    if (count < SEAL_OVERHEAD || count > SEAL_WIRE_MAX) return SEAL_STRANGE;
    const seal_result r = data_open(&c->now, bytes, count, out, out_bytes);
    if (r != SEAL_STRANGE) return r;
    const seal_result next = data_open(&c->next, bytes, count, out, out_bytes);
    if (next == SEAL_OPENED) { /* the other one has the new keys */
        c->now = c->next;
        c->next.there = false;
    }
    return next;
}

seal_result seal_read(seal *all, seal_channel *c, const unsigned char *bytes, size_t count, unsigned char *out,
                      size_t *out_bytes)
{
    *out_bytes = 0;
    if (count == 0) return SEAL_STRANGE;
    if (bytes[0] == SEAL_INIT) return init_read(all, c, bytes, out, out_bytes);
    if (bytes[0] == SEAL_COOKIE) return cookie_read(all, c, bytes, count);
    if (bytes[0] == SEAL_ANSWER) return answer_read(all, c, bytes, count);
    return bytes[0] == SEAL_DATA ? data_read(c, bytes, count, out, out_bytes) : SEAL_STRANGE;
}
