/* Types with a unique field (reef_hooks.unique): no two entities of a world have the same value of it.
 *
 * Every value of such a type is made by reef__value_put (src/change/apply.c), since the type counts as one with hooks:
 * all short ways are closed to it. There the value is entered into a table from values to entities:
 *
 *     value ──► entity, operation       open addressing; an entry is never taken out
 *
 * An entry says who got the value last. It counts if that entity still has the value, which is looked up in the world,
 * or if it was entered by the operation that runs: then the entity may get it in the end. So what ends values (setting
 * others, removing, destroying, an operation that fails) does nothing here. A table that is full is made anew of the
 * entries that count.
 *
 * The table is no part of the state. A world that has another state has none, and makes it of all values when the next
 * one comes. */
#ifndef REEF_STORAGE_UNIQUE_FIELD_H
#define REEF_STORAGE_UNIQUE_FIELD_H

#include "storage/world_data.h"

/* A program whose types have no hooks is linked without this code, since nothing leads there but this table: a type
 * with hooks brings it along when it is declared or made at run time (reef_bring_hooks_). */
typedef struct unique_calls {
    /* e is about to get this value. EXISTS: another entity has it, or gets it in this operation; w->taken says which
     * one. BAD_ARGUMENT: the type has no such field. NO_MEMORY. */
    reef_status (*enter)(reef_world *w, reef_entity e, const type *t, const void *value);
    /* Forgets all tables: the world has another state, or ends. */
    void (*drop)(reef_world *w);
    reef_status (*validate)(const reef_world *w, char *message, size_t size);
} unique_calls;

/* NULL as long as no type has hooks. It is set once, before the first one is registered. */
extern const unique_calls *reef__uniques_by;
extern const unique_calls reef__unique_calls;

INLINE void uniques_drop(reef_world *w)
{
    if (UNLIKELY(w->uniques != NULL)) reef__uniques_by->drop(w);
}
INLINE reef_status uniques_validate(const reef_world *w, char *message, size_t size)
{
    return reef__uniques_by ? reef__uniques_by->validate(w, message, size) : REEF_OK;
}

#endif
