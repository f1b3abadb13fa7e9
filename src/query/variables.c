/* Finding bindings (src/query/variables.h). */
#include "query/variables.h"
#include "storage/archetype.h"
#include "storage/block_index.h"
#include "storage/entity_index.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/relation_index.h"
#include "storage/row_bits.h"
#include "storage/sparse_store.h"
#include "change/relation.h"
#include "query/query.h"
#include "query/relation_path.h"
#include "query/relation_plan.h"
#include "query/row_filter.h"
#include "query/value_term.h"
#include "reef/relation.h"

/* ---- making the steps ---- */

/* How soon a step comes: before those that bind come those that only ask. */
enum { ASKS_ONE, ASKS_TWO, BINDS_ONE, BINDS_SEVERAL, COMES_LATER };

/* The step of term i where these are bound. COMES_LATER: it speaks of too many others, or may not bind one. */
static uint32_t step_of(const query *q, uint32_t i, uint32_t bound, bind_step *s)
{
    const reef_term *t = &q->terms[i];
    const type *kind = reef__type_of(t->component.id);
    const bool relates = term_relates(t);
    const bool follows = relates && kind->relation & (REEF_TRANSITIVE | REEF_REFLEXIVE);
    *s = (bind_step){.term = (uint16_t)i, .from = slot_from(t), .to = slot_to(t), .closure = follows, .type = kind};
    const bool from = bound >> s->from & 1, to = !relates || bound >> s->to & 1;
    s->kind = !relates ? STEP_HAS : from && to ? STEP_RELATED : from ? STEP_TARGETS : STEP_SOURCES;
    s->single = s->kind == STEP_TARGETS && kind->relation & REEF_EXCLUSIVE && !follows;
    if (!from && (!to || !relates || s->to == SLOT_TARGET)) return COMES_LATER;
    if (s->kind > STEP_SOURCES) return relates ? ASKS_TWO : ASKS_ONE;
    return t->op != REEF_HAS ? COMES_LATER : s->single ? BINDS_ONE : BINDS_SEVERAL;
}

/* Adds the first step of those that come soonest. False: there is none. */
static bool steps_put(const query *q, bindings *b, uint64_t *done, uint32_t *bound)
{
    bind_step s;
    for (uint32_t soon = ASKS_ONE; soon < COMES_LATER; soon++)
        for (uint32_t i = 0; i < q->term_count; i++) {
            if (!q->facts[i].bound || q->terms[i].op == REEF_OPTIONAL || *done >> i & 1) continue;
            if (step_of(q, i, *bound, &s) != soon) continue;
            if (s.kind == STEP_TARGETS) *bound |= 1u << s.to;
            if (s.kind == STEP_SOURCES) *bound |= 1u << s.from;
            b->steps[b->count++] = s;
            *done |= 1ull << i;
            return true;
        }
    return false;
}

/* May the values that a step finds be kept for its chunk? The chunk has to be one block of the loop, and nothing that
 * the loop writes itself may move them. */
static bool step_keeps(const query *q, const bindings *b, const bind_step *s)
{
    const term_facts *f = &q->facts[s->term];
    if (s->kind != STEP_HAS || !f->reads || s->type->stored || b->early < b->count) return false;
    for (uint32_t i = 0; i < q->term_count; i++) {
        const term_facts *x = &q->facts[i];
        if (q->terms[i].op >= REEF_ANY_OF || x->reads) continue;
        if (x->stored || (q->terms[i].component.id == s->type->id && !x->filter) || q->terms[i].subtypes) return false;
    }
    return q->subs == NULL;
}

/* Adds the step of a join that compares what is bound by now. */
static bool compare_put(const query *q, bindings *b, uint64_t *compared, uint32_t bound)
{
    for (uint32_t k = 0; q->values && k < q->values->join_count; k++) {
        const struct value_join *j = &q->values->joins[k];
        const uint32_t slots = reef__join_slots(q, j);
        if (*compared >> k & 1 || slots & ~bound || !(slots & ~1u)) continue;
        const uint16_t term = (uint16_t)reef__test_term(q, j->test);
        b->steps[b->count++] = (bind_step){
            .kind = STEP_COMPARE, .term = term, .join = (uint8_t)k, .type = reef__type_of(q->terms[term].component.id)};
        *compared |= 1ull << k;
        return true;
    }
    return false;
}

