/* Worlds as values: snapshot, restore, fork, hash, compare.
 *
 * A snapshot holds the state of a world at one moment. A fork is a second world that begins with the state of the
 * first. Both cost microseconds, whatever the size of the world: everything is shared until one side writes, and then
 * only the block of 1,024 rows that is written is copied.
 *
 * The state includes entities with their generations, free ids in their order, components and switches, what is
 * disabled, names, the versions by which changes are found, and the types that a strict world knows. It doesn't include
 * queries, bundles, the last error, and the config with its context. (A fork begins with its origin's queries; going
 * back doesn't change which ones there are.)
 *
 * Handles are part of the state as well. After reef_restore a handle means what it meant when the snapshot was taken:
 * an entity that died since is alive again under its old handle, and one that was made since is dead. If the world then
 * makes an entity with the same index and generation, the old handle names that one: the same calls give the same
 * handles again. A pointer to a component becomes invalid with every call of this header that takes the world without
 * const.
 *
 * A world that was restored and then does something else is the same as a world that did only that: it has the same
 * hashes, the same order of visiting and the same new ids. */
#ifndef REEF_SNAPSHOT_H
#define REEF_SNAPSHOT_H

#include "world.h"

REEF_BEGIN_C

/* The state of a world at one moment. It doesn't change, and several threads may read it at once. */
typedef struct reef_snapshot reef_snapshot;

/* Takes a snapshot of the world's state. The caller owns it. It may outlive the world; snapshots, forks and worlds may
 * be freed in any order. NULL on failure: LOCKED (a loop is open), NOT_COPYABLE (an entity has a component that can't
 * be copied; the error names the type; see reef_hooks.on_fork), NO_MEMORY. */
REEF_API reef_snapshot *reef_snapshot_take(reef_world *world);
/* Frees a snapshot, with the memory and values that nothing else holds. (A block that two forks have both replaced
 * since may stay until one of them is freed.) NULL is allowed. Any thread; destroy hooks run on it. */
REEF_API void reef_snapshot_free(reef_snapshot *snapshot);
/* Sets the world to the snapshot's state. The snapshot was taken from this world or from any fork of the same origin;
 * it stays, and may be used again. Errors, which leave the world unchanged: LOCKED, OTHER_WORLD (a snapshot of an
 * unrelated world), BAD_ARGUMENT, NO_MEMORY. */
REEF_API reef_status reef_restore(reef_world *world, const reef_snapshot *snapshot);

/* Makes a second, independent world with the same state, config and allocator. The two may be used by different threads
 * at once, and freed in any order. Copy and destroy hooks may run on any of these threads. The fork has the systems,
 * observers and queries that the world has now, under the same handles (a query is made at its first use there). It has
 * no bundles. NULL on failure, as for reef_snapshot_take. */
REEF_API reef_world *reef_fork(reef_world *world);
/* Makes a new world with the snapshot's state, and the systems, observers and queries that its world had then. Several
 * threads may do this with one snapshot at the same time. NULL when memory runs out. */
REEF_API reef_world *reef_snapshot_fork(const reef_snapshot *snapshot);

/* ---- the hash of a state ---- */

/* A hash of the state. Equal states have the same hash, on every machine, with every compiler and any number of
 * threads; different states have different hashes, except for one pair in 2^64. It covers everything that can be
 * observed: tables in the order of their sorted type names, rows in their order, values by their fields in every home,
 * switches, what is disabled, generations, free ids, names. It doesn't cover padding between fields, bytes that a
 * type's fields don't cover, versions, capacities, addresses and ids of types. A type without fields is hashed as
 * bytes: then its padding is included (reef sets padding to zero in values that it makes), and big-endian machines give
 * another hash. For types with REEF_FORK_RESET or REEF_FORK_SKIP the values aren't hashed. For a type that owns memory,
 * declare the fields that are plain values.
 *
 * Blocks that weren't written since the last call aren't hashed again, except while a loop is open. Returns 0 when
 * memory runs out; no hash is 0. */
REEF_API uint64_t reef_hash(reef_world *world);

/* ---- comparing ---- */

/* The first difference between two worlds: reef/hash.h. */
typedef struct reef_difference reef_difference;
/* Compares everything that reef_hash covers; the worlds needn't be related. True: they are equal. Otherwise the first
 * difference is written to *difference (`difference` may be NULL); its kind is 0 if there was no memory to find it (a
 * few bytes for each table). No other thread may use either world. Costs O(all rows), but blocks that both share aren't
 * compared. */
REEF_API bool reef_equal(const reef_world *a, const reef_world *b, reef_difference *difference);
REEF_END_C

#endif
