/* Sections: the frame of files.
 *
 * Writing: a payload is a list of pieces. Small ones are copied, one behind the other, into a buffer; large ones stay
 * where they are and go straight to the writer.
 *
 * Reading: a payload is read as a whole, and its sum is compared before anybody looks at it. The buffer grows with the
 * bytes that have come, so a length that lies costs no memory. */
#include "file/section.h"
#include "base/checksum.h"
#include "storage/error.h"
#include "reef/file.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const unsigned char file_magic[8] = {0x89, 'R', 'E', 'E', 'F', '\r', '\n', 0x1A};
enum { BUFFER_FIRST = 1 << 16, READ_STEP = 1 << 20 };

static void little_put(unsigned char *p, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(x >> 8 * i);
}

static uint64_t little_get(const unsigned char *p, unsigned bytes)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < bytes; i++) x |= (uint64_t)p[i] << 8 * i;
    return x;
}

bool reef__size_room(memory *m, void *array, size_t *room, size_t needed, size_t size, size_t first)
{
    size_t more = *room ? *room : first, bytes;
    void *p;
    if (needed <= *room) return true;
    while (more < needed) more = more > SIZE_MAX / 2 ? needed : more * 2;
    memcpy(&p, array, sizeof p);
    p = reef__size_multiply(more, size, 0, &bytes)
            ? reef__memory_resize(m, MEMORY_OTHER, p, *room * size, bytes, PLAIN_ALIGN)
            : NULL;
    if (p == NULL) return false;
    memcpy(array, &p, sizeof p);
    *room = more;
    return true;
}

/* ---- heads of records ---- */

const unsigned char reef__record_magic[8] = {'R', 'E', 'E', 'F', 'R', 'E', 'C', '\n'};
enum { HEAD_SUMMED = RECORD_HEAD_BYTES - 8 };

void reef__record_head_write(unsigned char *to, const record_head *h)
{
    memcpy(to, reef__record_magic, sizeof reef__record_magic);
    little_put(to + 8, h->number, 8);
    little_put(to + 16, h->flags, 4);
    little_put(to + 20, 0, 4);
    little_put(to + 24, h->before, 8);
    little_put(to + HEAD_SUMMED, reef__checksum_of(to, HEAD_SUMMED, 0), 8);
}

bool reef__record_head_read(const unsigned char *from, record_head *h)
{
    if (memcmp(from, reef__record_magic, sizeof reef__record_magic) != 0 ||
        reef__checksum_of(from, HEAD_SUMMED, 0) != little_get(from + HEAD_SUMMED, 8))
        return false;
    *h = (record_head){little_get(from + 8, 8), little_get(from + 24, 8), (uint32_t)little_get(from + 16, 4)};
    return h->flags <= (RECORD_DIFFERENCE | RECORD_UNSYNCED) && little_get(from + 20, 4) == 0;
}

/* ---- writing ---- */

void reef__out_begin(section_out *o, memory *m, reef_writer to) { *o = (section_out){.memory = m, .to = to}; }

static void section_payload_drop(memory *m, section_payload *p)
{
    reef__memory_free(m, MEMORY_OTHER, p->buffer, p->room);
    reef__memory_free(m, MEMORY_OTHER, p->pieces, p->piece_room * sizeof *p->pieces);
    *p = (section_payload){0};
}

void reef__out_drop(section_out *o)
{
    section_payload_drop(o->memory, &o->now);
    section_payload_drop(o->memory, &o->aside);
}

static void out_write(section_out *o, const void *bytes, size_t count)
{
    if (o->status != REEF_OK || count == 0) return;
    o->status = o->to.write(o->to.context, bytes, count);
    if (o->status == REEF_OK) o->bytes += count;
}

void reef__out_header(section_out *o, uint16_t flags)
{
    unsigned char head[FILE_HEADER_BYTES] = {0};
    memcpy(head, file_magic, sizeof file_magic);
    little_put(head + 8, FILE_VERSION, 2);
    little_put(head + 10, flags, 2);
    o->chain = reef__checksum_of(head, 16, 0);
    little_put(head + 16, o->chain, 8);
    out_write(o, head, sizeof head);
}

