/* Which rows have the targets that a query asks for (src/query/relation_plan.h). */
#include "query/relation_plan.h"
#include "query/value_join.h"
#include "query/value_term.h"
#include "storage/entity_index.h"
#include "storage/known_types.h"
#include "storage/place.h"
#include "storage/relation_index.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "change/relation.h"
#include "query/variables.h"
#include "query/chunk_cursor.h"
#include "query/query.h"
#include "query/relation_path.h"
#include "query/row_filter.h"
#include "reef/relation.h"

/* The sources are marked if they are at most one in this many of the rows that would be looked at. (Marking a source
 * costs about as much as asking four rows.) */
enum { ROWS_FOR_SOURCE = 4 };

/* ---- sets of rows ---- */

bool reef__row_set_ready(reef_world *w, row_set *s)
{
    for (uint32_t i = 0; i < s->count; i++) s->number[s->unit[i]] = 0;
    s->count = 0;
    return w->state.next_unit <= s->units || reef__array_room(&w->family->memory, MEMORY_OTHER, &s->number, &s->units,
                                                              w->state.next_unit, sizeof *s->number);
}

/* Turns on `n` bits from `first` on. */
static void bits_on(uint64_t *words, uint32_t first, uint32_t n)
{
    for (uint32_t end = first + n; first < end;) {
        const uint32_t at = first % 64, here = end - first < 64 - at ? end - first : 64 - at;
        words[first / 64] |= UINT64_MAX >> (64 - here) << at;
        first += here;
    }
}

bool reef__row_set_add(reef_world *w, row_set *s, reef_entity e, uint32_t n)
{
    const uint32_t place = place_of(w, e), unit = place_unit(place), row = place_row(place);
    memory *m = &w->family->memory;
    if (place < 2 * PLACE_EMPTY) return true; /* dead, or without a row: no query visits it */
    ASSERT(unit < s->units);
    if (s->number[unit] == 0) {
        if (!reef__array_room(m, MEMORY_OTHER, &s->words, &s->room, s->count + 1, sizeof *s->words) ||
            !reef__array_room(m, MEMORY_OTHER, &s->unit, &s->unit_room, s->count + 1, sizeof *s->unit))
            return false;
        memset(s->words[s->count], 0, sizeof *s->words);
        s->unit[s->count] = unit;
        s->number[unit] = ++s->count;
    }
    bits_on(s->words[s->number[unit] - 1], row, n);
    return true;
}

void reef__row_set_drop(reef_world *w, row_set *s)
{
    memory *m = &w->family->memory;
    reef__memory_free(m, MEMORY_OTHER, s->number, s->units * sizeof *s->number);
    reef__memory_free(m, MEMORY_OTHER, s->words, s->room * sizeof *s->words);
    reef__memory_free(m, MEMORY_OTHER, s->unit, s->unit_room * sizeof *s->unit);
    memset(s, 0, sizeof *s);
}

bool reef__entity_list_put(reef_world *w, entity_list *l, reef_entity e)
{
    if (l->count == l->room &&
        !reef__array_room(&w->family->memory, MEMORY_OTHER, &l->e, &l->room, l->count + 1, sizeof *l->e))
        return false;
    l->e[l->count++] = e;
    return true;
}

void reef__entity_list_drop(reef_world *w, entity_list *l)
{
    reef__memory_free(&w->family->memory, MEMORY_OTHER, l->e, l->room * sizeof *l->e);
    memset(l, 0, sizeof *l);
}

/* ---- the sources of a target ---- */

/* Does the term hold for the sources of its target? Those of ancestors and variables are found in other ways, and an
 * optional one always holds. */
static bool term_has_sources(const query *q, uint32_t i)
{
    const term_facts *f = &q->facts[i];
    return q->terms[i].op < REEF_ANY_OF && q->terms[i].op != REEF_OPTIONAL && f->target && !f->up && !f->bound;
}

static value_store *store_indexed(reef_world *w, uint32_t component)
{
    value_store *s = (value_store *)(uintptr_t)store_of(w, component);
    if (s->component) (void)reef__relation_ready(w, s); /* without an index it takes longer */
    return s;
}

/* Of some entities, how many lie in rows of one chunk, one behind the other, from the first one on; at least 1. */
static uint32_t rows_beside(const reef_world *w, const reef_entity *e, uint32_t count)
{
    const uint32_t place = place_of(w, e[0]);
    if (place < 2 * PLACE_EMPTY) return 1;
    const reef_slot *slots = unit_slots(w, place_unit(place));
    const reef_entity *row = slot_entities(slots) + place_row(place);
    const uint32_t left = chunk_rows(table_read(w, slots[0].head.table), place_unit(place)) - place_row(place);
    const uint32_t most = left < count ? left : count;
    uint32_t n = 1;
    while (n < most && reef_entity_equal(row[n], e[n])) n++;
    return n;
}

