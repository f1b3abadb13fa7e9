/* Memory of a family of worlds (a world and its forks): the user's allocator, counted by kind, and arenas of blocks
 * on it.
 *
 * A *block* is 64-byte aligned and has no header: its size is known to whoever holds it. Memory comes from the
 * allocator in *pieces*, and each arena (one for entity handles, one for records, sixteen for columns) takes *runs*
 * of them, up to 512 KiB, to carve blocks from; freed blocks wait in the arena's lists by size. So blocks of one
 * column lie side by side (those of small tables, up to 256 bytes, all share one arena), and a loop that walks them
 * is fetched ahead over their borders: five columns in four arenas cost 1.1 times as much to walk. Runs of arena a
 * start where the address modulo 4,096 is 192 * a, all different: columns of one stride would otherwise fall into
 * the same set of the first-level cache. What commands lay in goes to whichever arena needs memory next. On Linux
 * runs of 64 KiB and more are touched ahead of their use, 64 KiB at a time.
 *
 * All functions may be called from any thread: the family's lock guards the lists. */
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
    PLAIN_ALIGN = 16 /* of what isn't a block */
};

struct arena;

typedef struct memory {
    reef_allocator allocator;
    mutex lock;                  /* of the arenas and counters */
    uint64_t bytes;              /* taken from the allocator */
    uint64_t used[MEMORY_KINDS]; /* bytes in use by kind */
    struct arena **arenas;       /* ARENA_COUNT of them, NULL until needed */
    struct piece *pieces[2];     /* of rows; of all else, which stays when they go. The first one is shared out */
    uint64_t piece_bytes[2];
    struct memory_fresh *fresh; /* NULL: nobody notes */
#if defined(QUARANTINE)
    bool guarded;         /* blocks may be poisoned: src/storage/quarantine.h */
    uint64_t guard_bytes; /* that a structural change may move */
#endif
} memory;

extern const reef_allocator reef__memory_standard; /* the C library's */

bool reef__memory_make(memory *m, const reef_allocator *allocator);
void reef__memory_drop(memory *m); /* everything must be freed but arenas' pieces */

/* The allocator, counted: old 0 allocates, new 0 frees. NULL: no memory, nothing changed. Not cleared. align >= 1. */
void *reef__memory_resize(memory *m, enum memory_kind kind, void *p, size_t old_bytes, size_t new_bytes, size_t align);
/* Allocate cleared / free, aligned to PLAIN_ALIGN. */
void *reef__memory_zeroed(memory *m, enum memory_kind kind, size_t bytes);
void reef__memory_free(memory *m, enum memory_kind kind, void *p, size_t bytes);
/* Blocks; `align` up to REEF_ALIGN_MAX (64 and less come from the arena). bytes 0 gives a non-NULL pointer. */
void *reef__memory_block(memory *m, enum memory_kind kind, uint32_t arena, size_t bytes, size_t align);
void reef__memory_block_free(memory *m, enum memory_kind kind, uint32_t arena, void *p, size_t bytes, size_t align);
/* Several at once: up to `most` blocks, more than one only of those that were freed before. How many; 0: no memory.
 * And many freed, of any sizes. */
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
/* A block of an arena that is no longer in use, but not free either: it counts as spare, until it is released.
 * False: it is no arena's. */
bool reef__memory_block_hold(memory *m, enum memory_kind kind, uint32_t arena, size_t bytes, size_t align);
void reef__memory_block_release(memory *m, uint32_t arena, void *p, size_t bytes);
#endif
/* Of memory that will be written now, for the first time: the system gives its pages at once, a fifth to a third
 * cheaper than at one touch each, the more so where several threads touch memory. Nothing else happens, and where
 * there is no such call nothing at all. */
void reef__memory_touch(void *p, size_t bytes);
/* From `begin` to `end` arenas touch nothing ahead of its use, and note instead what they would have touched, as far
 * as there is room: for several threads, each part being short enough for one. (Worlds of the family that take
 * blocks at the same time have theirs among them. All of it is good for reef__memory_touch alone, which changes no
 * byte.) Only one at a time notes; who comes second finds nothing. */
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
/* Blocks of other arenas may be freed into this one: it exists. False: no memory. */
bool reef__memory_arena_ready(memory *m, uint32_t arena);
/* Gives pieces without a used block back to the allocator. */
void reef__memory_trim(memory *m);
uint64_t reef__memory_spare(memory *m); /* bytes of pieces that no block uses */

/* a * b + c in *out; false when it overflows */
bool reef__size_multiply(size_t a, size_t b, size_t c, size_t *out);

#endif
