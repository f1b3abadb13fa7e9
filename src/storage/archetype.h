/* The graph of a family: which sets of components have a table, the layout of each table (its shape), the maps from a
 * component to its slot in each table, and the edges between tables. All worlds of a family share it; it only grows. */
#ifndef REEF_STORAGE_ARCHETYPE_H
#define REEF_STORAGE_ARCHETYPE_H

#include "type/type_walk.h"
#include "storage/world_data.h"

/* reef_map.elsewhere: where a component is that the map doesn't hold */
enum {
    ELSEWHERE_RARE = 1,
    ELSEWHERE_BITS = 2,
    ELSEWHERE_STORES = 3,
    ELSEWHERE_NEEDS = 4 /* bits, of a switch that requires something */
};

INLINE const reef_map *map_of_id(const reef_world *w, uint32_t component)
{
    return REEF_DEPENDENT(&w->hot.maps[component >> 8 & 511][component & 255]);
}
/* The slot of a component in a table; 0: the table hasn't got it; REEF_SLOT_TAG: it is a tag. */
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

void reef__family_drop(family *f); /* frees the graph, when the last member of the family has left */

/* Frees what was retired, if no other world is left whose thread may still read it. The caller holds the lock, or is
 * the only world. */
void reef__graph_free_retired(family *f);

/* Begins the graph of a new family: there are no tables but the empty one. */
void reef__graph_begin(family *f);

/* Points the world's view at empty maps, for types whose maps don't exist yet. */
void reef__graph_view_none(reef_world *w);

/* Makes the maps of all types and renews the world's view of them. REEF_OK or REEF_NO_MEMORY. */
reef_status reef__graph_sync(reef_world *w);

/* The table of a set of components that live in tables, given by ids in any order, each once. 0: there is no memory, or
 * a limit is reached; *status says which. */
uint32_t reef__graph_table(reef_world *w, uint32_t *ids, uint32_t count, reef_status *status);

/* The edge from a table by adding a component that it hasn't got, or removing one that it has. NULL: as above. */
const edge *reef__graph_edge(reef_world *w, uint32_t from, uint32_t component, bool remove, reef_status *status);

/* slot_find as a call, for code that isn't on a fast path. */
NOINLINE uint32_t reef__slot_seek(const reef_world *w, uint32_t component, uint32_t table_id);

/* The ids of all tables with at least one row, ordered by their sorted type names, in a new array of *count. Free it
 * with reef__memory_free(&w->family->memory, MEMORY_OTHER, p, *count * 4). NULL with *count 0: there is none. NULL with
 * *count != 0: there is no memory. */
uint32_t *reef__tables_sorted(const reef_world *w, uint32_t *count);

/* The ids of all tables of the family, with rows in this world or without, in the same order. The array belongs to the
 * world and is good until the next call. NULL: as above. */
const uint32_t *reef__tables_order(reef_world *w, uint32_t *count);

/* Compares two layouts by their sorted type names. */
int reef__shape_compare(const shape *a, const shape *b);

/* Do the words of a layout (shape_signature) say what its components are? */
bool reef__shape_signed(const shape *s);

#endif
