/* One value of a type: made from a list of values, moved, copied, compared. A plain value is copied as bytes; every
 * other value goes through the hooks of its type. */
#include "type/value.h"

void reef__value_move(const type *t, void *to, void *from)
{
    ASSERT(to != from);
    if (t->plain_move) bytes_copy(to, from, t->size);
    else t->hooks.move(t->hooks.context, to, from);
}

reef_status reef__value_copy(const type *t, void *to, const void *from)
{
    ASSERT(to != from);
    if (t->hooks.copy) return t->hooks.copy(t->hooks.context, to, from);
    bytes_copy(to, from, t->size);
    return REEF_OK;
}

void reef__values_fill(void *block, const void *value, size_t size, uint32_t rows)
{
    char *p = block;
    uint64_t word;
    if (size == 8) memcpy(&word, value, 8), fill_eight(block, word, rows);
    else
        for (uint32_t i = 0; i < rows; i++) bytes_copy(p + i * size, value, size);
}

bool reef__value_equal(const type *t, const char *p, const char *q)
{
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    if (fields == NULL) return memcmp(p, q, t->size) == 0;
    for (uint32_t i = 0; i < t->field_count; i++)
        if (memcmp(p + fields[i].offset, q + fields[i].offset, fields[i].bytes) != 0) return false;
    return true;
}

static bool value_is_array(const reef_value *v) { return v->kind == REEF_VALUE_ARRAY || v->kind == VALUE_MOVED_ARRAY; }

reef_status reef__value_make(reef_world *w, reef_entity e, const type *t, void *slot, const reef_value *v, uint32_t i)
{
    if (v->kind == REEF_VALUE_DEFAULT) {
        memset(slot, 0, t->size);
        return t->hooks.construct == NULL ? REEF_OK : t->hooks.construct(t->hooks.context, w, e, slot, v->data);
    }
    const char *from = (const char *)v->data + (value_is_array(v) ? (size_t)i * t->stride : 0);
    if (t->copyable && v->kind < VALUE_MOVED) return reef__value_copy(t, slot, from);
    /* otherwise it was made in the slot, as a value that can't move is */
    if (slot != from) reef__value_move(t, slot, (void *)(uintptr_t)from);
    return REEF_OK;
}

void reef__value_take_back(const type *t, void *slot, const reef_value *v, uint32_t i)
{
    if (v->kind == REEF_VALUE_DEFAULT || (t->copyable && v->kind < VALUE_MOVED)) value_destroy(t, slot);
    else reef__value_move(t, (char *)(uintptr_t)v->data + (value_is_array(v) ? (size_t)i * t->stride : 0), slot);
}

const char reef__part_text[] = "it comes with its type in REEF_SPLIT";
const char reef__no_value_text[] = "the value is NULL";

reef_status reef__value_sound(const reef_value *v, bool remove, uint32_t n, const char **why)
{
    const type *t = reef__type_of(v->component.id);
    *why = reef__part_text;
    if (t->owner) return REEF_BAD_ARGUMENT;
    *why = "this kind of value is wrong";
    switch (v->kind) {
    case REEF_VALUE_DEFAULT: return REEF_OK;
    case REEF_VALUE_REMOVE: return remove ? REEF_OK : REEF_BAD_ARGUMENT;
    case REEF_VALUE_ONE:
    case REEF_VALUE_ARRAY: break;
    default: return REEF_BAD_ARGUMENT;
    }
    if (v->size != t->size) return REEF_WRONG_SIZE;
    *why = reef__no_value_text;
    if (v->data == NULL && t->size != 0) return REEF_BAD_ARGUMENT;
    return !t->copyable && v->kind == REEF_VALUE_ONE && n > 1 ? REEF_NOT_COPYABLE : REEF_OK;
}
