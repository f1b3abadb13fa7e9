#include "kernels.h"

volatile float bench_dt = 1.0f / 64.0f;

/* Unrolled by four vectors, as clang does by itself: raw is as fast or faster in each row. gcc's plain vector loop
 * (-DPLAIN_LOOPS) takes 256 rounds for a block of 1,024 rows, and not every processor predicts the end of so many
 * rounds: docs/rules/performance.md has the ratios. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(PLAIN_LOOPS)
#define UNROLLED _Pragma("GCC unroll 4")
#else
#define UNROLLED
#endif

void k_iter1(Position *restrict p, uint32_t n)
{
    UNROLLED
    for (uint32_t i = 0; i < n; i++) {
        p[i].x += 1;
        p[i].y += 1;
    }
}

void k_iter2(Position *restrict p, const Velocity *restrict v, uint32_t n, float dt)
{
    UNROLLED
    for (uint32_t i = 0; i < n; i++) {
        p[i].x += v[i].x * dt;
        p[i].y += v[i].y * dt;
    }
}

void k_iter5(Position *restrict p, const Velocity *restrict v, const Vec4 *restrict a, const Vec4 *restrict b,
             const Vec4 *restrict c, uint32_t n)
{
    UNROLLED
    for (uint32_t i = 0; i < n; i++) {
        p[i].x += v[i].x + a[i].v[0] + b[i].v[0] + c[i].v[0];
        p[i].y += v[i].y + a[i].v[1] + b[i].v[1] + c[i].v[1];
    }
}

void k_tree(Position *p, const Position *up, const Velocity *restrict v, const uint32_t *restrict parent, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const Position at = up[parent[i]];
        p[i] = (Position){at.x + v[i].x, at.y + v[i].y};
    }
}

void k_tree_listed(Position *p, const Velocity *restrict v, const uint32_t *restrict parent,
                   const uint32_t *restrict list, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = list[k];
        const Position at = p[parent[i]];
        p[i] = (Position){at.x + v[i].x, at.y + v[i].y};
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
/* Four entities (eight floats) at a time, without a branch. Half of the rows match at random, so a loop over the set
 * bits (ctz) would mispredict once in each word and move 8 bytes at a time. Rows that don't match are written back
 * unchanged. All lanes get the same 32 bits, and each tests its own: 8 instructions for four entities, where extracting
 * their four bits took 19. A block of 1,024 rows takes 32 rounds, whose end the processor predicts, instead of 256. */
typedef float f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t i8 __attribute__((vector_size(32)));
void k_iter2_bits(Position *restrict p, const Velocity *restrict v, const uint64_t *restrict bits, uint32_t n, float dt)
{
    const uint32_t whole = n & ~31u;
    for (uint32_t i = 0; i < whole; i += 32) {
        const i8 half = (i8){0} + (int32_t)(bits[i >> 6] >> (i & 32));
        i8 lane = {1, 1, 2, 2, 4, 4, 8, 8};
        for (uint32_t k = 0; k < 32; k += 4, lane <<= 4) { /* unrolled, so that the bits of the lanes are constants */
            const i8 mask = (half & lane) != 0;
            f8 *d = (f8 *)(p + i + k), old = *d, new = old + *(const f8 *)(v + i + k) * dt;
            *d = (f8)(((i8) new &mask) | ((i8)old & ~mask));
        }
    }
    for (uint32_t i = whole; i < n; i++)
        if (bits[i >> 6] >> (i & 63) & 1) {
            p[i].x += v[i].x * dt;
            p[i].y += v[i].y * dt;
        }
}
#endif

void k_join(Position *restrict p, const Velocity *const *restrict v, const uint64_t *restrict bits, uint32_t n,
            float dt)
{
    for (uint32_t k = 0; k * 64 < n; k++) {
        uint64_t word = bits ? bits[k] : ~0ull;
        if (n - k * 64 < 64) word &= (1ull << (n - k * 64)) - 1;
        for (; word; word &= word - 1) {
            const uint32_t i = k * 64 + (uint32_t)__builtin_ctzll(word);
            p[i].x += v[i]->x * dt;
            p[i].y += v[i]->y * dt;
        }
    }
}

uint64_t k_sum(const Position *p, uint32_t n)
{
    uint64_t s = 0;
    for (uint32_t i = 0; i < n; i++) s += pos_sum(p[i], 0);
    return s;
}
