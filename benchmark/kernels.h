/* The user's loops. All contestants use the same machine code (kernels.c), which is called once for each array or
 * block. */
#ifndef KERNELS_H
#define KERNELS_H
#include "rows.h"

/* Each function begins at a cache line, so that the alignment of its loop doesn't depend on other code. (Before,
 * k_iter2_bits took 0.33 or 0.53 ns, depending on how the program was linked.) */
#define KERNEL __attribute__((aligned(64)))

extern volatile float bench_dt; /* 1/64: a power of two that the compiler doesn't know */

KERNEL void k_iter1(Position *restrict p, uint32_t n);
KERNEL void k_iter2(Position *restrict p, const Velocity *restrict v, uint32_t n, float dt);
KERNEL void k_iter5(Position *restrict p, const Velocity *restrict v, const Vec4 *restrict a, const Vec4 *restrict b,
                    const Vec4 *restrict c, uint32_t n);
/* p += v*dt where the row's bit is set; bits start at bit 0 of bits[0], bits from n on are zero. */
KERNEL void k_iter2_bits(Position *restrict p, const Velocity *restrict v, const uint64_t *restrict bits, uint32_t n,
                         float dt);
/* p = up[parent] + v, where `up` may be the same array. */
KERNEL void k_tree(Position *p, const Position *up, const Velocity *restrict v, const uint32_t *restrict parent,
                   uint32_t n);
/* The same for the rows of a list. */
KERNEL void k_tree_listed(Position *p, const Velocity *restrict v, const uint32_t *restrict parent,
                          const uint32_t *restrict list, uint32_t n);
KERNEL uint64_t k_sum(const Position *p, uint32_t n); /* independent of the order of rows */

/* p += v*dt, where the row's bit is set, with the velocity that the row's pointer leads to. */
KERNEL void k_join(Position *restrict p, const Velocity *const *restrict v, const uint64_t *restrict bits, uint32_t n,
                   float dt);

/* These are so short that a call would be noticeable, so they are inlined. */
static inline void k_scale(Position *p, uint32_t n, float f)
{
    for (uint32_t i = 0; i < n; i++) p[i].x *= f;
}
static inline void k_step(Position *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        p[i].x += 1;
        BENCH_BARRIER(); /* one row: vectorising the loop would cost more than the call that is measured */
    }
}
#endif
