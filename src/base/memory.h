/* The memory of a family of worlds (a world and its forks): the user's allocator, counted by kind, and arenas of blocks
 * on top of it.
 *
 * A *block* is aligned to 64 bytes and has no header: whoever holds it knows its size. The allocator gives memory in
 * *pieces*. Each arena (one for entity handles, one for records, sixteen for columns) takes *runs* of up to 512 KiB
 * from the pieces and carves blocks from its runs. Freed blocks wait in the arena's lists, one list for each size.
 *
 * So the blocks of one column lie side by side, and a loop that walks them is prefetched across their borders: five
 * columns in four arenas cost 1.1 times as much to walk. Small blocks, up to 256 bytes, all share one arena. Runs of
 * arena a start where the address modulo 4,096 is 192 * a, a different number for each arena: columns of one stride
 * would otherwise fall into the same set of the first-level cache. Memory that held commands goes to whichever arena
 * needs memory next. On Linux, runs of 64 KiB and more are touched ahead of their use, 64 KiB at a time.
 *
 * All functions may be called from any thread: a lock guards the lists. */
#ifndef REEF_BASE_MEMORY_H
#define REEF_BASE_MEMORY_H

#include "base/platform.h"
#include "reef/world.h"

enum memory_kind {
    MEMORY_ROWS,
    MEMORY_INDEX,
    MEMORY_TABLES,
    MEMORY_NAMES,
    MEMORY_BITS,
    MEMORY_HASHES,
    MEMORY_TRACKS,
    MEMORY_EVENTS,
    MEMORY_STORES,
    MEMORY_OTHER,
    MEMORY_KINDS
};

enum {
    COLUMN_ARENAS = 16,
    ARENA_ENTITIES,
    ARENA_RECORDS,
    ARENA_DIRECTORY,
    ARENA_BITS,
    ARENA_SMALL,
    ARENA_COLUMNS,
    ARENA_COMMANDS = ARENA_COLUMNS + COLUMN_ARENAS,
    ARENA_COUNT,
    BLOCK_ALIGN = 64,
    PLAIN_ALIGN = 16 /* alignment of everything that isn't a block */
};

struct arena;

typedef struct memory {
    reef_allocator allocator;
    mutex lock;                  /* guards the arenas and the counters */
    uint64_t bytes;              /* taken from the allocator */
    uint64_t used[MEMORY_KINDS]; /* bytes in use by kind */
    struct arena **arenas;       /* ARENA_COUNT of them; each is NULL until it is needed */
    /* [0] holds rows, [1] all that stays when rows go. Runs are taken from the first piece of a list. */
    struct memory_piece *pieces[2];
    uint64_t piece_bytes[2];
    struct memory_fresh *fresh; /* who notes what should be touched (see below); NULL: nobody */
#if defined(QUARANTINE)
    bool guarded;         /* blocks may be poisoned: src/storage/quarantine.h */
    uint64_t guard_bytes; /* how many bytes a structural change may move */
#endif
} memory;

extern const reef_allocator reef__memory_standard; /* the C library's */

bool reef__memory_make(memory *m, const reef_allocator *allocator);
void reef__memory_drop(memory *m); /* everything but the arenas' pieces must have been freed */

/* Resizes counted memory of the allocator: old_bytes 0 allocates, new_bytes 0 frees. NULL: there is no memory, and
 * nothing changed. New bytes aren't cleared. align is at least 1. */
void *reef__memory_resize(memory *m, enum memory_kind kind, void *p, size_t old_bytes, size_t new_bytes, size_t align);
/* Allocates cleared memory, and frees it; aligned to PLAIN_ALIGN. */
void *reef__memory_zeroed(memory *m, enum memory_kind kind, size_t bytes);
void reef__memory_free(memory *m, enum memory_kind kind, void *p, size_t bytes);
/* Makes room for `count` elements in an array with room for *room. `array` points to the array's pointer. The room at
 * least doubles, and new elements are cleared. False: there is no memory, and nothing changed. */
bool reef__array_room(memory *m, enum memory_kind kind, void *array, uint32_t *room, uint32_t count, size_t size);
/* Allocates and frees a block. `align` is at most REEF_ALIGN_MAX; the arena serves 64 and less. 0 bytes give a pointer
 * that isn't NULL. */
void *reef__memory_block(memory *m, enum memory_kind kind, uint32_t arena, size_t bytes, size_t align);
void reef__memory_block_free(memory *m, enum memory_kind kind, uint32_t arena, void *p, size_t bytes, size_t align);
/* Allocates up to `most` blocks at once and answers how many; 0: there is no memory. It gives more than one only as
 * long as freed blocks of this size are left. reef__memory_blocks_free frees many blocks, of any sizes. */
uint32_t reef__memory_blocks(memory *m, enum memory_kind kind, uint32_t arena, size_t bytes, size_t align, void **block,
                             uint32_t most);
typedef struct memory_gone {
    void *block;
    size_t bytes;
    uint32_t arena;
    uint32_t align;
} memory_gone;
void reef__memory_blocks_free(memory *m, enum memory_kind kind, const memory_gone *gone, uint32_t count);
#if defined(QUARANTINE)
/* Takes a block of an arena out of use without freeing it: it counts as spare until it is released. False: the block
 * doesn't come from an arena. */
bool reef__memory_block_hold(memory *m, enum memory_kind kind, uint32_t arena, size_t bytes, size_t align);
void reef__memory_block_release(memory *m, uint32_t arena, void *p, size_t bytes);
#endif
/* Asks the system for the pages of memory that will be written for the first time now. All pages at once are a fifth to
 * a third cheaper than one by one at the first touch, and more so where several threads touch memory. No byte changes.
 * Where the system has no such call, nothing happens. */
void reef__memory_touch(void *p, size_t bytes);
/* From `begin` to `end`, arenas don't touch memory ahead of its use but note the parts, as far as there is room, so
 * that several threads can touch them; each part is short enough for one thread. Blocks that other worlds of the family
 * take meanwhile are noted as well. That does no harm, since the parts are only good for reef__memory_touch, which
 * changes no byte. Only one caller at a time can note; the second one gets no parts. */
typedef struct memory_part {
    char *from;
    size_t bytes;
} memory_part;
enum { MEMORY_PARTS = 64 };
typedef struct memory_fresh {
    uint32_t count;
    memory_part part[MEMORY_PARTS];
} memory_fresh;
void reef__memory_fresh_begin(memory *m, memory_fresh *f);
void reef__memory_fresh_end(memory *m, memory_fresh *f);
/* Makes the arena exist, so that blocks of other arenas may be freed into it. False: there is no memory. */
bool reef__memory_arena_ready(memory *m, uint32_t arena);
/* Gives the pieces without a used block back to the allocator. */
void reef__memory_trim(memory *m);
uint64_t reef__memory_spare(memory *m); /* bytes in pieces that no block uses */

/* Memory for the length of one call: a few bytes in here, more from the allocator. */
typedef struct call_memory {
    _Alignas(BLOCK_ALIGN) char few[1152];
    void *at;            /* the memory */
    size_t bytes, align; /* of the allocator's memory; 0 bytes: the memory is `few` */
} call_memory;
bool reef__call_memory_take(memory *m, call_memory *s, size_t bytes, size_t align); /* false: there is no memory */
void reef__call_memory_free(memory *m, call_memory *s);

/* *out = a * b + c. False: it overflows. */
bool reef__size_multiply(size_t a, size_t b, size_t c, size_t *out);
/* Compares two uint64_t, for qsort. */
int reef__numbers_compare(const void *a, const void *b);

#endif
