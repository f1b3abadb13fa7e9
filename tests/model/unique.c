/* Unique values in the reference: an entity can't get a value whose unique field another one has. Everybody is looked
 * at, and nothing is remembered. */
#include "reference.h"

static bool is_unique(uint32_t type) { return type < TYPES_MAX && model_types[type].unique != NULL; }

/* Has anybody but this entity such a value? */
static bool is_taken(const ref_world *r, uint32_t type, uint64_t value, reef_entity but)
{
    const uint64_t key = value_unique(&model_types[type], value);
    for (uint32_t i = 0; i < r->living_count; i++) {
        const ref_entity *e = &r->entity[r->living[i]];
        if (ref_has(e, type) && value_unique(&model_types[type], e->value[type]) == key &&
            !reef_entity_equal(ref_handle(r, r->living[i]), but))
            return true;
    }
    return false;
}

reef_status ref_unique_value(const ref_world *r, uint32_t type, uint64_t value, reef_entity to)
{
    return is_unique(type) && is_taken(r, type, value, to) ? REEF_EXISTS : REEF_OK;
}

/* Would two of n entities get the same? */
static bool is_given_twice(const ref_world *r, const ref_value *v, uint32_t n, uint64_t value)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < n; i++)
        same += value_unique(&model_types[v->type], ref_value_given(r, v, i, (reef_entity){0, 0})) ==
                value_unique(&model_types[v->type], value);
    return same > 1;
}

reef_status ref_unique_values(const ref_world *r, const ref_value *values, uint32_t count, uint32_t n, reef_entity to)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!is_unique(values[i].type) || values[i].how == HOW_REMOVE) continue;
        for (uint32_t k = 0; k < n; k++) {
            const uint64_t value = ref_value_given(r, &values[i], k, to);
            if (is_taken(r, values[i].type, value, to) || is_given_twice(r, &values[i], n, value)) return REEF_EXISTS;
        }
    }
    return REEF_OK;
}

reef_status ref_unique_copy(const ref_entity *e, uint32_t without)
{
    for (uint32_t t = 0; t < TYPES_MAX; t++)
        if (is_unique(t) && ref_has(e, t) && !(without >> t & 1)) return REEF_EXISTS;
    return REEF_OK;
}

bool ref_unique_in_both(const ref_world *r, const ref_world *from)
{
    const reef_entity nobody = {0, 0};
    for (uint32_t i = 0; i < from->living_count; i++) {
        const ref_entity *e = &from->entity[from->living[i]];
        for (uint32_t t = 0; t < TYPES_MAX; t++)
            if (is_unique(t) && ref_has(e, t) && is_taken(r, t, e->value[t], nobody)) return true;
    }
    return false;
}
