/* XXH64, the checksum of files (Yann Collet's specification of xxHash). The state's hash is another function: it
 * reads values by vectors (src/world/state_hash.c); this one is what every language has a library for. */
#ifndef REEF_BASE_CHECKSUM_H
#define REEF_BASE_CHECKSUM_H

#include "base/platform.h"
#include <stddef.h>

typedef struct checksum {
    uint64_t lane[4], seed, bytes;
    unsigned char rest[32]; /* bytes % 32 of them */
} checksum;

void reef__checksum_begin(checksum *c, uint64_t seed);
void reef__checksum_add(checksum *c, const void *bytes, size_t count);
uint64_t reef__checksum_end(const checksum *c);
uint64_t reef__checksum_of(const void *bytes, size_t count, uint64_t seed);

#endif
