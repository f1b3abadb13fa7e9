/* Reading a file: the section TYPE, and the plans by which a value in the file becomes one of the program's
 * type, which may have other fields or another home by now. */
#ifndef REEF_FILE_DECODE_TYPES_H
#define REEF_FILE_DECODE_TYPES_H

#include "file/decoding.h"
#include "reef/type.h"

/* A type of the file while its description is read. */
typedef struct type_reading {
    decoding *d;
    file_type *f;
    reef_field *fields; /* of the writer's struct */
    uint32_t *at;       /* where each is in the file's value */
    uint32_t count, align, base;
} type_reading;
/* Finds the program's type for it, or makes one, and the plan for its values. False: the error is recorded. */
bool reef__decode_type_resolve(type_reading *x);

/* The tag for a bit in the numbers of tables. NULL: the error is recorded. */
const type *reef__decode_code(decoding *d, uint32_t bit);

/* Converts `rows` values by the type's plan to structs of the program that lie side by side, `size` bytes each. */
void reef__decode_values(const file_type *f, const unsigned char *from, char *to, size_t size, uint32_t rows);

/* Makes a default value in raw memory: zero, or what the construct hook makes. False: the error is recorded. */
bool reef__decode_construct(decoding *d, const type *t, reef_entity e, void *to);

/* Moves the values of stand-ins to the types that they stand for, and removes the stand-ins' values. False: the
 * error is recorded. */
bool reef__decode_standins_end(decoding *d);

#endif
