/* The mechanism of the allocation sweeps (test_oom.c, test_oom_files.c): one scenario, with each allocation of its
 * call failing in turn. */
#ifndef OOM_SWEEP_H
#define OOM_SWEEP_H

#include "oom_scenarios.h"

/* Slow builds (tests/suites.cmake) let each allocation fail alone after a fork, and with all later ones otherwise,
 * and of many allocations only the first ones and every seventh; those of ./test every nineteenth. */
#if defined(SWEEP_HALF)
enum { SWEEP_IS_HALF = 1 };
#else
enum { SWEEP_IS_HALF = 0 };
#endif
static inline bool swept(bool shared, bool rest) { return !SWEEP_IS_HALF || shared != rest; }
/* From the n-th allocation to the next that fails. The other builds try all (`fully`), or the first ones and every
 * third. */
static inline uint64_t sweep_step(uint64_t n, bool fully)
{
#if defined(SWEEP_SHORT)
    if (SWEEP_IS_HALF) return n < 3 ? 1 : 19;
#endif
    if (SWEEP_IS_HALF) return n < 5 ? 1 : 7;
    return fully || n < 20 ? 1 : 3;
}

typedef struct outcome {
    uint64_t digest, hash, seen, other_digest, other_hash;
} outcome;

/* The result of a scenario when nothing fails. */
typedef struct wanted {
    outcome before, after;
} wanted;

extern heap sweep_heap;
extern sweep now;
extern uint32_t failures; /* each was printed */

void sweep_begin(const trial *t, bool shared);
/* Frees the scenario's worlds. Returns what is wrong with memory or values; NULL: nothing. */
const char *sweep_leaks(void);
wanted sweep_undisturbed(const trial *t);
/* Runs a scenario with the n-th allocation failing; false when it had fewer, or when something is wrong. */
bool sweep_run(const trial *t, bool shared, uint64_t n, bool rest, const wanted *w);

#endif
