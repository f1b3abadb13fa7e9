/* file/decode_store: TODO */
#ifndef REEF_FILE_DECODE_STORE_H
#define REEF_FILE_DECODE_STORE_H

#include "file/decode.h"

/* src/file/decode_store.c */
bool reef__decode_store(decoding *d);
bool reef__decode_page(decoding *d);
bool reef__decode_several(decoding *d);
bool reef__decode_stores_done(decoding *d);

#endif
