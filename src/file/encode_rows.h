/* Writing a record: the sections ROWS (the rows of tables) and BITS (switches, marks, and who has values in
 * stores). */
#ifndef REEF_FILE_ENCODE_ROWS_H
#define REEF_FILE_ENCODE_ROWS_H

#include "file/encoding.h"

/* Lower *oldest to the oldest version up to `limit` of a block, or of a word of bits, that isn't as in the base. */
void reef__encode_rows_oldest(const encoding *x, uint64_t limit, uint64_t *oldest);
void reef__encode_bits_oldest(const encoding *x, uint64_t limit, uint64_t *oldest);

void reef__encode_rows(encoding *x);
void reef__encode_bits(encoding *x);

#endif
