/* Pools of threads, which run the systems of a tick. A world without a pool ticks on the thread that calls reef_tick.
 * Several worlds may share a pool. */
#ifndef REEF_POOL_H
#define REEF_POOL_H

#include "world.h"

REEF_BEGIN_C

/* A pool of threads. */
typedef struct reef_pool reef_pool;

/* The program's own job system, which is used instead of reef's threads. */
typedef struct reef_job_system {
    /* Runs task(data) at some time on some thread. It may be called from any thread that ticks or flushes a world. */
    void (*submit)(void *context, void (*task)(void *data), void *data);
    /* Returns when all tasks that were submitted from this thread have returned. It may run them on this thread. */
    void (*wait)(void *context);
    void *context;
} reef_job_system;

/* The settings of a pool; {0}: as many threads as the machine has processors. */
typedef struct reef_pool_config {
    /* 1 ... REEF_THREADS_MAX, including the thread that ticks; 0: as many as the machine has processors */
    uint32_t threads;
    reef_job_system jobs;     /* {0}: the pool starts its own threads at once, threads - 1 of them */
    reef_allocator allocator; /* {0}: the C library's */
    /* 0: jobs begin in their order. Otherwise it is a seed: jobs begin in a random order and threads yield at random,
     * so that tests see rare schedules */
    uint64_t shuffle;
} reef_pool_config;

/* Makes a pool, which the caller owns. A NULL config means all defaults. Returns NULL when the config is out of range,
 * memory runs out, or the system gives no thread. In a build without threads (REEF_NO_THREADS) a pool has one thread,
 * whatever the config says.
 *
 * In a child process that fork() made, a pool of the parent has no threads, and its job system isn't called: there a
 * world ticks on the calling thread alone, with the same results, until it is given a pool that the child made. Call
 * fork() while no world ticks. */
REEF_API reef_pool *reef_pool_new(const reef_pool_config *config);
/* Ends the pool's threads and frees it. No world may be ticking on it; worlds that still use it must be given another
 * pool, or NULL, before they tick again. NULL is allowed. */
REEF_API void reef_pool_free(reef_pool *pool);
/* Number of threads, including the one that ticks. NULL, or a pool of the parent process: 1. Any thread. */
REEF_API uint32_t reef_pool_threads(const reef_pool *pool);

/* Sets the pool for the world's ticks and for applying commands; NULL: only the calling thread. The caller still owns
 * the pool. Forks made later use it too. Errors: LOCKED. */
REEF_API reef_status reef_set_pool(reef_world *world, reef_pool *pool);
/* The world's pool; NULL: it has none. This doesn't change who owns the pool. */
REEF_API reef_pool *reef_world_pool(const reef_world *world);

REEF_END_C

#endif
