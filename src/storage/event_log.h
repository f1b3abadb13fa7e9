/* Events: rings of those events that some reader hasn't read yet, and the places of the readers, both of which are part
 * of the state; and the events in flight, which were sent but aren't part of the state yet. */
#ifndef REEF_STORAGE_EVENT_LOG_H
#define REEF_STORAGE_EVENT_LOG_H

#include "storage/state.h"
#include "reef/event.h"

/* The highest position of an event that a file may have: far above what any world comes to. */
#define EVENT_POSITION_MAX (UINT64_MAX / 4)

typedef struct event_chunk {
    struct event_chunk *next;
    uint32_t bytes, count; /* size of the chunk; number of events in it, when it is full or gathered */
} event_chunk;

/* a chunk of class k has 1,024 << 2 k bytes */
enum { EVENT_CHUNK_HEAD = 64, EVENT_CHUNK_CLASSES = 4, EVENT_CHUNK_LEAST = 1024 };

typedef struct flight_type {
    event_chunk *first, *last;
    uint64_t count; /* number of events */
    uint64_t skip;  /* number of events at the front of the first chunk that don't count any more */
} flight_type;

typedef struct event_flight {
    flight_type *types; /* in the order of state.events */
    reef_events *views; /* in the order of state.event_places, for the systems that run */
    uint32_t type_room, view_room;
    bool moved; /* something was sent or read since the state was last settled */
    bool ready; /* reef__events_ready has run, with the two epochs below */
    uint64_t schedule_epoch, state_epoch;
    event_chunk *spare[EVENT_CHUNK_CLASSES];
} event_flight;

INLINE char *chunk_events(const event_chunk *k) { return (char *)(uintptr_t)k + EVENT_CHUNK_HEAD; }
/* Takes a chunk. Any thread may call this. */
event_chunk *reef__event_chunk_take(reef_world *w, uint32_t c);
/* Keeps a list of chunks for the next use, in the same order: chunks that lie one behind the other in memory stay so.
 * (When the order turned round at each use, every other million of events took 8 ns each instead of 4.) */
void reef__event_chunks_retire(reef_world *w, event_chunk *first);
flight_type *reef__flight_of(const reef_world *w, const event_store *s);
uint64_t reef__event_end(const reef_world *w, const event_store *s);
bool reef__flight_room(reef_world *w, uint32_t types, uint32_t views);
/* The events that lie side by side from `position` on, at most *n of them; *n becomes their number. */
char *reef__event_piece(const event_store *s, uint64_t position, size_t size, uint32_t *n);
/* A cursor over the events from ... to - 1, which exist. Events that are gathered later don't disturb it. */
reef_events reef__event_cursor(const reef_world *w, const event_store *s, uint64_t from, uint64_t to);
event_place *reef__event_place_of(const reef_world *w, uint64_t serial, uint32_t component);
/* The number of the first event of a type that is kept: the first that some reader hasn't read, but no more events than
 * the type's limit. */
uint64_t reef__event_keep(const reef_world *w, const event_store *s);
void reef__event_trim(const reef_world *w, event_store *s);

INLINE uint32_t event_chunk_class(uint32_t bytes)
{
    uint32_t c = 0;
    while (c + 1 < EVENT_CHUNK_CLASSES && (uint32_t)EVENT_CHUNK_LEAST << 2 * c < bytes) c++;
    return c;
}

/* The number that the next event of a type gets. */
uint64_t reef__events_end_of(const reef_world *w, uint32_t component);

/* Drops the events that all readers have read, and those beyond the limit of each type. */
void reef__events_trim(reef_world *w);

/* To be called when the world gets another state: drops the events in flight. */
void reef__events_forget(reef_world *w);
void reef__events_drop(reef_world *w);   /* to be called when the world ends */
void reef__events_shrink(reef_world *w); /* frees spare memory */
reef_status reef__events_validate(const reef_world *w, char *message, size_t size);

/* reef__event_store_ready: the store of a type, which is made if there is none (NULL: there is no memory).
 * reef__events_room: makes room for n more events in its pages. reef__events_put: appends them. */
event_store *reef__event_store_ready(reef_world *w, uint32_t component);
bool reef__events_room(reef_world *w, event_store *s, uint64_t n);
void reef__events_put(event_store *s, const char *from, uint64_t count);

/* The store of a type; NULL: there is none. */
const event_store *reef__events_of(const reef_world *w, uint32_t component);

/* The events, as far as they are still kept, that the slowest system hasn't read. */
reef_events reef__events_waiting(const reef_world *w, const event_store *s);

/* How far systems are behind, as a number that doesn't depend on the order of systems. */
uint64_t reef__events_lag_hash(const reef_world *w, const event_store *s);

#endif
