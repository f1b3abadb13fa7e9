/* Stores of values outside of the rows, taken together: making room in them for new entities, and validation. */
#ifndef REEF_STORAGE_STORE_LIST_H
#define REEF_STORAGE_STORE_LIST_H

#include "storage/sparse_store.h"
#include "reef/type.h"

/* Makes room for the values of `count` new entities, whose ids are prepared. False: there is no memory. */
bool reef__stores_reserve(reef_world *w, const reef_component *types, uint32_t type_count, uint32_t count);
reef_status reef__stores_validate(const reef_world *w, char *message, size_t size);
/* Only this: each value belongs to an entity that is alive and has a row. What follows relations relies on it. */
reef_status reef__stores_validate_owners(const reef_world *w, char *message, size_t size);

#endif