/* Adds the step that binds a variable by its value. Mostly nothing else has to be asked about it then. */
static bool equal_put(const query *q, bindings *b, uint64_t *done, uint64_t *compared, uint32_t *bound)
{
    for (uint32_t k = 0; q->values && k < q->values->join_count; k++)
        for (uint32_t v = 1; v <= b->variables; v++) {
            uint32_t field, other;
            if (*bound >> v & 1 || !reef__join_finds(q, &q->values->joins[k], v, *bound, &field, &other)) continue;
            const uint32_t term = reef__test_term(q, field), known = reef__test_term(q, other);
            b->steps[b->count++] = (bind_step){.kind = STEP_EQUAL,
                                               .term = (uint16_t)term,
                                               .from = (uint8_t)v,
                                               .to = q->facts[known].fixed ? SLOT_TARGET : q->terms[known].variable,
                                               .join = (uint8_t)k,
                                               .field = (uint16_t)field,
                                               .other = (uint16_t)other,
                                               .type = reef__type_of(q->terms[term].component.id)};
            *bound |= 1u << v;
            if (reef__value_list_exact(q, field, other)) *compared |= 1ull << k;
            if (reef__value_list_settles(q, field)) *done |= 1ull << term;
            return true;
        }
    return false;
}

static void steps_make(const query *q, bindings *b)
{
    uint64_t done = 0, compared = 0;
    uint32_t bound = 1u << SLOT_VISITED | 1u << SLOT_TARGET;
    b->count = b->early = 0;
    while (compare_put(q, b, &compared, bound) || steps_put(q, b, &done, &bound) ||
           equal_put(q, b, &done, &compared, &bound)) {}
    while (b->early < b->count && (b->steps[b->early].kind > STEP_EQUAL || b->steps[b->early].single)) b->early++;
    b->finds = false;
    for (uint32_t i = 0; i < b->count; i++) b->finds |= b->steps[i].kind == STEP_EQUAL;
    b->ranged = b->early < b->count && b->steps[b->early].kind == STEP_EQUAL;
    b->values = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (step_keeps(q, b, &b->steps[i])) b->steps[i].values = (uint8_t)++b->values;
}

/* ---- memory ---- */

static size_t bindings_bytes(uint32_t count) { return sizeof(bindings) + count * sizeof(bind_step); }
static size_t ranges_bytes(const bindings *b) { return b->ranged ? REEF_BLOCK_ROWS * sizeof(row_range) : 0; }
static size_t run_bytes(const bindings *b)
{
    return sizeof(bind_run) + b->variables * (size_t)REEF_BLOCK_ROWS * sizeof(reef_entity) +
           b->values * (size_t)REEF_BLOCK_ROWS * sizeof(void *) + ranges_bytes(b);
}

/* Makes room for what relations lead to by way of others. */
static bool closures_ready(query *q, bind_run *run)
{
    const bindings *b = q->plan->bindings;
    memory *m = &q->world->family->memory;
    const uint32_t entities = q->world->hot.index_count + 1;
    for (uint32_t i = 0; i < b->count; i++) {
        const bind_step *s = &b->steps[i];
        closure_list *c = &run->closure[s->kind == STEP_TARGETS ? s->to : s->from];
        if (s->kind > STEP_EQUAL || !s->closure) continue;
        if (!reef__array_room(m, MEMORY_OTHER, &c->seen, &c->words, entities / 64 + 1, sizeof *c->seen) ||
            !reef__array_room(m, MEMORY_OTHER, &c->list, &c->room, entities, sizeof *c->list))
            return false;
    }
    return true;
}

static bind_run *bind_run_make(query *q)
{
    const bindings *b = q->plan->bindings;
    bind_run *run = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, run_bytes(b));
    if (run == NULL) return NULL;
    for (uint32_t v = 1; v <= b->variables; v++)
        run->lane[v] = (reef_entity *)(void *)(run + 1) + (size_t)(v - 1) * REEF_BLOCK_ROWS;
    run->values = (const void **)(void *)((reef_entity *)(void *)(run + 1) + (size_t)b->variables * REEF_BLOCK_ROWS);
    if (b->ranged) run->ranges = (row_range *)(void *)(run->values + b->values * (size_t)REEF_BLOCK_ROWS);
    return run;
}

static void bind_run_free(query *q, bind_run *run)
{
    memory *m = &q->world->family->memory;
    if (run == NULL) return;
    for (closure_list *c = run->closure; c <= &run->closure[REEF_VARIABLES_MAX]; c++) {
        reef__memory_free(m, MEMORY_OTHER, c->seen, c->words * sizeof *c->seen);
        reef__memory_free(m, MEMORY_OTHER, c->list, c->room * sizeof *c->list);
    }
    reef__memory_free(m, MEMORY_OTHER, run, run_bytes(q->plan->bindings));
}

