/* Queries with terms about relations, which the operation KIN asks: Likes(x), !Likes(x), *(x), Likes(*), and terms
 * about ancestors, Coral up(ChildOf). What is asked follows from the operation's value. The reference looks at each
 * entity. */
#include "apply.h"
#include "link.h"
#include <stdlib.h>

enum { QUESTIONS = 6 }; /* of an operation */

typedef enum ask_form { ASK_TARGET, ASK_NOT_TARGET, ASK_ANY_RELATION, ASK_ANY_TARGET, ASK_UP, ASK_NOT_UP } ask_form;

typedef struct ask {
    ask_form form;
    uint32_t relation, above, beside; /* `above`: what an ancestor has; `beside`: what the entity has, TYPES_MAX: any */
    bool self;
    uint32_t most; /* steps up; 0: any number */
    bool disabled; /* the relation is there, and disabled */
    reef_entity target;
} ask;

static uint32_t known_type(const model *m, uint32_t t)
{
    for (uint32_t i = 0; i < TYPES_MAX; i++, t++)
        if (ref_knows(&m->reference, t % TYPES_MAX)) return t % TYPES_MAX;
    return TYPES_MAX;
}

/* A type that an entity has, often; some known type otherwise. */
static uint32_t some_type(const model *m, const ref_entity *e, uint64_t v)
{
    uint32_t t = (uint32_t)v % TYPES_MAX;
    for (uint32_t i = 0; e && i < TYPES_MAX; i++, t = (t + 1) % TYPES_MAX)
        if (ref_has(e, t)) return t;
    return known_type(m, (uint32_t)v % TYPES_MAX);
}

/* Question k of an operation. Mostly about a relation that is there. False: it makes no sense. */
static bool ask_of(const model *m, const op *o, uint32_t k, ask *a)
{
    const ref_world *r = &m->reference;
    const uint64_t v = value_mix(o->value, 900 + k) >> 3, u = value_mix(o->value, 950 + k) >> 3;
    const ref_link *x = r->link_count && v % 5 ? &r->link[u % r->link_count] : NULL;
    a->relation = x ? x->relation : o->type[0];
    a->target = x ? ref_handle(r, x->target) : model_handle(m, o->list[0]);
    const ref_entity *source = x ? &r->entity[x->source] : NULL, *target = x ? &r->entity[x->target] : NULL;
    const bool tree = relation_is(a->relation, REEF_EXCLUSIVE) && relation_is(a->relation, REEF_ACYCLIC);
    a->form = (ask_form)((v >> 4) % (tree ? 6 : 4));
    const bool up = a->form == ASK_UP || a->form == ASK_NOT_UP, any = a->form == ASK_ANY_TARGET,
               negative = a->form == ASK_NOT_TARGET || a->form == ASK_NOT_UP;
    a->above = some_type(m, target, v >> 8);
    a->beside = negative || (v >> 16) % 2 ? some_type(m, source, v >> 20) : TYPES_MAX;
    a->self = v >> 32 & 1;
    a->most = v >> 33 & 1 ? (uint32_t)(v >> 34) % 2 + 1 : 0;
    a->disabled = any && (v >> 36) % 4 == 0;
    if (up && (a->above == TYPES_MAX || a->above == a->beside)) return false;
    if (negative && a->beside == TYPES_MAX) return false;
    return up || any || ref_alive(r, a->target);
}

/* ---- reef ---- */

static reef_query query_of(reef_world *w, const ask *a)
{
    reef_query_desc d = {.terms = {{.access = REEF_WITH}}};
    reef_term *t = d.terms;
    const bool up = a->form == ASK_UP || a->form == ASK_NOT_UP;
    t->op = a->form == ASK_NOT_TARGET || a->form == ASK_NOT_UP ? REEF_NOT : REEF_HAS;
    t->enabled = a->disabled ? REEF_DISABLED : REEF_ENABLED;
    if (a->form != ASK_ANY_RELATION) t->component = up ? model_types[a->above].id : model_relations[a->relation].id;
    if (!up && a->form != ASK_ANY_TARGET) t->target = a->target;
    if (up) t->up = model_relations[a->relation].id, t->self = a->self, t->up_most = a->most;
    if (a->beside < TYPES_MAX) d.terms[1] = (reef_term){.component = model_types[a->beside].id, .access = REEF_WITH};
    return reef_query_make(w, &d);
}

