/* Conditions on values: which field and number they mean, and what a query keeps of them (src/query/value_term.h). */
#include "query/value_term.h"
#include "base/kept_text.h"
#include "type/fields.h"
#include "type/names.h"
#include "storage/error.h"
#include "query/near_term.h"
#include "query/query.h"
#include "query/relation_plan.h"
#include "query/token.h"
#include "query/value_join.h"
#include "reef/condition.h"
#include "reef/relation.h"
#include <inttypes.h>
#include <stdio.h>

/* ---- literals ---- */

reef_literal reef_literal_i64(int64_t x) { return (reef_literal){.kind = REEF_I64, .i64 = x}; }
reef_literal reef_literal_u64(uint64_t x) { return (reef_literal){.kind = REEF_U64, .u64 = x}; }
reef_literal reef_literal_f64(double x) { return (reef_literal){.kind = REEF_F64, .f64 = x}; }
reef_literal reef_literal_text(const char *text) { return (reef_literal){.kind = REEF_CHAR, .text = text}; }
reef_literal reef_literal_entity(reef_entity e) { return (reef_literal){.kind = REEF_ENTITY, .entity = e}; }
reef_literal reef_literal_parameter(const char *name) { return (reef_literal){.text = name}; }

COLD const char *reef__kind_name(reef_kind kind)
{
    static const char *const names[] = {
        [REEF_BOOL] = "a bool",      [REEF_I8] = "i8",   [REEF_U8] = "u8",   [REEF_I16] = "i16",
        [REEF_U16] = "u16",          [REEF_I32] = "i32", [REEF_U32] = "u32", [REEF_I64] = "i64",
        [REEF_U64] = "u64",          [REEF_F32] = "f32", [REEF_F64] = "f64", [REEF_CHAR] = "text",
        [REEF_ENTITY] = "an entity",
    };
    return names[kind];
}

static uint64_t kind_mask(reef_kind k) { return ~UINT64_C(0) >> (64 - 8 * reef__kind_size(k)); }
/* The largest whole number of the kind. */
static uint64_t kind_most(reef_kind k) { return kind_mask(k) >> kind_has_sign(k); }

COLD bool reef__kind_compares(const reef_field *f, reef_compare compare)
{
    const bool whole = kind_is_whole(f->kind);
    if (compare == REEF_EQUAL || compare == REEF_UNEQUAL || compare == REEF_AS) return true;
    if (compare == REEF_ANY_BIT || compare == REEF_ALL_BITS) return whole;
    return compare >= REEF_LESS && compare <= REEF_WITHIN && (whole || f->kind == REEF_F32 || f->kind == REEF_F64);
}

static const char *literal_wrong(const reef_field *f, char *detail, size_t size, const char *what)
{
    snprintf(detail, size, "%s is %s, which can't be compared with %s", reef__show(f->name, strlen(f->name)).text,
             reef__kind_name(f->kind), what);
    return detail;
}

static const char *literal_large(const reef_field *f, char *detail, size_t size, const reef_literal *l)
{
    char number[32];
    if (l->kind == REEF_F64) snprintf(number, sizeof number, "the number");
    else if (l->kind == REEF_U64) snprintf(number, sizeof number, "%" PRIu64, l->u64);
    else snprintf(number, sizeof number, "%" PRId64, l->i64);
    snprintf(detail, size, "%s is %s: %s is out of its range", reef__show(f->name, strlen(f->name)).text,
             reef__kind_name(f->kind), number);
    return detail;
}

bool reef__kind_holds(reef_kind kind, uint64_t bits, bool negative)
{
    const uint64_t most = kind == REEF_BOOL ? 1 : kind_most(kind);
    return negative ? kind_has_sign(kind) && ~bits <= most : bits <= most; /* ~bits: -1 - the number */
}

