/* file/encode_log: TODO */
#ifndef REEF_FILE_ENCODE_LOG_H
#define REEF_FILE_ENCODE_LOG_H

#include "file/encode.h"

void reef__encode_tracks_oldest(const encoding *x, uint64_t limit, uint64_t *oldest);
/* numbers the types of events, tracks, and scripts that wait. False: something failed */
bool reef__encode_events_need(encoding *x);
void reef__encode_events(encoding *x);
void reef__encode_tracks(encoding *x);
void reef__encode_lost(encoding *x);

#endif
