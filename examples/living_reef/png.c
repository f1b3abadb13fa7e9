/* PNG (ISO/IEC 15948): signature, header, palette, one data chunk, end. The data is a zlib stream (RFC 1950) of one
 * deflate block (RFC 1951) with the fixed codes. Its only matches are runs of the previous byte, which is what the sea
 * between the fish consists of. It uses no library because another version of zlib might write other bytes, and the
 * program's files have to be the same on every machine. */
#include "png.h"

#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    uint8_t *at;
    size_t count, capacity;
    bool failed;
    uint32_t bits, bit_count; /* bits that aren't written yet, the lowest first */
} bytes;

static void put(bytes *b, uint32_t value)
{
    if (b->count == b->capacity) {
        size_t capacity = b->capacity > 0 ? b->capacity * 2 : 4096;
        uint8_t *bigger = realloc(b->at, capacity);
        if (bigger == NULL) {
            b->failed = true;
            return;
        }
        b->at = bigger;
        b->capacity = capacity;
    }
    b->at[b->count++] = (uint8_t)value;
}

static void put_32(bytes *b, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8) put(b, value >> shift & 0xFF);
}

/* ---- deflate ---- */

static void put_bits(bytes *b, uint32_t value, uint32_t count)
{
    b->bits |= value << b->bit_count;
    b->bit_count += count;
    for (; b->bit_count >= 8; b->bit_count -= 8) {
        put(b, b->bits & 0xFF);
        b->bits >>= 8;
    }
}

/* Codes are written with their highest bit first. */
static void put_code(bytes *b, uint32_t code, uint32_t count)
{
    uint32_t turned = 0;
    for (uint32_t i = 0; i < count; i++) turned |= (code >> i & 1) << (count - 1 - i);
    put_bits(b, turned, count);
}

static void put_symbol(bytes *b, uint32_t symbol)
{
    if (symbol < 144) put_code(b, 0x30 + symbol, 8);
    else if (symbol < 256) put_code(b, 0x190 + symbol - 144, 9);
    else if (symbol < 280) put_code(b, symbol - 256, 7);
    else put_code(b, 0xC0 + symbol - 280, 8);
}

/* Writes a match of 3 ... 258 bytes at distance 1. */
static void put_run(bytes *b, uint32_t length)
{
    if (length == 258) {
        put_symbol(b, 285);
    } else if (length < 11) {
        put_symbol(b, 254 + length);
    } else {
        uint32_t extra = 1;
        while (length - 3 >= 8u << extra) extra++;
        put_symbol(b, 257 + 4 * (extra + 1) + ((length - 3) >> extra & 3));
        put_bits(b, (length - 3) & ((1u << extra) - 1), extra);
    }
    put_code(b, 0, 5);
}

static void deflate_runs(bytes *b, const uint8_t *data, size_t count)
{
    put_bits(b, 3, 3); /* the last block, fixed codes */
    for (size_t i = 0; i < count;) {
        size_t run = 0;
        while (i > 0 && run < 258 && i + run < count && data[i + run] == data[i - 1]) run++;
        if (run >= 3) {
            put_run(b, (uint32_t)run);
            i += run;
        } else {
            put_symbol(b, data[i++]);
        }
    }
    put_symbol(b, 256);
    if (b->bit_count > 0) put_bits(b, 0, 8 - b->bit_count);
}

static uint32_t adler_32(const uint8_t *data, size_t count)
{
    uint32_t low = 1, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = (low + data[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

/* ---- chunks ---- */

static uint32_t crc_32(const uint8_t *data, size_t count)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < count; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1)));
    }
    return ~crc;
}

/* Opens a chunk whose length isn't known yet; returns where it starts. */
static size_t begin_chunk(bytes *b, const char *kind)
{
    size_t start = b->count;
    put_32(b, 0);
    for (int i = 0; i < 4; i++) put(b, (uint8_t)kind[i]);
    return start;
}

static void end_chunk(bytes *b, size_t start)
{
    if (b->failed) return;
    size_t length = b->count - start - 8;
    for (int i = 0; i < 4; i++) b->at[start + (size_t)i] = (uint8_t)(length >> (24 - 8 * i));
    put_32(b, crc_32(b->at + start + 4, length + 4));
}

/* Each row begins with its filter's number: 0, none. */
static void put_rows(bytes *b, const uint8_t *pixels, uint32_t width, uint32_t height)
{
    size_t count = ((size_t)width + 1) * height;
    uint8_t *rows = malloc(count);
    if (rows == NULL) {
        b->failed = true;
        return;
    }
    for (uint32_t y = 0; y < height; y++) {
        rows[y * ((size_t)width + 1)] = 0;
        memcpy(rows + y * ((size_t)width + 1) + 1, pixels + (size_t)y * width, width);
    }
    put(b, 0x78);
    put(b, 0x01);
    deflate_runs(b, rows, count);
    put_32(b, adler_32(rows, count));
    free(rows);
}

static void put_base64(FILE *file, const uint8_t *data, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        uint32_t group = (uint32_t)data[i] << 16;
        if (i + 1 < count) group |= (uint32_t)data[i + 1] << 8;
        if (i + 2 < count) group |= data[i + 2];
        fputc(digits[group >> 18], file);
        fputc(digits[group >> 12 & 63], file);
        fputc(i + 1 < count ? digits[group >> 6 & 63] : '=', file);
        fputc(i + 2 < count ? digits[group & 63] : '=', file);
    }
}

bool png_write_base64(FILE *file, const uint8_t *pixels, uint32_t width, uint32_t height, const colour *colours,
                      uint32_t colour_count)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    bytes b = {0};
    for (size_t i = 0; i < sizeof signature; i++) put(&b, signature[i]);
    size_t chunk = begin_chunk(&b, "IHDR");
    put_32(&b, width);
    put_32(&b, height);
    put_32(&b, 0x08030000); /* 8 bits a pixel, palette, the standard compression and filters */
    put(&b, 0);             /* not interlaced */
    end_chunk(&b, chunk);
    chunk = begin_chunk(&b, "PLTE");
    for (uint32_t i = 0; i < colour_count; i++)
        put(&b, colours[i].red), put(&b, colours[i].green), put(&b, colours[i].blue);
    end_chunk(&b, chunk);
    chunk = begin_chunk(&b, "IDAT");
    put_rows(&b, pixels, width, height);
    end_chunk(&b, chunk);
    end_chunk(&b, begin_chunk(&b, "IEND"));
    bool good = !b.failed;
    if (good) put_base64(file, b.at, b.count);
    free(b.at);
    return good;
}
