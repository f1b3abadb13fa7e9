/* Looking inside a run with the browser: --inspect. Where the add-on reef_inspector isn't built, it is refused. */
#ifndef LIVING_REEF_LOOK_H
#define LIVING_REEF_LOOK_H

#include "ecosystem.h"
#include "options.h"

/* Starts the inspector, if the options ask for it, and says where the page is. False: e->error says why not. */
bool look_begin(ecosystem *e, const options *o);
/* Call it after each tick of this ecosystem, which may be held there; of other ones it does nothing. */
void look_tick(const ecosystem *e);
/* At the end of a run: waits as long as the page is open, and ends the inspector. */
void look_end(void);

#endif
