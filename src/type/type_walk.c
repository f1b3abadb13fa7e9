/* Lists of types in the order of their names (src/type/type_walk.h). */
#include "type/type_walk.h"

int reef__ids_compare(uint32_t a, uint32_t b) { return a == b ? 0 : reef__type_compare(type_known(a), type_known(b)); }

/* Does a come behind b? */
INLINE bool type_behind(const type *a, const type *b)
{
    return LIKELY(a->name_start != b->name_start) ? a->name_start > b->name_start : reef__type_compare(a, b) > 0;
}

/* Insertion sort, since sets are short and mostly sorted; with gaps (Shell's sort) for long ones. */
void reef__ids_sort(uint32_t *ids, uint32_t count)
{
    for (uint32_t gap = count > 32 ? count / 2 : 1; gap; gap = gap > 2 ? gap * 5 / 11 : gap == 2) {
        for (uint32_t i = gap; i < count; i++) {
            uint32_t x = ids[i], j = i;
            const type *t = type_known(x);
            for (; j >= gap && type_behind(type_known(ids[j - gap]), t); j -= gap) ids[j] = ids[j - gap];
            ids[j] = x;
        }
    }
}
