/* Queries with terms about relations, which the operation KIN asks: Likes(x), !Likes(x), *(x), Likes(*), terms about
 * ancestors, Coral up(ChildOf), variables in both directions, and orders by a relation. What is asked follows from the
 * operation's value. Some compare a value: of the entity itself, of an ancestor, or of a bound entity. The reference
 * looks at each entity, and follows no relation that is disabled. The text of each query is read again, and has to find
 * the same. */
#include "apply.h"
#include "link.h"
#include "pairs.h"
#include <stdlib.h>

enum { QUESTIONS = 6 }; /* of an operation */

typedef enum ask_form {
    ASK_TARGET,
    ASK_NOT_TARGET,
    ASK_ANY_RELATION,
    ASK_ANY_TARGET,
    ASK_TARGETS, /* R($x), A($x) */
    ASK_SOURCES, /* R($x, $this), A($x) */
    ASK_ORDER,
    ASK_UP,
    ASK_NOT_UP,
    ASK_FORMS
} ask_form;

typedef struct ask {
    ask_form form;
    /* `above`: what an ancestor, or a bound entity, has; `beside`: what the entity has, TYPES_MAX: any */
    uint32_t relation, above, beside;
    bool self;
    uint32_t most;        /* steps up; 0: any number */
    reef_enabled enabled; /* of the relation of the entity that the term is about */
    bool blind;           /* of the reference: relations that are disabled are followed */
    reef_entity target;
    uint32_t valued; /* `above` or `beside`: its value is compared; TYPES_MAX: no value is */
    uint32_t element;
    reef_compare compare;
    uint64_t number;
} ask;

static bool form_is_up(ask_form form) { return form == ASK_UP || form == ASK_NOT_UP; }
static bool form_binds(ask_form form) { return form == ASK_TARGETS || form == ASK_SOURCES; }
static bool form_denies(ask_form form) { return form == ASK_NOT_TARGET || form == ASK_NOT_UP; }

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

/* Some relation, often one that is disabled. NULL: there is none. */
static const ref_link *some_link(const ref_world *r, uint64_t v)
{
    const ref_link *some = r->link_count ? &r->link[v % r->link_count] : NULL;
    for (uint32_t i = 0; v >> 40 & 1 && i < r->link_count; i++) {
        const ref_link *x = &r->link[(v + i) % r->link_count];
        if (r->entity[x->source].unseen >> x->relation & 1) return x;
    }
    return some;
}

/* ---- values ---- */

/* Types with a field whose number the reference knows: a whole number, or elements of an array. In REEF_MULTI the
 * reference knows the first value only. */
static bool type_may_be_valued(uint32_t type)
{
    const model_type *t = &model_types[type];
    return t->home != REEF_MULTI && (type_has_payload(t) || (t->sort == SORT_PLAIN && t->field_count == 1));
}

static uint64_t number_of(uint32_t type, uint32_t element, uint64_t value)
{
    unsigned char bytes[64];
    uint32_t number;
    if (type_has_payload(&model_types[type])) return value;
    value_fill(bytes, model_types[type].size, value);
    memcpy(&number, bytes + element * sizeof number, sizeof number);
    return number;
}

/* Chooses a type whose value is compared, and mostly a number that some entity has. */
static void value_of_ask(const model *m, ask *a, bool above, uint64_t v)
{
    const ref_world *r = &m->reference;
    uint32_t t = (uint32_t)(v >> 8) % TYPES_MAX;
    for (uint32_t i = 0; i < TYPES_MAX && !(type_may_be_valued(t) && ref_knows(r, t)); i++) t = (t + 1) % TYPES_MAX;
    a->valued = TYPES_MAX;
    if (v % 2 || !type_may_be_valued(t) || !ref_knows(r, t)) return;
    *(above ? &a->above : &a->beside) = a->valued = t;
    a->element = (uint32_t)(v >> 16) % 4;
    a->compare = (reef_compare)(REEF_EQUAL + (v >> 20) % 8);
    if (a->compare == REEF_WITHIN) a->compare = REEF_ALL_BITS;
    a->number = number_of(t, a->element, v);
    for (uint32_t i = 0; i < r->living_count; i++) {
        const ref_entity *e = &r->entity[r->living[(i + (v >> 24)) % r->living_count]];
        if (!ref_has(e, t)) continue;
        a->number = number_of(t, a->element, e->value[t]);
        return;
    }
}

