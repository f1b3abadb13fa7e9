/* A family: what a world shares with its forks and snapshots. */
#ifndef REEF_STORAGE_FAMILY_H
#define REEF_STORAGE_FAMILY_H

#include "base/memory.h"
#include "storage/layout.h"
#include "reef/detail/layout.h"

typedef struct retired {
    struct retired *next;
    void *memory;
    size_t bytes;
} retired;

typedef struct graph {
    shape **shapes; /* by table id */
    uint32_t shape_count, shape_capacity;
    uint32_t *hash; /* open addressing, set of components -> table id + 1 */
    uint32_t hash_capacity;
    edge **edges; /* open addressing by key */
    uint32_t edge_count, edge_capacity;
    reef_map **maps[REEF_MAP_PAGES]; /* by component id, 256 a page */
    uint32_t map_count;              /* types whose maps exist: ids below */
    uint32_t *order;                 /* tables in the visible order, as far as somebody asked for it */
    uint32_t order_count, order_room;
    uint32_t bound_count, reset_count; /* layouts that are bound, that reset */
    retired *retired;                  /* replaced arrays that another thread may still read; freed with the family */
    /* open addressing: component << 32 | table, with slot beside it: maps too sparse for an array */
    uint64_t *rare;
    uint16_t *rare_slot;
    uint32_t rare_count, rare_capacity;
} graph;

typedef struct family {
    memory memory;
    mutex lock;             /* of nodes, graph and members */
    uint32_t members;       /* worlds and snapshots */
    uint32_t worlds;        /* of these, worlds: who may still read what the graph retires */
    uint64_t reader_serial; /* of the last reader of removals or events made */
    graph graph;
    uint64_t query_serial;                       /* of the last query, system or phase made */
    uint64_t schedule_epoch;                     /* changes of schedules */
    const struct observer_calls *observer_calls; /* src/observe/observer.h; NULL: there never was an observer */
    /* src/system/schedule.h; NULL: there never was a schedule */
    bool (*schedule_knows)(const reef_world *w, uint64_t serial);
} family;
family *reef__family_make(const reef_allocator *allocator);
void reef__family_free(family *f);

/* A world or a snapshot more, or less: the last one takes the family along. (src/storage/state.c) */
void reef__family_join(family *f, bool world);
void reef__family_leave(family *f, bool world);
uint32_t reef__world_number(void); /* of a new one */

#endif
