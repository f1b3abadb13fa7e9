/* Relations as commands. A request to relate without data is an element of a run (src/change/command.c). Others are
 * kept as commands of a layer above (src/change/command.h), with the data behind them. When their turn comes,
 * the call on the world is made. */
#include "change/relation_command.h"
#include "change/command.h"
#include "reef/relation.h"

reef_status reef__relation_sound(const relation_request *x, const char **why)
{
    const type *t = reef__type_of(x->relation.id);
    if (t == NULL) return REEF_UNKNOWN_TYPE;
    *why = "it is no type of relations";
    if (t->relation == 0) return REEF_BAD_ARGUMENT;
    *why = "a symmetric relation keeps its target: end it, and relate anew";
    if (x->verb == RELATION_RETARGET && (t->relation & REEF_SYMMETRIC)) return REEF_BAD_ARGUMENT;
    if (x->data && x->size != (t->data ? t->data->size : 0)) return REEF_WRONG_SIZE;
    if (reef_entity_is_null(x->source) || reef_entity_is_null(x->target)) return REEF_NOT_ALIVE;
    return x->verb == RELATION_RETARGET && reef_entity_is_null(x->other) ? REEF_NOT_ALIVE : REEF_OK;
}

reef_status reef__relation_do(reef_world *w, const relation_request *x)
{
    switch (x->verb) {
    case RELATION_RELATE: return reef_relate_id(w, x->source, x->relation, x->target, x->data, x->size);
    case RELATION_BEFORE: return reef_relate_before_id(w, x->source, x->relation, x->target, x->other);
    case RELATION_UNRELATE: return reef_unrelate_id(w, x->source, x->relation, x->target);
    default: return reef_retarget_id(w, x->source, x->relation, x->target, x->other);
    }
}

static reef_status relation_command_run(reef_world *w, uint32_t what, const void *held)
{
    relation_request x;
    (void)what;
    memcpy(&x, held, sizeof x);
    if (x.data) x.data = (const char *)held + sizeof x;
    return reef__relation_do(w, &x);
}

static void relation_command_forget(uint32_t what, const void *held) { (void)what, (void)held; }

reef_status reef__relation_record(reef_world *w, commands *to, const char *op, const relation_request *x)
{
    static const command_call calls = {relation_command_run, relation_command_forget};
    if (x->verb == RELATION_RELATE && x->data == NULL)
        return reef__command_relate(w, to, op, x->relation, x->source, x->target);
    char *held = reef__command_bytes(w, to, op, &calls, 0, sizeof *x + (x->data ? x->size : 0));
    if (held == NULL) return REEF_NO_MEMORY;
    memcpy(held, x, sizeof *x);
    if (x->data) memcpy(held + sizeof *x, x->data, x->size);
    return REEF_OK;
}