/* Has the entity the type, enabled, and with a value as it is asked? */
static bool has_asked(const ask *a, const ref_entity *e, uint32_t type)
{
    if (!((e->set & ~e->disabled) >> type & 1)) return false;
    if (type != a->valued) return true;
    const uint64_t x = number_of(type, a->element, e->value[type]), y = a->number;
    switch (a->compare) {
    case REEF_EQUAL: return x == y;
    case REEF_UNEQUAL: return x != y;
    case REEF_LESS: return x < y;
    case REEF_AT_MOST: return x <= y;
    case REEF_MORE: return x > y;
    case REEF_AT_LEAST: return x >= y;
    case REEF_ANY_BIT: return (x & y) != 0;
    default: return (x & y) == y;
    }
}

/* Question k of an operation. Mostly about a relation that is there. False: it makes no sense. */
static bool ask_of(const model *m, const op *o, uint32_t k, ask *a)
{
    const ref_world *r = &m->reference;
    const uint64_t v = value_mix(o->value, 900 + k) >> 3, u = value_mix(o->value, 950 + k) >> 3;
    const ref_link *x = v % 5 ? some_link(r, u) : NULL;
    a->relation = x ? x->relation : o->type[0];
    a->target = x ? ref_handle(r, x->target) : model_handle(m, o->list[0]);
    const ref_entity *source = x ? &r->entity[x->source] : NULL, *target = x ? &r->entity[x->target] : NULL;
    const bool exclusive = relation_is(a->relation, REEF_EXCLUSIVE);
    const bool tree = exclusive && relation_is(a->relation, REEF_ACYCLIC);
    a->form = (ask_form)((v >> 4) % (tree ? ASK_FORMS : exclusive ? ASK_UP : ASK_ORDER));
    const bool up = form_is_up(a->form), binds = form_binds(a->form),
               named = a->form == ASK_TARGET || form_denies(a->form);
    a->above = some_type(m, a->form == ASK_SOURCES ? source : target, v >> 8);
    a->beside = form_denies(a->form) || (v >> 16) % 2 ? some_type(m, a->form == ASK_SOURCES ? target : source, v >> 20)
                                                      : TYPES_MAX;
    a->self = v >> 32 & 1;
    a->most = v >> 33 & 1 ? (uint32_t)(v >> 34) % 2 + 1 : 0;
    a->enabled = (v >> 36) % 4 || up || !(named || binds || a->form == ASK_ANY_TARGET) ? REEF_ENABLED
                                                                                       : (reef_enabled)((v >> 38) % 3);
    a->blind = false;
    const uint64_t w = value_mix(o->value, 980 + k);
    value_of_ask(m, a, (up || binds) && w >> 60 & 1, w);
    if ((up || binds) && (a->above == TYPES_MAX || a->above == a->beside)) return false;
    if (form_denies(a->form) && a->beside == TYPES_MAX) return false;
    return up || binds || a->form == ASK_ANY_TARGET || a->form == ASK_ORDER || ref_alive(r, a->target);
}

/* ---- reef ---- */

