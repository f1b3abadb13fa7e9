/* Events of systems: what a phase and its jobs do with events. src/system/event.c describes how they flow;
 * src/storage/event_log.h has the part that belongs to the state. */
#ifndef REEF_SYSTEM_EVENT_H
#define REEF_SYSTEM_EVENT_H

#include "system/job.h"
#include "reef/type.h"

/* Drops the positions of systems that this world doesn't have and that aren't absent systems either. A restored state
 * may hold such positions. */
void reef__events_sift(reef_world *w);
/* What an absent system hasn't read yet is kept for the system of the same name, which has the serial number `to`. */
void reef__events_take_over(reef_world *w, uint64_t serial, uint64_t to);

/* Returns the number of queues that a job of this system needs, and the bytes of one queue. Every job starts with
 * zeroed queues. */
uint32_t reef__event_queues(const struct system *s);
size_t reef__event_queue_bytes(void);

/* Called when a system that receives this type is about to run, and at the end of a phase. Everything that these jobs
 * sent of the type (0: of all types) and that wasn't gathered yet is appended to what is there, in the order of the
 * jobs. For one type the calls must come in the order of (system, job). Systems that don't touch the type may be
 * running. Can't fail. */
void reef__events_gather(reef_world *w, job *jobs, uint32_t count, uint32_t component);

/* Called before the systems of a phase begin: gives every system of the schedule that receives events a position to
 * read from, also after a restore. Quick when nothing changed. False: no memory. */
bool reef__events_ready(reef_world *w);

/* Begin: a system that receives events is about to run; its view is what is there now. End: the system has read that
 * view. (In a fork that is made in between, while no other system runs, reef__events_ready and reef__events_begin give
 * the system the same view.) */
void reef__events_begin(reef_world *w, const struct system *s);
void reef__events_end(reef_world *w, const struct system *s);

/* The phase ended and everything was gathered: events that somebody hasn't read yet go to the state, the rest is
 * dropped. NO_MEMORY: they stay in flight, and this is tried again at the next phase. */
reef_status reef__events_keep(reef_world *w);

/* Makes a store for each type that a system sends, and gives it a position for each type that it receives and has none
 * for; it reads from now on. (For the systems of the schedule reef__events_ready does this, before anything can be
 * sent.) False: no memory, nothing changed. */
bool reef__events_follow(reef_world *w, const struct system *s);

/* Leave: a system is gone, and nobody waits for what it hasn't read. Hand over: another system took its place and goes
 * on reading at the same positions. */
void reef__events_leave(reef_world *w, uint64_t serial);
void reef__events_hand_over(reef_world *w, uint64_t serial, const struct system *to);

#endif
