/* change/singleton: TODO */
#ifndef REEF_CHANGE_SINGLETON_H
#define REEF_CHANGE_SINGLETON_H

#include "base/platform.h"
#include "reef/type.h"

reef_status reef__single_validate(const reef_world *w, char *message, size_t size);

#endif
