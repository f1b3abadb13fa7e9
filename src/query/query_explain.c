/* Says in plain text what a loop over a query would walk: the query, how its tables are found, which terms decide by
 * row, the order, and each table. */
#include "base/text_out.h"
#include "storage/archetype.h"
#include "storage/place.h"
#include "query/chunk_cursor.h"
#include "query/near_term.h"
#include "query/query.h"
#include "query/query_answers.h"
#include "query/query_text.h"
#include "query/relation_order.h"
#include "query/relation_plan.h"
#include "query/sorted_query.h"
#include "query/value_join.h"
#include "query/value_term.h"
#include "query/variables.h"
#include <inttypes.h>
#include <stdio.h>

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

static const char *type_text(uint32_t component) { return reef__type_of(component)->name; }

static const char *home_constant(reef_home home)
{
    static const char *const text[] = {"REEF_TABLE", "REEF_BIT",   "REEF_SPARSE", "REEF_PAGED",
                                       "REEF_COLD",  "REEF_MULTI", "REEF_SHARED", "REEF_SPLIT"};
    return text[home];
}

/* Counts the tables of this world that have rows, and those of them that have a type (0: none). What other worlds of
 * the family, or abandoned futures, have made or emptied doesn't show. */
static uint32_t tables_in_use(const reef_world *w, uint32_t component, uint32_t *with)
{
    uint32_t count = 0;
    *with = 0;
    for (uint32_t id = TABLE_EMPTY; id < w->state.tables.count * TABLES_PER_PAGE; id++) {
        const table *t = table_read(w, id);
        if (t == NULL || table_rows(t) == 0) continue;
        count++;
        for (uint32_t i = 0; i < t->shape->component_count; i++) *with += t->shape->component[i] == component;
    }
    return count;
}

/* Says which tables are candidates, and why. */
static void explain_tables(text_out *o, const query *q)
{
    uint64_t blocks = 0, rows = 0;
    uint32_t with, walked = 0;
    for (chunk_cursor c = {.q = q}; chunk_next(&c); rows += c.rows, blocks++) walked += c.unit == c.match->table->first;
    uint32_t known = tables_in_use(q->world, 0, &with), rare = 0;
    for (uint32_t i = 0, n; i < q->asked_count; i++) {
        if (!reef__asked_of_all(q, i)) continue;
        known = tables_in_use(q->world, q->asked[i].component.id, &n);
        if (rare == 0 || n < with) rare = q->asked[i].component.id, with = n;
    }
    reef__text_put(o,
                   "walks %" PRIu32 " of %" PRIu32 " table%s in the order of their type names, %" PRIu64
                   " block%s, %" PRIu64 " row%s\n",
                   walked, known, plural(known), blocks, plural(blocks), rows, plural(rows));
    if (rare)
        reef__text_put(o,
                       "tables are found by %s, the rarest type that all of them have: %" PRIu32
                       "; a new table without it costs nothing\n",
                       type_text(rare), with);
    else reef__text_put(o, "no component is in all of them, so each new table is looked at once\n");
}

static void put_entity(text_out *o, const query *q, reef_entity e)
{
    const char *name = reef_name(q->world, e);
    reef__text_put(o, "entity %" PRIu32 "v%" PRIu32, e.index, e.generation);
    if (name) reef__text_put(o, " \"%s\"", name);
}

