/* Reading a file: the names of values of enums and bit masks. Where a name has another value in the program than in the
 * file, values are translated by name. */
#ifndef REEF_FILE_DECODE_NAMES_H
#define REEF_FILE_DECODE_NAMES_H

#include "file/decoding.h"
#include "reef/field.h"

/* Reads the lists of names of a type, and which field has which: they are numbered in the order in which fields need
 * them. False: the error is recorded. */
bool reef__decode_field_names(decoding *d, reef_field *fields, uint32_t count);

/* Gives the step a translation from the names in the file to those in the program, if it needs one. Names that the
 * program doesn't have are noted; a difference in which a name is another value is refused. Either list may be NULL.
 * False: the error is recorded. */
bool reef__decode_renames(decoding *d, file_type *f, field_op *op, const reef_names *from, const reef_names *to,
                          const char *type_name, const char *field);
/* Translates one value. *dropped: the program has no name for what it was, in a bit mask for none of its bits. */
int64_t reef__decode_renamed(const file_type *f, const field_op *op, int64_t value, bool *dropped);

#endif
