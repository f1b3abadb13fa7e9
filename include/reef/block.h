/* Blocks and rows: what a loop over a query hands out, and how to reach the values in it.
 *
 *     for (reef_block b = reef_begin(w, q); reef_next(&b);) {
 *         Position       *p = reef_inout(&b, Position);
 *         const Velocity *v = reef_in(&b, Velocity);
 *         for (uint32_t i = 0; i < b.count; i++) p[i].x += v[i].x;
 *     }
 *
 * reef/query.h says what a block is. Pointers into one are valid until the next reef_next. */
#ifndef REEF_BLOCK_H
#define REEF_BLOCK_H

#include "query.h"

REEF_BEGIN_C

struct reef_query_head;

/* Of a block that is cut: where the values of a term begin. */
enum { REEF_CELLS = 6 };
typedef struct reef_cell {
    void *values;
    uint64_t next;    /* in a store without holes: the slot behind the last value */
    const void *from; /* the store, or the slot of the chunk's column; NULL: it has none */
} reef_cell;

/* A block of the loop, and the loop's place. Don't copy it while the loop is open. */
typedef struct reef_block {
    uint32_t count;              /* rows, 1 ... REEF_BLOCK_ROWS */
    float dt;                    /* of the phase, in seconds; 0 in a loop of your own */
    const reef_entity *entities; /* of the rows */
    reef_world *world;
    void *context; /* of reef_run; of the system */
    /* reef's own. (Fields that one step writes don't stand side by side: a compiler that merges two stores makes the
     * next load of one of them wait. A table of 20 rows cost 50 ns instead of 15.) */
    const struct reef_query_head *head; /* what the inlined calls know of the query */
    const struct reef_slot *column;     /* the slot of the first column */
    const struct reef_slot *next_slots;
    const void *match; /* its table, among those that match */
    struct reef_query_data *query;
    /* the match that reef_next comes to; NULL: it goes on within the table, or by a call */
    const void *next;
    struct reef_job *job; /* of a system's block; NULL in a loop of your own */
    /* the table's next chunk (next_slots: its slots); 1: this is the last; 0: reef_next goes on by a call */
    uint32_t next_unit;
    const uint64_t *mask;
    bool open;
    /* of a loop with a look at rows; set when it begins */
    bool walks; /* it is such a loop */
    bool part;  /* of a split */
    bool deferred;
    uint32_t first;                /* row of the chunk where the block begins */
    uint32_t unit;                 /* the block's chunk */
    const struct reef_slot *slots; /* of `unit` */
    uint32_t end_unit;             /* of a part: where it ends; 0: with the table before match `end` */
    uint32_t walk_unit;            /* the table's next chunk, 0: this was the last */
    const void *end;               /* behind the last match */
    const void *lone;              /* the bits of the one switch that decides which rows match; NULL: look further */
    uint64_t since, skip, left;    /* changes newer than this count; rows to skip; rows still wanted */
    uint64_t mask_words[REEF_BLOCK_ROWS / 64];
    /* what changed is held against these; NULL: against the versions as they are */
    const struct frozen_versions *frozen;
    /* of a loop whose blocks are cut, since values lie outside of the rows; `words` is set when it begins */
    const uint64_t *words; /* the rows of the chunk that match; NULL: there was no chunk yet */
    uint64_t rest;         /* of words[word], those that are still to come */
    uint32_t word, more;   /* more: bit k: words[k], behind `word`, has some */
    bool chunk_marked;
    uint64_t epoch;                       /* of the pages that `from` points into */
    const struct reef_cut *cut, *cut_end; /* the chunk's rows where they are remembered: those that are still to come */
    const void *bits;                     /* that say who has the value where this is remembered; NULL: it isn't */
    /* row by row: what is remembered of a chunk is one block, and cells[0] follows its rows */
    bool gathers;
    /* they have one stored value, only read, and one column: cells[1].next is its value's size */
    bool run_pair;
    const void *walk_match;     /* what `match` is in other loops */
    const reef_entity *handles; /* of the chunk */
    reef_cell cells[REEF_CELLS];
    /* of a term with `each`: which of its values this is, and how many follow */
    uint32_t number, numbers_left;
} reef_block;

/* The array of a component in this block: block->count values, valid until the next reef_next. NULL where the table
 * doesn't have an optional one or one of an any-of; NULL and UNDECLARED if the query doesn't name the component with
 * that access. */
