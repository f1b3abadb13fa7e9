/* Changing what an entity has: one path for add, set, ensure, remove and several at once. */
#ifndef REEF_CHANGE_H
#define REEF_CHANGE_H

#include "storage/table.h"

/* Kinds of values of reef's own: made aside before, moved into their places; one, and as REEF_VALUE_ARRAY. */
#define VALUE_MOVED ((reef_value_kind)(REEF_VALUE_REMOVE + 1))
#define VALUE_MOVED_ARRAY ((reef_value_kind)(REEF_VALUE_REMOVE + 2))
/* All values that an entity has of a type in REEF_MULTI, copied: `size` says how many. */
#define VALUE_SPAN ((reef_value_kind)(REEF_VALUE_REMOVE + 3))
/* The value in REEF_SHARED that `data` is: held once more. */
#define VALUE_HELD ((reef_value_kind)(REEF_VALUE_REMOVE + 4))

/* The world may use the type, and its maps reach it. UNKNOWN_TYPE, NO_MEMORY. */
reef_status type_ready(reef_world *w, uint32_t component);
/* A list of values is sound: known types, no doubles, sizes. Fills in nothing. `n`: entities to be made. */
reef_status values_check(reef_world *w, const char *op, reef_entity e, const reef_value *values, uint32_t count, bool remove,
                         uint32_t n);
/* What can be told of one value without the world. */
reef_status value_sound(const reef_value *v, bool remove, uint32_t n);
/* Puts value i of `v` into the raw memory `slot` of entity e. */
reef_status value_put(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t i);
/* The same without a word to the world of which type it was that failed. */
reef_status value_make(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t i);
/* The slot is raw memory again, as before value_put: what was moved out of the caller's value goes back there. */
void value_take_back(const type *t, void *slot, const reef_value *v, uint32_t i);
/* Moves e to table `to`, where `values` (of table and bit home, removals included for bits) are put. All or nothing. */
reef_status change_apply(reef_world *w, const char *op, reef_entity e, uint32_t place, uint32_t to, reef_value *values,
                         uint32_t count);
/* The same with a command's values, which were checked: reef_change, reef_set, reef_add (`absent`: EXISTS if it is there). */
reef_status change_held(reef_world *w, const char *op, reef_entity e, reef_value *values, uint32_t count, bool absent);
/* The entities of a command, by ids that are pending. All or nothing. (src/change/spawn.c) */
reef_status spawn_pending(reef_world *w, const reef_entity *ids, uint32_t n, reef_value *values, uint32_t count);
reef_status clone_pending(reef_world *w, reef_entity source, const reef_entity *ids, uint32_t n);
/* n entities of table `id` with values that come from rows: of its columns (parts instead of what is split), of bits, of stores, marks by
 * their keys. All or nothing. */
reef_status spawn_copies(reef_world *w, const char *op, uint32_t id, reef_value *values, uint32_t count, uint32_t n, reef_entity *entities);

/* The table of the set of a list. 0: no memory, or a limit: then *status says. The type of the column that a value goes to; NULL: it
 * goes to none. (src/change/spawn.c) */
COLD uint32_t values_table(reef_world *w, const reef_value *values, uint32_t count, reef_status *status);
const type *value_column(const reef_value *v);

/* Names and room for free ids, so that these can be destroyed whose rows can leave their tables, and `more` that have no names
 * and aren't tracked. Destroys all rows of a table, in their order, when they are such and everything of it is ours. (src/change/destroy.c) */
bool destroy_prepare(reef_world *w, const reef_entity *e, uint64_t n, uint64_t more);
void destroy_rows(reef_world *w, uint32_t id);

#endif
