/* Which values files contain. */
#include "file/pack.h"
#include "type/portable_bytes.h"
#include "type/type.h"
#include "type/value.h"

reef_status reef__pack_allowed(const type *t, bool raw)
{
    /* the data of a relation, which isn't described, is a field of bytes */
    const bool bytes = t->data && REEF_ACQUIRE_POINTER(&t->data->fields) == NULL;
    if (t->size == 0 || t->resets || (REEF_ACQUIRE_POINTER(&t->fields) && !bytes)) return REEF_OK;
    if (t->hooks.destroy || !t->plain_copy || !t->plain_move) return REEF_NOT_COPYABLE;
    return raw ? REEF_OK : REEF_NOT_PORTABLE;
}

uint32_t reef__pack_bytes(const type *t, bool raw)
{
    return t->size == 0 || t->resets || reef__pack_allowed(t, raw) != REEF_OK ? 0 : reef__portable_size(t);
}

bool reef__pack_equal(const type *t, const void *p, const void *q)
{
    return t->size == 0 || t->resets || p == q || reef__value_equal(t, p, q);
}
