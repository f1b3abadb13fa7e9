/* The reference: a world that is so simple that it is obviously right. It uses arrays and linear searches, and does one
 * thing at a time.
 *
 * Everything that reef does in bulk is here a loop over single steps, and the order of tables, rows and free ids
 * follows from these rules alone:
 *   - ids: the one that has been free for longest comes first, then the next index that was never used;
 *   - rows: a new row is the table's last; the last row fills the hole of one that leaves;
 *   - tables: by their sorted type names, a set that is the beginning of another before it;
 *   - the time is that of the operation: what an operation writes or adds is newer than every mark that was made
 *     before;
 *   - a switch doesn't change the table. An entity that has nothing has no row; one that has only switches has a row
 *     in the table of the empty set;
 *   - so has one that is disabled as a whole, and one that has relations. What is disabled changes nothing else; a
 *     component takes its mark along;
 *   - relations are a list, in the order in which they were made (link.h). */
#ifndef MODEL_REFERENCE_H
#define MODEL_REFERENCE_H

#include "kinds.h"

typedef enum ref_life { LIFE_FREE = 0, LIFE_ALIVE, LIFE_RESERVED, LIFE_RETIRED } ref_life;

typedef struct ref_table {
    uint32_t set;  /* of types, by rank; never a switch */
    uint32_t *row; /* indices of entities */
    uint32_t count, capacity;
} ref_table;

typedef struct ref_entity {
    ref_life life;
    uint32_t generation;     /* of the living or reserved one; otherwise the next */
    uint32_t set;            /* of types, switches too */
    uint32_t disabled;       /* of these */
    bool off;                /* disabled as a whole */
    ref_table *table;        /* NULL: no row */
    uint32_t number;         /* the model's; the reference only carries it */
    uint32_t links, linked;  /* relations of which it is the source, and the target */
    uint16_t out[RELATIONS]; /* the former by type */
    uint16_t unseen;         /* types of relations that it has, and that are disabled */
    uint32_t living_at;
    uint32_t name; /* number of its name in the model's list + 1, 0: none */
    /* of types in REEF_SHARED, by special_of: entities with the same number have one value; 0: it has its own */
    uint32_t common[2];
    uint32_t several[2]; /* of types in REEF_MULTI, by special_of: values behind the first, */
    uint64_t chain[2];   /* and what they come to, in their order */
    bool runs;           /* its script has started */
    uint64_t mark;       /* for whom the script says that it was started: a copy has that of its original */
    uint64_t value[TYPES_MAX];
    uint32_t changed[TYPES_MAX], added[TYPES_MAX]; /* times */
    uint32_t changed_unknown, added_unknown;       /* types whose time isn't known */
} ref_entity;

enum { MARKS = 4, EVENTS_MOST = 96 };
typedef struct ref_mark { /* reef's version at a time; version 0: not made yet */
    uint64_t version;
    uint32_t time;
} ref_mark;

/* A relation. The order of those of a source is that of the list; those to a target are ordered by place. */
typedef struct ref_link {
    uint32_t relation, source, target; /* rank, indices */
    uint64_t place, data;              /* data 0: zeroes */
} ref_link;

/* An observer of the world, by its slot; events 0: there is none. */
typedef struct ref_observer {
    uint32_t type, events; /* of reef_observed: added, set, removed */
    bool collected;
} ref_observer;
enum { OBSERVERS = 6 };

typedef struct ref_lost { /* a script that waits for its end */
    reef_entity entity;
    uint64_t value;
} ref_lost;

typedef struct ref_world {
    uint32_t known; /* types of a strict world; all bits set in an open one */
    bool never_reuse;
    uint32_t entities_max;
    ref_entity *entity;
    uint32_t count, capacity; /* indices ever used */
    uint32_t *free_id;        /* oldest first */
    uint32_t free_first, free_end, free_capacity;
    uint32_t *living; /* indices of the living, in no order: to choose from */
    uint32_t living_count, living_capacity;
    ref_link *link;
    uint32_t link_count, link_capacity;
    ref_table **table; /* sorted, empty ones too */
    uint32_t table_count, table_capacity;
    uint64_t spawned, destroyed, ticks;
    uint32_t time, mark_count, commons; /* numbers given to values in common */
    ref_mark mark[MARKS];
    /* that the slower of two systems hasn't read; the quick one hasn't read the last `news` */
    uint64_t event[EVENTS_MOST];
    uint32_t event_count, news;
    ref_lost *lost; /* in the order in which they were removed */
    uint32_t lost_count, lost_capacity;
    ref_observer observer[OBSERVERS]; /* of the world, not of its state */
    uint32_t lately[64];              /* by pair_feature: the time when it was in play; 0: never */
} ref_world;

