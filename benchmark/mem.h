/* The page policy of the benchmark: every contestant takes all of its memory here.
 *
 *   below 128 KiB   glibc's heap (M_MMAP_THRESHOLD fixed, so that the threshold does not drift); 64-byte aligned
 *                   from 256 bytes on, page aligned from 4 KiB on
 *   from 128 KiB    one mapping of its own, grown with mremap, unmapped when freed
 *
 * Nothing is kept: after each repeat the harness checks that a contestant holds no byte more than before its setup, and
 * gives the heap's free pages back (malloc_trim). So every repeat starts with cold memory, for all contestants; there
 * is no warm pool.
 *
 *   default   4 KiB pages (transparent huge pages are switched off for the process)
 *   --huge    2 MiB pages: mappings are rounded up to 2 MiB, aligned and madvised, growth keeps the alignment; the heap
 *             is madvised too (GLIBC_TUNABLES=glibc.malloc.hugetlb=1, by re-executing the program)
 */
#ifndef MEM_H
#define MEM_H
#include <stdbool.h>
#include <stddef.h>

/* Call first in main. With huge it may re-execute the program. */
void mem_init(bool huge, char **argv);

/* Sized calls, as an ECS with allocator callbacks gets them. Memory is not cleared. Out of memory aborts. */
void *mem_alloc(size_t bytes);
void *mem_realloc(void *p, size_t old_bytes, size_t bytes);
void mem_free(void *p, size_t bytes);

/* The same for code that uses malloc: only the heap, counted by malloc_usable_size. */
void *mem_malloc(size_t bytes);
void *mem_calloc(size_t n, size_t bytes);
void *mem_realloc_unsized(void *p, size_t bytes);
void mem_free_unsized(void *p);

/* Bytes that were allocated and not yet freed. Unused parts of arenas count, as the spare capacity of arrays does. */
size_t mem_live(void);
/* Give the heap's free pages back to the system. */
void mem_cool(void);
#endif
