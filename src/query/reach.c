/* What the rows of a block lead to: bound entities, and values of them, of ancestors and of relations. */
#include "reef/reach.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/error.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/relation_index.h"
#include "query/variables.h"
#include "query/query.h"
#include "query/relation_path.h"
#include "query/relation_plan.h"

uint32_t reef_variable(const reef_block *b, const char *name)
{
    const variable_names *names = b && name && b->loop.query ? reef__query_names(b->loop.query) : NULL;
    const uint32_t i = names && *name ? reef__name_seek(*names, REEF_VARIABLES_MAX, name) : REEF_VARIABLES_MAX;
    return i < REEF_VARIABLES_MAX ? i + 1 : 0;
}

const reef_entity *reef_bound(const reef_block *b, uint32_t variable)
{
    const query *q = b ? b->loop.query : NULL;
    const bool there = q && b->count && b->loop.walks && q->plan && q->plan->bindings && b->loop.bound;
    if (!there || variable == 0 || variable > q->plan->bindings->variables) return NULL;
    return b->loop.bound->lane[variable] + b->loop.first;
}

/* The term that gives the component by way of this variable. UINT32_MAX: there is none. */
static uint32_t reach_find(const query *q, uint32_t component, uint32_t variable)
{
    for (uint32_t i = 0; i < q->term_count; i++)
        if (q->terms[i].component.id == component && term_reaches(&q->terms[i], &q->facts[i]) &&
            reach_variable(&q->terms[i]) == variable)
            return i;
    return UINT32_MAX;
}

static const void *value_of(const query *q, uint32_t i, reef_entity e)
{
    return reef__component_holds(q, i, e) ? reef__value_itself(q->world, e, q->terms[i].component) : NULL;
}

/* Siblings have the same ancestors, and mostly lie side by side. */
typedef struct ancestor_value {
    reef_entity parent;
    const void *value;
} ancestor_value;

static const void *ancestor_value_of(const query *q, uint32_t i, reef_entity e, ancestor_value *last)
{
    reef_entity found;
    const reef_term *t = &q->terms[i];
    if (t->self && reef__component_holds(q, i, e)) return reef__value_itself(q->world, e, t->component);
    const relation_path p = path_by(q->world, t->up.id);
    const relation_value *v = path_next(&p, e);
    if (v == NULL) return NULL;
    if (!reef_entity_equal(v->target, last->parent)) {
        last->value = reef__ancestor_find(q, i, e, &found) ? reef__value_itself(q->world, found, t->component) : NULL;
        last->parent = v->target;
    }
    return last->value;
}

/* The values of a component in columns: the table that was looked at last mostly says where. */
static void reach_columns(const reef_block *b, uint32_t i, const reef_entity *e, const void **to)
{
    const query *q = b->loop.query;
    const reef_world *w = b->world;
    const uint32_t c = q->terms[i].component.id, size = reef__type_of(c)->size;
    uint32_t table_id = UINT32_MAX, k = 0;
    for (uint32_t row = 0; row < b->count; row++) {
        const void *value = NULL;
        if (b->loop.mask == NULL || b->loop.mask[row / 64] >> row % 64 & 1) {
            const uint32_t place = place_of(w, e[row]);
            const reef_slot *slots = reef_slots_at(&w->hot, place);
            if (place != PLACE_DEAD && slots[0].head.table != table_id) {
                table_id = slots[0].head.table;
                k = slot_find(w, c, table_id);
            }
            if (place != PLACE_DEAD && k) value = (const char *)slots[k].block + (size_t)place_row(place) * size;
        }
        memcpy(to + row, &value, sizeof value);
    }
}

const void *const *reef_block_reach(const reef_block *b, reef_component c, uint32_t variable, const void **to)
{
    const query *q = b ? b->loop.query : NULL;
    const uint32_t i = q && to && b->count ? reach_find(q, c.id, variable) : UINT32_MAX;
    if (i == UINT32_MAX) {
        if (b && b->world) reef__failure(b->world, REEF_UNDECLARED, "reef_reach", c, (reef_entity){0, 0}, 0);
        return NULL;
    }
    reef_block_asked_(b); /* the answers for rows that don't match are NULL */
    const reef_term *t = &q->terms[i];
    const reef_entity *from = t->variable ? reef_bound(b, t->variable) : b->entities;
    const reef_entity *target = t->target_variable == REEF_VISITED ? b->entities : reef_bound(b, t->target_variable);
    ancestor_value last = {{0, 0}, NULL};
    const bool relates = t->target_variable || !reef_entity_is_null(t->target);
    const bool plain = t->enabled == REEF_ENABLED && !q->facts[i].some_disabled && !reef__type_of(c.id)->stored;
    if (from == NULL || (t->target_variable && target == NULL)) return NULL;
    const void **kept = t->variable && b->loop.first == 0 ? reef__bound_values(b, i) : NULL;
    if (kept) {
        memcpy(to, kept, b->count * sizeof *kept);
        return to;
    }
    if (t->variable && !relates && plain) {
        reach_columns(b, i, from, to);
        return to;
    }
    for (uint32_t row = 0; row < b->count; row++) {
        const void *value = NULL;
        const bool matches = b->loop.mask == NULL || b->loop.mask[row / 64] >> row % 64 & 1;
        if (matches && t->up.id) value = ancestor_value_of(q, i, from[row], &last);
        else if (matches && relates)
            value = reef__relation_find(store_of(b->world, c.id), from[row], target ? target[row] : t->target, NULL);
        else if (matches) value = value_of(q, i, from[row]);
        memcpy(to + row, &value, sizeof value); /* `to` may be an array of other pointers */
    }
    return to;
}
