/* Values of a file become values of the program's types. A plan, which decode_types.c makes once for each type, has a
 * step for each field: its bytes are copied, put into another order, converted to another kind of number, renamed, or
 * left out. A step counts the values that weren't kept. */
#ifndef REEF_FILE_CONVERSION_H
#define REEF_FILE_CONVERSION_H

#include "file/decoding.h"

bool reef__kind_is_number(uint8_t kind);
/* Gives the step a translation from the names in the file to those in the program, if it needs one. Names that the
 * program doesn't have are noted; a difference in which a name is another value is refused. Either list may be NULL.
 * False: the error is recorded. */
bool reef__decode_renames(decoding *d, file_type *f, field_op *op, const reef_names *from, const reef_names *to,
                          const char *type_name, const char *field);
/* Is the step a plain copy of bytes on this machine? */
bool reef__op_copies(const field_op *op);

/* Converts `rows` values by the type's plan, to where they are `stride` bytes apart. */
void reef__convert_rows(const file_type *f, const unsigned char *from, char *to, size_t stride, uint32_t rows);
/* Does step i of the plan for one value. */
void reef__convert_step(const file_type *f, uint32_t i, const char *from, char *to);

#endif
