/* Value indexes for systems (src/index/value_index.c). */
#ifndef REEF_INDEX_VALUE_INDEX_H
#define REEF_INDEX_VALUE_INDEX_H

#include "index/row_list.h"
#include "query/query.h"
#include "query/sort_key.h"
#include "reef/value_index.h"

/* The index of a field, if the world has it; NULL: it hasn't. */
reef_index *reef__index_find(const reef_world *w, reef_component c, const char *field);
/* Makes the index, without its rows. NULL: *s says why not, and it isn't recorded. */
reef_index *reef__index_make(reef_world *w, reef_component c, const char *field, reef_status *s);
/* Brings the index up to date for a run of a system, which has a number of its own (`run`) and sees what was written up
 * to version `seen`; a second call for the same run does nothing. Several threads may do this, as long as nobody writes
 * the component. False: no memory. */
bool reef__index_follow(reef_index *x, uint64_t run, uint64_t seen);

/* ---- for loops over queries (src/index/index_marks.c) ---- */

/* Marks the rows that fulfil one of the query's conditions (src/query/value_term.h), by the index that finds fewest. */
void reef__indexes_mark(reef_world *w, query *q);
/* An index of this field, and the next one behind it (NULL: the first). NULL: there is none. `kind`, `bytes` and
 * `offset` are those of the field in the component's value. */
reef_index *reef__index_of_field(reef_world *w, reef_index *after, uint32_t component, uint32_t offset, uint32_t bytes);
/* Its list, brought up to date outside of loops and systems; everything written up to *version is in it. NULL: no
 * memory. */
const row_list *reef__index_list(reef_index *x, uint64_t *version);
/* What its rows are ordered by, of values that lie side by side; the largest key of a value; the name of the field. */
const ordering *reef__index_order(const reef_index *x, uint64_t *most, const char **name);

#endif
