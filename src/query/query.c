/* Queries: checking their terms, making them, copying and freeing them, and what they ask apart from any world. A query
 * that is freed is kept for a while, so that one which asks the same takes it up again. */
#include "query/inherited_queries.h"
#include "query/near_term.h"
#include "query/query.h"
#include "query/query_renewal.h"
#include "type/code.h"
#include "storage/error.h"
#include "storage/known_types.h"
#include "storage/place.h"
#include "storage/row_bits.h"
#include "storage/split_columns.h"
#include "query/iterate.h"
#include "query/iterate_sparse.h"
#include "query/query_text.h"
#include "query/relation_order.h"
#include "query/relation_plan.h"
#include "query/sort_key.h"
#include "query/sorted_query.h"
#include "query/subtype_terms.h"
#include "query/value_join.h"
#include "query/value_term.h"
#include "reef/prefab.h"
#include "reef/relation.h"
#include "reef/order.h"
#include <inttypes.h>
#include <stdio.h>

/* ---- reading terms ---- */

/* Refuses a term that makes no sense. The error says why, and where: in a column of the text, or in which term of the
 * struct. */
static COLD reef_status term_refuse(reef_world *w, const char *op, const query_text *l, reef_status s, uint32_t i,
                                    const char *why)
{
    if (w->calling && !w->running) op = w->calling;
    reef_error e = {.status = s, .operation = op, .component = l->term[i].component, .number = l->column[i]};
    /* of a struct words of texts stand for its members */
    if (why && l->said) snprintf(e.detail, sizeof e.detail, "%s", why);
    else if (why) snprintf(e.detail, sizeof e.detail, "term %" PRIu64 ": %s", e.number, why);
    return reef__failure_record(w, &e);
}

/* ---- making ---- */

void reef__facts_find(const reef_term *t, term_facts *f, bool top, bool filter)
{
    const type *x = reef__type_of(t->component.id);
    f->top = top;
    f->bit = x && x->bit;
    f->cold = x && x->home == REEF_COLD;
    f->up = t->up.id != 0;
    f->bound = t->variable || t->target_variable;
    f->target = f->up || f->bound || !reef_entity_is_null(t->target);
    f->fixed = !reef_entity_is_null(t->source);
    f->values = term_conditions(t) != 0;
    f->near = t->near && t->op < REEF_ANY_OF;
    f->filter = filter || t->op == REEF_NOT || t->access == REEF_WITH || x == NULL || x->size == 0;
    f->reads = (f->up || f->bound) && !f->filter;
    f->filter |= f->reads; /* no data of the visited entity */
    /* who has the component itself isn't what decides */
    if (f->up || f->bound || (f->target && (x == NULL || (x->relation & REEF_REFLEXIVE && f->filter))))
        f->bit = false, f->cold = true;
    f->stored = x && x->stored && !f->filter && !f->fixed && t->op < REEF_ANY_OF;
    f->each = t->each && f->stored && x->home == REEF_MULTI;
}

static reef_status leaf_check(reef_world *w, const reef_term *t, const char **why)
{
    /* any relation, or an ancestor as a whole */
    const bool any = t->component.id == 0 && (t->up.id != 0 || !reef_entity_is_null(t->target));
    reef_status s = any ? REEF_OK : reef__type_ready(w, t->component.id);
    if (s != REEF_OK) return s;
    *why = "a member isn't of its enumeration";
    if ((uint32_t)t->access > REEF_WITH || (uint32_t)t->enabled > REEF_EITHER || (uint32_t)t->since > REEF_IF_ADDED)
        return REEF_BAD_ARGUMENT;
    const type *x = reef__type_of(t->component.id);
    *why = "'added' can't be used with '+'";
    if (t->subtypes && (t->subtypes > 1 || t->since == REEF_IF_ADDED || !reef_entity_is_null(t->source)))
        return REEF_BAD_ARGUMENT;
    const bool targeted = !reef_entity_is_null(t->target) || t->target_variable;
    *why = "only a relation has a target, and then it can't have 'of' or 'each'";
    if (targeted && ((x && x->relation == 0) || t->each || !reef_entity_is_null(t->source))) return REEF_BAD_ARGUMENT;
    s = reef__reach_check(w, t, why);
    *why = s == REEF_OK ? "its unique field is written by calls only, such as reef_set: 'in' or 'with'" : *why;
    if (s == REEF_OK && x && x->hooks.unique && t->op != REEF_NOT && (t->access == REEF_INOUT || t->access == REEF_OUT))
        return REEF_BAD_ARGUMENT;
    if (s != REEF_OK || any || x->tracked) return s;
    *why = "'added' needs a type with track_rows";
    if (t->since == REEF_IF_ADDED) return REEF_BAD_ARGUMENT;
    *why = "'changed' needs a type with data, a switch, or one with track_rows";
    return t->since == REEF_IF_CHANGED && x->size == 0 && x->home != REEF_BIT ? REEF_BAD_ARGUMENT : REEF_OK;
}

