/* storage/multi_store: TODO */
#ifndef REEF_STORAGE_MULTI_STORE_H
#define REEF_STORAGE_MULTI_STORE_H

#include "type/type.h"
#include "storage/sparse_store.h"
#include "reef/type.h"

/* That one entity can have. */
uint32_t reef__multi_most(const value_store *s);
/* Room behind the entity's values, which move when their run is full. False: no memory. */
bool reef__run_extend(reef_world *w, value_store *s, const type *t, reef_entity e);
void reef__slot_owner_put(const value_store *s, uint32_t slot, reef_entity e);
uint32_t *reef__run_word(const value_store *s, uint32_t slot);
const void *reef__span_of(const reef_world *w, reef_entity e, reef_component c, const void *first, uint32_t *count);

/* How many values of the type the entity has, in any home. */
uint32_t reef__store_values(const reef_world *w, const type *t, reef_entity e);

/* Number i of an entity's values; NULL: there are fewer. */
const void *reef__store_nth(const value_store *s, reef_entity e, uint32_t i);

/* Of a store of REEF_MULTI: how many the entity, which has some, has. */
uint32_t reef__multi_values(const value_store *s, reef_entity e);

/* Runs for n more entities, of `values` values each: free ones, whose pages are ours; in which the next one's values
 * are made; it is that of the entity now. False: no memory. */
bool reef__multi_prepare(reef_world *w, value_store *s, const reef_entity *e, uint32_t n, uint32_t values);
void *reef__multi_raw(const value_store *s, uint32_t values);
void reef__multi_put(reef_world *w, value_store *s, reef_entity e, uint32_t values);
void reef__multi_forget(reef_world *w, value_store *s, reef_entity e); /* its values were ended */
const char *reef__multi_wrong(const value_store *s, uint64_t *number); /* NULL: it is sound */

#endif