void reef__section_begin(section_out *o, uint32_t kind)
{
    o->now.kind = kind;
    o->now.fill = o->now.piece_count = 0;
}

void reef__section_swap(section_out *o)
{
    const section_payload p = o->now;
    o->now = o->aside;
    o->aside = p;
}

/* Adds `count` bytes to the list of pieces. Bytes in the buffer become one piece with those before them. */
static bool section_piece_add(section_out *o, const void *outside, size_t count)
{
    section_piece *last = o->now.piece_count ? &o->now.pieces[o->now.piece_count - 1] : NULL;
    if (outside == NULL && last && last->outside == NULL) {
        last->bytes += count;
        return true;
    }
    if (!reef__size_room(o->memory, &o->now.pieces, &o->now.piece_room, o->now.piece_count + 1, sizeof *o->now.pieces,
                         16))
        return o->status = REEF_NO_MEMORY, false;
    o->now.pieces[o->now.piece_count++] = (section_piece){outside, count};
    return true;
}

unsigned char *reef__put_room(section_out *o, size_t count)
{
    if (UNLIKELY(o->status != REEF_OK || o->dry)) return NULL;
    if (UNLIKELY(count > o->now.room - o->now.fill)) {
        if (count > SIZE_MAX - o->now.fill ||
            !reef__size_room(o->memory, &o->now.buffer, &o->now.room, o->now.fill + count, 1, BUFFER_FIRST))
            return o->status = REEF_NO_MEMORY, NULL;
    }
    if (!section_piece_add(o, NULL, count)) return NULL;
    unsigned char *at = o->now.buffer + o->now.fill;
    o->now.fill += count;
    return at;
}

void reef__put_bytes(section_out *o, const void *bytes, size_t count)
{
    unsigned char *p = reef__put_room(o, count);
    if (p && count) memcpy(p, bytes, count);
}

void reef__put_block(section_out *o, const void *bytes, size_t count)
{
    if (count < SECTION_COPY) reef__put_bytes(o, bytes, count);
    else if (o->status == REEF_OK && !o->dry) (void)section_piece_add(o, bytes, count);
}

static void put_little(section_out *o, uint64_t x, unsigned bytes)
{
    unsigned char *p = reef__put_room(o, bytes);
    if (p) little_put(p, x, bytes);
}

void reef__put_u8(section_out *o, uint32_t x) { put_little(o, x, 1); }
void reef__put_u16(section_out *o, uint32_t x) { put_little(o, x, 2); }
void reef__put_u32(section_out *o, uint32_t x) { put_little(o, x, 4); }
void reef__put_u64(section_out *o, uint64_t x) { put_little(o, x, 8); }

void reef__put_f64(section_out *o, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    reef__put_u64(o, bits);
}

void reef__put_handle(section_out *o, reef_entity e)
{
    reef__put_u32(o, e.index);
    reef__put_u32(o, e.generation);
}

void reef__put_handles(section_out *o, const reef_entity *e, size_t n)
{
    if (HOST_IS_LITTLE) reef__put_block(o, e, n * sizeof *e);
    else
        for (size_t i = 0; i < n; i++) reef__put_handle(o, e[i]);
}

void reef__put_text(section_out *o, const char *text)
{
    const size_t n = text ? strlen(text) : 0;
    ASSERT(n <= UINT16_MAX);
    reef__put_u16(o, (uint32_t)n);
    reef__put_bytes(o, text, n);
}

size_t reef__put_later(section_out *o)
{
    const size_t where = o->now.fill;
    reef__put_u32(o, 0);
    return where;
}

void reef__put_now(section_out *o, size_t where, uint32_t x)
{
    if (o->status == REEF_OK && !o->dry) little_put(o->now.buffer + where, x, 4);
}

