/* The memory of a session, and its end. */
#include "net.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void *resize_by_malloc(void *context, void *block, size_t old_bytes, size_t new_bytes, size_t align)
{
    (void)context;
    (void)old_bytes;
    (void)align; /* never more than that of malloc */
    if (new_bytes) return realloc(block, new_bytes);
    free(block);
    return NULL;
}

reef_allocator net__allocator(const reef_allocator *given)
{
    return given->resize ? *given : (reef_allocator){resize_by_malloc, NULL};
}

void *net__alloc(reef_net *net, size_t bytes)
{
    void *block = net->allocator.resize(net->allocator.context, NULL, 0, bytes, 16);
    if (block) memset(block, 0, bytes);
    return block;
}

void net__release(reef_net *net, void *block, size_t bytes)
{
    if (block) (void)net->allocator.resize(net->allocator.context, block, bytes, 0, 16);
}

void net__say(reef_net *net, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(net->reason, sizeof net->reason, format, values);
    va_end(values);
}

void net__end(reef_net *net, const char *format, ...)
{
    va_list values;
    if (net->phase == REEF_NET_ENDED) return;
    va_start(values, format);
    (void)vsnprintf(net->reason, sizeof net->reason, format, values);
    va_end(values);
    net->phase = REEF_NET_ENDED;
}
