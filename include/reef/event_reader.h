/* Reading events from outside of systems, and how many are kept. */
#ifndef REEF_EVENT_READER_H
#define REEF_EVENT_READER_H

#include "event.h"

REEF_BEGIN_C

/* A reader for code outside of systems. {0} is null. It ends with its world; forks don't have it. Every call refuses
 * null and a freed reader (NOT_ALIVE), and one of another world (OTHER_WORLD). */
typedef struct reef_event_reader {
    uint32_t index, generation, world;
} reef_event_reader;
REEF_INLINE bool reef_event_reader_is_null(reef_event_reader reader) { return reader.generation == 0; }

/* Makes a reader. From now on each event of the type is kept until this reader has read it. A restore sets back how far
 * the reader has read; a reader made after the snapshot then begins after the snapshot's last event. Null on failure:
 * UNKNOWN_TYPE, NOT_COPYABLE, LIMIT, LOCKED (while systems run), NO_MEMORY. */
REEF_API reef_event_reader reef_event_reader_new(reef_world *world, reef_component type);
/* Frees a reader. Null is allowed and does nothing. Errors: NOT_ALIVE, OTHER_WORLD, LOCKED. */
REEF_API reef_status reef_event_reader_free(reef_world *world, reef_event_reader reader);
/* Copies the oldest event that this reader hasn't read to `value`, which has room for one; NULL: the event is skipped.
 * False: there is none, or the call failed: NOT_ALIVE, OTHER_WORLD, LOCKED. */
REEF_API bool reef_event_next(reef_world *world, reef_event_reader reader, void *value);
/* Number of events that were dropped between the one that the reader read last and the next one. */
REEF_API uint64_t reef_events_missed(const reef_world *world, reef_event_reader reader);

/* Sets how many events of the type are kept at most at the end of a phase or of a post. If there are more, the oldest
 * are dropped, even if some reader hasn't read them. The bound is part of the state, but not of its hash. Errors:
 * UNKNOWN_TYPE, NOT_COPYABLE, LIMIT, BAD_ARGUMENT (0), LOCKED, NO_MEMORY. */
REEF_API reef_status reef_events_bound(reef_world *world, reef_component type, uint64_t most);

REEF_END_C

#endif
