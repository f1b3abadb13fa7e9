/* The inlined half of references. This isn't part of the interface, and may change with every version. */
#ifndef REEF_DETAIL_REF_H
#define REEF_DETAIL_REF_H

#include "../ref.h"
#include "access.h"

REEF_BEGIN_C

/* Looks the value up and remembers it. `component`: what the caller believes the reference is to. */
REEF_API const void *reef_ref_seek_(const reef_world *world, reef_ref *ref, reef_component component, size_t size);
REEF_INLINE const void *reef_ref_get_id(const reef_world *world, reef_ref *ref)
{
    const reef_hot *h = REEF_RECAST(const reef_hot *, world);
    if (REEF_LIKELY(ref->moves == REEF_DEPENDENT(&h->moves) && ref->world == h->number) && !REEF_HELD_(world))
        return ref->value;
    return reef_ref_seek_(world, ref, ref->component, 0);
}
REEF_INLINE const void *reef_ref_get_decl(const reef_world *world, reef_ref *ref, reef_type_decl *decl, size_t size)
{
    const reef_hot *h = REEF_RECAST(const reef_hot *, world);
    if (REEF_LIKELY(ref->moves == REEF_DEPENDENT(&h->moves) && ref->world == h->number &&
                    ref->component.id == reef_id_now(decl).id) &&
        !REEF_HELD_(world))
        return ref->value;
    return reef_ref_seek_(world, ref, reef_id_of(decl), size);
}

REEF_END_C

#endif
