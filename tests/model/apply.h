/* The operations (apply.c, apply_query.c, apply_bulk.c, defer.c, tick.c, sort.c and others), and what they share. */
#ifndef MODEL_APPLY_H
#define MODEL_APPLY_H

#include "link.h"
#include "model.h"
#include "everywhere.h"

/* Each operation, for reef and for the reference. */
#define X(name, weight, part) \
    void core_##name(model *m, const op *o, outcome *out); \
    void want_##name(model *m, const op *o, outcome *want);
MODEL_OPS(X)
#undef X

/* Values in memory, as reef takes them. */
typedef struct given {
    reef_value v[OP_TYPES];
    ref_value ref[OP_TYPES];
    void *memory[OP_TYPES];
    uint32_t elements[OP_TYPES];
    uint64_t args[OP_TYPES];
    uint32_t count;
} given;

/* The values of an operation, for n entities. */
void given_make(const model *m, const op *o, uint32_t n, given *g);
/* Forgets the values that were moved into the world. */
void given_free(given *g, bool taken);

/* Puts the rows of all tables with these types into groups, as a tick begins. */
void ref_group(ref_world *r, uint32_t set);
/* The entity that an operation is about. */
reef_entity subject_of(const model *m, const op *o);

/* Is it one of the operations that are also commands, and what it asks for. The source is given. */
bool op_relates(op_kind kind);
ref_request request_of(const model *m, const op *o, reef_entity source);
reef_status want_request(model *m, const op *o, reef_entity source);
/* Makes step i of an operation that consists of several, if it is one of these. Its subject isn't set. */
bool step_relates(const op *o, uint64_t i, op *step);
size_t request_data(const op *o, void *to); /* room for 128 bytes */
/* A new entity with a reserved id; if it can't be made, the id is free again. (defer.c) */
reef_status want_spawn_as(ref_world *r, reef_entity made, const ref_value *values, uint32_t count);
/* A copy of a tree whose root has a reserved id; if it can't be made, the id is free again. (tree.c) */
reef_status want_copy_as(model *m, const op *o, reef_entity source, reef_entity root);
/* Relations as values (related_value.c): whether RELATE makes one by reef_set or reef_change, and how; the same for the
 * reference; a step of a loop about nothing else, and what the loop does with it. */
bool related_by_value(const op *o);
reef_status relate_by_value(model *m, const op *o);
reef_status want_related_value(model *m, const op *o, reef_entity source);
bool step_mixes(const op *o, uint32_t i, op *step);
bool related_value_writes(const model *m, const op *o, reef_entity e);
reef_status related_value_note(const op *o);
/* What KIN asks beside its own: a query about relations. (ask.c) */
void core_ask(model *m, const op *o, outcome *out);
void want_ask(model *m, const op *o, outcome *want);
/* What INDEX asks beside its own: pictures of places. (place.c) */
uint64_t place_digest(model *m, const op *o);
uint64_t place_digest_wanted(const model *m, const op *o);

#endif