void reef__section_end(section_out *o)
{
    unsigned char head[SECTION_HEAD_BYTES], sum[SECTION_SUM_BYTES];
    uint64_t length = 0;
    if (o->status != REEF_OK || o->dry) return;
    for (size_t i = 0; i < o->now.piece_count; i++) length += o->now.pieces[i].bytes;
    little_put(head, o->now.kind, 4);
    little_put(head + 4, length, 8);
    const uint64_t h = reef__checksum_of(head, 12, o->chain);
    little_put(head + 12, h, 4);
    out_write(o, head, sizeof head);
    checksum c;
    reef__checksum_begin(&c, h);
    const unsigned char *inside = o->now.buffer;
    for (size_t i = 0; i < o->now.piece_count; i++) {
        const section_piece *p = &o->now.pieces[i];
        const void *bytes = p->outside ? p->outside : inside;
        reef__checksum_add(&c, bytes, p->bytes);
        out_write(o, bytes, p->bytes);
        if (p->outside == NULL) inside += p->bytes;
    }
    o->chain = reef__checksum_end(&c);
    little_put(sum, o->chain, 8);
    out_write(o, sum, sizeof sum);
    o->sections++;
}

/* ---- reading ---- */

void reef__in_begin(section_in *in, memory *m, reef_reader from, uint64_t size)
{
    *in = (section_in){.memory = m, .from = from, .size = size};
}

void reef__in_begin_memory(section_in *in, memory *m, const void *data, size_t size)
{
    *in = (section_in){.memory = m, .data = data ? data : file_magic, .size = size};
}

void reef__in_drop(section_in *in)
{
    reef__memory_free(in->memory, MEMORY_OTHER, in->buffer, in->room);
    in->buffer = NULL;
    in->room = 0;
}

COLD bool reef__in_wrong(section_in *in, reef_status status, const char *format, ...)
{
    if (in->status != REEF_OK) return false;
    va_list arguments;
    int n = 0;
    if (status == REEF_CORRUPT && in->payload) {
        const char kind[] = {(char)in->kind, (char)(in->kind >> 8), (char)(in->kind >> 16), (char)(in->kind >> 24), 0};
        n = in->element ? snprintf(in->detail, sizeof in->detail, "%s, element %u: ", kind, (unsigned)in->element)
                        : snprintf(in->detail, sizeof in->detail, "%s: ", kind);
    }
    va_start(arguments, format);
    vsnprintf(in->detail + n, sizeof in->detail - (size_t)n, format, arguments);
    va_end(arguments);
    in->status = status;
    if (reef__status_of_file(status))
        in->wrong_at = in->payload ? in->section_at + SECTION_HEAD_BYTES + in->got : in->at;
    return false;
}

/* Reads up to `count` bytes. Where *got is less the file ends. */
static bool in_read(section_in *in, void *to, size_t count, size_t *got)
{
    *got = 0;
    if (in->data) {
        *got = count < in->size - in->at ? count : (size_t)(in->size - in->at);
        memcpy(to, in->data + in->at, *got);
    } else {
        const reef_status s = in->from.read(in->from.context, to, count, got);
        if (s != REEF_OK) return reef__in_wrong(in, s, "reading failed");
        ASSERT(*got <= count);
    }
    in->at += *got;
    return true;
}

bool reef__in_header(section_in *in, uint16_t *flags)
{
    unsigned char head[FILE_HEADER_BYTES];
    size_t got;
    if (!in_read(in, head, sizeof head, &got)) return false;
    if (got < sizeof head || memcmp(head, file_magic, sizeof file_magic) != 0)
        return reef__in_wrong(in, REEF_CORRUPT, "this isn't a file of reef");
    in->chain = reef__checksum_of(head, 16, 0);
    if (in->chain != little_get(head + 16, 8)) return reef__in_wrong(in, REEF_CORRUPT, "the header is damaged");
    const uint32_t version = (uint32_t)little_get(head + 8, 2);
    *flags = (uint16_t)little_get(head + 10, 2);
    if (version != FILE_VERSION)
        return reef__in_wrong(in, REEF_VERSION, "the file has version %u, and only version %d is known",
                              (unsigned)version, FILE_VERSION);
    if (*flags > (FILE_JOURNAL | FILE_DIFFERENCE | FILE_RAW | FILE_BIG) || little_get(head + 12, 4))
        return reef__in_wrong(in, REEF_VERSION, "the header has flags that aren't known");
    return true;
}

