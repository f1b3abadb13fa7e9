/* XXH64, the checksum of files (after Yann Collet's specification of xxHash). Files use it because every language has a
 * library for it. The hash of a state is another function, which reads values by vectors (src/base/byte_hash.h). */
#ifndef REEF_BASE_CHECKSUM_H
#define REEF_BASE_CHECKSUM_H

#include "base/platform.h"
#include <stddef.h>

typedef struct checksum {
    uint64_t lane[4], seed, bytes;
    unsigned char rest[32]; /* the last bytes % 32 bytes, which fill no stripe yet */
} checksum;

void reef__checksum_begin(checksum *c, uint64_t seed);
void reef__checksum_add(checksum *c, const void *bytes, size_t count);
uint64_t reef__checksum_end(const checksum *c);
uint64_t reef__checksum_of(const void *bytes, size_t count, uint64_t seed);

#endif
