/* Lists of types in the order of their names (src/type/type_walk.h). */
#include "type/type_walk.h"

int reef__ids_compare(uint32_t a, uint32_t b) { return a == b ? 0 : reef__type_compare(type_known(a), type_known(b)); }

/* Insertion sort, since sets are short and mostly sorted; with gaps (Shell's sort) for long ones. */
void reef__ids_sort(uint32_t *ids, uint32_t count)
{
    for (uint32_t gap = count > 32 ? count / 2 : 1; gap; gap = gap > 2 ? gap * 5 / 11 : gap == 2) {
        for (uint32_t i = gap; i < count; i++) {
            uint32_t x = ids[i], j = i;
            for (; j >= gap && reef__ids_compare(ids[j - gap], x) > 0; j -= gap) ids[j] = ids[j - gap];
            ids[j] = x;
        }
    }
}
