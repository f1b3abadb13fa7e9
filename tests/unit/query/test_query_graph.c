/* Random queries over random graphs of relations (F4), compared with a naive evaluator: it tries every entity for every
 * variable, asks each term by the calls for single entities, and puts the bindings in order by looking at where each
 * stands in the lists of its relations. `--deep` tries more of them. */
#include "support.h"

typedef struct {
    int coins;
} Money;
REEF_COMPONENT(Money);
REEF_TAG(Fighter);
REEF_SWITCH(Alert);
typedef struct {
    int n;
} Hold, Crew;
REEF_COMPONENT_IN(Hold, REEF_SPARSE);
REEF_COMPONENT_IN(Crew, REEF_PAGED);
REEF_RELATION(Likes);
REEF_RELATION(DockedTo, REEF_EXCLUSIVE);
REEF_RELATION(PartOf, REEF_EXCLUSIVE | REEF_ACYCLIC | REEF_TRANSITIVE);
REEF_RELATION(Within, REEF_EXCLUSIVE | REEF_ACYCLIC);
REEF_RELATION(Knows, REEF_TRANSITIVE | REEF_REFLEXIVE);
REEF_RELATION(Beside, REEF_SYMMETRIC);
REEF_RELATION_OF(Owes, Money);

enum { ENTITIES = 12, KINDS = 5, RELATIONS = 8, VARIABLES = 3, MATCHES = 20000 };

static reef_component kinds[KINDS], relations[RELATIONS];
static const uint32_t options[RELATIONS] = {
    0, REEF_EXCLUSIVE, REEF_EXCLUSIVE | REEF_TRANSITIVE, REEF_EXCLUSIVE, REEF_TRANSITIVE | REEF_REFLEXIVE, 0,
    0, REEF_EXCLUSIVE};

typedef struct graph {
    reef_world *w;
    uint64_t seed;
    reef_entity e[ENTITIES];        /* alive */
    reef_entity in_order[ENTITIES]; /* those with a row, in the visible order */
    uint32_t count, rows;
} graph;

static uint32_t below(graph *g, uint32_t n) { return random_below(&g->seed, n); }

static void types_find(void)
{
    const reef_component k[KINDS] = {reef_id(Position), reef_id(Fighter), reef_id(Alert), reef_id(Hold), reef_id(Crew)};
    const reef_component r[RELATIONS] = {reef_id(Likes), reef_id(DockedTo), reef_id(PartOf), reef_id(Within),
                                         reef_id(Knows), reef_id(Beside),   reef_id(Owes),   reef_id(ChildOf)};
    memcpy(kinds, k, sizeof k);
    memcpy(relations, r, sizeof r);
}

/* ---- a graph that changes ---- */

static void graph_order(graph *g)
{
    reef_query all = reef_query_make(g->w, &(reef_query_desc){.entities = REEF_EITHER});
    g->rows = 0;
    for (reef_block b = reef_begin(g->w, all); reef_next(&b);)
        for (uint32_t i = 0; i < b.count; i++) g->in_order[g->rows++] = b.entities[i];
    assert_ok(reef_query_free(g->w, all));
}

static void graph_change(graph *g)
{
    enum { NAMES = 6 };
    static const char *const names[NAMES] = {"a", "b", "a.b", "of", "x \"y\"", "*"};
    reef_world *w = g->w;
    const uint32_t at = below(g, g->count);
    const reef_entity a = g->e[at], b = g->e[below(g, g->count)];
    const reef_component k = kinds[below(g, KINDS)];
    const uint32_t r = below(g, RELATIONS);
    switch (below(g, 14)) {
    case 0:
    case 1:
    case 2: (void)reef_add_id(w, a, k, NULL, NULL); break;
    case 3: (void)reef_remove_id(w, a, k); break;
    case 4: (void)reef_enable_id(w, a, below(g, 2) ? k : relations[r], below(g, 3) != 0); break;
    case 5: (void)reef_unrelate_id(w, a, relations[r], b); break;
    case 6: (void)reef_unrelate_sources_id(w, b, relations[r]); break;
    case 7:
        if (below(g, 4) == 0) {
            (void)reef_unrelate_sources(w, a, ChildOf); /* children would die with it; one may keep it for its name */
            if (reef_source_count(w, a, ChildOf) != 0) break;
            assert_ok(reef_destroy(w, a));
            g->e[at] = reef_create(w);
        }
        break;
    case 8:
        if (below(g, 4) == 0) (void)reef_enable_id(w, a, (reef_component){0}, below(g, 2));
        break;
    case 13: (void)reef_set_name(w, a, below(g, 4) ? names[below(g, NAMES)] : NULL); break; /* some are taken */
    default: (void)reef_relate_id(w, a, relations[r], b, NULL, 0); break;
    }
}

