/* The values of a change that lie in stores (src/storage/sparse_store.h), and what goes with an entity that ends. */
#ifndef REEF_CHANGE_VALUE_STAGE_H
#define REEF_CHANGE_VALUE_STAGE_H

#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "storage/row_bits.h"
#include "reef/component.h"

/* What was made for values that replace others; a few bytes here, more from the heap. */
typedef struct stored_stage {
    _Alignas(BLOCK_ALIGN) char few[512];
    char *heap;
    size_t bytes, align;
} stored_stage;

bool reef__values_stored(const reef_value *values, uint32_t count); /* is one of them in a store? */
/* Pages, stamps, room in logs, for all values of a list that are in stores. False: no memory. */
bool reef__stored_prepare(reef_world *w, reef_entity e, const reef_value *values, uint32_t count);
/* Makes the values, unseen, of arrays those of number n; then either of the other two. A failure leaves nothing. */
reef_status reef__stored_make(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, uint32_t n,
                              stored_stage *x);
void reef__stored_undo(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, uint32_t n,
                       stored_stage *x);
void reef__stored_commit(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, stored_stage *x);

/* The entity was made with them last and isn't there: they go back to where they came from. */
void reef__stored_unmake(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, uint32_t n);

/* All stored values of an entity that ends; all pages of all stores, for many. */
bool reef__stored_prepare_end(reef_world *w, reef_entity e);
void reef__stored_end(reef_world *w, reef_entity e);
bool reef__cold_some(const reef_world *w, reef_entity e); /* has it a value that its row doesn't know of? */
bool reef__stored_prepare_end_all(reef_world *w);
bool reef__stores_tracked(const reef_world *w); /* does some type with a store have its rows stamped? */

/* The first type by name of an entity's stored ones that can't be copied; NULL: there is none. */
const type *reef__stored_bound(const reef_world *w, reef_entity e);
/* Its stored values as a list, in which there is room for all; how many. */
uint32_t reef__stored_values(const reef_world *w, reef_entity e, reef_value *values);
/* Does an entity that gets this value have a row, be it that of the empty set? (All that is outside of tables does:
 * so loops find it, and in the same order as in any other home.) */
INLINE bool value_is_outside(const reef_value *v) { return value_is_bit(v) || reef__type_of(v->component.id)->stored; }
/* Has the entity something cold that isn't to be removed? */
bool reef__cold_remains(const reef_world *w, reef_entity e, const reef_value *values, uint32_t count);

#endif