static bool payload_read(section_in *in, uint64_t length)
{
    if (in->data) {
        in->payload = in->data + in->at;
        in->at += length;
        return true;
    }
    for (uint64_t have = 0, got; have < length; have += got) {
        const size_t step = length - have < READ_STEP ? (size_t)(length - have) : READ_STEP;
        size_t n;
        if (have + step > SIZE_MAX ||
            !reef__size_room(in->memory, &in->buffer, &in->room, (size_t)have + step, 1, BUFFER_FIRST))
            return reef__in_wrong(in, REEF_NO_MEMORY, "no memory for a section of %zu bytes", (size_t)have + step);
        if (!in_read(in, in->buffer + have, step, &n)) return false;
        if (n < step) return reef__in_wrong(in, REEF_CORRUPT, "the file ends in the middle of a section");
        got = n;
    }
    in->payload = in->buffer;
    return true;
}

bool reef__section_next(section_in *in)
{
    unsigned char head[SECTION_HEAD_BYTES], sum[SECTION_SUM_BYTES];
    size_t got;
    if (in->status != REEF_OK) return false;
    in->payload = NULL;
    in->section_at = in->at;
    if (!in_read(in, head, sizeof head, &got) || got == 0) return false;
    if (got < sizeof head) return reef__in_wrong(in, REEF_CORRUPT, "the file ends in the middle of a section's head");
    const uint64_t length = little_get(head + 4, 8), h = reef__checksum_of(head, 12, in->chain);
    in->kind = (uint32_t)little_get(head, 4);
    if ((uint32_t)h != (uint32_t)little_get(head + 12, 4))
        return reef__in_wrong(in, REEF_CORRUPT, "the head of a section is damaged, or in the wrong place");
    if (length > SIZE_MAX || (in->size != UINT64_MAX && (in->size - in->at < SECTION_SUM_BYTES ||
                                                         length > in->size - in->at - SECTION_SUM_BYTES)))
        return reef__in_wrong(in, REEF_CORRUPT, "the file ends in the middle of a section");
    if (!payload_read(in, length)) return false;
    const unsigned char *payload = in->payload;
    in->payload = NULL;
    if (!in_read(in, sum, sizeof sum, &got)) return false;
    if (got < sizeof sum) return reef__in_wrong(in, REEF_CORRUPT, "the file ends in the middle of a section");
    in->chain = reef__checksum_of(payload, (size_t)length, h);
    if (in->chain != little_get(sum, 8))
        return reef__in_wrong(in, REEF_CORRUPT, "a section is damaged: its checksum differs");
    in->payload = length ? payload : sum; /* never NULL */
    in->length = (size_t)length;
    in->got = in->element = 0;
    return true;
}

const unsigned char *reef__get_bytes(section_in *in, size_t count)
{
    if (in->status != REEF_OK) return NULL;
    if (UNLIKELY(count > in->length - in->got))
        return (void)reef__in_wrong(in, REEF_CORRUPT, "a section is too short for its content"), NULL;
    const unsigned char *p = in->payload + in->got;
    in->got += count;
    return p;
}

const unsigned char *reef__get_array(section_in *in, size_t count, size_t bytes)
{
    return reef__get_bytes(in, bytes && count > SIZE_MAX / bytes ? SIZE_MAX : count * bytes);
}

static uint64_t get_little(section_in *in, unsigned bytes)
{
    const unsigned char *p = reef__get_bytes(in, bytes);
    return p ? little_get(p, bytes) : 0;
}

uint32_t reef__get_u16(section_in *in) { return (uint32_t)get_little(in, 2); }
uint32_t reef__get_u32(section_in *in) { return (uint32_t)get_little(in, 4); }
uint64_t reef__get_u64(section_in *in) { return get_little(in, 8); }

