/* Queries inside of a system over rows that aren't its own (reef_others). */
#ifndef REEF_SYSTEM_SIDE_QUERY_H
#define REEF_SYSTEM_SIDE_QUERY_H

#include "base/platform.h"
#include "reef/type.h"

/* Called before systems that read others' rows run: all queries of the world get to know all tables. False: no
 * memory. */
bool reef__queries_ready(reef_world *w);

#endif
