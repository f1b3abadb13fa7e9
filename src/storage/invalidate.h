/* What becomes stale when something changes: versions, gates of the inlined calls, epochs, counts of moves. */
#ifndef REEF_STORAGE_INVALIDATE_H
#define REEF_STORAGE_INVALIDATE_H

#include "base/platform.h"
#include "storage/id_lanes.h"
#include "storage/world_data.h"
#include "reef/detail/layout.h"

#if defined(QUARANTINE)
#define GUARDED(w) ((w)->family->memory.guarded)
#else
#define GUARDED(w) false
#endif
/* hot.gate_move is what a lease must be for the straight path: the version, or never; hot.lately is emptied when a
 * unit gets another table, the stores move, the state is another. To be called when one of these changes: version,
 * open loops, names, shared records, whether there are observers. */
INLINE void gates_set(reef_world *w)
{
    w->hot.gate_move =
        w->locks || w->hot.records.shared || GUARDED(w) || w->slow & SLOW_OBSERVED ? UINT64_MAX : w->hot.version;
    w->gate_destroy = w->slow & SLOW_BOUND ? UINT64_MAX : w->hot.gate_move;
    w->hot.lately.component = REEF_LATELY_NONE;
}
INLINE void gates_close(reef_world *w)
{
    w->hot.gate_move = w->gate_destroy = UINT64_MAX;
    w->hot.lately.component = REEF_LATELY_NONE;
}
/* A new write version: what is written from now on can be told from what was written before. */
INLINE void version_advance(reef_world *w)
{
    w->hot.version++;
    gates_set(w);
}
/* The straight paths that give out indices are closed, until somebody comes by fresh_open of
 * src/storage/entity_index.c. */
INLINE void fresh_close(reef_world *w) { w->hot.fresh_end = w->hot.empty_end = 0; }
/* The same where every later write shall be seen, also those of the straight paths that mark nothing. */
INLINE void version_look(reef_world *w)
{
    fresh_close(w);
    w->ring_next = w->ring_end = NULL;
    version_advance(w);
}
/* What queries remember of the rows of tables isn't so any more. The straight paths that make and end rows don't
 * come by here: they need a lease, which does, and queries take away the leases of the tables that they look at
 * (reef__rows_look in src/query/query.c). */
INLINE void rows_other(reef_world *w) { w->rows_epoch++; }

void reef__bundles_distrust(reef_world *w); /* closes the gates of all bundles */
INLINE void tables_renew(reef_world *w)
{
    w->tables_epoch++;
    if (w->bundles_ready) reef__bundles_distrust(w);
    rows_other(w);
}
INLINE void marks_renew(reef_world *w)
{
    w->disabled_epoch++;
    tables_renew(w);
}
/* The same after everything was shared with another holder: nothing is ours alone. */
INLINE void version_share(reef_world *w)
{
    if (!BUG(27)) tables_renew(w);             /* queries remember slots */
    bool hashed = w->hashed == w->hot.version; /* sharing changes nothing that the hash covers */
    w->hot.fork_version = w->ours_after = w->hot.version;
    version_look(w);
    if (hashed) w->hashed = w->hot.version;
}

/* What was remembered of the bits that were turned lately isn't so any more. */
INLINE void lately_forget(reef_world *w)
{
    w->hot.lately.component = REEF_LATELY_NONE;
    for (uint32_t i = 0; i < w->state.store_count; i++) w->state.stores[i].lately_gate = 0;
}

/* Called where something begins to be written for the first time at this version. (A loop that writes makes a new
 * one.) */
INLINE void world_touch(reef_world *w) { w->hashed = 0; }

INLINE uint64_t rows_moved(const reef_world *w) { return w->hot.moves - w->destroyed - w->shifted; }
INLINE void values_shift(reef_world *w)
{
    w->hot.moves++;
    w->shifted++;
    rows_other(w);
}
INLINE void entities_ended(reef_world *w, uint64_t n)
{
    w->hot.moves += n;
    w->destroyed += n;
}
/* The statistics of another state; hot.moves goes on. */
INLINE void moves_put(reef_world *w, uint64_t moved, uint64_t destroyed)
{
    w->hot.moves++;
    rows_other(w);
    w->destroyed = destroyed;
    w->shifted = w->hot.moves - destroyed - moved;
}

INLINE bool lanes_settle(reef_world *w) { return LIKELY(w->lane_rest == 0) || reef__lanes_retry(w); }

#endif