/* Is term i a filter that asks for values, so that it says more than term j? What a loop writes is marked as changed
 * while the loop looks, so a filter beside written data can't ask what changed; the term with the data can. */
static bool filter_adds(const query_text *l, const term_facts *facts, uint32_t i, uint32_t j)
{
    return facts[i].filter && (facts[i].values || facts[i].near) &&
           (facts[j].filter || l->term[i].since == REEF_ALWAYS);
}

/* Is a component of one source named twice, where once is enough? */
static bool twice(const query_text *l, const term_facts *facts, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++) {
        if (l->term[j].op >= REEF_ANY_OF || l->term[j].component.id != l->term[i].component.id) continue;
        if (term_reaches(&l->term[i], &facts[i]) && term_reaches(&l->term[j], &facts[j]) &&
            reach_variable(&l->term[i]) == reach_variable(&l->term[j]))
            return true; /* nobody could say whose value is meant */
        if (!reef_entity_equal(l->term[j].source, l->term[i].source) || l->term[j].subtypes != l->term[i].subtypes)
            continue;
        if (filter_adds(l, facts, i, j) || filter_adds(l, facts, j, i)) continue;
        /* who is related to one entity may be related to another one, too */
        if (!reef_entity_equal(l->term[j].target, l->term[i].target) && (facts[i].filter || facts[j].filter)) continue;
        if (l->term[j].variable != l->term[i].variable || l->term[j].target_variable != l->term[i].target_variable)
            continue;
        if (l->term[j].up.id != l->term[i].up.id) continue;
        if (facts[i].reads || facts[j].reads) continue;
        if (!facts[i].filter || !facts[j].filter || (facts[i].top && facts[j].top)) return true;
    }
    return false;
}

/* Is a term with `each` the only one, and one that may have it? */
static bool each_sound(const query_text *l, const term_facts *facts, uint32_t i)
{
    const reef_term *t = &l->term[i];
    if (!t->each) return true;
    for (uint32_t j = 0; j < i; j++)
        if (l->term[j].each) return false;
    return t->op == REEF_HAS && facts[i].top && !facts[i].filter && !facts[i].fixed;
}

