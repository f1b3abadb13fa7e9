/* Systems and phases that a state speaks of and its world hasn't got. */
#ifndef REEF_SYSTEM_ABSENT_SYSTEM_H
#define REEF_SYSTEM_ABSENT_SYSTEM_H

#include "storage/state.h"
#include "reef/type.h"

/* The serial number of the world's system or phase of this name, or of the absent one. 0: there is neither. */
uint64_t reef__serial_by_name(const reef_world *w, const char *name, bool of_phase);
/* One more, of which there is none so far. NULL: no memory. */
absentee *reef__absent_add(reef_world *w, const char *name, bool of_phase);
/* Those of which the world has a system or phase by now aren't absent any more. */
void reef__absents_settle(reef_world *w);
/* Systems of the world run: the others are forgotten. */
void reef__absents_end(reef_world *w);

/* All systems, or phases, of a world's state by name, the absent ones among them. {NULL} starts; false: no more.
 * Behind reef__absents_settle, or a name may be met once more than it should. */
typedef struct named_serial {
    const char *name;
    uint64_t serial;
    bool on;
} named_serial;
bool reef__named_next(const reef_world *w, bool of_phase, named_serial *n);

#endif
