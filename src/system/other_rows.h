/* Writing in others' rows, for the systems of one phase (src/system/other_rows.c). */
#ifndef REEF_SYSTEM_OTHER_ROWS_H
#define REEF_SYSTEM_OTHER_ROWS_H

#include "system/phase.h"
#include "system/schedule.h"

/* May the system write (or only read) the component in rows that it isn't handed? */
bool reef__touches_others(const struct system *s, uint32_t component, bool writes);
/* Makes everything ready that the system may write in others' rows. False: no memory. */
bool reef__others_prepare(reef_world *w, const struct system *s);
/* The system begins, and ends. */
void reef__others_begin(ticking *k, const planned_system *ps);
void reef__others_end(reef_world *w, const struct system *s);
/* Makes the pages of all chunks of a table the world's own. False: no memory. */
bool reef__table_pages_own(reef_world *w, const table *t);

#endif
