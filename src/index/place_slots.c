/* What lies in the slots of a picture: entities, values that the place carries, whole cells. A slot is a row. And what
 * queries with `near` ask of it. */
#include "index/picture.h"
#include "index/place_search.h"
#include "reef/place.h"

void reef_place_slots(const reef_place *p, const reef_entity *entities, uint32_t n, uint32_t *slots)
{
    if (slots == NULL || entities == NULL) return;
    const uint32_t count = p ? p->rows.count : 0, room = p ? p->rows.slot_room : 0;
    const uint32_t *const slot = p ? p->rows.slot : NULL, *const index = p ? p->rows.index : NULL;
    for (uint32_t i = 0; i < n; i++) {
        const reef_entity e = entities[i];
        const uint32_t row = LIKELY(e.index < room) ? slot[e.index] : REEF_NO_SLOT;
        const bool there = LIKELY(row < count && index[row] == e.index && entity_of(p, row).generation == e.generation);
        slots[i] = there ? row : REEF_NO_SLOT;
    }
}

uint32_t reef_place_slot(const reef_place *p, reef_entity e)
{
    uint32_t slot;
    reef_place_slots(p, &e, 1, &slot);
    return slot;
}

reef_entity reef_place_entity(const reef_place *p, uint32_t slot)
{
    return p && slot < p->rows.count ? entity_of(p, slot) : (reef_entity){0, 0};
}

const void *reef_place_carried_id(const reef_place *p, reef_component c)
{
    for (uint32_t k = 0; p && k < p->type->carried_count; k++)
        if (p->type->carried[k]->id == c.id) return p->rows.carried[k];
    return NULL;
}

reef_place_cells reef_place_cells_of(const reef_place *p)
{
    reef_place_cells c = {{0, 0, 0}, NULL, NULL, {NULL, NULL, NULL}};
    if (p == NULL || !p->type->whole) return c;
    for (uint32_t a = 0; a < AXES; a++) {
        c.side[a] = p->type->cells[a];
        if (a < p->type->axes) c.at[a] = p->rows.at[a];
    }
    c.first = p->grids.start + p->grids.grid[0].first;
    c.cell = p->rows.cell;
    return c;
}

/* ---- for queries ---- */

reef_status reef__picture_around(reef_world *w, uint32_t component, const reef_place_ask *ask, take_near take, void *to)
{
    enum { FEW = 64 };
    reef_near few[FEW], *near = few;
    const reef_place *p = reef_place_of_id(w, (reef_component){component});
    if (p == NULL) return reef_last_error(w).status;
    const uint32_t count = reef_place_within(p, ask, few, FEW);
    const size_t bytes = count * sizeof *near;
    if (count > FEW) {
        near = reef__memory_resize(&w->family->memory, MEMORY_OTHER, NULL, 0, bytes, PLAIN_ALIGN);
        if (near == NULL) return REEF_NO_MEMORY;
        (void)reef_place_within(p, ask, near, count);
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) ok = take(to, near[i].entity);
    if (near != few) reef__memory_free(&w->family->memory, MEMORY_OTHER, near, bytes);
    return ok ? REEF_OK : REEF_NO_MEMORY;
}

COLD size_t reef__picture_explain(reef_world *w, uint32_t component, char *text, size_t size)
{
    return reef_place_explain(reef__picture_find(w, component), text, size);
}
