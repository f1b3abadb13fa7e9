/* Blocks and rows: what a loop over a query visits, and how to reach the values in them.
 *
 *     for (reef_block b = reef_begin(w, q); reef_next(&b);) {
 *         Position       *p = reef_inout(&b, Position);
 *         const Velocity *v = reef_in(&b, Velocity);
 *         for (uint32_t i = 0; i < b.count; i++) p[i].x += v[i].x;
 *     }
 *
 * reef/query.h says what a block is. Pointers into a block are valid until the next reef_next. */
#ifndef REEF_BLOCK_H
#define REEF_BLOCK_H

#include "query.h"

REEF_BEGIN_C

struct reef_query_head;

/* Where the values of a term begin, in a block whose values are outside of the rows. */
enum { REEF_CELLS = 6 };
typedef struct reef_cell {
    void *values;
    uint64_t next;    /* in a store without holes: the slot after the last value */
    const void *from; /* the store, or the slot of the chunk's column; NULL: there is neither */
} reef_cell;

/* Where a loop is. All of it is internal. (Members that one step writes aren't neighbours: when a compiler merges two
 * stores, the next load of one of them must wait. A table of 20 rows cost 50 ns instead of 15.) */
typedef struct reef_loop_position {
    const struct reef_query_head *head; /* the part of the query that the inlined calls use */
    const struct reef_slot *column;     /* the slot of the first column */
    const struct reef_slot *next_slots;
    const void *match; /* the block's table, among those that match */
    struct reef_query_data *query;
    /* the match that reef_next visits next; NULL: it goes on within the table, or by a call */
    const void *next;
    struct reef_job *job; /* the system's job; NULL in a loop outside of systems */
    /* the table's next chunk, whose slots are next_slots; 1: this is the last one; 0: reef_next goes on by a call */
    uint32_t next_unit;
    const uint64_t *mask;
    bool open;
    /* These are for a loop that looks at rows; they are set when it begins. */
    bool walks; /* this is such a loop */
    bool part;  /* this loop is one slice of a loop */
    bool deferred;
    uint32_t first;                /* row of the chunk at which the block begins */
    uint32_t unit;                 /* the block's chunk */
    const struct reef_slot *slots; /* of `unit` */
    uint32_t end_unit;          /* of a part: the chunk where it ends; 0: it ends with the table before match `end` */
    uint32_t walk_unit;         /* the table's next chunk; 0: this was the last one */
    const void *end;            /* after the last match */
    uint64_t since, skip, left; /* only changes newer than this count; rows still to skip; rows still to visit */
    uint64_t mask_words[REEF_BLOCK_ROWS / 64];
    /* changes are decided by these versions; NULL: by the current ones */
    const struct frozen_versions *frozen;
    /* These are for a loop over values outside of the rows, where blocks are shorter; `words` is set when it begins. */
    const uint64_t *words; /* the rows of the chunk that match; NULL: no chunk was visited yet */
    uint64_t rest;         /* the bits of words[word] that are still to be visited */
    uint32_t word, more;   /* more: bit k is set if words[k], after `word`, isn't 0 */
    bool chunk_marked;
    /* In the checked build: the loop asked which rows of the block match, and the type whose values it asked for. */
    bool rows_asked;
    uint32_t values_asked;
    uint64_t epoch;                       /* version of the pages that `from` points into */
    const struct reef_cut *cut, *cut_end; /* where the chunk's rows are remembered: those still to be visited */
    const void *bits;                     /* which entities have the value, where this is remembered; NULL: it isn't */
    /* row by row: the remembered rows of a chunk are one block, and cells[0] follows its rows */
    bool gathers;
    /* these rows have one stored value, which is only read, and one column: cells[1].next is the size of its value */
    bool run_pair;
    const void *walk_match;     /* what `match` is in other loops */
    const reef_entity *handles; /* the entities of the chunk */
    reef_cell cells[REEF_CELLS];
    /* of a term with `each`: the number of this value, from 0, and how many follow */
    uint32_t number, numbers_left;
    struct bind_run *bound; /* of a query with variables: the entities that are bound to them */
} reef_loop_position;

/* A block of a loop, and the loop's position. Don't copy it while the loop is open. */
typedef struct reef_block {
    uint32_t count;              /* rows, 1 ... REEF_BLOCK_ROWS */
    float dt;                    /* time step of the phase, in seconds; 0 in a loop outside of systems */
    const reef_entity *entities; /* the entities of the rows */
    reef_world *world;
    void *context;           /* that of reef_run or of the system */
    reef_loop_position loop; /* internal */
} reef_block;

/* Finds the next run of matching rows at or after row *first, writes its first row to *first and returns its length; 0:
 * there is no more. With it the inner loop stays a plain one:
 *     for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
 *         for (uint32_t i = first; i < first + n; i++) ... */
REEF_API uint32_t reef_block_run(const reef_block *block, uint32_t *first);
/* The array of a component in this block: b.count values, for reading or for writing, valid until the next reef_next.
 * By the C name of a type: reef_in(b, Velocity) is a const Velocity *, reef_inout(b, Position) and reef_out(b,
 * Position) are a Position *. NULL if the component is optional or in an any-of, and the table doesn't have it. NULL
 * and UNDECLARED if the query doesn't name the component with that access. */
#define reef_in(block, T) REEF_CAST(const T *, reef_block_in_decl(block, &reef_declared_by_REEF_COMPONENT_##T))
#define reef_inout(block, T) REEF_CAST(T *, reef_block_inout_decl(block, &reef_declared_by_REEF_COMPONENT_##T))
#define reef_out(block, T) REEF_CAST(T *, reef_block_inout_decl(block, &reef_declared_by_REEF_COMPONENT_##T))

/* ---- rows ---- */

/* A row of a loop row by row (reef_each), and the loop's position. Don't copy it while the loop is open. */
typedef struct reef_row {
    reef_block block;
    reef_entity entity;
    uint32_t i; /* the row within the block: its values are at i in the block's arrays */
    /* The members from here on are internal. */
    /* end of a run of matching rows; 0: the matching rows are remembered in `cut` */
    uint32_t end;
    const struct reef_cut *cut, *cut_end; /* the block's further rows, if they are remembered */
} reef_row;
/* The row's component, for writing and for reading; NULL where the block's accessors return NULL. */
#define reef_inout_at(row, T) REEF_CAST(T *, reef_row_inout(&(row), &reef_declared_by_REEF_COMPONENT_##T, sizeof(T)))
#define reef_in_at(row, T) REEF_CAST(const T *, reef_row_in(&(row), &reef_declared_by_REEF_COMPONENT_##T, sizeof(T)))

REEF_END_C

/* The accessors are inlined. */
#include "detail/column.h"

#endif