/* Checks term *at and all that is inside it. */
static reef_status terms_check(reef_world *w, const char *op, const query_text *l, term_facts *facts, uint32_t *at,
                               bool top, bool filter)
{
    const uint32_t i = (*at)++;
    const reef_term *t = &l->term[i];
    if ((uint32_t)t->op > REEF_NONE_OF)
        return term_refuse(w, op, l, REEF_BAD_ARGUMENT, i, "a member isn't of its enumeration");
    reef__facts_find(t, &facts[i], top, filter);
    if (t->op < REEF_ANY_OF) {
        const char *why = NULL;
        char detail[REEF_DETAIL_MAX];
        reef_status s = leaf_check(w, t, &why);
        if (s == REEF_OK && twice(l, facts, i))
            s = REEF_DUPLICATE_TERM,
            why = "it is named before: only filters may be named twice, and one of them in a group";
        if (s == REEF_OK && !each_sound(l, facts, i))
            s = REEF_BAD_ARGUMENT, why = "'each' may be used once, before a term with data that is in no group";
        if (s == REEF_OK && facts[i].near && (why = reef__near_check(l, i)) != NULL) s = REEF_BAD_ARGUMENT;
        if (s == REEF_OK && facts[i].values) {
            s = reef__conditions_check(l, i, detail, sizeof detail);
            if (s != REEF_OK) return term_refuse(w, op, l, s, i, detail);
        }
        return s == REEF_OK ? s : term_refuse(w, op, l, s, i, why);
    }
    if (t->component.id || t->count == 0)
        return term_refuse(w, op, l, REEF_BAD_ARGUMENT, i, "a group has no component, and `count` terms follow it");
    for (uint32_t k = 0; k < t->count; k++) {
        if (*at >= l->count)
            return term_refuse(w, op, l, REEF_BAD_ARGUMENT, i, "a group has no component, and `count` terms follow it");
        reef_status s = terms_check(w, op, l, facts, at, false, filter || t->op == REEF_NONE_OF);
        if (s != REEF_OK) return s;
    }
    return REEF_OK;
}

/* Can the rows be visited parents first? */
static COLD bool cascade_check(reef_world *w, const char *op, const query_text *l, const term_facts *facts)
{
    const reef_order order = {.relation = l->cascade};
    ordering by;
    bool since = false, bound = false;
    reef_status s = reef__order_resolve(w, &order, &by);
    for (uint32_t i = 0; i < l->count; i++) {
        since |= l->term[i].since != REEF_ALWAYS;
        bound |= facts[i].bound;
    }
    const char *why = "'cascade' needs a relation that is exclusive and acyclic";
    if (s == REEF_OK && !relation_is_tree(by.relation)) s = REEF_BAD_ARGUMENT;
    if (s == REEF_OK && (since || bound)) {
        s = REEF_BAD_ARGUMENT;
        why = "a query with 'cascade' can't have variables, and can't ask what changed";
    }
    if (s == REEF_OK) return true;
    reef_error e = {.status = s, .operation = op, .component = l->cascade, .number = l->said ? l->cascade_column : 0};
    if (w->calling && !w->running) e.operation = w->calling;
    snprintf(e.detail, sizeof e.detail, "%s", why);
    return reef__failure_record(w, &e), false;
}

COLD bool reef__query_check(reef_world *w, const char *op, const query_text *l, term_facts *facts)
{
    memset(facts, 0, l->count * sizeof *facts);
    if ((uint32_t)l->entities > REEF_EITHER) return misuse_refuse(w, op, "a member isn't of its enumeration"), false;
    for (uint32_t at = 0; at < l->count;)
        if (terms_check(w, op, l, facts, &at, true, false) != REEF_OK) return false;
    const char *why;
    char detail[REEF_DETAIL_MAX];
    uint32_t bad = reef__joins_check(l, facts, detail, sizeof detail);
    if (bad != REEF_TERMS_MAX) return (void)term_refuse(w, op, l, REEF_BAD_ARGUMENT, bad, detail), false;
    bad = reef__variables_check(l, facts, true, &why);
    if (bad != REEF_TERMS_MAX) return term_refuse(w, op, l, REEF_BAD_ARGUMENT, bad, why), false;
    return l->cascade.id == 0 || cascade_check(w, op, l, facts);
}

/* Lists the columns that every match has; those that are written come first. */
static void columns_sort(query *q)
{
    for (uint32_t write = 2; write-- > 0;) {
        for (uint32_t i = 0; i < q->term_count; i++) {
            const reef_term *t = &q->terms[i];
            const term_facts *f = &q->facts[i];
            bool writes = t->access == REEF_INOUT || t->access == REEF_OUT;
            if (!term_has_data(q, i) || writes != (write != 0)) continue;
            q->tracked |= writes && reef__type_of(t->component.id)->tracked;
            if (f->stored) continue;
            if (t->op == REEF_OPTIONAL || !f->top) {
                q->optional_writes += writes;
                continue;
            }
            q->out |= t->access == REEF_OUT;
            q->head.key[q->head.column_count++] = t->component.id << 1 | !writes;
        }
        if (write) q->head.write_count = q->head.column_count;
    }
    for (uint32_t i = q->head.column_count; i < REEF_TERMS_MAX; i++) q->head.key[i] = REEF_NO_KEY;
    uint32_t more = q->head.column_count > 2 ? q->head.column_count - 2 : 0;
    q->head.match_bytes = (uint32_t)(sizeof(match) + more * sizeof(uint16_t) + 7) & ~7u;
}

