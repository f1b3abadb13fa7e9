/* Conditions on the values of fields, for terms of queries.
 *
 *     reef_query weak = reef_query_new(w, "Name, Health(left < $most), Team(id == 3)");
 *     reef_query_set(w, weak, "most", 10);
 *     for (reef_block b = reef_begin(w, weak); reef_next(&b);) ...
 *
 * The same as a struct:
 *
 *     reef_query_make(w, &(reef_query_desc){.terms = {{.component = reef_id(Name)},
 *         {.component = reef_id(Health), .access = REEF_WITH, .count = 1,
 *          .conditions = &(reef_condition){"left", REEF_LESS, reef_literal_parameter("most")}}}});
 *
 * docs/manual/query-values.md has the rules. A field is one that the type's REEF_FIELDS describe. */
#ifndef REEF_CONDITION_H
#define REEF_CONDITION_H

#include "field.h"
#include "query.h"

REEF_BEGIN_C

/* How a field's value is compared. A value that is not a number (NaN) fulfils no condition. */
typedef enum reef_compare {
    REEF_EQUAL = 1, /* "==" */
    REEF_UNEQUAL,   /* "!=" */
    REEF_LESS,      /* "<"; this and the next four are for numbers */
    REEF_AT_MOST,   /* "<=" */
    REEF_MORE,      /* ">" */
    REEF_AT_LEAST,  /* ">=" */
    REEF_WITHIN,    /* "in 1..9": from `value` to `last`, both included; for no value if `last` is less */
    REEF_ANY_BIT,   /* "& 6": at least one of these bits is set; this and the next one are for whole numbers */
    REEF_ALL_BITS,  /* "has 6": all of these bits are set */
    /* "as $n": always holds, and gives the value a name (`value` is reef_literal_parameter("n")), with which other
     * conditions of the query compare: of the same term, of other components, of entities bound to variables
     * (docs/manual/query-values.md#joins) */
    REEF_AS
} reef_compare;

/* A value to compare with, or the name of a parameter. It takes the kind of the field: a fraction is rounded to the
 * nearest f32 for such a field, and is refused for a field of whole numbers. */
typedef struct reef_literal {
    /* REEF_I64, REEF_U64 (also for a REEF_BOOL: 0 or 1), REEF_F64, REEF_CHAR (`text`) or REEF_ENTITY; 0: `text` is the
     * name of a parameter, or of a value that REEF_AS names */
    reef_kind kind;
    union {
        int64_t i64;
        uint64_t u64;
        double f64;
        const char *text; /* copied by whoever takes the literal */
        reef_entity entity;
    };
} reef_literal;

/* One condition of a term. */
typedef struct reef_condition {
    const char *field; /* "left", "at.x", "slots[2]"; of a relation's data also without "data." */
    reef_compare compare;
    reef_literal value;
    reef_literal last; /* of REEF_WITHIN */
} reef_condition;

/* Literals. The texts have to live until the literal is taken. Any thread. */
REEF_API reef_literal reef_literal_i64(int64_t x);
REEF_API reef_literal reef_literal_u64(uint64_t x);
REEF_API reef_literal reef_literal_f64(double x);
REEF_API reef_literal reef_literal_text(const char *text);
REEF_API reef_literal reef_literal_entity(reef_entity entity);
/* The name of a parameter, without "$". */
REEF_API reef_literal reef_literal_parameter(const char *name);

/* Sets a parameter of a query ("$most" in its text) for all loops and questions from now on, until it is set again. The
 * text isn't read again, and nothing is allocated. A query with a parameter that was never set can't be used
 * (BAD_ARGUMENT). reef_query_copy copies what is set. Errors: NOT_ALIVE, OTHER_WORLD, LOCKED (a loop over the query is
 * open), BAD_ARGUMENT (there is no such parameter, or it is the name that REEF_AS gives a value; a field that is
 * compared with it can't be compared with this literal, or hasn't that much range; the literal is a parameter itself):
 * the parameter stays what it was. */
REEF_API reef_status reef_query_set_parameter(reef_world *world, reef_query query, const char *name,
                                              reef_literal value);
/* The same for a number, a bool, a text or a reef_entity: reef_query_set(w, q, "most", 10). */
#define reef_query_set(world, query, name, value) reef_query_set_parameter(world, query, name, reef_literal_of(value))

REEF_END_C

/* A number, a bool, a text or an entity as a literal. */
#ifndef __cplusplus
#define reef_literal_of(x) \
    _Generic((x), bool \
             : reef_literal_u64, char \
             : reef_literal_i64, signed char \
             : reef_literal_i64, short \
             : reef_literal_i64, int \
             : reef_literal_i64, long \
             : reef_literal_i64, long long \
             : reef_literal_i64, unsigned char \
             : reef_literal_u64, unsigned short \
             : reef_literal_u64, unsigned \
             : reef_literal_u64, unsigned long \
             : reef_literal_u64, unsigned long long \
             : reef_literal_u64, float \
             : reef_literal_f64, double \
             : reef_literal_f64, char * \
             : reef_literal_text, const char * \
             : reef_literal_text, reef_entity \
             : reef_literal_entity)(x)
#else
/* Templates and overloads need C++ linkage. */
static inline reef_literal reef_literal_of(bool x) { return reef_literal_u64(x); }
static inline reef_literal reef_literal_of(char x) { return reef_literal_i64(x); }
static inline reef_literal reef_literal_of(signed char x) { return reef_literal_i64(x); }
static inline reef_literal reef_literal_of(short x) { return reef_literal_i64(x); }
static inline reef_literal reef_literal_of(int x) { return reef_literal_i64(x); }
static inline reef_literal reef_literal_of(long x) { return reef_literal_i64(x); }
static inline reef_literal reef_literal_of(long long x) { return reef_literal_i64(x); }
static inline reef_literal reef_literal_of(unsigned char x) { return reef_literal_u64(x); }
static inline reef_literal reef_literal_of(unsigned short x) { return reef_literal_u64(x); }
static inline reef_literal reef_literal_of(unsigned x) { return reef_literal_u64(x); }
static inline reef_literal reef_literal_of(unsigned long x) { return reef_literal_u64(x); }
static inline reef_literal reef_literal_of(unsigned long long x) { return reef_literal_u64(x); }
static inline reef_literal reef_literal_of(float x) { return reef_literal_f64(static_cast<double>(x)); }
static inline reef_literal reef_literal_of(double x) { return reef_literal_f64(x); }
static inline reef_literal reef_literal_of(const char *x) { return reef_literal_text(x); }
static inline reef_literal reef_literal_of(reef_entity x) { return reef_literal_entity(x); }
#endif

#endif
