/* file/decode_store: TODO */
#ifndef REEF_FILE_DECODE_STORE_H
#define REEF_FILE_DECODE_STORE_H

#include "file/decode.h"

/* src/file/decode_store.c */
bool decode_store(decoding *d);
bool decode_page(decoding *d);
bool decode_several(decoding *d);
bool decode_stores_done(decoding *d);

#endif
