/* Many entities in one call: their values, copies of an entity, destroying. And the value of a single one as a copy. */
#ifndef REEF_MANY_H
#define REEF_MANY_H

#include "component.h"

REEF_BEGIN_C

/* ---- values ----
 * For many entities in random order these are faster than one call for each, since memory is fetched ahead. */

/* Copies the components of n entities to `out`, `size` bytes each. For an entity that is dead or doesn't have it, the
 * place in `out` stays as it was. Returns how many were copied; 0 for types with a copy hook. */
REEF_API uint32_t reef_get_many_id(const reef_world *world, reef_component type, const reef_entity *entities,
                                   uint32_t n, void *out, size_t size);
/* Replaces the components of n entities, in the array's order, by the values in `in`. Entities that are dead or don't
 * have it are skipped. Returns how many were written; if memory runs out, the rest isn't written (see
 * reef_last_error). */
REEF_API uint32_t reef_write_many_id(reef_world *world, reef_component type, const reef_entity *entities, uint32_t n,
                                     const void *in, size_t size);

/* Copies the value of a component to `out`. This works for every home, also for REEF_SPLIT, where no whole struct is in
 * memory and reef_get returns NULL. False, with nothing written, if the entity doesn't have the component or isn't
 * alive, if `size` isn't that of the type, or if the type has a copy or destroy hook. */
REEF_API bool reef_read_id(const reef_world *world, reef_entity entity, reef_component type, void *out, size_t size);

/* By the C name of a type; `out` and `in` are pointers to T. */
#define reef_read(world, entity, T, out) reef_read_id(world, entity, reef_id(T), REEF_CHECK_MUTABLE_(T, out), sizeof(T))
#define reef_get_many(world, T, entities, n, out) \
    reef_get_many_id(world, reef_id(T), entities, n, REEF_CHECK_MUTABLE_(T, out), sizeof(T))
#define reef_write_many(world, T, entities, n, in) \
    reef_write_many_id(world, reef_id(T), entities, n, REEF_CHECK_POINTER_(T, in), sizeof(T))

/* ---- entities ---- */

/* Makes `n` copies of `source` with all its components, but without its name. Further errors: NOT_COPYABLE, LIMIT.
 * Either all are made or none; on
 * failure each of `entities` is as it was or null. */
REEF_API reef_status reef_clone_many(reef_world *world, reef_entity source, uint32_t n, reef_entity *entities);
/* Destroys those of the entities that are alive, in the array's order, one by one, and skips null and dead handles. It
 * stops at one that can't be destroyed. Returns how many it destroyed, without those that died with another one; 0 when
 * it fails with LOCKED. */
REEF_API uint32_t reef_destroy_many(reef_world *world, const reef_entity *entities, uint32_t n);

REEF_END_C

#endif
