/* History: the last ticks of a world and their inputs, going back and replaying; and a test that a program is
 * deterministic.
 *
 * A game advances in ticks. Its step is one function, which plays a tick with the input of that tick. A history calls
 * the step, and keeps the state before each tick and the input, so it can go back and play ticks again:
 *
 *     reef_history *h = reef_history_new(w, &(reef_history_config){.ticks = 60, .step = play});
 *     reef_history_step(h, &keys, sizeof keys);                  a tick
 *     reef_history_rewind(h, 40);                                the world as it was before tick 40
 *     reef_history_replay(h, 60);                                ticks 40 ... 59 again, with the same inputs
 *     reef_history_correct(h, &(reef_late_input){41, &late, sizeof late}, 1);
 *                                                                an input that came late: as if it had come in time
 *
 * Ticks have numbers from 0. Tick t leads from state t to state t + 1. A kept tick costs memory only for what it
 * changed: states share all blocks that weren't written in between.
 *
 *     ├─ first ───── kept states, some thinned out ───── tick ───── end ─┤
 *       the oldest state that is kept                    the next one to play; below `end` after a rewind only
 *
 * The step must be deterministic: what it does may depend only on the world, the number of the tick and the input. It
 * may do anything with the world, but it must close its loops, and must not free the world or use the history (LOCKED).
 * When it can't go on, it returns a failure (< 0), and the tick counts as not played. What the caller changes in the
 * world between ticks is part of the kept states, but isn't repeated when ticks are played again.
 *
 * A history is used by the thread that uses its world. When a call that plays ticks or goes back fails, the world and
 * the history are as they were before the call. */
#ifndef REEF_HISTORY_H
#define REEF_HISTORY_H

#include "snapshot.h"
#include "hash.h"

REEF_BEGIN_C

/* Plays one tick. `input` is aligned for every type, lives during the call, and is NULL if input_bytes is 0. */
typedef reef_status (*reef_step)(void *context, reef_world *world, uint64_t tick, const void *input,
                                 size_t input_bytes);

/* The settings of a history. */
typedef struct reef_history_config {
    uint64_t ticks; /* the history goes back this many ticks at most; 0: no such bound */
    /* memory that all kept ticks may take, with states, inputs and bookkeeping; 0: no such bound. At least one of the
     * two bounds must be given. When it is exceeded, states are dropped, old ones more often than new ones, so the
     * remaining states are close together in the recent past and far apart before. The last state always stays */
    uint64_t bytes;
    reef_step step;
    void *context;      /* for step */
    size_t input_bytes; /* largest length of an input (longer ones: LIMIT); 0: any length */
    /* What the inputs are: reef_id(T), for a plain type in the home REEF_TABLE with fields. Each input is then one or
     * several values of it, or empty (otherwise BAD_ARGUMENT), and where code that is loaded while the world lives
     * gives T another layout, the recorded inputs are converted like all values (reef/code.h). {0}: bytes of which
     * nothing is known */
    reef_component input;
    bool hashes; /* remember the hash of each state: reef_history_hash. Costs a reef_hash a tick */
} reef_history_config;

/* The last ticks of a world. */
typedef struct reef_history reef_history;

/* Makes a history of this world, which is at tick 0 now. The caller owns it, and may free it before or after the world;
 * once the world is freed, no other call may use it. NULL on failure: BAD_ARGUMENT (no bound, no step, inputs that
 * can't be of that type), NO_MEMORY. */
REEF_API reef_history *reef_history_new(reef_world *world, const reef_history_config *config);
/* Frees the history with all its states and inputs. The world isn't touched. NULL is allowed. */
REEF_API void reef_history_free(reef_history *history);

/* Plays the next tick: keeps the state before it, copies the input and calls the step. After a rewind this begins
 * another future: the states and inputs from here on are dropped first. Errors: what the step returns; NO_MEMORY; LIMIT
 * (the input is too long); BAD_ARGUMENT (input is NULL, but its length isn't 0; it isn't of the settings' type); LOCKED
 * (a loop is open, or a step is running); NOT_COPYABLE (as for reef_snapshot_take). */
REEF_API reef_status reef_history_step(reef_history *history, const void *input, size_t input_bytes);
/* Sets the world to the state before `tick`, first <= tick <= end: restores the nearest older state that is kept, and
 * plays the recorded inputs from there. `tick` is then the next one to play. Nothing is dropped, so a later rewind can
 * go forward again. Errors: BAD_ARGUMENT (no such state), and those of the step and of reef_restore. */