static void graph_make(graph *g, reef_world *w, uint64_t seed)
{
    *g = (graph){.w = w, .seed = seed, .count = ENTITIES};
    for (uint32_t i = 0; i < ENTITIES; i++) g->e[i] = reef_create(w);
    for (int i = 0; i < 100; i++) graph_change(g);
    graph_order(g);
}

/* ---- a random query ---- */

typedef struct asked {
    reef_query_desc desc;
    uint32_t count, variables;
    const char *text;
} asked;

static reef_term *term_new(asked *q) { return &q->desc.terms[q->count++]; }

static uint8_t some_slot(graph *g, const asked *q) { return (uint8_t)below(g, q->variables + 1); }

/* Mostly terms ask for what is enabled. */
static reef_enabled some_state(graph *g) { return below(g, 8) ? REEF_ENABLED : (reef_enabled)below(g, 3); }

static void slots_set(reef_term *t, uint8_t from, uint8_t to)
{
    t->variable = from;
    t->target_variable = to ? to : REEF_VISITED;
    if (from == 0 && to == 0) t->target_variable = REEF_VISITED;
}

static void add_plain(graph *g, asked *q, bool filter)
{
    reef_term *t = term_new(q);
    static const reef_access access[] = {REEF_IN, REEF_WITH, REEF_INOUT};
    const uint32_t k = below(g, KINDS);
    t->component = kinds[k];
    t->op = filter ? REEF_HAS : (reef_op)below(g, 3);
    t->access = filter || t->op == REEF_NOT ? REEF_WITH : access[below(g, 3)];
    t->enabled = some_state(g);
    if (k == 1 || k == 2) t->access = REEF_WITH;
}

static void add_target(graph *g, asked *q, bool filter)
{
    reef_term *t = term_new(q);
    const bool any = below(g, 5) == 0;
    t->component = any ? (reef_component){0} : relations[below(g, RELATIONS)];
    t->access = !filter && !any && below(g, 3) == 0 ? REEF_IN : REEF_WITH;
    t->op = !filter && t->access == REEF_WITH && below(g, 3) == 0 ? REEF_NOT : REEF_HAS;
    if (any || below(g, 6)) t->target = g->e[below(g, g->count)];
    if (!any) t->enabled = some_state(g);
}

static void add_up(graph *g, asked *q, bool filter)
{
    reef_term *t = term_new(q);
    t->component = below(g, 4) ? kinds[below(g, KINDS)] : relations[below(g, RELATIONS)];
    t->up = relations[below(g, 2) ? 2 : 3];
    t->self = below(g, 2);
    t->up_most = below(g, 3) ? 0 : 1 + below(g, 3);
    t->op = filter ? REEF_HAS : (reef_op)below(g, 3);
    t->access = filter || t->op == REEF_NOT || below(g, 3) == 0 ? REEF_WITH : REEF_IN;
    t->enabled = some_state(g);
}

