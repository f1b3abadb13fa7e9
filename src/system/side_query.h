/* system/side_query: TODO */
#ifndef REEF_SYSTEM_SIDE_QUERY_H
#define REEF_SYSTEM_SIDE_QUERY_H

#include "base/platform.h"
#include "reef/type.h"

/* All queries of the world know all tables: before systems that read others' rows. False: no memory.
 * (src/system/side_query.c) */
bool reef__queries_ready(reef_world *w);

#endif
