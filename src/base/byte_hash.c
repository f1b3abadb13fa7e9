/* The hash of bytes: eight lanes of 64 bits take 8 bytes each of a stripe of 64. In each stripe a lane adds the product
 * of the two halves of its word, mixed with a secret that is another one in each stripe of a round of 16. After a round
 * all lanes are scrambled. The last stripe is filled up with zeros; the end joins the lanes and the length. */
#include "base/byte_hash.h"

static const uint64_t secret[24] = {
    /* splitmix64 from 0 */
    0xE220A8397B1DCDAFu, 0x6E789E6AA1B965F4u, 0x06C45D188009454Fu, 0xF88BB8A8724C81ECu, 0x1B39896A51A8749Bu,
    0x53CB9F0C747EA2EAu, 0x2C829ABE1F4532E1u, 0xC584133AC916AB3Cu, 0x3EE5789041C98AC3u, 0xF3B8488C368CB0A6u,
    0x657EECDD3CB13D09u, 0xC2D326E0055BDEF6u, 0x8621A03FE0BBDB7Bu, 0x8E1F7555983AA92Fu, 0xB54E0F1600CC4D19u,
    0x84BB3F97971D80ABu, 0x7D29825C75521255u, 0xC3CF17102B7F7F86u, 0x3466E9A083914F64u, 0xD81A8D2B5A4485ACu,
    0xDB01602B100B9ED7u, 0xA9038A921825F10Du, 0xEDF5F1D90DCA2F6Au, 0x54496AD67BD2634Cu,
};

/* Whole stripes, the first of them number `first`. */
static NOINLINE void stripes_add(uint64_t *restrict lanes, const unsigned char *restrict p, size_t count, size_t first)
{
    uint64_t lane[LANES];
    memcpy(lane, lanes, sizeof lane);
    for (size_t s = first; s < first + count; s++, p += STRIPE) {
        const uint64_t *key = secret + s % ROUND;
        PREFETCH((const void *)((uintptr_t)p + FETCH_AHEAD));
        NO_UNROLL for (int i = 0; i < LANES; i++)
        { /* rolled, so that gcc makes vectors of it */
            uint64_t d;
            memcpy(&d, p + 8 * i, 8);
            d = LITTLE_64(d);
            uint64_t x = d ^ key[i];
            lane[i] += (d >> 32 | d << 32) + (uint64_t)(uint32_t)x * (uint32_t)(x >> 32);
        }
        if (s % ROUND != ROUND - 1) continue;
        NO_UNROLL for (int i = 0; i < LANES; i++) lane[i] = (lane[i] ^ lane[i] >> 47 ^ secret[ROUND + i]) * 0x9E3779B1u;
    }
    memcpy(lanes, lane, sizeof lane);
}

void reef__hash_begin(hasher *h)
{
    for (int i = 0; i < LANES; i++) h->lane[i] = secret[i + 3];
    h->stripes = h->fill = 0;
}

void reef__hash_add(hasher *h, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    if (h->fill) {
        size_t n = STRIPE - h->fill < count ? STRIPE - h->fill : count;
        memcpy(h->rest + h->fill, p, n);
        h->fill += n, p += n, count -= n;
        if (h->fill < STRIPE) return;
        stripes_add(h->lane, h->rest, 1, h->stripes++);
        h->fill = 0;
    }
    stripes_add(h->lane, p, count / STRIPE, h->stripes);
    h->stripes += count / STRIPE;
    h->fill = count % STRIPE;
    if (h->fill) memcpy(h->rest, p + count - h->fill, h->fill);
}

uint64_t reef__hash_end(hasher *h)
{
    uint64_t sum = (h->stripes * STRIPE + h->fill) * 0x9E3779B185EBCA87u;
    if (h->fill) {
        memset(h->rest + h->fill, 0, STRIPE - h->fill);
        stripes_add(h->lane, h->rest, 1, h->stripes);
    }
    for (int i = 0; i < LANES; i++) sum += hash_blend(h->lane[i] ^ secret[i + 11]);
    return hash_blend(sum);
}

uint64_t reef__number_hash(uint64_t number) { return hash_blend(number); }

uint64_t reef__hash_bytes(const void *bytes, size_t count)
{
    hasher h;
    reef__hash_begin(&h);
    reef__hash_add(&h, bytes, count);
    return reef__hash_end(&h);
}
