/* Forks among the operations of the model test. */
#ifndef MODEL_FORK_H
#define MODEL_FORK_H

#include "model.h"

/* The reference's side. */
void fork_reference(ref_world *to, const ref_world *from);

void core_FORK(model *m, const op *o, outcome *out);
void want_FORK(model *m, const op *o, outcome *want);
void core_FORK_SWAP(model *m, const op *o, outcome *out);
void want_FORK_SWAP(model *m, const op *o, outcome *want);
void core_FORK_FREE(model *m, const op *o, outcome *out);
void want_FORK_FREE(model *m, const op *o, outcome *want);

#endif
