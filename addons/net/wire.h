/* Numbers in datagrams: little endian, bounded. A reader that goes beyond the end gives zeros and is `bad` from then
 * on, so a message is read as a whole and judged once. A writer that is full is `bad` too, and the message isn't sent.
 * */
#ifndef REEF_NET_WIRE_H
#define REEF_NET_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct wire {
    unsigned char *bytes;
    size_t at, end;
    bool bad;
} wire;

static inline size_t wire_left(const wire *w) { return w->end - w->at; }

static inline void wire_put(wire *w, const void *bytes, size_t count)
{
    if (w->bad || count > wire_left(w)) {
        w->bad = true;
        return;
    }
    if (count) memcpy(w->bytes + w->at, bytes, count);
    w->at += count;
}

static inline void wire_number(wire *w, uint64_t value, size_t count)
{
    unsigned char b[8];
    for (size_t i = 0; i < count; i++) b[i] = (unsigned char)(value >> (8 * i));
    wire_put(w, b, count);
}

static inline void wire_u8(wire *w, uint32_t value) { wire_number(w, value, 1); }
static inline void wire_u16(wire *w, uint32_t value) { wire_number(w, value, 2); }
static inline void wire_u32(wire *w, uint32_t value) { wire_number(w, value, 4); }
static inline void wire_u64(wire *w, uint64_t value) { wire_number(w, value, 8); }

static inline const unsigned char *wire_take(wire *w, size_t count)
{
    if (w->bad || count > wire_left(w)) {
        w->bad = true;
        return NULL;
    }
    w->at += count;
    return w->bytes + w->at - count;
}

static inline uint64_t wire_get(wire *w, size_t count)
{
    const unsigned char *b = wire_take(w, count);
    uint64_t value = 0;
    for (size_t i = 0; b && i < count; i++) value |= (uint64_t)b[i] << (8 * i);
    return value;
}

/* Reads `count` bytes to `to`; zeros if there are fewer. */
static inline void wire_bytes(wire *w, void *to, size_t count)
{
    const unsigned char *b = wire_take(w, count);
    if (b) memcpy(to, b, count);
    else memset(to, 0, count);
}

static inline uint32_t wire_get8(wire *w) { return (uint32_t)wire_get(w, 1); }
static inline uint32_t wire_get16(wire *w) { return (uint32_t)wire_get(w, 2); }
static inline uint32_t wire_get32(wire *w) { return (uint32_t)wire_get(w, 4); }
static inline uint64_t wire_get64(wire *w) { return wire_get(w, 8); }

#endif
