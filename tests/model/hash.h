/* The hash among the operations of the model test. */
#ifndef MODEL_HASH_H
#define MODEL_HASH_H

#include "model.h"

enum { HASH_KEPT = 0, HASH_ANEW, HASH_OF_FORK, HASH_IN_LOOP, HASH_WAYS }; /* options of HASH */

uint64_t ref_digest(const ref_world *r);
/* Checks that this hash of the current world agrees with all that were seen before. */
void hash_check(model *m, uint64_t hash);

void core_HASH(model *m, const op *o, outcome *out);
void want_HASH(model *m, const op *o, outcome *want);

#endif
