/* Reading a file: the sections RESV, IDS, FREE and IDLE (all indices that have no row). */
#ifndef REEF_FILE_DECODE_IDS_H
#define REEF_FILE_DECODE_IDS_H

#include "file/decoding.h"

bool reef__decode_reserved(decoding *d);
bool reef__decode_ids(decoding *d);
bool reef__decode_free(decoding *d);
bool reef__decode_idle(decoding *d);

#endif
