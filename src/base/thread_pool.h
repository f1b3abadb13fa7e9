/* Work on several threads of a pool. reef__pool_run calls one function on all free threads, reef__pool_share calls it
 * once for each number; both return when everything is done. */
#ifndef REEF_BASE_THREAD_POOL_H
#define REEF_BASE_THREAD_POOL_H

#include "base/platform.h"
#include "reef/pool.h"

/* Calls work(data, 0) on this thread, and work(data, n) for 0 < n < threads on those threads of the pool that are free
 * meanwhile. It returns when all calls have returned. `work` finds out by itself what is left to do. pool NULL: this
 * thread alone works. */
void reef__pool_run(reef_pool *pool, void (*work)(void *data, uint32_t worker), void *data);

/* Calls step(data, i) for each i < count, in no order, on this thread and those of the pool. It returns when all calls
 * have returned. */
void reef__pool_share(reef_pool *pool, uint32_t count, void (*step)(void *data, uint32_t i), void *data);

/* Waits until *number changes. It changes under the lock, by RELEASE_STORE, and the change wakes `c`. The wait begins
 * without sleep, for a moment. The caller holds the lock; it is released during the wait. */
void reef__pool_wait(const reef_pool *pool, mutex *lock, condvar *c, const uint32_t *number);
uint64_t reef__pool_shuffle(const reef_pool *pool); /* the seed of the config */

#endif
