/* Allocators. Each world has its own allocator (reef_world_config.allocator); the memory for types belongs to the
 * process. */
#ifndef REEF_MEMORY_H
#define REEF_MEMORY_H

#include "status.h"

REEF_BEGIN_C

/* An allocator is one function, as in Lua: with old_bytes 0 it allocates, with new_bytes 0 it frees (and returns NULL),
 * otherwise it resizes the block, which keeps its content. `align` is a power of two up to 4,096 and is the same in all
 * calls for one block. It returns NULL on failure, and the old block is then unchanged. It must be callable from any
 * thread that uses the world or a fork of it. It needn't clear memory. */
typedef struct reef_allocator {
    void *(*resize)(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align);
    void *context;
} reef_allocator;

REEF_END_C

#endif
