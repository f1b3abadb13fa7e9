/* Writing a record: the sections EVNT (events that wait for a system), TRAK (stamps of tracked types) and LOST (scripts
 * that wait for their end). All three say what systems haven't seen yet. */
#ifndef REEF_FILE_ENCODE_LOG_H
#define REEF_FILE_ENCODE_LOG_H

#include "file/encoding.h"

/* Lowers *oldest to the oldest stamp up to `limit` that isn't as in the base. */
void reef__encode_tracks_oldest(const encoding *x, uint64_t limit, uint64_t *oldest);
void reef__encode_events(encoding *x);
void reef__encode_tracks(encoding *x);
void reef__encode_lost(encoding *x);

#endif