COLD bool reef__bindings_make(query *q)
{
    uint32_t count = 0, variables = 0;
    for (uint32_t i = 0; i < q->asked_count; i++) {
        const reef_term *t = &q->asked[i];
        if (t->op >= REEF_ANY_OF || !(t->variable || t->target_variable)) continue;
        count++;
        if (t->variable > variables) variables = t->variable;
        if (t->target_variable != REEF_VISITED && t->target_variable > variables) variables = t->target_variable;
    }
    if (count == 0) return true;
    /* each join compares, and each variable may be bound by one */
    if (q->values && q->values->join_count) count += q->values->join_count + REEF_VARIABLES_MAX;
    bindings *b = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, bindings_bytes(count));
    q->plan->bindings = b;
    if (b == NULL) return false;
    b->variables = variables;
    b->room = count;
    steps_make(q, b);
    b->own = bind_run_make(q);
    return b->own != NULL;
}

COLD void reef__bindings_drop(query *q)
{
    bindings *b = q->plan->bindings;
    if (b == NULL) return;
    for (uint32_t v = 1; v <= REEF_VARIABLES_MAX; v++) reef__value_list_drop(q, &b->by_value[v]);
    for (bind_run *run = b->spare, *next; run; run = next) {
        next = run->next;
        bind_run_free(q, run);
    }
    bind_run_free(q, b->own);
    reef__row_set_drop(q->world, &b->rows);
    for (uint32_t i = 0; i < 2; i++) reef__entity_list_drop(q->world, &b->list[i]);
    reef__memory_free(&q->world->family->memory, MEMORY_OTHER, b, bindings_bytes(b->room));
    q->plan->bindings = NULL;
}

bind_run *reef__bound_open(query *q)
{
    bindings *b = q->plan->bindings;
    bind_run *run = b->spare;
    if (run) b->spare = run->next;
    else run = bind_run_make(q);
    if (run && !closures_ready(q, run)) {
        bind_run_free(q, run);
        return NULL;
    }
    if (run) run->unit = 0;
    return run;
}

void reef__bound_close(query *q, bind_run *run)
{
    if (run == NULL) return;
    run->next = q->plan->bindings->spare;
    q->plan->bindings->spare = run;
}

bool reef__bindings_look(query *q, uint64_t rows)
{
    bindings *b = q->plan->bindings;
    if (q->subs) steps_make(q, b); /* terms may have other numbers */
    if (!closures_ready(q, b->own)) return false;
    bool ready = true;
    for (uint32_t i = 0; ready && i < b->count; i++) {
        const bind_step *s = &b->steps[i];
        if (s->kind == STEP_EQUAL) ready = reef__value_list_ready(q, s->field, &b->by_value[s->from]);
    }
    return ready && reef__bind_start(q, rows);
}

void reef__bindings_let_go(const reef_world *w, const void *held)
{
    for (uint32_t i = 0; i < w->query_room; i++) {
        const query *q = w->queries[i].query;
        bindings *b = q && q->plan && !q->open ? q->plan->bindings : NULL;
        for (uint32_t v = 1; b && v <= REEF_VARIABLES_MAX; v++)
            if (b->by_value[v].held == held) reef__value_list_leave(q, &b->by_value[v]);
    }
}

/* ---- one step for one entity ---- */

/* Is the relation of a living source as the term wants it, enabled or disabled? */
static bool relation_counts(const query *q, const bind_step *s, reef_entity source)
{
    const term_facts *f = &q->facts[s->term];
    return LIKELY(!f->some_disabled && q->terms[s->term].enabled == REEF_ENABLED) ||
           reef__component_holds(q, s->term, source);
}

/* Does a relation have the values that the step's term asks for? */
static bool relation_fulfils(const query *q, const bind_step *s, const void *relation)
{
    return LIKELY(!q->facts[s->term].values) || reef__value_fulfils(q, s->term, relation);
}

/* Does the step's relation lead from an entity to itself without being there? */
static bool step_is_itself(const query *q, const bind_step *s, reef_entity e)
{
    return s->type->relation & REEF_REFLEXIVE && q->terms[s->term].enabled != REEF_DISABLED &&
           reef_is_alive(q->world, e);
}

