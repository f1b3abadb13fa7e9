/* Ids that jobs give out while they run, each from a lane of its own: src/storage/id_lanes.c explains how. */
#ifndef REEF_STORAGE_ID_LANES_H
#define REEF_STORAGE_ID_LANES_H

#include "storage/world_data.h"
#include "reef/component.h"

#define LANE_NONE 0xFFFFFFFFu

/* The lane of one job. The id with number k in lane l of L lanes has position ((k / 64) * L + l) * 64 + k % 64 in the
 * sequence "free ids, the oldest first, then fresh indices". LANE_NONE: the system makes no entities. */
typedef struct id_lane {
    const reef_world *world;
    uint32_t lane, lanes, made;
    /* the next fresh_count ids of the lane are the indices from `fresh` on, which were never used before */
    uint32_t fresh, fresh_count;
    const uint32_t *recycled; /* or the next recycled_count ids are these, which are free */
    uint32_t recycled_count;
} id_lane;
/* The next id of the lane, real at once. REEF_LIMIT: there is none. It only reads the world. */
reef_status reef__lane_next(id_lane *j, reef_entity *e);
/* The same while a run of fresh indices lasts. */
INLINE reef_entity lane_again(id_lane *j)
{
    j->fresh_count--;
    j->made++;
    return (reef_entity){j->fresh++, 1};
}
/* Takes the last n of them back: they aren't given out after all. */
INLINE void lane_return(id_lane *j, uint32_t n)
{
    j->made -= n;
    j->fresh_count = j->recycled_count = 0;
}
/* New ids of a lane in a row, all with fresh indices. These numbers are enough to name any number of ids that follow
 * them. */
typedef struct lane_ids {
    uint32_t first; /* the number of this id within its lane, counted from 0 */
    uint32_t lane, lanes;
    uint32_t base; /* the index at position 0, as if the sequence had only fresh indices */
} lane_ids;
/* The ids from the one on that the job made last. */
lane_ids reef__lane_ids_of(const id_lane *j);
/* Names n of them, from number `at` on. */
void reef__lane_ids_name(const lane_ids *x, uint32_t at, uint32_t n, reef_entity *to);
/* How many of these n have indices that count up one by one; *index is the first one. */
uint32_t reef__lane_ids_run(const lane_ids *x, uint32_t at, uint32_t n, uint32_t *index);
/* To be called before the jobs of a phase begin. From then on the ids of this many lanes are read from the world as it
 * is. False: there is no memory. */
bool reef__lanes_begin(reef_world *w, uint32_t lanes);
/* To be called after the jobs: lane l has given out made[l] ids. They become pending. The ids between them are free, in
 * the order of the sequence. When memory is short (REEF_NO_MEMORY), the call is noted, and done before anything else
 * gives out an id. */
reef_status reef__lanes_end(reef_world *w, const uint32_t *made, uint32_t lanes);

/* Does what a call of reef__lanes_end without memory left. False: memory is still short, and no id may be given out. */
COLD bool reef__lanes_retry(reef_world *w);
INLINE bool lanes_finish(reef_world *w) { return LIKELY(w->lane_rest == 0) || reef__lanes_retry(w); }
void reef__lanes_drop(reef_world *w);

#endif
