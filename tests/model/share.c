/* Shared values: the subject gets the value of o->list[0]. */
#include "apply.h"
#include "reef/shared.h"

void core_SHARE(model *m, const op *o, outcome *out)
{
    out->status = reef_share_id(m->world, model_handle(m, o->list[0]), subject_of(m, o), component_of(o->type[0]));
}

void want_SHARE(model *m, const op *o, outcome *want)
{
    want->status = ref_share(&m->reference, model_handle(m, o->list[0]), subject_of(m, o), o->type[0]);
}
