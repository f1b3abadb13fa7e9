/* Signatures: sets of component types as values.
 *
 *     reef_signature hunter = reef_signature_new(w);
 *     reef_signature_add(&hunter, reef_id(Position));
 *     reef_signature_add(&hunter, reef_id(Hungry));
 *     if (reef_has_all(w, fish, &hunter)) ...
 *     reef_signature_free(&hunter);
 *
 * Any type may be in one: components, tags, switches. It is kept as words of 64 ids, and words without a type aren't
 * kept: so comparing two of them, or testing an entity, costs O(words), whatever the number of types in the process.
 *
 * {0} is the empty signature whose memory comes from the C library. A signature belongs to no world: it may be used
 * with any, and may outlive the one it was made for (but not that world's allocator). Calls that take it as const
 * may run on several threads at once. Its fields are reef's own.
 *
 * Errors are statuses; a call that fails leaves the signature as it was. BAD_ARGUMENT: a pointer is NULL. */
#ifndef REEF_SIGNATURE_H
#define REEF_SIGNATURE_H

#include "world.h"

REEF_BEGIN_C

/* The types with ids number * 64 ... number * 64 + 63. Ids depend on the order of first use: don't save them. */
typedef struct reef_signature_word {
    uint64_t bits; /* never 0 */
    uint32_t number;
    uint32_t unused;
} reef_signature_word;

/* A set of types; {0}: the empty one. */
typedef struct reef_signature {
    reef_signature_word *words; /* by number */
    uint32_t count, room;
    reef_allocator allocator;
} reef_signature;

/* ---- making ---- */

/* An empty signature whose memory comes from the world's allocator; NULL: from the C library. Allocates nothing yet. */
REEF_API reef_signature reef_signature_new(const reef_world *world);
/* Gives the memory back and leaves an empty signature, which may be used on. NULL is allowed. */
REEF_API void reef_signature_free(reef_signature *signature);
/* Becomes the set of these types. Errors: UNKNOWN_TYPE, DUPLICATE_TERM, LIMIT (more than REEF_TYPES_MAX), NO_MEMORY. */
REEF_API reef_status reef_signature_set(reef_signature *signature, const reef_component *types, uint32_t count);
/* Becomes what the entity has: components of all homes, tags and switches. Errors: NOT_ALIVE, NO_MEMORY. */
REEF_API reef_status reef_signature_of(const reef_world *world, reef_entity entity, reef_signature *signature);
/* Becomes the same set; each keeps its own allocator. Errors: NO_MEMORY. */
REEF_API reef_status reef_signature_copy(reef_signature *signature, const reef_signature *from);

/* ADDED, or OK if it was there. Errors: UNKNOWN_TYPE, NO_MEMORY. */
REEF_API reef_status reef_signature_add(reef_signature *signature, reef_component type);
/* Errors: UNKNOWN_TYPE, ABSENT. */
REEF_API reef_status reef_signature_remove(reef_signature *signature, reef_component type);

/* `to` becomes what either has, what both have, what `a` has and `b` hasn't; it may be one of the two. Errors:
 * NO_MEMORY. */
REEF_API reef_status reef_signature_union(reef_signature *to, const reef_signature *a, const reef_signature *b);
REEF_API reef_status reef_signature_intersection(reef_signature *to, const reef_signature *a, const reef_signature *b);
REEF_API reef_status reef_signature_difference(reef_signature *to, const reef_signature *a, const reef_signature *b);

/* ---- asking: NULL is taken as the empty signature ---- */

/* Is the type in it? */
REEF_API bool reef_signature_has(const reef_signature *signature, reef_component type);
/* Number of types. */
REEF_API uint32_t reef_signature_count(const reef_signature *signature);
/* The types by name, if there is room for all of them; otherwise nothing is written. Returns their number. */
REEF_API uint32_t reef_signature_types(const reef_signature *signature, reef_component *types, uint32_t room);
/* Do they have the same types? Allocators don't count. */
REEF_API bool reef_signature_equal(const reef_signature *a, const reef_signature *b);
/* Has `b` all that `a` has? The empty signature is a subset of every one. */
REEF_API bool reef_signature_is_subset(const reef_signature *a, const reef_signature *b);
/* Have they a type in common? */
REEF_API bool reef_signature_intersects(const reef_signature *a, const reef_signature *b);

/* Has the entity all of these types (true for the empty signature), or any of them? False for a dead one. Costs
 * O(words), and what it costs to look up those among them that aren't in tables. */
REEF_API bool reef_has_all(const reef_world *world, reef_entity entity, const reef_signature *signature);
REEF_API bool reef_has_any(const reef_world *world, reef_entity entity, const reef_signature *signature);

REEF_END_C

#endif
