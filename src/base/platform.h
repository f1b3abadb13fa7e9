/* What the compiler and the processor offer, behind one small contract: atomics, bits, prefetching, copies, assertions.
 * Threads are in src/base/threads.h. */
#ifndef REEF_BASE_PLATFORM_H
#define REEF_BASE_PLATFORM_H

#include "base/threads.h"
#include "reef/compiler.h"
#include <assert.h>

/* The quarantine, which finds pointers that were kept too long (src/storage/quarantine.h), exists in the checked build
 * with the address sanitizer. */
#if defined(REEF_CHECKED) && defined(__SANITIZE_ADDRESS__)
#define QUARANTINE
#elif defined(REEF_CHECKED) && defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QUARANTINE
#endif
#endif

/* Counts of holders that any thread may change. Both answer the new count. The one who counts down to 0 sees all that
 * the others wrote. */
#if defined(REEF_NO_THREADS)
#define COUNT_UP(address) (++*(address))
#define COUNT_DOWN(address) (--*(address))
#elif defined(__GNUC__)
#define COUNT_UP(address) __atomic_add_fetch(address, 1u, __ATOMIC_RELAXED)
#define COUNT_DOWN(address) __atomic_sub_fetch(address, 1u, __ATOMIC_ACQ_REL)
#else
#define COUNT_UP(address) ((uint32_t)InterlockedIncrement((volatile LONG *)(address)))
#define COUNT_DOWN(address) ((uint32_t)InterlockedDecrement((volatile LONG *)(address)))
#endif

/* For loops that wait for a moment. */
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define PROCESSOR_PAUSE() __builtin_ia32_pause()
#elif defined(__GNUC__) && defined(__aarch64__)
#define PROCESSOR_PAUSE() __asm__ volatile("yield")
#elif defined(_MSC_VER) && !defined(REEF_NO_THREADS)
#define PROCESSOR_PAUSE() YieldProcessor()
#else
#define PROCESSOR_PAUSE() ((void)0)
#endif

/* The hash reads numbers with the lowest byte first. */
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
#define PREFETCH_ONCE(p) __builtin_prefetch(p, 0, 0)
#define RELEASE_STORE(address, value) __atomic_store_n(address, value, __ATOMIC_RELEASE)
/* Of numbers to which several threads write the same value. */
#define RELAXED_LOAD(address) __atomic_load_n(address, __ATOMIC_RELAXED)
#define RELAXED_STORE(address, value) __atomic_store_n(address, value, __ATOMIC_RELAXED)
static inline uint32_t bits_count(uint64_t x) { return (uint32_t)__builtin_popcountll(x); }
static inline uint32_t bits_first(uint64_t x) { return (uint32_t)__builtin_ctzll(x); } /* x must not be 0 */
#else
#define PREFETCH(p) ((void)(p))
#define PREFETCH_WRITE(p) ((void)(p))
#define PREFETCH_ONCE(p) ((void)(p))
#define RELAXED_LOAD(address) (*(address))
#define RELAXED_STORE(address, value) (*(address) = (value))
#if defined(_MSC_VER) /* an x86 keeps the order of stores; this makes the compiler keep it too */
#include <intrin.h>
#define RELEASE_STORE(address, value) (_ReadWriteBarrier(), (void)(*(address) = (value)))
#else
#define RELEASE_STORE(address, value) (*(address) = (value))
#endif
static inline uint32_t bits_count(uint64_t x)
{
    uint32_t n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}
static inline uint32_t bits_first(uint64_t x) { return bits_count(~x & (x - 1)); }
#endif

/* Prepares the writing of a block that lies in no cache: the processor looks up the addresses of all its pages at once.
 * One by one, during the writing, that cost a copy past the caches a quarter, with pages of 4 KiB. */
static inline void pages_fetch(const void *block, size_t bytes)
{
    const size_t page = 4096;
    for (size_t at = page - ((uintptr_t)block & (page - 1)); at < bytes; at += page)
        PREFETCH_ONCE((const char *)block + at);
}

/* A copy that nobody reads soon goes past the caches, where the processor can do that. `to` is aligned to 32 bytes. */
#if defined(_MSC_VER) /* its memcpy does so by itself */
#elif defined(__AVX__)
#include <immintrin.h>
#define COPY_LANE __m256i
#define COPY_LOAD(p) _mm256_loadu_si256(p)
#define COPY_STREAM(p, value) _mm256_stream_si256(p, value)
#define COPY_ARRIVED() _mm_sfence()
#elif defined(__SSE2__)
#include <emmintrin.h>
#define COPY_LANE __m128i
#define COPY_LOAD(p) _mm_loadu_si128(p)
#define COPY_STREAM(p, value) _mm_stream_si128(p, value)
#define COPY_ARRIVED() _mm_sfence()
#endif
#if !defined(COPY_ARRIVED)
#define COPY_ARRIVED() ((void)0)
#endif
static inline void copy_away(void *to, const void *from, size_t bytes)
{
#if defined(COPY_LANE)
    COPY_LANE *p = (COPY_LANE *)to;
    const COPY_LANE *q = (const COPY_LANE *)from;
    for (size_t n = bytes / (4 * sizeof *p); n > 0; n--, p += 4, q += 4) {
        const COPY_LANE a = COPY_LOAD(q), b = COPY_LOAD(q + 1), c = COPY_LOAD(q + 2), d = COPY_LOAD(q + 3);
        COPY_STREAM(p, a);
        COPY_STREAM(p + 1, b);
        COPY_STREAM(p + 2, c);
        COPY_STREAM(p + 3, d);
    }
    memcpy(p, q, bytes % (4 * sizeof *p));
#else
    memcpy(to, from, bytes);
#endif
}

/* Writes the same eight bytes n times. The processor's fill instruction writes whole cache lines without reading them
 * first, which a loop of stores doesn't: 1,000,000 entities by one call took 2.35 ms instead of 2.55. The instruction
 * takes a moment to start, so that short fills use the loop. */
enum { FILL_MANY = 256 };
static inline void fill_eight(void *to, uint64_t value, size_t n)
{
#if defined(__GNUC__) && defined(__x86_64__) && !defined(REEF_CHECKED)
    if (n >= FILL_MANY) {
        __asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(value) : "memory");
        return;
    }
#endif
    for (size_t i = 0; i < n; i++) memcpy((char *)to + i * 8, &value, 8);
}

/* A handle in a register: the eight bytes of a reef_entity. Compilers make better code from it than from the struct. */
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
#define COLD REEF_SELDOM
#define NOINLINE REEF_NOINLINE

/* Asserts reef's own invariants, never the caller's mistakes. In the checked build it also works with NDEBUG. */
#if defined(REEF_CHECKED)
void reef_assert_failed(const char *text, const char *file, int line);
#define ASSERT(x) ((x) ? (void)0 : reef_assert_failed(#x, __FILE__, __LINE__))
#else
#define ASSERT(x) assert(x)
#endif

#endif