COLD const char *reef__literal_take(const reef_field *f, uint32_t bytes, const reef_literal *l, field_value *to,
                                    char *detail, size_t size)
{
    const bool number = l->kind == REEF_I64 || l->kind == REEF_U64, fraction = l->kind == REEF_F64;
    to->u64 = 0;
    switch (l->kind) {
    case REEF_I64:
    case REEF_U64:
    case REEF_F64:
    case REEF_ENTITY: break;
    case REEF_CHAR:
        if (l->text) break;
        return literal_wrong(f, detail, size, "NULL");
    default: return literal_wrong(f, detail, size, "a literal of this kind");
    }
    if (f->kind == REEF_CHAR) {
        if (l->kind != REEF_CHAR) return literal_wrong(f, detail, size, "what is no text");
        if (strlen(l->text) <= bytes) return NULL;
        snprintf(detail, size, "%s has %" PRIu32 " bytes, and this text is longer",
                 reef__show(f->name, strlen(f->name)).text, bytes);
        return detail;
    }
    if (f->kind == REEF_ENTITY) {
        if (l->kind != REEF_ENTITY) return literal_wrong(f, detail, size, "what is no entity");
        to->entity = l->entity;
        return NULL;
    }
    if (f->kind == REEF_F32 || f->kind == REEF_F64) {
        if (!number && !fraction) return literal_wrong(f, detail, size, "what is no number");
        to->f64 = fraction ? l->f64 : l->kind == REEF_I64 ? (double)l->i64 : (double)l->u64;
        if (f->kind == REEF_F64) return NULL;
        const double exact = to->f64;
        if (fraction && exact - exact == 0 && (exact >= 0x1.ffffffp127 || exact <= -0x1.ffffffp127))
            return literal_large(f, detail, size, l); /* it would be rounded to an infinity */
        to->f64 = (double)(float)exact;
        return NULL;
    }
    if (!number) return literal_wrong(f, detail, size, fraction ? "a fraction" : "what is no whole number");
    if (!reef__kind_holds(f->kind, l->u64, l->kind == REEF_I64 && l->i64 < 0)) return literal_large(f, detail, size, l);
    to->u64 = l->u64;
    return NULL;
}

/* ---- fields ---- */

/* Reads the "[3]" at the end of a name. False: it has none. */
static bool index_read(const char *name, uint32_t *index, size_t *before)
{
    const char *open = strrchr(name, '['), *at = open ? open + 1 : NULL;
    if (open == NULL || open == name || !reef__number_read(&at, index)) return false;
    *before = (size_t)(open - name);
    return at[0] == ']' && at[1] == 0;
}

/* Of a relation, the fields of its data are found by their names alone, too. */
static const reef_field *field_named(const type *t, const char *name, size_t length)
{
    static const char data[] = "data.";
    const reef_field *f = reef__field_named(t->fields, t->field_count, name, length);
    for (uint32_t i = 0; f == NULL && t->relation && i < t->field_count; i++) {
        const char *is = t->fields[i].name;
        if (strncmp(is, data, sizeof data - 1) != 0) continue;
        is += sizeof data - 1;
        if (strncmp(is, name, length) == 0 && is[length] == 0) f = &t->fields[i];
    }
    return f;
}

COLD const reef_field *reef__condition_field(const type *t, const char *name, uint32_t *offset, uint32_t *bytes)
{
    const size_t length = strlen(name);
    const reef_field *f = field_named(t, name, length);
    uint32_t index = 0, one = 0;
    size_t before;
    const bool whole = f != NULL;
    if (!whole && index_read(name, &index, &before)) f = field_named(t, name, before);
    if (f == NULL) return NULL;
    one = f->kind == REEF_CHAR ? f->bytes : reef__kind_size(f->kind);
    if (index >= f->bytes / one || (whole ? one != f->bytes : f->kind == REEF_CHAR)) return NULL;
    *offset = f->offset + index * one;
    *bytes = one;
    return f;
}

/* ---- tests ---- */

static bool number_less(reef_kind k, field_value a, field_value b)
{
    return kind_has_sign(k) ? a.i64 < b.i64 : a.u64 < b.u64;
}

static void test_inside(value_test *x, uint64_t low, uint64_t high)
{
    const uint64_t mask = kind_mask(x->kind);
    x->form = VALUE_INSIDE;
    x->low = low & mask;
    x->span = (high - low) & mask;
}

