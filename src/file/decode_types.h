/* Reading a file: the section TYPE, and the plans by which a value in the file becomes one of the program's
 * type, which may have other fields or another home by now. */
#ifndef REEF_FILE_DECODE_TYPES_H
#define REEF_FILE_DECODE_TYPES_H

#include "file/decoding.h"
#include "reef/type.h"

/* The tag for a bit in the numbers of tables. NULL: the error is recorded. */
const type *reef__decode_code(decoding *d, uint32_t bit);

/* Converts `rows` values by the type's plan. */
void reef__decode_values(const file_type *f, const unsigned char *from, const value_target *to, uint32_t rows);

/* Converts one value to the program's struct, also for a split type. */
void reef__decode_value_flat(const file_type *f, const type *t, const unsigned char *from, char *to);

/* Makes a default value in raw memory: zero, or what the construct hook makes. False: the error is recorded. */
bool reef__decode_construct(decoding *d, const type *t, reef_entity e, void *to);

/* Moves the values of stand-ins to the types that they stand for, and removes the stand-ins' values. False: the
 * error is recorded. */
bool reef__decode_standins_end(decoding *d);

#endif
