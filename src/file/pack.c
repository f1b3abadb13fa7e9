/* Which values files contain. */
#include "file/pack.h"
#include "type/portable_bytes.h"
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
    if (t->size == 0 || t->resets || reef__pack_allowed(t, form) != REEF_OK) return 0;
    return reef__pack_by_address(t, form) ? sizeof(void *) : reef__portable_size(t);
}

void reef__pack_values(const type *t, pack_form form, unsigned char *to, const void *from, size_t n)
{
    const unsigned char *value = from;
    if (!reef__pack_by_address(t, form)) {
        reef__portable_values(t, to, from, n);
        return;
    }
    for (size_t k = 0; k < n; k++, value += t->size) memcpy(to + k * sizeof value, &value, sizeof value);
}

bool reef__pack_equal(const type *t, const void *p, const void *q)
{
    return t->size == 0 || t->resets || p == q || reef__value_equal(t, p, q);
}
