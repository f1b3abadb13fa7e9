/* Writing a record as a whole: src/file/encode.c. */
#ifndef REEF_FILE_ENCODE_H
#define REEF_FILE_ENCODE_H

#include "file/record.h"
#include "file/section.h"

/* Writes a record. The answer is the status of `o`. Every error but IO is recorded as the world's last error, for this
 * operation. After an error neither `o` nor the numbering can be used any further. Nothing visible of either world
 * changes. */
reef_status reef__record_write(section_out *o, numbering *n, const record_desc *d, const char *operation);

#endif
