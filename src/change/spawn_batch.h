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

/* A run of n instances. Each is `stride` bytes: {pending id, prefab, values that replace those of the prefab}. */
typedef struct packed_copies {
    const reef_value *values; /* of plain types in tables; which of them each row has, as above */
    uint32_t count;
    const char *rows;
    size_t stride;
    uint32_t n;
} packed_copies;

/* Makes instances of the first one's prefab, if that has nothing but plain columns and no children. The answer is how
 * many, from the first on, were made; 0: as above. */
uint32_t reef__copies_packed(reef_world *w, const packed_copies *x);

#endif
