/* Types in the order of their names: sorting ids, and visiting types without a sorted list. Then each step looks at all
 * candidates and takes the first one behind the last, which costs n * n comparisons for n types, and no memory. */
#ifndef REEF_TYPE_TYPE_WALK_H
#define REEF_TYPE_TYPE_WALK_H

#include "type/type.h"

int reef__ids_compare(uint32_t a, uint32_t b); /* as strcmp of the names */
void reef__ids_sort(uint32_t *ids, uint32_t count);

/* Is t behind `last`, and before the best candidate so far? `last` NULL: nothing was visited yet. `best` NULL: t is the
 * first candidate. */
INLINE bool type_is_next(const type *t, const type *last, const type *best)
{
    return (last == NULL || reef__type_compare(t, last) > 0) && (best == NULL || reef__type_compare(t, best) < 0);
}

/* The one whose name comes first, of two types of which one may be NULL. */
INLINE const type *type_first(const type *a, const type *b)
{
    return b == NULL || (a && reef__type_compare(a, b) <= 0) ? a : b;
}

#endif
