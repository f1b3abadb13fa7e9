/* Numbers of types and tables in a file, and ranks of versions in a record. Both are lists that grow; the versions are
 * sorted once, and a rank is found by bisection. */
#include "file/record.h"
#include "reef/compiler.h"
#include <stdlib.h>

bool reef__number_give(memory *m, number_list *l, uint32_t number, uint32_t id)
{
    if (!reef__array_room(m, MEMORY_OTHER, &l->ids, &l->room, number + 1, sizeof *l->ids) ||
        !reef__array_room(m, MEMORY_OTHER, &l->numbers, &l->number_room, id + 1, sizeof *l->numbers))
        return false;
    l->ids[number] = id;
    l->numbers[id] = number;
    if (number == l->count) l->count++;
    return true;
}

uint32_t reef__number_of(const number_list *l, uint32_t id)
{
    const uint32_t number = id < l->number_room ? l->numbers[id] : 0;
    return number < l->count && l->ids[number] == id ? number : NUMBER_NONE;
}

static void number_list_drop(memory *m, number_list *l)
{
    reef__memory_free(m, MEMORY_OTHER, l->ids, l->room * sizeof *l->ids);
    reef__memory_free(m, MEMORY_OTHER, l->numbers, l->number_room * sizeof *l->numbers);
}

/* Does the type have a size and no fields? */
static bool type_is_bare(uint32_t id)
{
    const type *t = reef__type_of(id);
    return t && t->size && REEF_ACQUIRE_POINTER(&t->fields) == NULL;
}

bool reef__numbering_type(numbering *n, uint32_t id)
{
    if (!reef__number_give(n->memory, &n->types, n->types.count, id)) return false;
    n->bare += type_is_bare(id);
    return true;
}

bool reef__numbering_outdated(const numbering *n)
{
    uint32_t bare = 0;
    for (uint32_t i = 0; i < n->types.count; i++) {
        const type *t = reef__type_of(n->types.ids[i]);
        if (t && t->hidden) return true; /* another type has its name now */
        bare += type_is_bare(n->types.ids[i]);
    }
    return bare != n->bare;
}

void reef__numbering_drop(numbering *n)
{
    if (n->memory == NULL) return;
    number_list_drop(n->memory, &n->types);
    number_list_drop(n->memory, &n->tables);
    *n = (numbering){.memory = n->memory};
}

/* ---- versions ---- */

bool reef__version_order_add(version_order *x, uint64_t version)
{
    if (!reef__array_room(x->memory, MEMORY_OTHER, &x->seen, &x->room, x->count + 1, sizeof *x->seen)) return false;
    x->seen[x->count++] = version;
    return true;
}

void reef__version_order_sort(version_order *x)
{
    uint32_t kept = 0;
    if (x->count > 1) qsort(x->seen, x->count, sizeof *x->seen, reef__numbers_compare);
    for (uint32_t i = 0; i < x->count; i++)
        if (i == 0 || x->seen[i] != x->seen[kept - 1]) x->seen[kept++] = x->seen[i];
    x->count = kept;
}

uint64_t reef__version_rank(const version_order *x, uint64_t version)
{
    uint32_t from = 0, to = x->count;
    while (from < to) {
        const uint32_t half = from + (to - from) / 2;
        if (x->seen[half] < version) from = half + 1;
        else to = half;
    }
    return UINT64_C(1) + from;
}

void reef__version_order_drop(version_order *x)
{
    reef__memory_free(x->memory, MEMORY_OTHER, x->seen, x->room * sizeof *x->seen);
    *x = (version_order){.memory = x->memory};
}
