/* The calls by which operations tell observers what they do (src/observe/notice.c). Storage makes them through the
 * struct `observer_calls`. */
#ifndef REEF_OBSERVE_NOTICE_H
#define REEF_OBSERVE_NOTICE_H

#include "storage/observed.h"
#include "reef/type.h"

extern const observer_calls reef__observers_called;

/* Tells a new observer of the entities that exist already. False: no memory, and the observer wasn't called. */
bool reef__observe_existing(reef_world *w, const struct observer *o);

#endif