static size_t query_bytes(uint32_t count) { return sizeof(query) + count * sizeof(reef_term); }

void reef__query_resolve(query *q)
{
    q->since = q->fixed = q->tracked = q->out = false;
    q->head.column_count = q->head.write_count = q->optional_writes = 0;
    q->straight = q->entities != REEF_DISABLED;
    q->hides = true;
    for (uint32_t i = 0; i < q->term_count; i++) {
        q->hides &= q->terms[i].component.id != reef_id(ReefPrefab).id || q->facts[i].fixed;
        q->since |= q->terms[i].since != REEF_ALWAYS;
        q->fixed |= q->facts[i].fixed || q->facts[i].target || q->facts[i].near;
        q->straight &= q->terms[i].enabled != REEF_DISABLED;
    }
    columns_sort(q);
    q->straight &= q->head.column_count == q->term_count && !q->since && q->values == NULL && q->near == NULL;
}

/* False: no memory. */
static bool terms_take(query *q, const query_text *l, const term_facts *facts)
{
    bool subs = false;
    q->term_count = q->asked_count = l->count;
    q->entities = l->entities;
    memcpy(q->asked, l->term, l->count * sizeof *l->term);
    memcpy(q->asked_facts, facts, l->count * sizeof *facts);
    q->terms = q->asked;
    q->facts = q->asked_facts;
    for (uint32_t i = 0; i < l->count; i++) subs |= l->term[i].subtypes != 0;
    if (!reef__values_make(q) || !reef__near_make(q)) return false;
    if (subs && !reef__subs_expand(q)) return false;
    reef__query_resolve(q);
    q->types.epoch = q->types.looked = q->rows_epoch = q->disabled_epoch = UINT64_MAX;
    return true;
}

/* Finds the first free place in the world's list of queries. UINT32_MAX: no memory. */
static uint32_t place_take(reef_world *w)
{
    while (w->query_free < w->query_room && (w->queries[w->query_free].query || w->queries[w->query_free].kept))
        w->query_free++;
    if (w->query_free < w->query_room) return w->query_free;
    const uint32_t first = w->query_room;
    memory *m = &w->family->memory;
    return reef__array_room(m, MEMORY_OTHER, &w->queries, &w->query_room, first + 1, sizeof *w->queries) ? first
                                                                                                         : UINT32_MAX;
}

/* A query that was freed and asked the same; tables made since then are found as for any query. NULL: there is
 * none. */
static query *query_again(reef_world *w, const query_text *l)
{
    for (uint32_t i = 0; i < FREED_QUERIES && w->freed_queries[i]; i++) {
        query *q = w->freed_queries[i];
        if (q->asked_count != l->count || q->entities != l->entities || q->values || q->near ||
            memcmp(q->asked, l->term, l->count * sizeof *l->term) != 0 || (q->plan && !reef__plan_names(q->plan, l)))
            continue;
        memmove(w->freed_queries + i, w->freed_queries + i + 1, (FREED_QUERIES - 1 - i) * sizeof *w->freed_queries);
        w->freed_queries[FREED_QUERIES - 1] = NULL;
        q->once = q->handed_out = false;
        return q;
    }
    return NULL;
}

bool reef__asked_of_all(const query *q, uint32_t i)
{
    const reef_term *t = &q->asked[i];
    const term_facts *f = &q->asked_facts[i];
    return t->op == REEF_HAS && !t->subtypes && f->top && !f->bit && !f->cold && !f->fixed;
}

