/* The inlined half of random numbers. This isn't part of the interface, and may change with every version. */
#ifndef REEF_DETAIL_RANDOM_H
#define REEF_DETAIL_RANDOM_H

#include "../random.h"

REEF_BEGIN_C

/* Makes the next four numbers. */
REEF_API void reef_random_refill_(reef_random *random);

REEF_INLINE uint32_t reef_random_u32(reef_random *random)
{
    if (random->left == 0) reef_random_refill_(random);
    return random->block[4 - random->left--];
}
REEF_INLINE uint64_t reef_random_u64(reef_random *random)
{
    const uint64_t low = reef_random_u32(random);
    return REEF_CAST(uint64_t, reef_random_u32(random)) << 32 | low;
}
REEF_INLINE float reef_random_float(reef_random *random)
{
    return REEF_CAST(float, reef_random_u32(random) >> 8) * (1.0f / 16777216.0f);
}

REEF_END_C

#endif
