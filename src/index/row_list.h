/* A list of rows, ordered by key and then by the index of the entity. A change of it costs what changes.
 *
 *     main       {2, 7} {3, 1} {3, 4} {8, 2} {8, 9} ...    sorted; made anew once there are many changes
 *     changes    {3, 4} gone   {5, 4} came   {8, 2} gone   sorted as well
 *     directory  0 0 3 3 5 ...                             of each, by the upper bits of the key: the first row
 *
 * A row of `main` that left the list is in the changes as gone, and one that joined it is there as it is. If an entity
 * took another one's place the changes have both, the one that is gone first. So the number of rows in a range is a
 * difference of places in `main`, and a sum over the changes in that range.
 *
 * Memory is read and written in its order: changes are sorted and merged with those from before into another array, and
 * from time to time with `main`. (Leaves of a tree, in which rows change where they are, wait for memory with each row:
 * 400 ns a changed row where 1% change, instead of 115.)
 *
 * Where keys are spread evenly an entry of a directory covers one row, so a search waits for memory twice, and has no
 * branch to predict. Where they aren't, a binary search finds the row among those of the entry. */
#ifndef REEF_INDEX_ROW_LIST_H
#define REEF_INDEX_ROW_LIST_H

#include "query/sort_key.h"

/* Rows in order. `row` of a row is the generation of its entity; GONE: the row left the list. */
enum { ROWS_BEHIND = 4 }; /* the room of a run is larger than its rows by this, at least */
typedef struct row_run {
    order_row *rows;
    size_t count, room;
    uint32_t *directory; /* entry i: keys from lowest + (i << shift) on */
    uint32_t entries, directory_room, shift;
    uint64_t lowest;
} row_run;

typedef struct row_list {
    row_run main, changes;
    order_row *spare; /* where changes are merged next */
    size_t spare_room;
} row_list;

/* Makes it the list of rows, which are ordered and have this room; the list becomes the owner of their memory. False:
 * no memory, and the list is empty. */
bool reef__list_fill(row_list *l, memory *m, order_row *rows, size_t count, size_t room);
/* Takes rows out, which are in the list, as GONE, and puts others in, which aren't in it then. The changes are ordered;
 * of a row that is gone and the same one that comes, either may be first. False: no memory, and the list is of no use
 * any more. */
bool reef__list_change(row_list *l, memory *m, const order_row *changes, size_t count);
/* Makes a second list with the same rows. False: no memory, and *to is empty. */
bool reef__list_copy(row_list *to, memory *m, const row_list *from);
void reef__list_drop(row_list *l, memory *m);

/* The first row whose key isn't below this one. */
INLINE const order_row *run_from(const row_run *x, uint64_t key)
{
    if (x->count == 0 || key <= x->lowest) return x->rows;
    const uint64_t entry = (key - x->lowest) >> x->shift;
    if (entry >= x->entries) return x->rows + x->count;
    const order_row *low = x->rows + x->directory[entry], *high = x->rows + x->directory[entry + 1];
    while (UNLIKELY(high - low > ROWS_BEHIND)) {
        const order_row *middle = low + (high - low) / 2;
        if (middle->key < key) low = middle + 1;
        else high = middle;
    }
    uint32_t below = 0; /* without a branch: rows behind the entry have larger keys */
    for (uint32_t i = 0; i < ROWS_BEHIND; i++) below += low[i].key < key;
    return low + below;
}

/* Rows whose keys are in a range. */
row_range reef__list_range(const row_list *l, uint64_t lowest, uint64_t highest);
uint64_t reef__range_count(const row_range *r);
/* The row before the end. NULL: there is none. */
const order_row *reef__range_last(row_range *r);

#endif