/* Notes types that each table of the query has. */
static void types_note(query *q)
{
    query_types *x = &q->types;
    for (uint32_t i = 0; i < q->asked_count && x->count < QUERY_TYPES; i++)
        if (reef__asked_of_all(q, i)) x->id[x->count++] = q->asked[i].component.id;
}

static query *query_fresh(reef_world *w, const query_text *l, const term_facts *facts)
{
    query *q = reef__memory_zeroed(&w->family->memory, MEMORY_OTHER, query_bytes(l->count));
    if (q == NULL) return NULL;
    q->world = w;
    if (terms_take(q, l, facts) && (types_note(q), true) && reef__cutting_make(q) && reef__plan_make(q, l)) return q;
    reef__cutting_drop(q);
    reef__subs_drop(q);
    reef__values_drop(q);
    reef__near_drop(q);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, q, query_bytes(q->asked_count));
    return NULL;
}

/* ---- what a query asks, apart from any world ---- */

/* Counts where an order leads into code that comes and goes. */
static COLD void code_hold(const kept_query *k, bool hold)
{
    const uintptr_t key = k->ordered ? (uintptr_t)k->by.key : 0;
    reef__code_hold(&key, 1, hold);
}

COLD void reef__kept_leave(family *f, kept_query *k)
{
    if (COUNT_DOWN(&k->holders)) return;
    code_hold(k, false);
    reef__memory_free(&f->memory, MEMORY_OTHER, k, k->bytes);
}

COLD kept_query *reef__query_keep(const query *q)
{
    const struct value_terms *v = q->values;
    const uint32_t tests = v ? v->count : 0;
    const size_t room = reef__conditions_bytes(q->asked, q->asked_count);
    size_t bytes = sizeof(kept_query) + q->asked_count * (sizeof *q->asked + sizeof *q->asked_facts) +
                   tests * sizeof *v->tests + room;
    for (uint32_t i = 0; i < tests; i++) bytes += v->tests[i].kind == REEF_CHAR ? v->tests[i].length : 0;
    kept_query *k = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, bytes);
    if (k == NULL) return NULL;
    k->bytes = bytes;
    k->holders = 1;
    k->count = q->asked_count;
    k->serial = q->serial;
    k->entities = q->entities;
    k->since = q->since;
    k->ordered = q->ranking != NULL;
    if (q->ranking) k->by = *reef__ranking_order(q->ranking);
    k->near_missing = q->near_missing;
    if (q->near) k->near = q->near->ask;
    if (q->plan) memcpy(k->names, q->plan->names, sizeof k->names);
    k->missing = v ? v->missing : 0;
    memcpy(k->terms, q->asked, k->count * sizeof *k->terms);
    k->tests = (value_test *)(void *)(k->terms + k->count);
    void *conditions = k->tests + tests;
    reef__conditions_keep(k->terms, k->count, conditions);
    k->facts = (term_facts *)(void *)((char *)conditions + room);
    memcpy(k->facts, q->asked_facts, k->count * sizeof *k->facts);
    char *text = (char *)(k->facts + k->count);
    for (uint32_t i = 0; i < tests; i++) {
        k->tests[i] = v->tests[i];
        if (v->tests[i].kind != REEF_CHAR) continue;
        k->tests[i].text = memcpy(text, v->tests[i].text, v->tests[i].length);
        text += v->tests[i].length;
    }
    code_hold(k, true);
    return k;
}
_Static_assert(_Alignof(term_facts) == 1, "the facts of a kept query lie behind texts");

/* Writes it in the form in which queries are made, without what was set since. */
static COLD void query_kept_read(const kept_query *k, query_text *to)
{
    to->said = false;
    to->count = k->count;
    to->entities = k->entities;
    to->cascade = (reef_component){0}; /* an order is put, like a parameter */
    to->variable_count = REEF_VARIABLES_MAX;
    memcpy(to->term, k->terms, k->count * sizeof *k->terms);
    memcpy(to->variables, k->names, sizeof to->variables);
    for (uint32_t i = 0; i < to->count; i++) to->column[i] = i + 1;
}

