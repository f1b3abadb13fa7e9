/* Writing a record: the sections PAGE (values in sparse, paged and cold stores) and VALS (several values of an
 * entity, and shared values). */
#ifndef REEF_FILE_ENCODE_STORE_H
#define REEF_FILE_ENCODE_STORE_H

#include "file/encoding.h"

/* Lowers *oldest to the oldest version up to `limit` of a page that isn't as in the base. */
void reef__encode_stores_oldest(const encoding *x, uint64_t limit, uint64_t *oldest);
void reef__encode_stores(encoding *x);

#endif
