/* Variables: the entities that rows lead to by relations.
 *
 *   Fighter, DockedTo($ship), Planet($planet), Orbits($ship, $planet), !Hostile($planet)
 *
 *   step 1   $ship := target of DockedTo of the row       exclusive: at most one, so all rows of a chunk at once
 *   step 2   $planet := target of Orbits of $ship         the same
 *   step 3   $planet has Planet
 *   step 4   $planet has no Hostile
 *
 * A *binding* is an entity for each variable such that all terms hold; a row matches once for each binding. Steps that
 * bind at most one entity come as early as they can; the others keep the order of the text, so they decide in which
 * order the bindings of a row come: that of the targets, or sources, of the first of them, then of the second ...
 * A variable to which no relation leads is bound by its value (src/query/value_join.h), after all that relations bind.
 * The steps up to the first that may bind several are done for all rows of a chunk at once, one step after the other;
 * the rest for each row, backtracking.
 *
 * A loop has lanes: for each variable an array with the entity of each row of the chunk. Rows with one binding are a
 * block of the loop, with a mask; a row with several is a block for each of them. */
#ifndef REEF_QUERY_VARIABLES_H
#define REEF_QUERY_VARIABLES_H

#include "query/query.h"
#include "query/relation_plan.h"
#include "query/value_join.h"

typedef enum step_kind {
    STEP_TARGETS, /* binds `to`: the targets of `from` */
    STEP_SOURCES, /* binds `from`: the sources of `to` */
    STEP_EQUAL,   /* binds `from`: those whose value is that of `to` */
    STEP_RELATED, /* is `from` related to `to`? */
    STEP_HAS,     /* has `from` the component? */
    STEP_COMPARE  /* does the join hold? */
} step_kind;

/* What a step speaks of: the visited entity, variable 1 ..., or the term's target. */
enum { SLOT_VISITED = 0, SLOT_TARGET = REEF_VARIABLES_MAX + 1, SLOTS };

typedef struct bind_step {
    step_kind kind;
    uint16_t term;
    uint8_t from, to;
    uint8_t values;        /* the number of the array with the values that it finds, from 1; 0: none */
    bool single;           /* it binds at most one entity */
    bool closure;          /* it binds by way of others, too: the relation is transitive, or reflexive */
    uint8_t join;          /* of STEP_EQUAL and STEP_COMPARE: its number in q->values->joins */
    uint16_t field, other; /* of STEP_EQUAL: the tests of the field of `from`, and of that of `to` */
    const type *type;
} bind_step;

INLINE uint8_t slot_from(const reef_term *t) { return t->variable; }
INLINE uint8_t slot_to(const reef_term *t)
{
    if (t->target_variable == REEF_VISITED) return SLOT_VISITED;
    return t->target_variable ? t->target_variable : SLOT_TARGET;
}
/* Is the term about a relation to somebody, and not only about having one? */
INLINE bool term_relates(const reef_term *t) { return t->target_variable || !reef_entity_is_null(t->target); }

/* Where the search stands in a step that may bind several. */
typedef struct bind_cursor {
    uint64_t place;   /* sources: of the last one */
    reef_entity last; /* sources: the last one */
    uint32_t next;    /* targets: the number of the next one; closure: of the next one in the list */
    uint32_t looked;  /* closure: those of the list before this number were followed */
    row_range range;  /* values: those that are left */
} bind_cursor;

/* A search for the bindings of one row. */
typedef struct bind_search {
    reef_entity bound[SLOTS];
    bind_cursor cursor[REEF_VARIABLES_MAX + 1]; /* by the variable that the step binds */
} bind_search;

/* For a step with `closure`: who was found. There is room for all entities. */
typedef struct closure_list {
    uint64_t *seen;
    reef_entity *list;
    uint32_t count, room, words; /* words: room of `seen` */
} closure_list;

/* What a loop keeps. */
typedef struct bind_run {
    struct bind_run *next;
    reef_entity *lane[REEF_VARIABLES_MAX + 1]; /* by variable; [0] isn't used */
    const void **values;                       /* REEF_BLOCK_ROWS for each step with `values` */
    row_range *ranges;                         /* by row: of the first late step, if that is STEP_EQUAL; else NULL */
    closure_list closure[REEF_VARIABLES_MAX + 1];
    uint32_t unit;               /* the chunk whose rows are being handed out; 0: none */
    uint32_t row_at;             /* whose bindings are being searched */
    uint32_t row;                /* whose bindings are being handed out; REEF_BLOCK_ROWS: none */
    uint64_t rows[BIT_WORDS];    /* those that are left */
    uint64_t several[BIT_WORDS]; /* those with more than one binding */
    bind_search search;          /* of `row` */
} bind_run;

typedef struct bindings {
    uint32_t variables, count, room; /* of steps */
    uint32_t values;                 /* number of steps that keep values */
    uint32_t early;                  /* the first steps are done for all rows at once */
    bool finds;                      /* one of the steps is STEP_EQUAL */
    bool ranged;     /* the first of the others is STEP_EQUAL: its rows are looked up for all rows at once as well */
    bind_run *own;   /* of questions and systems; always there */
    bind_run *spare; /* those of loops that ended */
    bind_run *now;   /* the loop that is looking; NULL: a question, for which one binding is enough */
    /* The rows that a search from one term leads to. */
    bool started;
    uint32_t start;  /* that term */
    uint64_t begins; /* with so many entities */
    row_set rows;
    entity_list list[2];
    value_list by_value[REEF_VARIABLES_MAX + 1]; /* of the variables that STEP_EQUAL binds */
    bind_step steps[];
} bindings;

bool reef__bindings_make(query *q); /* if the query has variables. False: there is no memory */
void reef__bindings_drop(query *q);
/* Makes room, and decides whether to begin with a term about a variable. `rows` is the number of rows that would be
 * looked at. False: there is no memory. */
bool reef__bindings_look(query *q, uint64_t rows);

/* ---- where to begin (src/query/bind_start.c) ---- */

/* Decides by which term the search begins, and marks the rows to which that leads. False: there is no memory. */
bool reef__bind_start(query *q, uint64_t rows);

/* ---- searching ---- */

/* An index of the world changes its rows: queries without an open loop let go of them, so that it needn't copy them. */
void reef__bindings_let_go(const reef_world *w, const void *held);

/* The values of term i that the loop has found for the rows of its chunk; NULL: it keeps none. */
const void **reef__bound_values(const reef_block *b, uint32_t i);

/* Keeps the rows that have a binding. */
void reef__bound_rows(const look *l, uint64_t *words, uint32_t first, uint32_t end);

/* For loops: block.bound. NULL: there is no memory. */
bind_run *reef__bound_open(query *q);
void reef__bound_close(query *q, bind_run *run);
/* Which rows of the block's chunk match next? If there may be more in this chunk, the loop will come to it again.
 * False: none. */
bool reef__bound_look(reef_block *b, const query *q);

#endif
