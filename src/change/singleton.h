/* Singletons: what the validator of a world checks about the entity that holds them. The public calls are in
 * include/reef/single.h. */
#ifndef REEF_CHANGE_SINGLETON_H
#define REEF_CHANGE_SINGLETON_H

#include "base/platform.h"
#include "reef/type.h"

reef_status reef__single_validate(const reef_world *w, char *message, size_t size);

#endif
