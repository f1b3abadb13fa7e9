/* Terms: queries as structs instead of texts. Also writing a query as a text, copying it to another world, and a random
 * entity that matches. */
#ifndef REEF_TERM_H
#define REEF_TERM_H

#include "condition.h"
#include "query.h"

REEF_BEGIN_C

/* What a loop does with the values of a term. */
typedef enum reef_access {
    REEF_INOUT = 0, /* read and written: the loop marks each block that it visits as changed */
    REEF_IN,        /* read only: never marks */
    /* every value is written without being read: a block that is shared with a fork isn't copied (except in systems) */
    REEF_OUT,
    REEF_WITH /* a filter: it must be there, but its data isn't touched. Tags and switches are always filters */
} reef_access;

/* The condition that a term sets. */
typedef enum reef_op {
    REEF_HAS = 0,  /* the entity has the component, and it isn't disabled */
    REEF_NOT,      /* the opposite of REEF_HAS; always a filter */
    REEF_OPTIONAL, /* no condition; the block's accessors return NULL in tables that don't have the component */
    /* Groups of the next `count` terms; each of these may be a group itself. */
    REEF_ANY_OF, /* at least one holds. The accessors return NULL for a component that isn't there */
    REEF_ALL_OF,
    REEF_NONE_OF
} reef_op;

/* Whether a term accepts disabled components. */
typedef enum reef_enabled {
    REEF_ENABLED = 0, /* only rows where the component is enabled */
    REEF_DISABLED,    /* only rows where it is disabled */
    REEF_EITHER       /* both */
} reef_enabled;

/* Whether a term asks when the component was written last. */
typedef enum reef_since {
    REEF_ALWAYS = 0,
    /* written since this query last ran (or since reef_loop.since). All rows of a block that was written count as
     * written, and for values outside of the table all of a page; only a type with track_rows knows the exact rows */
    REEF_IF_CHANGED,
    REEF_IF_ADDED /* added since then; only for types with track_rows (others: BAD_ARGUMENT) */
} reef_since;

/* One condition of a query, or the head of a group of conditions. */
typedef struct reef_term {
    reef_component component; /* {0} for a group */
    reef_access access;
    reef_op op;
    reef_enabled enabled;
    reef_since since;
    /* of a group: number of terms and groups directly inside it, 1 ... REEF_TERMS_MAX; of another term: number of its
     * conditions */
    uint32_t count;
    /* 1: the component or a subtype of it (reef/subtype.h), as "Moving+" in a text. Can't be used with a source or with
     * REEF_IF_ADDED */
    uint32_t subtypes;
    /* {0}: the term is about the entity that is visited. Otherwise it is about this entity: the term holds for all rows
     * or for none, and its data is reached by reef_fixed_in and reef_fixed_inout. When the entity dies, the term no
     * longer holds */
    reef_entity source;
    /* for a type in REEF_MULTI: the loop visits each value of an entity, in their order, in a block of one row. Without
     * it the loop visits the entity once, and reef_in gives the first value, reef_block_get_all all of them. It has no
     * effect for other homes. Only one term of a query may have it, with REEF_HAS and data, outside of groups, without
     * a source (else BAD_ARGUMENT) */
    bool each;
    /* With `up`: the search for the nearest one begins with the entity itself, "Position self up(ChildOf)" in a text */
    bool self;
    /* Variables (docs/manual/relation-queries.md), by their number in reef_query_desc.variables, from 1. Of a term with
     * `variable`, what it says is about the entity that is bound to this variable: "Planet($p)", "Orbits($s, $p)". 0:
     * about the entity that is visited. Its data can only be read (REEF_IN), by reef_block_reach */
    uint8_t variable;
    /* of a relation type: its target is the entity that is bound to this variable, "DockedTo($p)"; REEF_VISITED: the
     * entity that is visited, "DockedTo($s, $this)"; 0: see `target` */
    uint8_t target_variable;
    /* of a relation type (reef/relation.h): only entities that are related to this one, "Likes(bob)" in a text. {0}: to
     * any. Such a term has no source. When the target dies, the term doesn't hold. With component {0} any relation
     * counts, "*(bob)" in a text; transitive and reflexive ones only where they lead there directly. A transitive
     * relation holds by way of others, too, and a reflexive one for the target itself, unless data is wanted. `enabled`
     * is about the relation of the entity that the term is about; all others on the way have to be enabled */
    reef_entity target;
    /* a relation type with REEF_EXCLUSIVE and REEF_ACYCLIC: the term is about the nearest entity that has the component
     * and is reached by following this relation, "Position up(ChildOf)" in a text. {0}: none. Its data can only be read
     * (REEF_IN), by reef_block_reach. With component {0}, REEF_WITH and REEF_DISABLED it is about the nearest entity
     * that is disabled as a whole; "!disabled * up(ChildOf)" in a text: none of those above is. The way up ends at an
     * entity whose relation is disabled */
    reef_component up;
    uint32_t up_most; /* of `up`: at most this many steps, "Position up(ChildOf, 2)" in a text; 0: any number */
    /* `count` conditions on the component's value, all of which must hold: "Health(left < 10, most > 0)" in a text.
     * They are copied, with their texts. NULL: none. Of several values, in REEF_MULTI or of a relation without a
     * target, one has to fulfil all of them. Not with REEF_OPTIONAL, and not for any relation ({0}) or with a target of
     * a transitive or reflexive one */
    const reef_condition *conditions;
    /* of a type with a place (reef/place.h): only entities within a radius around the centre that reef_query_near
     * gives, "near Position" in a text. It is about the visited entity, takes enabled components, and all such terms of
     * a query are of one type; with REEF_NOT it holds for all others. Not with REEF_OPTIONAL, `each` or `subtypes` */
    bool near;
} reef_term;
enum { REEF_VISITED = 255 };

