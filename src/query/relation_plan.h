/* How a query with targets finds its rows: for each loop or question it is decided anew which terms begin with the
 * sources of their target instead of looking at each row.
 *
 *   Position, Likes(bob)       10 sources, 100,000 rows: the 10 rows are marked in words of bits, by chunk, and
 *                              everything else is only asked of them
 *   PartOf(rover), *(bob)      always so: a transitive relation is followed from its target, any relation by all types
 *   Fighter, DockedTo($p), Planet($p)
 *                              3 planets, 100,000 fighters: the sources of the planets are marked
 *                              (src/query/variables.h)
 *
 * Invariant: marks only leave out rows that don't match. Rows are visited in the visible order, whatever was decided.
 * Relations don't change and rows don't move while a loop is open, so the marks of the outermost loop are good for
 * those inside it. */
#ifndef REEF_QUERY_RELATION_PLAN_H
#define REEF_QUERY_RELATION_PLAN_H

#include "query/query.h"
#include "query/query_text.h"

/* Rows in any chunks, as bits. */
typedef struct row_set {
    uint32_t *number; /* by unit: the number of its words + 1; 0: it has no row here */
    uint32_t units;   /* room of `number` */
    uint32_t count, room, unit_room;
    uint64_t (*words)[BIT_WORDS];
    uint32_t *unit; /* the units that have words */
} row_set;

/* The words of a unit; NULL: it has no row in the set. */
INLINE const uint64_t *row_set_words(const row_set *s, uint32_t unit)
{
    const uint32_t n = unit < s->units ? s->number[unit] : 0;
    return n ? s->words[n - 1] : NULL;
}
bool reef__row_set_ready(reef_world *w, row_set *s); /* empties it. False: there is no memory */
/* Adds the row of an entity, and the n - 1 rows behind it in its chunk. False: there is no memory. */
bool reef__row_set_add(reef_world *w, row_set *s, reef_entity e, uint32_t n);
void reef__row_set_drop(reef_world *w, row_set *s);

/* A growing list of entities. */
typedef struct entity_list {
    reef_entity *e;
    uint32_t count, room;
} entity_list;
bool reef__entity_list_put(reef_world *w, entity_list *l, reef_entity e);
void reef__entity_list_drop(reef_world *w, entity_list *l);

/* The sources of a term's target. */
typedef struct term_sources {
    uint32_t term;
    bool used;        /* `rows` are the rows for which the term holds; otherwise each row is asked */
    uint64_t sources; /* as far as they were counted: all of the target's own */
    row_set rows;
} term_sources;

/* The answers to a term about ancestors: src/query/ancestor.c. */
typedef struct ancestor_map {
    uint32_t term;
    bool used;
    uint32_t room;
    reef_entity *above; /* by an entity's index: the nearest one above it, ANCESTOR_NONE, or null: not known */
} ancestor_map;

struct bindings;
typedef struct target_plan {
    bool one;                  /* only single entities are asked about: nothing is marked */
    struct bindings *bindings; /* NULL: the query has no variables */
    ancestor_map *ancestors;   /* of the terms about ancestors without a limit; NULL: there is none */
    uint32_t ancestor_count;
    variable_names names;
    uint32_t count;
    term_sources terms[];
} target_plan;

/* Makes query.plan if some term is `target`. False: there is no memory. */
bool reef__plan_make(query *q, const query_text *l);
void reef__plan_drop(query *q);
bool reef__plan_names(const target_plan *p, const query_text *l); /* are these its variables' names? */
const variable_names *reef__query_names(const query *q);          /* NULL: it has none */
/* Decides, and marks rows. False: there is no memory. */
bool reef__plan_look(query *q);

/* Of the rows in words[first] to words[end - 1], keeps those for which term i holds, which is `target` and has no
 * variable. */
void reef__target_rows(const look *l, uint32_t i, uint64_t *words, uint32_t first, uint32_t end);

/* Does the term give a value that each row leads to (reef_block_reach)? It is named by the component and a variable. */
INLINE bool term_reaches(const reef_term *t, const term_facts *f)
{
    return t->op < REEF_ANY_OF && (f->reads || (f->target && !f->filter));
}
INLINE uint32_t reach_variable(const reef_term *t)
{
    return t->target_variable && t->target_variable != REEF_VISITED ? t->target_variable : t->variable;
}

/* REEF_OK, or why a term can't have an ancestor or a variable in this way. */
reef_status reef__reach_check(const reef_world *w, const reef_term *t, const char **why);
/* The number of the first term whose variables make no sense, and why. REEF_TERMS_MAX: there is none. `by_value`: a
 * variable may be bound by a value alone. */
uint32_t reef__variables_check(const query_text *l, const term_facts *facts, bool by_value, const char **why);

/* The nearest entity above `e` that term i of the query is about. False: there is none. */
bool reef__ancestor_find(const query *q, uint32_t i, reef_entity e, reef_entity *found);
bool reef__ancestors_make(query *q); /* if a term is about ancestors. False: there is no memory */
void reef__ancestors_drop(query *q);
void reef__ancestors_look(query *q);                   /* decides whether to keep answers */
bool reef__ancestors_kept(const query *q, uint32_t i); /* was that decided for term i? */
/* Is the component of term i there for the entity, and enabled or disabled as the term asks? */
bool reef__component_holds(const query *q, uint32_t i, reef_entity e);

#endif