static void add_joined(graph *g, asked *q)
{
    reef_term *t = term_new(q);
    const uint32_t kind = below(g, 8);
    t->access = REEF_WITH;
    if (q->variables < VARIABLES && (q->variables == 0 || kind < 3)) { /* a new variable */
        const uint8_t known = some_slot(g, q), fresh = (uint8_t)++q->variables;
        t->component = relations[below(g, RELATIONS)];
        if (below(g, 3)) slots_set(t, known, fresh);
        else slots_set(t, fresh, known);
    } else if (kind < 5) { /* a relation between known ones, or to an entity */
        t->component = relations[below(g, RELATIONS)];
        t->op = below(g, 2) ? REEF_NOT : REEF_HAS;
        const uint8_t from = some_slot(g, q), to = some_slot(g, q);
        if (from && below(g, 4) == 0) t->variable = from, t->target = g->e[below(g, g->count)];
        else slots_set(t, from, to);
    } else {
        t->variable = (uint8_t)(1 + below(g, q->variables));
        t->component = below(g, 5) ? kinds[below(g, KINDS)] : relations[below(g, RELATIONS)];
        t->op = (reef_op)below(g, 3);
    }
    t->enabled = some_state(g);
    if (t->op != REEF_NOT && below(g, 3) == 0) t->access = REEF_IN;
}

static void query_grow(graph *g, asked *q)
{
    memset(q, 0, sizeof *q);
    const uint32_t terms = 1 + below(g, 5), joined = below(g, 3) ? 1 + below(g, 5) : 0;
    for (uint32_t i = 0; i < joined; i++) add_joined(g, q);
    for (uint32_t i = 0; i < terms; i++) {
        const uint32_t kind = below(g, 8);
        if (kind < 3) add_plain(g, q, false);
        else if (kind < 5) add_target(g, q, false);
        else if (kind < 7) add_up(g, q, false);
        else {
            *term_new(q) = (reef_term){.op = below(g, 2) ? REEF_ANY_OF : REEF_NONE_OF, .count = 2};
            for (int k = 0; k < 2; k++)
                if (below(g, 2)) add_target(g, q, true);
                else if (below(g, 2)) add_up(g, q, true);
                else add_plain(g, q, true);
        }
    }
    for (uint32_t i = 0; i < q->variables; i++) snprintf(q->desc.variables[i], 8, "v%u", (unsigned)i + 1);
    q->desc.entities = below(g, 6) ? REEF_ENABLED : (reef_enabled)below(g, 3);
}

/* ---- the naive evaluator ----
 *
 * A relation that is disabled isn't followed. The relation of the entity that a term is about has to be as the term
 * asks: enabled, disabled, or either. All others on a way have to be enabled. */

static bool blind; /* follows relations that are disabled, to see what difference that makes */

static bool followed(const reef_world *w, reef_entity e, reef_component r)
{
    return blind || reef_is_enabled_id(w, e, r);
}

static bool component_counts(const reef_world *w, const reef_term *t, reef_entity e)
{
    if (!reef_has_id(w, e, t->component)) return false;
    return t->enabled == REEF_EITHER || reef_is_enabled_id(w, e, t->component) == (t->enabled == REEF_ENABLED);
}

static bool directly(const reef_world *w, reef_component r, reef_entity a, reef_entity b)
{
    return reef_relation_get_id(w, a, r, b) != NULL;
}

static reef_entity nearest(const reef_world *w, const reef_term *t, reef_entity e)
{
    if (t->self && component_counts(w, t, e)) return e;
    for (uint32_t i = 0; t->up_most == 0 || i < t->up_most; i++) {
        if (!followed(w, e, t->up)) break;
        e = reef_target_id(w, e, t->up);
        if (reef_entity_is_null(e) || component_counts(w, t, e)) return e;
    }
    return (reef_entity){0, 0};
}

static uint32_t options_of(reef_component r)
{
    for (uint32_t i = 0; i < RELATIONS; i++)
        if (relations[i].id == r.id) return options[i];
    return 0;
}

/* Does a way lead from one entity to another one? */
static bool way_leads(const graph *g, const reef_term *t, reef_entity a, reef_entity b)
{
    bool reached[ENTITIES] = {false};
    uint32_t before = 0, now = 0, at = UINT32_MAX;
    if (!blind && !component_counts(g->w, t, a)) return false;
    for (uint32_t i = 0; i < g->count; i++) {
        now += reached[i] = directly(g->w, t->component, a, g->e[i]);
        if (reef_entity_equal(g->e[i], b)) at = i;
    }
    while (options_of(t->component) & REEF_TRANSITIVE && now > before) {
        before = now;
        for (uint32_t i = 0; i < g->count; i++)
            for (uint32_t k = 0; reached[i] && followed(g->w, g->e[i], t->component) && k < g->count; k++)
                if (!reached[k]) now += reached[k] = directly(g->w, t->component, g->e[i], g->e[k]);
    }
    assert_true(at != UINT32_MAX);
    return reached[at];
}

