/* Entities that commands make by runs: of one set of plain components, their values side by side. */
#ifndef REEF_CHANGE_SPAWN_BATCH_H
#define REEF_CHANGE_SPAWN_BATCH_H

#include "storage/id_lanes.h"
#include "reef/component.h"

/* n of them, each `stride` bytes: {pending id, values}, or {values} with ids that follow from one another. */
typedef struct packed_run {
    const char *rows;
    const lane_ids *ids; /* of the first of the command; NULL: each row begins with its own */
    uint32_t at;         /* how many of the command's are before these */
    uint32_t n;
    uint32_t good;  /* of the first: these can be made */
    uint32_t place; /* of the first one's row */
} packed_run;

/* How many of the first are made, the runs one behind the other. `values`: which components, and of which the rows
 * have a value. The threads of the world's pool help. 0: the first takes the general way, or memory is short.
 * (src/change/spawn_batch.c) */
uint64_t reef__spawn_packed(reef_world *w, const reef_value *values, uint32_t count, size_t stride, packed_run *runs,
                            uint32_t run_count);

#endif
