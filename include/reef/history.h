/* History: the last ticks of a world, its inputs, going back, playing on; and a test that a program is deterministic.
 *
 * A game advances in ticks. Its step, one function, plays a tick with the input of that tick. A history calls it,
 * holds the state before each tick and the input, and so can go back and play again:
 *
 *     reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = play});
 *     reef_history_step(h, &keys, sizeof keys);                  a tick
 *     reef_history_rewind(h, 40);                                the world as it was before tick 40
 *     reef_history_replay(h, 60);                                ticks 40 ... 59 again, with the same inputs
 *     reef_history_correct(h, &(reef_late_input){41, &late, sizeof late}, 1);
 *                                                                an input that came late: as if it had come in time
 *
 * Ticks have numbers from 0. Tick t leads from state t to state t + 1. What a kept tick costs is what it changed:
 * states share all blocks that weren't written in between.
 *
 *     ├─ first ───── kept states, some thinned out ───── tick ───── end ─┤
 *       the oldest state that is kept                    the next one to play; below `end` after a rewind only
 *
 * The step must be deterministic: what it does may depend on the world, the number of the tick and the input alone.
 * It may do with the world whatever it likes, but must close its loops, mustn't free the world and mustn't use the
 * history (LOCKED). When it can't go on it answers a failure (< 0), and the tick counts as not played. What the
 * caller changes in the world between the ticks is part of the kept states, but not of what is played again.
 *
 * A history belongs to the thread of its world. All calls that play or go back are all or nothing: on failure world
 * and history are what they were before the call. */
#ifndef REEF_HISTORY_H
#define REEF_HISTORY_H

#include "snapshot.h"

REEF_BEGIN_C

/* Plays one tick. `input` is aligned for every type, lives during the call, and is NULL where input_bytes is 0. */
typedef reef_status (*reef_step)(void *context, reef_world *world, uint64_t tick, const void *input,
                                 size_t input_bytes);

/* What a history keeps, and how a tick is played. */
typedef struct reef_history_config {
    uint64_t ticks; /* go back this many ticks at most; 0: no such bound */
    /* what all kept ticks may cost: states, inputs, books; 0: no such bound. One must be given. When it is passed,
     * states are given up, the more of them the older they are: what remains lies close together lately and far apart
     * long ago. The last state stays, whatever it costs */
    uint64_t bytes;
    reef_step step;
    void *context;      /* for step */
    size_t input_bytes; /* a longer input is refused (LIMIT); 0: any length */
    bool hashes;        /* remember the hash of each state: reef_history_hash. Costs a reef_hash a tick */
} reef_history_config;

/* A world's last ticks. */
typedef struct reef_history reef_history;

/* A history of this world, which is at tick 0 now. The caller owns it and may free it before or after the world, but
 * must call nothing else with it once the world is gone. NULL on failure: BAD_ARGUMENT (no bound, no step),
 * NO_MEMORY. */
REEF_API reef_history *reef_history_new(reef_world *world, const reef_history_config *config);
/* Lets go of all states and inputs. The world isn't touched. NULL is allowed. */
REEF_API void reef_history_free(reef_history *history);

/* Plays the next tick: keeps the state before it, copies the input, calls the step. After a rewind this begins
 * another future: states and inputs from here on are forgotten first. Errors: what the step answers; NO_MEMORY;
 * LIMIT (the input is too long); BAD_ARGUMENT (input is NULL, its length isn't 0); LOCKED (a loop is open, or a step
 * is running); NOT_COPYABLE (as for reef_snapshot_take). */
REEF_API reef_status reef_history_step(reef_history *history, const void *input, size_t input_bytes);
/* The world becomes state `tick`, first <= tick <= end: the nearest older state that is kept, and from there the
 * recorded inputs played. `tick` is the next one to play then. Nothing is forgotten: the way forward is open as
 * well. Errors: BAD_ARGUMENT (no such state), and those of the step and of reef_restore. */
