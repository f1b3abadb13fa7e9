/* Forks and snapshots among the operations of the model test. */
#ifndef MODEL_FORK_H
#define MODEL_FORK_H

#include "model.h"

/* Makes an identical copy. */
void reference_double(ref_world *to, const ref_world *from);
/* The reference of a fork of this reference's world. */
void reference_restore(ref_world *now, const ref_world *then);
void fork_reference(ref_world *to, const ref_world *from);
/* Does an entity have a component that can't be copied? */
bool fork_is_refused(const ref_world *r);
bool ref_is_there(const ref_world *r);
uint32_t forks_live(const model *m);

/* The rank of the first type that prevents a fork; TYPES_MAX: there is none. */
uint32_t first_bound(const ref_world *r);
/* Checks that a world other than the current one is as its reference, and has this hash (0: not known). */
void relative_compare(model *m, reef_world *w, const ref_world *r, uint64_t hash, model_queries *queries);
/* NULL: any world's. (keep.c) */
void journal_end(model *m, const reef_world *w);

/* At the end of a run: compares and frees half of the forks and snapshots, or all of them; then it checks the memory as
 * well. */
void forks_end(model *m);
/* Frees the rest, after the world. */
void forks_free(model *m);

void core_FORK(model *m, const op *o, outcome *out);
void want_FORK(model *m, const op *o, outcome *want);
void core_FORK_SWAP(model *m, const op *o, outcome *out);
void want_FORK_SWAP(model *m, const op *o, outcome *want);
void core_FORK_FREE(model *m, const op *o, outcome *out);
void want_FORK_FREE(model *m, const op *o, outcome *want);
void core_SNAPSHOT(model *m, const op *o, outcome *out);
void want_SNAPSHOT(model *m, const op *o, outcome *want);
void core_SNAPSHOT_FREE(model *m, const op *o, outcome *out);
void want_SNAPSHOT_FREE(model *m, const op *o, outcome *want);
void core_SNAPSHOT_FORK(model *m, const op *o, outcome *out);
void want_SNAPSHOT_FORK(model *m, const op *o, outcome *want);
void core_RESTORE(model *m, const op *o, outcome *out);
void want_RESTORE(model *m, const op *o, outcome *want);
void core_SAVE(model *m, const op *o, outcome *out);
void want_SAVE(model *m, const op *o, outcome *want);
void core_DIFF(model *m, const op *o, outcome *out);
void want_DIFF(model *m, const op *o, outcome *want);
void core_JOURNAL(model *m, const op *o, outcome *out);
void want_JOURNAL(model *m, const op *o, outcome *want);

#endif
