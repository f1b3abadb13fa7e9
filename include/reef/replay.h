/* Replays: recorded ticks of a history (reef/history.h) that are played again beside the world, a few at a time.
 *
 *     reef_replay *r = reef_replay_new(history, tick - 300);
 *     for each frame:
 *         reef_history_step(history, &keys, sizeof keys);        the world goes on
 *         reef_replay_play(r, 8);                                the replay comes nearer, in eight ticks
 *         if (reef_replay_reach(r).tick == reef_replay_reach(r).end) {
 *             reef_replay_take(r);                               the world is what it would have been
 *             reef_replay_free(r);
 *             break;
 *         }
 *
 * reef_history_replay does all of it at once, in the world itself. A replay plays on a fork that has the world's
 * systems as they are when it begins: so the last seconds are played with new code, and no frame waits for it. Ticks
 * that the world plays meanwhile are played by the replay as well, with their inputs.
 *
 * The step is called with the fork as its world, and leaves no loop open on it. A history keeps what its replay needs,
 * even beyond its own bounds, until the replay is over: when the history goes back, is corrected, or plays again by
 * itself. A replay is used by the thread that uses the history's world. */
#ifndef REEF_REPLAY_H
#define REEF_REPLAY_H

#include "history.h"

REEF_BEGIN_C

/* Recorded ticks that are played again. */
typedef struct reef_replay reef_replay;

/* Begins at the state before this tick, or the nearest older one that is kept. The caller owns it, and frees it before
 * the world. NULL on failure: BAD_ARGUMENT (no such state), LOCKED (as for reef_history_step, or the history has a
 * replay already), NO_MEMORY, and the errors of reef_fork. */
REEF_API reef_replay *reef_replay_new(reef_history *history, uint64_t from);
/* Plays at most so many ticks, up to the tick of the world. Errors: BAD_ARGUMENT (the replay is over: the history was
 * changed or freed, or a tick failed), LOCKED, NO_MEMORY, and what the step returns; the last error of the history's
 * world says more. The world itself isn't touched. */
REEF_API reef_status reef_replay_play(reef_replay *replay, uint64_t ticks);
/* The history's world gets the state that the replay has reached, as by reef_restore, and the history has what was
 * played instead of what was recorded. Errors, which leave both as they are: BAD_ARGUMENT (the replay hasn't reached
 * the tick of the world, or is over), and those of reef_snapshot_take and reef_restore. Nothing is left to be played
 * then. */
REEF_API reef_status reef_replay_take(reef_replay *replay);
/* Frees the replay; before or after its history. NULL is allowed. */
REEF_API void reef_replay_free(reef_replay *replay);

/* Which ticks it plays. */
typedef struct reef_replay_range {
    uint64_t from; /* the first tick that it played */
    uint64_t tick; /* the next one to play */
    uint64_t end;  /* that of the history's world: there it has reached the world */
} reef_replay_range;
/* How far it is. */
REEF_API reef_replay_range reef_replay_reach(const reef_replay *replay);
/* The state before this tick as it was played again; NULL if it wasn't. Lives until the next call that takes the replay
 * without const. reef_history_at has the state that was recorded, until reef_replay_take. */
REEF_API const reef_snapshot *reef_replay_at(const reef_replay *replay, uint64_t tick);
/* The fork, in the state before the next tick. It may be looked at and forked, not changed. */
REEF_API reef_world *reef_replay_world(reef_replay *replay);
/* The history whose ticks are played; NULL: it was freed. */
REEF_API const reef_history *reef_replay_history(const reef_replay *replay);

REEF_END_C

#endif
