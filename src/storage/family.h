/* A family: what a world shares with its forks and snapshots. It has the memory, the lock, and the graph of tables:
 * which sets of components have a table, the layout of each table (its shape), the maps from a component to its slot in
 * each table, and the edges between tables.
 *
 * Table ids belong to the family and depend on history, so nothing visible is ordered by them. */
#ifndef REEF_STORAGE_FAMILY_H
#define REEF_STORAGE_FAMILY_H

#include "base/memory.h"
#include "storage/layout.h"

typedef struct retired {
    struct retired *next;
    void *memory;
    size_t bytes;
} retired;

typedef struct graph {
    shape **shapes; /* by table id */
    uint32_t shape_count, shape_capacity;
    uint32_t *hash; /* open addressing: set of components -> table id + 1 */
    uint32_t hash_capacity;
    edge **edges; /* open addressing, by key */
    uint32_t edge_count, edge_capacity;
    reef_map **maps[REEF_MAP_PAGES]; /* by component id, 256 on a page */
    uint32_t last_number;            /* of an index of blocks: reef_map.number */
    uint32_t map_count;              /* the types with smaller ids have maps */
    uint32_t *order;                 /* tables in the visible order, as many as somebody has asked for */
    uint32_t order_count, order_room;
    uint32_t bound_count, reset_count; /* number of layouts that are bound, and that reset */
    retired *retired;                  /* replaced arrays that another thread may still read; freed with the family */
    uint64_t *rare; /* open addressing: (component, table) -> slot, for maps that are too sparse for an array */
    uint32_t rare_count, rare_capacity;
} graph;

typedef struct family {
    memory memory;
    mutex lock;             /* guards nodes of paged containers, the graph, and the members */
    uint32_t members;       /* number of worlds and snapshots */
    uint32_t worlds;        /* number of worlds, which may still read what the graph retires */
    uint64_t reader_serial; /* serial number of the last reader of removals or events */
    graph graph;
    uint64_t query_serial;                       /* serial number of the last query, system or phase */
    uint64_t schedule_epoch;                     /* counts the changes of schedules */
    const struct observer_calls *observer_calls; /* src/observe/observer.h; NULL: there never was an observer */
    /* does a schedule know this serial number? (src/system/schedule.h) NULL: there never was a schedule */
    bool (*schedule_knows)(const reef_world *w, uint64_t serial);
} family;
/* A world or a snapshot in the list of all of them in the process, of all families. */
typedef struct family_member {
    struct family_member *next, *previous;
    const struct state *state;
    reef_world *world; /* NULL: it is a snapshot */
} family_member;
void reef__member_join(family_member *m, const struct state *s, reef_world *w);
void reef__member_leave(family_member *m);
/* Those that know one of these types, without this world. Answers how many; at most `room` are written. */
uint32_t reef__members_knowing(const reef_world *but, const uint32_t *types, uint32_t count, family_member **list,
                               uint32_t room);

family *reef__family_make(const reef_allocator *allocator);
void reef__family_free(family *f);

/* Counts a world or snapshot more, or less. The last one to leave frees the family. */
void reef__family_add(family *f, bool world);
void reef__family_leave(family *f, bool world);
uint32_t reef__world_number(void); /* a number for a new world */

/* Makes room for `more` elements behind the first `count` of a list, which has room for *room. `list` points to the
 * list's pointer. False: no memory. */
bool reef__list_room(reef_world *w, void *list, uint64_t count, uint64_t *room, uint64_t more, size_t size);

#endif