/* Finds how whole numbers, bools and entities are tested. */
static void test_whole(value_test *x)
{
    const field_value v = x->number[0];
    const uint64_t most = kind_most(x->kind), least = kind_has_sign(x->kind) ? 0 - most - 1 : 0;
    x->inverted = x->compare == REEF_UNEQUAL;
    x->form = VALUE_NEVER;
    switch (x->compare) {
    case REEF_EQUAL:
    case REEF_UNEQUAL:
        if (x->kind == REEF_BOOL && v.u64) test_inside(x, 1, UINT8_MAX); /* any other byte than 0 is true */
        else test_inside(x, v.u64, v.u64);
        break;
    case REEF_LESS:
        if (v.u64 != least) test_inside(x, least, v.u64 - 1);
        break;
    case REEF_AT_MOST: test_inside(x, least, v.u64); break;
    case REEF_MORE:
        if (v.u64 != most) test_inside(x, v.u64 + 1, most);
        break;
    case REEF_AT_LEAST: test_inside(x, v.u64, most); break;
    case REEF_WITHIN:
        if (!number_less(x->kind, x->number[1], v)) test_inside(x, v.u64, x->number[1].u64);
        break;
    case REEF_ANY_BIT:
    case REEF_ALL_BITS:
        x->form = VALUE_BITS;
        x->low = v.u64 & kind_mask(x->kind);
        x->inverted = x->compare == REEF_ANY_BIT; /* not: none of them */
        x->span = x->inverted ? 0 : x->low;
        break;
    case REEF_AS: break;
    }
}

static void test_settle(value_test *x)
{
    static const value_form floats[] = {
        [REEF_EQUAL] = VALUE_WITHIN,    [REEF_UNEQUAL] = VALUE_UNEQUAL, [REEF_LESS] = VALUE_LESS,
        [REEF_AT_MOST] = VALUE_AT_MOST, [REEF_MORE] = VALUE_MORE,       [REEF_AT_LEAST] = VALUE_AT_LEAST,
        [REEF_WITHIN] = VALUE_WITHIN,
    };
    x->inverted = false;
    if (x->joined) {
        x->form = VALUE_ALWAYS;
    } else if (x->kind == REEF_CHAR) {
        x->form = VALUE_TEXT;
        x->inverted = x->compare == REEF_UNEQUAL;
    } else if (x->kind == REEF_F32 || x->kind == REEF_F64) {
        x->form = floats[x->compare];
        if (x->compare == REEF_EQUAL) x->number[1] = x->number[0];
    } else {
        test_whole(x);
    }
}

/* Gives a test the literal of side 0 or 1, which fits its field. */
static void test_put(value_test *x, uint32_t side, const reef_literal *l)
{
    const reef_field f = {.name = "", .kind = x->kind, .names = x->names};
    char detail[REEF_DETAIL_MAX];
    const char *wrong = reef__literal_take(&f, x->bytes, l, &x->number[side], detail, sizeof detail);
    ASSERT(wrong == NULL);
    (void)wrong;
    if (x->kind == REEF_CHAR && side == 0) {
        x->length = (uint32_t)strlen(l->text);
        memcpy(x->text, l->text, x->length);
    }
    test_settle(x);
}

/* ---- what may be asked ---- */

static bool parameter_is_name(const char *name)
{
    size_t n = 0;
    if (name == NULL) return false;
    while (n <= REEF_VARIABLE_NAME_MAX && is_word(name[n])) n++;
    return n > 0 && n <= REEF_VARIABLE_NAME_MAX && name[n] == 0;
}

static const char *condition_wrong(const type *t, const reef_condition *c, char *detail, size_t size)
{
    uint32_t offset, bytes;
    field_value number;
    if (c->field == NULL || strlen(c->field) > REEF_TYPE_NAME_MAX) return "a condition has no field";
    const reef_field *f = reef__condition_field(t, c->field, &offset, &bytes);
    if (f == NULL) {
        snprintf(detail, size, "%s has no field %s", reef__show(t->name, strlen(t->name)).text,
                 reef__show(c->field, strlen(c->field)).text);
        return detail;
    }
    if (!reef__kind_compares(f, c->compare)) {
        snprintf(detail, size, "%s is %s, which can't be compared so", reef__show(f->name, strlen(f->name)).text,
                 reef__kind_name(f->kind));
        return detail;
    }
    for (uint32_t side = 0; side < (c->compare == REEF_WITHIN ? 2u : 1u); side++) {
        const reef_literal *l = side ? &c->last : &c->value;
        const char *wrong = NULL;
        if (l->kind && c->compare == REEF_AS) wrong = "'as' stands before the name of the value";
        else if (l->kind) wrong = reef__literal_take(f, bytes, l, &number, detail, size);
        else if (!parameter_is_name(l->text)) wrong = "a parameter's name has 1 to 31 letters, digits and _";
        if (wrong) return wrong;
    }
    return NULL;
}

