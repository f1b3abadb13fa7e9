/* The failures of jobs. A job keeps its first failure, so that threads share nothing while systems run; when the phase
 * ends, the failures are joined in the order of the jobs (src/system/phase.c). The command buffer of a job reports its
 * failures here through `recorder_calls`. */
#include "system/job.h"
#include "system/access_check.h"
#include "change/command.h"
#include "system/schedule.h"
#include "system/system.h"
#include "reef/world.h"

COLD reef_status reef__job_failure(job *j, reef_status status, const char *operation, reef_component c, reef_entity e,
                                   uint64_t number)
{
    reef_error x = {status, operation, c, e, number, "", ""};
    memcpy(x.system, j->system->name, sizeof x.system);
    if (status == REEF_BAD_ARGUMENT && j->by.why) {
        snprintf(x.detail, sizeof x.detail, "%s", j->by.why);
        x.number = 0; /* beside a detail it would be a place in a text */
    }
    j->by.why = NULL;
    if (j->error.status == REEF_OK || (status == REEF_NO_MEMORY && !j->short_of_memory)) j->error = x;
    j->short_of_memory |= status == REEF_NO_MEMORY;
#if defined(REEF_CHECKED)
    if (j->world->watch) j->world->watch->mistakes++;
    reef__failure_report(j->world, &x);
#endif
    return status;
}

COLD reef_status reef__job_misuse(job *j, const char *operation, reef_component c, reef_entity e, const char *why)
{
    j->by.why = why;
    return reef__job_failure(j, REEF_BAD_ARGUMENT, operation, c, e, 0);
}

COLD reef_status reef__block_misuse(const reef_block *b, const char *operation, reef_component c, reef_entity e,
                                    const char *why)
{
    return b->loop.job ? reef__job_misuse(b->loop.job, operation, c, e, why)
                       : reef__misuse(b->world, operation, c, e, why);
}

bool reef__job_declares(job *j, reef_touch_kind kind, uint32_t component)
{
    const uint64_t key = (uint64_t)kind << 32 | component;
    if (LIKELY(j->declared == key)) return true;
    if (!reef__system_touches(j->system, kind, component)) return false;
    j->declared = key;
    return true;
}

static job *job_of(const recorder *by) { return (job *)(void *)((char *)(uintptr_t)by - offsetof(job, by)); }
static const char *recorder_name(const recorder *by) { return job_of(by)->system->name; }

static COLD reef_status recorder_failure(recorder *by, reef_status status, const char *op, reef_component c,
                                         reef_entity e, uint64_t number)
{
    return reef__job_failure(job_of(by), status, op, c, e, number);
}

static bool recorder_declares(recorder *by, const reef_value *v, bool change)
{
    reef_touch_kind kind = REEF_SPAWNS; /* also for what a copy doesn't get */
    if (change) kind = v->kind == REEF_VALUE_REMOVE ? REEF_REMOVES : REEF_ADDS;
    return reef__job_declares(job_of(by), kind, v->component.id);
}

const struct recorder_calls reef__job_recorder_calls = {recorder_name, recorder_failure, recorder_declares};
