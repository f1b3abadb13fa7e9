/* Operations on whole queries: what the parts of src/query/change_where.c share with src/query/change_along.c, which
 * does the same for types that require others. */
#ifndef REEF_QUERY_CHANGE_WHERE_H
#define REEF_QUERY_CHANGE_WHERE_H

#include "storage/relabel.h"
#include "query/query.h"

/* When entities are destroyed, FILL means all rows of a table, and MOVE listed rows. */
typedef enum portion_kind { RELABEL, APPEND, MOVE, FILL, REPLACE } portion_kind;

typedef struct portion {
    portion_kind kind;
    uint32_t from, to; /* to: only where other components come along */
    const edge *edge;
    uint64_t first, count; /* in the list, if the rows are listed */
    relabel relabel;
} portion;

typedef struct bit_rows { /* the rows of a chunk whose bits change */
    uint32_t table_id, unit;
    uint64_t rows[BIT_WORDS];
} bit_rows;

typedef struct bulk {
    reef_world *w;
    const query *q;
    const char *op;
    const type *t;
    reef_value value; /* kind: DEFAULT to add, ONE to set, REMOVE */
    uint64_t since;
    portion *portions;
    bit_rows *bits;
    reef_entity *list; /* in visiting order */
    uint64_t portion_count, portion_room, bit_count, bit_room, count, room;
    uint64_t changed, prepared;
    uint64_t leaving; /* how many of the list, from the first on, may lose their row with their last bit */
    char *aside;      /* one value for each entity in the list, of a type with hooks or in REEF_SHARED */
    uint64_t made;
} bulk;

/* Adds a portion, whose rows will be the next of the list. NULL: there is no memory. */
portion *reef__portion_add(bulk *b, portion_kind kind, uint32_t from);
/* How many rows of a match change, and adding them to the list. False: there is no memory. */
uint64_t reef__bulk_rows(const bulk *b, const match *m, const table *t);
bool reef__bulk_list(bulk *b, const match *m, const table *t, uint64_t rows);
/* Owns the columns where values of a portion are replaced. */
bool reef__bulk_columns_own(reef_world *w, const portion *p, uint32_t component, const reef_entity *e);
/* May all that match get this relation? One of them can't lead another one into a circle: their paths end in the same
 * target. */
reef_status reef__bulk_relations(bulk *b);

/* Does something that the type requires come along for some entity? Then reef__bulk_along makes the whole change. */
bool reef__bulk_adds_required(const bulk *b);
reef_status reef__bulk_along(bulk *b);

#endif
