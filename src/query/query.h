/* The inside of a query, for src/query/query.c (making it), src/query/table_match.c (finding tables),
 * src/query/iterate.c (loops) and src/query/query_answers.c (questions).
 *
 *   terms: a tree in prefix form          ANY_OF 2 · Red · ALL_OF 2 · Blue · Cold
 *   matches: the tables that may have rows that match, in visiting order
 *
 * For a table, each term is settled (ROWS_ALL: it holds for every row, ROWS_NONE: for no row) or not (ROWS_SOME: it
 * depends on the row, because of switches, disabled components or changes). Tables where the whole tree is ROWS_NONE
 * aren't kept. Tables where it is ROWS_SOME are walked with a look at rows: sixteen words for each block say which
 * rows match, and the tree is evaluated on such words. */
#ifndef REEF_QUERY_QUERY_H
#define REEF_QUERY_QUERY_H

#include "storage/place.h"
#include "storage/query_types.h"
#include "query/cut_terms.h"
#include "reef/detail/loop.h"
#include "reef/term.h"

typedef reef_match match;
typedef struct reef_query_data query;

query *reef__query_seek(const reef_world *w, reef_query q, reef_status *s);

typedef struct term_facts { /* what is known of one term, independent of tables */
    bool bit;               /* a bit of the row says who has it */
    bool cold;              /* only its store says who has it */
    bool target;            /* relations decide: it has a target, or is about an ancestor or a variable */
    bool up;                /* about an ancestor */
    bool bound;             /* with a variable */
    bool reads;  /* data of an entity is wanted that each row has for itself: an ancestor, or one bound to a variable */
    bool stored; /* the loop wants its data, of the visited entity, and it lies in a store */
    bool some_disabled;      /* some entity may have it disabled */
    bool fixed;              /* of another entity, always the same */
    bool filter;             /* no data is wanted */
    bool sub;                /* of a group that stands for a term with a plus: the group itself and its members */
    bool top;                /* not inside a group */
    bool each, values, near; /* one visit for each value; conditions on values; a centre (src/query/near_term.h) */
} term_facts;

/* For a query with a plus: each such term becomes a group of the base and its subtypes that are known
 * (src/query/subtype_terms.c). */
typedef struct expansion {
    uint32_t count, based; /* based: what reef__types_based() was when this was made */
    uint64_t epoch;        /* of the world's tables, when the matches' pointers were taken */
    term_facts *facts;
    reef_term terms[];
} expansion;

struct reef_query_data {
    reef_query_head head;
    reef_world *world;
    uint32_t index, generation; /* of its handle */
    uint64_t serial;            /* number of its last run, in the state (src/query/iterate.c) */
    uint32_t open;              /* number of open loops that walk the matches: these mustn't move then */
    uint32_t seen;              /* number of the graph's tables that were looked at */
    uint32_t rare_used;         /* how many tables had the rarest type that every match has, at the last look */
    query_types types;          /* and what it knows of the world's tables */
    uint64_t rows_epoch;        /* the world's rows_epoch, when reef__rows_look ran */
    uint64_t disabled_epoch;    /* of the world's marks of disabled components, when tables were settled */
    char *matches;
    uint32_t match_count, match_capacity;
    reef_enabled entities;
    struct ranking *ranking; /* of a sorted query: src/query/sorted_query.h */
    cutting *cut;            /* NULL: no stored data is wanted */
    struct kept_query *kept; /* what it asks, as its forks have it; NULL: to be made */
    bool once;               /* freed at the end of its loop */
    bool handed_out;         /* users have its handle */
    bool told;               /* of the checked build: a loop over it was told of, that took rows which don't match */
    /* straight: every term is a column whose data is wanted; plain: and none may be disabled, so a table that has them
     * matches */
    bool straight, plain;
    bool near_missing;        /* the centre of `near` was never given */
    bool looks;               /* some match needs a look at rows, some term a version, or it is `fixed` */
    bool since;               /* some term asks what changed */
    bool tracked;             /* some term writes a type with track_rows: such loops look at rows as well */
    bool fixed;               /* some term is of another entity, or relations decide about it */
    bool disabled_entities;   /* some entity may be disabled as a whole */
    bool derived, hides;      /* an index or a picture has its address; it doesn't name ReefPrefab: no templates */
    uint32_t optional_writes; /* number of terms whose column is written where it exists */
    uint32_t only_switch;     /* nothing decides by row but that this switch is on; 0: something else does */
    bool out;                 /* some column of head.key is written without being read */
    uint32_t term_count;
    reef_term *terms; /* as asked, or those of `subs` */
    term_facts *facts;
    expansion *subs;            /* NULL: no term has a plus */
    struct value_terms *values; /* NULL: no term has conditions */
    struct near_terms *near;    /* NULL: no term is `near`. Such a query looks each time, like one with a plan */
    /* NULL: no term is `target` (src/query/relation_plan.h). Such a query has q->fixed, too: it has no straight loops,
     * and query_update looks each time */
    struct target_plan *plan;
    uint32_t asked_count;
    term_facts asked_facts[REEF_TERMS_MAX];
    reef_term asked[];
};

