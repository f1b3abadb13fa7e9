/* Commands in systems that relate entities: as in src/system/job_command.c. */
#include "storage/known_types.h"
#include "change/command.h"
#include "change/relation_command.h"
#include "system/job.h"
#include "reef/command_relation.h"

static reef_status relation_ask(reef_block *b, const char *op, reef_touch_kind kind, const relation_request *x)
{
    if (b == NULL) return REEF_BAD_ARGUMENT;
    job *j = b->loop.job;
    if (j == NULL) return reef__relation_do(b->world, x);
    const char *why = NULL;
    reef_status s = reef__relation_sound(x, &why);
    if (s == REEF_OK && !reef__world_knows(j->world, x->relation.id)) s = REEF_UNKNOWN_TYPE;
    if (s == REEF_OK && !reef__job_declares(j, kind, x->relation.id)) s = REEF_UNDECLARED;
    if (s == REEF_BAD_ARGUMENT) return reef__job_misuse(j, op, x->relation, x->source, why);
    if (s != REEF_OK) return reef__job_failure(j, s, op, x->relation, x->source, x->size);
    j->commands.by = &j->by;
    return reef__relation_record(j->world, &j->commands, op, x);
}

reef_status reef_cmd_relate_id(reef_block *b, reef_entity source, reef_component relation, reef_entity target,
                               const void *data, size_t size)
{
    const relation_request x = {RELATION_RELATE, relation, source, target, {0, 0}, data, data ? size : 0};
    if (b && b->loop.job && data == NULL && source.generation && target.generation &&
        command_relate_again(&b->loop.job->commands, relation.id, source, target))
        return REEF_OK;
    return relation_ask(b, "reef_cmd_relate", REEF_RELATES, &x);
}

reef_status reef_cmd_relate_before_id(reef_block *b, reef_entity source, reef_component relation, reef_entity target,
                                      reef_entity next)
{
    const relation_request x = {RELATION_BEFORE, relation, source, target, next, NULL, 0};
    return relation_ask(b, "reef_cmd_relate_before", REEF_RELATES, &x);
}

reef_status reef_cmd_unrelate_id(reef_block *b, reef_entity source, reef_component relation, reef_entity target)
{
    const relation_request x = {RELATION_UNRELATE, relation, source, target, {0, 0}, NULL, 0};
    return relation_ask(b, "reef_cmd_unrelate", REEF_UNRELATES, &x);
}

reef_status reef_cmd_retarget_id(reef_block *b, reef_entity source, reef_component relation, reef_entity from,
                                 reef_entity to)
{
    const relation_request x = {RELATION_RETARGET, relation, source, from, to, NULL, 0};
    return relation_ask(b, "reef_cmd_retarget", REEF_RELATES, &x);
}
