/* A dive that is being played, with its past: time runs backward, the last dive swims beside it, and it goes on after
 * the program was killed. None of this is known to the systems of the world; it all follows from worlds being values.
 *
 *     session s;
 *     session_begin(&s, seed, pool, folder);    goes on with the dive in the folder, if there is one
 *     session_tick(&s, in);                     a tick
 *     session_rewind(&s, 2);                    two ticks back; the next tick pays for them
 *     session_again(&s, seed);                  a new dive; the last one becomes the ghost if it is the same sea
 *     session_end(&s); */
#ifndef DIVE_SESSION_H
#define DIVE_SESSION_H

#include "game.h"
#include "replay.h"
#include <reef/pool.h>
#include <reef/history.h>
#include <reef/journal.h>

typedef struct session {
    game now;              /* what is played */
    reef_history *past;    /* its last five seconds */
    replay inputs;         /* since the start of the dive; without the first ones if it was loaded without them */
    bool inputs_complete;  /* the inputs are the whole dive */
    uint64_t inputs_saved; /* so many of them are on disk as they are */
    uint32_t rewound;      /* ticks that the next tick pays for */
    uint64_t tick;         /* of the world, unless somebody else has set it back */

    game ghost; /* the last dive, beside this one: a fork of the same start, played with the old inputs */
    reef_history *ghost_past;
    replay ghost_inputs;

    reef_pool *pool;
    reef_journal *journal; /* NULL: nothing is kept on disk */
    char folder[400];      /* "": the same */

    /* Who watches this dive: called after each tick, and before its world is freed. NULL, as after session_begin:
     * nobody */
    void (*ticked)(void *watcher), (*leaves)(void *watcher);
    void *watcher;
} session;

/* Begins: loads the journal in the folder, or makes a new dive. `folder` may be NULL; it must exist. False: no memory,
 * or an IO error; then session_end is still allowed. */
bool session_begin(session *s, uint64_t seed, reef_pool *pool, const char *folder);
/* Begins anew, at once. */
bool session_again(session *s, uint64_t seed);
void session_end(session *s);

/* Was a dive found in the folder that isn't over? */
bool session_was_loaded(const session *s);

/* Plays a tick. While the world is paused (reef_pause), it does nothing. If somebody else has set the world back, the
 * dive goes on from there. */
bool session_tick(session *s, Input in);
/* Goes back, as far as there is a past. Whoever hasn't the air to pay for it dies in the next tick. Returns by how many
 * ticks. */
uint32_t session_rewind(session *s, uint32_t ticks);
/* Writes what has changed to the journal. session_tick does it once a second. */
bool session_save(session *s);

/* ---- photo mode: two futures ---- */

/* Forks of a world that stands still, each with inputs of its own. */
typedef struct photo {
    game future[2];
    Input in[2];
    uint32_t ticks; /* that they are ahead */
} photo;
enum { PHOTO_TICKS = 75 };

/* What if she turned left, and what if right? The world isn't touched. */
bool photo_take(photo *p, session *s, Input in);
/* Both futures go on by a tick; at the end they begin again. */
bool photo_tick(photo *p, session *s);
void photo_end(photo *p);

#endif
