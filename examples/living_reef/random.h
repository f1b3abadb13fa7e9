/* Random numbers without a state: each is a function of (seed, tick, entity, purpose), so that no order of asking,
 * and no number of threads, changes them. The mixing steps are those of SplitMix64 (Steele, Lea and Flood, 2014). */
#ifndef LIVING_REEF_RANDOM_H
#define LIVING_REEF_RANDOM_H

#include <stdint.h>

/* What a number is drawn for: two purposes never share a number. */
typedef enum purpose {
    FOR_PLACE = 1,
    FOR_HEADING,
    FOR_AGE,
    FOR_ENERGY,
    FOR_WANDER,
    FOR_LOOKING,
    FOR_CATCH,
    FOR_SPAWN,
    FOR_CURRENT,
    FOR_GROUND
} purpose;

static inline uint64_t random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t random_bits(uint64_t seed, uint32_t tick, uint64_t who, purpose why)
{
    uint64_t z = random_mix(seed + 0x9E3779B97F4A7C15u * (((uint64_t)tick << 8) + (uint64_t)why));
    return random_mix(z + 0x9E3779B97F4A7C15u * (who + 1));
}

/* 0 ... 1, 1 excluded; 24 bits of `bits` from `shift` on, so that one draw gives two numbers (shift 0 and 32). */
static inline float random_unit(uint64_t bits, unsigned shift)
{
    return (float)((uint32_t)(bits >> shift) & 0xFFFFFFu) * (1.0f / 16777216.0f);
}

/* 0 ... n-1 by multiplication: no division, and a bias below n / 2^32. */
static inline uint32_t random_below(uint64_t bits, uint32_t n) { return (uint32_t)(((bits & 0xFFFFFFFFu) * n) >> 32); }

#endif
