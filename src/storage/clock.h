/* Clocks: one number of nanoseconds for a phase or a system, as a part of the state. A clock is found by the serial
 * number of its phase or system. */
#ifndef REEF_STORAGE_CLOCK_H
#define REEF_STORAGE_CLOCK_H

#include "storage/state.h"
#include "reef/type.h"

/* Does this serial number belong to a system or phase of the world's schedule, or to an absent one? */
bool reef__serial_counts(const reef_world *w, uint64_t serial);

uint64_t reef__clock_read(const state *s, uint64_t serial); /* 0: there is none */

/* The clock of a phase or system; it is made with value 0 when there is none yet. NULL: there is no memory. */
uint64_t *reef__clock_own(reef_world *w, uint64_t serial);

/* What the state says of an absent system or phase; NULL: the serial number belongs to none. */
unknown_system *reef__unknown_system_of(const reef_world *w, uint64_t serial);

#endif
