/* Events: what other files than the tick know of them (for that: tick.h). */
#ifndef REEF_SYSTEM_EVENT_H
#define REEF_SYSTEM_EVENT_H

#include "system/job.h"
#include "reef/type.h"

/* Places of systems that this world hasn't got, and which aren't absent either, go: a restore brought them back. */
void reef__events_sift(reef_world *w);
/* What a system that was absent hasn't read is for the one of its name. */
void reef__events_take_over(reef_world *w, uint64_t serial, uint64_t to);

/* ---- for hashing and comparing: what systems haven't read; the host's readers don't count ---- */

/* How many queues a job of this system needs, and the bytes of each; jobs are made with cleared ones. */
uint32_t reef__event_queues(const struct system *s);
size_t reef__event_queue_bytes(void);

/* A system that receives this type is about to run, or the phase ends: what these jobs sent of it (0: of all types)
 * and what wasn't gathered yet comes behind what is there, in their order. For one type the calls come in the order
 * of (system, job); systems that don't touch the type may be running. Can't fail. */
void reef__events_gather(reef_world *w, job *jobs, uint32_t count, uint32_t component);

/* Before the systems of a phase begin: every system of the schedule that receives has a place to read from, also
 * after a restore. Quick when nothing changed. False: no memory. */
bool reef__events_ready(reef_world *w);

/* A system that receives begins: it sees what is there now. It ends: it has seen that. (In a fork that is made in
 * between, while no other system runs, reef__events_ready and reef__events_begin give the system the same view.) */
void reef__events_begin(reef_world *w, const struct system *s);
void reef__events_end(reef_world *w, const struct system *s);

/* The phase ended, all was gathered: what somebody hasn't seen yet goes to the state, the rest is dropped.
 * NO_MEMORY: it stays where it is, and this is tried again at the next phase. */
reef_status reef__events_settle(reef_world *w);

/* Room for what a system sends, and a place to read from for each type that it receives and hasn't got one for: from
 * now on. (For the systems of the schedule reef__events_ready does it, before anything can be sent.) False: no
 * memory, nothing changed. */
bool reef__events_follow(reef_world *w, const struct system *s);

/* A system is gone: what it hasn't read nobody waits for any more. Another one took its place: it goes on reading
 * there. */
void reef__events_leave(reef_world *w, uint64_t serial);
void reef__events_hand_over(reef_world *w, uint64_t serial, const struct system *to);

#endif
