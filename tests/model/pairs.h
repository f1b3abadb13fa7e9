/* Which features met: for each pair, in how many checks both were in play. (pairs.c) */
#ifndef MODEL_PAIRS_H
#define MODEL_PAIRS_H

#include "reference.h"

/* name in the table */
#define PAIR_FEATURES(X) \
    X(TABLE, "table") \
    X(BIT, "bit") \
    X(SPARSE, "sparse") \
    X(PAGED, "paged") \
    X(COLD, "cold") \
    X(MULTI, "multi") \
    X(SHARED, "shared") \
    X(SPLIT, "split") \
    X(SUBTYPE, "subtype") \
    X(HOOKS, "hooks") \
    X(TRACKED, "tracked") \
    X(RESET, "reset") \
    X(REQUIRED, "required") \
    X(UNIQUE, "unique") \
    X(PREFAB, "prefab") \
    X(SCRIPT, "script") \
    X(STARTED, "started") /* the script has, or it is a copy of one that has */ \
    X(DISABLED, "disabled") \
    X(NAME, "name") \
    X(INNER_NAME, "inner name") \
    X(SEVERAL, "relation") \
    X(EXCLUSIVE, "exclusive") \
    X(WITH_DATA, "with data") \
    X(SYMMETRIC, "symmetric") \
    X(TRANSITIVE, "transitive") \
    X(CASCADE, "cascade") \
    X(KEEPS, "keeps") \
    X(CHILD, "child") \
    X(INSTANCE, "instance") \
    X(TARGET, "target") \
    X(EVENTS, "events") \
    X(IMMEDIATE, "immediate") \
    X(COLLECTED, "collected") \
    X(DEFERRED, "deferred") \
    X(TICK, "tick") \
    X(ASKED, "asked") \
    X(CUT, "cut way") \
    X(WHOLE, "whole query") \
    X(TREE, "tree copy") \
    X(GIVEN, "value of copy") /* that the call gives to a copy */ \
    X(REPLACED, "replaced")   /* it takes the place of one of the template */ \
    X(FORK, "fork") \
    X(SNAPSHOT, "snapshot") \
    X(RESTORE, "restore") \
    X(SEALED, "sealed") \
    X(UNSEALED, "unsealed") \
    X(DIFFERENCE, "difference") \
    X(JOURNAL, "journal") \
    X(HISTORY, "history") \
    X(MERGE, "merge")

typedef enum pair_feature {
#define X(name, text) PAIR_##name,
    PAIR_FEATURES(X)
#undef X
        PAIR_COUNT
} pair_feature;

#define PAIR_BIT(feature) (UINT64_C(1) << PAIR_##feature)
#define PAIRS_OF_WHOLE_ENTITIES \
    (PAIR_BIT(DISABLED) | PAIR_BIT(NAME) | PAIR_BIT(INNER_NAME) | PAIR_BIT(TARGET) | PAIR_BIT(STARTED))

struct model;
struct op;

/* Sets of features. */
uint64_t pairs_of_type(uint32_t type);
uint64_t pairs_of_relation(uint32_t relation);
uint64_t pairs_of_entity(const ref_entity *e);
uint64_t pairs_of_world(const ref_world *r); /* of all its entities */

/* Each of a met each of b. */
void pairs_meet(uint64_t a, uint64_t b);
/* An entity was compared. */
void pairs_compared(const struct model *m, const ref_entity *e);
/* Records that a feature was in play in the operation that was just compared, together with all others in play. */
void pairs_happened(struct model *m, pair_feature feature);
void pairs_of_op(struct model *m, const struct op *o);

typedef struct pair_counts {
    uint64_t met[PAIR_COUNT][PAIR_COUNT]; /* [greater][less] */
} pair_counts;
extern pair_counts pairs_counted; /* of this process */
void pairs_add(pair_counts *to, const pair_counts *from);
void pairs_print(const pair_counts *c);
uint32_t pairs_missing(const pair_counts *c); /* prints those that never met, and the rarest one */

#endif