/* Says how the rows are found that a relation decides about. */
static void explain_target(text_out *o, const query *q, uint32_t i)
{
    const reef_term *t = &q->terms[i];
    const bool no = t->op == REEF_NOT;
    const term_sources *x = NULL;
    const char *name = t->component.id ? type_text(t->component.id) : "any relation";
    uint64_t collected = 0;
    if (q->facts[i].up) {
        reef__text_put(o, "looks at rows: walks up %s%s to the nearest entity %s%s%s%s\n", type_text(t->up.id),
                       t->self ? " from the row itself" : "", t->component.id ? "with " : "that is disabled",
                       t->component.id ? name : "", no ? ", which mustn't be there" : "",
                       reef__ancestors_kept(q, i) ? "; ways up are long, so each entity's answer is kept" : "");
        return;
    }
    for (uint32_t n = 0; n < q->plan->count; n++)
        if (q->plan->terms[n].term == i) x = &q->plan->terms[n];
    if (x == NULL) return;
    for (uint32_t n = 0; n < x->rows.count; n++) collected += rows_in(x->rows.words[n]);
    if (x->used) {
        reef__text_put(o, "marks the %" PRIu64 " row%s from which %s leads to ", collected, plural(collected), name);
        put_entity(o, q, t->target);
        reef__text_put(o, ", by the %" PRIu64 " source%s in its index%s\n", x->sources, plural(x->sources),
                       no ? "; they don't match" : "");
    } else {
        reef__text_put(o, "looks at rows: %s %s lead to ", name, no ? "mustn't" : "has to");
        put_entity(o, q, t->target);
        reef__text_put(o, ", which has %" PRIu64 " source%s\n", x->sources, plural(x->sources));
    }
}

/* ---- variables ---- */

static const char *slot_text(const query *q, uint32_t slot, char *text, size_t size)
{
    if (slot == SLOT_VISITED) return "the row";
    if (slot == SLOT_TARGET) return "the target";
    if (q->plan->names[slot - 1][0]) snprintf(text, size, "$%s", q->plan->names[slot - 1]);
    else snprintf(text, size, "$%" PRIu32, slot);
    return text;
}

/* How many rows are left behind the first `steps` steps. */
static uint64_t rows_left(const query *q, uint32_t steps)
{
    bindings *b = q->plan->bindings;
    const uint32_t count = b->count, early = b->early;
    b->count = steps;
    b->early = early < steps ? early : steps;
    const uint64_t rows = reef__query_count(q);
    b->count = count;
    b->early = early;
    return rows;
}

/* Says by which values a variable is bound, and where they are found. */
static void explain_equal(text_out *o, const query *q, const bind_step *s)
{
    const value_list *l = &q->plan->bindings->by_value[s->from];
    const char *field = q->values->conditions[s->field].field;
    char text[REEF_VARIABLE_NAME_MAX + 2];
    reef__text_put(o, "%s: each entity with ", slot_text(q, s->from, text, sizeof text));
    reef__join_write(o, q, &q->values->joins[s->join]);
    if (l->held) reef__text_put(o, ", by the index of %s", field);
    else
        reef__text_put(o, ", by a list of %" PRIu32 " value%s of %s that each loop makes: there is no index of it",
                       l->count, plural(l->count), field);
}

static void explain_step(text_out *o, const query *q, const bind_step *s)
{
    char a[REEF_VARIABLE_NAME_MAX + 2], b[REEF_VARIABLE_NAME_MAX + 2];
    const char *from = slot_text(q, s->from, a, sizeof a), *to = slot_text(q, s->to, b, sizeof b);
    const bool no = q->terms[s->term].op == REEF_NOT;
    const reef_entity target = q->terms[s->term].target;
    if (s->to == SLOT_TARGET) {
        snprintf(b, sizeof b, "entity %" PRIu32 "v%" PRIu32, target.index, target.generation);
        to = b;
    }
    switch (s->kind) {
    case STEP_TARGETS:
        reef__text_put(o, "%s: %s of %s of %s", to, s->single ? "the target" : "each target", s->type->name, from);
        break;
    case STEP_SOURCES: reef__text_put(o, "%s: each source of %s to %s, by its index", from, s->type->name, to); break;
    case STEP_RELATED:
        reef__text_put(o, "%s %s related to %s by %s", from, no ? "isn't" : "is", to, s->type->name);
        break;
    case STEP_HAS: reef__text_put(o, "%s has %s%s", from, no ? "no " : "", s->type->name); break;
    case STEP_EQUAL: explain_equal(o, q, s); break;
    case STEP_COMPARE: reef__join_write(o, q, &q->values->joins[s->join]); break;
    }
}

