/* Queries: conditions on entities, and loops over those that match.
 *
 *     reef_query q = reef_query_new(w, "Position, in Velocity, !Frozen");
 *     for (reef_block b = reef_begin(w, q); reef_next(&b);) {
 *         Position       *p = reef_inout(&b, Position);
 *         const Velocity *v = reef_in(&b, Velocity);
 *         for (uint32_t i = 0; i < b.count; i++) p[i].x += v[i].x;
 *     }
 *     reef_query_free(w, q);
 *
 * A block is up to 1,024 entities whose components lie in plain arrays. Tables are visited in the order of their sorted
 * type names, and rows in the order of the table. This is the visible order, which depends on the world's state alone.
 * A query stays valid while tables come and go: it finds new ones by itself, and its cost doesn't depend on tables that
 * it doesn't match.
 *
 * Values of components outside of the table (docs/manual/homes.md) lie side by side in a block, too: the block ends
 * where they don't, and at a row that doesn't match.
 *
 * Where some rows of a block don't match (because of switches, disabled components, changed rows), reef_block_mask says
 * which do. reef_each goes row by row and needs no mask.
 *
 * While a loop is open, structural changes of the world (spawn, destroy, add, remove ...) return LOCKED, unless the
 * loop was opened with `deferred`. The calls set, mut and get work as usual for components that are there. A loop ends
 * when reef_next returns false, or by reef_end.
 *
 * An entity that has nothing at all (no component, no switch, and isn't disabled) has no row, and no query visits
 * it. */
#ifndef REEF_QUERY_H
#define REEF_QUERY_H

#include "component.h"

REEF_BEGIN_C

/* A query by terms instead of a text: reef/term.h. */
typedef struct reef_query_desc reef_query_desc;

/* A query. It remembers the tables that match. {0} is null. It ends with its world. A fork has the queries that its
 * origin had when it was forked, under the same handles, with their parameters, centres and orders; from then on each
 * world's are its own. Every call refuses null and a freed query (NOT_ALIVE), and one of another world
 * (OTHER_WORLD). */
typedef struct reef_query {
    uint32_t index, generation, world;
} reef_query;
REEF_INLINE bool reef_query_is_null(reef_query query) { return query.generation == 0; }

/* Makes a query from a text. Null on failure: BAD_TEXT (reef_last_error().number is the column, from 1; .detail says
 * what was expected), UNKNOWN_TYPE (.detail names the known type with the most similar name), NOT_ALIVE (no entity has
 * the name after `of`), DUPLICATE_TERM, BAD_ARGUMENT, LIMIT (REEF_TERMS_MAX terms), NO_MEMORY. DUPLICATE_TERM means
 * that a component of one source is named twice, unless it is a filter each time and inside a group at least once. */
REEF_API reef_query reef_query_new(reef_world *world, const char *text);
/* Frees a query. Null is allowed and does nothing. Errors: NOT_ALIVE, OTHER_WORLD, LOCKED (a loop over it is open). */
REEF_API reef_status reef_query_free(reef_world *world, reef_query query);

/* ---- asking ---- */

/* Number of entities that match. It doesn't visit rows where the row counts of the tables suffice. Terms that ask for
 * changes refer to the time since the query last ran; this call doesn't count as a run. */
REEF_API uint64_t reef_query_count(reef_world *world, reef_query query);
/* Does any entity match? */
REEF_API bool reef_query_any(reef_world *world, reef_query query);
/* The first entity in the visible order; null if there is none. */
REEF_API reef_entity reef_query_first(reef_world *world, reef_query query);
/* The only entity that matches. Null if there is none (ABSENT), or more than one (AMBIGUOUS). */
REEF_API reef_entity reef_query_single(reef_world *world, reef_query query);
/* Does this entity match? False for a dead one. */
REEF_API bool reef_query_matches(reef_world *world, reef_query query, reef_entity entity);
/* Describes what a loop would visit: which tables, in which order and why, with counts. As snprintf, it writes at most
 * `size` bytes with the zero, and returns the whole text's length. */
REEF_API size_t reef_query_explain(reef_world *world, reef_query query, char *text, size_t size);

REEF_END_C

#endif
