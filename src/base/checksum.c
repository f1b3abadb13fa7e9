/* XXH64: four lanes of 64 bits take 8 bytes each of a stripe of 32. At the end the lanes are joined, and the bytes that
 * fill no stripe are mixed in. */
#include "base/checksum.h"
#include <string.h>

enum { CHECKSUM_STRIPE = 32, CHECKSUM_LANES = 4 };
static const uint64_t prime[6] = {
    0, 0x9E3779B185EBCA87u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u, 0x27D4EB2F165667C5u,
};

static inline uint64_t rotated(uint64_t x, unsigned by) { return x << by | x >> (64 - by); }

static inline uint64_t word_64(const unsigned char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return LITTLE_64(x);
}

static inline uint64_t word_32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t lane_round(uint64_t lane, uint64_t word)
{
    return rotated(lane + word * prime[2], 31) * prime[1];
}

static void lanes_add(uint64_t *lanes, const unsigned char *p, size_t stripes)
{
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    for (; stripes; stripes--, p += CHECKSUM_STRIPE) {
        a = lane_round(a, word_64(p));
        b = lane_round(b, word_64(p + 8));
        c = lane_round(c, word_64(p + 16));
        d = lane_round(d, word_64(p + 24));
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

void reef__checksum_begin(checksum *c, uint64_t seed)
{
    *c = (checksum){.lane = {seed + prime[1] + prime[2], seed + prime[2], seed, seed - prime[1]}, .seed = seed};
}

void reef__checksum_add(checksum *c, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    const size_t have = c->bytes % CHECKSUM_STRIPE;
    c->bytes += count;
    if (have) {
        const size_t n = CHECKSUM_STRIPE - have < count ? CHECKSUM_STRIPE - have : count;
        memcpy(c->rest + have, p, n);
        p += n, count -= n;
        if (have + n < CHECKSUM_STRIPE) return;
        lanes_add(c->lane, c->rest, 1);
    }
    lanes_add(c->lane, p, count / CHECKSUM_STRIPE);
    if (count % CHECKSUM_STRIPE) memcpy(c->rest, p + count - count % CHECKSUM_STRIPE, count % CHECKSUM_STRIPE);
}

static uint64_t lanes_join(const uint64_t *lane)
{
    uint64_t h = rotated(lane[0], 1) + rotated(lane[1], 7) + rotated(lane[2], 12) + rotated(lane[3], 18);
    for (int i = 0; i < CHECKSUM_LANES; i++) h = (h ^ lane_round(0, lane[i])) * prime[1] + prime[4];
    return h;
}

uint64_t reef__checksum_end(const checksum *c)
{
    const unsigned char *p = c->rest, *end = p + c->bytes % CHECKSUM_STRIPE;
    uint64_t h = (c->bytes >= CHECKSUM_STRIPE ? lanes_join(c->lane) : c->seed + prime[5]) + c->bytes;
    for (; end - p >= 8; p += 8) h = rotated(h ^ lane_round(0, word_64(p)), 27) * prime[1] + prime[4];
    for (; end - p >= 4; p += 4) h = rotated(h ^ word_32(p) * prime[1], 23) * prime[2] + prime[3];
    for (; p < end; p++) h = rotated(h ^ *p * prime[5], 11) * prime[1];
    h = (h ^ h >> 33) * prime[2];
    h = (h ^ h >> 29) * prime[3];
    return h ^ h >> 32;
}

uint64_t reef__checksum_of(const void *bytes, size_t count, uint64_t seed)
{
    checksum c;
    reef__checksum_begin(&c, seed);
    reef__checksum_add(&c, bytes, count);
    return reef__checksum_end(&c);
}
