/* The content that the suites about files write, and how they check it. */
#ifndef REEF_TESTS_FILE_CONTENT_H
#define REEF_TESTS_FILE_CONTENT_H

#include "faults.h"
#include "file/file.h"

enum { OLD_BYTES = 5000, NEW_BYTES = 200 << 10, BASE_BYTES = 1000, LEFT_BYTES = NEW_BYTES + 1000 };

static memory scene_memory; /* counts its bytes: not in the memory that killed processes share with us */

/* Random bytes, a different part for each seed: the contents are compared several hundred times. */
enum { SEED_STEP = 1013, SEEDS = 100, CONTENT_MAX = 320 << 10 };
static unsigned char pattern[CONTENT_MAX + SEEDS * SEED_STEP];

static inline void pattern_make(void)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (unsigned char)random_next(&seed);
}

static inline const unsigned char *content_of(uint32_t seed, size_t from, size_t count)
{
    assert_true(seed < SEEDS && from + count <= CONTENT_MAX);
    return pattern + seed * SEED_STEP + from;
}

static inline bool is_content(const unsigned char *bytes, size_t count, uint32_t seed, size_t size)
{
    return bytes && count == size && memcmp(bytes, content_of(seed, 0, size), size) == 0;
}

static inline bool holds(const char *path, uint32_t seed, size_t size)
{
    size_t count = 0;
    unsigned char *bytes = faults_get(path, &count);
    return is_content(bytes, count, seed, size);
}

static inline void put(const char *path, uint32_t seed, size_t size)
{
    faults_put(path, content_of(seed, 0, size), size);
}

/* Writes the content of a seed in pieces of all sizes: small ones, which are buffered, and large ones, which go
 * directly to the system. */
typedef struct making {
    uint32_t seed;
    size_t size;
    reef_status answer; /* behind the last byte */
} making;

static inline reef_status make_content(void *context, reef_writer writer)
{
    static const size_t pieces[] = {1, 24, 1000, 0, 4096, 100 << 10, 16, FILE_BUFFER, 20000, FILE_BUFFER - 1};
    const making *m = context;
    reef_status s = REEF_OK;
    for (size_t at = 0, i = 0; at < m->size && s == REEF_OK; i = (i + 1) % (sizeof pieces / sizeof *pieces)) {
        size_t count = pieces[i] < m->size - at ? pieces[i] : m->size - at;
        s = writer.write(writer.context, content_of(m->seed, at, count), count);
        at += count;
    }
    return s == REEF_OK ? m->answer : s;
}

#endif
