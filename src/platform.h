/* Threads, atomics and bits behind one small contract. REEF_NO_THREADS builds without any of them. */
#ifndef REEF_PLATFORM_H
#define REEF_PLATFORM_H

#include "names.h"
#include "reef/compiler.h"
#include <assert.h>

#if defined(REEF_NO_THREADS)
typedef struct mutex { int unused; } mutex;
#define MUTEX_INIT {0}
static inline bool mutex_make(mutex *m) { m->unused = 0; return true; }
static inline void mutex_drop(mutex *m) { (void)m; }
static inline void mutex_lock(mutex *m) { (void)m; }
static inline void mutex_unlock(mutex *m) { (void)m; }
#elif defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef struct mutex { SRWLOCK lock; } mutex;
#define MUTEX_INIT {SRWLOCK_INIT}
static inline bool mutex_make(mutex *m) { InitializeSRWLock(&m->lock); return true; }
static inline void mutex_drop(mutex *m) { (void)m; }
static inline void mutex_lock(mutex *m) { AcquireSRWLockExclusive(&m->lock); }
static inline void mutex_unlock(mutex *m) { ReleaseSRWLockExclusive(&m->lock); }
#else
#include <pthread.h>
typedef struct mutex { pthread_mutex_t lock; } mutex;
#define MUTEX_INIT {PTHREAD_MUTEX_INITIALIZER}
static inline bool mutex_make(mutex *m) { return pthread_mutex_init(&m->lock, NULL) == 0; }
static inline void mutex_drop(mutex *m) { pthread_mutex_destroy(&m->lock); }
static inline void mutex_lock(mutex *m) { pthread_mutex_lock(&m->lock); }
static inline void mutex_unlock(mutex *m) { pthread_mutex_unlock(&m->lock); }
#endif

/* Numbers as the hash takes them: the lowest byte first. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HOST_IS_LITTLE 0
#define LITTLE_64(x) __builtin_bswap64(x)
#else
#define HOST_IS_LITTLE 1
#define LITTLE_64(x) (x)
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define NO_UNROLL _Pragma("GCC unroll 1")
#else
#define NO_UNROLL
#endif

#if defined(__GNUC__)
#define PREFETCH(p) __builtin_prefetch(p)
#define PREFETCH_WRITE(p) __builtin_prefetch(p, 1)
#define RELEASE_STORE(address, value) __atomic_store_n(address, value, __ATOMIC_RELEASE)
static inline uint32_t bits_count(uint64_t x) { return (uint32_t)__builtin_popcountll(x); }
static inline uint32_t bits_first(uint64_t x) { return (uint32_t)__builtin_ctzll(x); } /* x != 0 */
#else
#define PREFETCH(p) ((void)(p))
#define PREFETCH_WRITE(p) ((void)(p))
#define RELEASE_STORE(address, value) (*(address) = (value))
static inline uint32_t bits_count(uint64_t x)
{
    uint32_t n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}
static inline uint32_t bits_first(uint64_t x) { return bits_count(~x & (x - 1)); }
#endif

/* A handle in a register: the eight bytes of a reef_entity. The compilers do better with these than with the struct. */
typedef uint64_t handle;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HANDLE_INDEX(h) ((uint32_t)((h) >> 32))
#define HANDLE_GENERATION(h) ((uint32_t)(h))
#define HANDLE_RECORD(h, place) ((h) << 32 | (place)) /* generation << 32 | place */
#else
#define HANDLE_INDEX(h) ((uint32_t)(h))
#define HANDLE_GENERATION(h) ((uint32_t)((h) >> 32))
#define HANDLE_RECORD(h, place) (((h) >> 32 << 32) | (place))
#endif

#define LIKELY REEF_LIKELY
#define UNLIKELY REEF_UNLIKELY
#define INLINE REEF_INLINE
#define COLD REEF_COLD
#define NOINLINE REEF_NOINLINE

/* reef's own invariants (never the caller's mistakes): loud, also with NDEBUG in the checked build. */
#if defined(REEF_CHECKED)
void reef_assert_failed(const char *text, const char *file, int line);
#define ASSERT(x) ((x) ? (void)0 : reef_assert_failed(#x, __FILE__, __LINE__))
#else
#define ASSERT(x) assert(x)
#endif

/* Seeded bugs prove that the tests can see: -DREEF_SEEDED_BUGS compiles them in, the environment variable REEF_BUG=n turns
 * one on (scripts/seeded-bugs). In every other build BUG(n) is the constant false. */
#if defined(REEF_SEEDED_BUGS)
extern int reef_bug;
#define BUG(n) UNLIKELY(reef_bug == (n))
#else
#define BUG(n) false
#endif

#endif
