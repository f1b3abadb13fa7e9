/* Which subtypes of a base an entity has, for the slow part of the calls on single entities. */
#ifndef REEF_STORAGE_SUBTYPE_H
#define REEF_STORAGE_SUBTYPE_H

#include "type/type.h"
#include "reef/subtype.h"

/* A program without subtypes is linked without this code, since nothing leads there but this table: a subtype brings it
 * along when it is declared or made at run time (reef_bring_subtypes_). */
typedef struct subtype_calls {
    /* The only subtype of a base that the entity has. REEF_OK and its id, or REEF_NOT_ALIVE, REEF_UNKNOWN_TYPE (a
     * strict world doesn't know the base), REEF_ABSENT or REEF_AMBIGUOUS. The base itself doesn't count. */
    reef_status (*find)(const reef_world *w, reef_entity e, const type *base, uint32_t *found);
    /* The component that a call with `c` means: c, if the entity has c itself; otherwise its only subtype, if there is
     * one. */
    reef_component (*instead)(const reef_world *w, reef_entity e, reef_component c);
} subtype_calls;

/* NULL as long as there is no subtype. It is set once, before the first one is registered. */
extern const subtype_calls *reef__subtypes_by;

INLINE bool has_a_subtype(const reef_world *w, reef_entity e, const type *base)
{
    uint32_t found;
    if (LIKELY(!has_subtypes(base))) return false;
    const reef_status s = reef__subtypes_by->find(w, e, base, &found);
    return s == REEF_OK || s == REEF_AMBIGUOUS;
}

INLINE reef_component component_meant(const reef_world *w, reef_entity e, reef_component c)
{
    const type *t = reef__type_of(c.id);
    return LIKELY(t == NULL || !has_subtypes(t)) ? c : reef__subtypes_by->instead(w, e, c);
}

#endif