REEF_API reef_status reef_history_rewind(reef_history *history, uint64_t tick);
/* Plays recorded ticks again from the world as it is, up to state `until`, tick <= until <= end. Their states are
 * kept anew; later ones are forgotten, but not their inputs. Errors: BAD_ARGUMENT (out of that range), and those of
 * reef_history_step. */
REEF_API reef_status reef_history_replay(reef_history *history, uint64_t until);

/* An input that wasn't known when its tick was played. */
typedef struct reef_late_input {
    uint64_t tick; /* first <= tick < end */
    const void *input;
    size_t input_bytes;
} reef_late_input;

/* Replaces recorded inputs, goes back to the earliest of their ticks that was played, and plays again up to where
 * the world was: now it is what it would be, had all inputs come in time. Of two inputs for one tick the later in
 * the array counts. States that the old inputs led to are forgotten. Errors: BAD_ARGUMENT (a tick that isn't
 * recorded), and those of reef_history_step. */
REEF_API reef_status reef_history_correct(reef_history *history, const reef_late_input *inputs, uint32_t count);

/* ---- reading: a pointer lives until the next call that takes the history without const ---- */

/* What is recorded, and where the world is in it. */
typedef struct reef_history_range {
    uint64_t first; /* the oldest state that can be reached */
    uint64_t tick;  /* the next one to play: the world's state, if nobody else changed it */
    uint64_t end;   /* behind the last tick that is recorded */
    uint64_t kept;  /* states that are kept, of ticks first ... end - 1 */
    /* what they cost, with inputs. Known where there is a bound of bytes, otherwise without the states */
    uint64_t bytes;
} reef_history_range;

/* What is recorded. */
REEF_API reef_history_range reef_history_reach(const reef_history *history);
/* The state before this tick, NULL if it isn't kept; for reef_snapshot_fork and reef_restore. (After a reef_restore
 * of your own the history doesn't know where the world is: use reef_history_rewind for that.) */
REEF_API const reef_snapshot *reef_history_at(const reef_history *history, uint64_t tick);
/* The hash of the state before this recorded tick, also where the state was thinned out. 0: the tick isn't recorded,
 * hashes weren't asked for, or the inputs or the world before it changed since it was played, until
 * reef_history_replay or _step plays it again. */
REEF_API uint64_t reef_history_hash(const reef_history *history, uint64_t tick);
/* A recorded input; *input_bytes gets its length. NULL: the tick isn't recorded (then the length is 0), or the input
 * has no bytes. */
REEF_API const void *reef_history_input(const reef_history *history, uint64_t tick, size_t *input_bytes);

/* ---- is the step deterministic? ---- */

/* What a synctest plays. */
typedef struct reef_synctest_config {
    uint64_t ticks;    /* to play */
    uint32_t distance; /* ticks that each is rolled back, 1 ... 65536 */
    reef_step step;
    /* The input of a tick; *bytes is 0 before. It must stay readable until the next call. NULL: no tick has one. */
    const void *(*input)(void *context, uint64_t tick, size_t *bytes);
    void *context; /* for step and input */
} reef_synctest_config;

/* Where playing again led elsewhere. */
typedef struct reef_desync {
    uint64_t tick;              /* that led to different states; the first such one */
    uint64_t first, again;      /* hashes after it: when it was played first, when it was played again */
    reef_difference difference; /* `a` and entity: played first; `b` and other: played again */
} reef_desync;

/* Plays ticks 0 ... ticks - 1; after each it goes back `distance` ticks (or to the start), plays them again with the
 * same inputs and compares the hash after each. REEF_OK: no difference, and the world has played them all. DESYNC:
 * the first difference is in *report (which may be NULL). On this and every other failure the world is as it was:
 * BAD_ARGUMENT (no step, a distance out of its range), and those of reef_history_step. Costs (distance + 1) * ticks
 * steps. */
REEF_API reef_status reef_synctest(reef_world *world, const reef_synctest_config *config, reef_desync *report);

REEF_END_C

#endif
