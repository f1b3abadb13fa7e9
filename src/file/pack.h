/* Which values files contain (docs/files/file-format.md). There they are portable bytes (src/type/portable_bytes.h). */
#ifndef REEF_FILE_PACK_H
#define REEF_FILE_PACK_H

#include "type/type.h"
#include "reef/type.h"

/* Can values of the type be written? NOT_COPYABLE: they own something and have no fields. NOT_PORTABLE: they have no
 * fields, and `raw` isn't set. */
reef_status reef__pack_allowed(const type *t, bool raw);
/* The bytes of one value in a file. 0: values aren't written, since the type is a tag, isn't copied by a fork, or isn't
 * allowed. */
uint32_t reef__pack_bytes(const type *t, bool raw);
/* Would both values be the same in a file? */
bool reef__pack_equal(const type *t, const void *p, const void *q);

#endif