static bool related(const graph *g, const reef_term *t, reef_entity a, reef_entity b)
{
    const bool data = t->access != REEF_WITH && !t->variable && !t->target_variable;
    const bool itself = options_of(t->component) & REEF_REFLEXIVE && t->enabled != REEF_DISABLED && !data;
    return (itself && reef_entity_equal(a, b)) || way_leads(g, t, a, b);
}

static bool leaf_holds(const graph *g, const reef_term *t, const reef_entity *bound)
{
    const reef_entity from = bound[t->variable];
    if (t->up.id) return !reef_entity_is_null(nearest(g->w, t, from));
    if (t->target_variable)
        return related(g, t, from, bound[t->target_variable == REEF_VISITED ? 0 : t->target_variable]);
    if (t->component.id == 0) {
        for (uint32_t r = 0; r < RELATIONS; r++)
            if (directly(g->w, relations[r], from, t->target) && reef_is_enabled_id(g->w, from, relations[r]))
                return true;
        return false;
    }
    if (!reef_entity_is_null(t->target)) return related(g, t, from, t->target);
    return component_counts(g->w, t, from);
}

static bool term_holds(const graph *g, const asked *q, uint32_t *at, const reef_entity *bound)
{
    const reef_term *t = &q->desc.terms[(*at)++];
    if (t->op == REEF_OPTIONAL) return true;
    if (t->op < REEF_ANY_OF) return leaf_holds(g, t, bound) == (t->op == REEF_HAS);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->count; i++) n += term_holds(g, q, at, bound);
    return t->op == REEF_ANY_OF ? n != 0 : n == 0;
}

static bool all_hold(const graph *g, const asked *q, const reef_entity *bound)
{
    if (q->desc.entities != REEF_EITHER &&
        reef_is_enabled_id(g->w, bound[0], (reef_component){0}) != (q->desc.entities == REEF_ENABLED))
        return false;
    for (uint32_t at = 0; at < q->count;)
        if (!term_holds(g, q, &at, bound)) return false;
    return true;
}

/* ---- the order of bindings ---- */

/* The place of `e` in the list of those that the relation of a term leads to. */
static uint32_t rank_of(const graph *g, const reef_term *t, reef_entity start, bool targets, reef_entity e)
{
    static reef_entity list[ENTITIES + 1];
    const reef_component r = t->component;
    const uint32_t o = options_of(r);
    uint32_t n = 0, first = 0;
    bool follow = !targets || component_counts(g->w, t, start);
    if (o & REEF_REFLEXIVE && t->enabled != REEF_DISABLED) list[n++] = start;
    for (reef_entity from = start;; from = list[first++], follow = followed(g->w, from, r)) {
        uint32_t count = 0;
        const char *values = reef_get_all_id(g->w, from, r, &count);
        reef_sources s = reef_sources_of_id(g->w, from, r);
        for (uint32_t i = 0; follow && (targets ? i < count : i < s.count || (i = 0, reef_sources_next(&s))); i++) {
            reef_entity next;
            bool seen = false;
            if (targets)
                memcpy(&next, values + (size_t)i * (r.id == relations[6].id ? sizeof(Owes) : sizeof(Likes)), 8);
            else next = s.sources[i];
            for (uint32_t k = 0; k < n; k++) seen |= reef_entity_equal(list[k], next);
            if (!seen) list[n++] = next;
        }
        if (!(o & REEF_TRANSITIVE) || first == n) break;
    }
    for (uint32_t i = 0; i < n; i++)
        if (reef_entity_equal(list[i], e)) return i;
    return UINT32_MAX;
}

