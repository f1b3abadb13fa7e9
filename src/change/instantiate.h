/* Copies of an entity and everything below it. */
#ifndef REEF_CHANGE_INSTANTIATE_H
#define REEF_CHANGE_INSTANTIATE_H

#include "reef/prefab.h"

/* Makes n copies of a tree: instances of a template with these values, or clones. The roots get the pending ids
 * `given`, or new ones, which are written to `roots` (NULL: nowhere). */
reef_status reef__tree_copy(reef_world *w, const char *op, reef_entity root, bool instance, uint32_t n,
                            reef_entity *roots, const reef_entity *given, const reef_value *values, uint32_t count);

/* A run of n instances. Each is `stride` bytes: {pending id, prefab, values that replace those of the prefab}. */
typedef struct packed_copies {
    const reef_value *values; /* of plain types in tables: which components each gets, and for which it has a value */
    uint32_t count;
    const char *rows;
    size_t stride;
    uint32_t n;
} packed_copies;
/* Makes several instances of one prefab together, the first of a run, if the prefab has no children and nobody could
 * tell that they weren't made one by one. The answer is how many; 0: nothing was done. */
uint32_t reef__copies_together(reef_world *w, const packed_copies *run);

#endif
