/* One value of a new row that lies outside of its table: a switch, or a value in a store of its own. As everywhere, it
 * is prepared, made and committed; the row's place is known, and nobody sees the row yet. */
#ifndef REEF_CHANGE_OUTSIDE_VALUE_H
#define REEF_CHANGE_OUTSIDE_VALUE_H

#include "type/value.h"
#include "storage/row_bits.h"
#include "storage/row_stamps.h"
#include "storage/sparse_store.h"
#include "change/apply.h"

/* May values of this type come so? Those that entities have in common, relations, and REEF_COLD go the general way. */
INLINE bool outside_value_simple(const type *t)
{
    return t->bit && !t->relation && t->home != REEF_SHARED && !t->need_count && !t->fixed;
}

INLINE bool outside_value_fits(const type *t, const reef_value *v)
{
    return outside_value_simple(t) && value_is_plain(t, v);
}

/* False: there is no memory. */
INLINE bool outside_value_prepare(reef_world *w, const type *t, reef_entity e, uint32_t table_id, uint32_t place)
{
    if (!reef__bit_prepare(w, t->id, table_id, place, true)) return false;
    return !t->stored ||
           (reef__store_prepare_add(w, t->id, &e, 1) && (!t->tracked || reef__track_prepare(w, t->id, &e, 1)));
}

/* Where the value is made. NULL: it has no bytes. */
INLINE char *outside_value_raw(const reef_world *w, const type *t, reef_entity e)
{
    return t->stored && t->size ? reef__store_raw(w, t->id, e) : NULL;
}

INLINE void outside_value_commit(reef_world *w, const type *t, reef_entity e, uint32_t place)
{
    reef__bit_commit(w, t->id, place, true);
    if (!t->stored) return;
    reef__store_commit_add(w, t->id, e);
    if (t->tracked) reef__track_stamp(w, t->id, e.index, true);
}

#endif
