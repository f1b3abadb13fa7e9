/* Pools of threads. A world without one ticks on the thread that calls reef_tick. Several worlds may share a pool. */
#ifndef REEF_POOL_H
#define REEF_POOL_H

#include "world.h"

REEF_BEGIN_C

/* Threads that worlds tick on. */
typedef struct reef_pool reef_pool;

/* The user's own job system in place of reef's threads. */
typedef struct reef_job_system {
    /* Runs task(data) at some time on some thread. May be called from any thread that ticks a world, or
     * flushes it. */
    void (*submit)(void *context, void (*task)(void *data), void *data);
    /* Returns when all tasks that were submitted from this thread have returned. May run them here. */
    void (*wait)(void *context);
    void *context;
} reef_job_system;

/* How a pool is made; {0}: as many threads as the machine has processors. */
typedef struct reef_pool_config {
    /* 1 ... REEF_THREADS_MAX, the thread that ticks included; 0: as many as the machine has processors */
    uint32_t threads;
    reef_job_system jobs;     /* {0}: the pool makes its own threads (threads - 1 of them, at once) */
    reef_allocator allocator; /* {0}: the C library's */
    /* 0: jobs begin in their order. Else a seed: jobs begin in another order, and threads yield, at random, so that
     * tests see schedules that are rare */
    uint64_t shuffle;
} reef_pool_config;

/* NULL config: all defaults. NULL: out of range, no memory, or the system gives no thread. Built without threads
 * (REEF_NO_THREADS) a pool has one thread, whatever is asked for. */
REEF_API reef_pool *reef_pool_new(const reef_pool_config *config);
/* Ends its threads. No world may be ticking on it; worlds that still have it must get another one, or NULL, before
 * they tick again. NULL is allowed. */
REEF_API void reef_pool_free(reef_pool *pool);
/* How many threads it has, the one that ticks included. NULL: 1. Any thread. */
REEF_API uint32_t reef_pool_threads(const reef_pool *pool);

/* The world's ticks, and what is done of commands, use this pool from now on; NULL: the calling thread alone. Forks
 * made later use it too. Errors: LOCKED. */
REEF_API reef_status reef_set_pool(reef_world *world, reef_pool *pool);
/* The world's pool, NULL: it has none. It isn't the caller's by that. */
REEF_API reef_pool *reef_world_pool(const reef_world *world);

REEF_END_C

#endif
