/* Unknown systems and phases: those that a state names and that its world doesn't have. */
#ifndef REEF_SYSTEM_UNKNOWN_SYSTEM_H
#define REEF_SYSTEM_UNKNOWN_SYSTEM_H

#include "storage/state.h"
#include "reef/type.h"

/* Returns the serial number of the world's system or phase of this name, or else of the unknown one. 0: there is
 * neither. */
uint64_t reef__serial_by_name(const reef_world *w, const char *name, bool of_phase);
/* Adds an unknown system or phase; there must be none of this name yet. NULL: no memory. */
unknown_system *reef__unknown_system_add(reef_world *w, const char *name, bool of_phase);
/* Gives what is kept for unknown systems and phases to those that the world has by now. They are no longer unknown. */
void reef__unknown_systems_resolve(reef_world *w);
/* A system of the world is about to run: the remaining unknown systems and phases are forgotten. */
void reef__unknown_systems_end(reef_world *w);

/* What is kept for a system (when it ran, what it has seen, events that it hasn't read) is kept for another one of the
 * same name from now on. `to` 0: it is dropped. */
void reef__system_state_hand_over(reef_world *w, uint64_t from, uint64_t to);

/* Visits all systems, or all phases, of a world's state in the order of their names, the unknown ones among them. A
 * `named_serial` that is {NULL} starts the walk; false: there are no more. Call reef__unknown_systems_resolve before,
 * or a name may be met twice. */
typedef struct named_serial {
    const char *name;
    uint64_t serial;
    bool on;
} named_serial;
bool reef__named_next(const reef_world *w, bool of_phase, named_serial *n);

#endif