static void core_question(model *m, const op *o, const ask *a, outcome *out)
{
    const reef_query q = query_of(m->world, a);
    if (reef_query_is_null(q)) {
        model_fail(m, "a query about relations is refused: %s", reef_last_error(m->world).detail);
        return;
    }
    uint64_t n = 0;
    for (reef_block b = reef_begin(m->world, q); reef_next(&b);)
        for (uint32_t first = 0, rows; (rows = reef_block_run(&b, &first)) != 0; first += rows)
            for (uint32_t i = first; i < first + rows; i++, n++)
                out->digest = value_mix(out->digest, reef_entity_bits(b.entities[i]));
    if (reef_query_count(m->world, q) != n) model_fail(m, "a query about relations counts others than it visits");
    out->digest = value_mix(out->digest, n * 2 + reef_query_matches(m->world, q, subject_of(m, o)));
    (void)reef_query_free(m->world, q);
}

void core_ask(model *m, const op *o, outcome *out)
{
    ask a;
    for (uint32_t k = 0; k < QUESTIONS && !m->failed; k++)
        if (ask_of(m, o, k, &a)) core_question(m, o, &a, out);
}

/* ---- the reference ---- */

static bool has_enabled(const ref_entity *e, uint32_t type) { return (e->set & ~e->disabled) >> type & 1; }

static bool is_below(const ref_world *r, const ask *a, uint32_t index)
{
    if (a->self && has_enabled(&r->entity[index], a->above)) return true;
    for (uint32_t steps = 1; a->most == 0 || steps <= a->most; steps++) {
        index = ref_target(r, a->relation, index);
        if (index == UINT32_MAX) return false;
        if (has_enabled(&r->entity[index], a->above)) return true;
    }
    return false;
}

static bool is_related(const ref_world *r, const ask *a, uint32_t index)
{
    const ref_entity *e = &r->entity[index];
    if (a->form == ASK_ANY_RELATION) {
        for (uint32_t k = 0; k < RELATIONS; k++)
            if (!(e->unseen >> k & 1) && ref_link_find(r, k, index, a->target.index)) return true;
        return false;
    }
    if (e->out[a->relation] && (e->unseen >> a->relation & 1) != a->disabled) return false;
    if (a->form == ASK_ANY_TARGET) return e->out[a->relation] != 0;
    return ref_related(r, a->relation, ref_handle(r, index), a->target);
}

static bool is_asked(const ref_world *r, const ask *a, uint32_t index)
{
    const ref_entity *e = &r->entity[index];
    const bool up = a->form == ASK_UP || a->form == ASK_NOT_UP,
               named = a->beside == TYPE_PREFAB || (up && a->above == TYPE_PREFAB);
    if (e->off || (ref_has(e, TYPE_PREFAB) && !named)) return false;
    if (a->beside < TYPES_MAX && !has_enabled(e, a->beside)) return false;
    const bool holds = up ? is_below(r, a, index) : is_related(r, a, index);
    return holds != (a->form == ASK_NOT_TARGET || a->form == ASK_NOT_UP);
}

typedef struct answer {
    const ref_world *r;
    const ask *a;
    uint64_t digest, n;
} answer;

static void answer_with(void *context, ref_entity *e, uint32_t index)
{
    answer *x = context;
    (void)e;
    if (!is_asked(x->r, x->a, index)) return;
    x->digest = value_mix(x->digest, reef_entity_bits(ref_handle(x->r, index)));
    x->n++;
}

void want_ask(model *m, const op *o, outcome *want)
{
    const reef_entity e = subject_of(m, o);
    const ref_entity *alive = ref_alive(&m->reference, e);
    ask a;
    for (uint32_t k = 0; k < QUESTIONS; k++) {
        if (!ask_of(m, o, k, &a)) continue;
        answer x = {&m->reference, &a, want->digest, 0};
        ref_walk(&m->reference, 0, answer_with, &x);
        want->digest = value_mix(x.digest, x.n * 2 + (alive && alive->table && is_asked(&m->reference, &a, e.index)));
    }
}