/* What happened to the world `of`, in order, for the observers. */
typedef struct ref_note {
    uint32_t kind, type;        /* reef_observed */
    reef_entity entity, target; /* of a relation: the target by which notices are joined */
    uint64_t now, old;          /* values; of relations digests */
    bool added_one;             /* to others: there is no old value */
    uint64_t features;          /* of the entity, with the type (pairs.h) */
} ref_note;
typedef struct ref_notes {
    const ref_world *of; /* NULL: nobody listens */
    ref_note *at;
    uint32_t count, capacity;
} ref_notes;
extern ref_notes ref_told;

/* How a value is given. */
typedef enum ref_how { HOW_ONE = 0, HOW_ARRAY, HOW_DEFAULT, HOW_ARGS, HOW_REMOVE, HOW_FROM } ref_how;
typedef enum ref_flaw { FLAW_NONE = 0, FLAW_SIZE, FLAW_KIND, FLAW_DATA } ref_flaw;

typedef struct ref_value {
    uint32_t type; /* rank, or TYPE_ZERO, TYPE_HIGH */
    ref_how how;
    ref_flaw flaw;
    uint64_t seed;    /* of the values: see ref_value_at */
    reef_entity from; /* HOW_FROM: whose value is copied; if it has none, as HOW_ONE */
} ref_value;

/* The value of the n-th entity. */
uint64_t ref_value_at(const ref_value *v, uint32_t n);

/* Memory for more elements, the further ones zero. */
void *ref_grown(void *p, uint32_t needed, uint32_t *capacity, size_t size);
void ref_post(ref_world *r, uint64_t event); /* there is room */
bool ref_make(ref_world *r);
void ref_drop(ref_world *r);

/* NULL if it isn't alive. */
ref_entity *ref_alive(const ref_world *r, reef_entity e);
reef_entity ref_handle(const ref_world *r, uint32_t index);
bool ref_knows(const ref_world *r, uint32_t type);
bool ref_has(const ref_entity *e, uint32_t type);
/* The type that reef_get of `type` means: itself, or its only subtype. TYPES_MAX: the entity has neither; TYPE_ZERO: it
 * has several subtypes. */
uint32_t ref_meant(const ref_entity *e, uint32_t type);
/* The number of the type among those in its home: 0 or 1. */
uint32_t special_of(uint32_t type);
bool ref_shares(const ref_entity *e, uint32_t type); /* with anybody? */
bool ref_is_multi(uint32_t type);
uint64_t ref_chain(uint64_t chain, uint32_t type, uint64_t value); /* one more */
/* the lowest index that has the same value */
uint32_t ref_common_first(const ref_world *r, const ref_entity *e, uint32_t type);
/* Writes a value through a pointer, for all entities that share it. */
void ref_write(ref_world *r, ref_entity *e, uint32_t type, uint64_t value);
void ref_give(ref_entity *e, uint32_t type, uint64_t value); /* a value of its own; it has one */
reef_status ref_share(ref_world *r, reef_entity from, reef_entity to, uint32_t type);
/* it is about to be told of as set */
void ref_note_set(ref_world *r, uint32_t index, uint32_t type, uint64_t now);
void ref_changed(ref_world *r, ref_entity *e, uint32_t type); /* its value is written */
uint64_t ref_count_type(const ref_world *r, uint32_t type);
uint32_t ref_switches(void); /* set of the types that are switches */
/* set of the types that take no part in the set of a table: all but those in REEF_TABLE */
uint32_t ref_outside(void);

/* ---- parts of what follows, for link.c and tree.c ---- */

