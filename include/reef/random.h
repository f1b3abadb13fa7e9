/* Random numbers that depend only on the seed, the tick, the system and the entity.
 *
 *     static void wander(reef_block *b)
 *     {
 *         Heading *h = reef_inout(b, Heading);
 *         for (uint32_t i = 0; i < b->count; i++) {
 *             reef_random r = reef_random_for(b, b->entities[i]);
 *             h[i].angle += reef_random_float(&r) - 0.5f;
 *         }
 *     }
 *
 * Generators share no state, so the numbers are the same on any number of threads, in any order of rows, after a
 * restore, and on every machine: they are computed with integers, and floats are made of 24 bits. The generator is
 * Philox4x32-10 (docs/internals/PROVENANCE.md). It is good enough for games and simulations, but not for
 * cryptography. */
#ifndef REEF_RANDOM_H
#define REEF_RANDOM_H

#include "block.h"

REEF_BEGIN_C

/* A generator: a sequence of random numbers. It is a plain value, and a copy goes on with the same numbers. After 2^34
 * numbers the sequence begins again. */
typedef struct reef_random {
    uint32_t key[2];
    uint32_t counter[4]; /* [0]: number of blocks of four numbers that were made */
    uint32_t block[4];
    uint32_t left; /* how many numbers of the block, at its end, are unused */
} reef_random;

/* The generator of an entity in this tick for the running system; the null entity gives one for the system itself. Each
 * call begins with the same first number. In a phase with steps of its own, the numbers differ in each step. The same
 * seed, tick, step, system name and entity always give the same numbers: reef_tick_phase and reef_system_once don't
 * count as ticks, so they repeat them. With a block of a loop outside of systems it does what reef_random_of does with
 * stream 0. */
REEF_API reef_random reef_random_for(const reef_block *block, reef_entity entity);
/* The generator of an entity in this tick, outside of systems too. Each `stream` gives other numbers, so give each
 * purpose its own. Takes a const world. NULL: as a world with seed 0 that never ticked. */
REEF_API reef_random reef_random_of(const reef_world *world, uint64_t stream, reef_entity entity);

/* Sets the seed, which is part of the state; a new world has that of its config. Errors: LOCKED (in a tick). */
REEF_API reef_status reef_set_seed(reef_world *world, uint64_t seed);
/* The world's seed. NULL: 0. */
REEF_API uint64_t reef_seed(const reef_world *world);

/* 0 ... 2^32-1, each with equal chance. */
REEF_INLINE uint32_t reef_random_u32(reef_random *random);
/* 0 ... 2^64-1, each with equal chance: two numbers, the lower half first. */
REEF_INLINE uint64_t reef_random_u64(reef_random *random);
/* 0 <= x < 1: a multiple of 2^-24, each with equal chance. */
REEF_INLINE float reef_random_float(reef_random *random);

/* lowest ... highest, both included, each with equal chance. Draws until a number fits, fewer than two times on
 * average. Returns `lowest` if `highest` is less. */
REEF_API int64_t reef_random_range(reef_random *random, int64_t lowest, int64_t highest);

REEF_END_C

/* These three are inlined. */
#include "detail/random.h"

#endif
