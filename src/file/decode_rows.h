/* Reading a file: the sections ROWS (the rows of tables) and BITS (switches, marks, and who has values in
 * stores). */
#ifndef REEF_FILE_DECODE_ROWS_H
#define REEF_FILE_DECODE_ROWS_H

#include "file/decoding.h"

bool reef__decode_rows(decoding *d);
bool reef__decode_bits(decoding *d);
/* At the end of a record: does each table have the rows that were promised? */
bool reef__decode_rows_done(decoding *d);

#endif
