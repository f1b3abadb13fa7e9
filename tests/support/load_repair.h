/* Corrects the checksums of a file that was changed, so that tests reach what a reader checks after the checksums. */
#ifndef REEF_TESTS_LOAD_REPAIR_H
#define REEF_TESTS_LOAD_REPAIR_H

#include "base/checksum.h"
#include "file/section.h"
#include <string.h>

static inline void repair_put(unsigned char *p, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(x >> 8 * i);
}
static inline uint64_t repair_get(const unsigned char *p, unsigned bytes)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < bytes; i++) x |= (uint64_t)p[i] << 8 * i;
    return x;
}

/* Sections that would reach beyond the end of the file are shortened to it. */
static inline void repair(unsigned char *data, size_t size)
{
    static const unsigned char magic[8] = {0x89, 0x52, 0x45, 0x45, 0x46, 0x0D, 0x0A, 0x1A},
                               record[8] = {'R', 'E', 'E', 'F', 'R', 'E', 'C', '\n'};
    uint64_t sections = 0;
    if (size < FILE_HEADER_BYTES) return;
    memcpy(data, magic, sizeof magic);
    repair_put(data + 8, FILE_VERSION, 2);
    repair_put(data + 12, 0, 4);
    uint64_t chain = reef__checksum_of(data, 16, 0);
    repair_put(data + 16, chain, 8);
    for (size_t at = FILE_HEADER_BYTES; size - at >= SECTION_HEAD_BYTES + SECTION_SUM_BYTES;) {
        unsigned char *head = data + at, *payload = head + SECTION_HEAD_BYTES;
        const uint64_t room = size - at - SECTION_HEAD_BYTES - SECTION_SUM_BYTES;
        uint64_t length = repair_get(head + 4, 8);
        const uint32_t kind = (uint32_t)repair_get(head, 4);
        if (length > room) length = room, repair_put(head + 4, length, 8);
        if (kind == SECTION_RECORD && length == 40) {
            sections = 0;
            memcpy(payload, record, sizeof record);
            repair_put(payload + 32, reef__checksum_of(payload, 32, 0), 8);
        }
        if (kind == SECTION_DONE && length == 16) repair_put(payload, sections, 8), repair_put(payload + 8, 0, 8);
        sections++;
        const uint64_t h = reef__checksum_of(head, 12, chain);
        repair_put(head + 12, h, 4);
        chain = reef__checksum_of(payload, (size_t)length, h);
        repair_put(payload + length, chain, 8);
        at += SECTION_HEAD_BYTES + (size_t)length + SECTION_SUM_BYTES;
    }
}

#endif
