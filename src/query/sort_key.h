/* Keys to sort rows by: what a reef_order means, the keys of a whole chunk, and sorting by them. */
#ifndef REEF_QUERY_SORT_KEY_H
#define REEF_QUERY_SORT_KEY_H

#include "storage/archetype.h"
#include "reef/detail/layout.h"
#include "reef/order.h"

typedef struct ordering {
    const type *type; /* NULL: by entity */
    reef_key key;     /* NULL: by the number at `offset` */
    uint32_t offset, stride;
    uint32_t bytes; /* length of a REEF_CHAR field */
    reef_kind kind;
    uint64_t flip;        /* all bits when the order is descending */
    bool pool;            /* by where the values lie in their store */
    const type *relation; /* parents before their children, or by target (src/query/relation_order.h); NULL: neither */
    const uint32_t *rank; /* for sorting storage by a relation: keys by entity index */
} ordering;

/* Finds out what an order means. UNKNOWN_TYPE, BAD_ARGUMENT: *out isn't changed. */
reef_status reef__order_resolve(const reef_world *w, const reef_order *given, ordering *out);
/* Are the keys those of values in stores? */
INLINE bool order_is_stored(const ordering *o) { return o->type && o->type->stored; }
/* The component that the order is by; 0: by entity. */
INLINE uint32_t order_component(const ordering *o) { return o->relation ? o->relation->id : o->type ? o->type->id : 0; }
/* The slot of the column that reef__order_chunk takes keys from, 0 if the table hasn't got the component. (Any table
 * may have entities with a stored component.) */
INLINE uint32_t order_slot(const reef_world *w, const ordering *o, uint32_t table_id)
{
    if (order_is_stored(o)) return SLOT_ENTITIES;
    return o->type ? reef__slot_seek(w, o->type->id, table_id) : SLOT_ENTITIES;
}
/* Computes the keys of the rows of a chunk: all ones for a row without the stored component. The answer is how many
 * rows have it. */
uint32_t reef__order_chunk(const reef_world *w, const ordering *o, const reef_slot *slots, uint32_t slot, uint32_t rows,
                           uint64_t *keys);
/* Computes the keys of `rows` values that lie side by side. They are handles when the order is by entity. */
void reef__order_keys(const ordering *o, const void *values, uint32_t rows, uint64_t *keys);
/* Sorts rows by key and equal ones by index, in O(count); the sort is stable. `scratch` has room for as many rows. The
 * result is in one of the two, which is given back. */
typedef struct order_row {
    uint64_t key;
    uint32_t index, row; /* index of the entity; any number that is moved along */
} order_row;
order_row *reef__order_rows(order_row *rows, order_row *scratch, size_t count);
/* In sorted rows, the number of the first one whose key isn't below `key`, or, with `above`, is above it. */
INLINE size_t rows_bound(const order_row *rows, size_t count, uint64_t key, bool above)
{
    size_t low = 0;
    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        if (above ? rows[middle].key > key : rows[middle].key >= key) count = middle;
        else low = middle + 1;
    }
    return low;
}
INLINE bool row_is_before(const order_row *a, const order_row *b)
{
    return a->key != b->key ? a->key < b->key : a->index < b->index;
}
INLINE bool row_is_same(const order_row *a, const order_row *b) { return a->key == b->key && a->index == b->index; }

/* Rows of a list whose keys are in a range, from the first one on or from the last one back: those of a sorted run, and
 * changes of it (src/index/row_list.h). `row` of a change is the generation of its entity; GONE: it left the list. */
enum { GONE = 0 };
typedef struct row_range {
    const order_row *main, *main_end, *change, *change_end;
} row_range;
/* The next row. NULL: there is none. */
INLINE const order_row *range_next(row_range *r)
{
    for (; r->change < r->change_end; r->change++) {
        if (r->change->row != GONE && (r->main == r->main_end || !row_is_before(r->main, r->change)))
            return r->change++;
        if (r->change->row == GONE && r->main < r->main_end && row_is_same(r->main, r->change)) r->main++;
        else break;
    }
    return r->main < r->main_end ? r->main++ : NULL;
}

#endif