/* The slot of this handle. NULL: another query has it, or none. */
INLINE struct query_slot *query_slot_of(const reef_world *w, reef_query q)
{
    if (UNLIKELY(q.index >= w->query_room)) return NULL;
    struct query_slot *x = &w->queries[q.index];
    return LIKELY(x->generation == q.generation && x->world == q.world) ? x : NULL;
}
/* The query of this handle, which several threads may ask for at once. NULL: *s says why there is none. */
INLINE query *query_shared(const reef_world *w, reef_query q, reef_status *s)
{
    struct query_slot *x = query_slot_of(w, q);
    query *found = x ? REEF_ACQUIRE_POINTER(&x->query) : NULL;
    return LIKELY(found) ? found : reef__query_seek(w, q, s);
}
/* The same outside of systems. */
INLINE query *query_of(const reef_world *w, reef_query q, reef_status *s)
{
    const struct query_slot *x = query_slot_of(w, q);
    if (LIKELY(x && x->query && !w->running)) return x->query;
    return w->running ? *s = REEF_LOCKED, NULL : reef__query_seek(w, q, s);
}

/* Does the term give data of the visited entity? */
INLINE bool term_has_data(const query *q, uint32_t i)
{
    return q->terms[i].op < REEF_ANY_OF && !q->facts[i].filter && !q->facts[i].fixed;
}

/* How many rows of a match reef_next may hand out by itself (reef_match.quick). Blocks that this world alone holds
 * stay so until the next fork, which makes queries look again. */
INLINE uint16_t match_quick(const query *q, const match *m)
{
    if (m->rows == 0 || m->rows > REEF_BLOCK_ROWS || !q->head.remembers) return 0;
    for (uint32_t i = 0; i < q->head.write_count; i++)
        if (reef_slot_beside(m->column, m, i)->version <= q->world->hot.fork_version) return 0;
    return (uint16_t)m->rows;
}

INLINE const match *match_at(const query *q, uint32_t i)
{
    return (const match *)(const void *)(q->matches + (size_t)i * q->head.match_bytes);
}

/* The match that a block belongs to, which is also where its loop is. */
INLINE const match *match_now(const reef_block *b) { return (const match *)b->loop.match; }
/* The slots of the match's first chunk, while `unit` names that chunk. */
INLINE const reef_slot *match_first(const match *m)
{
    return (const reef_slot *)(const void *)((const char *)m->column - m->columns[0]);
}
INLINE const match *match_end(const query *q) { return match_at(q, q->match_count); }

/* Looks at tables that were made since, and finds where all lie now. False: no memory; what was found stays found; or a
 * parameter isn't set (src/query/value_term.h). */
bool reef__query_look(query *q);
INLINE bool query_update(query *q)
{
    return LIKELY(q->types.epoch == q->world->tables_epoch) || q->open || reef__query_look(q);
}
/* The same for questions about one entity, which need only its table (reef__table_verdict). False: no memory. */
bool reef__query_prepare_one(query *q);
/* query_update for a query that systems ask, and for all that were made. False: no memory. */
bool reef__query_ready(query *q);
bool reef__queries_ready(reef_world *w);
/* As query_update, for a straight loop, whose matches also know the rows of their tables; not needed again while
 * rows_epoch stays the same. False: no memory, or the query has no straight loops. */