static bool step_relates(const query *q, const bind_step *s, reef_entity from, reef_entity to)
{
    const reef_world *w = q->world;
    if (s->closure && reef_entity_equal(from, to) && step_is_itself(q, s, from)) return true;
    if (!relation_counts(q, s, from)) return false;
    if (s->closure) return reef__relation_leads(w, s->type, from, to, bit_store_of(w, s->type->id | BIT_DISABLED));
    const relation_value *v = reef__relation_find(store_of(w, s->type->id), from, to, NULL);
    return v && relation_fulfils(q, s, v);
}

static bool step_holds(const query *q, const bind_step *s, reef_entity from, reef_entity to)
{
    ASSERT(s->kind == STEP_HAS || s->kind == STEP_RELATED);
    const bool holds = s->kind == STEP_HAS ? reef__component_holds(q, s->term, from) : step_relates(q, s, from, to);
    return holds == (q->terms[s->term].op == REEF_HAS);
}

/* ---- searching ---- */

static void closure_put(closure_list *c, reef_entity e)
{
    if (c->seen[e.index / 64] >> e.index % 64 & 1) return;
    c->seen[e.index / 64] |= 1ull << e.index % 64;
    c->list[c->count++] = e;
}

/* Adds whom the relation leads to from one entity. */
static void closure_follow(const query *q, const bind_step *s, closure_list *c, reef_entity e)
{
    const value_store *store = store_of(q->world, s->type->id);
    if (s->kind == STEP_TARGETS) {
        uint32_t n;
        const relation_value *first = reef__relations_of(store, e, &n);
        for (uint32_t i = 0; i < n; i++) closure_put(c, relation_nth(store, first, i)->target);
        return;
    }
    for (source_walk x = {.run = {0}}; source_walk_next(&x, store, e);)
        for (uint32_t i = 0; i < x.run.count; i++) closure_put(c, x.run.sources[i]);
}

static void closure_begin(const query *q, const bind_step *s, closure_list *c, reef_entity start)
{
    for (uint32_t i = 0; i < c->count; i++) c->seen[c->list[i].index / 64] = 0; /* those of an earlier search */
    c->count = 0;
    if (step_is_itself(q, s, start)) closure_put(c, start);
    if (s->kind == STEP_SOURCES || relation_counts(q, s, start)) closure_follow(q, s, c, start);
}

/* The next one that a transitive or reflexive relation leads to, in the order of distance. Sources are in the list
 * whether their relation is as the term asks or not: a way may lead over them. */
static bool closure_next(const query *q, const bind_step *s, bind_cursor *at, closure_list *c, reef_entity start,
                         reef_entity *e)
{
    const bool transitive = s->type->relation & REEF_TRANSITIVE;
    const relation_path p = path_by(q->world, s->type->id);
    if (at->looked == 0) {
        closure_begin(q, s, c, start);
        at->looked = 1;
    }
    for (;;) {
        /* the numbers of the list are one behind those that were followed, since `start` was followed first */
        for (; transitive && at->next == c->count && at->looked <= c->count; at->looked++)
            if (!path_ends(&p, c->list[at->looked - 1])) closure_follow(q, s, c, c->list[at->looked - 1]);
        if (at->next == c->count) return false;
        *e = c->list[at->next++];
        const bool itself = reef_entity_equal(*e, start) && step_is_itself(q, s, start);
        if (s->kind == STEP_TARGETS || itself || relation_counts(q, s, *e)) return true;
    }
}

static bool source_next(const query *q, const bind_step *s, bind_cursor *at, reef_entity target, reef_entity *e)
{
    const value_store *store = store_of(q->world, s->type->id);
    source_run run;
    source_one one;
    while (reef__relation_after(store, target, at->place, at->last, &one, &run)) {
        at->place = run.places[0];
        *e = at->last = run.sources[0];
        if (LIKELY(!q->facts[s->term].values) ||
            reef__value_fulfils(q, s->term, reef__relation_find(store, *e, target, NULL)))
            return true;
    }
    return false;
}

static bool target_next(const query *q, const bind_step *s, bind_cursor *at, reef_entity source, reef_entity *e)
{
    const value_store *store = store_of(q->world, s->type->id);
    uint32_t n;
    const relation_value *first = reef__relations_of(store, source, &n);
    while (at->next < n) {
        const relation_value *v = relation_nth(store, first, at->next++);
        *e = v->target;
        if (relation_fulfils(q, s, v)) return true;
    }
    return false;
}

