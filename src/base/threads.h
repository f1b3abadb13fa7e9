/* Threads, locks and a clock behind one small contract: those of POSIX, of Windows, or none (REEF_NO_THREADS). */
#ifndef REEF_BASE_THREADS_H
#define REEF_BASE_THREADS_H

#include "reef/compiler.h"
#include <assert.h>

#if defined(_WIN32)
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>
#undef near /* windows.h still defines these */
#undef far
#else
#include <time.h>
#endif

#if defined(REEF_NO_THREADS)
typedef struct mutex {
    int unused;
} mutex;
#define MUTEX_INIT \
    { \
        0 \
    }
static inline bool mutex_make(mutex *m)
{
    m->unused = 0;
    return true;
}
static inline void mutex_drop(mutex *m) { (void)m; }
static inline void mutex_lock(mutex *m) { (void)m; }
static inline bool mutex_try(mutex *m) { return (void)m, true; }
static inline void mutex_unlock(mutex *m) { (void)m; }
typedef struct condvar {
    int unused;
} condvar;
static inline bool condvar_make(condvar *c)
{
    c->unused = 0;
    return true;
}
static inline void condvar_drop(condvar *c) { (void)c; }
static inline void condvar_wait(condvar *c, mutex *m)
{
    (void)c, (void)m;
    assert(m == NULL && "one thread would wait for itself");
}
static inline void condvar_wake(condvar *c) { (void)c; }
typedef struct thread {
    int unused;
} thread;
static inline bool thread_make(thread *t, void (*run)(void *data), void *data)
{
    (void)t, (void)run, (void)data;
    return false;
}
static inline void thread_join(thread *t) { (void)t; }
static inline void thread_yield(void) {}
typedef int thread_name;
static inline thread_name thread_own_name(void) { return 0; }
static inline bool thread_is(thread_name n) { return n == 0; }
#elif defined(_WIN32)
typedef struct mutex {
    SRWLOCK lock;
} mutex;
#define MUTEX_INIT \
    { \
        SRWLOCK_INIT \
    }
static inline bool mutex_make(mutex *m)
{
    InitializeSRWLock(&m->lock);
    return true;
}
static inline void mutex_drop(mutex *m) { (void)m; }
static inline void mutex_lock(mutex *m) { AcquireSRWLockExclusive(&m->lock); }
static inline bool mutex_try(mutex *m) { return TryAcquireSRWLockExclusive(&m->lock) != 0; }
static inline void mutex_unlock(mutex *m) { ReleaseSRWLockExclusive(&m->lock); }
typedef struct condvar {
    CONDITION_VARIABLE variable;
} condvar;
static inline bool condvar_make(condvar *c)
{
    InitializeConditionVariable(&c->variable);
    return true;
}
static inline void condvar_drop(condvar *c) { (void)c; }
static inline void condvar_wait(condvar *c, mutex *m)
{
    (void)SleepConditionVariableSRW(&c->variable, &m->lock, INFINITE, 0);
}
static inline void condvar_wake(condvar *c) { WakeAllConditionVariable(&c->variable); }
typedef struct thread {
    HANDLE handle;
    void (*run)(void *data);
    void *data;
} thread;
static inline DWORD WINAPI thread_enter(LPVOID data)
{
    thread *t = (thread *)data;
    t->run(t->data);
    return 0;
}
static inline bool thread_make(thread *t, void (*run)(void *data), void *data)
{
    t->run = run;
    t->data = data;
    t->handle = CreateThread(NULL, 0, thread_enter, t, 0, NULL);
    return t->handle != NULL;
}
static inline void thread_join(thread *t)
{
    (void)WaitForSingleObject(t->handle, INFINITE), (void)CloseHandle(t->handle);
}
static inline void thread_yield(void) { (void)SwitchToThread(); }
typedef DWORD thread_name;
static inline thread_name thread_own_name(void) { return GetCurrentThreadId(); }
static inline bool thread_is(thread_name n) { return GetCurrentThreadId() == n; }
#else
#include <pthread.h>
#include <sched.h>
typedef struct mutex {
    pthread_mutex_t lock;
} mutex;
#define MUTEX_INIT \
    { \
        PTHREAD_MUTEX_INITIALIZER \
    }
static inline bool mutex_make(mutex *m) { return pthread_mutex_init(&m->lock, NULL) == 0; }
static inline void mutex_drop(mutex *m) { pthread_mutex_destroy(&m->lock); }
static inline void mutex_lock(mutex *m) { pthread_mutex_lock(&m->lock); }
static inline bool mutex_try(mutex *m) { return pthread_mutex_trylock(&m->lock) == 0; }
static inline void mutex_unlock(mutex *m) { pthread_mutex_unlock(&m->lock); }
typedef struct condvar {
    pthread_cond_t variable;
} condvar;
static inline bool condvar_make(condvar *c) { return pthread_cond_init(&c->variable, NULL) == 0; }
static inline void condvar_drop(condvar *c) { pthread_cond_destroy(&c->variable); }
static inline void condvar_wait(condvar *c, mutex *m) { pthread_cond_wait(&c->variable, &m->lock); }
static inline void condvar_wake(condvar *c) { pthread_cond_broadcast(&c->variable); }
typedef struct thread {
    pthread_t handle;
    void (*run)(void *data);
    void *data;
} thread;
static inline void *thread_enter(void *data)
{
    thread *t = (thread *)data;
    t->run(t->data);
    return NULL;
}
static inline bool thread_make(thread *t, void (*run)(void *data), void *data)
{
    t->run = run;
    t->data = data;
    return pthread_create(&t->handle, NULL, thread_enter, t) == 0;
}
static inline void thread_join(thread *t) { pthread_join(t->handle, NULL); }
static inline void thread_yield(void) { (void)sched_yield(); }
typedef pthread_t thread_name;
static inline thread_name thread_own_name(void) { return pthread_self(); }
static inline bool thread_is(thread_name n) { return pthread_equal(pthread_self(), n) != 0; }
#endif

/* A condition variable may wake without a reason, so whoever waits checks its condition in a loop. condvar_wake wakes
 * all waiting threads and may be called without the mutex. A `thread` must not move until it is joined. Without threads
 * thread_make answers false, and nobody may wait, since nobody could wake the waiting thread. */

/* Nanoseconds since some fixed moment, for measuring. */
static inline uint64_t clock_now(void)
{
#if defined(_WIN32)
    LARGE_INTEGER now, second;
    if (!QueryPerformanceCounter(&now) || !QueryPerformanceFrequency(&second)) return 0;
    const uint64_t n = (uint64_t)now.QuadPart, f = (uint64_t)second.QuadPart;
    return n / f * 1000000000u + n % f * 1000000000u / f;
#else
    struct timespec t;
    return timespec_get(&t, TIME_UTC) ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
#endif
}

#endif
