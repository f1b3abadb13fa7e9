/* Terms with `near` (src/query/near_term.h). */
#include "query/near_term.h"
#include "storage/error.h"
#include "storage/library.h"
#include "storage/place_calls.h"
#include "query/query.h"
#include "query/query_text.h"
#include "query/row_filter.h"
#include <inttypes.h>

COLD const char *reef__near_check(const query_text *l, uint32_t i)
{
    const reef_term *t = &l->term[i];
    place_reads reads;
    if (t->op == REEF_OPTIONAL || t->each || t->subtypes || t->enabled != REEF_ENABLED)
        return "'near' can't be used with '?', '+', 'each', 'disabled' or 'either'";
    if (t->up.id || t->variable || t->target_variable || t->target.generation || t->source.generation)
        return "'near' is about the visited entity";
    for (uint32_t k = 0; k < i; k++)
        if (l->term[k].op < REEF_ANY_OF && l->term[k].near && l->term[k].component.id != t->component.id)
            return "all terms with 'near' are of one type";
    return reef__places_by ? reef__places_by->reads(t->component.id, &reads)
                           : "it has no place: REEF_PLACE(Position, x, y, .cell = 1)";
}

COLD bool reef__near_make(query *q)
{
    uint32_t component = 0;
    for (uint32_t i = 0; i < q->term_count; i++)
        if (q->facts[i].near) component = q->terms[i].component.id;
    if (component == 0) return true;
    q->near = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, sizeof *q->near);
    if (q->near == NULL) return false;
    q->near->component = component;
    q->near_missing = true;
    return true;
}

COLD void reef__near_drop(query *q)
{
    if (q->near == NULL) return;
    reef__row_set_drop(q->world, &q->near->rows);
    reef__memory_free(&q->world->family->memory, MEMORY_OTHER, q->near, sizeof *q->near);
    q->near = NULL;
}

static bool near_put(void *context, reef_entity e)
{
    query *q = context;
    q->near->found++;
    return reef__row_set_add(q->world, &q->near->rows, e, 1);
}

bool reef__near_look(query *q)
{
    near_terms *n = q->near;
    n->found = 0;
    n->status = REEF_NO_MEMORY;
    if (reef__row_set_ready(q->world, &n->rows))
        n->status = reef__places_by->around(q->world, n->component, &n->ask, near_put, q);
    return n->status == REEF_OK;
}

void reef__near_rows(const look *l, uint64_t *words, uint32_t first, uint32_t end)
{
    rows_keep(words, row_set_words(&l->q->near->rows, l->unit), first, end);
}

COLD void reef__near_explain(text_out *o, const query *q)
{
    const near_terms *n = q->near;
    char text[2048];
    reef__text_put(o, "asks the picture of %s, which finds %" PRIu64 " entit%s; their rows are marked\n",
                   reef__type_of(n->component)->name, n->found, n->found == 1 ? "y" : "ies");
    (void)reef__places_by->explain(q->world, n->component, text, sizeof text);
    reef__text_put(o, "%s", text);
}

COLD reef_status reef_query_near(reef_world *w, reef_query which, const reef_place_ask *ask)
{
    static const char op[] = "reef_query_near";
    reef_status s = REEF_OK;
    if (!WORLD_GIVEN_TO(w, op)) return REEF_BAD_ARGUMENT;
    query *q = query_of(w, which, &s);
    if (q && q->near == NULL)
        return reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, "the query has no term with 'near'");
    if (q && ask == NULL) s = refuse_because(w, "the centre and the radius are NULL");
    else if (q && !(ask->radius >= 0)) s = refuse_because(w, "the radius is negative, or no number");
    if (s == REEF_OK && q->open) s = REEF_LOCKED;
    if (s != REEF_OK) return reef__refuse(w, s, op);
    q->near->ask = (reef_place_ask){.at = {ask->at[0], ask->at[1], ask->at[2]}, .radius = ask->radius};
    q->near_missing = false;
    reef__query_changed(q);
    return REEF_OK;
}