uint64_t reef__get_most(section_in *in, const char *field, unsigned bytes, uint64_t most)
{
    const uint64_t x = get_little(in, bytes);
    if (x <= most) return x;
    (void)reef__in_wrong(in, REEF_CORRUPT, "%s is %llu, and can be %llu at most", field, (unsigned long long)x,
                         (unsigned long long)most);
    return 0;
}

uint32_t reef__get_count(section_in *in, const char *field, size_t bytes)
{
    const size_t left = in_left(in);
    return (uint32_t)reef__get_most(in, field, 4, bytes && left >= 4 ? (left - 4) / bytes : UINT32_MAX);
}

double reef__get_f64(section_in *in)
{
    const uint64_t bits = reef__get_u64(in);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

reef_entity reef__handle_at(const unsigned char *handles, size_t i)
{
    const unsigned char *p = handles + i * sizeof(reef_entity);
    return (reef_entity){(uint32_t)little_get(p, 4), (uint32_t)little_get(p + 4, 4)};
}

void reef__handles_copy(reef_entity *to, const unsigned char *handles, size_t n)
{
    if (HOST_IS_LITTLE) memcpy(to, handles, n * sizeof *to);
    else
        for (size_t i = 0; i < n; i++) to[i] = reef__handle_at(handles, i);
}

reef_entity reef__get_handle(section_in *in)
{
    const unsigned char *p = reef__get_bytes(in, sizeof(reef_entity));
    return p ? reef__handle_at(p, 0) : (reef_entity){0, 0};
}

bool reef__get_text(section_in *in, char *text, size_t most)
{
    const size_t n = reef__get_u16(in);
    text[0] = 0;
    if (in->status == REEF_OK && n > most)
        return reef__in_wrong(in, REEF_CORRUPT, "a text of %zu bytes is too long", n);
    const unsigned char *p = reef__get_bytes(in, n);
    if (p == NULL) return false;
    if (memchr(p, 0, n)) return reef__in_wrong(in, REEF_CORRUPT, "a text contains a zero byte");
    memcpy(text, p, n);
    text[n] = 0;
    return true;
}

bool reef__section_taken(section_in *in)
{
    if (in->status != REEF_OK) return false;
    return in->got == in->length || reef__in_wrong(in, REEF_CORRUPT, "a section is longer than its content");
}

#define SECTION_KIND(name, a, b, c, d, rank, once, least, write, read) SECTION_##name,
const uint32_t reef__section_kinds[] = {SECTION_KINDS(SECTION_KIND)};
#undef SECTION_KIND

uint32_t reef__section_kind(section_in *in)
{
    uint32_t i = 0;
    while (i < SECTION_KIND_COUNT && reef__section_kinds[i] != in->kind) i++;
    if (i == SECTION_KIND_COUNT) (void)reef__in_wrong(in, REEF_CORRUPT, "a section is of an unknown kind");
    return i;
}

/* ---- reading a record ---- */

bool reef__record_next(section_in *in)
{
    return reef__section_next(in) || reef__in_wrong(in, REEF_CORRUPT, "the file ends in the middle of a record");
}

bool reef__record_ends(section_in *in, uint64_t sections, uint64_t *after)
{
    const uint64_t said = reef__get_u64(in);
    *after = reef__get_u64(in);
    if (!reef__section_taken(in)) return false;
    return said == sections || reef__in_wrong(in, REEF_CORRUPT, "a section is missing");
}

bool reef__record_begins(section_in *in, record_head *h)
{
    if (in->kind != SECTION_RECORD) return reef__in_wrong(in, REEF_CORRUPT, "a record doesn't begin with its head");
    const unsigned char *p = reef__get_bytes(in, RECORD_HEAD_BYTES);
    if (!reef__section_taken(in)) return false;
    in->got = 0; /* what is wrong is reported at the beginning of the head */
    return reef__record_head_read(p, h) || reef__in_wrong(in, REEF_CORRUPT, "the head of a record is damaged");
}
