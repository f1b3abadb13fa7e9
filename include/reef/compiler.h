/* Everything about the compiler and the platform that the C standard doesn't say: the only header with extensions. */
#ifndef REEF_COMPILER_H
#define REEF_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#define REEF_BEGIN_C extern "C" {
#define REEF_END_C }
#define REEF_ALIGNOF(T) alignof(T)
#define REEF_ALIGNAS(n) alignas(n)
#define REEF_TYPE_OF_FIELD(T, field) decltype(static_cast<T *>(nullptr)->field)
/* Casts, in the form of either language, so that C++ programs may ask for -Wold-style-cast and -Wuseless-cast: of
 * numbers and from void *; between pointers of other types, or a pointer and a number; of a truth value, which is an
 * int in C. */
#define REEF_CAST(T, x) static_cast<T>(x)
#define REEF_RECAST(T, x) reinterpret_cast<T>(x)
#define REEF_TRUTH(x) (x)
#else
#define REEF_BEGIN_C
#define REEF_END_C
#define REEF_ALIGNOF(T) _Alignof(T)
#define REEF_ALIGNAS(n) _Alignas(n)
#define REEF_TYPE_OF_FIELD(T, field) __typeof__(((T *)0)->field)
#define REEF_CAST(T, x) ((T)(x))
#define REEF_RECAST(T, x) ((T)(x))
#define REEF_TRUTH(x) ((bool)(x))
#endif

/* The fourth of its arguments: after two arguments of a caller it is the second of the names that follow them, after
 * three the first. */
#define REEF_TWO_OR_THREE_(a, b, c, name, ...) name

#if defined(_WIN32) && defined(REEF_SHARED_LIBRARY)
#ifdef REEF_BUILDING
#define REEF_API __declspec(dllexport)
#else
#define REEF_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define REEF_API __attribute__((visibility("default")))
#else
#define REEF_API
#endif

#if defined(__GNUC__)
#define REEF_INLINE static inline __attribute__((always_inline, unused))
#define REEF_INLINE_MEMBER inline __attribute__((always_inline)) /* of a class of C++ */
#define REEF_NOINLINE __attribute__((noinline))
#define REEF_SELDOM __attribute__((noinline, cold))
#define REEF_UNUSED __attribute__((unused))
/* Of a pure function. The compiler may keep what it has read across a call, and drop a call whose result isn't used. */
#if defined(REEF_CHECKED) /* in the checked build such calls may report a mistake */
#define REEF_PURE
#else
#define REEF_PURE __attribute__((pure))
#endif
#define REEF_PREFETCH(p) __builtin_prefetch(p)
#define REEF_LIKELY(x) __builtin_expect(!!(x), 1)
#define REEF_UNLIKELY(x) __builtin_expect(!!(x), 0)
#if defined(__MINGW32__) && !defined(__clang__) /* where "printf" means the formats of the oldest Windows C library */
#define REEF_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define REEF_PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif
/* A pointer that another thread may have published. */
#define REEF_ACQUIRE_POINTER(address) __atomic_load_n((address), __ATOMIC_ACQUIRE)
#define REEF_ACQUIRE_U32(address) __atomic_load_n((address), __ATOMIC_ACQUIRE)
/* The same where the address of the next read depends on the value. Every processor that reef runs on keeps these reads
 * in order by itself, and the compiler may keep the value in a register during a loop (reef_get takes 4 instructions
 * less). */
#if defined(__SANITIZE_THREAD__)
#define REEF_DEPENDENT(address) __atomic_load_n((address), __ATOMIC_ACQUIRE)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define REEF_DEPENDENT(address) __atomic_load_n((address), __ATOMIC_ACQUIRE)
#endif
#endif
#ifndef REEF_DEPENDENT
#define REEF_DEPENDENT(address) (*(address))
#endif
/* Runs a function before main, or when the library is loaded. */
#define REEF_BEFORE_MAIN(name) \
    static void name(void) __attribute__((constructor, unused)); \
    static void name(void)
/* A function that is called when the library that it is in is unloaded, or the program ends. */
#define REEF_AT_UNLOAD(name) \
    static void name(void) __attribute__((destructor, unused)); \
    static void name(void)
#elif defined(_MSC_VER)
#if !defined(_M_IX86) && !defined(_M_X64)
#error "With MSVC reef needs x86 or x86-64: on other processors its ordinary reads and writes may be reordered"
#endif
#define REEF_INLINE static __forceinline
#define REEF_INLINE_MEMBER __forceinline
#define REEF_NOINLINE __declspec(noinline)
#define REEF_SELDOM __declspec(noinline)
#define REEF_UNUSED
#define REEF_PURE
#define REEF_PREFETCH(p) ((void)(p))
#define REEF_LIKELY(x) (x)
#define REEF_UNLIKELY(x) (x)
#define REEF_PRINTF(text, first)
/* On these processors later reads stay after a volatile read (/volatile:ms, which is the default). */
#define REEF_ACQUIRE_POINTER(address) (*(__typeof__(*(address)) volatile *)(address))
#define REEF_ACQUIRE_U32(address) (*(const volatile uint32_t *)(address))
#define REEF_DEPENDENT(address) (*(address))
#pragma section(".CRT$XCU", read)
#define REEF_BEFORE_MAIN(name) \
    static void name(void); \
    __declspec(allocate(".CRT$XCU")) static void (*name##_before_main)(void) = name; \
    static void name(void)
#define REEF_AT_UNLOAD(name) static __inline void name(void) /* it isn't called */
#else
#error "reef needs gcc, clang or MSVC: add your compiler to reef/compiler.h"
#endif

#endif