/* The places of a binding in the lists of the terms that bind several, in the order in which they do. */
static uint32_t ranks_of(const graph *g, const asked *q, const reef_entity *bound, uint32_t *rank)
{
    uint32_t known = 1, n = 0;
    for (;;) {
        const reef_term *by = NULL;
        bool single = false;
        for (int sort = 0; sort < 2 && by == NULL; sort++)
            for (uint32_t i = 0; i < q->count && by == NULL; i++) {
                const reef_term *t = &q->desc.terms[i];
                if (t->op != REEF_HAS || t->target_variable == 0) continue;
                const uint32_t to = t->target_variable == REEF_VISITED ? 0 : t->target_variable;
                const bool a = known >> t->variable & 1, b = known >> to & 1;
                const uint32_t o = options_of(t->component);
                single = a && o & REEF_EXCLUSIVE && !(o & (REEF_TRANSITIVE | REEF_REFLEXIVE));
                if (a != b && (sort || single)) by = t;
            }
        if (by == NULL) return n;
        const uint32_t to = by->target_variable == REEF_VISITED ? 0 : by->target_variable;
        const bool targets = known >> by->variable & 1;
        if (!single)
            rank[n++] = targets ? rank_of(g, by, bound[by->variable], true, bound[to])
                                : rank_of(g, by, bound[to], false, bound[by->variable]);
        known |= 1u << (targets ? to : by->variable);
    }
}

/* ---- comparing ---- */

typedef struct found {
    reef_entity bound[VARIABLES + 1];
} found;

static found wanted[MATCHES], got[MATCHES];
static uint32_t wanted_count, got_count, row_count;

static bool bound_before(const graph *g, const asked *q, const found *a, const found *b)
{
    uint32_t x[VARIABLES + 1], y[VARIABLES + 1];
    const uint32_t n = ranks_of(g, q, a->bound, x);
    (void)ranks_of(g, q, b->bound, y);
    for (uint32_t i = 0; i < n; i++)
        if (x[i] != y[i]) return x[i] < y[i];
    return false;
}

static void evaluate(const graph *g, const asked *q)
{
    uint32_t total = 1;
    wanted_count = row_count = 0;
    for (uint32_t v = 0; v < q->variables; v++) total *= g->count;
    for (uint32_t i = 0; i < g->rows; i++) {
        const uint32_t first = wanted_count;
        for (uint32_t n = 0; n < total; n++) {
            found f = {{g->in_order[i]}};
            for (uint32_t v = 1, left = n; v <= q->variables; v++, left /= g->count) f.bound[v] = g->e[left % g->count];
            if (!all_hold(g, q, f.bound)) continue;
            uint32_t at = wanted_count++;
            assert_true(wanted_count < MATCHES);
            for (; at > first && bound_before(g, q, &f, &wanted[at - 1]); at--) wanted[at] = wanted[at - 1];
            wanted[at] = f;
        }
        row_count += wanted_count > first;
    }
}

/* Would the query match others if it followed relations that are disabled? */
static bool cut_short(const graph *g, const asked *q)
{
    const uint32_t matches = wanted_count;
    blind = true;
    evaluate(g, q);
    blind = false;
    return wanted_count != matches;
}

/* Are the values that row i leads to those of the entities? */
static void values_agree(const graph *g, const asked *q, const reef_block *b, uint32_t i, const found *f)
{
    const void *to[REEF_BLOCK_ROWS];
    for (uint32_t k = 0; k < q->count; k++) {
        const reef_term *t = &q->desc.terms[k];
        if (t->access != REEF_IN || t->op >= REEF_NOT || t->op == REEF_OPTIONAL) continue;
        if (t->component.id == kinds[1].id || t->component.id == kinds[2].id) continue; /* they have no data */
        const bool bound = t->target_variable && t->target_variable != REEF_VISITED;
        const uint32_t by = bound ? t->target_variable : t->variable;
        if (t->up.id) {
            assert_non_null(reef_block_reach(b, t->component, 0, to));
            assert_ptr_equal(to[i], reef_get_id(g->w, nearest(g->w, t, f->bound[0]), t->component));
        } else if (t->target_variable || !reef_entity_is_null(t->target)) {
            const reef_entity target = bound                ? f->bound[t->target_variable]
                                       : t->target_variable ? f->bound[0]
                                                            : t->target;
            assert_non_null(reef_block_reach(b, t->component, by, to));
            assert_ptr_equal(to[i], reef_relation_get_id(g->w, f->bound[t->variable], t->component, target));
        } else if (t->variable) {
            assert_non_null(reef_block_reach(b, t->component, by, to));
            assert_ptr_equal(to[i], reef_get_id(g->w, f->bound[t->variable], t->component));
        }
    }
}

