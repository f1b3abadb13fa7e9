/* base/thread_pool: TODO */
#ifndef REEF_BASE_THREAD_POOL_H
#define REEF_BASE_THREAD_POOL_H

#include "base/platform.h"
#include "reef/pool.h"

/* Calls work(data, 0) on this thread, and work(data, n), n < threads, on those threads of the pool that are free
 * meanwhile; returns when all that began have returned. `work` finds out by itself what there is to do. NULL pool:
 * this thread alone. */
void reef__pool_run(reef_pool *pool, void (*work)(void *data, uint32_t worker), void *data);

/* Calls step(data, i) for each i < count, in no order, on these threads, and returns when all have returned. */
void reef__pool_share(reef_pool *pool, uint32_t count, void (*step)(void *data, uint32_t i), void *data);

/* Waits until *number, which changes under the lock and whose change wakes `c`, is another one: for a moment without
 * sleep. Under the lock, which is given back meanwhile. The number is written by RELEASE_STORE. */
void reef__pool_wait(const reef_pool *pool, mutex *lock, condvar *c, const uint32_t *number);
uint64_t reef__pool_shuffle(const reef_pool *pool); /* the seed */

#endif
