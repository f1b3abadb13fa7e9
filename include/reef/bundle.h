/* Bundles: sets of components that are prepared once, for spawning the same kind of entity many times. */
#ifndef REEF_BUNDLE_H
#define REEF_BUNDLE_H

#include "entity.h"

REEF_BEGIN_C

/* A prepared set of components, for spawning the same kind of entity many times. The values are in a struct or array of
 * the caller, at the given offsets. The world owns the bundle: it is freed by reef_bundle_free or with the world. */
typedef struct reef_bundle reef_bundle;
typedef struct reef_bundle_part {
    reef_component component;
    uint32_t offset; /* of the value in the struct given to reef_spawn_bundle */
} reef_bundle_part;
/* Makes a bundle of these parts, at most REEF_BUNDLE_MAX of them; `parts` is read during the call only. NULL on
 * failure: UNKNOWN_TYPE, DUPLICATE_TERM, LIMIT, BAD_ARGUMENT, NO_MEMORY. */
REEF_API reef_bundle *reef_bundle_new(reef_world *world, const reef_bundle_part *parts, uint32_t count);
/* Frees a bundle. Call it before the world is freed, not after. NULL is allowed. */
REEF_API void reef_bundle_free(reef_bundle *bundle);
/* Makes one entity with the bundle's components and the values in `packed`. Further errors: OTHER_WORLD. Null on
 * failure. */
REEF_API reef_entity reef_spawn_bundle(reef_world *world, const reef_bundle *bundle, const void *packed);

REEF_END_C

#endif
