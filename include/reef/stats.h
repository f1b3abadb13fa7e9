/* What a world contains, and the memory that it takes: counting, making room, giving back, finding stale pointers. */
#ifndef REEF_STATS_H
#define REEF_STATS_H

#include "world.h"

REEF_BEGIN_C

/* Makes room for `count` further entities, so that making them allocates only their rows. Errors: NO_MEMORY, LIMIT. */
REEF_API reef_status reef_reserve(reef_world *world, uint32_t count);
/* Makes room for `count` further entities with exactly these components, so that making them allocates nothing. Errors:
 * NO_MEMORY, LIMIT, UNKNOWN_TYPE, DUPLICATE_TERM, BAD_ARGUMENT (a part of a type in REEF_SPLIT), LOCKED (a loop is
 * open). */
REEF_API reef_status reef_reserve_for(reef_world *world, uint32_t count, const reef_component *types,
                                      uint32_t type_count);
/* Frees memory that isn't used: blocks of empty tables, spare blocks, free arenas. Errors: LOCKED, NO_MEMORY. */
REEF_API reef_status reef_shrink(reef_world *world);

/* Finds pointers to components that a program keeps for too long, in the checked build with the address sanitizer
 * (preset asan). A structural change moves the rows that it touches to another address, and a use of the old address
 * stops the program with a message that names the component, the entity and the call that moved it
 * (docs/rules/pointers.md). A change moves about `bytes` bytes of rows at most, and larger chunks only now and then;
 * UINT64_MAX: all of them; 0: none. Before this call the environment variable REEF_QUARANTINE says how many bytes, and
 * without it 16 KiB. The world's forks do the same. Other builds ignore this call. Errors: LOCKED (a loop is open,
 * systems run, it has forks or snapshots). */
REEF_API reef_status reef_quarantine(reef_world *world, uint64_t bytes);

/* What a world contains, and what it has done. */
typedef struct reef_stats {
    uint64_t entities;       /* alive */
    uint64_t entities_empty; /* of these, those without a component in a table */
    uint64_t indices;        /* that were ever used */
    uint64_t free_ids;       /* waiting for reuse */
    uint64_t tables;         /* with at least one row */
    uint64_t tables_known;   /* including empty ones, which are kept for reuse */
    uint64_t blocks;         /* chunks of rows */
    uint64_t types;          /* types that this world has used */
    uint64_t names;
    uint64_t events; /* events that wait for a reader */
    /* values outside of the rows: those of types in REEF_SPARSE, REEF_PAGED, REEF_COLD, REEF_MULTI and REEF_SHARED */
    uint64_t values;
    uint64_t bytes_total;  /* allocated */
    uint64_t bytes_rows;   /* of these: columns and entity handles */
    uint64_t bytes_index;  /* records and free ids */
    uint64_t bytes_tables; /* tables, layouts, edges, directories */
    uint64_t bytes_names;
    uint64_t bytes_bits;   /* values in the home REEF_BIT */
    uint64_t bytes_hashes; /* hashes that reef_hash keeps */
    uint64_t bytes_tracks; /* stamps and logs of removals of types with track_rows */
    uint64_t bytes_events; /* events that wait, and room for new ones */
    uint64_t bytes_stores; /* values outside of the rows, with their indices */
    uint64_t bytes_spare;  /* free blocks of arenas */
    /* what was done since the world was made: */
    uint64_t spawned, destroyed, moved; /* entities made, destroyed, rows moved between tables */
} reef_stats;

/* Counts what the world contains. Costs O(tables). */
REEF_API reef_stats reef_world_stats(const reef_world *world);

REEF_END_C

#endif
