/* The REEF_MULTI home: several values of one type for an entity, side by side in a run of slots of the type's store. */
#ifndef REEF_STORAGE_MULTI_STORE_H
#define REEF_STORAGE_MULTI_STORE_H

#include "storage/sparse_store.h"
#include "reef/type.h"

/* The greatest number of values that one entity can have. */
uint32_t reef__multi_most(const value_store *s);
/* Makes room for one more value behind the entity's values, which move when their run is full. False: there is no
 * memory. */
bool reef__run_extend(reef_world *w, value_store *s, const type *t, reef_entity e);
void reef__slot_owner_put(const value_store *s, uint32_t slot, reef_entity e);
uint32_t *reef__run_word(const value_store *s, uint32_t slot);
const void *reef__span_of(const reef_world *w, reef_entity e, reef_component c, const void *first, uint32_t *count);

/* The number of values of the type that the entity has, in any home. */
uint32_t reef__store_values(const reef_world *w, const type *t, reef_entity e);

/* The number of values that an entity has in a store of any home. */
uint32_t reef__store_count(const value_store *s, reef_entity e);

/* Value number i of an entity; NULL: it has fewer. */
const void *reef__store_nth(const value_store *s, reef_entity e, uint32_t i);

/* The number of values of an entity that has some. */
uint32_t reef__multi_values(const value_store *s, reef_entity e);

/* For adding `values` values each to n entities that have none. reef__multi_prepare reserves the runs, on pages that
 * this world owns (false: there is no memory). reef__multi_raw is where the next entity's values are made, and
 * reef__multi_put gives that run to the entity. */
bool reef__multi_prepare(reef_world *w, value_store *s, const reef_entity *e, uint32_t n, uint32_t values);
void *reef__multi_raw(const value_store *s, uint32_t values);
void reef__multi_put(reef_world *w, value_store *s, reef_entity e, uint32_t values);
void reef__multi_forget(reef_world *w, value_store *s, reef_entity e); /* the entity's values have been ended */
const char *reef__multi_wrong(const value_store *s, uint64_t *number); /* what is wrong with the store; NULL: nothing */

#endif