/* Gives a query with the same terms what was set. False: no memory. */
static COLD bool query_kept_put(const kept_query *k, query *to)
{
    reef__values_put(to, k->tests, k->missing);
    if (to->near) to->near->ask = k->near, to->near_missing = k->near_missing;
    return !k->ordered || reef__ranking_put(to, &k->by);
}

/* ---- making ---- */

/* From now on the query is told of tables. */
static void query_file(reef_world *w, query *q, uint64_t serial)
{
    mutex_lock(&w->family->lock);
    q->serial = serial ? serial : ++w->family->query_serial;
    reef__query_types_file(w, &q->types);
    mutex_unlock(&w->family->lock);
}

static query *query_make(reef_world *w, const char *op, const query_text *l)
{
    term_facts facts[REEF_TERMS_MAX];
    if (w->running) return reef__refuse(w, REEF_LOCKED, op), NULL;
    if (!reef__query_check(w, op, l, facts)) return NULL;
    uint32_t place = place_take(w);
    query *q = place == UINT32_MAX ? NULL : query_again(w, l);
    if (q == NULL && place != UINT32_MAX) q = query_fresh(w, l, facts);
    if (q == NULL) return reef__refuse(w, REEF_NO_MEMORY, op), NULL;
    q->index = place;
    q->generation = ++w->queries[place].generation;
    w->queries[place].world = w->hot.number;
    query_file(w, q, 0);
    w->queries[place].query = q;
    const bool waits = parameters_missing(q); /* it is used only once its parameters are set */
    if ((l->cascade.id == 0 || reef__ranking_cascade(q, l->cascade)) && (waits || query_update(q))) return q;
    reef__query_drop(q);
    return reef__refuse(w, REEF_NO_MEMORY, op), NULL;
}

static void query_give(reef_world *w, query *q);

COLD query *reef__query_of_kept(reef_world *w, uint32_t index, const kept_query *k)
{
    query_text l;
    query_kept_read(k, &l);
    query *q = query_fresh(w, &l, k->facts);
    if (q == NULL) return NULL;
    q->index = index;
    q->generation = w->queries[index].generation;
    q->handed_out = true;
    const bool ok = query_kept_put(k, q);
    query_file(w, q, k->serial);
    if (ok && reef__query_ready(q)) return q;
    reef__query_types_leave(w, &q->types);
    query_give(w, q);
    return NULL;
}

COLD query *reef__query_seek(const reef_world *w, reef_query q, reef_status *s)
{
    const query_list *l = w->inherited;
    const bool begun_with =
        l && q.index < l->count && l->slot[q.index].generation == q.generation && l->slot[q.index].world == q.world;
    const bool known = begun_with || q.world == w->hot.number || q.generation == 0;
    reef_status why = known ? REEF_NOT_ALIVE : REEF_OTHER_WORLD;
    query *found = NULL;
    if (begun_with && query_slot_of(w, q)) found = w->inheritance->arrive((reef_world *)(uintptr_t)w, q.index, &why);
    if (found == NULL) *s = why;
    return found;
}

void reef__query_changed(query *q)
{
    if (q->world->inheritance) q->world->inheritance->change(q);
}

COLD reef_query reef__query_handle(const query *q)
{
    if (q == NULL) return (reef_query){0, 0, 0};
    return (reef_query){q->index, q->generation, q->world->queries[q->index].world};
}

/* The user gets the handle, so forks have the query, too. */
static reef_query hand_out(query *q)
{
    if (q) q->handed_out = true, reef__query_changed(q);
    return reef__query_handle(q);
}

