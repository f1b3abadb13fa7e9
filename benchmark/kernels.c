#include "kernels.h"

volatile float bench_dt = 1.0f / 64.0f;

void k_iter1(Position *restrict p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        p[i].x += 1;
        p[i].y += 1;
    }
}

void k_iter2(Position *restrict p, const Velocity *restrict v, uint32_t n, float dt)
{
    for (uint32_t i = 0; i < n; i++) {
        p[i].x += v[i].x * dt;
        p[i].y += v[i].y * dt;
    }
}

void k_iter5(Position *restrict p, const Velocity *restrict v, const Vec4 *restrict a, const Vec4 *restrict b,
             const Vec4 *restrict c, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        p[i].x += v[i].x + a[i].v[0] + b[i].v[0] + c[i].v[0];
        p[i].y += v[i].y + a[i].v[1] + b[i].v[1] + c[i].v[1];
    }
}

#ifdef BITS_CTZ
void k_iter2_bits(Position *restrict p, const Velocity *restrict v, const uint64_t *restrict bits, uint32_t n, float dt)
{
    for (uint32_t w = 0; w * 64 < n; w++)
        for (uint64_t m = bits[w]; m; m &= m - 1) {
            uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(m);
            p[i].x += v[i].x * dt;
            p[i].y += v[i].y * dt;
        }
}
#else
/* Four entities (eight floats) at a time, without a branch: half of the rows match at random, so a loop over the set
 * bits (ctz) mispredicts once a word and moves 8 bytes at a time. Unmatched rows get their own bytes back. */
typedef float   f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t i8 __attribute__((vector_size(32)));
void k_iter2_bits(Position *restrict p, const Velocity *restrict v, const uint64_t *restrict bits, uint32_t n, float dt)
{
    const i8 lane = {1, 1, 2, 2, 4, 4, 8, 8};
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        int32_t nibble = (int32_t)(bits[i >> 6] >> (i & 63)) & 15;
        i8      mask = (((i8){0} + nibble) & lane) != 0;
        f8     *d = (f8 *)(p + i), old = *d, new = old + *(const f8 *)(v + i) * dt;
        *d = (f8)(((i8) new &mask) | ((i8)old & ~mask));
    }
    for (; i < n; i++)
        if (bits[i >> 6] >> (i & 63) & 1) {
            p[i].x += v[i].x * dt;
            p[i].y += v[i].y * dt;
        }
}
#endif

uint64_t k_sum(const Position *p, uint32_t n)
{
    uint64_t s = 0;
    for (uint32_t i = 0; i < n; i++) s += pos_sum(p[i], 0);
    return s;
}
