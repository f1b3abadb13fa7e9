/* Random numbers by Philox4x32-10. It is a function of a counter of 128 bits and a key of 64 bits; it gives 128 bits.
 *
 *   key      seed, stream (a system's name), upper half of the tick, step    mixed to 64 bits
 *   counter  block, lower half of the tick, index, generation                as they are: no two entities share a
 *                                                                            counter
 *
 * For one key the function is a bijection of counters, so different entities, ticks and blocks never get the same 128
 * bits. */
#include "base/byte_hash.h"
#include "storage/error.h"
#include "storage/invalidate.h"
#include "system/job.h"
#include "system/schedule.h"
#include "reef/random.h"

void reef_random_refill_(reef_random *r)
{
    uint32_t c[4], k0 = r->key[0], k1 = r->key[1];
    memcpy(c, r->counter, sizeof c);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        const uint64_t p = (uint64_t)0xD2511F53u * c[0], q = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(q >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)q;
        c[2] = (uint32_t)(p >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)p;
    }
    memcpy(r->block, c, sizeof c);
    r->left = 4;
    r->counter[0]++;
}

reef_random reef_random_of(const reef_world *w, uint64_t stream, reef_entity e)
{
    const bool given = WORLD_GIVEN(w);
    const uint64_t seed = given ? w->state.seed : 0, tick = given ? w->state.ticks : 0, step = given ? w->step : 0;
    const uint64_t key =
        hash_blend(hash_blend(hash_blend(seed + 0x9E3779B97F4A7C15u) + stream) + ((tick >> 32) << 32 | step));
    return (reef_random){
        {(uint32_t)key, (uint32_t)(key >> 32)}, {0, (uint32_t)tick, e.index, e.generation}, {0, 0, 0, 0}, 0};
}

reef_random reef_random_for(const reef_block *b, reef_entity e)
{
    return reef_random_of(b ? b->world : NULL, b && b->loop.job ? b->loop.job->system->name_hash : 0, e);
}

/* Draws as many bits as the span has, until they are no more than the span. */
int64_t reef_random_range(reef_random *r, int64_t lowest, int64_t highest)
{
    if (highest <= lowest) return lowest;
    const uint64_t span = (uint64_t)highest - (uint64_t)lowest;
    uint64_t mask = span, x;
    for (uint32_t shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    do x = (span > UINT32_MAX ? reef_random_u64(r) : reef_random_u32(r)) & mask;
    while (x > span);
    return (int64_t)((uint64_t)lowest + x);
}

COLD reef_status reef_set_seed(reef_world *w, uint64_t seed)
{
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (w->running) return reef__refuse(w, REEF_LOCKED, "reef_set_seed");
    w->state.seed = seed;
    reef__invalidate(w, INVALIDATE_WRITTEN);
    return REEF_OK;
}

uint64_t reef_seed(const reef_world *w) { return WORLD_GIVEN(w) ? w->state.seed : 0; }
