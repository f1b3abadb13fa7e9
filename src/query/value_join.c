/* Joins by values (src/query/value_join.h). */
#include "query/value_join.h"
#include "type/names.h"
#include "storage/archetype.h"
#include "storage/entity_index.h"
#include "storage/place.h"
#include "storage/read.h"
#include "storage/row_bits.h"
#include "query/query.h"
#include "query/value_term.h"
#include "reef/condition.h"
#include "reef/prefab.h"
#include "reef/relation.h"
#include <stdio.h>
#include <string.h>

/* ---- what makes sense ---- */

/* Which of the two literals of a condition names a value or a parameter? NULL: it has another literal. */
static const char *side_name(const reef_condition *c, uint32_t side)
{
    const reef_literal *l = side ? &c->last : &c->value;
    return l->kind == 0 && (side == 0 || c->compare == REEF_WITHIN) ? l->text : NULL;
}

/* The condition that gives a value this name, and its term. NULL: none does, so it is a parameter. */
static const reef_condition *as_named(const query_text *l, const char *name, uint32_t *term)
{
    for (*term = 0; *term < l->count; ++*term) {
        const reef_term *t = &l->term[*term];
        for (uint32_t k = 0; k < term_conditions(t); k++)
            if (t->conditions[k].compare == REEF_AS && strcmp(t->conditions[k].value.text, name) == 0)
                return &t->conditions[k];
    }
    return NULL;
}

/* Why a term can't take part in a join; NULL: it can. */
static const char *join_term_wrong(const reef_term *t, const term_facts *f)
{
    const type *x = reef__type_of(t->component.id);
    if (t->op != REEF_HAS || !f->top) return "can't stand behind '!' or in a group";
    if (t->up.id || t->subtypes || t->each) return "can't be of a term with 'up', '+' or 'each'";
    if (x->home == REEF_MULTI) return "can't be one of several values (REEF_MULTI)";
    return NULL;
}

static bool kinds_compare(reef_kind a, reef_kind b)
{
    return a == b || (kind_floats(a) && kind_floats(b)) || (kind_is_whole(a) && kind_is_whole(b));
}

/* The same for a condition that compares with a value. */
static const char *join_wrong(const query_text *l, const term_facts *facts, uint32_t i, const reef_condition *c,
                              const char *name, char *detail, size_t size)
{
    uint32_t named, offset, bytes;
    const reef_condition *as = as_named(l, name, &named);
    if (as == NULL) return NULL;
    const char *why = join_term_wrong(&l->term[i], &facts[i]);
    if (why) return snprintf(detail, size, "what is compared with $%s %s", name, why), detail;
    const reef_field *f = reef__condition_field(reef__type_of(l->term[i].component.id), c->field, &offset, &bytes);
    const reef_field *g = reef__condition_field(reef__type_of(l->term[named].component.id), as->field, &offset, &bytes);
    if (kinds_compare(f->kind, g->kind)) return NULL;
    snprintf(detail, size, "%.60s is %s, which can't be compared with $%s, which is %s", f->name,
             reef__kind_name(f->kind), name, reef__kind_name(g->kind));
    return detail;
}

COLD uint32_t reef__joins_check(const query_text *l, const term_facts *facts, char *detail, size_t size)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const reef_term *t = &l->term[i];
        for (uint32_t k = 0; k < term_conditions(t); k++) {
            const reef_condition *c = &t->conditions[k];
            uint32_t named;
            if (c->compare == REEF_AS) {
                const char *why = join_term_wrong(t, &facts[i]);
                const bool twice = as_named(l, c->value.text, &named) != c;
                if (twice) why = "is given to two values";
                if (why) return snprintf(detail, size, "the name $%s %s", c->value.text, why), i;
                continue;
            }
            for (uint32_t side = 0; side < 2; side++) {
                const char *name = side_name(c, side);
                if (name && join_wrong(l, facts, i, c, name, detail, size)) return i;
            }
        }
    }
    return REEF_TERMS_MAX;
}

