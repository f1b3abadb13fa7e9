/* The model test does the same random operations on a reef world and on the reference, and compares everything that can
 * be observed.
 *
 *   generate.c  makes operations from random numbers and the reference's state
 *   operate.c   lets reef and the reference do one, and compares the outcomes
 *   apply.c     how each is done, with apply_query.c, apply_bulk.c and the next ones:
 *   sort.c      sorting storage
 *   typed.c     the calls that are inlined by C type
 *   defer.c     loops that record structural changes
 *   tick.c      ticks of systems that want things changed
 *   fork.c      makes forks and snapshots, and goes back to them
 *   past.c      histories
 *   merge.c     adds the entities of a fork
 *   share.c     values in common
 *   unique.c    values that only one entity may have
 *   keep.c      saves and loads, differences, journals
 *   hash.c      the hash, and what it must tell apart
 *   link.c      relations in the reference
 *   relate.c    relations
 *   related_value.c  relations as values, and loops in which all ways to relate meet
 *   ask.c       queries about relations
 *   index.c     value indexes
 *   place.c     places, which INDEX asks as well
 *   tree.c      prefabs, and copies of trees
 *   script.c    scripts, and when they must start and end
 *   observe.c   observers, and what they must hear
 *   pairs.c     which features met in one check
 *   compare.c   compares whole worlds
 *   shrink.c    finds a short list of operations that still fails
 *   print.c     writes a list of operations as a C program
 *   model.c     the command
 *
 * An operation is concrete: it names entities by numbers, and knows in advance the numbers of the entities that it
 * makes. So any part of a list of operations can be run by itself: an entity whose maker was left out is the null
 * handle, for reef and for the reference. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "reference.h"
#include <stdio.h>

/* name, weight, what a failing allocation may leave: 0 nothing (the call is all or none), 1 a part that a second
 * try completes, 2 not tried */
#define MODEL_OPS(X) \
    X(CREATE, 60, 0) \
    X(SPAWN, 110, 0) \
    X(SPAWN_MANY, 12, 0) \
    X(CLONE, 25, 0) \
    X(CLONE_MANY, 6, 0) \
    X(RESERVE_ID, 8, 0) \
    X(RESERVE_RANGE, 1, 0) \
    X(RELEASE_ID, 4, 0) \
    X(CREATE_AS, 10, 0) \
    X(BUNDLE_NEW, 4, 0) \
    X(BUNDLE_FREE, 2, 2) \
    X(BUNDLE_SPAWN, 40, 0) \
    X(DESTROY, 120, 0) \
    X(DESTROY_MANY, 10, 1) \
    X(DESTROY_WITH, 2, 0) \
    X(CLEAR_TYPE, 4, 0) \
    X(WORLD_CLEAR, 0, 0) \
    X(ADD, 140, 0) \
    X(SET, 160, 0) \
    X(ENSURE, 50, 0) \
    X(REMOVE, 140, 0) \
    X(REMOVE_ALL, 8, 0) \
    X(ENABLE, 80, 0) \
    X(CHANGE, 90, 0) \
    X(WRITE, 80, 0) \
    X(READ, 60, 2) \
    X(GET_MANY, 12, 2) \
    X(WRITE_MANY, 12, 1) \
    X(NAME, 25, 0) \
    X(FIND, 10, 2) \
    X(INDEX, 12, 2) \
    X(RESERVE, 2, 0) \
    X(RESERVE_FOR, 3, 0) \
    X(SHRINK, 4, 0) \
    X(SORT, 4, 0) \
    X(USE, 3, 0) \
    X(QUERY_NEW, 4, 0) \
    X(QUERY_FREE, 1, 2) \
    X(QUERY_WALK, 30, 1) \
    X(ADD_WHERE, 4, 0) \
    X(REMOVE_WHERE, 4, 0) \
    X(SET_WHERE, 4, 0) \
    X(ENABLE_WHERE, 3, 0) \
    X(DESTROY_WHERE, 1, 0) \
    X(DEFER, 20, 2) \
    X(TICK, 12, 2) \
    X(FORK, 3, 0) \
    X(FORK_SWAP, 2, 2) \
    X(FORK_FREE, 1, 2) \
    X(SNAPSHOT, 5, 0) \
    X(SNAPSHOT_FREE, 1, 2) \
    X(SNAPSHOT_FORK, 2, 0) \
    X(RESTORE, 4, 0) \
    X(SAVE, 2, 0) \
    X(DIFF, 1, 0) \
    X(JOURNAL, 2, 0) \
    X(HASH, 5, 0) \
    X(OBSERVE, 0, 0) \
    X(POST, 12, 0) \
    X(HISTORY, 2, 2) \
    X(MERGE, 1, 0) \
    X(SHARE, 0, 0) \
    X(RELATE, 0, 0) \
    X(RELATE_BEFORE, 0, 0) \
    X(UNRELATE, 0, 0) \
    X(RETARGET, 0, 0) \
    X(UNRELATE_ALL, 0, 1) \
    X(RELATION_WRITE, 0, 0) \
    X(KIN, 0, 2) \
    X(MAKE_PREFAB, 0, 0) \
    X(INSTANTIATE, 0, 0)