static void desc_read(query_text *to, const reef_query_desc *desc)
{
    to->count = to->at = 0;
    to->said = false;
    for (uint32_t i = 0; i < REEF_TERMS_MAX; i++) {
        const reef_term *t = &desc->terms[i];
        if (!term_is_there(t)) break;
        to->term[i] = *t;
        to->column[i] = ++to->count;
    }
    to->entities = desc->entities;
    to->cascade = desc->cascade;
    to->variable_count = REEF_VARIABLES_MAX;
    memcpy(to->variables, desc->variables, sizeof to->variables);
    for (uint32_t i = 0; i < REEF_VARIABLES_MAX; i++) { /* zeroes behind each name */
        char *name = to->variables[i];
        size_t n = 0;
        while (n < REEF_VARIABLE_NAME_MAX && name[n]) n++;
        memset(name + n, 0, sizeof to->variables[i] - n);
    }
}

/* A term of a type that is split by field becomes terms of its parts. */
static COLD bool text_spread(reef_world *w, const char *op, query_text *l)
{
    if (reef__terms_spread(l->term, l->column, &l->count)) return true;
    return reef__failure_detail(w, REEF_LIMIT, op, 0,
                                "a query has at most 64 terms; each field of a type that is split counts as one"),
           false;
}

static COLD bool query_read(reef_world *w, const char *op, const char *text, const reef_query_desc *desc,
                            query_text *to)
{
    char detail[REEF_DETAIL_MAX];
    reef_status s = REEF_OK;
    if (text) s = reef__query_text_parse(w, text, to, detail, sizeof detail);
    else desc_read(to, desc);
    if (s != REEF_OK) return reef__failure_detail(w, s, op, to->at, detail), false;
    return text_spread(w, op, to);
}

COLD bool reef__query_read(reef_world *w, const char *op, const reef_query_desc *desc, query_text *to)
{
    return query_read(w, op, desc->text, desc, to);
}

static const char make_op[] = "reef_query_make";

COLD reef_query reef_query_make(reef_world *w, const reef_query_desc *desc)
{
    if (!WORLD_GIVEN(w)) return (reef_query){0, 0, 0};
    if (desc == NULL) return misuse_refuse(w, make_op, "the description is NULL"), (reef_query){0, 0, 0};
    query *q = reef__query_make(w, desc);
    return desc->own ? reef__query_handle(q) : hand_out(q);
}

COLD query *reef__query_make(reef_world *w, const reef_query_desc *desc)
{
    query_text l;
    return reef__query_read(w, make_op, desc, &l) ? query_make(w, make_op, &l) : NULL;
}

COLD query *reef__query_make_text(reef_world *w, const char *op, const char *text)
{
    query_text l;
    if (text == NULL) return misuse_refuse(w, op, "the text is NULL"), NULL;
    return query_read(w, op, text, NULL, &l) ? query_make(w, op, &l) : NULL; /* without clearing a description */
}

COLD reef_query reef_query_new(reef_world *w, const char *text)
{
    return hand_out(WORLD_GIVEN(w) ? reef__query_make_text(w, "reef_query_new", text) : NULL);
}

COLD query *reef__query_copied(reef_world *to, const char *op, const kept_query *k,
                               uint32_t (*now)(const void *context, uint32_t type), const void *context)
{
    query_text l;
    query_kept_read(k, &l);
    for (uint32_t i = 0; now && i < l.count; i++) {
        l.term[i].component.id = now(context, l.term[i].component.id);
        l.term[i].up.id = now(context, l.term[i].up.id);
    }
    if (now && !text_spread(to, op, &l)) return NULL;
    query *copy = query_make(to, op, &l);
    if (copy == NULL || query_kept_put(k, copy)) return copy;
    reef__query_drop(copy);
    return reef__refuse(to, REEF_NO_MEMORY, op), NULL;
}

/* Of a query that the world began with and that wasn't used yet. Calls that only read the world, which several threads
 * may do, ask this instead of making the query. NULL: it isn't such a one. */
static COLD kept_query *kept_unused(const reef_world *w, reef_query which)
{
    const struct query_slot *x = query_slot_of(w, which);
    return x ? REEF_ACQUIRE_POINTER(&x->kept) : NULL;
}

