/* Making entities: what commands, copies of worlds and loading share with the public calls (`reef_spawn` and its kin),
 * and what drops the world's bundles and its memory of sets. */
#ifndef REEF_CHANGE_SPAWN_H
#define REEF_CHANGE_SPAWN_H

#include "base/platform.h"
#include "type/type.h"
#include "reef/component.h"

/* Makes the entities of a command, by ids that are pending. All are made or none. */
reef_status reef__spawn_pending(reef_world *w, const reef_entity *ids, uint32_t n, const reef_value *values,
                                uint32_t count);
/* Makes n entities in table `id`, with values of the table's columns (the parts of a split type, not the type), of
 * bits, of stores, and of marks by their keys. They get new ids, which are written to `entities` (NULL: nowhere), or
 * the pending ids `given`. All are made or none. */
reef_status reef__spawn_listed(reef_world *w, const char *op, uint32_t id, reef_value *values, uint32_t count,
                               uint32_t n, reef_entity *entities, const reef_entity *given);
/* The same for n copies of an entity. */
reef_status reef__clone_into(reef_world *w, reef_entity source, uint32_t n, reef_entity *entities,
                             const reef_entity *given);

/* The table of the set of types in a list of reef__spread_make. 0: no memory or a limit, as *status says. */
COLD uint32_t reef__listed_table(reef_world *w, const reef_value *values, uint32_t count, reef_status *status);

void reef__bundles_drop(reef_world *w);
void reef__sets_distrust(reef_world *w); /* forgets which sets of types were spawned last */

#endif
