/* A file in memory, for suites that write and read streams. */
#ifndef REEF_TESTS_BYTE_FILE_H
#define REEF_TESTS_BYTE_FILE_H

#include "support.h"

typedef struct byte_file {
    unsigned char bytes[1 << 17];
    size_t size, at;
    bool fails; /* reading: in the place of its end */
} byte_file;

static inline reef_status byte_file_write(void *context, const void *bytes, size_t count)
{
    byte_file *f = context;
    if (count > sizeof f->bytes - f->size) return REEF_IO;
    memcpy(f->bytes + f->size, bytes, count);
    f->size += count;
    return REEF_OK;
}

static inline reef_status byte_file_read(void *context, void *bytes, size_t count, size_t *got)
{
    byte_file *f = context;
    if (f->fails && count > f->size - f->at) return REEF_CANCELLED;
    *got = count < f->size - f->at ? count : f->size - f->at;
    memcpy(bytes, f->bytes + f->at, *got);
    f->at += *got;
    return REEF_OK;
}

#endif
