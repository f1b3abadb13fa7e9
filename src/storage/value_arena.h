/* Memory for values that wait aside: they lie one behind the other in pieces, don't move, and are freed together. */
#ifndef REEF_STORAGE_VALUE_ARENA_H
#define REEF_STORAGE_VALUE_ARENA_H

#include "base/memory.h"

typedef struct value_arena { /* a piece, with its values behind this head; NULL: an empty arena */
    struct value_arena *next;
    size_t bytes, used;
} value_arena;

/* Makes room for values and the gaps between them, of so many bytes together. A new piece has at least `least` bytes.
 * False: there is no memory. */
bool reef__arena_room(memory *m, value_arena **a, uint64_t bytes, size_t least);
/* Takes memory for a value, for which there is room. */
void *reef__arena_take(value_arena *a, size_t bytes, size_t align);
/* Frees the piece that was made last. */
void reef__arena_drop(memory *m, value_arena **a);

#endif
