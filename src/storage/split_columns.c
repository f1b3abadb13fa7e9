/* Types that are split by field. A value is spread into its parts where lists of values and terms of queries enter, and
 * gathered where a value goes out; everything in between only knows the parts. src/storage/split_columns.h has a
 * drawing. */
#include "storage/split_columns.h"
#include "storage/archetype.h"
#include "storage/known_types.h"
#include "storage/place.h"
#include "storage/required.h"
#include "storage/table.h"
#include "reef/type_info.h"
#include "reef/many.h"

/* The most values of the list with the parts and the required types. */
uint32_t reef__spread_most(const reef_value *values, uint32_t count)
{
    uint32_t n = count;
    for (uint32_t i = 0; i < count; i++) {
        const type *t = values[i].component.id & BIT_DISABLED ? NULL : reef__type_of(values[i].component.id);
        if (t == NULL) continue;
        n += t->part_count;
        for (uint32_t k = 0; UNLIKELY(k < t->need_count); k++) n += 1 + reef__type_of(t->needs[k])->part_count;
    }
    return n;
}

COLD uint32_t reef__spread_one(reef_value *to, const reef_value *v)
{
    const type *t = v->component.id & BIT_DISABLED ? NULL : reef__type_of(v->component.id);
    *to = *v;
    if (t == NULL || !t->split) return 1;
    if (v->kind != REEF_VALUE_REMOVE) *to = reef_value_make(v->component, REEF_VALUE_DEFAULT, 0, NULL);
    for (uint32_t i = 0; i < t->part_count; i++) {
        const type *p = reef__type_of(t->parts[i]);
        const bool data = v->kind != REEF_VALUE_REMOVE && v->kind != REEF_VALUE_DEFAULT;
        to[1 + i] = reef_value_make((reef_component){p->id}, v->kind, data ? p->size : 0,
                                    data ? (const char *)v->data + p->offset : NULL);
    }
    return 1 + t->part_count;
}

bool reef__spread_room(reef_world *w, spread *x, uint32_t most)
{
    const bool room = reef__call_memory_take(&w->family->memory, &x->memory, most * sizeof *x->values, PLAIN_ALIGN);
    x->values = x->memory.at;
    x->count = 0;
    return room;
}

/* Puts the required types that come along behind the list. */
static COLD reef_status needs_put(reef_world *w, spread *x, reef_entity e, const reef_value *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const type *t = values[i].component.id & BIT_DISABLED ? NULL : reef__type_of(values[i].component.id);
        if (t == NULL || t->need_count == 0 || values[i].kind == REEF_VALUE_REMOVE || reef__entity_meets(w, e, t))
            continue;
        for (uint32_t k = 0; k < t->need_count; k++) {
            const type *need = reef__type_of(t->needs[k]);
            if (reef__list_names(x->values, x->count, need) || reef__entity_meets(w, e, need)) continue;
            const reef_status s = reef__type_ready(w, need->id);
            if (s != REEF_OK) return s;
            const reef_value v = reef_value_make((reef_component){need->id}, REEF_VALUE_DEFAULT, 0, NULL);
            x->count += reef__spread_one(x->values + x->count, &v);
        }
    }
    return REEF_OK;
}

COLD reef_status reef__spread_fill(reef_world *w, spread *x, reef_entity e, const reef_value *values, uint32_t count)
{
    x->count = 0;
    for (uint32_t i = 0; i < count; i++) x->count += reef__spread_one(x->values + x->count, &values[i]);
    return needs_put(w, x, e, values, count);
}

reef_status reef__spread_make(reef_world *w, spread *x, reef_entity e, const reef_value *values, uint32_t count)
{
    const uint32_t n = reef__spread_most(values, count);
    if (n > REEF_COMPONENTS_MAX) return REEF_LIMIT;
    if (!reef__spread_room(w, x, n)) return REEF_NO_MEMORY;
    if (LIKELY(n == count)) {
        for (; x->count < count; x->count++) x->values[x->count] = values[x->count];
        return REEF_OK;
    }
    const reef_status s = reef__spread_fill(w, x, e, values, count);
    if (s != REEF_OK) reef__spread_free(w, x);
    return s;
}

void reef__spread_free(reef_world *w, spread *x) { reef__call_memory_free(&w->family->memory, &x->memory); }

/* ---- rows ---- */

static char *part_cell(const reef_world *w, uint32_t place, const type *p)
{
    const reef_slot *slots = reef_slots_at(&w->hot, place);
    const uint32_t k = reef__slot_seek(w, p->id, slots[0].head.table);
    return k ? cell(slots, k, place_row(place), p->size) : NULL;
}

COLD bool reef__parts_gather(const reef_world *w, uint32_t place, const type *t, void *out)
{
    if (reef__slot_seek(w, t->id, reef_slots_at(&w->hot, place)[0].head.table) == 0) return false;
    memset(out, 0, t->size);
    for (uint32_t i = 0; i < t->part_count; i++) {
        const type *p = reef__type_of(t->parts[i]);
        memcpy((char *)out + p->offset, part_cell(w, place, p), p->size);
    }
    return true;
}

COLD void reef__parts_scatter(const reef_world *w, uint32_t place, const type *t, const void *value)
{
    for (uint32_t i = 0; i < t->part_count; i++) {
        const type *p = reef__type_of(t->parts[i]);
        memcpy(part_cell(w, place, p), (const char *)value + p->offset, p->size);
    }
}