/* Says in which order the terms with variables are asked. */
static void explain_variables(text_out *o, const query *q)
{
    const bindings *b = q->plan->bindings;
    char text[REEF_VARIABLE_NAME_MAX + 2];
    uint64_t collected = 0;
    for (uint32_t n = 0; b->started && n < b->rows.count; n++) collected += rows_in(b->rows.words[n]);
    if (b->started)
        reef__text_put(o,
                       "begins with %s of %s: %" PRIu64 " entit%s, from which relations lead to %" PRIu64
                       " row%s; these are marked\n",
                       type_text(q->terms[b->start].component.id),
                       slot_text(q, q->terms[b->start].variable, text, sizeof text), b->begins,
                       b->begins == 1 ? "y" : "ies", collected, plural(collected));
    for (uint32_t i = 0; i < b->count; i++) {
        reef__text_put(o, "step %" PRIu32 "%s: ", i + 1,
                       i < b->early ? ", all rows of a block at once" : ", row by row");
        explain_step(o, q, &b->steps[i]);
        const uint64_t left = rows_left(q, i + 1);
        reef__text_put(o, "; leaves %" PRIu64 " row%s\n", left, plural(left));
    }
}

/* Says which values are compared, and of how many rows. */
static void explain_values(text_out *o, const query *q, uint32_t i)
{
    const reef_term *t = &q->terms[i];
    const type *x = reef__type_of(t->component.id);
    uint64_t rows = 0;
    for (chunk_cursor c = {.q = q}; chunk_next(&c);)
        rows += x->stored || t->up.id || slot_find(q->world, x->id, c.match->id) ? c.rows : 0;
    const bool marked = marks_hold(q) && q->values->marks.term == i;
    if (q->facts[i].fixed) reef__text_put(o, "looks at one value: %s(", x->name);
    else if (marked)
        reef__text_put(o, "looks at the values of %" PRIu64 " row%s, found by the index of %s: %s(",
                       q->values->marks.found, plural(q->values->marks.found), q->values->marks.field, x->name);
    else reef__text_put(o, "looks at the values of %" PRIu64 " row%s: %s(", rows, plural(rows), x->name);
    for (uint32_t k = 0; k < t->count; k++) {
        if (k) reef__text_put(o, ", ");
        /* (of a term with a plus, the type that was named: a subtype may call the field otherwise) */
        reef__condition_write(o, q->world, reef__type_of(term_tests(q, i)[k].component), &t->conditions[k]);
    }
    const bool together = !marked && !x->stored && !q->facts[i].target && !q->facts[i].fixed;
    reef__text_put(o, together ? "), 64 rows at a time\n" : ")\n");
}

/* Says which fields of a row are compared with one another. */
static void explain_joins(text_out *o, const query *q)
{
    for (uint32_t i = 0; q->values && i < q->values->join_count; i++) {
        if (reef__join_slots(q, &q->values->joins[i]) & ~1u) continue;
        reef__text_put(o, "compares fields of each row that is left: ");
        reef__join_write(o, q, &q->values->joins[i]);
        reef__text_put(o, "\n");
    }
}

