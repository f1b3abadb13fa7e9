/* Where a search for bindings begins: with the rows, or with a rare term about a variable.
 *
 *   Fighter, DockedTo($p), Planet($p)     3 planets, 100,000 fighters:   each Planet ──DockedTo──► rows, marked
 *
 * Beginning elsewhere is decided anew for each loop and question, by counting. Marks only leave out rows to which
 * nothing leads, so results and their order are the same. */
#include "storage/read.h"
#include "storage/relation_index.h"
#include "storage/sparse_store.h"
#include "query/query.h"
#include "query/relation_plan.h"
#include "query/variables.h"
#include "reef/relation.h"

/* Beginning elsewhere pays if it leads to at most one in this many of the rows. */
enum { ROWS_FOR_START = 4 };

/* How many entities a term about a variable begins with. UINT64_MAX: it isn't one to begin with. */
static uint64_t start_count(reef_world *w, const query *q, uint32_t i)
{
    const reef_term *t = &q->terms[i];
    const type *kind = reef__type_of(t->component.id);
    if (!q->facts[i].bound || t->op != REEF_HAS || t->variable == 0) return UINT64_MAX;
    if (!term_relates(t)) return kind->bit && !kind->stored ? UINT64_MAX : reef_count_id(w, t->component);
    if (slot_to(t) != SLOT_TARGET || kind->relation & (REEF_TRANSITIVE | REEF_REFLEXIVE)) return UINT64_MAX;
    const value_store *s = store_of(w, kind->id);
    return s->component && reef_is_alive(w, t->target) ? reef__relation_sources(s, t->target) : 0;
}

/* Is the term a way from one variable, or the visited entity, to another one? */
static bool term_is_way(const query *q, uint32_t i)
{
    const reef_term *t = &q->terms[i];
    return q->facts[i].bound && t->op == REEF_HAS && term_relates(t) && slot_to(t) != SLOT_TARGET &&
           slot_to(t) != slot_from(t) &&
           !(reef__type_of(t->component.id)->relation & (REEF_TRANSITIVE | REEF_REFLEXIVE));
}

/* Finds the term by which each variable is nearest to the visited entity. UINT32_MAX: there is no way. */
static void ways_find(const query *q, uint32_t *way)
{
    uint32_t near = 1u << SLOT_VISITED, next = near;
    for (uint32_t v = 0; v < SLOTS; v++) way[v] = UINT32_MAX;
    for (; next; near |= next) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < q->term_count; i++) {
            if (q->terms[i].op >= REEF_ANY_OF || !term_is_way(q, i)) continue;
            const uint32_t from = slot_from(&q->terms[i]), to = slot_to(&q->terms[i]);
            const uint32_t v = next >> from & 1 ? to : from;
            if (!((next >> from | next >> to) & 1) || (near | found) >> v & 1) continue;
            found |= 1u << v;
            way[v] = i;
        }
        next = found;
    }
}

static bool list_sources(reef_world *w, const value_store *s, reef_entity target, entity_list *to)
{
    for (source_walk x = {.run = {0}}; source_walk_next(&x, s, target);)
        for (uint32_t i = 0; i < x.run.count; i++)
            if (!reef__entity_list_put(w, to, x.run.sources[i])) return false;
    return true;
}

static bool list_targets(reef_world *w, const value_store *s, reef_entity source, entity_list *to)
{
    uint32_t n;
    const relation_value *first = reef__relations_of(s, source, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!reef__entity_list_put(w, to, relation_nth(s, first, i)->target)) return false;
    return true;
}

/* Lists all entities that have a component of the table or of a store. */
static bool list_all(reef_world *w, const type *t, entity_list *to)
{
    for (value_run r = {0}; reef__value_run_next(w, t, &r);)
        for (uint32_t i = 0; i < r.count; i++)
            if (!reef__entity_list_put(w, to, r.entities[i])) return false;
    return true;
}

/* Marks the rows that the start leads to. It gives up where there are more than `most`. False: there is no memory. */
static bool start_collect(query *q, uint32_t start, const uint32_t *way, uint64_t most)
{
    reef_world *w = q->world;
    bindings *b = q->plan->bindings;
    const reef_term *t = &q->terms[start];
    entity_list *at = &b->list[0], *next = &b->list[1];
    uint32_t v = t->variable;
    at->count = 0;
    if (!(term_relates(t) ? list_sources(w, store_of(w, t->component.id), t->target, at)
                          : list_all(w, reef__type_of(t->component.id), at)))
        return false;
    while (v != SLOT_VISITED) {
        const reef_term *x = &q->terms[way[v]];
        const value_store *s = store_of(w, x->component.id);
        const bool targets = slot_from(x) == v;
        uint64_t sources = 0;
        next->count = 0;
        for (uint32_t i = 0; !targets && s->component && i < at->count && sources <= most; i++)
            sources += reef__relation_sources(s, at->e[i]);
        if (sources > most) return true;
        for (uint32_t i = 0; i < at->count; i++) {
            if (!(targets ? list_targets(w, s, at->e[i], next) : list_sources(w, s, at->e[i], next))) return false;
            if (next->count > most) return true;
        }
        v = targets ? slot_to(x) : slot_from(x);
        entity_list *was = at;
        at = next;
        next = was;
    }
    if (!reef__row_set_ready(w, &b->rows)) return false;
    for (uint32_t i = 0; i < at->count; i++)
        if (!reef__row_set_add(w, &b->rows, at->e[i], 1)) return false;
    b->started = true;
    return true;
}

bool reef__bind_start(query *q, uint64_t rows)
{
    bindings *b = q->plan->bindings;
    uint32_t way[SLOTS];
    b->started = false;
    b->begins = rows / ROWS_FOR_START + 1;
    if (rows == 0) return true;
    ways_find(q, way);
    for (uint32_t i = 0; i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        if (t->op >= REEF_ANY_OF || t->variable == 0 || t->variable > REEF_VARIABLES_MAX ||
            way[t->variable] == UINT32_MAX)
            continue;
        const uint64_t n = start_count(q->world, q, i);
        if (n < b->begins) b->begins = n, b->start = i, b->started = true;
    }
    const bool pays = b->started;
    b->started = false;
    for (uint32_t i = 0; pays && i < q->term_count; i++) {
        if (q->terms[i].op >= REEF_ANY_OF || !term_relates(&q->terms[i]) || !q->facts[i].bound) continue;
        value_store *s = (value_store *)(uintptr_t)store_of(q->world, q->terms[i].component.id);
        if (s->component && !reef__relation_ready(q->world, s)) return true; /* without an index it takes too long */
    }
    return !pays || start_collect(q, b->start, way, rows / ROWS_FOR_START);
}