/* Marks the sources of a target. Those of grouped relations mostly lie side by side. */
static bool sources_collect(reef_world *w, const value_store *s, reef_entity target, row_set *rows)
{
    for (source_walk x = {.run = {0}}; source_walk_next(&x, s, target);)
        for (uint32_t i = 0, n; i < x.run.count; i += n) {
            n = rows_beside(w, x.run.sources + i, x.run.count - i);
            if (!reef__row_set_add(w, rows, x.run.sources[i], n)) return false;
        }
    return true;
}

static bool row_is_collected(const reef_world *w, const row_set *s, reef_entity e)
{
    const uint32_t place = place_of(w, e);
    const uint64_t *words = row_set_words(s, place_unit(place));
    return words && words[place_row(place) / 64] >> place_row(place) % 64 & 1;
}

/* Marks the sources of a target, theirs, and so on. Those whose relation is disabled are marked, but nobody's way leads
 * over them. (Whether their own relation is as the term asks is looked at with the rows.) */
static bool closure_collect(reef_world *w, uint32_t relation, reef_entity target, row_set *rows, entity_list *l)
{
    const relation_path p = path_by(w, relation);
    reef_entity from = target;
    for (uint32_t next = 0;; from = l->e[next++]) {
        for (source_walk x = {.run = {0}}; source_walk_next(&x, p.s, from);)
            for (uint32_t i = 0; i < x.run.count; i++) {
                const reef_entity e = x.run.sources[i];
                if (row_is_collected(w, rows, e)) continue;
                if (!reef__row_set_add(w, rows, e, 1)) return false;
                if (!path_ends(&p, e) && !reef__entity_list_put(w, l, e)) return false;
            }
        if (next == l->count) return true;
    }
}

static bool any_collect(reef_world *w, reef_entity target, term_sources *x)
{
    for (uint32_t i = 1; i < w->state.store_count; i++) {
        value_store *s = &w->state.stores[i];
        if (!s->relation) continue;
        (void)reef__relation_ready(w, s);
        x->sources += reef__relation_sources(s, target);
        const relation_path p = path_by(w, s->component);
        for (source_walk k = {.run = {0}}; source_walk_next(&k, s, target);)
            for (uint32_t j = 0; j < k.run.count; j++)
                if (!path_ends(&p, k.run.sources[j]) && !reef__row_set_add(w, &x->rows, k.run.sources[j], 1))
                    return false;
    }
    return true;
}

/* Marks the rows for which the term holds, if that pays or nothing else would do. */
static bool term_collect(query *q, term_sources *x, uint64_t rows)
{
    reef_world *w = q->world;
    const reef_term *t = &q->terms[x->term];
    const type *kind = reef__type_of(t->component.id);
    x->sources = 0;
    x->used = true;
    if (!reef__row_set_ready(w, &x->rows)) return false;
    if (!reef_is_alive(w, t->target)) return true;
    if (kind == NULL) return any_collect(w, t->target, x);
    const value_store *s = store_indexed(w, kind->id);
    if (s->component) x->sources = reef__relation_sources(s, t->target);
    if (kind->relation & REEF_TRANSITIVE) {
        entity_list l = {NULL, 0, 0};
        const bool ok = closure_collect(w, kind->id, t->target, &x->rows, &l);
        reef__entity_list_drop(w, &l);
        return ok;
    }
    x->used = !s->unindexed && x->sources <= rows / ROWS_FOR_SOURCE;
    return !x->used || sources_collect(w, s, t->target, &x->rows);
}

/* ---- the plan ---- */

COLD bool reef__plan_make(query *q, const query_text *l)
{
    uint32_t count = 0;
    bool wanted = false;
    for (uint32_t i = 0; i < q->term_count; i++) {
        count += term_has_sources(q, i);
        wanted |= q->facts[i].target;
    }
    if (!wanted) return true;
    target_plan *p = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, sizeof *p + count * sizeof *p->terms);
    if (p == NULL) return false;
    q->plan = p;
    p->count = count;
    if (l->variable_count) memcpy(p->names, l->variables, l->variable_count * sizeof *l->variables);
    if (reef__ancestors_make(q) && reef__bindings_make(q)) return true;
    reef__plan_drop(q);
    return false;
}

