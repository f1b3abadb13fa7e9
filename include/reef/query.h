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

#include "entity.h"
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

/* ---- loops ---- */

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

/* How to walk; {0}: everything, in the visible order. */
typedef struct reef_loop {
    uint64_t offset; /* matching rows to skip at the beginning */
    uint64_t limit;  /* matching rows to visit at most; 0: all */
    /* for terms REEF_IF_CHANGED and REEF_IF_ADDED: a version of reef_version; 0: since this query last ran */
    uint64_t since;
    bool grouped; /* of an ordered query (reef_query_order): only the rows whose key is `group` */
    uint64_t group;
    /* structural changes by calls on the world are recorded, and done when the loop ends: see below */
    bool deferred;
} reef_loop;

/* Opens a loop. A query that is refused gives a loop without blocks, and the error is recorded: NOT_ALIVE,
 * OTHER_WORLD, NO_MEMORY. */
REEF_API reef_block reef_begin(reef_world *world, reef_query query);
/* The same with a say in how. Further errors: BAD_ARGUMENT. */
REEF_API reef_block reef_begin_loop(reef_world *world, reef_query query, const reef_loop *loop);
/* A loop over a query that is asked once: made from the text, freed at the loop's end. Errors as reef_query_new. */
REEF_API reef_block reef_begin_text(reef_world *world, const char *text);
/* The next block; false at the end, or when memory for unsharing a block ran out (then reef_last_error().status is
 * NO_MEMORY; it is OK after a whole loop). */
REEF_INLINE bool reef_next(reef_block *block);
/* The same as a function that other languages can call. */
REEF_API bool reef_next_block(reef_block *block);
/* Leaves a loop before its end. */
REEF_API void reef_end(reef_block *block);

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

/* ---- changing the structure inside of a loop ----
 *
 *     for (reef_block b = reef_begin_loop(w, q, &(reef_loop){.deferred = true}); reef_next(&b);) ... reef_destroy(w,
 *     e) ...
 *
 * While such a loop is open, these calls are recorded and answer OK: making (also by a bundle, and clones),
 * destroying, add, remove, remove_all, enabling and disabling; set and change where they would do more than write
 * what is there. They are done when the last open loop ends, in the order of the calls, and mean what they would
 * mean if they were made then, one by one; docs/rules/deferred.md has the table. What can be told at once is refused at
 * once: dead handles, unknown types, sizes, doubles; what depends on the state is decided when it is done (EXISTS,
 * ABSENT, NOT_ALIVE since a call before it destroyed the entity). A call that fails then has no effect, the others
 * are done; each goes to the log as a warning, and the first is reef_last_error after the loop. All other structural
 * calls, and reef_ensure of what isn't there, go on answering LOCKED.
 *
 * Making gives the handles at once: they are good for all of these calls, and not alive until the loop's end. Ids
 * are taken when the call is made: an index that becomes free by a destroy in the same loop isn't taken again in it,
 * and a call that makes an entity and fails in the end has taken one (its index is free then, with the next
 * generation). Values are copied at once (moved out of the caller's where there is no copy), and destroyed if their
 * call fails in the end. What a constructor is given args for is constructed at once.
 *
 * Loops inside of one another: calls are recorded while any loop is open that asked for it, and done when none is
 * open any more. */

/* Does what is left when memory ran out at a loop's end: then reef_last_error().status is NO_MEMORY, and the call
 * that failed so and all behind it are kept for the end of the next loop, or for this. Until nothing is left,
 * snapshots and forks are refused (LOCKED); a restore, and the end of the world, forget what is left. OK: all is
 * done, also if there was nothing. NO_MEMORY: some are left. LOCKED: a loop is open. Otherwise all is done, and this
 * is what the first call that failed would have answered. */
REEF_API reef_status reef_flush(reef_world *world);

/* Calls `function` for each block, in order: any function, once, without registering it. `context` is
 * block->context. */
REEF_API reef_status reef_run(reef_world *world, reef_query query, void (*function)(reef_block *block), void *context);

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

/* ---- row by row ----
 *     reef_each(w, q, row) reef_at(row, Position)->x += reef_at_in(row, Velocity)->x;
 * visits the matching rows only. Leave it early by break, or from further inside by reef_end(&row.block) first.
 * Where rows lie apart, this is the quicker form: blocks of one row are found once for each, rows many at a time. */
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
/* Opens such a walk, before its first row. Errors as reef_begin; then there are no rows. */
REEF_API reef_row reef_rows(reef_world *world, reef_query query);
/* The next row: row->entity, at row->i of row->block. False: no more, or no memory, as reef_next. */
REEF_INLINE bool reef_row_next(reef_row *row);
/* For each row that matches; `row` is a reef_row of the loop. (Two loops, so that the inner one calls nothing.) */
#define reef_each(world, query, row) \
    for (reef_row row = reef_rows(world, query); reef_rows_more(&row);) \
        while (reef_row_step(&row))
/* The row's component, for writing and for reading; NULL as the block's. */
#define reef_at(row, T) ((T *)reef_row_inout(&(row), reef_decl_of_##T(), sizeof(T)))
#define reef_at_in(row, T) ((const T *)reef_row_in(&(row), reef_decl_of_##T(), sizeof(T)))

/* ---- shares for the caller's own threads ---- */

/* A loop split into `count` parts that are walked on different threads, each by the same code as a whole loop:
 *     reef_split *s = reef_split_begin(w, q, NULL, 4);
 *     ... on thread i: for (reef_block b = reef_split_part(s, i); reef_next(&b);) ...
 *     reef_split_end(s);
 * begin unshares (by copying, REEF_OUT too) and marks everything that will be written, so the parts never fail and
 * never wait. Parts are runs of blocks in the visible order, about equal in rows, and depend on the state and
 * `count` alone. Between begin and end only the blocks of the parts and calls on a const world may be used. NULL on
 * failure: as reef_begin_loop, and BAD_ARGUMENT for count 0 or above REEF_SPLIT_MAX, for a loop with offset, limit,
 * groups or deferred changes, for an ordered query, and for one that asks inside a group whether a component changed
 * that it writes. */
typedef struct reef_split reef_split;
/* Makes such a split, as above; NULL on failure. It lives until reef_split_end. */
REEF_API reef_split *reef_split_begin(reef_world *world, reef_query query, const reef_loop *loop, uint32_t count);
/* The loop over part `part`, 0 ... count - 1; any other has no blocks. Any thread; each part is walked once. */
REEF_API reef_block reef_split_part(reef_split *split, uint32_t part);
/* Ends the split when all threads are done with their parts. NULL is allowed. */
REEF_API void reef_split_end(reef_split *split);

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
/* The fields of one entity: a block of one row for the accessors above. False if it doesn't match. It's no loop:
 * nothing is open. The block lives until the next call that takes the world without const. */
REEF_API bool reef_query_row(reef_world *world, reef_query query, reef_entity entity, reef_block *row);
/* What a loop would walk, in words: tables, in which order and why, with counts. As snprintf: at most `size` bytes
 * with the zero; returns the whole text's length. */
REEF_API size_t reef_query_explain(reef_world *world, reef_query query, char *text, size_t size);
/* The query as a text that reef_query_new takes; the same contract. */
REEF_API size_t reef_query_text(const reef_world *world, reef_query query, char *text, size_t size);

REEF_END_C

/* reef_next and the accessors are inlined. */
#include "fast.h"

#endif