/* A query to be made, by a text or by terms. */
struct reef_query_desc {
    /* "Position, in Velocity, !Frozen, ?Mass, Red | Blue": docs/manual/query-terms.md; NULL: the terms below */
    const char *text;
    /* up to the first REEF_HAS, REEF_NOT or REEF_OPTIONAL with component {0} and with neither target nor `up` */
    reef_term terms[REEF_TERMS_MAX];
    reef_enabled entities; /* which entities, by whether they are disabled as a whole */
    /* A type of relations that is exclusive and acyclic, "cascade(ChildOf)" in a text: parents are visited before their
     * children, as by reef_query_order with `relation`, and reef_parents_in gives the parents' values. If a system with
     * such a query is split, the jobs of one depth end before those of the next begin. An entity whose relation is
     * disabled has no parent here. Not for a query with variables, or that asks what changed. {0}: rows are visited in
     * the visible order */
    reef_component cascade;
    /* Names of the variables that the terms use, for reef_variable and for the query as a text. One that is empty, that
     * an earlier variable has, or that no text can have ("a b", "this") is written as the variable's number. A text
     * names its variables itself, numbered in the order in which they first appear */
    char variables[REEF_VARIABLES_MAX][REEF_VARIABLE_NAME_MAX + 1];
    /* Only this world has the query: its forks don't begin with it. For one that isn't used there, where forks are
     * forked again and again and each makes its own. (Of reef_query_make) */
    bool own;
};

/* ---- queries ---- */

/* Makes a query from a struct: reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Position)},
 * {.component = reef_id(Velocity), .access = REEF_IN}, {.component = reef_id(Frozen), .op = REEF_NOT}}}).
 * reef_last_error().number is the number of the bad term, from 1. */
REEF_API reef_query reef_query_make(reef_world *world, const reef_query_desc *desc);
/* Makes a query with the same terms, parameters, centre and order in the world `to`, which is the query's own world or
 * another that knows the types. (A fork has its origin's queries without that.) Null on failure. */
REEF_API reef_query reef_query_copy(reef_world *to, const reef_world *from, reef_query query);
/* Writes the query as a text, at most `size` bytes with the zero, and returns the whole text's length. reef_query_new
 * makes the same query from it, as long as the entities that it names are alive: these are written by their path, or by
 * handle ("#5v1") where no path of at most REEF_NAME_MAX bytes leads to them. An order by reef_query_order is only part
 * of the text where it is `cascade`. A group of one is written as its member; a query that names a filter twice thanks
 * to such a group has no text. */
REEF_API size_t reef_query_text(const reef_world *world, reef_query query, char *text, size_t size);
/* A random entity, each with equal chance; the same one for the same state and seed. Null if there is none. */
REEF_API reef_entity reef_query_pick(reef_world *world, reef_query query, uint64_t seed);

REEF_END_C

#endif
