/* Which subtypes of a base an entity has. (src/type/type.c knows the subtypes of each type, src/query/subtype_terms.c
 * what queries make of them.)
 *
 * All of this is in the slow part of the calls. A type without subtypes costs one more load there. */
#include "storage/subtype.h"
#include "storage/entity_index.h"
#include "storage/known_types.h"
#include "storage/read.h"
#include "reef/subtype.h"

/* ---- types ---- */

COLD bool reef_is_subtype(reef_component c, reef_component base)
{
    const type *t = reef__type_of(c.id), *b = reef__type_of(base.id);
    return t && b && reef__is_subtype(t, b);
}

/* Keeps the first `room` types by name of ids that come one by one. The list stays sorted, so that no memory is
 * needed. */
static void name_put(reef_component *types, uint32_t room, uint32_t count, uint32_t id)
{
    const type *t = reef__type_of(id);
    uint32_t at = count < room ? count : room;
    while (at && reef__type_compare(reef__type_of(types[at - 1].id), t) > 0) at--;
    if (at == room) return;
    const uint32_t last = count < room ? count : room - 1;
    memmove(&types[at + 1], &types[at], (last - at) * sizeof *types);
    types[at].id = id;
}

COLD uint32_t reef_subtypes(reef_component base, reef_component *types, uint32_t room)
{
    const type *t = reef__type_of(base.id);
    uint32_t count = 0;
    const uint32_t *ids = t ? reef__subtypes_of(t, &count) : NULL;
    for (uint32_t i = 0; types && i < count; i++) name_put(types, room, i, ids[i]);
    return count;
}

/* ---- entities ---- */

static COLD reef_status subtype_find(const reef_world *w, reef_entity e, const type *base, uint32_t *found)
{
    uint32_t count, n = 0;
    *found = 0;
    if (place_of(w, e) == PLACE_DEAD) return REEF_NOT_ALIVE;
    if (!reef__world_knows(w, base->id)) return REEF_UNKNOWN_TYPE;
    const uint32_t *ids = reef__subtypes_of(base, &count);
    for (uint32_t i = 0; i < count && n < 2; i++) {
        if (!has_itself(w, e, reef__type_of(ids[i]))) continue;
        *found = ids[i];
        n++;
    }
    if (n == 1) return REEF_OK;
    *found = 0;
    return n ? REEF_AMBIGUOUS : REEF_ABSENT;
}

static COLD reef_component subtype_instead(const reef_world *w, reef_entity e, reef_component c)
{
    const type *t = reef__type_of(c.id);
    uint32_t found;
    if (has_itself(w, e, t)) return c;
    return subtype_find(w, e, t, &found) == REEF_OK ? (reef_component){found} : c;
}

void reef_bring_subtypes_(void)
{
    static const subtype_calls calls = {.find = subtype_find, .instead = subtype_instead};
    if (reef__subtypes_by == NULL) reef__subtypes_by = &calls; /* under the lock of the list of types */
}

COLD reef_status reef_find_sub_id(const reef_world *w, reef_entity e, reef_component base, reef_component *found)
{
    const type *t = reef__type_of(base.id);
    uint32_t id = 0;
    reef_status s = REEF_BAD_ARGUMENT;
    if (WORLD_GIVEN(w)) s = t ? subtype_find(w, e, t, &id) : REEF_UNKNOWN_TYPE;
    if ((s == REEF_OK || s == REEF_ABSENT || s == REEF_AMBIGUOUS) && has_itself(w, e, t)) {
        id = base.id;
        s = REEF_OK;
    }
    if (found) found->id = id;
    return s;
}

COLD uint32_t reef_find_subs_id(const reef_world *w, reef_entity e, reef_component base, reef_component *types,
                                uint32_t room)
{
    const type *t = reef__type_of(base.id);
    uint32_t count, n = 0;
    if (!WORLD_GIVEN(w) || t == NULL || !reef__world_knows(w, base.id)) return 0;
    const uint32_t *ids = reef__subtypes_of(t, &count);
    for (uint32_t i = 0; i <= count; i++) {
        const uint32_t id = i < count ? ids[i] : base.id;
        if (!has_itself(w, e, reef__type_of(id))) continue;
        if (types) name_put(types, room, n, id);
        n++;
    }
    return n;
}
