/* Which values files contain (docs/files/file-format.md). There they are portable bytes (src/type/portable_bytes.h). */
#ifndef REEF_FILE_PACK_H
#define REEF_FILE_PACK_H

#include "type/type.h"
#include "reef/type.h"

/* What becomes of values that fields don't describe as a whole. */
typedef enum pack_form {
    PACK_PORTABLE = 0, /* they aren't written */
    PACK_RAW,          /* without fields, and if they are plain, they are written as bytes */
    /* What is written is read at once by the same process, while the world is as it is: values with hooks, and values
     * with bytes outside of their fields, are written as their addresses (decode_carry.h) */
    PACK_HERE
} pack_form;

/* Are values of the type written as addresses? */
bool reef__pack_by_address(const type *t, pack_form form);
/* Can values of the type be written? NOT_COPYABLE: they own something and have no fields. NOT_PORTABLE: they have no
 * fields, and the form is PACK_PORTABLE. */
reef_status reef__pack_allowed(const type *t, pack_form form);
/* The bytes of one value in a file. 0: values aren't written, since the type is a tag, isn't copied by a fork, or isn't
 * allowed. */
uint32_t reef__pack_bytes(const type *t, pack_form form);
/* Writes n values that lie side by side in memory. */
void reef__pack_values(const type *t, pack_form form, unsigned char *to, const void *from, size_t n);
/* Would both values be the same in a file? */
bool reef__pack_equal(const type *t, const void *p, const void *q);

#endif
