/* Values of a type: making, moving, copying, comparing and destroying one of them. Plain types cost a memcpy. */
#ifndef REEF_TYPE_VALUE_H
#define REEF_TYPE_VALUE_H

#include "type/type.h"
#include "reef/component.h"

static inline void bytes_copy(void *restrict to, const void *restrict from, size_t size)
{
    switch (size) {
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 12: memcpy(to, from, 12); break;
    case 16: memcpy(to, from, 16); break;
    case 32: memcpy(to, from, 32); break;
    default: memcpy(to, from, size); break;
    }
}
INLINE void value_destroy(const type *t, void *p)
{
    if (UNLIKELY(t->hooks.destroy != NULL)) t->hooks.destroy(t->hooks.context, p);
}
/* Does a field of the type hold handles of entities? (The target of a relation counts apart.) */
INLINE bool type_names_entities(const type *t)
{
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    for (uint32_t i = 0; fields && i < t->field_count; i++)
        if (fields[i].kind == REEF_ENTITY) return true;
    return false;
}
/* Kinds of values that only reef uses: values that were made before and are moved to their places, one or an array. */
#define VALUE_MOVED ((reef_value_kind)(REEF_VALUE_REMOVE + 1))
#define VALUE_MOVED_ARRAY ((reef_value_kind)(REEF_VALUE_REMOVE + 2))
/* All values that an entity has of a type in REEF_MULTI, copied; `size` says how many. In a list right behind another
 * value of the type: those that a new entity gets behind that one. */
#define VALUE_SPAN ((reef_value_kind)(REEF_VALUE_REMOVE + 3))
/* The REEF_SHARED value to which `data` points, which gets one more holder. */
#define VALUE_HELD ((reef_value_kind)(REEF_VALUE_REMOVE + 4))

/* Why a type that is a part of another one is refused, and a value that isn't there. */
extern const char reef__part_text[], reef__no_value_text[];

/* Checks everything about a value that can be checked without the world. *why: what is wrong, if it is a
 * BAD_ARGUMENT. */
reef_status reef__value_sound(const reef_value *v, bool remove, uint32_t n, const char **why);

/* Is this a value that a type without hooks can take as it is: bytes of its size, or a default value? */
INLINE bool value_is_plain(const type *t, const reef_value *v)
{
    return v->kind == REEF_VALUE_DEFAULT ||
           (v->kind == REEF_VALUE_ONE && v->size == t->size && (t->size == 0 || v->data != NULL));
}
/* Writes such a value. */
INLINE reef_status plain_write(char *to, const reef_value *v, size_t size)
{
    if (v->kind == REEF_VALUE_ONE) bytes_copy(to, v->data, size);
    else memset(to, 0, size);
    return REEF_OK;
}

/* Makes a value in a slot. The failure of a hook isn't noted in the world. */
reef_status reef__value_make(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t i);

/* Undoes reef__value_make: the slot is raw memory again, and what was moved out of the caller's value goes back
 * there. */
void reef__value_take_back(const type *t, void *slot, const reef_value *v, uint32_t i);

/* Moves or copies one value to raw memory; plain types cost a memcpy. */
void reef__value_move(const type *t, void *to, void *from);
reef_status reef__value_copy(const type *t, void *to, const void *from); /* REEF_OK, or what the hook answers */
/* compares the fields, if the type has any, else all bytes */
bool reef__value_equal(const type *t, const char *p, const char *q);
/* writes the same plain value to each row */
void reef__values_fill(void *block, const void *value, size_t size, uint32_t rows);

#endif