COLD uint32_t reef__joins_bind(const query_text *l, const term_facts *facts, uint32_t bound)
{
    for (uint32_t i = 0; i < l->count; i++)
        for (uint32_t k = 0; k < term_conditions(&l->term[i]); k++) {
            const reef_condition *c = &l->term[i].conditions[k];
            const char *name = c->compare == REEF_EQUAL ? side_name(c, 0) : NULL;
            uint32_t named;
            if (name == NULL || as_named(l, name, &named) == NULL || !facts[i].top) continue;
            const uint32_t a = 1u << l->term[i].variable, b = 1u << l->term[named].variable;
            if ((facts[i].fixed || bound & a) && l->term[named].enabled == REEF_ENABLED) bound |= b;
            if ((facts[named].fixed || bound & b) && l->term[i].enabled == REEF_ENABLED) bound |= a;
        }
    return bound;
}

/* ---- values ---- */

/* A value of any kind, to be compared with another one. */
typedef struct operand {
    reef_kind kind;
    field_value x;
    const char *text; /* of REEF_CHAR */
    uint32_t length;
} operand;

static operand operand_at(const value_test *t, const char *p)
{
    operand o = {.kind = t->kind, .x = {.u64 = 0}};
    if (t->kind == REEF_CHAR) {
        o.text = p;
        while (o.length < t->bytes && p[o.length]) o.length++;
    } else if (kind_floats(t->kind)) {
        o.x.f64 = field_float(t, p);
    } else {
        const uint64_t sign = kind_has_sign(t->kind) ? UINT64_C(1) << (8 * t->bytes - 1) : 0, x = field_whole(t, p);
        o.x.u64 = t->kind == REEF_BOOL ? x != 0 : (x ^ sign) - sign;
    }
    return o;
}

static operand operand_literal(const value_test *t, uint32_t side)
{
    return (operand){.kind = t->kind, .x = t->number[side], .text = t->text, .length = t->length};
}

static bool operand_is_negative(const operand *o) { return kind_has_sign(o->kind) && o->x.i64 < 0; }

typedef enum value_order { ORDER_BELOW, ORDER_SAME, ORDER_ABOVE, ORDER_OTHER, ORDER_NONE } value_order;

/* How two values are ordered. ORDER_OTHER: they are different, and neither is the larger one; ORDER_NONE: one is no
 * number. */
static value_order operands_order(const operand *a, const operand *b)
{
    if (a->kind == REEF_CHAR)
        return a->length == b->length && memcmp(a->text, b->text, a->length) == 0 ? ORDER_SAME : ORDER_OTHER;
    if (a->kind == REEF_ENTITY) return reef_entity_equal(a->x.entity, b->x.entity) ? ORDER_SAME : ORDER_OTHER;
    if (kind_floats(a->kind)) {
        if (a->x.f64 < b->x.f64) return ORDER_BELOW;
        if (a->x.f64 > b->x.f64) return ORDER_ABOVE;
        return a->x.f64 >= b->x.f64 ? ORDER_SAME : ORDER_NONE;
    }
    const bool minus_a = operand_is_negative(a), minus_b = operand_is_negative(b);
    if (minus_a != minus_b) return minus_a ? ORDER_BELOW : ORDER_ABOVE;
    if (a->x.u64 == b->x.u64) return ORDER_SAME;
    return a->x.u64 < b->x.u64 ? ORDER_BELOW : ORDER_ABOVE; /* two negative ones are ordered in the same way */
}

static bool operands_compare(reef_compare compare, const operand *x, const operand *a, const operand *b)
{
    const value_order order = operands_order(x, a);
    switch (compare) {
    case REEF_EQUAL: return order == ORDER_SAME;
    case REEF_UNEQUAL: return order != ORDER_SAME && order != ORDER_NONE;
    case REEF_LESS: return order == ORDER_BELOW;
    case REEF_AT_MOST: return order == ORDER_BELOW || order == ORDER_SAME;
    case REEF_MORE: return order == ORDER_ABOVE;
    case REEF_AT_LEAST: return order == ORDER_ABOVE || order == ORDER_SAME;
    case REEF_WITHIN:
        if (order != ORDER_ABOVE && order != ORDER_SAME) return false;
        return operands_compare(REEF_AT_MOST, x, b, NULL);
    case REEF_ANY_BIT: return (x->x.u64 & a->x.u64) != 0;
    case REEF_ALL_BITS: return (x->x.u64 & a->x.u64) == a->x.u64;
    case REEF_AS: return true;
    }
    return false;
}

