/* Worlds. A world owns entities, their components and the memory for both. */
#ifndef REEF_WORLD_H
#define REEF_WORLD_H

#include "memory.h"
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
 * history, visitors, readers and writers, keys of orders, constructors, logs; and while its time belongs to somebody
 * (reef_own_time), such as a session of reef_net, which is freed before. The other hooks of types must not call reef on
 * their world at all. */
REEF_API void reef_world_free(reef_world *world);
/* Destroys all entities. Their handles are dead; types and capacity stay. Errors: LOCKED. */
REEF_API reef_status reef_world_clear(reef_world *world);

/* ---- the last error ---- */

/* Why a call failed. */
typedef struct reef_error {
    reef_status status;
    const char *operation;                 /* the name of the public call, in static memory; "" if nothing failed yet */
    reef_component component;              /* {0} if none is concerned */
    reef_entity entity;                    /* {0} if none is concerned */
    uint64_t number;                       /* a size, an index or a column, depending on the status */
    char system[REEF_SYSTEM_NAME_MAX + 1]; /* the system or observer in which it happened; "" outside of both */
    /* what is wrong, where more is to be said than the status: of a text in its column `number`; of a wrong argument
     * always; otherwise often "" */
    char detail[REEF_DETAIL_MAX];
} reef_error;

/* Why the last failing call on this world failed. After a loop or a tick in which nothing failed its status is OK, and
 * the rest is empty; other calls that succeed leave it as it is. Calls on a const world record nothing. */
REEF_API reef_error reef_last_error(const reef_world *world);
/* The last failure as a text: operation, component, entity, reason, detail. It stays until the next failure: no call,
 * loop or tick that succeeds takes it away. Before the first one it is "ok". Writes at most `size` bytes with the zero;
 * returns the whole text's length. */
REEF_API size_t reef_error_text(const reef_world *world, char *text, size_t size);

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

REEF_END_C

#endif
