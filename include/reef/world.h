/* Worlds. A world owns entities, their components and the memory for both. */
#ifndef REEF_WORLD_H
#define REEF_WORLD_H

#include "type.h"

REEF_BEGIN_C

/* How much a message to the log matters. */
typedef enum reef_log_level { REEF_LOG_INFO = 0, REEF_LOG_WARNING, REEF_LOG_ERROR } reef_log_level;

/* How a world is made; {0}: all defaults. */
typedef struct reef_world_config {
    reef_allocator allocator; /* {0}: the C library's, with huge pages where the system gives them */
    bool strict;              /* only types given to reef_world_use are known; otherwise every declared type is */
    bool never_reuse;         /* never give the index of a dead entity to a new one */
    bool atomic_tick;         /* a tick that fails leaves the world as it was before it; costs a snapshot a tick */
    uint64_t seed;            /* of reef_random, part of the state */
    uint32_t entities_max;    /* indices of this world, 1 ... 2^32-2; 0: the largest */
    void (*log)(void *context, reef_log_level level, const char *message); /* NULL: nothing is said */
    /* called in the checked build for every mistake of the caller; NULL: log it and go on */
    void (*misuse)(void *context, reef_status status, const char *message);
    void *context; /* handed to log and misuse */
} reef_world_config;

/* Makes an empty world. NULL config: all defaults. NULL when memory is short or the config is out of range. */
REEF_API reef_world *reef_world_new(const reef_world_config *config);
/* Destroys everything in the world exactly once and gives all memory back. NULL is allowed. */
REEF_API void reef_world_free(reef_world *world);
/* Destroys all entities; handles die, types and capacity stay. Errors: LOCKED. */
REEF_API reef_status reef_world_clear(reef_world *world);

/* Tells a strict world of a type. Harmless in an open one. Errors: UNKNOWN_TYPE, NO_MEMORY. */
REEF_API reef_status reef_world_use(reef_world *world, reef_component type);
#define reef_use(world, T) reef_world_use(world, reef_id(T))

/* The pointer that log and misuse are given: reef_world_config.context. A fork begins with that of the world it came
 * from. */
REEF_API void *reef_context(const reef_world *world);
/* Gives log and misuse another one. */
REEF_API void reef_set_context(reef_world *world, void *context);

/* A point in time for "changed since": what is written from now on is newer. Points of a world and of a fork made
 * later compare; a snapshot and a restore bring back when things were written, not the time. 0 is before everything.
 * Not meant for the middle of a loop: what it writes to the block that it is at may count as older. Costs little
 * itself, but each table and block that is written next takes the long way once. NULL: 0. */
REEF_API uint64_t reef_version(reef_world *world);

/* ---- the last error ---- */

/* Why a call failed. */
typedef struct reef_error {
    reef_status status;
    const char *operation;                 /* the public call, static memory; "" if nothing failed yet */
    reef_component component;              /* {0} if none is concerned */
    reef_entity entity;                    /* {0} if none is concerned */
    uint64_t number;                       /* a size, an index or a column, as the status tells */
    char system[REEF_SYSTEM_NAME_MAX + 1]; /* in which it happened, or the observer; "" outside of both */
    /* of a text that was refused: a sentence on what is wrong in its column `number`; else "" */
    char detail[REEF_DETAIL_MAX];
} reef_error;

/* Why the last failing call on this world failed. Calls on a const world record nothing. */
REEF_API reef_error reef_last_error(const reef_world *world);
/* The same as a text: operation, component, entity, reason, detail. Writes at most `size` bytes with the zero;
 * returns the whole text's length. */
REEF_API size_t reef_error_text(const reef_world *world, char *text, size_t size);

/* ---- memory ---- */

/* Room for `count` further entities in all, so that making them allocates nothing but the rows. Errors: NO_MEMORY,
 * LIMIT. */
REEF_API reef_status reef_reserve(reef_world *world, uint32_t count);
/* Room for `count` further entities with exactly these components. */
REEF_API reef_status reef_reserve_for(reef_world *world, uint32_t count, const reef_component *types,
                                      uint32_t type_count);
/* Gives back what isn't used: empty tables' blocks, spare blocks, free arenas. Errors: LOCKED. */
REEF_API reef_status reef_shrink(reef_world *world);

/* In the checked build with the address sanitizer (preset asan) pointers to components that are kept over a
 * structural change are found: what a change touches goes to another address, and using the old one stops the
 * program with the component, the entity and what moved it (docs/rules/pointers.md). A change moves about `bytes` of
 * rows at most, larger chunks only now and then; UINT64_MAX: all of them; 0: none. Until this call it is what the
 * environment variable REEF_QUARANTINE says, else 16 KiB. The world's forks do the same. Without effect in other
 * builds. Errors: LOCKED (a loop is open, systems run, it has forks or snapshots). */
REEF_API reef_status reef_quarantine(reef_world *world, uint64_t bytes);

/* What a world holds, and what it has done. */
typedef struct reef_stats {
    uint64_t entities;       /* alive */
    uint64_t entities_empty; /* of these, without a component in a table */
    uint64_t indices;        /* ever used */
    uint64_t free_ids;       /* waiting for reuse */
    uint64_t tables;         /* with at least one row */
    uint64_t tables_known;   /* kept for reuse, empty ones too */
    uint64_t blocks;         /* chunks of rows */
    uint64_t types;          /* that this world has used */
    uint64_t names;
    uint64_t events; /* that wait for a reader */
    /* outside of the rows: of types in REEF_SPARSE, REEF_PAGED, REEF_COLD, REEF_MULTI, REEF_SHARED */
    uint64_t values;
    uint64_t bytes_total;  /* taken from the allocator */
    uint64_t bytes_rows;   /* of these: columns and entity handles */
    uint64_t bytes_index;  /* records and free ids */
    uint64_t bytes_tables; /* tables, layouts, edges, directories */
    uint64_t bytes_names;
    uint64_t bytes_bits;   /* REEF_BIT home */
    uint64_t bytes_hashes; /* kept by reef_hash */
    uint64_t bytes_tracks; /* stamps and removals of types with track_rows */
    uint64_t bytes_events; /* events that wait, and room for those that are sent */
    uint64_t bytes_stores; /* of values outside of the rows, with what finds them */
    uint64_t bytes_spare;  /* arenas' free blocks */
    /* counts of work since the world was made: */
    uint64_t spawned, destroyed, moved; /* entities made, destroyed, rows moved between tables */
} reef_stats;

/* Counts and bytes. Costs O(tables). */
REEF_API reef_stats reef_world_stats(const reef_world *world);

/* ---- names ----
 * A name is a path of one or more parts, joined by dots: "ship.turret.barrel". The parts before the last are its scope;
 * within a scope the last part is unique. Each part has at least one byte; the whole is at most REEF_NAME_MAX bytes. */

/* Names or renames a living entity; NULL takes the name away. Errors: NOT_ALIVE, NAME_TAKEN, BAD_TEXT, NO_MEMORY. */
REEF_API reef_status reef_set_name(reef_world *world, reef_entity entity, const char *name);
/* An entity's name, NULL if it has none or isn't alive. Lives until the next call that takes the world without
 * const. */
REEF_API const char *reef_name(const reef_world *world, reef_entity entity);
/* The entity of a name, null if there is none. */
REEF_API reef_entity reef_find(const reef_world *world, const char *name);

REEF_END_C

#endif