/* Does one of the terms give a value this name? */
static bool name_is_value(const reef_term *terms, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < term_conditions(&terms[i]); k++)
            if (terms[i].conditions[k].compare == REEF_AS && strcmp(terms[i].conditions[k].value.text, name) == 0)
                return true;
    return false;
}

/* Counts the parameters of the first terms by name; names of values as well, or not. */
static uint32_t parameters_count(const reef_term *terms, uint32_t count, bool values)
{
    const char *names[REEF_PARAMETERS_MAX + 1];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < term_conditions(&terms[i]); k++)
            for (uint32_t side = 0; side < 2 && n <= REEF_PARAMETERS_MAX; side++) {
                const reef_condition *c = &terms[i].conditions[k];
                const reef_literal *l = side ? &c->last : &c->value;
                uint32_t at = 0;
                if (l->kind || l->text == NULL || (side && c->compare != REEF_WITHIN)) continue;
                if (!values && name_is_value(terms, count, l->text)) continue;
                while (at < n && strcmp(names[at], l->text) != 0) at++;
                if (at == n) names[n++] = l->text;
            }
    return n;
}

COLD reef_status reef__conditions_check(const query_text *l, uint32_t i, char *detail, size_t size)
{
    const reef_term *t = &l->term[i];
    const type *x = reef__type_of(t->component.id);
    const bool follows = x && x->relation & (REEF_TRANSITIVE | REEF_REFLEXIVE);
    const char *wrong = NULL;
    uint32_t count = 0;
    for (uint32_t k = 0; k <= i; k++) count += term_conditions(&l->term[k]);
    if (t->op == REEF_OPTIONAL) wrong = "an optional term has no conditions";
    else if (x == NULL) wrong = "any relation '*(...)' has no fields to compare";
    else if (follows && (t->target_variable || t->target.generation))
        wrong =
            "with a target, a transitive or reflexive relation has no conditions: it may lead there by way of others";
    if (wrong == NULL && count > REEF_CONDITIONS_MAX) {
        snprintf(detail, size, "a query has at most %d conditions", REEF_CONDITIONS_MAX);
        return REEF_LIMIT;
    }
    for (uint32_t k = 0; wrong == NULL && k < t->count; k++)
        wrong = condition_wrong(x, &t->conditions[k], detail, size);
    if (wrong == NULL && parameters_count(l->term, i + 1, true) > REEF_PARAMETERS_MAX) {
        snprintf(detail, size, "a query has at most %d parameters", REEF_PARAMETERS_MAX);
        return REEF_LIMIT;
    }
    if (wrong == NULL) return REEF_OK;
    if (wrong != detail) snprintf(detail, size, "%s", wrong);
    return REEF_BAD_ARGUMENT;
}

/* ---- copies ---- */

static bool literal_has_text(const reef_literal *l) { return l->kind == REEF_CHAR || l->kind == 0; }
static size_t literal_bytes(const reef_literal *l) { return literal_has_text(l) ? kept_bytes(l->text) : 0; }

COLD size_t reef__conditions_bytes(const reef_term *terms, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < term_conditions(&terms[i]); k++) {
            const reef_condition *c = &terms[i].conditions[k];
            bytes += sizeof *c + kept_bytes(c->field) + literal_bytes(&c->value) + literal_bytes(&c->last);
        }
    return bytes;
}

COLD void reef__conditions_keep(reef_term *terms, uint32_t count, void *room)
{
    reef_condition *to = room;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) n += term_conditions(&terms[i]);
    char *texts = (char *)(to + n);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t all = term_conditions(&terms[i]);
        for (uint32_t k = 0; k < all; k++) {
            to[k] = terms[i].conditions[k];
            to[k].field = text_copy(&texts, to[k].field);
            if (literal_has_text(&to[k].value)) to[k].value.text = text_copy(&texts, to[k].value.text);
            if (literal_has_text(&to[k].last)) to[k].last.text = text_copy(&texts, to[k].last.text);
        }
        if (all) terms[i].conditions = to;
        to += all;
    }
}

