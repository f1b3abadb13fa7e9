/* Portable bytes. On a little-endian machine most types are flat, and this code isn't needed. */
#include "type/portable_bytes.h"

bool reef__type_is_flat(const type *t)
{
    uint32_t at = 0;
    const reef_field *fields = REEF_ACQUIRE_POINTER(&t->fields);
    if (fields == NULL) return true;
    for (uint32_t i = 0; i < t->field_count; i++) {
        if (fields[i].offset != at || (!HOST_IS_LITTLE && reef__kind_size(fields[i].kind) > 1)) return false;
        at += fields[i].bytes;
    }
    return at == t->size;
}

uint32_t reef__portable_size(const type *t)
{
    uint32_t n = 0;
    if (REEF_ACQUIRE_POINTER(&t->fields) == NULL) return t->size;
    for (uint32_t i = 0; i < t->field_count; i++) n += t->fields[i].bytes;
    return n;
}

void reef__portable_copy(reef_kind kind, unsigned char *to, const unsigned char *from, size_t bytes)
{
    /* A handle is two numbers of 4 bytes. */
    const size_t size = HOST_IS_LITTLE ? 1 : kind == REEF_ENTITY ? 4 : reef__kind_size(kind);
    if (size == 1) memcpy(to, from, bytes);
    for (size_t at = 0; size > 1 && at < bytes; at += size)
        for (size_t i = 0; i < size; i++) to[at + i] = from[at + size - 1 - i];
}

void reef__portable_values(const type *t, unsigned char *to, const void *from, size_t n)
{
    const unsigned char *value = from;
    if (REEF_ACQUIRE_POINTER(&t->fields) == NULL) {
        memcpy(to, value, n * t->size);
        return;
    }
    for (size_t k = 0; k < n; k++, value += t->size)
        for (uint32_t i = 0; i < t->field_count; to += t->fields[i++].bytes)
            reef__portable_copy(t->fields[i].kind, to, value + t->fields[i].offset, t->fields[i].bytes);
}