COLD void reef__plan_drop(query *q)
{
    target_plan *p = q->plan;
    if (p == NULL) return;
    for (uint32_t i = 0; i < p->count; i++) reef__row_set_drop(q->world, &p->terms[i].rows);
    reef__bindings_drop(q);
    reef__ancestors_drop(q);
    reef__memory_free(&q->world->family->memory, MEMORY_OTHER, p, sizeof *p + p->count * sizeof *p->terms);
    q->plan = NULL;
}

COLD bool reef__plan_names(const target_plan *p, const query_text *l)
{
    static const char none[sizeof *l->variables];
    for (uint32_t i = 0; i < REEF_VARIABLES_MAX; i++)
        if (memcmp(p->names[i], i < l->variable_count ? l->variables[i] : none, sizeof none) != 0) return false;
    return true;
}

COLD const variable_names *reef__query_names(const query *q)
{
    return q->plan ? (const variable_names *)&q->plan->names : NULL;
}

bool reef__plan_look(query *q)
{
    target_plan *p = q->plan;
    const uint64_t rows = p->one ? 0 : query_rows(q);
    for (uint32_t i = 0, n = 0; i < q->term_count; i++) {
        if (!term_has_sources(q, i)) continue;
        term_sources *x = &p->terms[n++];
        ASSERT(n <= p->count);
        x->term = i;
        x->used = false;
        if (!p->one && !term_collect(q, x, rows)) return false;
    }
    if (p->ancestor_count) reef__ancestors_look(q);
    return p->bindings == NULL || reef__bindings_look(q, rows);
}

/* ---- rows ---- */

static bool row_is_related(const look *l, uint32_t i, reef_entity e)
{
    const reef_world *w = l->q->world;
    const reef_term *t = &l->q->terms[i];
    if (t->component.id)
        return reef__relation_leads(w, reef__type_of(t->component.id), e, t->target,
                                    bit_store_of(w, t->component.id | BIT_DISABLED));
    for (uint32_t k = 1; k < w->state.store_count; k++) {
        const value_store *s = &w->state.stores[k];
        if (!s->relation || !reef__relation_find(s, e, t->target, NULL)) continue;
        const relation_path p = path_by(w, s->component);
        if (!path_ends(&p, e)) return true;
    }
    return false;
}

/* Siblings have the same ancestors, and mostly lie side by side. */
static void ancestor_rows(const look *l, uint32_t i, uint64_t *words, uint32_t first, uint32_t end)
{
    const query *q = l->q;
    const relation_path p = path_by(q->world, q->terms[i].up.id);
    reef_entity parent = {0, 0}, found;
    bool holds = false;
    for (uint32_t k = first; k < end; k++) {
        uint64_t kept = 0;
        for (uint64_t word = words[k] & l->among[k]; word; word &= word - 1) {
            const reef_entity e = l->entities[k * 64 + bits_first(word)];
            const relation_value *v = path_next(&p, e);
            const bool same = v && !q->terms[i].self && reef_entity_equal(v->target, parent);
            if (!same) holds = reef__ancestor_find(q, i, e, &found);
            parent = v ? v->target : (reef_entity){0, 0};
            if (holds) kept |= word & (0 - word);
        }
        words[k] = kept;
    }
}

void reef__target_rows(const look *l, uint32_t i, uint64_t *words, uint32_t first, uint32_t end)
{
    const query *q = l->q;
    const target_plan *p = q->plan;
    const term_sources *x = NULL;
    if (q->facts[i].up) {
        ancestor_rows(l, i, words, first, end);
        return;
    }
    for (uint32_t n = 0; n < p->count && x == NULL; n++)
        if (p->terms[n].term == i) x = &p->terms[n];
    if (x && x->used) {
        rows_keep(words, row_set_words(&x->rows, l->unit), first, end);
        return;
    }
    reef__rows_ask(l, i, row_is_related, words, first, end);
}

/* ---- entities that rows lead to ---- */

bool reef__component_holds(const query *q, uint32_t i, reef_entity e)
{
    const reef_world *w = q->world;
    const reef_term *t = &q->terms[i];
    const uint32_t place = place_of(w, e);
    const bool whole = t->component.id == 0; /* is the entity itself disabled? */
    if (place == PLACE_DEAD || (whole && place < 2 * PLACE_EMPTY)) return false;
    if (!whole &&
        !component_there(w, reef__type_of(t->component.id), e, place, reef_slots_at(&w->hot, place)[0].head.table))
        return false;
    if (q->facts[i].values && !reef__entity_fulfils(q, i, e)) return false;
    if (!whole && (t->enabled == REEF_EITHER || !(q->facts[i].some_disabled || t->enabled == REEF_DISABLED)))
        return true;
    return bit_read(bit_store_of(w, t->component.id | BIT_DISABLED), place) == (t->enabled == REEF_DISABLED);
}

