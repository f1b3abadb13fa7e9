/* Observers: what the operations that change a world tell of themselves, and who is called for it.
 *
 *   operation ─ observe_... ─► notices planned, room for everything ─► the operation ─ observe_done ─► immediate
 *   observers
 *                                                                                                     what they ask
 *                                                                                                     for, in rounds
 *                                                                                                     at a flush:
 *                                                                                                     collected
 *                                                                                                     observers
 *
 * An operation of a world without observers asks one flag (observed). The others plan first: what an observer will
 * be told of is written to a log, with the values that will go; when that had no memory the operation doesn't begin.
 * Observers run when it is complete, so that the world is always in a state that anybody may look at.
 *
 * Several operations that are one to the caller stand between observe_open and observe_close: observers run behind
 * the last. */
#ifndef REEF_OBSERVE_OBSERVER_H
#define REEF_OBSERVE_OBSERVER_H

#include "observe/observing.h"
#include "reef/observer.h"

/* ---- operations (src/observe/notify.c), of a world with observers ----
 * False: no memory, and nothing was planned. Else observe_done follows, when the operation is complete or didn't
 * happen. */
bool reef__observing_ready(reef_world *w);

/* Its watchers end. (src/observe/observer.c) */
void reef__listeners_free(reef_world *w, observing *o);

#endif