/* ---- joins ---- */

uint32_t reef__test_term(const query *q, uint32_t test)
{
    const reef_condition *c = &q->values->conditions[test];
    for (uint32_t i = 0; i < q->term_count; i++) {
        const reef_term *t = &q->terms[i];
        if (term_conditions(t) && c >= t->conditions && c < t->conditions + t->count) return i;
    }
    ASSERT(false);
    return 0;
}

/* The slot of the entity that has a test's field; UINT32_MAX: always the same one. */
static uint32_t test_slot(const query *q, uint32_t test)
{
    const uint32_t i = reef__test_term(q, test);
    return q->facts[i].fixed ? UINT32_MAX : q->terms[i].variable;
}

uint32_t reef__join_slots(const query *q, const struct value_join *j)
{
    const uint32_t tests[] = {j->test + 1, j->named[0], j->named[1]};
    uint32_t slots = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t slot = tests[i] ? test_slot(q, tests[i] - 1) : UINT32_MAX;
        if (slot != UINT32_MAX) slots |= 1u << slot;
    }
    return slots;
}

/* Do queries visit the entity: is it enabled, and no template? */
static bool entity_is_visited(const reef_world *w, reef_entity e)
{
    const uint32_t place = place_of(w, e);
    if (place < 2 * PLACE_EMPTY || bit_read(bit_store_of(w, BIT_DISABLED), place)) return false;
    return reef__slot_seek(w, reef_id(ReefPrefab).id, reef_slots_at(&w->hot, place)[0].head.table) == 0;
}

/* Is the entity of a test, if a variable is bound to it, one that a value may find? */
static bool test_finds(const query *q, uint32_t test, const reef_entity *bound)
{
    const uint32_t i = reef__test_term(q, test), v = q->terms[i].variable;
    return q->facts[i].fixed || v == 0 || entity_is_visited(q->world, bound[v]);
}

/* The field of a test, of the entity that the term is about. NULL: the entity hasn't got it. */
static const char *field_of(const query *q, uint32_t test, const reef_entity *bound)
{
    const uint32_t i = reef__test_term(q, test);
    const reef_term *t = &q->terms[i];
    return reef__value_field(q, &q->values->tests[test], q->facts[i].fixed ? t->source : bound[t->variable]);
}

bool reef__join_holds(const query *q, const struct value_join *j, const reef_entity *bound)
{
    const value_test *t = &q->values->tests[j->test];
    const char *p = field_of(q, j->test, bound);
    operand with[2];
    if (p == NULL) return false;
    const operand x = operand_at(t, p);
    if (t->compare == REEF_EQUAL && !(test_finds(q, j->test, bound) && test_finds(q, j->named[0] - 1, bound)))
        return false;
    for (uint32_t side = 0; side < (t->compare == REEF_WITHIN ? 2u : 1u); side++) {
        if (j->named[side] == 0) {
            with[side] = operand_literal(t, side);
            continue;
        }
        p = field_of(q, j->named[side] - 1, bound);
        if (p == NULL) return false;
        with[side] = operand_at(&q->values->tests[j->named[side] - 1], p);
    }
    return operands_compare(t->compare, &x, &with[0], &with[1]);
}

/* The fields of one test for the rows of a chunk. */
typedef struct joined_side {
    const value_test *test; /* NULL: a literal */
    const char *column;     /* where the first row has the field; NULL: it is looked up row by row */
    size_t stride;          /* 0: all rows have the same one */
    const reef_entity *entities;
} joined_side;

/* False: no row has the field. */
static bool joined_side_take(const look *l, uint32_t test, joined_side *side)
{
    const query *q = l->q;
    const uint32_t term = reef__test_term(q, test);
    const value_test *t = &q->values->tests[test];
    const type *x = type_known(t->component);
    *side = (joined_side){.test = t, .entities = l->entities};
    if (q->facts[term].fixed) side->column = reef__value_field(q, t, q->terms[term].source);
    else if (x->stored) return true;
    else side->column = reef__test_column(q->world, x, t, unit_slots(q->world, l->unit), &side->stride);
    return side->column != NULL;
}

