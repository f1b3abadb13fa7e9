/* Ctrl-C ends a run between two ticks, so that nothing half written is left behind. */
#ifndef LIVING_REEF_STOP_H
#define LIVING_REEF_STOP_H

#include <stdbool.h>

/* From now on Ctrl-C, and a request to end (SIGTERM), are remembered. The second one ends the program at once. */
void stop_watch(void);
/* Did one come? */
bool stop_wanted(void);

#endif
