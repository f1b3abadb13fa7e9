/* Writing a record: the sections IDS, FREE and IDLE (all indices that have no row), and NAME. */
#ifndef REEF_FILE_ENCODE_IDS_H
#define REEF_FILE_ENCODE_IDS_H

#include "file/encoding.h"

void reef__encode_ids(encoding *x);
void reef__encode_names(encoding *x);

#endif
