/* Queries: what one can ask of a world.
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
 * type names, rows in the order of the table, so the order depends on the world's state alone. A query stays valid
 * while tables come and go; it finds new ones by itself, and its cost doesn't depend on tables that it doesn't
 * match.
 *
 * Of components outside of the table (docs/manual/homes.md) values lie side by side in a block as well: a block ends
 * where they don't, and at a row that doesn't match.
 *
 * Where some rows of a block don't match (switches, disabled components, changed rows), the block says which do:
 * reef_block_mask. reef_each walks row by row and needs no mask.
 *
 * While a loop is open, structural changes of the world answer LOCKED (spawn, destroy, add, remove ...), unless the
 * loop asked for them to be deferred; set, mut and get of components that are there go on working. A loop ends when
 * reef_next answers false, or by reef_end.
 *
 * An entity that has nothing at all (no component, no switch, no mark of being disabled) has no row, and no query
 * visits it. */
#ifndef REEF_QUERY_H
#define REEF_QUERY_H

#include "component.h"
#include "order.h"

REEF_BEGIN_C

/* ---- terms ---- */

/* What a loop does with the values of a term. */
typedef enum reef_access {
    REEF_INOUT = 0, /* read and written: the loop marks each block that it visits as changed */
    REEF_IN,        /* read only: never marks */
    /* every value is written without being read: a block that is shared with a fork isn't copied (but in systems) */
    REEF_OUT,
    REEF_WITH /* a filter: must be there, its data isn't touched. Tags and switches are always like this */
} reef_access;

/* What a term asks of the component. */
typedef enum reef_op {
    REEF_HAS = 0,  /* the entity has the component, and it isn't disabled there */
    REEF_NOT,      /* that isn't so; always a filter */
    REEF_OPTIONAL, /* either; the block's accessors answer NULL in tables that don't have it */
    /* Groups over the next `count` terms; each of these may be a group itself. */
    REEF_ANY_OF, /* at least one holds. A component with data is NULL where it isn't there */
    REEF_ALL_OF,
    REEF_NONE_OF
} reef_op;

/* What is asked of the marks of being disabled. */
typedef enum reef_enabled {
    REEF_ENABLED = 0, /* only rows where the component is enabled */
    REEF_DISABLED,    /* only rows where it is disabled */
    REEF_EITHER       /* both */
} reef_enabled;

/* What is asked of the time of the last write. */
typedef enum reef_since {
    REEF_ALWAYS = 0,
    /* written since this query last ran (or since reef_loop.since): the rows of blocks that were written, of values
     * outside of the table those of pages; exactly the rows that were for a type with track_rows */
    REEF_IF_CHANGED,
    REEF_IF_ADDED /* got the component since then; for types with track_rows (others: BAD_ARGUMENT) */
} reef_since;

/* One condition of a query, or the head of a group of conditions. */
typedef struct reef_term {
    reef_component component; /* {0} for a group */
    reef_access access;
    reef_op op;
    reef_enabled enabled;
    reef_since since;
    uint32_t count; /* of a group: how many terms or groups are directly inside it, 1 ... REEF_TERMS_MAX */
    /* 1: the component or a subtype of it (reef/subtype.h), as "Moving+" in a text. Not with a source, nor with
     * REEF_IF_ADDED */
    uint32_t subtypes;
    /* {0}: the entity that is visited. Another: the term holds for all rows or for none, and its data is read by
     * reef_fixed_in, reef_fixed_inout. When that entity dies, the term doesn't hold */
    reef_entity source;
    /* of a type in REEF_MULTI: one visit for each value, in their order, in a block of one row; else one an entity,
     * where reef_in gives the first and reef_block_span all. Of other homes it means nothing. For one term of a query
     * whose data is asked for, HAS, outside of groups, without a source (else BAD_ARGUMENT) */
    bool each;
} reef_term;

/* A query to be made: its text or its terms. */
typedef struct reef_query_desc {
    /* "Position, in Velocity, !Frozen, ?Mass, Red | Blue": docs/manual/query-terms.md; NULL: the terms below */
    const char *text;
    reef_term terms[REEF_TERMS_MAX]; /* up to the first HAS, NOT or OPTIONAL whose component is {0} */
    reef_enabled entities;           /* which whole entities; enabled ones unless said otherwise */
} reef_query_desc;

/* A query, cached: it remembers the tables that match. {0} is null. Dies with its world. A freed one, another
 * world's and null are refused by every call: NOT_ALIVE, OTHER_WORLD. */
typedef struct reef_query {
    uint32_t index, generation, world;
} reef_query;
REEF_INLINE bool reef_query_is_null(reef_query query) { return query.generation == 0; }

