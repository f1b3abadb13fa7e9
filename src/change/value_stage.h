/* The values of a change that lie in stores (src/storage/sparse_store.h): how they are prepared, made and committed,
 * and what has to be done with the stored values of an entity that is destroyed or copied. */
#ifndef REEF_CHANGE_VALUE_STAGE_H
#define REEF_CHANGE_VALUE_STAGE_H

#include "base/memory.h"
#include "base/platform.h"
#include "type/type.h"
#include "storage/row_bits.h"
#include "reef/component.h"

/* Where new values wait that will replace others: a few bytes in here, more on the heap. */
typedef struct stored_stage {
    _Alignas(BLOCK_ALIGN) char few[512];
    char *heap;
    size_t bytes, align;
} stored_stage;

bool reef__values_stored(const reef_value *values, uint32_t count); /* is one of them in a store? */
/* Makes ready the pages, stamps and room in logs for all values of a list that are in stores. False: no memory. */
bool reef__stored_prepare(reef_world *w, reef_entity e, const reef_value *values, uint32_t count);
/* reef__stored_make makes the values where nobody sees them; of arrays it takes value n. If it fails, nothing is left
 * of them. If it succeeds, one of the other two has to follow. */
reef_status reef__stored_make(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, uint32_t n,
                              stored_stage *x);
void reef__stored_undo(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, uint32_t n,
                       stored_stage *x);
void reef__stored_commit(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, stored_stage *x);

/* The entity was made last, with these values, and is unmade: values that were moved go back to where they came from.
 */
void reef__stored_unmake(reef_world *w, reef_entity e, const reef_value *values, uint32_t count, uint32_t n);

/* Destroy all stored values of an entity, and prepare for that; reef__stored_prepare_end_all prepares all pages of all
 * stores, for many entities. */
bool reef__stored_prepare_end(reef_world *w, reef_entity e);
void reef__stored_end(reef_world *w, reef_entity e);
/* has it a value in a home that its row doesn't know of (REEF_COLD)? */
bool reef__cold_some(const reef_world *w, reef_entity e);
bool reef__stored_prepare_end_all(reef_world *w);
bool reef__stores_tracked(const reef_world *w); /* are the values of some store stamped? */

/* The first type, by name, among the entity's stored ones that can't be copied. NULL: there is none. */
const type *reef__stored_bound(const reef_world *w, reef_entity e);
/* Lists the entity's stored values in `values`, which has room for all. The answer is how many. */
uint32_t reef__stored_values(const reef_world *w, reef_entity e, reef_value *values);
/* Does an entity that gets this value have a row, even if only one of the empty set? (All that lies outside of tables
 * needs one: so loops find the entity, and in the same order as in any other home.) */
INLINE bool value_is_outside(const reef_value *v) { return value_is_bit(v) || reef__type_of(v->component.id)->stored; }
/* Does the entity keep a value of REEF_COLD after these changes? */
bool reef__cold_remains(const reef_world *w, reef_entity e, const reef_value *values, uint32_t count);

#endif
