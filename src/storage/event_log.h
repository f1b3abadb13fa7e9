/* Events as a part of the state: rings of those that somebody hasn't read yet, and the places of their readers. */
#ifndef REEF_STORAGE_EVENT_LOG_H
#define REEF_STORAGE_EVENT_LOG_H

#include "base/platform.h"
#include "type/type.h"
#include "storage/state.h"
#include "reef/event.h"

typedef struct event_chunk {
    struct event_chunk *next;
    uint32_t bytes, count; /* of the chunk; events in it, when it is full or gathered */
} event_chunk;

enum { EVENT_CHUNK_HEAD = 64, EVENT_CHUNK_CLASSES = 4, EVENT_CHUNK_LEAST = 1024 }; /* class k: 1,024 << 2 k bytes */

typedef struct flight_type {
    event_chunk *first, *last;
    uint64_t count; /* events */
    uint64_t skip;  /* of the first chunk, that don't count any more */
} flight_type;

typedef struct event_flight {
    flight_type *types; /* as state.events */
    reef_events *views; /* as state.event_places: of the systems that run */
    uint32_t type_room, view_room;
    bool moved; /* something was sent or read: the state isn't settled */
    bool ready; /* reef__events_ready was here, when these were */
    uint64_t schedule_epoch, state_epoch;
    event_chunk *spare[EVENT_CHUNK_CLASSES];
} event_flight;

INLINE char *chunk_events(const event_chunk *k) { return (char *)(uintptr_t)k + EVENT_CHUNK_HEAD; }
/* Any thread. */
event_chunk *reef__event_chunk_take(reef_world *w, uint32_t c);
/* A list of chunks waits to be used again, in the same order: lying one behind the other in memory they stay so. (In
 * turn forwards and backwards, every other million of events took 8 ns each instead of 4.) */
void reef__event_chunks_retire(reef_world *w, event_chunk *first);
flight_type *reef__flight_of(const reef_world *w, const event_store *s);
uint64_t reef__event_end(const reef_world *w, const event_store *s);
/* An array with room for `count`, what is new cleared. False: no memory. */
bool reef__event_array(reef_world *w, void *array, uint32_t *room, uint32_t count, size_t size);
bool reef__flight_room(reef_world *w, uint32_t types, uint32_t views);
/* The events that lie side by side from `position` on, at most *n of them, which becomes their number. */
char *reef__event_piece(const event_store *s, uint64_t position, size_t size, uint32_t *n);
/* Events from ... to - 1, which are there. What is gathered afterwards doesn't matter to it. */
reef_events reef__event_cursor(const reef_world *w, const event_store *s, uint64_t from, uint64_t to);
event_place *reef__event_place_of(const reef_world *w, uint64_t serial, uint32_t component);
/* The first event of a type that is kept: the slowest reader's, but for the bound. */
uint64_t reef__event_keep(const reef_world *w, const event_store *s);
void reef__event_trim(const reef_world *w, event_store *s);

INLINE uint32_t event_chunk_class(uint32_t bytes)
{
    uint32_t c = 0;
    while (c + 1 < EVENT_CHUNK_CLASSES && (uint32_t)EVENT_CHUNK_LEAST << 2 * c < bytes) c++;
    return c;
}

/* The number of the next event of a type. */
uint64_t reef__events_end_of(const reef_world *w, uint32_t component);

/* What all readers have seen goes, and what is more than is kept. */
void reef__events_trim(reef_world *w);

/* The state was left: what wasn't part of it yet is forgotten. */
void reef__events_forget(reef_world *w);
void reef__events_drop(reef_world *w);   /* the world ends */
void reef__events_shrink(reef_world *w); /* gives back what isn't used */
reef_status reef__events_validate(const reef_world *w, char *message, size_t size);

/* The store of a type, made if need be (NULL: no memory); room for n more in its pages; they come behind its last
 * one. */
event_store *reef__event_store_ready(reef_world *w, uint32_t component);
bool reef__events_room(reef_world *w, event_store *s, uint64_t n);
void reef__events_put(event_store *s, const char *from, uint64_t count);

/* The type with such events that follows `last` by name; NULL starts, NULL: no more. */
const event_store *reef__events_after(const reef_world *w, const type *last);

/* NULL: none of this type. */
const event_store *reef__events_of(const reef_world *w, uint32_t component);

/* The events that the slowest system hasn't read, and which are still kept. */
reef_events reef__events_waiting(const reef_world *w, const event_store *s);

/* How far the systems are behind: a number that doesn't depend on their order. Is it the same? */
uint64_t reef__events_lag_hash(const reef_world *w, const event_store *s);
bool reef__events_lag_equal(const reef_world *a, const reef_world *b, uint32_t component);

#endif
