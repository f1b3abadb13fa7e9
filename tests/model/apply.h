/* The operations that apply_query.c and sort.c add to those of apply.c. */
#ifndef MODEL_APPLY_H
#define MODEL_APPLY_H

#include "model.h"

void core_QUERY_NEW(model *m, const op *o, outcome *out);
void want_QUERY_NEW(model *m, const op *o, outcome *want);
void core_QUERY_FREE(model *m, const op *o, outcome *out);
void want_QUERY_FREE(model *m, const op *o, outcome *want);
void core_QUERY_WALK(model *m, const op *o, outcome *out);
void want_QUERY_WALK(model *m, const op *o, outcome *want);
void core_SORT(model *m, const op *o, outcome *out);
void want_SORT(model *m, const op *o, outcome *want);

#endif