static reef_query query_of(reef_world *w, const ask *a)
{
    char field[16];
    const bool whole = a->valued < TYPES_MAX && type_has_payload(&model_types[a->valued]);
    snprintf(field, sizeof field, whole ? "value" : "all[%d]", (int)a->element);
    const reef_condition compared = {.field = field, .compare = a->compare, .value = reef_literal_u64(a->number)};
    reef_query_desc d = {.terms = {{.access = REEF_WITH}}};
    reef_term *t = d.terms;
    uint32_t n = a->form != ASK_ORDER;
    t->op = form_denies(a->form) ? REEF_NOT : REEF_HAS;
    t->enabled = a->enabled;
    if (a->form != ASK_ANY_RELATION)
        t->component = form_is_up(a->form) ? model_types[a->above].id : model_relations[a->relation].id;
    if (form_is_up(a->form)) t->up = model_relations[a->relation].id, t->self = a->self, t->up_most = a->most;
    else if (form_binds(a->form)) {
        t->variable = a->form == ASK_SOURCES;
        t->target_variable = a->form == ASK_SOURCES ? REEF_VISITED : 1;
        d.terms[n++] = (reef_term){.component = model_types[a->above].id, .access = REEF_WITH, .variable = 1};
    } else if (a->form != ASK_ANY_TARGET) t->target = a->target;
    if (a->form == ASK_ORDER) {
        *t = (reef_term){.op = REEF_HAS};
        if (relation_is(a->relation, REEF_ACYCLIC)) d.cascade = model_relations[a->relation].id;
    }
    if (a->beside < TYPES_MAX) d.terms[n] = (reef_term){.component = model_types[a->beside].id, .access = REEF_WITH};
    for (uint32_t i = 0; a->valued < TYPES_MAX && i <= n; i++)
        if (d.terms[i].component.id == model_types[a->valued].id.id)
            d.terms[i].conditions = &compared, d.terms[i].count = 1;
    const reef_query q = reef_query_make(w, &d);
    const reef_order by = {.relation = model_relations[a->relation].id};
    if (a->form == ASK_ORDER && d.cascade.id == 0) (void)reef_query_order(w, q, &by);
    return q;
}

/* A digest of all visits, and their number. */
static uint64_t visits(reef_world *w, reef_query q, uint64_t *n)
{
    uint64_t digest = 0;
    *n = 0;
    for (reef_block b = reef_begin(w, q); reef_next(&b);)
        for (uint32_t first = 0, rows; (rows = reef_block_run(&b, &first)) != 0; first += rows)
            for (uint32_t i = first; i < first + rows; i++, ++*n)
                digest = value_mix(digest, reef_entity_bits(b.entities[i]));
    return digest;
}

/* The text of a query gives the query back: it finds the same, and has the same text. */
static void text_agrees(model *m, const ask *a, reef_query q, uint64_t digest)
{
    char text[1024], again[1024];
    uint64_t n;
    const size_t length = reef_query_text(m->world, q, text, sizeof text);
    if (a->form == ASK_ORDER && !relation_is(a->relation, REEF_ACYCLIC)) return; /* no text says this order */
    const reef_query same = reef_query_new(m->world, text);
    if (length >= sizeof text || reef_query_is_null(same)) {
        model_fail(m, "the text of a query is refused: %s: %s", text, reef_last_error(m->world).detail);
        return;
    }
    (void)reef_query_text(m->world, same, again, sizeof again);
    if (strcmp(text, again) != 0) model_fail(m, "the text of a query, %s, is read as %s", text, again);
    if (visits(m->world, same, &n) != digest) model_fail(m, "the text of a query, %s, finds others", text);
    (void)reef_query_free(m->world, same);
}

static void core_question(model *m, const op *o, const ask *a, outcome *out)
{
    const reef_query q = query_of(m->world, a);
    if (reef_query_is_null(q)) {
        model_fail(m, "a query about relations is refused: %s", reef_last_error(m->world).detail);
        return;
    }
    uint64_t n;
    const uint64_t digest = visits(m->world, q, &n);
    if (!form_binds(a->form) && reef_query_count(m->world, q) != n)
        model_fail(m, "a query about relations counts others than it visits");
    text_agrees(m, a, q, digest);
    out->digest = value_mix(value_mix(out->digest, digest), n * 2 + reef_query_matches(m->world, q, subject_of(m, o)));
    (void)reef_query_free(m->world, q);
}

