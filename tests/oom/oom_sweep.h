/* The mechanism of the allocation sweeps (test_oom.c, test_oom_files.c): one scenario, with each allocation of its
 * call failing in turn. */
#ifndef OOM_SWEEP_H
#define OOM_SWEEP_H

#include "oom_scenarios.h"

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