bool ref_ids_left(const ref_world *r, uint32_t n);
uint32_t ref_new(ref_world *r); /* a new entity's index */
/* Gives a new entity the types of another one except `without`, with values and marks. */
void ref_copy(ref_world *r, uint32_t index, uint32_t source, uint32_t without);
void ref_settle(ref_world *r, uint32_t index, uint32_t set); /* gives the entity these types, and its row */
void ref_die(ref_world *r, uint32_t index);
/* Records that a new entity has its types, if somebody listens. */
void ref_note_born(const ref_world *r, uint32_t index);
/* Records what happened to a relation, if somebody listens. */
void ref_note_link(const ref_world *r, const ref_link *x, uint32_t kind, uint64_t now, uint64_t old);
reef_status ref_values_check(const ref_world *r, const ref_value *values, uint32_t count, bool may_remove, uint32_t n);
uint64_t ref_value_given(const ref_world *r, const ref_value *v, uint32_t n, reef_entity to);
uint32_t ref_comes_along(uint32_t set, uint32_t coming, uint32_t named);
void ref_give_along(ref_entity *x, reef_entity e, uint32_t along);

/* Unique values (unique.c). EXISTS: another entity than `to` has this one; or one of the values that n entities get, or
 * two of these get the same; or a copy would get that of its original, unless the type is one of `without`. */
reef_status ref_unique_value(const ref_world *r, uint32_t type, uint64_t value, reef_entity to);
reef_status ref_unique_values(const ref_world *r, const ref_value *values, uint32_t count, uint32_t n, reef_entity to);
reef_status ref_unique_copy(const ref_entity *e, uint32_t without);
bool ref_unique_in_both(const ref_world *r, const ref_world *from); /* is there a value that both have? */

/* Each of these returns what reef must return. `made` has room for n. */
reef_status ref_spawn(ref_world *r, uint32_t n, reef_entity *made, const ref_value *values, uint32_t count);
reef_status ref_clone(ref_world *r, reef_entity source, uint32_t n, reef_entity *made);
/* Adds an entity of another world; types that forks don't copy get their default values. */
/* numbers of values in common begin behind these */
reef_entity ref_bring(ref_world *r, const ref_entity *e, uint32_t from_commons);
reef_status ref_clone_as(ref_world *r, reef_entity source, reef_entity reserved);
reef_status ref_reserve_id(ref_world *r, reef_entity *made);
reef_status ref_reserve_range(ref_world *r, uint32_t count, reef_entity *made);
reef_status ref_release_id(ref_world *r, reef_entity e);
/* Each lane has given out some ids, in runs (reef's src/storage/id_lanes.c): these are reserved, and those between them
 * are free, in order. */
void ref_lanes_end(ref_world *r, const uint32_t *made, uint32_t lanes, uint32_t run);
reef_status ref_create_as(ref_world *r, reef_entity wanted);
reef_status ref_check_bundle(const ref_world *r, const ref_value *values, uint32_t count);
reef_status ref_destroy(ref_world *r, reef_entity e);
reef_status ref_destroy_with(ref_world *r, const uint8_t *types, uint32_t count, uint64_t *destroyed);
reef_status ref_clear_type(ref_world *r, uint32_t type, uint64_t *removed);
void ref_clear(ref_world *r);
reef_status ref_add(ref_world *r, reef_entity e, uint32_t type, bool with_args, uint64_t args);
reef_status ref_set(ref_world *r, reef_entity e, const ref_value *value);
reef_status ref_remove(ref_world *r, reef_entity e, uint32_t type);
reef_status ref_remove_all(ref_world *r, reef_entity e);
/* `type` TYPES_MAX: the whole entity. */
reef_status ref_enable(ref_world *r, reef_entity e, uint32_t type, bool on);
reef_status ref_change(ref_world *r, reef_entity e, const ref_value *values, uint32_t count);

/* Calls `visit` for every entity that has all types of the set, in reef's order. The visitor must not change
 * anything. */
typedef void (*ref_visit)(void *context, ref_entity *e, uint32_t index);
void ref_walk(const ref_world *r, uint32_t set, ref_visit visit, void *context);
/* Does a query of the set find the entity? None of the types is disabled on it, nor is the entity. */
bool ref_matches(const ref_entity *e, uint32_t set);
void ref_walk_enabled(const ref_world *r, uint32_t set, ref_visit visit, void *context);

#endif
