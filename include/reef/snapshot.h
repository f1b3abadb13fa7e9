/* Worlds as values: snapshot, restore, fork, hash, compare.
 *
 * A snapshot holds all that a world is at one moment; a fork is a second world that begins as the first one is. Both
 * cost microseconds whatever the size of the world: everything is shared until one side writes, and then the block
 * of 1,024 rows that is written is copied, not the world.
 *
 * What belongs to the state: entities with their generations, free ids in their order, components and switches, what
 * is disabled, names, the versions by which changes are found, the types that a strict world was told of. What
 * doesn't: queries, bundles, the last error, the config with its context.
 *
 * Handles are part of the state as well. After reef_restore a handle means what it meant when the snapshot was
 * taken: an entity that died since is alive again under its old handle, and one that was made since is dead, until
 * the new future makes an entity of the same index and generation. It is then that one: the same things done again
 * give the same handles. A pointer to a component dies with every call on this page that takes the world without
 * const.
 *
 * A world that was rewound and then plays another future can't be told from a world that only ever played that one:
 * same hashes, same order of visiting, same new ids. */
#ifndef REEF_SNAPSHOT_H
#define REEF_SNAPSHOT_H

#include "world.h"

REEF_BEGIN_C

/* A state that is held. It doesn't change; several threads may read one. */
typedef struct reef_snapshot reef_snapshot;

/* Holds the world's state as it is now. The caller owns it. It may outlive the world, and snapshots, forks and
 * worlds may be freed in any order. NULL on failure: LOCKED (a loop is open), NOT_COPYABLE (an entity has a
 * component of the type that the error names, which can't be copied; see reef_hooks.on_fork), NO_MEMORY. */
REEF_API reef_snapshot *reef_snapshot_take(reef_world *world);
/* Lets go of the state, and of the memory that nobody else holds. (A block that two forks have both replaced since
 * may stay until one of them ends.) NULL is allowed. Any thread; destroy hooks of values that nobody else holds run
 * on it. */
REEF_API void reef_snapshot_free(reef_snapshot *snapshot);
/* The world becomes what it was when the snapshot was taken, from this world or from any fork of it. The snapshot
 * stays and may be used again. Errors: LOCKED, OTHER_WORLD (of no fork of this world), BAD_ARGUMENT, NO_MEMORY: the
 * world is unchanged. */
REEF_API reef_status reef_restore(reef_world *world, const reef_snapshot *snapshot);

/* A second, independent world with the same state, config and allocator. Each of the two may be used by a thread of
 * its own, and freed in any order. Copy and destroy hooks may run on any of these threads. The fork has no queries
 * and no bundles: they belong to a world. NULL on failure, as for reef_snapshot_take. */
REEF_API reef_world *reef_fork(reef_world *world);
/* A new world that begins with the snapshot's state. Several threads may do this with one snapshot at the same time.
 * NULL when memory is short. */
REEF_API reef_world *reef_snapshot_fork(const reef_snapshot *snapshot);

/* ---- the hash of a state ---- */

/* A number that is the same for equal states, on every machine, compiler and number of threads, and differs, but for
 * one case in 2^64, for different ones. It covers what can be seen: tables in the order of their sorted type names,
 * rows in their order, values by their fields in whatever home, switches, what is disabled, generations, free ids,
 * names. Not: padding between fields, bytes that a type's fields don't cover, versions, capacities, addresses, ids
 * of types. A type without fields is hashed as bytes: then its padding counts (reef zeroes what it makes itself),
 * and the hash of a big-endian machine is another one. Types that a fork resets or skips count without their values;
 * of types that own memory give the fields that are values.
 *
 * Blocks that weren't written since the last call aren't hashed again. 0: failed, for want of memory (which no hash
 * ever is). While a loop is open everything is hashed anew. */
REEF_API uint64_t reef_hash(reef_world *world);

/* What a part of the hash is of, or what two worlds differ in. */
typedef enum reef_hash_kind {
    REEF_HASH_IDS = 1, /* generations, free ids, entities without a row; rows: indices ever used */
    REEF_HASH_NAMES,   /* rows: names */
    REEF_HASH_ROWS,    /* a table's entities in their order */
    REEF_HASH_COLUMN,  /* one component's values in one table */
    /* of the entities of one table, who has one switch, or one component whose values lie outside of the rows; rows:
     * those that have it */
    REEF_HASH_SWITCH,
    REEF_HASH_TYPE, /* one component or switch in all tables, with its marks; rows: all that have it */
    /* which entities of one table have one component disabled; before these, with component {0}: which are disabled
     * themselves; rows: disabled */
    REEF_HASH_DISABLED,
    /* ticks, time, seed, how far phases and systems are; rows: ticks. Only where some of it isn't 0 */
    REEF_HASH_TIME,
    REEF_HASH_EVENTS,  /* events of one type that wait for a system, and how far each is behind; rows: events */
    REEF_HASH_SINGLE,  /* which entity has the singletons; rows: 1. Only where there is one */
    REEF_HASH_SCRIPTS, /* scripts that wait for their end (reef/script.h); rows: how many. Only where there are some */
    REEF_HASH_STORE    /* one component's values outside of the rows (reef_home), and who has them; rows: values */
} reef_hash_kind;

/* One part of the hash. `table` lists the types of the table by name, switches and other homes not among them; it is
 * NULL for parts that belong to no table, and lives until the visitor returns. */
typedef struct reef_hash_part {
    reef_hash_kind kind;
    const reef_component *table;
    uint32_t table_count;
    reef_component component; /* {0} for REEF_HASH_IDS, _NAMES and _ROWS, and for the marks of entities */
    uint64_t rows, hash;
} reef_hash_part;

/* Calls `visit` for every part in the order of the state (then, by name, for every type) until it returns false. Two
 * worlds that should be equal differ in the first part that differs. Returns the hash, as reef_hash does; 0 also
 * when `visit` stopped it. The visitor must not call anything that takes the world without const. */
REEF_API uint64_t reef_hash_parts(reef_world *world, bool (*visit)(void *context, const reef_hash_part *part),
                                  void *context);

/* ---- comparing ---- */

/* The first difference between two worlds, in the order of the parts of the hash. */
typedef struct reef_difference {
    reef_hash_kind kind;      /* what differs; 0: nothing */
    reef_component component; /* the type concerned; {0}: none */
    reef_entity entity;       /* in `a`; {0}: none there */
    reef_entity other;        /* the entity at the same row or index in `b`; {0}: none there */
    /* in its table; of ids and names: the index, or the place among the free ids, when the ids in `entity` and
     * `other` are free and come in another order; of events: which of those that wait, or UINT64_MAX, when it is how
     * far the systems are */
    uint64_t row;
    uint32_t table_count; /* the types of the table, by name: as many as fit */
    reef_component table[64];
} reef_difference;

/* Compares what reef_hash covers; the worlds needn't be related. True: they are equal. Otherwise *difference (which
 * may be NULL) says where the first difference is; its kind is 0 when there was no memory (a few bytes a table) to
 * find it. Neither world may be in use by another thread. Costs O(all rows), but blocks that both share aren't
 * looked into. */
REEF_API bool reef_equal(const reef_world *a, const reef_world *b, reef_difference *difference);
/* The difference in words: "Position of entity 7v1 differs (table Position, Velocity, row 3)". Writes at most `size`
 * bytes with the zero; returns the whole text's length. */
REEF_API size_t reef_difference_text(const reef_difference *difference, char *text, size_t size);

REEF_END_C

#endif
