/* Numbers of types and tables in a file: src/record.h. */
#include "record.h"

bool number_add(memory *m, uint32_t **list, uint32_t *count, uint32_t *room, uint32_t id)
{
    if (*count == *room) {
        const uint32_t more = *room ? *room * 2 : 32;
        uint32_t *bigger = memory_resize(m, MEMORY_OTHER, *list, *room * sizeof **list, more * sizeof **list, PLAIN_ALIGN);
        if (bigger == NULL) return false;
        *list = bigger;
        *room = more;
    }
    (*list)[(*count)++] = id;
    return true;
}

static bool type_is_bare(uint32_t id)
{
    const type *t = type_of(id);
    return t && t->size && REEF_ACQUIRE_POINTER(&t->fields) == NULL;
}

bool numbering_type(numbering *n, uint32_t id)
{
    if (!number_add(n->memory, &n->types, &n->type_count, &n->type_room, id)) return false;
    n->bare += type_is_bare(id);
    return true;
}
bool numbering_table(numbering *n, uint32_t id) { return number_add(n->memory, &n->tables, &n->table_count, &n->table_room, id); }

bool numbering_outdated(const numbering *n)
{
    uint32_t bare = 0;
    for (uint32_t i = 0; n->bare && i < n->type_count; i++) bare += type_is_bare(n->types[i]);
    return bare != n->bare;
}

void numbering_drop(numbering *n)
{
    if (n->memory == NULL) return;
    memory_free(n->memory, MEMORY_OTHER, n->types, n->type_room * sizeof *n->types);
    memory_free(n->memory, MEMORY_OTHER, n->tables, n->table_room * sizeof *n->tables);
    *n = (numbering){.memory = n->memory};
}