void core_ask(model *m, const op *o, outcome *out)
{
    ask a;
    for (uint32_t k = 0; k < QUESTIONS && !m->failed; k++)
        if (ask_of(m, o, k, &a)) core_question(m, o, &a, out);
}

/* ---- the reference ---- */

/* May a way lead over the relation of this entity? */
static bool goes_on(const ref_world *r, const ask *a, uint32_t index)
{
    return a->blind || !(r->entity[index].unseen >> a->relation & 1);
}

/* Is the relation of this entity as the term asks? */
static bool is_as_asked(const ref_world *r, const ask *a, uint32_t index)
{
    const bool disabled = r->entity[index].unseen >> a->relation & 1;
    if (r->entity[index].out[a->relation] == 0) return false;
    return a->enabled == REEF_EITHER || (a->blind && a->enabled == REEF_ENABLED) ||
           disabled == (a->enabled != REEF_ENABLED);
}

static uint32_t above_of(const ref_world *r, const ask *a, uint32_t index)
{
    return goes_on(r, a, index) ? ref_target(r, a->relation, index) : UINT32_MAX;
}

static bool is_below(const ref_world *r, const ask *a, uint32_t index)
{
    if (a->self && has_asked(a, &r->entity[index], a->above)) return true;
    for (uint32_t steps = 1; a->most == 0 || steps <= a->most; steps++) {
        index = above_of(r, a, index);
        if (index == UINT32_MAX) return false;
        if (has_asked(a, &r->entity[index], a->above)) return true;
    }
    return false;
}

/* Marks all to which the relation leads from one entity. */
static void reach(const ref_world *r, const ask *a, uint32_t from, bool *reached)
{
    memset(reached, 0, r->count * sizeof *reached);
    if (!is_as_asked(r, a, from)) return;
    for (bool first = true, more = true; more; first = false) {
        more = false;
        for (uint32_t i = 0; i < r->link_count; i++) {
            const ref_link *x = &r->link[i];
            const bool here = first ? x->source == from : reached[x->source] && goes_on(r, a, x->source);
            if (x->relation != a->relation || !here || reached[x->target]) continue;
            reached[x->target] = more = true;
        }
        if (!relation_is(a->relation, REEF_TRANSITIVE)) break;
    }
}

static bool is_related(const ref_world *r, const ask *a, uint32_t from, uint32_t to)
{
    static bool *reached;
    static size_t room;
    if (from == to && relation_is(a->relation, REEF_REFLEXIVE) && a->enabled != REEF_DISABLED) return true;
    if (r->entity[from].out[a->relation] == 0 || r->entity[to].linked == 0) return false;
    if (r->count > room) reached = realloc(reached, (room = r->count) * sizeof *reached);
    if (!reached) abort();
    reach(r, a, from, reached);
    return reached[to];
}

/* How many entities with the type `above` can be bound. */
static uint64_t bound_count(const ref_world *r, const ask *a, uint32_t index)
{
    uint64_t n = 0;
    const bool itself = relation_is(a->relation, REEF_REFLEXIVE);
    const ref_entity *e = &r->entity[index];
    if (!itself && (a->form == ASK_TARGETS ? e->out[a->relation] : e->linked) == 0) return 0;
    for (uint32_t i = 0; i < r->living_count; i++) {
        const uint32_t other = r->living[i];
        if (!has_asked(a, &r->entity[other], a->above)) continue;
        n += a->form == ASK_TARGETS ? is_related(r, a, index, other) : is_related(r, a, other, index);
    }
    return n;
}

