/* Which subtypes of a base an entity has, for the slow part of the calls on single entities. */
#ifndef REEF_STORAGE_SUBTYPE_H
#define REEF_STORAGE_SUBTYPE_H

#include "base/platform.h"
#include "type/type.h"
#include "reef/subtype.h"

/* The only subtype of a base that the entity has. REEF_OK and its id, or REEF_NOT_ALIVE, REEF_UNKNOWN_TYPE (a strict
 * world doesn't know the base), REEF_ABSENT or REEF_AMBIGUOUS. The base itself doesn't count. */
reef_status reef__subtype_find(const reef_world *w, reef_entity e, const type *base, uint32_t *found);
bool reef__subtype_any(const reef_world *w, reef_entity e, const type *base);
/* The component that a call with `c` means: c, if the entity has c itself; otherwise its only subtype, if there is
 * one. */
reef_component reef__subtype_instead(const reef_world *w, reef_entity e, reef_component c);
INLINE reef_component component_meant(const reef_world *w, reef_entity e, reef_component c)
{
    const type *t = reef__type_of(c.id);
    return LIKELY(t == NULL || !has_subtypes(t)) ? c : reef__subtype_instead(w, e, c);
}

#endif
