/* Changing the rules while the game goes on: `./play --hot`. When a file of game/ is saved, a command builds the rules
 * anew as a library, which takes over between two ticks. The last five seconds are then played again with it beside the
 * game, some ticks in each frame, until the world becomes what they led to. What the compiler says stands in the window
 * until the next build succeeds; the game goes on with the old rules.
 *
 * Where the add-on reef_hot isn't built, reload_begin refuses. */
#ifndef DIVE_RELOAD_H
#define DIVE_RELOAD_H

#include "session.h"
#include <reef/replay.h>

typedef struct reload_config {
    const char *library; /* the rules as a library */
    const char *sources; /* the folder that is watched */
    const char *build;   /* a command for the shell, which builds the library */
    /* called when the last seconds have been played with new rules, before the world becomes what they led to. May be
     * NULL */
    void (*replayed)(void *context, reef_replay *r);
    void *context;
} reload_config;

typedef struct reload reload;

/* The texts of the config must live as long. NULL: `why` says why not; it has room for 200. */
reload *reload_begin(const reload_config *config, char *why);
/* Call it between two ticks, in each frame: NULL is allowed here and below. */
void reload_frame(reload *r, session *s);
/* The world of the session is going to be freed. */
void reload_leave(reload *r);
/* What there is to say; "": nothing. *wrong: the rules that were saved last aren't in use. */
const char *reload_text(const reload *r, bool *wrong);
void reload_end(reload *r);

#endif
