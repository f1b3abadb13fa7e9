/* Reading a file: the section TABL, and the tables that other sections name. */
#ifndef REEF_FILE_DECODE_TABLE_H
#define REEF_FILE_DECODE_TABLE_H

#include "file/decoding.h"

file_table *reef__get_table(decoding *d); /* the table that a section names; it is made if need be. NULL: CORRUPT */
/* The unit of a chunk. 0: CORRUPT is recorded. */
uint32_t reef__decode_unit(decoding *d, file_table *ft, uint32_t chunk);

#endif
