/* Pools: threads that help whoever runs something.
 *
 *      reef__pool_run ──► session: work, data         in a list, the oldest first; it lies on its caller's stack
 *                      │
 *      free thread ────┘ begins on the first session that it hasn't seen; sleeps when there is none
 *
 * The caller does the work as well, so that every session gets on, however busy the threads are. When the caller has
 * done its part, its session leaves the list. Then no thread begins on it any more, and the caller waits for the
 * threads that have begun.
 *
 * In a child that fork() made there are no threads but the caller's, and the lock may be held by one that isn't there.
 * So a pool of the parent does nothing there but the caller's part, and doesn't touch its lock and conditions again.
 *
 * With a job system of the user's the pool has no threads: each session submits one task for each number. A task that
 * starts too late does nothing. A task that submit runs at once, on the caller's own thread, does nothing either: the
 * work could wait for the caller for ever.
 *
 * A thread that has finished looks out for the next session for about 15 us before it sleeps, if there is a processor
 * for each thread. The phases of a tick follow one another more closely than that; waking a sleeping thread took 18 to
 * 40 us, waking one that looks out 0.2. While another thread is at work it looks out ten times as long, and so does a
 * thread that waits for others to end: a job that is worth being one takes about as long, and sleeping at its end cost
 * a phase 40 us. */
#define _DEFAULT_SOURCE /* for sysconf */
#include "base/thread_pool.h"
#include "base/memory.h"
#include "reef/pool.h"

#if !defined(REEF_NO_THREADS) && !defined(_WIN32)
#include <pthread.h>
#include <unistd.h>
#endif

enum { POOL_LOOKS = 400, POOL_WAITS = 10 /* a wait for others' work looks out this many times as long */ };

typedef struct session session;

/* The part of a session that a job system runs as one task. */
typedef struct pool_task {
    session *session;
    uint32_t number;
} pool_task;

struct session {
    session *next;
    uint64_t serial; /* later sessions have greater numbers */
    void (*work)(void *data, uint32_t worker);
    void *data;
    uint32_t running; /* threads that work on it, without the caller */
    /* With a job system only: */
    reef_pool *pool;
    thread_name caller;
    bool closed;
    pool_task tasks[REEF_THREADS_MAX - 1];
};

typedef struct pool_thread {
    thread thread;
    reef_pool *pool;
    uint32_t number;
} pool_thread;

struct reef_pool {
    uint32_t threads; /* with the caller */
    reef_job_system jobs;
    reef_allocator allocator;
    uint64_t shuffle;
    uint32_t looks;  /* how often a thread looks for a session before it sleeps */
    uint32_t forks;  /* process_forks when it was made; another number: its threads are in the parent */
    size_t bytes;    /* size of this allocation */
    mutex lock;      /* guards what follows, and the sessions */
    condvar wanted;  /* woken when there is a session, and at the end */
    condvar through; /* woken when the last thread leaves a session */
    session *first, *last;
    uint64_t serial;
    uint32_t opened; /* lower half of the last serial number, which look_out reads */
    uint32_t sleeping;
    bool ending;
    uint32_t made;        /* threads that were started */
    pool_thread thread[]; /* threads - 1 of them, none with a job system */
};

/* ---- processes ---- */

/* How often fork() made the process that this code runs in, beginning with the process that made the first pool. */
static uint32_t process_forks;

#if defined(REEF_NO_THREADS) || defined(_WIN32)
static bool forks_count(void) { return true; }
#else
static void fork_note(void) { process_forks++; }

/* Begins to count forks. Two threads that begin at once count each fork twice, which does no harm. False: there is no
 * memory. */
static bool forks_count(void)
{
    static uint32_t counted;
    if (REEF_ACQUIRE_U32(&counted)) return true;
    if (pthread_atfork(NULL, NULL, fork_note) != 0) return false;
    RELEASE_STORE(&counted, 1u);
    return true;
}
#endif

/* Does the pool belong to a parent of this process? Then the calling thread is alone. */
static bool pool_left_behind(const reef_pool *p) { return p->forks != process_forks; }

/* ---- threads ---- */

/* The first session with a later serial number than `seen`. */
static session *session_behind(const reef_pool *p, uint64_t seen)
{
    session *s = p->first;
    while (s && s->serial <= seen) s = s->next;
    return s;
}