/* Makes a query from a text. Null on failure: BAD_TEXT (reef_last_error().number is the column, from 1; .detail what
 * was expected), UNKNOWN_TYPE (.detail names the nearest known one), NOT_ALIVE (nobody has the name after `of`),
 * DUPLICATE_TERM, BAD_ARGUMENT, LIMIT (REEF_TERMS_MAX terms), NO_MEMORY. DUPLICATE_TERM: a component of one source
 * is named twice, unless it is a filter each time and inside a group at least once. */
REEF_API reef_query reef_query_new(reef_world *world, const char *text);
/* The same from a struct: reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Position)},
 * {.component = reef_id(Velocity), .access = REEF_IN}, {.component = reef_id(Frozen), .op = REEF_NOT}}}).
 * reef_last_error().number is the number of the bad term, from 1. */
REEF_API reef_query reef_query_make(reef_world *world, const reef_query_desc *desc);
/* A query with the same terms in `to`, which is the query's own world or another that knows the types. */
REEF_API reef_query reef_query_copy(reef_world *to, const reef_world *from, reef_query query);
/* Errors: NOT_ALIVE, OTHER_WORLD, LOCKED (a loop over it is open). Null is allowed and does nothing. */
REEF_API reef_status reef_query_free(reef_world *world, reef_query query);

/* ---- order and groups ---- */

/* From now on loops over this query visit the rows that match in the order of their keys (reef/order.h), equal ones
 * by entity; NULL: in the visible order again. A block is then a run of rows that stand side by side in their table
 * and in the order: one row at worst. The component is a term that every match has, outside of groups and not
 * optional, of the entity that is visited; {0}: by entity. The query keeps a sorted list, 16 bytes a row, and
 * repairs it when a loop begins: it looks at each block's versions, and only the rows of blocks that were written
 * are sorted and merged in. The list isn't part of the world's state; a copy of the query has the order too, and a
 * list of its own. A loop that is open goes on in the order that it began with, and so does one over the same query
 * inside it. What else asks the query (count, first, pick ...) doesn't look at the order. Such a query can't be
 * split. Errors: NOT_ALIVE, OTHER_WORLD, UNKNOWN_TYPE, BAD_ARGUMENT (no such term, no such field), LOCKED (a loop
 * over it is open), NO_MEMORY. */
REEF_API reef_status reef_query_order(reef_world *world, reef_query query, const reef_order *order);

/* The rows of an ordered query whose keys are equal are a group. One group is found by halving, and walked by
 *     reef_begin_loop(w, q, &(reef_loop){.grouped = true, .group = key})
 * (a group without rows is an empty loop). All groups, in the query's order:
 *     for (reef_group g = {0}; reef_query_next_group(w, q, &g);) ... */
typedef struct reef_group {
    uint64_t key;
    uint64_t count; /* rows that match, at least 1 */
    bool begun;     /* false: the next group is the first one */
} reef_group;
/* The group behind *group, or the first one. False: there is none, and *group isn't changed. `key` is all that
 * counts of a group that was begun: it need not be that of one. Errors (false, too): NOT_ALIVE, OTHER_WORLD,
 * BAD_ARGUMENT (no order), NO_MEMORY. */
REEF_API bool reef_query_next_group(reef_world *world, reef_query query, reef_group *group);
/* How many rows of a group match; 0 where there is none. Errors (0, too): the same. */
REEF_API uint64_t reef_query_group_count(reef_world *world, reef_query query, uint64_t group);

/* ---- asking ---- */

/* Number of entities that match. Doesn't visit rows where the tables' counts say it. Terms that ask for changes:
 * since the query last ran; asking is no run. */
REEF_API uint64_t reef_query_count(reef_world *world, reef_query query);
/* Does any entity match? */
REEF_API bool reef_query_any(reef_world *world, reef_query query);
/* The first in the visible order, null if there is none. */
REEF_API reef_entity reef_query_first(reef_world *world, reef_query query);
/* The only one. Null when there is none (ABSENT), or more than one (AMBIGUOUS). */
REEF_API reef_entity reef_query_single(reef_world *world, reef_query query);
/* One at random, each with equal chance: the same for the same state and seed. Null if there is none. */
REEF_API reef_entity reef_query_pick(reef_world *world, reef_query query, uint64_t seed);
/* Does this entity match? False for a dead one. */
REEF_API bool reef_query_matches(reef_world *world, reef_query query, reef_entity entity);
/* What a loop would walk, in words: tables, in which order and why, with counts. As snprintf: at most `size` bytes
 * with the zero; returns the whole text's length. */
REEF_API size_t reef_query_explain(reef_world *world, reef_query query, char *text, size_t size);
/* The query as a text that reef_query_new takes; the same contract. */
REEF_API size_t reef_query_text(const reef_world *world, reef_query query, char *text, size_t size);

REEF_END_C

#endif