/* What the query of this handle asks, for one holder more. NULL: *s says why. */
static COLD kept_query *kept_of(const reef_world *w, reef_query which, reef_status *s)
{
    if (w->running) return *s = REEF_LOCKED, NULL;
    kept_query *k = kept_unused(w, which);
    if (k) return (void)COUNT_UP(&k->holders), k;
    const query *q = query_shared(w, which, s);
    if (q && (k = reef__query_keep(q)) == NULL) *s = REEF_NO_MEMORY;
    return k;
}

COLD reef_query reef_query_copy(reef_world *to, const reef_world *from, reef_query which)
{
    static const char op[] = "reef_query_copy";
    reef_status s = REEF_BAD_ARGUMENT;
    if (!WORLD_GIVEN(to)) return (reef_query){0, 0, 0};
    kept_query *k = WORLD_GIVEN(from) ? kept_of(from, which, &s) : NULL;
    if (k == NULL && s == REEF_BAD_ARGUMENT) (void)refuse_because(to, "there is no world to copy from");
    if (k == NULL) return reef__refuse(to, s, op), (reef_query){0, 0, 0};
    const reef_query copy = hand_out(reef__query_copied(to, op, k, NULL, NULL));
    reef__kept_leave(from->family, k);
    return copy;
}

static void query_give(reef_world *w, query *q)
{
    if (q == NULL) return;
    reef__ranking_drop(q);
    reef__cutting_drop(q);
    reef__subs_drop(q);
    reef__plan_drop(q);
    reef__values_drop(q);
    reef__near_drop(q);
    reef__matches_drop(q);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, q, query_bytes(q->asked_count));
}

void reef__query_drop(query *q)
{
    reef_world *w = q->world;
    reef__query_changed(q);
    w->queries[q->index].query = NULL;
    if (q->index < w->query_free) w->query_free = q->index;
    reef__query_types_leave(w, &q->types);
    reef__run_forget(q);
    reef__ranking_drop(q);
    query_give(w, w->freed_queries[FREED_QUERIES - 1]);
    memmove(w->freed_queries + 1, w->freed_queries, (FREED_QUERIES - 1) * sizeof *w->freed_queries);
    w->freed_queries[0] = q;
}

void reef__queries_forget(reef_world *w)
{
    for (uint32_t i = 0; i < FREED_QUERIES; i++) query_give(w, w->freed_queries[i]);
    memset(w->freed_queries, 0, sizeof w->freed_queries);
}

COLD reef_status reef_query_free(reef_world *w, reef_query which)
{
    reef_status s = REEF_OK;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    if (reef_query_is_null(which)) return REEF_OK;
    if (w->inherited && !w->running && w->inheritance->forget(w, which)) return REEF_OK;
    query *q = query_of(w, which, &s);
    if (q && q->open) s = REEF_LOCKED;
    if (s != REEF_OK) return reef__refuse(w, s, "reef_query_free");
    reef__query_drop(q);
    return REEF_OK;
}

void reef__queries_drop(reef_world *w)
{
    if (w->inheritance) w->inheritance->drop(w);
    for (uint32_t i = 0; i < w->query_room; i++) query_give(w, w->queries[i].query);
    reef__queries_forget(w);
    reef__memory_free(&w->family->memory, MEMORY_OTHER, w->queries, w->query_room * sizeof *w->queries);
    w->queries = NULL;
    w->query_room = w->query_free = 0;
}

/* ---- the query as a text ---- */

COLD size_t reef_query_text(const reef_world *w, reef_query which, char *text, size_t size)
{
    reef_status s;
    const bool asks = WORLD_GIVEN(w) && !w->running;
    const kept_query *k = asks ? kept_unused(w, which) : NULL;
    const query *q = asks && k == NULL ? query_shared(w, which, &s) : NULL;
    text_out o = {text, text ? size : 0, 0};
    if (o.size) text[0] = 0;
    if (k) reef__query_text_write(&o, w, k->terms, k->count, k->entities, reef__order_cascade(&k->by), &k->names);
    if (q)
        reef__query_text_write(&o, w, q->asked, q->asked_count, q->entities, reef__query_cascade(q),
                               reef__query_names(q));
    return o.length;
}
