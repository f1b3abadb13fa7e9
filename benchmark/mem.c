#define _GNU_SOURCE
#include "mem.h"
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LARGE ((size_t)128 << 10)
#define HUGE_PAGE ((size_t)2 << 20)
#define TUNABLE "glibc.malloc.hugetlb=1"

static bool huge_pages;
static size_t live_bytes;

static void *checked(void *p)
{
    if (p == NULL || p == MAP_FAILED) {
        perror("benchmark: out of memory");
        abort();
    }
    return p;
}

void mem_init(bool huge, char **argv)
{
    const char *tunables = getenv("GLIBC_TUNABLES");
    huge_pages = huge;
    if (huge && (tunables == NULL || strstr(tunables, TUNABLE) == NULL)) {
        setenv("GLIBC_TUNABLES", TUNABLE, 1);
        execv("/proc/self/exe", argv);
        perror("benchmark: cannot re-execute for huge pages");
        exit(1);
    }
    if (!huge) prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    mallopt(M_MMAP_THRESHOLD, (int)LARGE);
}

static size_t map_bytes(size_t bytes)
{
    size_t page = huge_pages ? HUGE_PAGE : 4096;
    return (bytes + page - 1) & ~(page - 1);
}

/* Address space of `bytes` (a multiple of the page), aligned to 2 MiB when huge. */
static char *map_new(size_t bytes, int protection)
{
    size_t slack = huge_pages ? HUGE_PAGE : 0;
    char *raw = checked(mmap(NULL, bytes + slack, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (slack == 0) return raw;
    char *p = (char *)(((uintptr_t)raw + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    if (p > raw) munmap(raw, (size_t)(p - raw));
    if (p < raw + slack) munmap(p + bytes, (size_t)(raw + slack - p));
    return p;
}

/* Memory is aligned to cache lines from 256 bytes on, and to pages from 4 KiB on, so that the alignment of small
 * columns isn't random. (If the addresses of two columns differ by -64 modulo 4096, each load waits for an unrelated
 * store: iter_2_1k took 1.5 times as long in every other process.) */
static void *heap_alloc(size_t bytes)
{
    void *p = NULL;
    if (bytes < 256) return checked(malloc(bytes));
    return checked(posix_memalign(&p, bytes < 4096 ? 64 : 4096, bytes) == 0 ? p : NULL);
}

void *mem_alloc(size_t bytes)
{
    live_bytes += bytes;
    if (bytes < LARGE) return heap_alloc(bytes);
    char *p = map_new(map_bytes(bytes), PROT_READ | PROT_WRITE);
    if (huge_pages) madvise(p, map_bytes(bytes), MADV_HUGEPAGE);
    return p;
}

void mem_free(void *p, size_t bytes)
{
    if (p == NULL) return;
    live_bytes -= bytes;
    if (bytes < LARGE) free(p);
    else munmap(p, map_bytes(bytes));
}

/* mremap moves page tables, not bytes. To an unaligned address it would split huge pages, hence the fixed target. */
static void *remap(void *p, size_t old_map, size_t new_map)
{
    if (old_map == new_map) return p;
    if (!huge_pages) return checked(mremap(p, old_map, new_map, MREMAP_MAYMOVE));
    char *to = map_new(new_map, PROT_NONE);
    checked(mremap(p, old_map, new_map, MREMAP_MAYMOVE | MREMAP_FIXED, to));
    madvise(to, new_map, MADV_HUGEPAGE);
    return to;
}

void *mem_realloc(void *p, size_t old_bytes, size_t bytes)
{
    if (p == NULL) return mem_alloc(bytes);
    if (old_bytes >= LARGE && bytes >= LARGE) {
        live_bytes += bytes - old_bytes;
        return remap(p, map_bytes(old_bytes), map_bytes(bytes));
    }
    void *q = mem_alloc(bytes); /* realloc would lose the alignment */
    memcpy(q, p, old_bytes < bytes ? old_bytes : bytes);
    mem_free(p, old_bytes);
    return q;
}

static void *counted(void *p)
{
    live_bytes += malloc_usable_size(checked(p));
    return p;
}

void *mem_malloc(size_t bytes) { return counted(malloc(bytes)); }
void *mem_calloc(size_t n, size_t bytes) { return counted(calloc(n, bytes)); }
void *mem_realloc_unsized(void *p, size_t bytes)
{
    live_bytes -= malloc_usable_size(p);
    return counted(realloc(p, bytes));
}
void mem_free_unsized(void *p)
{
    live_bytes -= malloc_usable_size(p);
    free(p);
}

size_t mem_live(void) { return live_bytes; }
void mem_cool(void) { malloc_trim(0); }