/* False: the row hasn't got the field. */
static bool joined_operand(const query *q, const joined_side *side, uint32_t row, operand *to)
{
    const char *p =
        side->column ? side->column + row * side->stride : reef__value_field(q, side->test, side->entities[row]);
    if (p) *to = operand_at(side->test, p);
    return p != NULL;
}

/* Keeps the rows for which a join holds that is about the row alone. */
static void joined_rows(const look *l, const struct value_join *j, uint64_t *words, uint32_t first, uint32_t end)
{
    const query *q = l->q;
    const value_test *t = &q->values->tests[j->test];
    const uint32_t sides = t->compare == REEF_WITHIN ? 2 : 1;
    joined_side own, other[2] = {{0}};
    operand x, with[2];
    bool some = joined_side_take(l, j->test, &own);
    for (uint32_t i = 0; i < sides; i++) {
        if (j->named[i]) some = some && joined_side_take(l, j->named[i] - 1, &other[i]);
        else with[i] = operand_literal(t, i);
    }
    for (uint32_t k = first; k < end; k++) {
        uint64_t kept = 0;
        for (uint64_t word = some ? words[k] : 0; word; word &= word - 1) {
            const uint32_t row = k * 64 + bits_first(word);
            bool holds = joined_operand(q, &own, row, &x);
            for (uint32_t i = 0; holds && i < sides; i++)
                holds = other[i].test == NULL || joined_operand(q, &other[i], row, &with[i]);
            if (holds && operands_compare(t->compare, &x, &with[0], &with[1])) kept |= word & (0 - word);
        }
        words[k] = kept;
    }
}

void reef__joined_rows(const look *l, uint64_t *words, uint32_t first, uint32_t end)
{
    const struct value_terms *v = l->q->values;
    for (const struct value_join *j = v->joins, *stop = j + v->join_count; j < stop; j++)
        if (!(reef__join_slots(l->q, j) & ~1u)) joined_rows(l, j, words, first, end);
}

/* ---- finding who has a value ---- */

/* The key of a text has so many of its bytes. (The others are compared when the join is asked.) */
enum { KEY_TEXT = 8 };

bool reef__join_finds(const query *q, const struct value_join *j, uint32_t variable, uint32_t bound, uint32_t *field,
                      uint32_t *other)
{
    if (q->values->tests[j->test].compare != REEF_EQUAL || j->named[0] == 0) return false;
    const uint32_t both[] = {j->test, j->named[0] - 1};
    for (uint32_t side = 0; side < 2; side++) {
        const uint32_t slot = test_slot(q, both[side]), known = test_slot(q, both[1 - side]);
        if (slot != variable || (known != UINT32_MAX && !(bound >> known & 1))) continue;
        if (q->terms[reef__test_term(q, both[side])].enabled != REEF_ENABLED) continue; /* no list has the others */
        *field = both[side];
        *other = both[1 - side];
        return true;
    }
    return false;
}

static bool list_put(query *q, value_list *l, const value_test *t, reef_entity e)
{
    reef_world *w = q->world;
    if (!entity_is_visited(w, e)) return true;
    const char *p = reef__value_field(q, t, e);
    if (p == NULL || bit_read(bit_store_of(w, t->component | BIT_DISABLED), place_of(w, e))) return true;
    const operand x = operand_at(t, p);
    if (operands_order(&x, &x) == ORDER_NONE) return true;
    if (l->count == l->room &&
        !reef__array_room(&w->family->memory, MEMORY_OTHER, &l->rows, &l->room, l->count + 1, sizeof *l->rows))
        return false;
    order_row *r = &l->rows[l->count++];
    reef__order_keys(&l->by, p, 1, &r->key);
    r->index = e.index;
    r->row = e.generation;
    return true;
}

/* Makes the own list anew. */
static bool list_make(query *q, const value_test *t, value_list *l)
{
    reef_world *w = q->world;
    const type *x = type_known(t->component);
    l->count = 0;
    for (value_run r = {0}; reef__value_run_next(w, x, &r);)
        for (uint32_t i = 0; i < r.count; i++)
            if (!list_put(q, l, t, r.entities[i])) return false;
    if (!reef__array_room(&w->family->memory, MEMORY_OTHER, &l->scratch, &l->scratch_room, l->count + 1,
                          sizeof *l->scratch))
        return false;
    order_row *sorted = reef__order_rows(l->rows, l->scratch, l->count);
    if (sorted != l->rows && l->count) memcpy(l->rows, sorted, l->count * sizeof *sorted);
    return true;
}

