/* Reading a file: the sections TIME, NAME, EVNT, TRAK and LOST: what systems have seen and what they haven't, and the
 * names of entities. */
#ifndef REEF_FILE_DECODE_REST_H
#define REEF_FILE_DECODE_REST_H

#include "file/decoding.h"

bool reef__decode_time(decoding *d);
bool reef__decode_names(decoding *d);
bool reef__decode_events(decoding *d);
bool reef__decode_tracks(decoding *d);
bool reef__decode_lost(decoding *d);
/* After the last record: reports scripts whose class isn't known; in a difference they are an error. */
bool reef__decode_scripts_done(decoding *d);
/* After the last record: gives stamps to entities that have none, for types that weren't tracked in the file. */
bool reef__decode_tracks_done(decoding *d);

#endif
