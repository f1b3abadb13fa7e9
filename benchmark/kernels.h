/* The user's loops: one piece of machine code for all contestants (kernels.c), called once an array or once a block. */
#ifndef KERNELS_H
#define KERNELS_H
#include "rows.h"

/* Each begins at a cache line: where its loop lies mustn't depend on how long other code is. (k_iter2_bits took 0.33
 * or 0.53 ns, with the linker's mood.) */
#define KERNEL __attribute__((aligned(64)))

extern volatile float bench_dt; /* 1/64: a power of two the compiler can't see */

KERNEL void k_iter1(Position *restrict p, uint32_t n);
KERNEL void k_iter2(Position *restrict p, const Velocity *restrict v, uint32_t n, float dt);
KERNEL void k_iter5(Position *restrict p, const Velocity *restrict v, const Vec4 *restrict a, const Vec4 *restrict b,
                    const Vec4 *restrict c, uint32_t n);
/* p += v*dt where the row's bit is set; bits start at bit 0 of bits[0], bits from n on are zero. */
KERNEL void k_iter2_bits(Position *restrict p, const Velocity *restrict v, const uint64_t *restrict bits, uint32_t n,
                         float dt);
KERNEL uint64_t k_sum(const Position *p, uint32_t n); /* independent of the order of rows */

/* Short enough that a call would show: inlined by whoever can. */
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
