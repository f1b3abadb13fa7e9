/* storage/clock: TODO */
#ifndef REEF_STORAGE_CLOCK_H
#define REEF_STORAGE_CLOCK_H

#include "storage/state.h"
#include "reef/type.h"

/* Does anybody go by this serial number: a system or a phase of the world's schedule, or an absent one? */
bool reef__serial_counts(const reef_world *w, uint64_t serial);

/* The clock of a phase or a system, 0 at first. NULL: no memory. */
uint64_t *reef__clock_own(reef_world *w, uint64_t serial);

/* NULL: it is none. */
absentee *reef__absent_of(const reef_world *w, uint64_t serial);

#endif
