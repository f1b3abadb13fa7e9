/* Random numbers are reef's (reef/random.h): they depend on seed, tick, system and entity alone. Here is what
 * numbers that no system draws are for, and how numbers are used. */
#ifndef LIVING_REEF_DICE_H
#define LIVING_REEF_DICE_H

#include <reef.h>

/* Streams of reef_random_of. */
enum { FOR_GROUND = 1, FOR_GROUP };

/* 0 ... n-1 by multiplication: no division, and a bias below n / 2^32. */
static inline uint32_t dice_below(reef_random *r, uint32_t n)
{
    return (uint32_t)((uint64_t)reef_random_u32(r) * n >> 32);
}

#endif
