/* Fields describe the members of a component's struct. Printing, files, tools and the home REEF_SPLIT use them;
 * everything else works without them. */
#ifndef REEF_FIELD_H
#define REEF_FIELD_H

#include "compiler.h"

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

/* A field of a component. `lowest` and `highest` are the range that tools offer; both 0: no range. */
typedef struct reef_field {
    const char *name;
    reef_kind kind;
    uint32_t offset;  /* bytes from the struct's start */
    uint32_t bytes;   /* the whole member; an array has bytes / size of kind elements */
    const char *unit; /* "m", "m/s"; NULL: none */
    double lowest, highest;
} reef_field;

/* A field by its member's name; nested members and arrays are allowed: REEF_FIELD(Body, box.min, REEF_F32, "m", 0,
 * 0). */
#define REEF_FIELD(T, member, kind, unit, lowest, highest) \
    { \
#member, kind, REEF_CAST(uint32_t, offsetof(T, member)), \
            REEF_CAST(uint32_t, sizeof(REEF_CAST(T *, 0)->member)), unit, lowest, highest \
    }

REEF_END_C

#endif
