/* Orders, resolved: keys of whole blocks. */
#ifndef REEF_QUERY_SORT_KEY_H
#define REEF_QUERY_SORT_KEY_H

#include "base/platform.h"
#include "type/type.h"
#include "storage/archetype.h"
#include "storage/layout.h"
#include "reef/detail/layout.h"

typedef struct ordering {
    const type *type; /* NULL: by entity */
    reef_key key;     /* NULL: by the number at `offset` */
    uint32_t offset, stride;
    uint32_t bytes; /* of REEF_CHAR */
    reef_kind kind;
    uint64_t flip; /* all bits when descending */
    bool pool;     /* by where its values lie */
} ordering;

/* UNKNOWN_TYPE, BAD_ARGUMENT: *out isn't changed. */
reef_status reef__order_resolve(const reef_world *w, const reef_order *given, ordering *out);
/* Are the keys those of values outside of the rows? */
INLINE bool order_is_stored(const ordering *o) { return o->type && o->type->stored; }
/* The slot whose block order_keys takes, in a table that has the component: 0 if it hasn't. (Of a stored one any
 * table may have it.) */
INLINE uint32_t order_slot(const reef_world *w, const ordering *o, uint32_t table_id)
{
    if (order_is_stored(o)) return SLOT_ENTITIES;
    return o->type ? reef__slot_seek(w, o->type->id, table_id) : SLOT_ENTITIES;
}
/* The keys of the rows of a chunk: all ones where a row hasn't got a stored component. How many have it. */
uint32_t reef__order_chunk(const reef_world *w, const ordering *o, const reef_slot *slots, uint32_t slot, uint32_t rows,
                           uint64_t *keys);
/* Sorts rows by key, equal ones by index: O(count), stable. `scratch` has room for as many; the result is in one of
 * the two, which is returned. */
typedef struct order_row {
    uint64_t key;
    uint32_t index, row; /* of the entity; any number that goes along */
} order_row;
order_row *reef__order_rows(order_row *rows, order_row *scratch, size_t count);

#endif