/* Waits a moment until *number, which changes under the lock, isn't `was` any more. The lock is released meanwhile. */
static void look_out(mutex *lock, uint32_t looks, const uint32_t *number, uint32_t was)
{
    mutex_unlock(lock);
    for (uint32_t i = 0; i < looks && REEF_ACQUIRE_U32(number) == was; i++) PROCESSOR_PAUSE();
    mutex_lock(lock);
}

void reef__pool_wait(const reef_pool *p, mutex *lock, condvar *c, const uint32_t *number)
{
    const uint32_t was = *number, looks = p ? p->looks * POOL_WAITS : 0;
    if (looks) look_out(lock, looks, number, was);
    while (*number == was) condvar_wait(c, lock);
}

static void pool_thread_run(void *data)
{
    const pool_thread *me = data;
    reef_pool *p = me->pool;
    uint64_t seen = 0;
    bool rested = true; /* it has run nothing since it last looked out */
    mutex_lock(&p->lock);
    while (!p->ending) {
        session *s = session_behind(p, seen);
        if (s == NULL && !rested) {
            look_out(&p->lock, p->first ? p->looks * POOL_WAITS : p->looks, &p->opened, p->opened);
            rested = true;
            continue;
        }
        if (s == NULL) {
            p->sleeping++;
            condvar_wait(&p->wanted, &p->lock);
            p->sleeping--;
            continue;
        }
        rested = false;
        seen = s->serial;
        RELEASE_STORE(&s->running, s->running + 1);
        mutex_unlock(&p->lock);
        s->work(s->data, me->number);
        mutex_lock(&p->lock);
        RELEASE_STORE(&s->running, s->running - 1);
        if (s->running == 0) condvar_wake(&p->through);
    }
    mutex_unlock(&p->lock);
}

static void session_open(reef_pool *p, session *s)
{
    mutex_lock(&p->lock);
    s->serial = ++p->serial;
    RELEASE_STORE(&p->opened, (uint32_t)p->serial);
    if (p->last) p->last->next = s;
    else p->first = s;
    p->last = s;
    bool wake = p->sleeping != 0; /* the threads that are awake look for themselves */
    mutex_unlock(&p->lock);
    if (wake) condvar_wake(&p->wanted);
}

static void session_close(reef_pool *p, session *s)
{
    mutex_lock(&p->lock);
    session *before = NULL;
    for (session *at = p->first; at != s; at = at->next) before = at;
    if (before) before->next = s->next;
    else p->first = s->next;
    if (p->last == s) p->last = before;
    while (s->running) reef__pool_wait(p, &p->lock, &p->through, &s->running);
    mutex_unlock(&p->lock);
}

/* ---- a job system ---- */

static void pool_task_run(void *data)
{
    const pool_task *t = data;
    session *s = t->session;
    if (thread_is(s->caller)) return;
    mutex_lock(&s->pool->lock);
    bool closed = s->closed;
    mutex_unlock(&s->pool->lock);
    if (!closed) s->work(s->data, t->number);
}

static void session_submit(reef_pool *p, session *s)
{
    s->pool = p;
    s->caller = thread_own_name();
    for (uint32_t i = 1; i < p->threads; i++) {
        s->tasks[i - 1] = (pool_task){s, i};
        p->jobs.submit(p->jobs.context, pool_task_run, &s->tasks[i - 1]);
    }
    s->work(s->data, 0);
    mutex_lock(&p->lock);
    s->closed = true;
    mutex_unlock(&p->lock);
    p->jobs.wait(p->jobs.context);
}

/* ---- running ---- */

void reef__pool_run(reef_pool *p, void (*work)(void *data, uint32_t worker), void *data)
{
    session s;
    if (p == NULL || p->threads == 1 || pool_left_behind(p)) {
        work(data, 0);
        return;
    }
    s.next = NULL;
    s.work = work;
    s.data = data;
    s.running = 0;
    s.closed = false;
    if (p->jobs.submit) {
        session_submit(p, &s);
        return;
    }
    session_open(p, &s);
    work(data, 0);
    session_close(p, &s);
}

typedef struct pool_shares {
    void (*step)(void *data, uint32_t i);
    void *data;
    uint32_t count, begun;
} pool_shares;