typedef enum op_kind {
#define X(name, weight, part) OP_##name,
    MODEL_OPS(X)
#undef X
        OP_COUNT
} op_kind;

enum {
    OP_TYPES = 8,
    OP_LIST = 12,
    SLOTS = 6,  /* bundles and queries that live at the same time */
    FORKS = 80, /* further worlds of the family */
    SNAPSHOTS = 12,
    HASHES = 4096, /* that are remembered */
    OPTION_ON = 1,
    OPTION_WHOLE = 2, /* of ENABLE: the entity, not a component */
    OPTION_HASHED = 1,
    OPTION_OTHER_WORLD = 2, /* of FORK and its like */
    /* of SAVE: into a slot of forks, a world of another family; else itself */
    KEEP_FORK = 1,
    KEEP_FRESH = 2,
    KEEP_PORTABLE = 4,
    KEEP_SEALED = 8,
    KEEP_BACK = 1, /* of DIFF, beside KEEP_SEALED: and back again */
    KEEP_READ = 1,
    KEEP_REOPEN = 2,
    KEEP_COMPACT = 4,
    KEEP_CLOSE = 16, /* of JOURNAL */
    ORDER_DESCENDING = 1,
    ORDER_BY_VALUE = 2,
    ORDER_COARSELY = 4,
    ORDER_EXACTLY = 8,
    ORDER_GROUPED = 16, /* options of SORT */
    DEFER_STEPS = 10,   /* calls inside of DEFER, each numbered as if it made an entity */
    DEFER_STEPS_ON = 1, /* option: the loop is walked to its end */
    DEFER_MIXED = 8,    /* option of DEFER: all steps are about relations of type n */
    DEFER_RELATES = 4,  /* option of DEFER, TICK and HISTORY: some steps relate entities */
    MERGE_MADE = 128,   /* entities that come by MERGE at most */
    TICK_MADE = 16,     /* entities that a tick makes at most */
    TREE_MADE = 64,     /* entities that INSTANTIATE makes at most */
    RELATE_DATA = 1,
    RELATE_WRONG_SIZE = 2,
    RELATE_BY_SET = 4,
    RELATE_BY_CHANGE = 8, /* options of RELATE */
    UNRELATE_TARGETS = 0,
    UNRELATE_SOURCES,
    UNRELATE_BY_REMOVE,
    UNRELATE_TYPE,
    UNRELATE_WAYS, /* options of UNRELATE_ALL */
    TREE_CLONE = 1,
    TREE_UNASKED = 2, /* options of INSTANTIATE: nobody asks for the roots */
    TREE_STEP = 4,    /* it is a step of another operation: one copy, of which only the root has a number */
    NAME_NONE = 0xFFFF,
    /* subjects that are no entity's number: */
    SUBJECT_FIRST = 0x7FFFFFF0, /* numbers are below */
    SUBJECT_NULL = SUBJECT_FIRST,
    SUBJECT_FAR,  /* an index that was never used */
    SUBJECT_AHEAD /* list[11]'s index with the next generation */
};

