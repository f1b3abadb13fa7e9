/* Conditions of terms on the values of fields: what they compare, and how rows are tested.
 *
 *   asked     Health(left < $most), Name(text == "boss")        reef_condition: names of fields, literals
 *   test      Health +0 i32 <  parameter 1 ── inside [min, 9]   value_test: where the field is, numbers of its kind
 *             Name   +8 char == "boss"     ── text
 *
 * A test of whole numbers, bools and entities is one question: is the number, as an unsigned one of its size, within
 * `low` and `low + span`? The others have a form of their own. Setting a parameter makes the tests anew that have it.
 * Who finds rows in another way than by looking at each (an index) reads the first part of a value_test. */
#ifndef REEF_QUERY_VALUE_TERM_H
#define REEF_QUERY_VALUE_TERM_H

#include "base/text_out.h"
#include "query/query.h"
#include "query/query_text.h"
#include "query/relation_plan.h"
#include "reef/condition.h"

/* A number of a field's kind. Bools and whole numbers up to 32 bits are in i64 or u64. */
typedef union field_value {
    uint64_t u64;
    int64_t i64;
    double f64; /* of REEF_F32, too */
    reef_entity entity;
} field_value;

typedef enum value_form {
    VALUE_NEVER,  /* no value fulfils it */
    VALUE_INSIDE, /* whole: low <= x <= low + span, where both wrap around */
    VALUE_BITS,   /* (x & low) == span */
    VALUE_LESS,   /* floating point */
    VALUE_AT_MOST,
    VALUE_MORE,
    VALUE_AT_LEAST,
    VALUE_UNEQUAL,
    VALUE_WITHIN,
    VALUE_TEXT,
    VALUE_ALWAYS /* it names the value, or compares it with one that has a name (src/query/value_join.h) */
} value_form;

typedef struct value_test {
    /* what is asked: does the field `compare` the value? */
    uint32_t component; /* the type that has the field */
    reef_kind kind;
    uint32_t offset, bytes; /* of the field, or of an element of an array, in the component's value */
    const reef_names *names;
    reef_compare compare;
    uint8_t parameter[2];  /* numbers of the parameters that are compared, from 1; 0: a literal */
    field_value number[2]; /* the value, and the last one of REEF_WITHIN */
    char *text;            /* of REEF_CHAR, not zero terminated; room for `bytes` */
    uint32_t length;       /* of the text */
    /* how rows are tested */
    value_form form;
    bool joined;   /* it is always fulfilled */
    bool inverted; /* the opposite, for what isn't floating point */
    uint64_t low, span;
} value_test;

/* The rows that fulfil the condition for which a value index of the world finds fewest. They are marked before a loop
 * or a question begins (src/index/index_marks.c), and only leave out rows, so results and their order are the same as
 * without an index. They are right for a block that wasn't written since, while no rows moved. */
typedef struct value_marks {
    bool used;
    uint32_t term;
    const char *field;
    uint64_t found; /* entities in the index, also of other tables */
    uint64_t rows_epoch, version;
    row_set rows;
} value_marks;

typedef char parameter_names[REEF_PARAMETERS_MAX][REEF_VARIABLE_NAME_MAX + 1];

/* The conditions of a query. */
struct value_terms {
    size_t bytes;
    reef_condition *conditions; /* of all terms, one behind the other; tests[i] is that of conditions[i] */
    uint32_t count, parameter_count;
    uint64_t missing; /* the parameters that were never set, as bits */
    uint64_t named;   /* those that are no parameters, but names of values */
    struct value_join *joins;
    uint32_t join_count;
    value_marks marks;
    parameter_names parameters;
    value_test tests[];
};

INLINE uint32_t term_conditions(const reef_term *t) { return t->op < REEF_ANY_OF && t->conditions ? t->count : 0; }
/* Has the query parameters that were never set? Then it is refused wherever it is used. */
INLINE bool parameters_missing(const query *q) { return q->near_missing || (q->values && q->values->missing); }
/* The tests of a term that has conditions, one for each of them. */
INLINE const value_test *term_tests(const query *q, uint32_t i)
{
    return q->values->tests + (q->terms[i].conditions - q->values->conditions);
}

/* Are the query's marks those of the world as it is, but for blocks that were written since? */
INLINE bool marks_hold(const query *q)
{
    return q->values && q->values->marks.used && q->values->marks.rows_epoch == q->world->rows_epoch;
}
/* A loop or a question begins: an index may find the rows. (Not inside of a loop, which may write without a new
 * version.) */
INLINE void conditions_mark(query *q)
{
    reef_world *w = q->world;
    if (UNLIKELY(q->values && w->indexes) && !w->locks && !w->running) w->indexes->mark(w, q);
}

