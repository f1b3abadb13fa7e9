/* file/encode_ids: TODO */
#ifndef REEF_FILE_ENCODE_IDS_H
#define REEF_FILE_ENCODE_IDS_H

#include "file/encode.h"

void reef__encode_ids(encoding *x);
void reef__encode_names(encoding *x);

#endif