COLD bool reef__conditions_vary(const reef_term *terms, uint32_t count)
{
    return parameters_count(terms, count, false) != 0;
}

/* ---- what a query keeps ---- */

/* The number of a parameter, from 1; a new one gets the next number. */
static uint8_t parameter_number(struct value_terms *v, const char *name)
{
    const uint32_t i = reef__name_seek(v->parameters, v->parameter_count, name);
    if (i == v->parameter_count) {
        ASSERT(i < REEF_PARAMETERS_MAX);
        memcpy(v->parameters[i], name, strlen(name) + 1);
        v->parameter_count++;
        v->missing |= UINT64_C(1) << i;
    }
    return (uint8_t)(i + 1);
}

static void test_make(struct value_terms *v, value_test *x, const type *t, const reef_condition *c)
{
    uint32_t offset, bytes;
    const reef_field *f = reef__condition_field(t, c->field, &offset, &bytes);
    ASSERT(f); /* it was checked, and a type keeps its fields */
    *x = (value_test){.component = t->id,
                      .kind = f->kind,
                      .offset = offset,
                      .bytes = bytes,
                      .names = f->names,
                      .compare = c->compare,
                      .text = x->text};
    for (uint32_t side = 0; side < (c->compare == REEF_WITHIN ? 2u : 1u); side++) {
        const reef_literal *l = side ? &c->last : &c->value;
        if (l->kind) test_put(x, side, l);
        else x->parameter[side] = parameter_number(v, l->text);
    }
    if (c->compare != REEF_AS) return;
    v->named |= UINT64_C(1) << (x->parameter[0] - 1);
    v->missing &= ~v->named;
    x->joined = true;
    test_settle(x);
}

/* Finds the tests that compare with values that have names. */
static void joins_make(struct value_terms *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        value_test *x = &v->tests[i];
        struct value_join j = {.test = i};
        for (uint32_t side = 0; x->compare != REEF_AS && side < 2; side++) {
            const uint32_t number = x->parameter[side];
            if (number == 0 || !(v->named >> (number - 1) & 1)) continue;
            for (uint32_t k = 0; k < v->count; k++)
                if (v->tests[k].compare == REEF_AS && v->tests[k].parameter[0] == number) j.named[side] = k + 1;
            x->joined = true;
        }
        if (!x->joined || x->compare == REEF_AS) continue;
        test_settle(x);
        v->joins[v->join_count++] = j;
    }
}

COLD bool reef__values_make(query *q)
{
    size_t texts = 0;
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0; i < q->asked_count; i++) {
        const reef_term *t = &q->asked[i];
        for (uint32_t k = 0; k < term_conditions(t); k++, count++) {
            uint32_t offset, bytes;
            const reef_field *f =
                reef__condition_field(reef__type_of(t->component.id), t->conditions[k].field, &offset, &bytes);
            texts += f->kind == REEF_CHAR ? bytes : 0;
        }
    }
    if (count == 0) return true;
    const size_t tests = sizeof(struct value_terms) + count * sizeof(value_test),
                 before = (tests + count * sizeof(struct value_join) + 7) / 8 * 8,
                 kept = reef__conditions_bytes(q->asked, q->asked_count), bytes = before + kept + texts;
    struct value_terms *v = q->values = reef__memory_zeroed(&q->world->family->memory, MEMORY_OTHER, bytes);
    if (v == NULL) return false;
    v->bytes = bytes;
    v->count = count;
    v->joins = (struct value_join *)(void *)((char *)v + tests);
    v->conditions = (reef_condition *)(void *)((char *)v + before);
    reef__conditions_keep(q->asked, q->asked_count, v->conditions);
    char *room = (char *)v->conditions + kept;
    for (uint32_t i = 0; i < q->asked_count; i++) {
        const reef_term *t = &q->asked[i];
        for (uint32_t k = 0; k < term_conditions(t); k++, at++) {
            v->tests[at].text = room;
            test_make(v, &v->tests[at], reef__type_of(t->component.id), &t->conditions[k]);
            room += v->tests[at].kind == REEF_CHAR ? v->tests[at].bytes : 0;
        }
    }
    joins_make(v);
    return true;
}

COLD void reef__values_drop(query *q)
{
    if (q->values == NULL) return;
    reef__row_set_drop(q->world, &q->values->marks.rows);
    reef__memory_free(&q->world->family->memory, MEMORY_OTHER, q->values, q->values->bytes);
    q->values = NULL;
}

