/* Places: units, rows, handles, and the slots of a chunk. A place is a unit and a row in one number; a unit is the
 * number of a chunk's first group of slots. */
#ifndef REEF_STORAGE_PLACE_H
#define REEF_STORAGE_PLACE_H

#include "storage/world_data.h"
#include "reef/detail/access.h"

INLINE const table *table_read(const reef_world *w, uint32_t id) /* NULL: this world never used it */
{
    uint32_t p = id / TABLES_PER_PAGE;
    if (p >= w->state.tables.count || w->state.tables.page[p] == NULL) return NULL;
    const table *t = (const table *)w->state.tables.page[p] + id % TABLES_PER_PAGE;
    return t->shape ? t : NULL;
}
/* Walks the tables that this world has used. (A `break` ends only one step of it.) */
#define EACH_TABLE(w, t) \
    for (uint32_t t##_id = TABLE_EMPTY; t##_id < (w)->state.tables.count * TABLES_PER_PAGE; t##_id++) \
        for (const table *t = table_read(w, t##_id); t; t = NULL)
INLINE handle handle_of(reef_entity e)
{
    handle h;
    memcpy(&h, &e, sizeof h);
    return h;
}
INLINE handle handle_at(const reef_slot *slots, size_t row)
{
    handle h;
    memcpy(&h, (const char *)slots[SLOT_ENTITIES].block + row * sizeof h, sizeof h);
    return h;
}
INLINE void handle_put(reef_slot *slots, size_t row, handle h)
{
    memcpy((char *)slots[SLOT_ENTITIES].block + row * sizeof h, &h, sizeof h);
}
INLINE uint32_t place_unit(uint32_t place) { return place >> REEF_ROW_BITS; }
INLINE uint32_t place_row(uint32_t place) { return place & ROW_MASK; }
/* The offset of row `place` in a block of values of 8 bytes, and half of that in a block of values of 16. (Handles and
 * columns share one register.) */
INLINE size_t place_word(uint32_t place) { return (size_t)(place * 8 & ROW_MASK * 8); }
INLINE uint32_t unit_place(uint32_t unit) { return unit << REEF_ROW_BITS; }
INLINE reef_slot *unit_slots(const reef_world *w, uint32_t unit) { return reef_slots_at(&w->hot, unit_place(unit)); }
/* Was a chunk ever at this unit? Otherwise its slots may hold anything (chunk_page). */
INLINE bool unit_used(const reef_world *w, uint32_t unit)
{
    if (unit < 2 || unit >= w->state.next_unit) return false;
    const chunk_page *page = w->hot.chunks.page[unit >> REEF_UNIT_BITS];
    return page && (unit & (UNITS_PER_PAGE - 1)) < page->used;
}
/* The version that a column has when it is written now. The inlined mut writes what is marked at the world's version
 * without a call; so a tracked column is marked one before, which is later than all that was looked at or shared
 * before. */
INLINE uint64_t column_mark(const reef_world *w, const column *c)
{
    return w->hot.version - (c->type != NULL && c->type->tracked);
}
/* The number of rows of a chunk of t. */
INLINE uint32_t chunk_rows(const table *t, uint32_t unit)
{
    return unit == t->last ? t->next - unit_place(unit) : REEF_BLOCK_ROWS;
}
INLINE uint64_t table_rows(const table *t)
{
    return t->chunks == 0 ? 0 : (uint64_t)(t->chunks - 1) * REEF_BLOCK_ROWS + (t->next - unit_place(t->last));
}
INLINE const reef_entity *slot_entities(const reef_slot *slots)
{
    return (const reef_entity *)slots[SLOT_ENTITIES].block;
}
INLINE char *cell(const reef_slot *slots, uint32_t slot, uint32_t row, size_t size)
{
    return (char *)slots[slot].block + row * size;
}

#endif
