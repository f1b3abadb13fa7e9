/* Which types a world may use: an open world may use all declared types, a closed one those that it was given. */
#ifndef REEF_STORAGE_KNOWN_TYPES_H
#define REEF_STORAGE_KNOWN_TYPES_H

#include "base/platform.h"
#include "reef/type.h"

/* Makes sure that the world may use the type and that its maps have it. REEF_OK, REEF_UNKNOWN_TYPE or
 * REEF_NO_MEMORY. */
reef_status reef__type_ready(reef_world *w, uint32_t component);

/* Does this world know the type? An open world knows all declared types. */
bool reef__world_knows(const reef_world *w, uint32_t component);

#endif