/* The next entity that has the value. */
static bool equal_next(const query *q, const bind_step *s, bind_cursor *at, bind_search *x, bind_run *run)
{
    const bindings *b = q->plan->bindings;
    if (at->next == 0) {
        const bool known = run->ranges && s == &b->steps[b->early];
        at->range =
            known ? run->ranges[run->row_at] : reef__value_list_ask(q, &b->by_value[s->from], s->other, x->bound);
        at->next = 1;
    }
    const order_row *r = range_next(&at->range);
    if (r) x->bound[s->from] = (reef_entity){r->index, r->row};
    return r != NULL;
}

/* Binds the next entity of a step. False: there is none. */
static bool step_bind(const query *q, const bind_step *s, bind_search *x, bind_run *run)
{
    const bool targets = s->kind == STEP_TARGETS;
    const uint32_t v = targets ? s->to : s->from;
    const reef_entity start = x->bound[targets ? s->from : s->to];
    bind_cursor *at = &x->cursor[v];
    if (s->kind == STEP_EQUAL) return equal_next(q, s, at, x, run);
    if (s->closure) return closure_next(q, s, at, &run->closure[v], start, &x->bound[v]);
    if (targets) return relation_counts(q, s, start) && target_next(q, s, at, start, &x->bound[v]);
    while (source_next(q, s, at, start, &x->bound[v]))
        if (relation_counts(q, s, x->bound[v])) return true;
    return false;
}

static reef_entity slot_entity_of(const query *q, const bind_search *x, uint32_t slot, uint32_t term)
{
    return slot == SLOT_TARGET ? q->terms[term].target : x->bound[slot];
}

/* Finds the first binding from step `first` on, or with `again` the next one. False: there is none. */
static bool search_next(const query *q, bind_search *x, bind_run *run, uint32_t first, bool again)
{
    const bindings *b = q->plan->bindings;
    uint32_t at = again ? b->count : first;
    for (;;) {
        while (again) { /* back to the last step that may bind another one */
            if (at == first) return false;
            const bind_step *s = &b->steps[--at];
            again = s->kind > STEP_EQUAL || !step_bind(q, s, x, run);
            at += !again;
        }
        if (at == b->count) return true;
        const bind_step *s = &b->steps[at];
        if (s->kind <= STEP_EQUAL) {
            x->cursor[s->kind == STEP_TARGETS ? s->to : s->from] = (bind_cursor){.place = 0};
            again = !step_bind(q, s, x, run);
        } else if (s->kind == STEP_COMPARE) {
            again = !reef__join_holds(q, &q->values->joins[s->join], x->bound);
        } else {
            again = !step_holds(q, s, slot_entity_of(q, x, s->from, s->term), slot_entity_of(q, x, s->to, s->term));
        }
        at += !again;
    }
}

/* ---- all rows at once ---- */

typedef struct early_rows {
    const query *q;
    const bind_step *s;
    const reef_entity *from, *to; /* by row; `to` NULL: the term's target */
    reef_entity *bind;
    const void **values; /* NULL: they aren't kept */
    uint64_t *words;
    uint32_t first, end, unit;
} early_rows;

#define EACH_EARLY_ROW(x, k, word, row) \
    for (uint32_t k = (x)->first; k < (x)->end; k++) \
        for (uint64_t word = (x)->words[k], row; word && (row = k * 64 + bits_first(word), true); word &= word - 1)

/* Of rows that have an exclusive relation, which lies in a page by the index of its source: the bits of the rows say
 * that it is there, so that nothing else is asked. */
static void early_targets_visited(const early_rows *x)
{
    const value_store *s = store_of(x->q->world, x->s->type->id);
    const uint64_t *on = bit_words(bit_store_of(x->q->world, x->s->type->id), x->unit);
    const uint32_t size = s->size, bits = s->bits, mask = slot_mask(s);
    uint32_t page = UINT32_MAX;
    const char *values = NULL;
    for (uint32_t k = x->first; k < x->end; k++) {
        uint64_t word = x->words[k] &= on ? on[k] : 0;
        for (uint32_t row = k * 64, all = word == ~0ull; word; row++) {
            if (!all) row = k * 64 + bits_first(word);
            const uint32_t index = x->from[row].index;
            if (UNLIKELY(index >> bits != page)) {
                page = index >> bits;
                values = (const char *)s->values.page[page] + s->offset;
            }
            memcpy(&x->bind[row], values + (size_t)(index & mask) * size, sizeof *x->bind);
            word &= word - 1;
        }
    }
}

