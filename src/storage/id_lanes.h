/* Ids that jobs give out while they run: src/storage/id_lanes.c says how. */
#ifndef REEF_STORAGE_ID_LANES_H
#define REEF_STORAGE_ID_LANES_H

#include "base/platform.h"
#include "reef/component.h"

#define LANE_NONE 0xFFFFFFFFu

/* The ids of one job, as many as it wants: the k-th new one of lane l of L is position ((k / 64) * L + l) * 64 + k %
 * 64 in the sequence "free ids, oldest first, then fresh indices". LANE_NONE: the system makes no entities. */
typedef struct id_lane {
    const reef_world *world;
    uint32_t lane, lanes, made;
    /* the lane's next ids, so many, are the indices from here on, never used before */
    uint32_t fresh, fresh_count;
    const uint32_t *recycled; /* or of these, so many, which are free */
    uint32_t recycled_count;
} id_lane;
/* The lane's next id: real at once. LIMIT: there is none. Reads the world only. */
reef_status reef__lane_next(id_lane *j, reef_entity *e);
/* The same while a run of fresh indices lasts. */
INLINE reef_entity lane_again(id_lane *j)
{
    j->fresh_count--;
    j->made++;
    return (reef_entity){j->fresh++, 1};
}
/* The last n of them aren't out after all. */
INLINE void lane_return(id_lane *j, uint32_t n)
{
    j->made -= n;
    j->fresh_count = j->recycled_count = 0;
}
/* New ids of a lane one behind the other, all of fresh indices: from them on as many as wanted follow from these
 * numbers. */
typedef struct lane_ids {
    uint32_t first; /* the lane's so manieth */
    uint32_t lane, lanes;
    uint32_t base; /* the index at position 0, if the sequence had only fresh ones */
} lane_ids;
/* From the one on that the job made last. */
lane_ids reef__lane_ids_of(const id_lane *j);
/* n of them from the at-th on. */
void reef__lane_ids_name(const lane_ids *x, uint32_t at, uint32_t n, reef_entity *to);
/* How many of these n have indices that go up one by one, and the first one's. */
uint32_t reef__lane_ids_run(const lane_ids *x, uint32_t at, uint32_t n, uint32_t *index);
/* Before the jobs of a phase begin: from now on the ids of that many lanes are looked up in the world as it is.
 * False: no memory. */
bool reef__lanes_begin(reef_world *w, uint32_t lanes);
/* After them: made[l] ids of lane l are out. They become pending, those between them are free ids, in the sequence's
 * order. When memory is short this is kept and done before anything else gives out an id: NO_MEMORY. */
reef_status reef__lanes_end(reef_world *w, const uint32_t *made, uint32_t lanes);

/* What a reef__lanes_end without memory left behind is done now. False: memory is still short, and no id may be
 * given out. */
COLD bool reef__lanes_retry(reef_world *w);
void reef__lanes_drop(reef_world *w);

#endif