COLD bool reef__parts_own(reef_world *w, uint32_t place, const type *t)
{
    const uint32_t id = reef_slots_at(&w->hot, place)[0].head.table;
    for (uint32_t i = 0; i < t->part_count; i++)
        if (!reef__column_own(w, table_read(w, id), place_unit(place), reef__slot_seek(w, t->parts[i], id)))
            return false;
    return true;
}

/* ---- terms of queries ---- */

typedef struct spread_terms {
    const reef_term *from;
    const uint32_t *number;
    uint32_t from_count, at, count; /* at: the next term */
    reef_term term[REEF_TERMS_MAX];
    uint32_t to_number[REEF_TERMS_MAX];
} spread_terms;

static bool term_put(spread_terms *x, reef_term t, uint32_t number)
{
    if (x->count == REEF_TERMS_MAX) return false;
    x->term[x->count] = t;
    x->to_number[x->count++] = number;
    return true;
}

static bool parts_put(spread_terms *x, const reef_term *t, const type *whole, uint32_t number)
{
    for (uint32_t i = 0; i < whole->part_count; i++) {
        reef_term p = *t;
        p.component.id = whole->parts[i];
        p.enabled = REEF_ENABLED; /* only the tag has marks, */
        p.conditions = NULL;      /* and conditions */
        p.near = false;
        p.count = 0;
        if (p.op == REEF_NOT) p.op = REEF_HAS;
        if (!term_put(x, p, number)) return false;
    }
    return true;
}

static bool leaf_spread(spread_terms *x, reef_term t, uint32_t number, bool top, bool filter)
{
    const type *whole = reef__type_of(t.component.id);
    const bool since = t.since != REEF_ALWAYS;
    if (t.op == REEF_NOT || filter) t.access = REEF_WITH;
    const bool refused = t.op == REEF_OPTIONAL && t.conditions;
    if (whole == NULL || whole->part_count == 0 || (t.access == REEF_WITH && !since) || refused)
        return term_put(x, t, number);
    if (t.op == REEF_OPTIONAL)
        return (top || term_put(x, (reef_term){.op = REEF_ALL_OF, .count = whole->part_count}, number)) &&
               parts_put(x, &t, whole, number);
    reef_term tag = t;
    tag.access = REEF_WITH;
    tag.since = REEF_ALWAYS;
    tag.op = REEF_HAS;
    if (t.op == REEF_NOT && !term_put(x, (reef_term){.op = REEF_NONE_OF, .count = 1}, number)) return false;
    const uint32_t members = 1 + (since ? 1 : whole->part_count);
    if ((!top || t.op == REEF_NOT) && !term_put(x, (reef_term){.op = REEF_ALL_OF, .count = members}, number))
        return false;
    if (!term_put(x, tag, number)) return false;
    if (since && !term_put(x, (reef_term){.op = REEF_ANY_OF, .count = whole->part_count}, number)) return false;
    return parts_put(x, &t, whole, number);
}

static bool term_spread(spread_terms *x, bool top, bool filter)
{
    const reef_term t = x->from[x->at];
    const uint32_t number = x->number[x->at++];
    if (t.op < REEF_ANY_OF) return leaf_spread(x, t, number, top, filter);
    if (!term_put(x, t, number)) return false;
    for (uint32_t i = 0; i < t.count && x->at < x->from_count; i++)
        if (!term_spread(x, false, filter || t.op == REEF_NONE_OF)) return false;
    return true;
}

COLD bool reef__terms_spread(reef_term *term, uint32_t *number, uint32_t *count)
{
    spread_terms x;
    bool any = false;
    for (uint32_t i = 0; i < *count; i++) {
        const type *t = term[i].op < REEF_ANY_OF ? reef__type_of(term[i].component.id) : NULL;
        any |= t && t->split;
    }
    if (!any) return true;
    x.from = term, x.number = number, x.from_count = *count;
    x.at = x.count = 0;
    while (x.at < x.from_count)
        if (!term_spread(&x, true, false)) return false;
    memcpy(term, x.term, x.count * sizeof *term);
    memcpy(number, x.to_number, x.count * sizeof *number);
    *count = x.count;
    return true;
}

/* ---- for the user ---- */

bool reef_read_id(const reef_world *w, reef_entity e, reef_component c, void *out, size_t size)
{
    const type *t = WORLD_GIVEN(w) ? reef__type_of(c.id) : NULL;
    if (t == NULL || size == 0 || size != t->size || !t->plain_copy || out == NULL) return false;
    if (!t->split) {
        const void *p = reef_get_id(w, e, c);
        if (p) memcpy(out, p, size);
        return p != NULL;
    }
    for (uint32_t i = 0; i < t->part_count; i++) { /* each by the call that is compared with the declared accesses */
        const type *part = reef__type_of(t->parts[i]);
        const void *p = reef_get_id(w, e, (reef_component){part->id});
        if (p == NULL) return false;
        if (i == 0) memset(out, 0, size);
        memcpy((char *)out + part->offset, p, part->size);
    }
    return true;
}

reef_component reef__field_type(reef_component c, size_t offset, size_t size)
{
    const type *t = reef__type_of(c.id);
    if (t && !t->split && offset == 0 && size == t->size) return c;
    for (uint32_t i = 0; t && i < t->part_count; i++) {
        const type *p = reef__type_of(t->parts[i]);
        if (p->offset == offset && p->size == size) return (reef_component){p->id};
    }
    return (reef_component){0};
}

reef_component reef_column_of(reef_component c, const char *field)
{
    const type *t = field ? reef__type_of(c.id) : NULL;
    for (uint32_t i = 0; t && i < t->part_count; i++)
        if (strcmp(t->fields[i].name, field) == 0) return (reef_component){t->parts[i]};
    return (reef_component){0};
}