/* Says which terms depend on more than a table's types. */
static void explain_rows(text_out *o, const query *q)
{
    if (q->disabled_entities || q->entities == REEF_DISABLED)
        reef__text_put(o, "looks at rows: entities that are disabled %s\n",
                       q->entities == REEF_ENABLED    ? "are skipped"
                       : q->entities == REEF_DISABLED ? "are wanted"
                                                      : "count as others");
    for (uint32_t i = 0; i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        const term_facts *f = &q->facts[i];
        if (t->op >= REEF_ANY_OF) continue;
        if (f->target) {
            if (!f->bound && t->op != REEF_OPTIONAL) explain_target(o, q, i);
        } else if (f->fixed)
            reef__text_put(o, "%s of entity %" PRIu32 "v%" PRIu32 " decides for all rows\n", type_text(t->component.id),
                           t->source.index, t->source.generation);
        else if (f->bit && t->op != REEF_OPTIONAL)
            reef__text_put(o, "looks at rows: %s is a %s, 64 rows at a time\n", type_text(t->component.id),
                           reef__type_of(t->component.id)->stored ? "bit of the row" : "switch");
        else if (f->cold && t->op != REEF_OPTIONAL)
            reef__text_put(o, "looks at rows: %s is cold, and looked up row by row\n", type_text(t->component.id));
        else if (f->some_disabled && t->enabled != REEF_EITHER && t->op != REEF_OPTIONAL)
            reef__text_put(o, "looks at rows: %s is disabled somewhere, 64 rows at a time\n",
                           type_text(t->component.id));
        const type *x = reef__type_of(t->component.id);
        if (f->values) explain_values(o, q, i);
        if (f->near) reef__near_explain(o, q);
        const char *what = x && x->tracked ? "rows" : x && x->stored ? "pages" : "blocks";
        if (t->since == REEF_IF_CHANGED)
            reef__text_put(o, "looks at %s: %s was written since the last run\n", what, type_text(t->component.id));
        if (f->stored)
            reef__text_put(o, "cuts blocks where the values of %s don't lie side by side: their home is %s\n",
                           type_text(t->component.id), home_constant(reef__type_of(t->component.id)->home));
        if (t->since == REEF_IF_ADDED)
            reef__text_put(o, "looks at rows: %s was added since the last run\n", type_text(t->component.id));
    }
}

static void explain_order(text_out *o, const query *q)
{
    const ordering *by = reef__ranking_order(q->ranking);
    const uint32_t component = order_component(by);
    if (by->relation)
        reef__text_put(o, "visits rows by their %s %s, from a list that is made anew when rows or relations changed\n",
                       relation_is_tree(by->relation) ? "depth in" : "targets in", type_text(component));
    else
        reef__text_put(o, "visits rows in the order of %s%s, from a list that is repaired where blocks changed\n",
                       component ? type_text(component) : "entities", by->flip ? ", descending" : "");
}

static void explain_match(text_out *o, const query *q, uint32_t number, const match *m)
{
    const shape *s = shape_of(q->world->family, m->id);
    const uint64_t rows = table_rows(m->table);
    const uint32_t blocks = m->table->chunks;
    reef__text_put(o, "%" PRIu32 ". [", number);
    for (uint32_t i = 0; i < s->component_count; i++)
        reef__text_put(o, "%s%s", i ? ", " : "", type_text(s->component[i]));
    reef__text_put(o, "]: %" PRIu64 " row%s in %" PRIu32 " block%s%s\n", rows, plural(rows), blocks, plural(blocks),
                   m->look ? ", some may match" : ", all match");
}

COLD size_t reef_query_explain(reef_world *w, reef_query which, char *text, size_t size)
{
    text_out o = {text, text ? size : 0, 0};
    const query *q = reef__query_ask(w, "reef_query_explain", which);
    if (o.size) text[0] = 0;
    if (q == NULL) return 0;
    reef__text_put(&o, "query \"");
    reef__query_text_write(&o, w, q->asked, q->asked_count, q->entities, reef__query_cascade(q), reef__query_names(q));
    reef__text_put(&o, "\"\n");
    explain_tables(&o, q);
    explain_rows(&o, q);
    explain_joins(&o, q);
    if (q->plan && q->plan->bindings) explain_variables(&o, q);
    if (q->ranking) explain_order(&o, q);
    for (uint32_t i = 0, number = 0; i < q->match_count; i++)
        if (table_rows(match_at(q, i)->table)) explain_match(&o, q, ++number, match_at(q, i));
    const uint64_t matching = reef_query_count(w, which);
    reef__text_put(&o, "%" PRIu64 " entit%s match\n", matching, matching == 1 ? "y" : "ies");
    return o.length;
}