/* Takes steps from the first half and from the second half in turn: where memory comes in pages of 2 MiB, two threads
 * should touch two different pages for the first time. */
static void pool_shares_work(void *data, uint32_t worker)
{
    pool_shares *x = data;
    const uint32_t half = (x->count + 1) / 2;
    (void)worker;
    for (uint32_t i; (i = COUNT_UP(&x->begun) - 1) < x->count;) x->step(x->data, (i & 1 ? half : 0) + i / 2);
}

void reef__pool_share(reef_pool *p, uint32_t count, void (*step)(void *data, uint32_t i), void *data)
{
    pool_shares x = {step, data, count, 0};
    reef__pool_run(count > 1 ? p : NULL, pool_shares_work, &x);
}

uint64_t reef__pool_shuffle(const reef_pool *p) { return p ? p->shuffle : 0; }

/* ---- making ---- */

/* The number of threads of a pool when `request` were asked for; request 0 means one for each processor. */
static uint32_t threads_given(uint32_t request)
{
#if defined(REEF_NO_THREADS)
    return (void)request, 1;
#elif defined(_WIN32)
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    uint32_t n = request ? request : (uint32_t)info.dwNumberOfProcessors;
    return n > REEF_THREADS_MAX ? REEF_THREADS_MAX : n;
#else
    long n = request ? (long)request : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > REEF_THREADS_MAX ? REEF_THREADS_MAX : (uint32_t)n;
#endif
}

/* Makes the lock and the conditions. */
static bool pool_gates_make(reef_pool *p)
{
    if (!mutex_make(&p->lock)) return false;
    if (condvar_make(&p->wanted)) {
        if (condvar_make(&p->through)) return true;
        condvar_drop(&p->wanted);
    }
    mutex_drop(&p->lock);
    return false;
}

static void pool_give_back(reef_pool *p)
{
    const reef_allocator a = p->allocator;
    a.resize(a.context, p, p->bytes, 0, PLAIN_ALIGN);
}

COLD reef_pool *reef_pool_new(const reef_pool_config *config)
{
    static const reef_pool_config defaults;
    if (config == NULL) config = &defaults;
    if (config->threads > REEF_THREADS_MAX || !config->jobs.submit != !config->jobs.wait) return NULL;
    const uint32_t threads = threads_given(config->threads), own = config->jobs.submit ? 0 : threads - 1;
    const reef_allocator a = config->allocator.resize ? config->allocator : reef__memory_standard;
    if (threads > 1 && !forks_count()) return NULL;
    const size_t bytes = sizeof(reef_pool) + own * sizeof(pool_thread);
    reef_pool *p = a.resize(a.context, NULL, 0, bytes, PLAIN_ALIGN);
    if (p == NULL) return NULL;
    memset(p, 0, bytes);
    p->threads = threads;
    p->jobs = config->jobs;
    p->allocator = a;
    p->shuffle = config->shuffle;
    p->forks = process_forks;
    p->looks = threads <= threads_given(0) ? POOL_LOOKS : 0;
    p->bytes = bytes;
    if (!pool_gates_make(p)) {
        pool_give_back(p);
        return NULL;
    }
    for (uint32_t i = 0; i < own; i++) {
        pool_thread *t = &p->thread[i];
        t->pool = p;
        t->number = i + 1;
        if (!thread_make(&t->thread, pool_thread_run, t)) {
            reef_pool_free(p);
            return NULL;
        }
        p->made++;
    }
    return p;
}

COLD void reef_pool_free(reef_pool *p)
{
    if (p == NULL) return;
    if (pool_left_behind(p)) {
        pool_give_back(p);
        return;
    }
    mutex_lock(&p->lock);
    ASSERT(p->first == NULL);
    p->ending = true;
    mutex_unlock(&p->lock);
    condvar_wake(&p->wanted);
    for (uint32_t i = 0; i < p->made; i++) thread_join(&p->thread[i].thread);
    condvar_drop(&p->through);
    condvar_drop(&p->wanted);
    mutex_drop(&p->lock);
    pool_give_back(p);
}

uint32_t reef_pool_threads(const reef_pool *p)
{
    if (p == NULL || pool_left_behind(p)) return 1;
    return p->threads;
}
