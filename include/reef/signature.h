/* Signatures: sets of component types as values.
 *
 *     reef_signature hunter = reef_signature_new(w);
 *     reef_signature_add(&hunter, reef_id(Position));
 *     reef_signature_add(&hunter, reef_id(Hungry));
 *     if (reef_has_all(w, fish, &hunter)) ...
 *     reef_signature_free(&hunter);
 *
 * A signature may contain any type: components, tags, switches. It is stored as words of 64 ids each, without the words
 * that are empty. So comparing two signatures, or testing an entity, costs O(words), whatever the number of types in
 * the process.
 *
 * {0} is the empty signature whose memory comes from the C library. A signature belongs to no world: it may be used
 * with any world, and may outlive the world whose allocator it uses (but not the allocator). Calls that take it as
 * const may run on several threads at once. Don't use its members directly.
 *
 * A call that fails returns a status and leaves the signature as it was. A pointer that is NULL is BAD_ARGUMENT. */
#ifndef REEF_SIGNATURE_H
#define REEF_SIGNATURE_H

#include "world.h"

REEF_BEGIN_C

/* The types with the ids number * 64 ... number * 64 + 63. Ids depend on the order of first use: don't save them. */
typedef struct reef_signature_word {
    uint64_t bits; /* never 0 */
    uint32_t number;
    uint32_t unused;
} reef_signature_word;

/* A set of types; {0} is the empty set. */
typedef struct reef_signature {
    reef_signature_word *words; /* ordered by number */
    uint32_t count, room;
    reef_allocator allocator;
} reef_signature;

/* ---- making ---- */

/* Returns an empty signature whose memory will come from the world's allocator; NULL: from the C library. Allocates
 * nothing. */
REEF_API reef_signature reef_signature_new(const reef_world *world);
/* Frees the memory and leaves an empty signature, which may be used again. NULL is allowed. */
REEF_API void reef_signature_free(reef_signature *signature);
/* Makes the signature the set of these types. Errors: UNKNOWN_TYPE, DUPLICATE_TERM, LIMIT (more than REEF_TYPES_MAX),
 * NO_MEMORY. */
REEF_API reef_status reef_signature_set(reef_signature *signature, const reef_component *types, uint32_t count);
/* Makes the signature the set of types that the entity has: components in all homes, tags and switches. Errors:
 * NOT_ALIVE, NO_MEMORY. */
REEF_API reef_status reef_signature_of(const reef_world *world, reef_entity entity, reef_signature *signature);
/* Makes the signature the same set as `from`. Each keeps its own allocator. Errors: NO_MEMORY. */
REEF_API reef_status reef_signature_copy(reef_signature *signature, const reef_signature *from);

/* Adds a type: ADDED, or OK if it was there. Errors: UNKNOWN_TYPE, NO_MEMORY. */
REEF_API reef_status reef_signature_add(reef_signature *signature, reef_component type);
/* Removes a type. Errors: UNKNOWN_TYPE, ABSENT. */
REEF_API reef_status reef_signature_remove(reef_signature *signature, reef_component type);

/* Makes `to` the union of `a` and `b`, their intersection, or the types of `a` that `b` doesn't have. `to` may be `a`
 * or `b`. Errors: NO_MEMORY. */
REEF_API reef_status reef_signature_union(reef_signature *to, const reef_signature *a, const reef_signature *b);
REEF_API reef_status reef_signature_intersection(reef_signature *to, const reef_signature *a, const reef_signature *b);
REEF_API reef_status reef_signature_difference(reef_signature *to, const reef_signature *a, const reef_signature *b);

/* ---- asking: NULL counts as the empty signature ---- */

/* Does the signature contain the type? */
REEF_API bool reef_signature_has(const reef_signature *signature, reef_component type);
/* Number of types. */
REEF_API uint32_t reef_signature_count(const reef_signature *signature);
/* Writes the types, ordered by name, if there is room for all of them; otherwise it writes nothing. Returns their
 * number. */
REEF_API uint32_t reef_signature_types(const reef_signature *signature, reef_component *types, uint32_t room);
/* Do the two have the same types? Allocators aren't compared. */
REEF_API bool reef_signature_equal(const reef_signature *a, const reef_signature *b);
/* Does `b` have all types of `a`? The empty signature is a subset of every signature. */
REEF_API bool reef_signature_is_subset(const reef_signature *a, const reef_signature *b);
/* Do the two have a type in common? */
REEF_API bool reef_signature_intersects(const reef_signature *a, const reef_signature *b);

/* Does the entity have all of these types (true for the empty signature), or any of them? False for a dead entity.
 * Costs O(words), and a lookup for each type that isn't in tables. */
REEF_API bool reef_has_all(const reef_world *world, reef_entity entity, const reef_signature *signature);
REEF_API bool reef_has_any(const reef_world *world, reef_entity entity, const reef_signature *signature);

REEF_END_C

#endif