void reef__value_list_leave(const query *q, value_list *l)
{
    if (l->held) l->leave(&q->world->family->memory, l->held);
    l->held = NULL;
}

bool reef__value_list_ready(query *q, uint32_t field, value_list *l)
{
    reef_world *w = q->world;
    const value_test *t = &q->values->tests[field];
    reef__value_list_leave(q, l);
    l->bytes = t->bytes;
    l->by = (ordering){.kind = t->kind, .bytes = t->bytes < KEY_TEXT ? t->bytes : KEY_TEXT, .stride = t->bytes};
    if (w->indexes && !w->running && !w->indexes->hold(w, t->component, t->offset, t->bytes, l)) return false;
    return l->held || list_make(q, t, l);
}

COLD void reef__value_list_drop(const query *q, value_list *l)
{
    memory *m = &q->world->family->memory;
    reef__value_list_leave(q, l);
    reef__memory_free(m, MEMORY_OTHER, l->rows, l->room * sizeof *l->rows);
    reef__memory_free(m, MEMORY_OTHER, l->scratch, l->scratch_room * sizeof *l->scratch);
    memset(l, 0, sizeof *l);
}

/* The key that a value has in a field of another kind. False: no such field has the value. */
static bool operand_key(const value_list *l, const operand *o, uint64_t *key)
{
    const reef_kind kind = l->by.kind;
    char text[KEY_TEXT] = {0};
    const void *p = &o->x;
    const uint8_t a = (uint8_t)o->x.u64;
    const uint16_t b = (uint16_t)o->x.u64;
    const uint32_t c = (uint32_t)o->x.u64;
    float f;
    double d;
    if (operands_order(o, o) == ORDER_NONE) return false;
    if (kind == REEF_CHAR) {
        if (o->length > l->bytes) return false;
        memcpy(text, o->text, o->length < sizeof text ? o->length : sizeof text);
        reef__order_keys(&(ordering){.kind = REEF_CHAR, .bytes = sizeof text}, text, 1, key);
        return true;
    }
    if (kind == REEF_F32) {
        d = o->x.f64;
        if (d - d == 0 && (d > 0x1.fffffep127 || d < -0x1.fffffep127)) return false;
        f = (float)d;
        if ((double)f < d || (double)f > d) return false;
        p = &f;
    } else if (kind_is_whole(kind) || kind == REEF_BOOL) {
        if (!reef__kind_holds(kind, o->x.u64, operand_is_negative(o))) return false;
        if (l->bytes == 1) p = &a;
        else if (l->bytes == 2) p = &b;
        else if (l->bytes == 4) p = &c;
    }
    reef__order_keys(&l->by, p, 1, key);
    return true;
}

static row_range own_range(const value_list *l, uint64_t key)
{
    if (l->count == 0) return (row_range){NULL, NULL, NULL, NULL}; /* then there may be no rows at all */
    const order_row *first = l->rows + rows_bound(l->rows, l->count, key, false), *end = first;
    while (end < l->rows + l->count && end->key == key) end++;
    return (row_range){first, end, NULL, NULL};
}

row_range reef__value_list_ask(const query *q, const value_list *l, uint32_t other, const reef_entity *bound)
{
    const char *p = field_of(q, other, bound);
    uint64_t key;
    row_range r = {0};
    if (p == NULL) return r;
    const operand o = operand_at(&q->values->tests[other], p);
    if (!operand_key(l, &o, &key)) return r;
    if (l->held == NULL) return own_range(l, key);
    l->ranges(l->held, &key, 1, &r);
    return r;
}

/* The keys of up to 64 rows, from row `first` on, whose fields lie in a column and are of the list's kind. The others
 * are taken out of the word. */
