/* Making many entities at once from runs of commands. All entities of the runs have the same set of plain components,
 * and their values lie side by side. */
#ifndef REEF_CHANGE_SPAWN_BATCH_H
#define REEF_CHANGE_SPAWN_BATCH_H

#include "storage/id_lanes.h"
#include "reef/component.h"

/* A run of n entities, each `stride` bytes: {pending id, values}, or only {values} if the ids follow from one another.
 */
typedef struct packed_run {
    const char *rows;
    const lane_ids *ids; /* the ids of the whole command, from its first entity on; NULL: each row begins with its id */
    uint32_t at;         /* how many entities of the command come before these */
    uint32_t n;
    uint32_t good;  /* how many of them, from the first on, can be made */
    uint32_t place; /* place of the first one's row */
} packed_run;

/* Makes the entities of the runs, one run behind the other; the threads of the world's pool help. `values` says which
 * components they get, and for which of these the rows have a value. The answer is how many entities, from the first
 * on, were made. 0: the first one has to take the general path, or memory is short. */
uint64_t reef__spawn_packed(reef_world *w, const reef_value *values, uint32_t count, size_t stride, packed_run *runs,
                            uint32_t run_count);

#endif
