/* change/spawn: TODO */
#ifndef REEF_CHANGE_SPAWN_H
#define REEF_CHANGE_SPAWN_H

#include "base/platform.h"
#include "type/type.h"
#include "reef/component.h"

/* The entities of a command, by ids that are pending. All or nothing. (src/change/spawn.c) */
reef_status reef__spawn_pending(reef_world *w, const reef_entity *ids, uint32_t n, reef_value *values, uint32_t count);
reef_status reef__clone_pending(reef_world *w, reef_entity source, const reef_entity *ids, uint32_t n);

/* n entities of table `id` with values that come from rows: of its columns (parts instead of what is split), of
 * bits, of stores, marks by their keys. All or nothing. */
reef_status reef__spawn_copies(reef_world *w, const char *op, uint32_t id, reef_value *values, uint32_t count,
                               uint32_t n, reef_entity *entities);

/* The table of the set of a list. 0: no memory, or a limit: then *status says. The type of the column that a value
 * goes to; NULL: it goes to none. (src/change/spawn.c) */
COLD uint32_t reef__values_table(reef_world *w, const reef_value *values, uint32_t count, reef_status *status);
const type *reef__value_column(const reef_value *v);

void reef__bundles_drop(reef_world *w);  /* src/change/spawn.c */
void reef__sets_distrust(reef_world *w); /* the sets of values spawned lately: src/change/spawn.c */

#endif
