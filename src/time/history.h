/* A history whose kept states have types that are other ones now (src/api/layout_change.c): it is put aside, the world
 * goes on from one of its states with the new types, and the inputs are played again. */
#ifndef REEF_TIME_HISTORY_H
#define REEF_TIME_HISTORY_H

#include "base/platform.h"
#include "reef/history.h"

/* Puts what is recorded aside; the history is empty then, at tick `from`. False: no memory. */
bool reef__history_aside(reef_history *h, uint64_t from, reef_history **aside);
/* The world goes back to a state that was put aside. */
reef_status reef__history_back(reef_history *aside, uint64_t from);
/* Plays the inputs that were put aside, up to where the world was. */
reef_status reef__history_play(reef_history *h, const reef_history *aside);
/* Ends it: what was recorded anew stays, or what was put aside is back. */
void reef__history_settle(reef_history *h, reef_history *aside, bool stays);
bool reef__history_has(const reef_history *h, const reef_snapshot *s); /* is it one of its snapshots? */
bool reef__history_of(const reef_history *h, const reef_world *w);

#endif
