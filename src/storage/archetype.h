/* storage/archetype: TODO */
#ifndef REEF_STORAGE_ARCHETYPE_H
#define REEF_STORAGE_ARCHETYPE_H

#include "base/platform.h"
#include "storage/family.h"
#include "storage/layout.h"
#include "storage/world_data.h"
#include "reef/detail/layout.h"

enum { ELSEWHERE_RARE = 1, ELSEWHERE_BITS = 2, ELSEWHERE_STORES = 3 }; /* reef_map.elsewhere */

/* Slot of a component in a table: 0 absent, REEF_SLOT_TAG. */
uint32_t reef__graph_slot_rare(const family *f, uint32_t component, uint32_t table_id);
INLINE uint32_t slot_find(const reef_world *w, uint32_t component, uint32_t table_id)
{
    if (UNLIKELY(component > REEF_TYPES_MAX)) return 0;
    const reef_map *m = REEF_DEPENDENT(&w->hot.maps[component >> 8][component & 255]);
    uint32_t d = table_id - m->lowest;
    uint32_t k = d < m->capacity ? ((const uint16_t *)(m + 1))[1 + d] : 0;
    return LIKELY(k != 0) || REEF_DEPENDENT(&m->elsewhere) != ELSEWHERE_RARE
               ? k
               : reef__graph_slot_rare(w->family, component, table_id);
}
INLINE const shape *shape_of(const family *f, uint32_t table_id) { return REEF_DEPENDENT(&f->graph.shapes)[table_id]; }

void reef__family_drop(family *f); /* the last member left */

/* Frees what was retired, if no other world is left whose thread may still read it. Under the lock, or by the only
 * world. */
void reef__graph_settle(family *f);

/* The world's view of maps that don't exist yet. */
void reef__graph_view_none(reef_world *w);

/* Makes the maps reach all types; refreshes the world's view. NO_MEMORY. */
reef_status reef__graph_sync(reef_world *w);

/* The table of a set of table-home components, given by ids in any order, without doubles. 0: no memory or a limit
 * (then
 * *status says). */
uint32_t reef__graph_table(reef_world *w, uint32_t *ids, uint32_t count, reef_status *status);

/* The edge from a table by adding or removing a component, which it hasn't or has. NULL as above. */
const edge *reef__graph_edge(reef_world *w, uint32_t from, uint32_t component, bool remove, reef_status *status);

/* The same by a call, where it isn't on a straight path. */
NOINLINE uint32_t reef__slot_seek(const reef_world *w, uint32_t component, uint32_t table_id);
void reef__ids_sort(uint32_t *ids, uint32_t count); /* by type name */

/* The tables with at least one row, by their sorted type names: ids into a fresh array of *count (memory kind OTHER;
 * free with reef__memory_free(&w->family->memory, MEMORY_OTHER, p, *count * 4)). NULL with *count 0: none; NULL with
 * *count != 0: no memory. (src/storage/archetype.c) */
uint32_t *reef__tables_sorted(const reef_world *w, uint32_t *count);

/* All tables of the family, with rows here or without, in that order: the world's own list, good until the next call.
 * NULL with *count 0: there is none; NULL with *count != 0: no memory. (src/storage/archetype.c) */
const uint32_t *reef__tables_order(reef_world *w, uint32_t *count);

/* Compares two layouts by their sorted type names. */
int reef__shape_compare(const shape *a, const shape *b);

#endif
