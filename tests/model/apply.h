/* The operations that apply_query.c, apply_bulk.c, defer.c, tick.c and sort.c add to those of apply.c. */
#ifndef MODEL_APPLY_H
#define MODEL_APPLY_H

#include "link.h"
#include "model.h"

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

void core_QUERY_NEW(model *m, const op *o, outcome *out);
void want_QUERY_NEW(model *m, const op *o, outcome *want);
void core_QUERY_FREE(model *m, const op *o, outcome *out);
void want_QUERY_FREE(model *m, const op *o, outcome *want);
void core_QUERY_WALK(model *m, const op *o, outcome *out);
void want_QUERY_WALK(model *m, const op *o, outcome *want);
void core_DEFER(model *m, const op *o, outcome *out);
void want_DEFER(model *m, const op *o, outcome *want);
void core_TICK(model *m, const op *o, outcome *out);
void want_TICK(model *m, const op *o, outcome *want);
void core_SORT(model *m, const op *o, outcome *out);
void want_SORT(model *m, const op *o, outcome *want);
void core_CLEAR_TYPE(model *m, const op *o, outcome *out);
void want_CLEAR_TYPE(model *m, const op *o, outcome *want);
void core_WORLD_CLEAR(model *m, const op *o, outcome *out);
void want_WORLD_CLEAR(model *m, const op *o, outcome *want);
void core_ADD_WHERE(model *m, const op *o, outcome *out);
void want_ADD_WHERE(model *m, const op *o, outcome *want);
void core_REMOVE_WHERE(model *m, const op *o, outcome *out);
void want_REMOVE_WHERE(model *m, const op *o, outcome *want);
void core_SET_WHERE(model *m, const op *o, outcome *out);
void want_SET_WHERE(model *m, const op *o, outcome *want);
void core_DESTROY_WHERE(model *m, const op *o, outcome *out);
void want_DESTROY_WHERE(model *m, const op *o, outcome *want);
void core_ENABLE_WHERE(model *m, const op *o, outcome *out);
void want_ENABLE_WHERE(model *m, const op *o, outcome *want);
/* The entity that an operation is about. */
reef_entity subject_of(const model *m, const op *o);

void core_SHARE(model *m, const op *o, outcome *out);
void want_SHARE(model *m, const op *o, outcome *want);
void core_POST(model *m, const op *o, outcome *out);
void want_POST(model *m, const op *o, outcome *want);
void core_HISTORY(model *m, const op *o, outcome *out);
void want_HISTORY(model *m, const op *o, outcome *want);
void core_MERGE(model *m, const op *o, outcome *out);
void want_MERGE(model *m, const op *o, outcome *want);
/* Is it one of the operations that are also commands, and what it asks for. The source is given. */
bool op_relates(op_kind kind);
ref_request request_of(const model *m, const op *o, reef_entity source);
reef_status want_request(model *m, const op *o, reef_entity source);
/* Makes step i of an operation that consists of several, if it is one of these. Its subject isn't set. */
bool step_relates(const op *o, uint64_t i, op *step);
size_t request_data(const op *o, void *to); /* room for 128 bytes */
void core_RELATE(model *m, const op *o, outcome *out);
void want_RELATE(model *m, const op *o, outcome *want);
void core_RELATE_BEFORE(model *m, const op *o, outcome *out);
void want_RELATE_BEFORE(model *m, const op *o, outcome *want);
void core_UNRELATE(model *m, const op *o, outcome *out);
void want_UNRELATE(model *m, const op *o, outcome *want);
void core_RETARGET(model *m, const op *o, outcome *out);
void want_RETARGET(model *m, const op *o, outcome *want);
void core_UNRELATE_ALL(model *m, const op *o, outcome *out);
void want_UNRELATE_ALL(model *m, const op *o, outcome *want);
void core_RELATION_WRITE(model *m, const op *o, outcome *out);
void want_RELATION_WRITE(model *m, const op *o, outcome *want);
void core_KIN(model *m, const op *o, outcome *out);
void want_KIN(model *m, const op *o, outcome *want);
void core_MAKE_PREFAB(model *m, const op *o, outcome *out);
void want_MAKE_PREFAB(model *m, const op *o, outcome *want);
void core_INSTANTIATE(model *m, const op *o, outcome *out);
void want_INSTANTIATE(model *m, const op *o, outcome *want);
void core_OBSERVE(model *m, const op *o, outcome *out);
void want_OBSERVE(model *m, const op *o, outcome *want);

#endif