/* ---- numbers in fields ---- */

INLINE bool kind_has_sign(reef_kind k) { return k == REEF_I8 || k == REEF_I16 || k == REEF_I32 || k == REEF_I64; }
INLINE bool kind_floats(reef_kind k) { return k == REEF_F32 || k == REEF_F64; }

/* The number in the test's field at p: the bits of one that is no float; or a float, of which a double has the same
 * value. */
INLINE uint64_t field_whole(const value_test *t, const char *p)
{
    uint8_t a;
    uint16_t b;
    uint32_t c;
    uint64_t d;
    switch (t->bytes) {
    case 1: return memcpy(&a, p, 1), a;
    case 2: return memcpy(&b, p, 2), b;
    case 4: return memcpy(&c, p, 4), c;
    default: return memcpy(&d, p, 8), d;
    }
}
INLINE double field_float(const value_test *t, const char *p)
{
    float f;
    double d;
    if (t->kind == REEF_F64) return memcpy(&d, p, 8), d;
    return memcpy(&f, p, 4), (double)f;
}

/* ---- making them (src/query/value_term.c) ---- */

/* Can these conditions be asked? BAD_ARGUMENT or LIMIT: `detail` says why not. */
reef_status reef__conditions_check(const query_text *l, uint32_t i, char *detail, size_t size);
/* Makes query.values if terms have conditions; `asked` then has the query's own copies. False: no memory. */
bool reef__values_make(query *q);
void reef__values_drop(query *q);
/* Sets the parameters: the tests and the missing ones are those of a query with the same terms. */
void reef__values_put(query *to, const value_test *tests, uint64_t missing);
/* The query can't be used: records why, which is a parameter that isn't set, or else `s`. */
COLD reef_status reef__query_refuse(reef_world *w, const char *op, const query *q, reef_status s);

/* Copies the conditions of `count` terms to `room`, which has reef__conditions_bytes for them and is aligned as they
 * are. The terms then have the copies. */
size_t reef__conditions_bytes(const reef_term *terms, uint32_t count);
void reef__conditions_keep(reef_term *terms, uint32_t count, void *room);
/* Has a condition of these terms a parameter? (Names of values are none.) */
bool reef__conditions_vary(const reef_term *terms, uint32_t count);

/* The field with this name: *offset and *bytes are those of the element, if it is one of an array. NULL: there is
 * none. */
const reef_field *reef__condition_field(const type *t, const char *name, uint32_t *offset, uint32_t *bytes);
/* Brings a literal to the field's kind. NULL: done; otherwise why not. A text stays a text, and only its length is
 * looked at. */
const char *reef__literal_take(const reef_field *f, uint32_t bytes, const reef_literal *l, field_value *to,
                               char *detail, size_t size);
/* Has a field of this kind, which is a whole number or a bool, such a number? `bits` are those of an int64_t if it is
 * negative. */
bool reef__kind_holds(reef_kind kind, uint64_t bits, bool negative);
const char *reef__kind_name(reef_kind kind);
/* Can a field be compared so? */
bool reef__kind_compares(const reef_field *f, reef_compare compare);

/* ---- their text (src/query/value_text.c) ---- */

/* Does a condition come next, rather than an entity or a variable? */
bool reef__condition_comes(const parser *p);
/* Reads one condition on a field of the type and appends it to those of the text. */
bool reef__parse_condition(parser *p, const type *t);
/* Writes a condition on a field of the type as such a text. */
void reef__condition_write(text_out *o, const reef_world *w, const type *t, const reef_condition *c);

/* ---- rows (src/query/value_filter.c) ---- */

/* Keeps the rows whose value fulfils the conditions of term i. They have the component, and those of `among` matter. */
void reef__value_rows(const look *l, uint32_t i, uint64_t *words, uint32_t first, uint32_t end);
/* The field of a test, of any entity. NULL: the entity hasn't got the component. */
const char *reef__value_field(const query *q, const value_test *t, reef_entity e);
/* The column with a test's field in a chunk, of a type in tables: where its first row has the field, and the distance
 * to the next one. NULL: the table hasn't got it. */
const char *reef__test_column(const reef_world *w, const type *x, const value_test *t, const reef_slot *slots,
                              size_t *stride);
/* Does a value fulfil all conditions of term i? `value` begins with the component. */
bool reef__value_fulfils(const query *q, uint32_t i, const void *value);
/* Has the entity, which has the component, a value that fulfils them? */
bool reef__entity_fulfils(const query *q, uint32_t i, reef_entity e);

#endif
