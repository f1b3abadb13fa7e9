/* Fields describe the members of a component's struct. Printing, files, tools and the home REEF_SPLIT use them;
 * everything else works without them.
 *
 *     typedef enum Mood { CALM, ANGRY, FLEEING } Mood;
 *     REEF_ENUM(Mood, CALM, ANGRY, FLEEING);              its values have names
 *
 *     typedef struct Point { float x, y; } Point;
 *     REEF_STRUCT(Point, x, y);                           a struct that is a member of others
 *
 *     typedef struct Crab { Point at; float mass; Mood mood; char label[16]; } Crab;
 *     REEF_COMPONENT(Crab);
 *     REEF_FIELDS(Crab, (at, struct, Point), (mass, "kg", 0, 1e6), (mood, enum, Mood), label);
 *
 * A field that was renamed: reef/renamed.h. Each field is one of these:
 *
 *     member                                  what it holds follows from its C type
 *     (member, "unit")
 *     (member, "unit", lowest, highest)       the range that tools offer
 *     (member, enum, Name)                    its values have the names of REEF_ENUM(Name, ...) or REEF_MASK(Name, ...)
 *     (member, struct, Name)                  a Name, or an array of them: its fields become "member.x", "member.y"
 *     (member, kind, "unit", lowest, highest) of a kind of your own, such as REEF_U8 for a member as bytes
 *
 * A member may be a number of any size, a bool, an enum, a reef_entity, text (char), or an array of these. Members of
 * members work too: box.min. */
#ifndef REEF_FIELD_H
#define REEF_FIELD_H

#include "compiler.h"
#include "handle.h"

REEF_BEGIN_C

/* ---- fields ---- */

/* What a field holds. */
typedef enum reef_kind {
    REEF_BOOL = 1,
    REEF_I8,
    REEF_U8,
    REEF_I16,
    REEF_U16,
    REEF_I32,
    REEF_U32,
    REEF_I64,
    REEF_U64,
    REEF_F32,
    REEF_F64,
    REEF_CHAR,  /* text in an array of `bytes` bytes, zero terminated if shorter */
    REEF_ENTITY /* a reef_entity */
} reef_kind;

/* A value of an enum, or bits of a bit mask, and its name. In a field of REEF_U64 the value has the same 64 bits. */
typedef struct reef_named_value {
    const char *name; /* as the name of a type, and it doesn't begin with a digit */
    int64_t value;
} reef_named_value;

/* The names of an enum or of a bit mask. Neither two names nor two values are the same. */
typedef struct reef_names {
    const char *name; /* of the enum itself; as the name of a type */
    const reef_named_value *values;
    uint32_t count; /* 1 ... REEF_NAMES_MAX */
    bool mask;      /* a value is any set of these bits */
} reef_names;

/* A field of a component. `lowest` and `highest` are the range that tools offer; both 0: no range. */
typedef struct reef_field {
    const char *name;
    reef_kind kind;
    uint32_t offset;  /* bytes from the struct's start */
    uint32_t bytes;   /* the whole member; an array has bytes / size of kind elements */
    const char *unit; /* "m", "m/s"; NULL: none */
    double lowest, highest;
    const reef_names *names; /* of an enum or bit mask, which is kept as a whole number; NULL: none */
    /* Only where fields are declared: the fields of a member that is a struct, or an array of structs. Then `kind` is
     * 0. reef_type_get returns the fields of the struct instead, named "member.field" or "member[0].field". */
    const struct reef_field_list *nested;
    /* The names that the field had before, with ", " between them; NULL: none. Where values are paired by the names of
     * fields, a field without one of its own name takes the one of an old name. */
    const char *was;
} reef_field;

/* The fields of a struct. */
typedef struct reef_field_list {
    const reef_field *fields;
    uint32_t count;
    uint32_t bytes; /* size of the struct */
} reef_field_list;

REEF_END_C

#include "detail/field.h"

/* The names of the values of an enum, at most 64. Place it beside the enum. Each is a constant, or (constant, "name")
 * if the name is another one. In C++ what is before the last :: isn't part of the name. */
#define REEF_ENUM(Name, ...) REEF_NAMES_DECLARE_(Name, false, __VA_ARGS__)
/* The names of the bits of a bit mask, in the same way. Name needs to be no type: the member may be a uint32_t. */
#define REEF_MASK(Name, ...) REEF_NAMES_DECLARE_(Name, true, __VA_ARGS__)

/* The fields of a struct that isn't a component, for components that have it as a member. */
#define REEF_STRUCT(T, ...) \
    REEF_FIELDS_CHECK_(T, __VA_ARGS__) \
    static const reef_field reef_fields_##T[] = {REEF_EACH_(REEF_FIELD_OF_, T, __VA_ARGS__)}; \
    REEF_UNUSED static const reef_field_list reef_declared_by_REEF_STRUCT_##T = { \
        reef_fields_##T, REEF_CAST(uint32_t, sizeof reef_fields_##T / sizeof reef_fields_##T[0]), \
        REEF_CAST(uint32_t, sizeof(T))}

#endif
