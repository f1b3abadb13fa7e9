/* A loop inside of a system over rows that aren't its own. Such a loop marks nothing, locks nothing, and writes
 * nothing but its block. The rows don't change meanwhile: entities don't move while systems run, and a system that
 * writes the values that are read waits for this one. */
#include "storage/error.h"
#include "query/block.h"
#include "query/partition.h"
#include "query/query.h"
#include "query/relation_plan.h"
#include "query/row_filter.h"
#include "query/value_term.h"
#include "system/job.h"
#include "system/system.h"
#include "reef/system.h"

/* Returns a component that the query writes, or reads without a declaration. {0}: there is none. */
static reef_component term_undeclared(const query *q, const struct system *s)
{
    for (uint32_t i = 0; i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        const term_facts *f = &q->facts[i];
        const bool looks = f->reads || t->since != REEF_ALWAYS || f->values;
        if (t->op >= REEF_ANY_OF || (f->filter && !looks)) continue;
        if (reef__type_of(t->component.id)->size == 0) continue;
        if ((t->access != REEF_IN && !f->filter) || !reef__system_touches(s, REEF_READS, t->component.id))
            return t->component;
    }
    return (reef_component){0};
}

static const char others_op[] = "reef_others";

static reef_block others_refuse(const reef_block *b, reef_status s, reef_component c)
{
    reef__job_failure(b->loop.job, s, others_op, c, (reef_entity){0, 0}, 0);
    return reef__block_none(b->world);
}

reef_block reef_others(const reef_block *b, reef_query which)
{
    const reef_world *w = b->world;
    reef_block o;
    if (b->loop.job == NULL)
        return misuse_refuse(b->world, others_op, "it is for systems: elsewhere use reef_begin"),
               reef__block_none(b->world);
    reef_status s;
    query *q = query_shared(w, which, &s);
    if (q == NULL) return others_refuse(b, s, (reef_component){0});
    if (q->since || q->ranking || (q->plan && q->plan->bindings) || q->near || parameters_missing(q))
        return reef__job_misuse(b->loop.job, others_op, (reef_component){0}, (reef_entity){0, 0},
                                "the query has 'changed', an order, 'near', several matches of a row, or a parameter "
                                "without a value"),
               reef__block_none(b->world);
    const reef_component c = term_undeclared(q, b->loop.job->system);
    if (c.id) return others_refuse(b, REEF_UNDECLARED, c);
    const split_place begin = query_begin(q), end = query_end(q);
    reef__part_begin(&o, b->world, q, &begin, &end);
    o.dt = b->dt;
    o.context = b->context;
    o.loop.job = b->loop.job;
    if (!reef__fixed_hold(q, 0)) o.loop.left = 0;
    return o;
}
