/* Reading a file: the sections PAGE (values in sparse, paged and cold stores) and VALS (several values of an
 * entity, and shared values). */
#ifndef REEF_FILE_DECODE_STORE_H
#define REEF_FILE_DECODE_STORE_H

#include "file/decoding.h"

bool reef__decode_page(decoding *d);
bool reef__decode_several(decoding *d);
/* The end of the file: all values are there, and relations are found by their targets. */
bool reef__decode_relations_done(decoding *d);

#endif
