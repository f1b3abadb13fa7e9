/* A history when types get another layout (src/api/layout_change.c): its states are converted with all others, or only
 * one of them is, from which the inputs can be played again; and inputs that have such a type are converted, too. */
#ifndef REEF_TIME_HISTORY_H
#define REEF_TIME_HISTORY_H

#include "base/platform.h"
#include "reef/history.h"

#define HISTORY_NOTHING UINT64_MAX
/* The kept state from which so many of the last ticks can be played again, or the oldest one; HISTORY_NOTHING: with 0
 * ticks, and where no state is kept. */
uint64_t reef__history_back(const reef_history *h, uint64_t ticks);
/* Only the state before this tick stays, which is kept, with the inputs from there on. */
void reef__history_cut(reef_history *h, uint64_t from);
bool reef__history_has(const reef_history *h, const reef_snapshot *s); /* is it one of its snapshots? */
bool reef__history_of(const reef_history *h, const reef_world *w);

/* The next history whose inputs have a type; after NULL the first one. While no other thread uses reef. */
reef_history *reef__history_described(const reef_history *after);
bool reef__history_plays(const reef_history *h); /* is its step being called, which reads an input? */
/* Makes an entity for each value of the inputs from this tick on, in a world without any. HISTORY_NOTHING: of none. */
reef_status reef__inputs_spread(const reef_history *h, reef_world *w, uint64_t from);
/* Reads the values back, which have the type `is` now, and holds them aside. The inputs before are to be cut off. */
reef_status reef__inputs_gather(reef_history *h, reef_world *w, reef_component is, uint64_t from);
/* They become the history's, or are dropped. Nothing was gathered: only the type changes. */
void reef__inputs_settle(reef_history *h, reef_component is, bool stay);

#endif
