/* Which types a world may use: an open world may use all declared types, a closed one those that it was given. */
#ifndef REEF_STORAGE_KNOWN_TYPES_H
#define REEF_STORAGE_KNOWN_TYPES_H

#include "storage/world_data.h"

/* Makes sure that the world may use the type and that its maps have it. REEF_OK, REEF_UNKNOWN_TYPE or
 * REEF_NO_MEMORY. */
reef_status reef__type_ready(reef_world *w, uint32_t component);
/* Is that so already, because the world has used the type before? */
INLINE bool type_is_ready(const reef_world *w, uint32_t component)
{
    const state *s = &w->state;
    const bool used = component < s->map_count && component / 64 < s->used_words &&
                      s->used_types[component / 64] >> component % 64 & 1;
    return used && !type_known(component)->split && !w->running;
}

/* Does this world know the type? An open world knows all declared types. */
bool reef__world_knows(const reef_world *w, uint32_t component);

#endif