static void visit_row(const graph *g, const asked *q, const reef_block *b, uint32_t i, bool values)
{
    found f = {{b->entities[i]}};
    for (uint32_t v = 1; v <= q->variables; v++) {
        char name[8];
        snprintf(name, sizeof name, "v%u", (unsigned)v);
        assert_int_equal(reef_variable(b, name), v);
        f.bound[v] = reef_bound(b, v)[i];
    }
    assert_true(got_count < MATCHES);
    got[got_count++] = f;
    if (values) values_agree(g, q, b, i, &f);
}

static void agree(const asked *q, const char *how, uint32_t skip, uint32_t most)
{
    const uint32_t end = most && skip + most < wanted_count ? skip + most : wanted_count;
    const uint32_t n = skip < end ? end - skip : 0;
    if (got_count == n && memcmp(got, wanted + (n ? skip : 0), n * sizeof *got) == 0) return;
    print_error("%s, %s: %u matches instead of %u\n", q->text, how, (unsigned)got_count, (unsigned)n);
    for (uint32_t i = 0; i < got_count || i < n; i++) {
        for (uint32_t v = 0; v <= q->variables; v++)
            print_error("%s%d %d", v ? ", " : "  ", i < n ? (int)wanted[skip + i].bound[v].index : -1,
                        i < got_count ? (int)got[i].bound[v].index : -1);
        print_error("\n");
    }
    fail();
}

static void walk(const graph *g, const asked *q, reef_query h, const reef_loop *loop, bool values)
{
    got_count = 0;
    for (reef_block b = loop ? reef_begin_loop(g->w, h, loop) : reef_begin(g->w, h); reef_next(&b);)
        for (uint32_t first = 0, n; (n = reef_block_run(&b, &first)) != 0; first += n)
            for (uint32_t i = first; i < first + n; i++) visit_row(g, q, &b, i, values);
}

static bool query_agrees(graph *g, asked *q)
{
    static char text[4096], again[4096];
    reef_query h = reef_query_make(g->w, &q->desc);
    if (reef_query_is_null(h)) {
        const reef_error e = reef_last_error(g->w);
        if (e.status != REEF_DUPLICATE_TERM)
            fail_msg("refused: %s, term %d: %s", reef_status_name(e.status), (int)e.number, e.detail);
        return false;
    }
    assert_true(reef_query_text(g->w, h, text, sizeof text) < sizeof text);
    q->text = text;
    reef_query same = reef_query_new(g->w, text);
    if (reef_query_is_null(same)) fail_msg("%s: %s", text, reef_last_error(g->w).detail);
    reef_query_text(g->w, same, again, sizeof again);
    assert_string_equal(text, again);
    evaluate(g, q);
    walk(g, q, h, NULL, true);
    agree(q, "blocks", 0, 0);
    walk(g, q, same, NULL, false);
    agree(q, "by text", 0, 0);
    got_count = 0;
    reef_each(g->w, h, row) visit_row(g, q, &row.block, row.i, false);
    agree(q, "row by row", 0, 0);
    const reef_loop part = {.offset = below(g, 4), .limit = below(g, 4)};
    walk(g, q, h, &part, false);
    agree(q, "offset and limit", (uint32_t)part.offset, (uint32_t)part.limit);
    assert_int_equal(reef_query_count(g->w, h), row_count);
    assert_int_equal(reef_query_any(g->w, h), row_count != 0);
    const reef_entity first = reef_query_first(g->w, h);
    assert_true(wanted_count ? reef_entity_equal(first, wanted[0].bound[0]) : reef_entity_is_null(first));
    for (uint32_t i = 0; i < g->rows; i++) {
        bool matches = false;
        for (uint32_t k = 0; k < wanted_count; k++) matches |= reef_entity_equal(wanted[k].bound[0], g->in_order[i]);
        assert_int_equal(reef_query_matches(g->w, h, g->in_order[i]), matches);
    }
    if (below(g, 16) == 0) assert_true(reef_query_explain(g->w, h, text, sizeof text) > 0);
    assert_ok(reef_query_free(g->w, h));
    assert_ok(reef_query_free(g->w, same));
    return true;
}