/* An operation. `how` of QUERY_NEW holds a reef_access. */
typedef struct op {
    uint8_t kind, flaw, count, option;
    uint16_t fail_at; /* an allocation fails, see counted */
    uint8_t fail_on;
    uint8_t type[OP_TYPES], how[OP_TYPES];
    uint32_t subject; /* number of an entity */
    uint32_t made;    /* number of the first entity that it makes */
    uint32_t n;
    uint64_t value;
    uint32_t list[OP_LIST];
} op;

typedef struct op_list {
    op *op;
    uint32_t count, capacity;
} op_list;

typedef struct outcome {
    reef_status status;
    uint64_t number;     /* whatever the call counts or answers */
    uint64_t digest;     /* of the data that was read */
    reef_entity *made;   /* with room enough */
    uint32_t made_count; /* 0 when the caller didn't want to know */
} outcome;

typedef struct model_query {
    reef_query query;
    uint8_t type[OP_TYPES], access[OP_TYPES], count;
} model_query;

typedef struct model_bundle {
    reef_bundle *bundle;
    uint8_t type[OP_TYPES], count;
    uint32_t offset[OP_TYPES], bytes;
} model_bundle;

/* The queries of a world: a fork has those that its origin had. */
typedef struct model_queries {
    model_query slot[SLOTS];
    reef_query single[TYPES_MAX]; /* of one type, for whole comparisons */
} model_queries;

typedef struct model_fork {
    reef_world *world;
    ref_world reference; /* entities_max 0: there is none */
    uint64_t hash;       /* 0: not known */
    model_queries queries;
} model_fork;

typedef struct model_snapshot {
    reef_snapshot *snapshot;
    ref_world reference;
    uint64_t hash;
    model_queries queries;
} model_snapshot;

typedef struct hash_entry {
    uint64_t digest, hash;
} hash_entry;

typedef struct model {
    reef_world *world;
    reef_world *other; /* a world whose objects must be refused */
    reef_bundle *other_bundle;
    reef_snapshot *other_snapshot;
    ref_world reference;
    uint32_t active; /* types of this run */
    bool strict, never_reuse;
    bool relations;    /* entities are related in this run */
    uint64_t relating; /* features of relations that the operation made or ended */
    uint64_t asking;   /* features of the questions that the operation asked */
    uint32_t entities_max;
    reef_entity *handle; /* by number; {0}: its maker failed or was left out */
    uint32_t handle_count, handle_capacity;
    outcome core, want;
    uint32_t made_capacity;
    model_query query[SLOTS];
    model_bundle bundle[SLOTS];
    model_fork fork[FORKS];
    model_snapshot snapshot[SNAPSHOTS];
    reef_journal *journal;
    reef_world *journal_world; /* whose it is */
    uint64_t bytes_beside;     /* while a world of another family is compared: what all others take */
    hash_entry by_digest[HASHES], by_hash[HASHES]; /* lately seen */
    bool check_all, check_rows;                    /* the operation wants the whole world compared, */
    uint64_t check_hash;                           /* and its hash, if this isn't 0 */
    reef_query single[TYPES_MAX];                  /* queries of one type, for whole comparisons */
    uint64_t starved;                              /* calls that answered NO_MEMORY, and were then tried again */
    bool failed;
    char failure[600];
} model;

/* The names that entities get; the last ones are none. */
extern const char *const model_names[];
enum { NAMES_GOOD = 40, NAMES_BAD = 6 };
void names_make(void);

