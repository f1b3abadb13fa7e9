#include "kept.h"
#include "base/platform.h"
#include <stdlib.h>
#include <string.h>
#if defined(QUARANTINE)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#endif

#if !defined(_WIN32) /* where what is freed depends on how it was allocated */

enum { LARGE = 96 << 10, KEPT_MOST = 24 };

typedef struct kept_block {
    void *block;
    size_t align, bytes;
} kept_block;

static kept_block kept[KEPT_MOST]; /* the one that was given first stands first */
static size_t kept_count;
static mutex kept_lock = MUTEX_INIT;

static void *kept_out(size_t i)
{
    void *block = kept[i].block;
    ASAN_UNPOISON_MEMORY_REGION(block, kept[i].bytes);
    kept_count--;
    memmove(kept + i, kept + i + 1, (kept_count - i) * sizeof *kept);
    return block;
}

void *kept_take(size_t align, size_t bytes)
{
    void *block = NULL;
    if (bytes < LARGE) return NULL;
    mutex_lock(&kept_lock);
    for (size_t i = 0; i < kept_count && block == NULL; i++)
        if (kept[i].bytes == bytes && kept[i].align == align) block = kept_out(i);
    mutex_unlock(&kept_lock);
    return block;
}

bool kept_give(void *block, size_t align, size_t bytes)
{
    if (bytes < LARGE) return false;
    mutex_lock(&kept_lock);
    if (kept_count == KEPT_MOST) free(kept_out(0));
    kept[kept_count++] = (kept_block){block, align, bytes};
    ASAN_POISON_MEMORY_REGION(block, bytes);
    mutex_unlock(&kept_lock);
    return true;
}

#else

void *kept_take(size_t align, size_t bytes)
{
    (void)align, (void)bytes;
    return NULL;
}

bool kept_give(void *block, size_t align, size_t bytes)
{
    (void)block, (void)align, (void)bytes;
    return false;
}

#endif
