/* The rows of a value index: the ordered list, and what it says of each chunk of the world, so that what changed can be
 * found.
 *
 *     unit 7 ──► seen_rows   which rows are in the list, their entities, and the bytes of the field as they were then
 *     unit 9 ──► seen_rows
 *
 * A chunk whose versions are newer is compared with its seen_rows; of rows that are different the old one is taken out
 * of the list and the new one put in. So nothing depends on where the world's state came from: after a restore or a
 * rewind all chunks are compared, and only what is different there changes.
 *
 * A value_rows may be shared by a world and its forks, until one of them has to change it. */
#ifndef REEF_INDEX_VALUE_ROWS_H
#define REEF_INDEX_VALUE_ROWS_H

#include "query/query.h"
#include "query/sort_key.h"
#include "index/row_list.h"

typedef struct seen_rows {
    uint64_t listed[BIT_WORDS]; /* bits of the rows that are in the list */
    reef_entity entities[];     /* there is room for some; behind them the values, of value_rows.bytes each */
} seen_rows;

typedef struct seen_unit {
    seen_rows *seen; /* NULL: none */
    uint16_t rows, room;
    uint32_t walk; /* number of the last walk over the world that came to this chunk */
} seen_unit;

typedef struct value_rows {
    uint32_t holders; /* atomic */
    uint32_t bytes;   /* of a value */
    ordering by;      /* of values that lie side by side */
    row_list list;
    bool filled; /* false: the list has to be made of the seen rows */
    seen_unit *unit;
    uint32_t units;
    uint32_t walk;
    order_row *note, *scratch; /* what changed in the list, while it is refreshed */
    uint32_t noted, note_room, scratch_room;
} value_rows;

/* What an index has seen of its world. What was written since has a newer version, as long as the epoch is the same. */
typedef struct seen_state {
    uint64_t version, epoch;
    uint64_t values, moves; /* of the store of a component outside of the tables */
} seen_state;

/* No rows, of a field that is ordered so. NULL: no memory. */
value_rows *reef__value_rows_make(memory *m, const ordering *by);
void reef__value_rows_leave(memory *m, value_rows *x);
/* Another holder, in another world of the family. */
value_rows *reef__value_rows_share(value_rows *x);

/* Makes them those of the world as it is. `q` finds the rows, and knows all tables; what it orders by lies where `by`
 * says. If they have several holders and something is different, *rows becomes a copy first. *seen: as of the last
 * time; it becomes what is seen now, but for the version. *fresh: versions were newer, so the version has to follow.
 * False: no memory; the next time all of it is made anew. */
bool reef__value_rows_refresh(value_rows **rows, const query *q, const ordering *by, seen_state *seen, bool *fresh);

#endif
