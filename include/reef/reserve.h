/* Ids that are reserved before their entity is made, or given: from a file or the network. */
#ifndef REEF_RESERVE_H
#define REEF_RESERVE_H

#include "entity.h"

REEF_BEGIN_C

/* Reserves an id without making the entity, so that the id can be handed out early. The entity isn't alive until
 * reef_create_as makes it; reef_release_id gives the id back. Null on failure. */
REEF_API reef_entity reef_reserve_id(reef_world *world);
/* Reserves `count` ids that were never used: the one returned and those of the following indices, all of generation 1.
 * Pages of 4,096 indices of which no id is used yet take no memory. Null on failure: BAD_ARGUMENT (count 0), LIMIT,
 * LOCKED, NO_MEMORY. */
REEF_API reef_entity reef_reserve_range(reef_world *world, uint32_t count);
/* Gives a reserved id back; its index is used again with the next generation. Errors: BAD_ARGUMENT (it isn't reserved),
 * LOCKED, NO_MEMORY. */
REEF_API reef_status reef_release_id(reef_world *world, reef_entity reserved);
/* Makes the entity of a given id, without components. The id was reserved before, or comes from a file or the network.
 * Errors: EXISTS (another entity lives at this index, and isn't changed), BAD_ARGUMENT (null, or a generation that was
 * used before), LIMIT. Costs O(free ids) when the id wasn't reserved, O(gap) when the index is new. */
REEF_API reef_status reef_create_as(reef_world *world, reef_entity wanted);

REEF_END_C

#endif
