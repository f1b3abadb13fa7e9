/* Reading a file: the names of values of enums and bit masks. Where a name has another value in the program than in the
 * file, values are translated by name. */
#ifndef REEF_FILE_DECODE_NAMES_H
#define REEF_FILE_DECODE_NAMES_H

#include "file/decoding.h"
#include "reef/field.h"

/* A list of names in a type of the file. */
typedef struct file_names {
    reef_names names; /* its pointers lead into the following arrays */
    reef_named_value *values;
    char *texts; /* of the list itself, then of its values, each with a zero */
    uint32_t value_room, text_room, text_count;
} file_names;

typedef struct file_name_lists {
    file_names *list;
    uint32_t count, room;
} file_name_lists;

/* Reads the lists of a type. False: the error is recorded. */
bool reef__decode_name_lists(decoding *d, file_name_lists *lists);
void reef__decode_name_lists_drop(decoding *d, file_name_lists *lists);

/* Gives the step a translation from the names in the file to those in the program, if it needs one. Names that the
 * program doesn't have are noted; a difference in which a name is another value is refused. Either list may be NULL.
 * False: the error is recorded. */
bool reef__decode_renames(decoding *d, file_type *f, field_op *op, const reef_names *from, const reef_names *to,
                          const char *type_name, const char *field);
/* Translates one value. *dropped: the program has no name for what it was, in a bit mask for none of its bits. */
int64_t reef__decode_renamed(const file_type *f, const field_op *op, int64_t value, bool *dropped);

#endif
