/* file/decode_rows: TODO */
#ifndef REEF_FILE_DECODE_ROWS_H
#define REEF_FILE_DECODE_ROWS_H

#include "file/decode.h"

/* src/file/decode_rows.c */
bool reef__decode_sizes(decoding *d);
bool reef__decode_rows(decoding *d);
bool reef__decode_bits(decoding *d);
bool reef__decode_rows_done(decoding *d);

#endif
