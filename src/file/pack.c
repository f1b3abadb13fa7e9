/* Packing values for files. On a little-endian machine most types are flat: their bytes in memory are those in the
 * file, and this code isn't needed. */
#include "file/pack.h"
#include "base/platform.h"
#include "type/type.h"
#include "type/type_rules.h"
#include "type/value.h"
#include "system/script.h"

bool reef__pack_by_address(const type *t, pack_form form)
{
    const reef_hooks *h = &t->hooks;
    if (form != PACK_HERE || t->size == 0 || t->resets || t->owner || t->split || t->relation) return false;
    if (t->id == reef__scripts_type()) return false; /* scripts are found by the names of their classes */
    if (h->copy || h->move || h->destroy) return true;
    return t->field_count && !reef__fields_cover(t->fields, t->field_count, t->size, t->align);
}

reef_status reef__pack_allowed(const type *t, pack_form form)
{
    if (reef__pack_by_address(t, form)) return t->copyable ? REEF_OK : REEF_NOT_COPYABLE;
    /* the data of a relation, which isn't described, is a field of bytes */
    const bool bytes = t->data && REEF_ACQUIRE_POINTER(&t->data->fields) == NULL;
    if (t->size == 0 || t->resets || (REEF_ACQUIRE_POINTER(&t->fields) && !bytes)) return REEF_OK;
    if (t->hooks.destroy || !t->plain_copy || !t->plain_move) return REEF_NOT_COPYABLE;
    return form != PACK_PORTABLE ? REEF_OK : REEF_NOT_PORTABLE;
}

uint32_t reef__pack_bytes(const type *t, pack_form form)
{
    uint32_t n = 0;
    if (t->size == 0 || t->resets || reef__pack_allowed(t, form) != REEF_OK) return 0;
    if (reef__pack_by_address(t, form)) return sizeof(void *);
    if (REEF_ACQUIRE_POINTER(&t->fields) == NULL) return t->size;
    for (uint32_t i = 0; i < t->field_count; i++) n += t->fields[i].bytes;
    return n;
}

void reef__pack_field(const reef_field *f, unsigned char *to, const unsigned char *from)
{
    /* A handle is two numbers of 4 bytes. */
    const uint32_t size = HOST_IS_LITTLE ? 1 : f->kind == REEF_ENTITY ? 4 : reef__kind_size(f->kind);
    if (size == 1) {
        memcpy(to, from, f->bytes);
        return;
    }
    for (uint32_t at = 0; at < f->bytes; at += size)
        for (uint32_t i = 0; i < size; i++) to[at + i] = from[at + size - 1 - i];
}

void reef__pack_values(const type *t, pack_form form, unsigned char *to, const void *from, size_t n)
{
    const unsigned char *value = from;
    if (reef__pack_by_address(t, form)) {
        for (size_t k = 0; k < n; k++, value += t->size) memcpy(to + k * sizeof value, &value, sizeof value);
        return;
    }
    if (REEF_ACQUIRE_POINTER(&t->fields) == NULL) {
        memcpy(to, value, n * t->size);
        return;
    }
    for (size_t k = 0; k < n; k++, value += t->size)
        for (uint32_t i = 0; i < t->field_count; to += t->fields[i++].bytes)
            reef__pack_field(&t->fields[i], to, value + t->fields[i].offset);
}

bool reef__pack_equal(const type *t, const void *p, const void *q)
{
    return t->size == 0 || t->resets || p == q || reef__value_equal(t, p, q);
}