/* ---- what makes sense ---- */

COLD reef_status reef__reach_check(const reef_world *w, const reef_term *t, const char **why)
{
    const type *up = reef__type_of(t->up.id);
    const uint32_t tree = REEF_EXCLUSIVE | REEF_ACYCLIC;
    const bool away = t->up.id || t->variable || t->target_variable;
    *why = "'up' needs a relation that is exclusive and acyclic";
    if (t->up.id && (up == NULL || (up->relation & tree) != tree)) return REEF_BAD_ARGUMENT;
    *why = "'self' and a number of steps belong to 'up'";
    if (t->up.id == 0 && (t->self || t->up_most)) return REEF_BAD_ARGUMENT;
    *why = t->up.id ? "'* up(...)' asks for an ancestor that is 'disabled' as a whole, and has no other word"
                    : "any relation '*(...)' is a filter with one target";
    if (t->component.id == 0 &&
        (t->access != REEF_WITH || t->op == REEF_OPTIONAL || t->since != REEF_ALWAYS || t->subtypes ||
         t->enabled != (t->up.id ? REEF_DISABLED : REEF_ENABLED) || (away && !t->up.id)))
        return REEF_BAD_ARGUMENT;
    if (!away) return REEF_OK;
    *why = "the components of ancestors and bound entities can only be read: 'in' or 'with'";
    if (t->op != REEF_NOT && t->access != REEF_IN && t->access != REEF_WITH && reef__type_of(t->component.id)->size)
        return REEF_BAD_ARGUMENT;
    *why = "a term with 'up' or a variable can't have a target of its own, 'of', 'each', '+', 'changed' or 'added'";
    if (!reef_entity_is_null(t->source) || t->each || t->subtypes || t->since != REEF_ALWAYS) return REEF_BAD_ARGUMENT;
    if (t->up.id && (t->variable || t->target_variable || !reef_entity_is_null(t->target))) return REEF_BAD_ARGUMENT;
    *why = "a variable has a number from 1 to 8";
    if (t->variable > REEF_VARIABLES_MAX ||
        (t->target_variable > REEF_VARIABLES_MAX && t->target_variable != REEF_VISITED))
        return REEF_BAD_ARGUMENT;
    *why = "a relation has one target";
    if (t->target_variable && !reef_entity_is_null(t->target)) return REEF_BAD_ARGUMENT;
    return t->up.id ? reef__type_ready((reef_world *)(uintptr_t)w, t->up.id) : REEF_OK;
}

/* Which variables does this term bind, if these are bound? (Bit 0 is the visited entity.) */
static uint32_t term_binds(const reef_term *t, uint32_t bound)
{
    const uint32_t from = 1u << t->variable;
    const uint32_t to = t->target_variable == REEF_VISITED ? 1u : t->target_variable ? 1u << t->target_variable : 0;
    if (t->op != REEF_HAS || to == 0) return 0;
    return bound & from ? to : bound & to ? from : 0;
}

COLD uint32_t reef__variables_check(const query_text *l, const term_facts *facts, bool by_value, const char **why)
{
    uint32_t bound = 1, named = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const reef_term *t = &l->term[i];
        const uint8_t both[] = {t->variable, t->target_variable};
        if (t->op >= REEF_ANY_OF || !facts[i].bound) continue;
        *why = "a term with a variable can't be in a group";
        if (!facts[i].top) return i;
        *why = "an optional term gives data of an entity that other terms bind";
        if (t->op == REEF_OPTIONAL && t->target_variable) return i;
        *why = "the variables are numbered in the order of their first terms";
        for (uint32_t k = 0; k < 2; k++) {
            if (both[k] == 0 || both[k] == REEF_VISITED || both[k] <= named) continue;
            if (both[k] != named + 1) return i;
            named++;
        }
    }
    for (uint32_t round = 0; round < named; round++) {
        for (uint32_t i = 0; i < l->count; i++)
            if (l->term[i].op < REEF_ANY_OF && facts[i].bound) bound |= term_binds(&l->term[i], bound);
        if (by_value) bound = reef__joins_bind(l, facts, bound);
    }
    *why = "its variable isn't joined to the visited entity by relations that must be there, or by equal values";
    for (uint32_t i = 0; i < l->count; i++) {
        const reef_term *t = &l->term[i];
        if (t->op >= REEF_ANY_OF || !facts[i].bound) continue;
        if (!(bound >> t->variable & 1)) return i;
        if (t->target_variable && t->target_variable != REEF_VISITED && !(bound >> t->target_variable & 1)) return i;
    }
    return REEF_TERMS_MAX;
}
