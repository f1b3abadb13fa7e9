/* Queries: walking over all entities that have a set of components.
 *
 *     reef_query *q = reef_query_new(w, "Position, in Velocity");
 *     for (reef_block b = reef_begin(w, q); reef_next(&b);) {
 *         Position       *p = reef_inout(&b, Position);
 *         const Velocity *v = reef_in(&b, Velocity);
 *         for (uint32_t i = 0; i < b.count; i++) p[i].x += v[i].x;
 *     }
 *     reef_query_free(q);
 *
 * A block is up to 1,024 entities whose components lie in plain arrays. Tables are visited in the order of their sorted
 * type names, rows in the order of the table, so the order depends on the world's state alone. A query stays valid while
 * tables come and go; it finds new ones by itself, and its cost doesn't depend on tables that it doesn't match.
 *
 * While a loop is open, structural changes of the world answer LOCKED (spawn, destroy, add, remove ...); set, mut and
 * get of components that are there go on working. A loop ends when reef_next answers false, or by reef_end. */
#ifndef REEF_QUERY_H
#define REEF_QUERY_H

#include "entity.h"

REEF_BEGIN_C

typedef enum reef_access {
    REEF_INOUT = 0, /* read and written: the loop marks each block it visits as changed */
    REEF_IN,        /* read only */
    REEF_OUT,       /* written without being read */
    REEF_WITH       /* must be there, its data isn't touched; tags and switches are always like this */
} reef_access;

typedef struct reef_term {
    reef_component component;
    reef_access    access;
} reef_term;

typedef struct reef_query_desc {
    const char *text;     /* "Position, in Velocity, with Hungry"; NULL: the terms below */
    reef_term   terms[REEF_TERMS_MAX]; /* up to the first whose component is {0} */
} reef_query_desc;

typedef struct reef_query reef_query;

/* Makes a query from a text: terms joined by commas, each a type's name with `in`, `out`, `inout` (the default) or `with`
 * before it. Freed by reef_query_free, or with its world. NULL on failure: BAD_TEXT (reef_last_error().number is the
 * column, from 1), UNKNOWN_TYPE, DUPLICATE_TERM, LIMIT, NO_MEMORY. */
REEF_API reef_query *reef_query_new(reef_world *world, const char *text);
/* The same from a struct: reef_query_make(w, &(reef_query_desc){.terms = {{reef_id(Position)}, {reef_id(Velocity), REEF_IN}}}) */
REEF_API reef_query *reef_query_make(reef_world *world, const reef_query_desc *desc);
REEF_API void reef_query_free(reef_query *query);
/* Number of entities that match. */
REEF_API uint64_t reef_query_count(reef_query *query);
/* Does this entity match? False for a dead one. */
REEF_API bool reef_query_matches(const reef_query *query, reef_entity entity);

/* A block of the loop, and the loop's place. Don't copy it while the loop is open. */
typedef struct reef_block {
    uint32_t           count;    /* rows, 1 ... REEF_BLOCK_ROWS */
    float              dt;       /* of the tick, in seconds; 0 in a loop of your own */
    const reef_entity *entities; /* of the rows */
    reef_world        *world;
    /* reef's own. (Fields that one step writes don't stand side by side: a compiler that merges two stores makes the
     * next load of one of them wait. A table of 20 rows cost 50 ns instead of 15.) */
    reef_query             *query;
    const struct reef_slot *slots;
    const void             *match; /* the next one */
    const void             *match_end;
    const struct reef_slot *next_slots;
    uint32_t                next_unit; /* the table's next chunk, 0: this is the last. (next_slots: its slots.) */
    uint32_t                bit_next_unit, bit_unit; /* of a loop over switches: the same, and the block's own */
    const uint64_t         *mask;
    bool                    open;
    uint64_t                mask_words[REEF_BLOCK_ROWS / 64];
} reef_block;

/* Opens a loop. A query of another world, or NULL, gives a loop without blocks, and the error is recorded. */
REEF_API reef_block reef_begin(reef_world *world, reef_query *query);
/* The next block; false at the end, or when memory for unsharing a block ran out (then reef_last_error().status is
 * NO_MEMORY; it is OK after a whole loop). */
REEF_INLINE bool reef_next(reef_block *block);
/* The same as a function that other languages can call. */
REEF_API bool reef_next_block(reef_block *block);
/* Leaves a loop before its end. */
REEF_API void reef_end(reef_block *block);

/* The array of a component in this block: block->count values, valid until the next reef_next. NULL if the query doesn't
 * name the component with that access. */
REEF_API const void *reef_block_in(const reef_block *block, reef_component type);
REEF_API void *reef_block_inout(const reef_block *block, reef_component type);
/* The bits of a REEF_BIT type for the rows of this block: bit i % 64 of word i / 64 is row i, bits from count on are zero.
 * Always 16 words. The type need not be a term. */
REEF_API const uint64_t *reef_block_bits(const reef_block *block, reef_component type);
/* The rows that match the query's REEF_BIT terms, in the same form: NULL when all rows of the block match. Blocks without
 * any matching row are not visited. */
REEF_API const uint64_t *reef_block_mask(const reef_block *block);

#define reef_in(block, T) ((const T *)reef_block_in_fast(block, reef_id(T)))
#define reef_inout(block, T) ((T *)reef_block_inout_fast(block, reef_id(T)))
#define reef_out(block, T) ((T *)reef_block_inout_fast(block, reef_id(T)))
#define reef_bits(block, T) reef_block_bits(block, reef_id(T))

REEF_END_C

/* reef_next and the accessors are inlined. */
#include "fast.h"

#endif
