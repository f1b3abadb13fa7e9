/* Reading a file as a whole: src/file/decode.c. */
#ifndef REEF_FILE_DECODE_H
#define REEF_FILE_DECODE_H

#include "file/record.h"
#include "file/section.h"

/* Reads a whole file into the world aside and proves it sound. That world is blank, or for a difference in the state
 * before. `target` gets the messages and has the systems. False: status, detail and place are in `in`, and `loaded` can
 * only be freed. */
bool reef__file_read(section_in *in, record_load *r, reef_world *loaded, reef_world *target);
void reef__record_load_drop(record_load *r);

#endif
