/* Events: what other files than the tick know of them (for that: tick.h). */
#ifndef REEF_EVENT_INTERNAL_H
#define REEF_EVENT_INTERNAL_H

#include "time/tick.h"

/* The number of the next event of a type. */
uint64_t events_end_of(const reef_world *w, uint32_t component);
/* What all readers have seen goes, and what is more than is kept. */
void events_trim(reef_world *w);
/* The state was left: what wasn't part of it yet is forgotten. */
void events_forget(reef_world *w);
/* Places of systems that this world hasn't got, and which aren't absent either, go: a restore brought them back. */
void events_sift(reef_world *w);
/* What a system that was absent hasn't read is for the one of its name. */
void events_take_over(reef_world *w, uint64_t serial, uint64_t to);
void events_drop(reef_world *w); /* the world ends */
void events_shrink(reef_world *w); /* gives back what isn't used */
reef_status events_validate(const reef_world *w, char *message, size_t size);

/* The store of a type, made if need be (NULL: no memory); room for n more in its pages; they come behind its last one. */
event_store *event_store_ready(reef_world *w, uint32_t component);
bool events_room(reef_world *w, event_store *s, uint64_t n);
void events_put(event_store *s, const char *from, uint64_t count);

/* ---- for hashing and comparing: what systems haven't read; the host's readers don't count ---- */

/* The type with such events that follows `last` by name; NULL starts, NULL: no more. */
const event_store *events_after(const reef_world *w, const type *last);
/* NULL: none of this type. */
const event_store *events_of(const reef_world *w, uint32_t component);
/* The events that the slowest system hasn't read, and which are still kept. */
reef_events events_waiting(const reef_world *w, const event_store *s);
/* How far the systems are behind: a number that doesn't depend on their order. Is it the same? */
uint64_t events_lag_hash(const reef_world *w, const event_store *s);
bool events_lag_equal(const reef_world *a, const reef_world *b, uint32_t component);

#endif
