/* A naive world and naive queries, for test_query_naive.c: entities in a list, tables as lists of them, a query
 * evaluated row by row over its tree of terms. Every operation is done to a reef world and to the naive one.
 *
 *   naive_world ── tables in the visible order ── rows: numbers of entities
 *               └─ entities: what they have, what of it is disabled, a number for each value
 *
 * In which home each type lives is drawn for each world: of whatever home, queries answer the same, and ask for the
 * same changes. (Of REEF_SPARSE and REEF_COLD, which values share a page is reef's business, so nobody asks what
 * changed unless rows are tracked.)
 *
 * Time is a clock of the naive world's own: every write of a block is noted with it, so that "changed since the
 * query last ran" can be said exactly while only values and switches are written. Which blocks a row's coming or
 * going writes is reef's business: after such operations queries must run anew before they are asked. */
#ifndef REEF_TESTS_QUERY_NAIVE_H
#define REEF_TESTS_QUERY_NAIVE_H

#include "support.h"

enum {
    NAIVE_TYPES = 11,
    NAIVE_BLOCKS = 6,  /* of a table */
    NAIVE_SOURCES = 4, /* entities with a name, for fixed terms */
    NAIVE_TERMS = 16,  /* of a random query */
    NAIVE_TEXT = 2048,
    NAIVE_PAGE = 16, /* values of a page of REEF_PAGED */
    NAIVE_PAGES = 512
};

typedef struct naive_type {
    const char *name;
    uint32_t size;
    bool bit, tracked; /* bit: of the REEF_BIT home */
    reef_component id;
    reef_home home;
} naive_type;
extern naive_type naive_types[NAIVE_TYPES]; /* in the order of their names */
void naive_types_make(void);
void naive_types_draw(uint64_t *seed); /* their homes, for worlds made from now on */
uint32_t naive_type_of(reef_component c);

typedef struct naive_entity {
    reef_entity id;
    bool alive, off;         /* off: disabled as a whole */
    uint32_t mask, disabled; /* bit i: type i */
    uint32_t row;
    uint32_t value[NAIVE_TYPES];
    uint64_t changed[NAIVE_TYPES], added[NAIVE_TYPES]; /* of tracked types */
} naive_entity;

typedef struct naive_table {
    uint32_t mask, count, room;
    uint32_t *row;
    uint64_t version[NAIVE_BLOCKS][NAIVE_TYPES];
} naive_table;

typedef struct naive_world {
    reef_world *w;
    naive_entity *entity;
    uint32_t entities, entity_room;
    uint32_t *of_index, index_room; /* the newest entity of each index */
    naive_table **table;
    uint32_t tables, table_room;
    naive_table *of_set[1 << NAIVE_TYPES];
    uint32_t table_types;                    /* those that make a table */
    uint64_t page[NAIVE_TYPES][NAIVE_PAGES]; /* of REEF_PAGED types: when it was written */
    uint64_t clock;
    reef_entity source[NAIVE_SOURCES];
} naive_world;

void naive_begin(naive_world *n, reef_world *w);
/* `to` is empty; w is the fork or the world itself */
void naive_copy(naive_world *to, const naive_world *from, reef_world *w);
void naive_end(naive_world *n);

/* The number of a handle's entity, UINT32_MAX: it isn't alive. */
uint32_t naive_find(const naive_world *n, reef_entity e);
bool naive_has_row(const naive_entity *e);
naive_table *naive_table_of(const naive_world *n, const naive_entity *e);
void naive_fill(void *to, uint32_t size, uint32_t value);
bool naive_is(const void *p, uint32_t size, uint32_t value);

/* Operations on both. */
uint32_t naive_spawn(naive_world *n, uint32_t mask, uint64_t *seed);
void naive_mutate(naive_world *n, uint64_t *seed);      /* anything */
void naive_write_value(naive_world *n, uint64_t *seed); /* a value, or a switch of an entity that keeps its row */
void naive_wrote(naive_world *n, uint32_t entity, uint32_t type); /* it was written now */
/* of where its value lies; NULL: not known */
uint64_t *naive_version(naive_world *n, const naive_entity *e, uint32_t type);
void naive_compare(const naive_world *n); /* values and sets, by reef_get and reef_visit_entity */

/* ---- queries ---- */

/* A condition's number is a literal or a parameter, which is set to it. */
typedef struct naive_parameter {
    char name[8];
    reef_literal value;
} naive_parameter;

typedef struct naive_query {
    reef_query_desc desc;
    uint32_t count;
    bool since, writes, values; /* values: some term has conditions */
    uint32_t parameters;
    naive_parameter parameter[REEF_PARAMETERS_MAX];
    bool said; /* by the text */
    char text[NAIVE_TEXT];
    uint64_t last; /* run; 0: never */
} naive_query;

/* A random one; it may be wrong: naive_status says how reef must answer. */
void naive_query_random(naive_query *q, const naive_world *n, uint64_t *seed, bool since);
reef_status naive_status(const naive_query *q, uint64_t *number);
void naive_text(naive_query *q, const naive_world *n); /* for a query that is right */
/* Sets the parameters of a reef query that was made of it. */
void naive_set(const naive_query *q, reef_world *w, reef_query h);
bool naive_matches(const naive_world *n, const naive_query *q, uint32_t entity, uint64_t since);
/* Is this term a filter, as reef.h says it: no data is asked for? */
bool naive_filter(const naive_query *q, uint32_t term);
bool naive_in_group(const naive_query *q, uint32_t term);
void naive_print(const naive_query *q);

typedef struct naive_answer {
    uint32_t *row; /* the entities that match, in the visible order */
    uint32_t count, room;
} naive_answer;
void naive_ask(naive_answer *a, const naive_world *n, const naive_query *q, uint64_t since);

#endif