COLD void reef__values_put(query *to, const value_test *tests, uint64_t missing)
{
    struct value_terms *v = to->values;
    for (uint32_t i = 0; v && i < v->count; i++) {
        char *text = v->tests[i].text;
        v->tests[i] = tests[i];
        v->tests[i].text = text;
        if (tests[i].kind == REEF_CHAR) memcpy(text, tests[i].text, tests[i].length);
    }
    if (v) v->missing = missing;
}

COLD reef_status reef__query_refuse(reef_world *w, const char *op, const query *q, reef_status s)
{
    char detail[REEF_DETAIL_MAX];
    if (q && q->near && s == REEF_NO_MEMORY && q->near->status != REEF_OK) s = q->near->status;
    if (q == NULL || !parameters_missing(q)) return reef__refuse(w, s, op);
    if (q->near_missing)
        return reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0,
                                    "the centre of 'near' was never given (reef_query_near)");
    snprintf(detail, sizeof detail, "the parameter $%s was never set (reef_query_set)",
             q->values->parameters[bits_first(q->values->missing)]);
    return reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, detail);
}

/* ---- parameters ---- */

static COLD reef_status parameter_unknown(reef_world *w, const char *op, const query *q, const char *name)
{
    char detail[REEF_DETAIL_MAX];
    const uint32_t count = q->values ? q->values->parameter_count : 0;
    nearest s = reef__nearest_begin(name);
    const shown unknown = reef__show(name, strlen(name));
    const variable_names *variables = reef__query_names(q);
    for (uint32_t i = 0; i < count && s.length <= REEF_VARIABLE_NAME_MAX; i++)
        reef__nearest_look(&s, q->values->parameters[i]);
    if (variables && *name && reef__name_seek(*variables, REEF_VARIABLES_MAX, name) < REEF_VARIABLES_MAX) {
        snprintf(detail, sizeof detail,
                 "$%s is a variable, which the query binds; a condition chooses its entity: R(..., target == $other)",
                 name);
        return reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, detail);
    }
    if (s.name) snprintf(detail, sizeof detail, "no parameter is named $%s; did you mean $%s?", unknown.text, s.name);
    else snprintf(detail, sizeof detail, "no parameter is named $%s", unknown.text);
    return reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, detail);
}

COLD reef_status reef_query_set_parameter(reef_world *w, reef_query which, const char *name, reef_literal value)
{
    static const char op[] = "reef_query_set_parameter";
    char detail[REEF_DETAIL_MAX];
    reef_status s = REEF_OK;
    uint32_t number = 0;
    if (!WORLD_GIVEN(w)) return REEF_BAD_ARGUMENT;
    query *q = query_of(w, which, &s);
    if (q && q->open) s = REEF_LOCKED;
    if (s == REEF_OK && name == NULL) s = refuse_because(w, "the name of the parameter is NULL");
    if (s != REEF_OK) return reef__refuse(w, s, op);
    struct value_terms *v = q->values;
    if (v) number = reef__name_seek(v->parameters, v->parameter_count, name);
    if (v == NULL || number == v->parameter_count) return parameter_unknown(w, op, q, name);
    if (v->named >> number & 1) {
        snprintf(detail, sizeof detail, "$%s is the value of a field, which the query names by 'as'", name);
        return reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, detail);
    }
    for (uint32_t i = 0; i < 2 * v->count; i++) {
        const value_test *x = &v->tests[i / 2];
        const reef_field f = {.name = v->conditions[i / 2].field, .kind = x->kind, .names = x->names};
        field_value ignored;
        if (x->parameter[i % 2] != number + 1) continue;
        const char *wrong = reef__literal_take(&f, x->bytes, &value, &ignored, detail, sizeof detail);
        if (wrong) return reef__failure_detail(w, REEF_BAD_ARGUMENT, op, 0, wrong);
    }
    for (uint32_t i = 0; i < 2 * v->count; i++)
        if (v->tests[i / 2].parameter[i % 2] == number + 1) test_put(&v->tests[i / 2], i % 2, &value);
    v->missing &= ~(UINT64_C(1) << number);
    v->marks.used = false;
    reef__query_changed(q);
    return REEF_OK;
}