REEF_API const void *reef_block_in(const reef_block *block, reef_component type);
REEF_API void *reef_block_inout(const reef_block *block, reef_component type);
/* The rows of this block that have a component or switch, enabled: bit i % 64 of word i / 64 is row i, bits from
 * count on are zero. Always 16 words, written to `words` of the caller, which is also the answer. The type need not
 * be a term. */
REEF_API const uint64_t *reef_block_bits(const reef_block *block, reef_component type, uint64_t *words);
/* The rows of the block that match, in the same form; NULL when all do. Blocks without any matching row are not
 * visited. Valid until the next reef_next. */
REEF_INLINE const uint64_t *reef_block_mask(const reef_block *block)
{
    return block && block->count ? block->mask : NULL;
}
/* The next run of matching rows at or behind row *first: *first becomes its first row, the answer is its length; 0:
 * no more. So that the inner loop stays a plain one:
 *     for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
 *         for (uint32_t i = first; i < first + n; i++) ... */
REEF_API uint32_t reef_block_run(const reef_block *block, uint32_t *first);
/* The component of a term with a fixed source, of this query; valid as a pointer from reef_get and reef_mut is. NULL
 * if it isn't there (an optional one) or isn't named so. Writing marks it. */
REEF_API const void *reef_block_fixed_in(const reef_block *block, reef_component type);
REEF_API void *reef_block_fixed_inout(const reef_block *block, reef_component type);

/* The array of one field, by its place in the struct: of a type that is split by field its column, count values side
 * by side. Of another type only if the field is all of the struct: an array never has gaps. NULL and UNDECLARED
 * otherwise, as above. */
REEF_API const void *reef_block_field_in(const reef_block *block, reef_component type, size_t offset, size_t size);
REEF_API void *reef_block_field_inout(const reef_block *block, reef_component type, size_t offset, size_t size);

/* reef_in_field(b, Position, x): the field's array, of its type. */
#define reef_in_field(block, T, field) \
    ((const REEF_TYPE_OF_FIELD(T, field) *)reef_block_field_in(block, reef_id(T), offsetof(T, field), \
                                                               sizeof(((T *)0)->field)))
#define reef_inout_field(block, T, field) \
    ((REEF_TYPE_OF_FIELD(T, field) *)reef_block_field_inout(block, reef_id(T), offsetof(T, field), \
                                                            sizeof(((T *)0)->field)))
/* reef_in(b, Velocity): a const Velocity *, reef_inout(b, Position): a Position *, reef_out the same; by the C name
 * of a type. */
#define reef_in(block, T) ((const T *)reef_block_in_decl(block, reef_decl_of_##T()))
#define reef_inout(block, T) ((T *)reef_block_inout_decl(block, reef_decl_of_##T()))
#define reef_out(block, T) ((T *)reef_block_inout_decl(block, reef_decl_of_##T()))
#define reef_bits(block, T, words) reef_block_bits(block, reef_id(T), words)
#define reef_fixed_in(block, T) ((const T *)reef_block_fixed_in(block, reef_id(T)))
#define reef_fixed_inout(block, T) ((T *)reef_block_fixed_inout(block, reef_id(T)))

/* The fields of one entity: a block of one row for the accessors above. False if it doesn't match. It's no loop:
 * nothing is open. The block lives until the next call that takes the world without const. */
REEF_API bool reef_query_row(reef_world *world, reef_query query, reef_entity entity, reef_block *row);
/* ---- rows ---- */

/* A row of such a walk, and the walk's place. Don't copy it while the walk is open. */
typedef struct reef_row {
    reef_block block;
    reef_entity entity;
    uint32_t i; /* in the block: of the block's arrays, the value at i is the row's */
    /* reef's own */
    /* of the rows side by side that match: behind the last; 0: it is remembered which match */
    uint32_t end;
    const struct reef_cut *cut, *cut_end; /* then the block's further rows */
} reef_row;
/* The row's component, for writing and for reading; NULL as the block's. */
#define reef_at(row, T) ((T *)reef_row_inout(&(row), reef_decl_of_##T(), sizeof(T)))
#define reef_at_in(row, T) ((const T *)reef_row_in(&(row), reef_decl_of_##T(), sizeof(T)))

REEF_END_C

/* The accessors are inlined. */
#include "detail/column.h"

#endif
