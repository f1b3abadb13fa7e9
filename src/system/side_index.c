/* Value indexes in systems: they are brought up to date when the first job asks. */
#include "storage/error.h"
#include "index/value_index.h"
#include "system/job.h"
#include "reef/value_index.h"

const reef_index *reef_indexed_id(const reef_block *b, reef_component c, const char *field)
{
    static const char op[] = "reef_indexed";
    const reef_entity null = {0, 0};
    if (b == NULL) return NULL;
    job *j = b->loop.job;
    if (j == NULL) return reef__misuse(b->world, op, c, null, "it is for systems: elsewhere use reef_index_of"), NULL;
    if (!reef__job_declares(j, REEF_READS, c.id)) return reef__job_failure(j, REEF_UNDECLARED, op, c, null, 0), NULL;
    reef_index *x = reef__index_find(b->world, c, field);
    if (x == NULL) return reef__job_failure(j, REEF_ABSENT, op, c, null, 0), NULL;
    if (reef__index_follow(x, j->version, j->version - VERSION_STEP)) return x;
    return reef__job_failure(j, REEF_NO_MEMORY, op, c, null, 0), NULL;
}