/* ---- orders by a relation ---- */

enum { ORDERS = 3, FIRST_ORDER = 1 }; /* by DockedTo, PartOf and Within */

/* Queries that stay while the graph changes. */
static void orders_make(graph *g, reef_query *ordered)
{
    for (uint32_t k = 0; k < ORDERS; k++) {
        const reef_order by = {.relation = relations[FIRST_ORDER + k]};
        ordered[k] = reef_query_make(g->w, &(reef_query_desc){.entities = REEF_EITHER});
        assert_ok(reef_query_order(g->w, ordered[k], &by));
    }
}

static uint64_t order_key(const graph *g, uint32_t k, reef_entity e)
{
    const reef_component r = relations[FIRST_ORDER + k];
    const reef_entity first = followed(g->w, e, r) ? reef_target_id(g->w, e, r) : (reef_entity){0, 0};
    if (k == 0) return reef_entity_is_null(first) ? UINT64_MAX : reef_key_entity(first);
    uint64_t depth = 0;
    for (; followed(g->w, e, r) && !reef_entity_is_null(reef_target_id(g->w, e, r)); depth++)
        e = reef_target_id(g->w, e, r);
    return depth;
}

/* Rows are in the order of their keys, and those with equal ones in the visible order. */
static void orders_agree(const graph *g, const reef_query *ordered)
{
    for (uint32_t k = 0; k < ORDERS; k++) {
        reef_entity right[ENTITIES];
        uint32_t n = 0;
        for (uint32_t i = 0; i < g->rows; i++) {
            uint32_t at = i;
            for (; at > 0 && order_key(g, k, right[at - 1]) > order_key(g, k, g->in_order[i]); at--)
                right[at] = right[at - 1];
            right[at] = g->in_order[i];
        }
        reef_each(g->w, ordered[k], row)
        {
            assert_true(n < g->rows);
            assert_int_equal(row.entity.index, right[n++].index);
        }
        assert_int_equal(n, g->rows);
    }
}

#ifndef GRAPH_QUERIES
#define GRAPH_QUERIES 4000
#endif
static uint32_t queries = GRAPH_QUERIES;
static uint64_t first_seed = 11;

static void random_queries_over_random_graphs_agree_with_a_naive_evaluator(void **state)
{
    static graph g, there;
    static asked q;
    reef_query ordered[ORDERS];
    uint32_t done = 0, refused = 0, some = 0, several = 0, cut = 0, tried = 0;
    types_find();
    graph_make(&g, world_of(state), first_seed);
    orders_make(&g, ordered);
    while (done < queries) {
        for (uint32_t i = below(&g, 6); i > 0; i--) graph_change(&g);
        graph_order(&g);
        orders_agree(&g, ordered);
        if (done % 64 == 63) { /* on a fork, which goes its own way */
            there = g;
            there.w = reef_fork(g.w);
            assert_non_null(there.w);
            for (int i = 0; i < 6; i++) graph_change(&there);
            graph_order(&there);
            for (int i = 0; i < 4; i++) {
                query_grow(&there, &q);
                done += query_agrees(&there, &q);
            }
            reef_world_free(there.w);
        }
        query_grow(&g, &q);
        if (!query_agrees(&g, &q)) {
            refused++;
            continue;
        }
        done++;
        some += wanted_count != 0;
        several += wanted_count > row_count;
        if (done % 8) continue;
        tried++;
        cut += cut_short(&g, &q);
    }
    print_message("%u queries: %u with matches, %u with rows that match more than once; disabled relations made a "
                  "difference to %u of %u\n",
                  (unsigned)done, (unsigned)some, (unsigned)several, (unsigned)cut, (unsigned)tried);
    assert_true(refused < done / 4 && some > done / 8 && several > done / 50 && cut > tried / 50);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--deep") == 0) queries = 200000;
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        TEST(random_queries_over_random_graphs_agree_with_a_naive_evaluator),
    };
    return cmocka_run_group_tests_name("query graph", tests, NULL, NULL);
}
