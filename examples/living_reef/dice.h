/* Random numbers come from reef (reef/random.h): they depend only on seed, tick, system and entity. This header has
 * the streams for numbers that no system draws, and helpers for using random numbers. */
#ifndef LIVING_REEF_DICE_H
#define LIVING_REEF_DICE_H

#include <reef.h>
#include <reef/random.h>

/* Streams for reef_random_of. */
enum { FOR_GROUND = 1, FOR_GROUP };

/* Returns 0 ... n-1. It multiplies instead of dividing; the bias is below n / 2^32. */
static inline uint32_t dice_below(reef_random *r, uint32_t n)
{
    return (uint32_t)((uint64_t)reef_random_u32(r) * n >> 32);
}

#endif
