/* file/encode_rows: TODO */
#ifndef REEF_FILE_ENCODE_ROWS_H
#define REEF_FILE_ENCODE_ROWS_H

#include "file/encode.h"

/* The oldest version, of those up to `limit`, of what isn't as in the base; *oldest stays what it is if there is
 * none. */
void reef__encode_rows_oldest(const encoding *x, uint64_t limit, uint64_t *oldest);
void reef__encode_bits_oldest(const encoding *x, uint64_t limit, uint64_t *oldest);

/* What both have the same pointer or number of is skipped. Is there something of this table, of these rows? */
bool reef__encode_table_differs(const encoding *x, uint32_t id);
void reef__encode_sizes(encoding *x);
void reef__encode_rows(encoding *x);
bool reef__encode_bits_differ(const encoding *x, uint32_t key);
void reef__encode_bits(encoding *x);

#endif
