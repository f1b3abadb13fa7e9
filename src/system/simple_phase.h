/* The running of a phase whose systems are all simple (src/system/simple_phase.c). */
#ifndef REEF_SYSTEM_SIMPLE_PHASE_H
#define REEF_SYSTEM_SIMPLE_PHASE_H

#include "system/phase.h"

/* Does what reef__phase_run does, for a phase of simple systems in a world without a thread pool. False: something is
 * unusual, and reef__phase_run has to be called. NO_MEMORY in *s means the same as there. */
bool reef__phase_run_simple(reef_world *w, phase_plan *p, float dt, reef_status *s);
void reef__phase_know(reef_world *w, phase_plan *p); /* call it after reef__phase_run */

#endif
