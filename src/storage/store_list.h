/* storage/store_list: TODO */
#ifndef REEF_STORAGE_STORE_LIST_H
#define REEF_STORAGE_STORE_LIST_H

#include "type/type.h"
#include "storage/sparse_store.h"
#include "reef/type.h"

/* The store with values whose type follows `last` by name (NULL: the first); NULL at the end. */
const value_store *reef__store_after(const reef_world *w, const type *last);

/* Room for values of `count` new entities, whose ids are prepared. False: no memory. */
bool reef__stores_reserve(reef_world *w, const reef_component *types, uint32_t type_count, uint32_t count);
reef_status reef__stores_validate(const reef_world *w, char *message, size_t size);

#endif