static void early_targets(const early_rows *x)
{
    const value_store *s = store_of(x->q->world, x->s->type->id);
    const reef_store_way way = reef_store_way_to(s, true); /* exclusive relations are paged */
    const term_facts *f = &x->q->facts[x->s->term];
    const bool plain = !f->some_disabled && !f->values && x->q->terms[x->s->term].enabled == REEF_ENABLED;
    const uint32_t size = s->size;
    uint32_t page;
    if (plain && x->s->from == SLOT_VISITED) {
        early_targets_visited(x);
        return;
    }
    EACH_EARLY_ROW(x, k, word, row)
    {
        const relation_value *v = reef_store_at(&way, x->from[row], size, true, &page);
        if (LIKELY(v && (plain ||
                         (reef__component_holds(x->q, x->s->term, x->from[row]) && relation_fulfils(x->q, x->s, v)))))
            x->bind[row] = v->target;
        else x->words[k] &= ~(word & (0 - word));
    }
}

/* Has the entity a column? By the component's index of blocks (src/storage/block_index.h), which says it without a look
 * at chunk and table. (Row query_join took 1.5 times as long by these: which table comes next is anybody's guess.)
 * `wanted` is a constant, and whether there are `values`. */
INLINE void early_has_indexed(const early_rows *x, bool wanted, const void **values)
{
    const reef_world *w = x->q->world;
    void *const *records = w->hot.records.page, **blocks = index_blocks(block_index_of(w, x->s->type->id));
    const uint32_t count = w->hot.index_count, size = (uint32_t)x->s->type->size;
    const reef_entity *from = x->from;
    for (uint32_t k = x->first; k < x->end; k++) {
        uint64_t word = x->words[k], kept = word;
        const bool all = word == ~0ull;
        if (values && !all) memset(values + k * 64, 0, 64 * sizeof *values);
        for (uint32_t row = k * 64; word; word &= word - 1, row++) {
            uint32_t place;
            if (!all) row = k * 64 + bits_first(word);
            if (UNLIKELY(from[row].index >= count || !reef_place_in(records, from[row], &place))) place = PLACE_DEAD;
            const char *block = REEF_DEPENDENT(&blocks[place_unit(place)]);
            if (values) values[row] = block ? block + (size_t)place_row(place) * size : NULL;
            kept ^= (uint64_t)((block != NULL) != wanted) << row % 64; /* no branch by what it is */
        }
        x->words[k] = kept;
    }
}

/* Has the entity a component of the table? The table that was looked at last mostly says so without a search. */
static void early_has(const early_rows *x)
{
    const reef_world *w = x->q->world;
    const reef_term *t = &x->q->terms[x->s->term];
    const bool wanted = t->op == REEF_HAS;
    const size_t size = x->s->type->size;
    uint32_t table_id = UINT32_MAX, slot = 0;
    const term_facts *f = &x->q->facts[x->s->term];
    const bool plain =
        !(x->s->type->stored || x->s->type->bit || f->some_disabled || f->values) && t->enabled == REEF_ENABLED;
    if (plain && type_column(x->s->type)) {
        if (block_index_of(w, x->s->type->id)->room) {
            if (!wanted) early_has_indexed(x, false, NULL);
            else if (x->values) early_has_indexed(x, true, x->values);
            else early_has_indexed(x, true, NULL);
            return;
        }
        for (uint32_t k = x->first; k < x->end; k++) reef__block_index_ask(w, x->s->type->id);
    }
    if (x->values) memset(x->values + x->first * 64, 0, (x->end - x->first) * 64 * sizeof *x->values);
    if (!plain) {
        EACH_EARLY_ROW(x, k, word, row)
        {
            if (reef__component_holds(x->q, x->s->term, x->from[row]) != wanted) x->words[k] &= ~(word & (0 - word));
            else if (x->values) x->values[row] = reef__value_itself(w, x->from[row], t->component);
        }
        return;
    }
    for (uint32_t k = x->first; k < x->end; k++) {
        uint64_t kept = 0;
        for (uint64_t word = x->words[k]; word; word &= word - 1) {
            const uint32_t row = k * 64 + bits_first(word), place = place_of(w, x->from[row]);
            const reef_slot *slots = reef_slots_at(&w->hot, place);
            const uint32_t id = slots[0].head.table;
            if (UNLIKELY(id != table_id)) table_id = id, slot = slot_find(w, x->s->type->id, id);
            const bool holds = (slot != 0 && place != PLACE_DEAD) == wanted;
            kept |= holds ? word & (0 - word) : 0;
            if (x->values && holds) x->values[row] = (const char *)slots[slot].block + place_row(place) * size;
        }
        x->words[k] = kept;
    }
}

