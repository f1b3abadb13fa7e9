/* Numbers that a state keeps under serial numbers: the versions of the last runs, the clocks of phases and systems, in
 * nanoseconds, and the positions of readers. */
#ifndef REEF_STORAGE_SERIAL_LIST_H
#define REEF_STORAGE_SERIAL_LIST_H

#include "storage/state.h"
#include "reef/type.h"

/* The number under this serial number; NULL: there is none. reef__serial_read answers 0 then. */
uint64_t *reef__serial_find(const serial_list *l, uint64_t serial);
uint64_t reef__serial_read(const serial_list *l, uint64_t serial);

/* The same; it is made with value 0 when there is none yet. Before the list grows, numbers that don't count any more
 * are dropped (`counts` NULL: all do). NULL: there is no memory. */
uint64_t *reef__serial_own(reef_world *w, serial_list *l, uint64_t serial,
                           bool (*counts)(const reef_world *w, uint64_t serial));
/* The clock of a phase or system. */
uint64_t *reef__clock_own(reef_world *w, uint64_t serial);

/* What is kept under `from` is kept under `to` from now on, except where `to` has its own. `to` 0: it is dropped. */
void reef__serial_hand_over(serial_list *l, uint64_t from, uint64_t to);

/* Does this serial number belong to a system or phase of the world's schedule, or to an absent one? */
bool reef__serial_counts(const reef_world *w, uint64_t serial);

/* What the state says of an absent system or phase; NULL: the serial number belongs to none. */
unknown_system *reef__unknown_system_of(const reef_world *w, uint64_t serial);

#endif