/* How often the query visits an entity whose other terms hold. */
static uint64_t visits_due(const ref_world *r, const ask *a, uint32_t index)
{
    const ref_entity *e = &r->entity[index];
    switch (a->form) {
    case ASK_ORDER: return 1;
    case ASK_UP:
    case ASK_NOT_UP: return is_below(r, a, index) == (a->form == ASK_UP);
    case ASK_TARGETS:
    case ASK_SOURCES: return bound_count(r, a, index);
    case ASK_ANY_TARGET: return e->out[a->relation] && is_as_asked(r, a, index);
    case ASK_ANY_RELATION:
        for (uint32_t k = 0; k < RELATIONS; k++)
            if ((a->blind || !(e->unseen >> k & 1)) && ref_link_find(r, k, index, a->target.index)) return 1;
        return 0;
    default: return is_related(r, a, index, a->target.index) == (a->form == ASK_TARGET);
    }
}

static uint64_t is_asked(const ref_world *r, const ask *a, uint32_t index)
{
    const ref_entity *e = &r->entity[index];
    const bool named =
        a->beside == TYPE_PREFAB || ((form_is_up(a->form) || form_binds(a->form)) && a->above == TYPE_PREFAB);
    if (e->off || (ref_has(e, TYPE_PREFAB) && !named)) return 0;
    if (a->beside < TYPES_MAX && !has_asked(a, e, a->beside)) return 0;
    return visits_due(r, a, index);
}

/* By what an order sorts: the depth, or the target. */
static uint64_t order_of(const ref_world *r, const ask *a, uint32_t index)
{
    uint64_t depth = 0;
    const uint32_t target = above_of(r, a, index);
    if (!relation_is(a->relation, REEF_ACYCLIC))
        return target == UINT32_MAX ? UINT64_MAX : reef_key_entity(ref_handle(r, target));
    for (; (index = above_of(r, a, index)) != UINT32_MAX; depth++) {}
    return depth;
}

typedef struct answer {
    const ref_world *r;
    const ask *a;
    uint32_t *index; /* in the order of visits */
    uint64_t *key;   /* of an order */
    uint64_t n, room;
} answer;

static void answer_put(answer *x, uint32_t index)
{
    const uint64_t key = x->a->form == ASK_ORDER ? order_of(x->r, x->a, index) : 0;
    if (x->n == x->room) {
        x->room = x->room * 2 + 64;
        x->index = realloc(x->index, (size_t)x->room * sizeof *x->index);
        x->key = realloc(x->key, (size_t)x->room * sizeof *x->key);
        if (!x->index || !x->key) abort();
    }
    uint64_t at = x->n++;
    for (; at > 0 && x->key[at - 1] > key; at--) x->index[at] = x->index[at - 1], x->key[at] = x->key[at - 1];
    x->index[at] = index;
    x->key[at] = key;
}

static void answer_with(void *context, ref_entity *e, uint32_t index)
{
    answer *x = context;
    (void)e;
    for (uint64_t n = is_asked(x->r, x->a, index); n > 0; n--) answer_put(x, index);
}

static uint64_t answer_digest(answer *x)
{
    uint64_t digest = 0;
    x->n = 0;
    ref_walk(x->r, 0, answer_with, x);
    for (uint64_t i = 0; i < x->n; i++) digest = value_mix(digest, reef_entity_bits(ref_handle(x->r, x->index[i])));
    return digest;
}

void want_ask(model *m, const op *o, outcome *want)
{
    const reef_entity e = subject_of(m, o);
    const ref_entity *alive = ref_alive(&m->reference, e);
    ask a;
    answer x = {&m->reference, &a, NULL, NULL, 0, 0};
    for (uint32_t k = 0; k < QUESTIONS; k++) {
        if (!ask_of(m, o, k, &a)) continue;
        const uint64_t digest = answer_digest(&x);
        const bool matches = alive && alive->table && is_asked(&m->reference, &a, e.index) != 0;
        want->digest = value_mix(value_mix(want->digest, digest), x.n * 2 + matches);
        m->asking |= PAIR_BIT(ASKED);
        a.blind = true;
        if (answer_digest(&x) != digest) m->asking |= PAIR_BIT(CUT);
    }
    free(x.index);
    free(x.key);
}
