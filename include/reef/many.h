/* One component of many entities in random order: faster than one by one, since memory is fetched ahead. */
#ifndef REEF_MANY_H
#define REEF_MANY_H

#include "component.h"

REEF_BEGIN_C

/* Copies the components of n entities to `out`, `size` bytes each. For an entity that is dead or doesn't have it, the
 * place in `out` stays as it was. Returns how many were copied; 0 for types with a copy hook. */
REEF_API uint32_t reef_get_many_id(const reef_world *world, reef_component type, const reef_entity *entities,
                                   uint32_t n, void *out, size_t size);
/* Replaces the components of n entities, in the array's order, by the values in `in`. Entities that are dead or don't
 * have it are skipped. Returns how many were written; if memory runs out, the rest isn't written (see
 * reef_last_error). */
REEF_API uint32_t reef_write_many_id(reef_world *world, reef_component type, const reef_entity *entities, uint32_t n,
                                     const void *in, size_t size);

/* By the C name of a type; `out` and `in` are pointers to T. */
#define reef_get_many(world, T, entities, n, out) \
    reef_get_many_id(world, reef_id(T), entities, n, REEF_CHECK_MUTABLE_(T, out), sizeof(T))
#define reef_write_many(world, T, entities, n, in) \
    reef_write_many_id(world, reef_id(T), entities, n, REEF_CHECK_POINTER_(T, in), sizeof(T))

REEF_END_C

#endif
