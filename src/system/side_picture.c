/* The pictures of places for systems: a system gets only those that it declares, which were made before its jobs
 * began. */
#include "storage/error.h"
#include "index/picture.h"
#include "system/job.h"
#include "reef/place.h"

const reef_place *reef_placed_id(const reef_block *b, reef_component c)
{
    static const char op[] = "reef_placed";
    const reef_entity null = {0, 0};
    if (b == NULL) return NULL;
    if (b->loop.job == NULL)
        return reef__misuse(b->world, op, c, null, "it is for systems: elsewhere use reef_place_of"), NULL;
    if (reef__job_declares(b->loop.job, REEF_PLACED, c.id)) return reef__picture_find(b->world, c.id);
    reef__job_failure(b->loop.job, REEF_UNDECLARED, op, c, null, 0);
    return NULL;
}
