/* observe/notify: TODO */
#ifndef REEF_OBSERVE_NOTIFY_H
#define REEF_OBSERVE_NOTIFY_H

#include "storage/observed.h"
#include "reef/type.h"

extern const observer_calls reef__observers_called;

/* Those that are there when the observer is made. False: no memory, nobody was called. */
bool reef__observe_existing(reef_world *w, const struct observer *o);

#endif