static void early_related(const early_rows *x)
{
    const reef_entity target = x->q->terms[x->s->term].target;
    EACH_EARLY_ROW(x, k, word, row)
    if (!step_holds(x->q, x->s, x->from[row], x->to ? x->to[row] : target)) x->words[k] &= ~(word & (0 - word));
}

static void search_begin(const bindings *b, const bind_run *run, const reef_entity *entities, uint32_t row,
                         bind_search *x)
{
    x->bound[SLOT_VISITED] = entities[row];
    for (uint32_t v = 1; v <= b->variables; v++) x->bound[v] = run->lane[v][row];
}

/* The join of a step, of rows whose variables are in the lanes. */
static void early_compare(const early_rows *x, const bind_run *run, const reef_entity *entities)
{
    const struct value_join *j = &x->q->values->joins[x->s->join];
    bind_search at;
    EACH_EARLY_ROW(x, k, word, row)
    {
        search_begin(x->q->plan->bindings, run, entities, (uint32_t)row, &at);
        if (!reef__join_holds(x->q, j, at.bound)) x->words[k] &= ~(word & (0 - word));
    }
}

static bool any_row(const uint64_t *words, uint32_t first, uint32_t end)
{
    uint64_t any = 0;
    for (uint32_t k = first; k < end; k++) any |= words[k];
    return any != 0;
}

static void search_put(const bindings *b, const bind_search *x, bind_run *run, uint32_t row)
{
    for (uint32_t v = 1; v <= b->variables; v++) run->lane[v][row] = x->bound[v];
}

/* The same where the ranges say who is bound, since there is no other step. */
static NOINLINE void ranges_rows(const bindings *b, bind_run *run, uint64_t *words, uint32_t first, uint32_t end)
{
    reef_entity *lane = run->lane[b->steps[b->early].from];
    for (uint32_t k = first; k < end; k++) {
        uint64_t several = 0;
        for (uint64_t word = words[k]; word; word &= word - 1) {
            const uint32_t row = k * 64 + bits_first(word);
            row_range r = run->ranges[row];
            const order_row *one = range_next(&r);
            if (one) lane[row] = (reef_entity){one->index, one->row};
            else words[k] &= ~(word & (0 - word));
            if (one && range_next(&r)) several |= word & (0 - word);
        }
        run->several[k] |= several & words[k];
    }
}

/* The steps from `early` on, for each row that is left. */
static void late_rows(const look *l, bindings *b, bind_run *run, uint64_t *words, uint32_t first, uint32_t end)
{
    bind_search x;
    for (uint32_t k = first; k < end; k++)
        for (uint64_t word = words[k]; word; word &= word - 1) {
            const uint32_t row = k * 64 + bits_first(word);
            const uint64_t bit = word & (0 - word);
            search_begin(b, run, l->entities, row, &x);
            run->row_at = row;
            if (!search_next(l->q, &x, run, b->early, false)) {
                words[k] &= ~bit;
            } else if (b->now) {
                search_put(b, &x, run, row);
                if (search_next(l->q, &x, run, b->early, true)) run->several[k] |= bit;
            }
        }
}

/* By row, the entities that a step speaks of. NULL: always the target of its term. */
static const reef_entity *lane_of(const look *l, const bind_run *run, uint32_t slot)
{
    if (slot == SLOT_TARGET) return NULL;
    return slot == SLOT_VISITED ? l->entities : run->lane[slot];
}