static uint64_t keys_of_column(const value_list *l, const value_test *t, const char *p, size_t stride, uint32_t rows,
                               uint64_t word, uint64_t *keys)
{
    const ordering by = {.kind = t->kind, .bytes = t->bytes, .stride = (uint32_t)stride};
    reef__order_keys(&by, p, rows, keys);
    if (!kind_floats(l->by.kind)) return word;
    const uint64_t none = l->by.kind == REEF_F32 ? UINT32_MAX : UINT64_MAX; /* the key of a NaN */
    for (uint64_t left = word; left; left &= left - 1)
        if (keys[bits_first(left)] == none) word &= ~(left & (0 - left));
    return word;
}

/* The same for fields that lie anywhere, or are of another kind. */
static uint64_t keys_of_rows(const query *q, const value_list *l, uint32_t other, const reef_entity *from,
                             uint64_t word, uint64_t *keys)
{
    const uint32_t term = reef__test_term(q, other);
    const value_test *t = &q->values->tests[other];
    uint64_t kept = 0;
    for (; word; word &= word - 1) {
        const uint32_t row = bits_first(word);
        const char *p = reef__value_field(q, t, q->facts[term].fixed ? q->terms[term].source : from[row]);
        if (p == NULL) continue;
        const operand o = operand_at(t, p);
        if (operand_key(l, &o, &keys[row])) kept |= word & (0 - word);
    }
    return kept;
}

void reef__value_list_look(const look *l, const value_list *list, uint32_t other, const reef_entity *from,
                           uint64_t *words, uint32_t first, uint32_t end, row_range *ranges)
{
    const query *q = l->q;
    const uint32_t term = reef__test_term(q, other);
    const value_test *t = &q->values->tests[other];
    const type *x = type_known(t->component);
    const bool here = from == NULL && !q->facts[term].fixed && !x->stored && t->kind == list->by.kind &&
                      (t->kind != REEF_CHAR || t->bytes <= KEY_TEXT) && t->kind != REEF_BOOL;
    size_t stride = 0;
    const char *p = here ? reef__test_column(q->world, x, t, unit_slots(q->world, l->unit), &stride) : NULL;
    if (from == NULL) from = l->entities;
    for (uint32_t k = first; k < end; k++) {
        uint64_t keys[64], some[64], kept = 0;
        row_range found[64];
        const uint32_t rows = l->count <= k * 64 ? 0 : l->count - k * 64 < 64 ? l->count - k * 64 : 64;
        uint64_t word = words[k];
        uint32_t n = 0;
        if (word) {
            if (p) word = keys_of_column(list, t, p + (size_t)k * 64 * stride, stride, rows, word, keys);
            else word = keys_of_rows(q, list, other, from + (size_t)k * 64, word, keys);
        }
        for (uint64_t left = word; left; left &= left - 1) some[n++] = keys[bits_first(left)];
        if (list->held) list->ranges(list->held, some, n, found);
        for (uint32_t i = 0; list->held == NULL && i < n; i++) found[i] = own_range(list, some[i]);
        n = 0;
        for (uint64_t left = word; left; left &= left - 1, n++) {
            if (found[n].main == found[n].main_end && found[n].change == found[n].change_end) continue;
            ranges[k * 64 + bits_first(left)] = found[n];
            kept |= left & (0 - left);
        }
        words[k] = kept;
    }
}

bool reef__value_list_exact(const query *q, uint32_t field, uint32_t other)
{
    const value_test *t = &q->values->tests[field];
    const uint32_t known = reef__test_term(q, other);
    return (t->kind != REEF_CHAR || t->bytes <= KEY_TEXT) && (q->facts[known].fixed || q->terms[known].variable == 0);
}

bool reef__value_list_settles(const query *q, uint32_t field)
{
    const uint32_t i = reef__test_term(q, field);
    const reef_term *t = &q->terms[i];
    const value_test *x = term_tests(q, i), *end = x + t->count;
    while (x < end && x->form == VALUE_ALWAYS) x++;
    return x == end && !q->facts[i].reads && t->target_variable == 0 && t->target.generation == 0;
}

COLD void reef__join_write(text_out *o, const query *q, const struct value_join *j)
{
    const uint32_t i = reef__test_term(q, j->test);
    const type *x = reef__type_of(q->terms[i].component.id);
    reef__text_put(o, "%s(", x->name);
    reef__condition_write(o, q->world, x, &q->values->conditions[j->test]);
    reef__text_put(o, ")");
}
