/* What the parts of a tick call of one another.
 *
 *   tick.c      phases in order; a phase: systems begin, run, end; then what their jobs left is joined
 *   schedule.c  which systems there are
 *   pool.c      threads
 *   lane.c      ids that jobs gave out
 *   command.c   what jobs want changed
 *   event.c     what jobs sent
 *
 * In a phase, a system begins when all systems before it that collide with it have ended. Its beginning and its end happen under the
 * phase's lock, on any thread; its jobs run without. */
#ifndef REEF_TICK_H
#define REEF_TICK_H

#include "system/job.h"
#include "reef/pool.h"

/* ---- schedule (src/system/schedule.c) ---- */

/* A world leaves its schedule. */
void schedule_drop(reef_world *w);
/* One more holder of a schedule, a fork or a snapshot; one less. NULL is allowed. */
struct schedule *schedule_hold(family *f, struct schedule *s);
void schedule_leave(family *f, struct schedule *s);
/* A system that is in no schedule, with one holder. *phase: the number of the phase that it asks for (the world has a schedule then);
 * phase NULL: for reef_system_once, where neither a phase nor a name is needed. NULL: refused, and recorded. (src/system/system.c) */
struct system *system_make(reef_world *w, const char *op, const reef_system_desc *desc, uint32_t *phase);
/* A holder leaves; the last one takes the context along. */
void system_leave(family *f, struct system *s);

/* ---- threads (src/base/thread_pool.c) ---- */

/* Calls work(data, 0) on this thread, and work(data, n), n < threads, on those threads of the pool that are free meanwhile; returns when
 * all that began have returned. `work` finds out by itself what there is to do. NULL pool: this thread alone. */
void pool_run(reef_pool *pool, void (*work)(void *data, uint32_t worker), void *data);
/* Calls step(data, i) for each i < count, in no order, on these threads, and returns when all have returned. */
void pool_share(reef_pool *pool, uint32_t count, void (*step)(void *data, uint32_t i), void *data);
/* Waits until *number, which changes under the lock and whose change wakes `c`, is another one: for a moment without sleep. Under the lock, which is
 * given back meanwhile. The number is written by RELEASE_STORE. */
void pool_wait(const reef_pool *pool, mutex *lock, condvar *c, const uint32_t *number);
uint64_t pool_shuffle(const reef_pool *pool); /* the seed */

/* ---- events (src/system/event.c) ---- */

/* How many queues a job of this system needs, and the bytes of each; jobs are made with cleared ones. */
uint32_t event_queues(const struct system *s);
size_t event_queue_bytes(void);
/* A system that receives this type is about to run, or the phase ends: what these jobs sent of it (0: of all types) and what wasn't
 * gathered yet comes behind what is there, in their order. For one type the calls come in the order of (system, job); systems that
 * don't touch the type may be running. Can't fail. */
void events_gather(reef_world *w, job *jobs, uint32_t count, uint32_t component);
/* Before the systems of a phase begin: every system of the schedule that receives has a place to read from, also after a restore.
 * Quick when nothing changed. False: no memory. */
bool events_ready(reef_world *w);
/* A system that receives begins: it sees what is there now. It ends: it has seen that. (In a fork that is made in between, while no
 * other system runs, events_ready and events_begin give the system the same view.) */
void events_begin(reef_world *w, const struct system *s);
void events_end(reef_world *w, const struct system *s);
/* The phase ended, all was gathered: what somebody hasn't seen yet goes to the state, the rest is dropped. NO_MEMORY: it stays where it is, and
 * this is tried again at the next phase. */
reef_status events_settle(reef_world *w);
/* Entities that are events (src/system/event_entity.c). The tick begins, its number is counted: those that were made since the last one are of its
 * last phase. A phase had its turn, all its commands are done: those that it made the last time go. NO_MEMORY, recorded: what
 * wasn't done is done the next time. */
reef_status events_expire_begin(reef_world *w, const phase *last);
reef_status events_expire(reef_world *w, const phase *ended);
/* Room for what a system sends, and a place to read from for each type that it receives and hasn't got one for: from now on. (For the
 * systems of the schedule events_ready does it, before anything can be sent.) False: no memory, nothing changed. */
bool events_follow(reef_world *w, const struct system *s);
/* A system is gone: what it hasn't read nobody waits for any more. Another one took its place: it goes on reading there. */
void events_leave(reef_world *w, uint64_t serial);
void events_hand_over(reef_world *w, uint64_t serial, const struct system *to);

#endif