void reef__bound_rows(const look *l, uint64_t *words, uint32_t first, uint32_t end)
{
    const query *q = l->q;
    bindings *b = q->plan->bindings;
    bind_run *run = b->now ? b->now : b->own;
    if (b->started) rows_keep(words, row_set_words(&b->rows, l->unit), first, end);
    for (uint32_t i = 0; i < b->early && any_row(words, first, end); i++) {
        const bind_step *s = &b->steps[i];
        const reef_entity *from = lane_of(l, run, s->from), *to = lane_of(l, run, s->to);
        reef_entity *bind = run->lane[s->kind == STEP_TARGETS ? s->to : 0];
        const void **values = s->values ? run->values + (size_t)(s->values - 1) * REEF_BLOCK_ROWS : NULL;
        const early_rows x = {q, s, from, to, bind, values, words, first, end, l->unit};
        if (s->kind == STEP_TARGETS) early_targets(&x);
        else if (s->kind == STEP_HAS) early_has(&x);
        else if (s->kind == STEP_COMPARE) early_compare(&x, run, l->entities);
        else early_related(&x);
    }
    if (run->ranges && b->early < b->count) {
        const bind_step *s = &b->steps[b->early];
        const reef_entity *from = s->to == SLOT_TARGET || s->to == SLOT_VISITED ? NULL : run->lane[s->to];
        reef__value_list_look(l, &b->by_value[s->from], s->other, from, words, first, end, run->ranges);
    }
    if (run->ranges && b->early + 1 == b->count) ranges_rows(b, run, words, first, end);
    else if (b->early < b->count) late_rows(l, b, run, words, first, end);
}

/* ---- loops ---- */

const void **reef__bound_values(const reef_block *b, uint32_t i)
{
    const bindings *x = b->loop.query->plan->bindings;
    for (uint32_t k = 0; x && b->loop.bound && k < x->count; k++)
        if (x->steps[k].term == i && x->steps[k].values)
            return b->loop.bound->values + (size_t)(x->steps[k].values - 1) * REEF_BLOCK_ROWS;
    return NULL;
}

/* The next rows of the chunk: those with one binding up to the first with several. */
static void segment_take(bind_run *run, uint64_t *words)
{
    uint32_t k = 0;
    memset(words, 0, BIT_WORDS * sizeof *words);
    for (; k < BIT_WORDS && (run->rows[k] & run->several[k]) == 0; k++) {
        words[k] = run->rows[k];
        run->rows[k] = 0;
    }
    if (k == BIT_WORDS) return;
    const uint64_t stop = run->rows[k] & run->several[k], below = (stop & (0 - stop)) - 1;
    words[k] = run->rows[k] & below;
    run->rows[k] &= ~below;
}

/* The next binding of a row with several. */
static bool several_take(const query *q, bind_run *run, const reef_block *b, uint64_t *words)
{
    const bindings *x = q->plan->bindings;
    bool found;
    if (run->row == REEF_BLOCK_ROWS) {
        uint32_t k = 0;
        while (k < BIT_WORDS && run->rows[k] == 0) k++;
        if (k == BIT_WORDS) return false;
        run->row = k * 64 + bits_first(run->rows[k]);
        if (!(run->several[k] >> run->row % 64 & 1)) return run->row = REEF_BLOCK_ROWS, false;
        run->rows[k] &= run->rows[k] - 1;
        search_begin(x, run, b->entities, run->row, &run->search);
        run->row_at = run->row;
        found = search_next(q, &run->search, run, x->early, false);
        ASSERT(found);
    } else {
        found = search_next(q, &run->search, run, x->early, true);
    }
    if (!found) return run->row = REEF_BLOCK_ROWS, false;
    search_put(x, &run->search, run, run->row);
    memset(words, 0, BIT_WORDS * sizeof *words);
    words[run->row / 64] = 1ull << run->row % 64;
    return true;
}

bool reef__bound_look(reef_block *b, const query *q)
{
    bindings *x = q->plan->bindings;
    bind_run *run = b->loop.bound;
    if (run->unit != b->loop.unit) {
        const look l = block_look(b);
        memset(run->several, 0, sizeof run->several);
        run->row = REEF_BLOCK_ROWS;
        x->now = run;
        const bool any = reef__look_rows(&l, run->rows, 0, BIT_WORDS);
        x->now = NULL;
        if (!any) return false;
    }
    run->unit = 0;
    if (!several_take(q, run, b, b->loop.mask_words)) {
        if (!any_row(run->rows, 0, BIT_WORDS)) return false;
        segment_take(run, b->loop.mask_words);
        if (!any_row(b->loop.mask_words, 0, BIT_WORDS) && !several_take(q, run, b, b->loop.mask_words)) return false;
    }
    if (run->row != REEF_BLOCK_ROWS || any_row(run->rows, 0, BIT_WORDS)) {
        run->unit = b->loop.unit;
        b->loop.walk_unit = b->loop.unit; /* the loop comes to this chunk once more */
    }
    if (rows_in(b->loop.mask_words) != b->count) b->loop.mask = b->loop.mask_words;
    return true;
}