bool reef__rows_look(query *q);
reef_status reef__queries_validate(const reef_world *w, char *message, size_t size);
void reef__query_drop(query *q);
void reef__query_resolve(query *q); /* derives what the terms say together */
void reef__matches_drop(query *q);
bool reef__asked_of_all(const query *q, uint32_t i); /* has each table of the query the type of asked term i? */
void reef__queries_forget(reef_world *w);            /* frees the queries that are kept for reuse */
query *reef__query_make_text(reef_world *w, const char *op, const char *text);
/* A query of reef's own, whose handle users don't get: forks don't begin with it. NULL: as for reef_query_make. */
query *reef__query_make(reef_world *w, const reef_query_desc *desc);
reef_query reef__query_handle(const query *q); /* of NULL: null */
/* In this slot: a query that the world began with. NULL: no memory. */
query *reef__query_of_kept(reef_world *w, uint32_t index, const struct kept_query *k);
/* reef__query_read: what a description asks, in one form. reef__query_check: what its terms mean, if they make sense
 * together. False: refused, with the errors of making a query. */
struct query_text;
bool reef__query_read(reef_world *w, const char *op, const reef_query_desc *desc, struct query_text *to);
bool reef__query_check(reef_world *w, const char *op, const struct query_text *q, term_facts *facts);

/* Does this table have rows that may match? */
typedef enum verdict { ROWS_NONE, ROWS_SOME, ROWS_ALL } verdict;
verdict reef__table_verdict(const query *q, uint32_t table_id);

/* ---- rows (src/query/row_filter.c; loops: src/query/iterate.c) ---- */

/* Where rows are looked at: a chunk of a table, and since when changes count. */
typedef struct look {
    const query *q;
    uint32_t table_id, unit, count;
    uint64_t since;
    const reef_entity *entities;
    const frozen_versions *frozen; /* NULL: the current versions of the stores' pages count */
    const uint64_t *among;         /* only these rows matter; NULL: all (reef__look_rows sets it) */
} look;
/* Sets the first `count` bits and clears the others. */
INLINE void rows_all(uint64_t *words, uint32_t count)
{
    for (uint32_t k = 0; k < BIT_WORDS; k++)
        words[k] = count >= (k + 1) * 64 ? ~0ull : count <= k * 64 ? 0 : ~0ull >> (64 - count % 64);
}
INLINE uint32_t rows_in(const uint64_t *words)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < BIT_WORDS; k++) n += bits_count(words[k]);
    return n;
}
/* Where a part of a loop begins: at a match, or at a chunk of its table. */
typedef struct split_place {
    const void *match;
    uint32_t unit;
} split_place;

INLINE split_place query_begin(const query *q) { return (split_place){q->matches, 0}; }
INLINE split_place query_end(const query *q) { return (split_place){match_end(q), 0}; }

/* The slots of the block's chunk (src/query/block.c). */
INLINE const reef_slot *block_slots(const reef_block *b)
{
    if (b->loop.walks) return unit_slots(b->world, b->loop.unit);
    return (const reef_slot *)(const void *)((const char *)b->loop.column - match_now(b)->columns[0]);
}
/* Puts the block of a loop that looks at rows at the chunk with these slots. */
INLINE void block_at(reef_block *b, const reef_slot *slots)
{
    b->loop.slots = slots;
    b->loop.column = reef_slot_of(slots, match_now(b), 0);
}
/* The query asks something else now, or has come or gone: forks begin with other queries from now on. */
void reef__query_changed(query *q);

/* ---- terms with a plus (src/query/subtype_terms.c) ---- */
INLINE bool subs_are_old(const query *q) { return q->subs->based != reef__types_based(); }
void reef__facts_find(const reef_term *t, term_facts *f, bool top, bool filter);
void reef__queries_drop(reef_world *w);

#endif
