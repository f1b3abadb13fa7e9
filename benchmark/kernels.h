/* The user's loops: one piece of machine code for all contestants (kernels.c), called once an array or once a block. */
#ifndef KERNELS_H
#define KERNELS_H
#include "rows.h"

extern volatile float bench_dt; /* 1/64: a power of two the compiler can't see */

void k_iter1(Position *restrict p, uint32_t n);
void k_iter2(Position *restrict p, const Velocity *restrict v, uint32_t n, float dt);
void k_iter5(Position *restrict p, const Velocity *restrict v, const Vec4 *restrict a, const Vec4 *restrict b,
             const Vec4 *restrict c, uint32_t n);
/* p += v*dt where the row's bit is set; bits start at bit 0 of bits[0], bits from n on are zero. */
void     k_iter2_bits(Position *restrict p, const Velocity *restrict v, const uint64_t *restrict bits, uint32_t n,
                      float dt);
uint64_t k_sum(const Position *p, uint32_t n); /* independent of the order of rows */

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
