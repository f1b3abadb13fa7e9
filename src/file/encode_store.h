/* file/encode_store: TODO */
#ifndef REEF_FILE_ENCODE_STORE_H
#define REEF_FILE_ENCODE_STORE_H

#include "file/encode.h"

void reef__encode_stores_oldest(const encoding *x, uint64_t limit, uint64_t *oldest);
bool reef__encode_store_differs(const encoding *x, uint32_t component);
void reef__encode_stores(encoding *x);

#endif
