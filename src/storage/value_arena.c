/* Memory for values that wait aside (src/storage/value_arena.h). */
#include "storage/value_arena.h"

bool reef__arena_room(memory *m, value_arena **a, uint64_t bytes, size_t least)
{
    if (bytes == 0 || (*a && (*a)->bytes - (*a)->used >= bytes)) return true;
    if (bytes > SIZE_MAX - sizeof **a) return false;
    const size_t wanted = (size_t)bytes + sizeof **a, all = wanted > least ? wanted : least;
    value_arena *k = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, all, PLAIN_ALIGN);
    if (k == NULL) return false;
    *k = (value_arena){*a, all, sizeof *k};
    *a = k;
    return true;
}

void *reef__arena_take(value_arena *a, size_t bytes, size_t align)
{
    const uintptr_t at = ((uintptr_t)a + a->used + align - 1) & ~((uintptr_t)align - 1);
    a->used = (size_t)(at - (uintptr_t)a) + bytes;
    ASSERT(a->used <= a->bytes);
    return (void *)at;
}

void reef__arena_drop(memory *m, value_arena **a)
{
    value_arena *k = *a;
    *a = k->next;
    reef__memory_free(m, MEMORY_OTHER, k, k->bytes);
}
