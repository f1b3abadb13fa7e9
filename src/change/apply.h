/* The general path of every change of one entity's components: add, set, ensure, remove, and several at once. */
#ifndef REEF_CHANGE_APPLY_H
#define REEF_CHANGE_APPLY_H

#include "type/type.h"
#include "reef/component.h"
#include "reef/entity.h"
#include "reef/detail/layout.h"

struct recorder;

/* What a list of values is for: an entity that is made, a copy that is made, an entity that is there. To a copy and to
 * an entity that is there, values may also say that a component goes. */
typedef enum values_use { VALUES_SPAWN, VALUES_COPY, VALUES_CHANGE } values_use;

/* Checks a list of values, for a call on the world or for the job that records it (`by`; NULL: none): each type is
 * known, none is named twice, each size is right, and the job's system declares it. It changes nothing. `n` is the
 * number of entities that will get the values. */
reef_status reef__values_check(reef_world *w, struct recorder *by, const char *op, reef_entity e,
                               const reef_value *values, uint32_t count, values_use use, uint32_t n);
/* reef__value_sound, for a caller that records the failure. */
reef_status reef__value_check(const reef_world *w, const reef_value *v, bool remove);
/* Makes value i of `v` in the raw memory `slot`, for entity e. */
reef_status reef__value_put(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t i);
/* The type of the column that a value goes to. NULL: it goes to none, or it says that the component goes. */
const type *reef__value_column(const reef_value *v);
/* Prepares table `to` to take n rows of `from`, with their bits. False: no memory. */
bool reef__arrive_prepare(reef_world *w, uint32_t from, uint32_t to, uint64_t n);
/* Prepares a row to leave its table, where the last row takes its place; its own bits aren't prepared. The answer is
 * the table. NULL: no memory. */
struct reef_table *reef__row_leave_prepare(reef_world *w, uint32_t place);
/* Moves e from `place` to table `to` and puts `values` there: values of columns and of stores, bits, and what is
 * removed outside of tables. On failure nothing has changed. */
reef_status reef__change_apply(reef_world *w, const char *op, reef_entity e, uint32_t place, uint32_t to,
                               reef_value *values, uint32_t count);

/* Makes the next row of a table, which is this world's own, for entity e, whose record and id are prepared, with number
 * n of these values; `stored`: some of them go to stores. On failure reef__table_trim is to follow. */
reef_status reef__row_make(reef_world *w, struct reef_table *t, reef_entity e, const reef_value *values, uint32_t count,
                           uint32_t n, bool stored);

/* Changes an entity by a list of values that were checked: it finds the table to which the list leads, with what comes
 * along as required, and does the above. *led: that table, if the list was all; 0: it wasn't. */
reef_status reef__list_apply(reef_world *w, const char *op, reef_entity e, const reef_value *values, uint32_t count,
                             uint32_t *led);
/* Which components of tables an entity of table `from` will have after a change by a list of reef__spread_make: fills
 * `ids`, with room for 2 * REEF_COMPONENTS_MAX; answers how many. */
uint32_t reef__set_after(const reef_world *w, uint32_t from, const reef_value *values, uint32_t count, uint32_t *ids);

#endif
