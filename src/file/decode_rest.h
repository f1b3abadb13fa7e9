/* file/decode_rest: TODO */
#ifndef REEF_FILE_DECODE_REST_H
#define REEF_FILE_DECODE_REST_H

#include "file/decode.h"

/* src/file/decode_rest.c */
bool reef__decode_time(decoding *d);
bool reef__decode_names(decoding *d);
bool reef__decode_events(decoding *d);
bool reef__decode_tracks(decoding *d);
bool reef__decode_lost(decoding *d);
bool reef__decode_scripts_done(decoding *d); /* scripts without a class are reported */
bool reef__decode_tracks_done(decoding *d);  /* rows of types that are tracked now get stamps */

#endif
