/* Value indexes for systems (src/index/value_index.c). */
#ifndef REEF_INDEX_VALUE_INDEX_H
#define REEF_INDEX_VALUE_INDEX_H

#include "base/platform.h"
#include "reef/value_index.h"

/* The index of a field, if the world has it; NULL: it hasn't. */
reef_index *reef__index_find(const reef_world *w, reef_component c, const char *field);
/* Makes the index, without its rows. NULL: *s says why not, and it isn't recorded. */
reef_index *reef__index_make(reef_world *w, reef_component c, const char *field, reef_status *s);
/* Brings the index up to date for a run of a system, which has a number of its own (`run`) and sees what was written up
 * to version `seen`; a second call for the same run does nothing. Several threads may do this, as long as nobody writes
 * the component. False: no memory. */
bool reef__index_follow(reef_index *x, uint64_t run, uint64_t seen);

#endif