/* ---- one run ---- */
bool model_start(model *m, uint64_t seed, uint32_t types_max, bool with_world);
void model_stop(model *m); /* checks that nothing is left */
void model_fail(model *m, const char *format, ...);

/* Do an operation with the reference alone, and with both and all comparisons. */
void model_refer(model *m, const op *o);
void model_apply(model *m, const op *o);
/* Compare the whole world; the second function leaves out queries, which cost most. */
void model_compare(model *m, bool validate);
void model_compare_rows(model *m, bool validate);
void model_compare_entity(model *m, reef_entity e);
void model_compare_links(model *m, reef_entity e); /* its relations and its path (compare_links.c) */

reef_entity model_handle(const model *m, uint32_t number);
void model_made(model *m, uint32_t first, const reef_entity *made, uint32_t count);
/* The inlined calls, for types that have them: false for all others. (typed.c) */
bool typed_get(const reef_world *w, reef_entity e, uint32_t type, const void **p);
bool typed_mut(reef_world *w, reef_entity e, uint32_t type, void **p);
bool typed_has(const reef_world *w, reef_entity e, uint32_t type, bool *has);
const char *op_name(op_kind kind);
/* The values of an operation as the reference takes them. */
uint32_t model_values(const model *m, const op *o, ref_value *values);
uint32_t op_makes(const op *o);
/* Does CLONE_MANY call reef_clone_tree? */
static inline bool op_clones_tree(const op *o) { return (o->value >> 7 & 1) != 0; }
/* Do one operation with reef alone, and with the reference alone, without a comparison. */
void model_core(model *m, const op *o, outcome *out);
void model_want(model *m, const op *o, outcome *want);
/* Lets a strict world know the types of relations, and templates. */
bool relations_use(reef_world *w);
/* The systems of a world. */
bool tick_systems(reef_world *w);
/* Call i inside of DEFER. */
void defer_step(const op *o, uint32_t i, op *step);

/* ---- making operations ---- */
typedef struct generator {
    uint64_t random;
    uint32_t numbers; /* given out so far */
    uint32_t target;  /* of living entities */
    uint32_t calm;    /* operations until the next change of phase */
    bool failing;     /* this phase lets allocations fail */
    bool naming;      /* this phase gives names */
    uint32_t quiet;   /* the types of a phase without hooks, switches, names and loops that write; 0: any phase */
    bool watching;    /* this phase has observers */
    bool clears;      /* a quiet phase that begins with an empty world */
    bool forks;       /* this seed forks worlds */
    bool marks;       /* this seed disables components and entities */
    bool all;         /* this seed has every feature */
    bool relations;   /* this seed relates entities */
    uint32_t forks_target;
    uint32_t medley;       /* what is left of operations on whole worlds, one after the other */
    uint32_t burst, query; /* what is left of a walk, a fork, a write and a walk of one query */
    bool bursting;
} generator;

bool seed_has_forks(uint64_t seed);
bool seed_has_switches(uint64_t seed);
bool seed_has_relations(uint64_t seed);
bool seed_has_all(uint64_t seed);   /* every feature is in play: what --pairs counts */
uint64_t seed_homes(uint64_t seed); /* for types_make */
void generator_start(generator *g, uint64_t seed);
void generate(generator *g, const model *m, op *o);

/* ---- when it fails ---- */

/* The path of the journal, the same for all runs of this process. */
enum { MODEL_PATH = 64 };
extern char model_path[MODEL_PATH];

/* Runs a list in a child process: 0 fine, otherwise it failed, and *at is the operation that did. */
typedef struct run_options {
    uint64_t seed;
    uint32_t types, every; /* whole comparison every ... operations */
} run_options;
bool list_fails(const op_list *list, const run_options *o, uint32_t *at, char *message, size_t size);
void list_add(op_list *list, const op *o);
void shrink(op_list *list, const run_options *o, double seconds);
void print_program(FILE *file, const op_list *list, const run_options *o, const char *message);
uint64_t random_next(uint64_t *state);

#endif
