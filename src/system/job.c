/* The failures of jobs. A job keeps its first failure, so that threads share nothing while systems run; when the phase
 * ends, the failures are joined in the order of the jobs (src/system/phase.c). The command buffer of a job reports its
 * failures here through `recorder_calls`. */
#include "system/job.h"
#include "system/access_check.h"
#include "base/platform.h"
#include "storage/world_data.h"
#include "change/command.h"
#include "system/schedule.h"
#include "reef/world.h"

COLD reef_status reef__job_failure(job *j, reef_status status, const char *operation, reef_component c, reef_entity e,
                                   uint64_t number)
{
    reef_error x = {status, operation, c, e, number, "", ""};
    memcpy(x.system, j->system->name, sizeof x.system);
    if (j->error.status == REEF_OK || (status == REEF_NO_MEMORY && !j->short_of_memory)) j->error = x;
    j->short_of_memory |= status == REEF_NO_MEMORY;
#if defined(REEF_CHECKED)
    if (j->world->watch) j->world->watch->mistakes++;
    reef__failure_tell(j->world, &x);
#endif
    return status;
}

static const char *recorder_name(const recorder *by)
{
    return ((const job *)(const void *)((const char *)by - offsetof(job, by)))->system->name;
}

static COLD reef_status recorder_failure(recorder *by, reef_status status, const char *op, reef_component c,
                                         reef_entity e, uint64_t number)
{
    return reef__job_failure((job *)(void *)((char *)by - offsetof(job, by)), status, op, c, e, number);
}

const struct recorder_calls reef__job_recorder_calls = {recorder_name, recorder_failure};
