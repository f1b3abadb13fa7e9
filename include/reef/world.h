/* Worlds. A world owns entities, their components and the memory for both. */
#ifndef REEF_WORLD_H
#define REEF_WORLD_H

#include "type.h"

REEF_BEGIN_C

/* The severity of a message to the log. */
typedef enum reef_log_level { REEF_LOG_INFO = 0, REEF_LOG_WARNING, REEF_LOG_ERROR } reef_log_level;

/* The settings of a new world; {0}: all defaults. */
typedef struct reef_world_config {
    reef_allocator allocator; /* {0}: the C library's, with huge pages where the system has them */
    bool strict;              /* only types given to reef_world_use are known, instead of all declared types */
    bool never_reuse;         /* never give the index of a dead entity to a new one */
    bool atomic_tick;         /* a tick that fails leaves the world as it was before it; costs a snapshot a tick */
    uint64_t seed;            /* for reef_random; part of the state */
    uint32_t entities_max;    /* largest number of entity indices, 1 ... 2^32-2; 0: 2^32-2 */
    /* Messages: refused declarations (systems, queries, phases, observers, types, prefabs), what a load leaves out, and
     * in the checked build every mistake of the caller. NULL: they are printed on stderr, each a few times and then
     * counted. reef_log_none: nowhere. */
    void (*log)(void *context, reef_log_level level, const char *message);
    /* called instead of the log for refused declarations and, in the checked build, for every mistake; NULL: the log */
    void (*misuse)(void *context, reef_status status, const char *message);
    void *context; /* passed to log and misuse */
} reef_world_config;

/* Makes an empty world. A NULL config means all defaults. Returns NULL when memory runs out or the config is out of
 * range. */
REEF_API reef_world *reef_world_new(const reef_world_config *config);
/* Destroys everything in the world exactly once and frees all its memory. NULL is allowed. While the world is in use,
 * nothing is freed, and reef_last_error says LOCKED: while a loop is open (also one that was left early without
 * reef_end), and in whatever the world is calling: systems and their conditions, observers, scripts, steps of a
 * history, visitors, readers and writers, keys of orders, constructors, logs. The other hooks of types must not call
 * reef on their world at all. */
REEF_API void reef_world_free(reef_world *world);
/* Destroys all entities. Their handles are dead; types and capacity stay. Errors: LOCKED. */
REEF_API reef_status reef_world_clear(reef_world *world);

/* Makes a type known to a strict world. In any other world it has no effect. Errors: UNKNOWN_TYPE, NO_MEMORY. */
REEF_API reef_status reef_world_use(reef_world *world, reef_component type);
#define reef_use(world, T) reef_world_use(world, reef_id(T))

/* The pointer that is passed to log and misuse, which was reef_world_config.context. A fork begins with that of its
 * origin. */
REEF_API void *reef_context(const reef_world *world);
/* Changes the pointer that is passed to log and misuse. */
REEF_API void reef_set_context(reef_world *world, void *context);
/* Drops all messages: a world with this log prints none. Does nothing; any thread. */
REEF_API void reef_log_none(void *context, reef_log_level level, const char *message);
/* Changes the functions log and misuse of the config. So a tool that looks into a fork on a thread of its own can keep
 * its mistakes to itself, by reef_log_none. */
REEF_API void reef_set_log(reef_world *world, void (*log)(void *context, reef_log_level level, const char *message),
                           void (*misuse)(void *context, reef_status status, const char *message));

/* A point in time for "changed since": what is written from now on is newer. Points of a world can be compared with
 * those of a fork made later. A restore brings back when things were written, but doesn't set back the time. 0 is
 * before everything. Don't call it in the middle of a loop: what the loop still writes to its current block may count
 * as older. The call costs little, but the first write to each table and block after it takes a slower path. NULL:
 * 0. */
REEF_API uint64_t reef_version(reef_world *world);

/* ---- the last error ---- */

/* Why a call failed. */
typedef struct reef_error {
    reef_status status;
    const char *operation;                 /* the name of the public call, in static memory; "" if nothing failed yet */
    reef_component component;              /* {0} if none is concerned */
    reef_entity entity;                    /* {0} if none is concerned */
    uint64_t number;                       /* a size, an index or a column, depending on the status */
    char system[REEF_SYSTEM_NAME_MAX + 1]; /* the system or observer in which it happened; "" outside of both */
    /* for a text that was refused: what is wrong in its column `number`; otherwise "" */
    char detail[REEF_DETAIL_MAX];
} reef_error;

/* Why the last failing call on this world failed. After a loop or a tick in which nothing failed its status is OK, and
 * the rest is empty; other calls that succeed leave it as it is. Calls on a const world record nothing. */
REEF_API reef_error reef_last_error(const reef_world *world);
/* The last failure as a text: operation, component, entity, reason, detail. It stays until the next failure: no call,
 * loop or tick that succeeds takes it away. Before the first one it is "ok". Writes at most `size` bytes with the zero;
 * returns the whole text's length. */
REEF_API size_t reef_error_text(const reef_world *world, char *text, size_t size);

/* ---- memory ---- */

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

/* ---- names ----
 * A name is unique among the children of one parent (reef/hierarchy.h), or among all entities without a parent. The
 * path of an entity is the names of its ancestors and its own, joined by dots: "ship.turret.barrel". A child's name has
 * no dots. That of an entity without a parent may have some, between parts of at least one byte; so small worlds have
 * paths without a hierarchy. A name is at most REEF_NAME_MAX bytes long. */

/* Names or renames a living entity; NULL removes the name. Errors: NOT_ALIVE, NAME_TAKEN (.entity has it), BAD_TEXT,
 * NO_MEMORY. */
REEF_API reef_status reef_set_name(reef_world *world, reef_entity entity, const char *name);
/* An entity's own name; NULL if it has none or isn't alive. The pointer lives until the next call that takes the world
 * without const. */
REEF_API const char *reef_name(const reef_world *world, reef_entity entity);
/* The entity with this path; null if there is none. O(parts). */
REEF_API reef_entity reef_find(const reef_world *world, const char *path);
/* The same below an ancestor: reef_find_below(w, ship, "turret.barrel"). With a null ancestor it is reef_find. */
REEF_API reef_entity reef_find_below(const reef_world *world, reef_entity ancestor, const char *path);
/* Writes the path of an entity. As snprintf, it writes at most `size` bytes with the zero, and returns the whole path's
 * length. 0: the entity isn't alive, or it or one of its ancestors has no name. */
REEF_API size_t reef_path(const reef_world *world, reef_entity entity, char *text, size_t size);

REEF_END_C

#endif
