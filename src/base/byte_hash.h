/* The hash of bytes and of numbers. The hash of a state is made of it, and so is every hash table. */
#ifndef REEF_BASE_BYTE_HASH_H
#define REEF_BASE_BYTE_HASH_H

#include "base/platform.h"
#include "reef/compiler.h"

enum {
    LANES = 8,
    STRIPE = 64,
    ROUND = 16,
    /* The hash fetches this many bytes ahead, because the processor's own prefetching starts anew with each page: 56 MB
     * of a cold world took 4.4 ms instead of 5.7. */
    FETCH_AHEAD = 4096
};

typedef struct hasher {
    uint64_t lane[LANES];
    size_t stripes, fill; /* fill: number of bytes in `rest`, less than a stripe */
    unsigned char rest[STRIPE];
} hasher;

INLINE uint64_t hash_blend(uint64_t z) /* the finaliser of splitmix64 */
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Joins a hash and one more number. The order counts. */
INLINE uint64_t hash_combine(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}
/* The hash of a name, for hash tables. */
INLINE uint32_t hash_chars(const char *text, size_t length)
{
    uint64_t h = 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001B3u;
    return (uint32_t)(h >> 32 ^ h);
}
INLINE uint32_t hash_text(const char *text) { return hash_chars(text, strlen(text)); }
void reef__hash_begin(hasher *h);
void reef__hash_add(hasher *h, const void *bytes, size_t count);
uint64_t reef__hash_end(hasher *h);

uint64_t reef__hash_bytes(const void *bytes, size_t count);
uint64_t reef__number_hash(uint64_t number); /* a bijection; 0 stays 0 */

#endif
