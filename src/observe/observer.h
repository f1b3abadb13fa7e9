/* Observers: how operations that change a world tell of it, and when observers are called.
 *
 *   an operation begins    observe_change, observe_destroy ...: its notices are planned, with room for everything
 *   the operation
 *   an operation ends      observe_done: immediate observers are called
 *                          what observers asked for is done, in rounds
 *   a flush                collected observers are called
 *
 * In a world without observers an operation tests one flag (`observed`). Otherwise it plans first: what observers will
 * be told is written to a log, together with the values that will go. Without memory for that, the operation doesn't
 * begin. Observers are called when the operation is complete, so that the world is in a valid state whenever they look
 * at it.
 *
 * Several operations that are one for the caller stand between observe_open and observe_close: observers are called
 * after the last one. */
#ifndef REEF_OBSERVE_OBSERVER_H
#define REEF_OBSERVE_OBSERVER_H

#include "observe/observer_log.h"
#include "reef/observer.h"

/* The world's schedule has observers: brings its list of watchers up to date with the schedule. False: no memory. */
bool reef__observing_ready(reef_world *w);

/* Frees the list of watchers, with their queries. */
void reef__listeners_free(reef_world *w, observer_log *o);

#endif
