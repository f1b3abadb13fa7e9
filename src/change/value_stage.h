/* The values of a change of one entity: how they are prepared, made and committed, and what has to be done with the
 * stored values (src/storage/sparse_store.h) of an entity that is destroyed or copied. */
#ifndef REEF_CHANGE_VALUE_STAGE_H
#define REEF_CHANGE_VALUE_STAGE_H

#include "storage/row_bits.h"
#include "reef/component.h"

typedef struct value_stage {
    reef_world *w;
    reef_entity e;
    const reef_value *values;
    uint32_t count, n;  /* n: of arrays, the number of the value that the entity gets */
    uint32_t id, place; /* the table and the place of its row; TABLE_EMPTY: it has no columns */
    bool fresh;         /* nobody sees the row yet: values of columns are new */
    bool stored;        /* some values go to stores */
    call_memory aside;  /* where new values wait that will replace others */
} value_stage;
INLINE void stage_begin(value_stage *x, reef_world *w, reef_entity e, const reef_value *values, uint32_t count,
                        uint32_t n, uint32_t id, uint32_t place, bool fresh, bool stored)
{
    x->w = w, x->e = e, x->values = values, x->count = count, x->n = n;
    x->id = id, x->place = place, x->fresh = fresh, x->stored = stored;
}

bool reef__values_stored(const reef_value *values, uint32_t count); /* is one of them in a store? */
/* Makes ready the pages of values that are in stores or replaced, stamps, and room in logs. False: no memory. */
bool reef__stage_prepare(value_stage *x);
/* Makes the values where nobody sees them. If it fails, nothing is left of them; otherwise the commit has to follow. */
reef_status reef__stage_make(value_stage *x);
void reef__stage_commit(value_stage *x);

/* The entity was made last, with these values, and is unmade: values that were moved go back to where they came from.
 */
void reef__stage_unmake(value_stage *x);

/* One value that waits aside, or in its place: its size and alignment, of REEF_SHARED those of its address; making it
 * in raw memory, and taking it back: it is destroyed, or moves back to where it came from. */
INLINE size_t staged_bytes(const type *t) { return t->home == REEF_SHARED ? sizeof(void *) : t->size; }
INLINE size_t staged_align(const type *t) { return t->home == REEF_SHARED ? sizeof(void *) : t->align; }
reef_status reef__staged_put(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t n);
void reef__staged_take_back(const type *t, void *slot, const reef_value *v, uint32_t n);

/* Destroy all stored values of an entity, and prepare for that; reef__stored_prepare_end_many does so for n entities
 * that end one after the other, reef__stored_prepare_end_all for all pages of all stores. */
bool reef__stored_prepare_end(reef_world *w, reef_entity e);
bool reef__stored_prepare_end_many(reef_world *w, const reef_entity *e, uint32_t n);
void reef__stored_end(reef_world *w, reef_entity e);
void reef__stored_end_many(reef_world *w, const reef_entity *e, uint32_t n); /* the last one first */
/* has it a value in a home that its row doesn't know of (REEF_COLD)? */
bool reef__cold_some(const reef_world *w, reef_entity e);
bool reef__stored_prepare_end_all(reef_world *w);
bool reef__stores_tracked(const reef_world *w); /* are the values of some store stamped? */

/* The first type, by name, among the entity's stored ones that can't be copied. NULL: there is none. */
const type *reef__stored_bound(const reef_world *w, reef_entity e);
/* Lists the entity's stored values in `values`, which has room for all. The answer is how many. `halves`: with
 * symmetric relations, of which these are only one half. */
uint32_t reef__stored_values(const reef_world *w, reef_entity e, reef_value *values, bool halves);
/* Does an entity that gets this value have a row, even if only one of the empty set? (All that lies outside of tables
 * needs one: so loops find the entity, and in the same order as in any other home.) */
INLINE bool value_is_outside(const reef_value *v) { return value_is_bit(v) || reef__type_of(v->component.id)->stored; }
/* Does the entity keep a value of REEF_COLD after these changes? */
bool reef__cold_remains(const reef_world *w, reef_entity e, const reef_value *values, uint32_t count);

#endif
