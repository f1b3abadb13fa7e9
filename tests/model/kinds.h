/* The material of the model test: component types of every kind, which are made at run time, their values, and the
 * memory for both.
 *
 * A value is one 64-bit number: all bytes of a plain component are derived from it, an owning component keeps it in a
 * payload that it holds by pointer, and in a field beside, which is what reef hashes. So an operation with thousands of
 * values is a few bytes long, and 0 is "all bytes zero". */
#ifndef MODEL_KINDS_H
#define MODEL_KINDS_H

#include "reef/all.h"

enum {
    TYPE_BASE = 23,
    /* Tide, which has subtypes */ TYPE_PREFAB = 21, /* ReefPrefab, which hides who has it */
    TYPE_UNIQUE = 29,                                /* a, which has a unique field in many runs */
    TYPE_SCRIPT = 31,                                /* reef_script (script.h) */
    TYPES_MAX = 32,
    TYPE_HIGH = 254,
    TYPE_ZERO = 255 /* these two are no types */
};

typedef enum type_sort {
    SORT_PLAIN,
    SORT_TAG,
    SORT_SWITCH, /* a tag in the REEF_BIT home */
    SORT_SCRIPT, /* plain, but its numbers are read and written by script.c */
    SORT_OWNER,  /* construct, copy, move, destroy; knows its own address */
    SORT_MOVER,  /* move and destroy only; all bytes zero is a value: no payload */
    SORT_BYTES,  /* construct, copy, destroy; moved by its bytes */
    SORT_MAKER   /* construct only, otherwise plain */
} type_sort;

typedef struct model_type {
    const char *name;
    type_sort sort;
    uint32_t size, align;
    reef_component id;
    reef_on_fork on_fork;
    const reef_field *fields; /* NULL: its bytes are hashed */
    uint32_t field_count;
    bool tracked;   /* track_rows */
    reef_home home; /* drawn by types_make */
    uint32_t page_rows;
    uint32_t base;      /* of a subtype: its rank; TYPES_MAX: it is none. Drawn as well */
    uint32_t required;  /* set of the types that it requires itself */
    const char *unique; /* name of its unique field, NULL: it has none. Drawn as well */
} model_type;

/* Sorted by name, so that an index is also a rank. */
extern model_type model_types[TYPES_MAX];

/* Types of relations, also sorted by name. */
enum { RELATION_CHILD = 0, RELATION_INSTANCE = 5, RELATIONS = 11, OBSERVED_RELATIONS = 64 /* see component_of */ };
typedef struct model_relation {
    const char *name;
    uint32_t options; /* of reef/relation.h */
    uint32_t data;    /* rank of the type of its data; TYPES_MAX: it has none */
    reef_component id;
} model_relation;
extern model_relation model_relations[RELATIONS];
static inline bool relation_is(uint32_t relation, uint32_t option)
{
    return (model_relations[relation].options & option) != 0;
}
uint32_t relation_of(reef_component type); /* its rank; RELATIONS: it is none */
/* A digest of the data of a relation: of what reef holds, and of a value (0: zeroes). */
uint64_t relation_digest(uint32_t relation, const void *value);
uint64_t relation_digest_of(uint32_t relation, uint64_t data);

extern uint32_t homes_allowed; /* a bit each, by reef_home: what is drawn otherwise becomes REEF_TABLE */

/* Makes the types, in an order that isn't that of their names. The home of each is drawn from `homes`; 0: all except
 * the switches are in tables. The second call does nothing. */
bool types_make(uint64_t homes);
bool type_in_table(const model_type *t);    /* is it one of the types of a table? */
bool type_is_hooked(const model_type *t);   /* has any hook */
bool type_has_payload(const model_type *t); /* owns something */
bool type_is_made(const model_type *t);     /* has a constructor */
uint32_t types_below(uint32_t type);        /* set of its subtypes */
uint32_t types_along(uint32_t set);         /* the set with everything that comes along with its types */
bool type_is_bound(const model_type *t);    /* an entity that has it can't be forked */
/* The type of events: plain, with a field, and never a component. */
extern reef_component event_type;
/* The component of a type's number. From OBSERVED_RELATIONS on these are the types of relations; TYPE_ZERO and
 * TYPE_HIGH give ids that aren't declared. */
reef_component component_of(uint32_t type);

/* Sets the homes that were drawn in the declarations of the types that have one. (typed.c) */
void typed_declare(void);

uint64_t value_mix(uint64_t seed, uint64_t number); /* never 0 */
/* The default value of a type for this entity. */
uint64_t value_default(const model_type *t, reef_entity e);
void value_fill(void *to, size_t size, uint64_t value);
/* Makes a value in raw memory outside of any world, and destroys it. */
void value_make(const model_type *t, void *slot, uint64_t value);
void value_unmake(const model_type *t, void *slot);
bool value_matches(const model_type *t, const void *slot, uint64_t value);
enum { UNIQUE_SAME = 0xE000 }; /* bits that are 0 in most values of a unique field, so that many are equal */
uint64_t value_unique(const model_type *t, uint64_t value); /* what equal values of its unique field have in common */
/* Overwrites a value in place. If it has no payload, it still has none afterwards. */
void value_write(const model_type *t, void *slot, uint64_t value);
/* Repairs a value that was loaded: sets what isn't in fields to agree with the fields. */
void value_mend(const model_type *t, void *slot);
/* A number that depends on every byte of a value (or on the payload), and the same number for a value that isn't in
 * memory. */
uint64_t value_digest(const model_type *t, const void *slot);
uint64_t value_digest_of(const model_type *t, uint64_t value);

/* ---- memory that counts, and fails when told ---- */

typedef struct counted {
    uint64_t bytes, blocks; /* out now */
    uint32_t fail_at;       /* the fail_at-th request from now on gets nothing; 0: all are served */
    bool fail_on;           /* so do all after it */
    bool fired;
    const char *fault; /* a mistake of the caller of the allocator or of a hook, NULL: none */
} counted;

extern counted counted_memory; /* one in a process, since hooks can't reach it otherwise */

reef_allocator counted_allocator(void);
/* As aligned_alloc, which not every C library has; aligned_give frees the memory. */
void *aligned_take(size_t align, size_t bytes);
void aligned_give(void *p);
/* Forgets faults and payloads, for a new run. */
void counted_reset(void);
/* Payloads that live. */
uint64_t payloads_live(void);

#endif
