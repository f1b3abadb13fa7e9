/* Which types a world may use. */
#ifndef REEF_STORAGE_KNOWN_TYPES_H
#define REEF_STORAGE_KNOWN_TYPES_H

#include "base/platform.h"
#include "reef/type.h"

/* The world may use the type, and its maps reach it. UNKNOWN_TYPE, NO_MEMORY. */
reef_status reef__type_ready(reef_world *w, uint32_t component);

/* Does this world know the type? Open worlds know all declared ones. */
bool reef__world_knows(const reef_world *w, uint32_t component);

#endif
