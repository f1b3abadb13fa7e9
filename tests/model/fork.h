/* A second world that shares all pages with the first: what snapshots and forks will be, made from the inside. */
#ifndef MODEL_FORK_H
#define MODEL_FORK_H

#include "model.h"

/* Both worlds go on by themselves. NULL: no memory, nothing changed. No living component may be move-only. */
reef_world *fork_world(reef_world *w);
/* Gives back a fork; at least one world of the family stays. */
void fork_free(reef_world *f);
/* The reference's side. */
void fork_reference(ref_world *to, const ref_world *from);

void core_FORK(model *m, const op *o, outcome *out);
void want_FORK(model *m, const op *o, outcome *want);
void core_FORK_SWAP(model *m, const op *o, outcome *out);
void want_FORK_SWAP(model *m, const op *o, outcome *want);
void core_FORK_FREE(model *m, const op *o, outcome *out);
void want_FORK_FREE(model *m, const op *o, outcome *want);

#endif
