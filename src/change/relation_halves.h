/* Symmetric relations: both halves come and end together. */
#ifndef REEF_CHANGE_RELATION_HALVES_H
#define REEF_CHANGE_RELATION_HALVES_H

#include "type/type.h"
#include "reef/entity.h"

/* Is the half of the source there, and the other one not? (reef_remove may have taken it.) */
bool reef__half_is_lost(const reef_world *w, reef_entity source, const type *t, reef_entity target);
/* Makes both halves, or the one of `a` if that of `b` is there. `data` is the whole data, NULL: zeroes, or that of the
 * half which is there; place 0: behind all others. ADDED, or a failure, which is recorded. */
reef_status reef__relate_both(reef_world *w, reef_entity a, const type *t, reef_entity b, const void *data,
                              uint64_t place);
/* Ends both halves. */
reef_status reef__unrelate_both(reef_world *w, reef_entity a, const type *t, reef_entity b);

#endif