REEF_API reef_status reef_history_rewind(reef_history *history, uint64_t tick);
/* Plays recorded ticks again from the world as it is, up to state `until`, tick <= until <= end. Their states are
 * recorded again; later states are dropped, but not their inputs. Errors: BAD_ARGUMENT (out of that range), and those
 * of reef_history_step. */
REEF_API reef_status reef_history_replay(reef_history *history, uint64_t until);

/* An input that wasn't known when its tick was played. */
typedef struct reef_late_input {
    uint64_t tick; /* first <= tick < end */
    const void *input;
    size_t input_bytes;
} reef_late_input;

/* Replaces recorded inputs, goes back to the earliest of their ticks that was played, and plays again up to where the
 * world was. The world is then what it would be if all inputs had come in time. If there are two inputs for one tick,
 * the later one in the array counts. States that the old inputs led to are dropped. Errors: BAD_ARGUMENT (a tick that
 * isn't recorded), and those of reef_history_step. */
REEF_API reef_status reef_history_correct(reef_history *history, const reef_late_input *inputs, uint32_t count);

/* ---- reading: a pointer lives until the next call that takes the history without const ---- */

/* What is recorded, and where the world is in it. */
typedef struct reef_history_range {
    uint64_t first; /* the oldest state that a rewind can reach */
    uint64_t tick;  /* the next tick to play; the world is in the state before it, unless the caller changed it */
    uint64_t end;   /* one more than the last recorded tick */
    uint64_t kept;  /* number of states that are kept, of ticks first ... end - 1 */
    /* memory for states and inputs; without a bound in bytes, the states aren't counted */
    uint64_t bytes;
} reef_history_range;

/* The range of ticks that is recorded. */
REEF_API reef_history_range reef_history_reach(const reef_history *history);
/* The state before this tick, for reef_snapshot_fork and reef_restore; NULL if it isn't kept. The history owns it.
 * (After a reef_restore the history doesn't know where the world is: use reef_history_rewind to go back.) */
REEF_API const reef_snapshot *reef_history_at(const reef_history *history, uint64_t tick);
/* The hash of the state before this recorded tick, also if the state itself was dropped. 0: the tick isn't recorded,
 * the history has no hashes, or the inputs or the world before the tick changed since it was played. In the last case
 * reef_history_replay or reef_history_step plays it again, and then the hash is known. */
REEF_API uint64_t reef_history_hash(const reef_history *history, uint64_t tick);
/* The world whose ticks are recorded. */
REEF_API reef_world *reef_history_world(const reef_history *history);
/* The type of the inputs, as in the settings, or what took its place since; {0}: nothing is known of them. */
REEF_API reef_component reef_history_input_type(const reef_history *history);
/* The input of a recorded tick; its length is written to *input_bytes. NULL and length 0: the tick isn't recorded, or
 * its input has no bytes. */
REEF_API const void *reef_history_input(const reef_history *history, uint64_t tick, size_t *input_bytes);

/* ---- is the step deterministic? ---- */

/* The settings of reef_synctest. */
typedef struct reef_synctest_config {
    uint64_t ticks;    /* to play */
    uint32_t distance; /* how many ticks it goes back after each tick, 1 ... 65536 */
    reef_step step;
    /* Returns the input of a tick and writes its length to *bytes, which is 0 before. The input must stay readable
     * until the next call. NULL: no tick has an input. */
    const void *(*input)(void *context, uint64_t tick, size_t *bytes);
    void *context; /* for step and input */
} reef_synctest_config;

/* The first tick that gave another state when it was played again. */
typedef struct reef_desync {
    uint64_t tick;              /* the first tick that led to different states */
    uint64_t first, again;      /* hashes after the tick: when it was first played, and when it was played again */
    reef_difference difference; /* `a` and `entity`: first played; `b` and `other`: played again */
} reef_desync;

/* Tests that the step is deterministic. Plays ticks 0 ... ticks - 1; after each it goes back `distance` ticks (or to
 * the start), plays them again with the same inputs, and compares the hash after each. Returns OK if there is no
 * difference; the world has then played all ticks. Returns DESYNC if there is one, and writes the first one to *report,
 * which may be NULL. Further errors: BAD_ARGUMENT (no step, a distance out of its range), and those of
 * reef_history_step. On DESYNC and on every error the world is as it was, and is paused if it was. What doesn't belong
 * to the state doesn't go back when ticks are played again: a step that pauses the world, or switches, adds or removes
 * systems, is answered with DESYNC where that makes a difference, and its changes to the systems stay. Costs
 * (distance + 1) * ticks steps. */
REEF_API reef_status reef_synctest(reef_world *world, const reef_synctest_config *config, reef_desync *report);

REEF_END_C

#endif
