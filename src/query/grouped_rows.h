/* Rows in groups: the sources of one target of a relation side by side (REEF_GROUPED).
 *
 * Groups lie in the order of the targets' indices; rows without such a relation come last. A table whose rows have
 * several such relations is grouped by the first one in the order of names, and within its groups by the next one. In
 * a group the rows keep the order that they have. Unlike sorting, grouping leaves each row where it is that lies among
 * the places of its group already: a source that got another target moves itself, and one row of each group between
 * the old one and the new one. */
#ifndef REEF_QUERY_GROUPED_ROWS_H
#define REEF_QUERY_GROUPED_ROWS_H

#include "storage/sparse_store.h"
#include "query/sort_key.h"

typedef struct grouped {
    reef_world *w;
    const value_store **store; /* of the relations that group rows and have values, by the names of their types */
    uint32_t count, room;
    const uint32_t *units; /* of the table that is being grouped, in their order */
} grouped;

/* Has the world relations that group rows? */
bool reef__grouped_any(const reef_world *w);
/* Lists their stores. False: there is no memory. The caller frees the list. */
bool reef__grouped_list(grouped *g);
void reef__grouped_free(grouped *g);
/* Have relations been made, changed or ended since storage was grouped last? */
bool reef__grouped_links_are_new(const grouped *g);
/* Have rows of the table come, or moved, since storage was grouped last? */
bool reef__grouped_rows_are_new(const grouped *g, const table *t);
/* Storage is grouped now. */
void reef__grouped_note(const grouped *g);
/* May rows of the table have relations that group them, and are they in groups? */
bool reef__grouped_takes(const grouped *g, const table *t);
bool reef__grouped_lies(const grouped *g, const table *t);
/* Puts all rows of a table into groups: rows[i] gets the number of the row that has to come to place i, and, if that is
 * another one, the index of its entity. `scratch` has room for twice as many. */
void reef__grouped_rows(const grouped *g, order_row *rows, order_row *scratch, size_t count);

#endif
