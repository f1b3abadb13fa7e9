/* Sorting storage (include/reef/sort.h), as the rest of reef uses it. */
#ifndef REEF_QUERY_SORT_TABLES_H
#define REEF_QUERY_SORT_TABLES_H

#include "reef/world.h"

/* Groups the rows of tables that changed since it was last done, as types of relations ask for it (REEF_GROUPED). The
 * world has such relations. REEF_OK or NO_MEMORY, and then every row is where it was. */
reef_status reef__storage_group(reef_world *w);

#endif
