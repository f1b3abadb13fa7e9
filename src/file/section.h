/* The frame of files (docs/files/file-format.md): sections, one after the other, with a chain of sums.
 *
 *   writing:  reef__section_begin ─► reef__put_... ─► reef__section_end ─► head, payload and sum go to the writer
 *   reading:  reef__section_next ─► a payload whose sum is right ─► reef__get_... within its bounds
 *
 * Both sides keep the first error and do nothing from then on, so a caller may look at `status` once, at the end. A
 * getter answers 0 or NULL then. */
#ifndef REEF_FILE_SECTION_H
#define REEF_FILE_SECTION_H

#include "base/memory.h"
#include "reef/save.h"
#include "reef/file.h"

/* The kinds of sections in the order in which a record is written: their letters, their rank, whether a record has at
 * most one, the least bytes of an element, who writes them (reef__encode_...), and who reads them (reef__decode_...). A
 * section with 0 bytes for an element is read as a whole; the others are a count and so many elements, and are read one
 * element after the other. Where `none` writes a section, the writer of the row before does it, or what describes types
 * and tables. In a record the ranks go up; those of one rank come in any order, and those of rank 0 anywhere. RECD
 * begins a record and DONE ends it, and nothing reads them by way of this list. */
#define SECTION_KINDS(X) \
    X(RECORD, 'R', 'E', 'C', 'D', 0, true, 0, none, none) \
    X(TYPES, 'T', 'Y', 'P', 'E', 0, false, 22, none, types) \
    X(TABLES, 'T', 'A', 'B', 'L', 0, false, 4, none, tables) \
    X(TIME, 'T', 'I', 'M', 'E', 1, true, 0, time, time) \
    X(RESERVED, 'R', 'E', 'S', 'V', 2, false, 8, reserved, reserved) \
    X(IDS, 'I', 'D', 'S', ' ', 3, true, 0, ids, ids) \
    X(FREE, 'F', 'R', 'E', 'E', 4, false, 8, none, free) \
    X(IDLE, 'I', 'D', 'L', 'E', 5, false, 9, idle, idle) \
    X(ROWS, 'R', 'O', 'W', 'S', 7, false, 0, rows, rows) \
    X(BITS, 'B', 'I', 'T', 'S', 8, false, 0, bits, bits) \
    X(PAGE, 'P', 'A', 'G', 'E', 9, false, 0, stores, page) \
    X(VALUES, 'V', 'A', 'L', 'S', 9, false, 0, none, several) \
    X(NAMES, 'N', 'A', 'M', 'E', 10, false, 10, names, names) \
    X(EVENTS, 'E', 'V', 'N', 'T', 11, false, 0, events, events) \
    X(TRACKS, 'T', 'R', 'A', 'K', 12, false, 0, tracks, tracks) \
    X(LOST, 'L', 'O', 'S', 'T', 13, true, 0, lost, lost) \
    X(DONE, 'D', 'O', 'N', 'E', 14, true, 0, none, none)
enum { RANK_TIME = 1, RANK_IDS = 3 }; /* every record has these two */

#define X(name, a, b, c, d, rank, once, least, write, read) SECTION_##name = (a) | (b) << 8 | (c) << 16 | (d) << 24,
enum section_kind { SECTION_KINDS(X) };
#undef X
#define X(name, a, b, c, d, rank, once, least, write, read) +1
enum { SECTION_KIND_COUNT = SECTION_KINDS(X) };
#undef X
extern const uint32_t reef__section_kinds[SECTION_KIND_COUNT];

enum {
    FILE_VERSION = 2,
    FILE_JOURNAL = 1,
    FILE_DIFFERENCE = 2,
    FILE_RAW = 4,
    FILE_BIG = 8, /* FILE_JOURNAL to FILE_BIG are flags of the header */
    FILE_RAW_HERE = HOST_IS_LITTLE ? FILE_RAW : FILE_RAW | FILE_BIG, /* raw, in the byte order of this machine */
    RECORD_VERSION_MAX = 1 << 16, /* versions in a record are at most one more than it has systems */
    RECORD_DIFFERENCE = 1,
    RECORD_UNSYNCED = 2, /* these two are flags of a record */
    FILE_HEADER_BYTES = 24,
    SECTION_HEAD_BYTES = 16,
    SECTION_SUM_BYTES = 8,
    SECTION_COPY = 1024, /* pieces of this size or larger aren't copied on their way to the writer */
    SECTION_DETAIL = REEF_DETAIL_MAX
};

/* Makes room for `needed` elements in an array whose room doubles, from `first` on. `array` points to the array's
 * pointer. False: there is no memory. */
bool reef__size_room(memory *m, void *array, size_t *room, size_t needed, size_t size, size_t first);

/* ---- heads of records: 40 bytes that can be recognised anywhere in a damaged file ---- */

enum { RECORD_HEAD_BYTES = 40 };
typedef struct record_head {
    uint64_t number, before;
    uint32_t flags;
} record_head;

extern const unsigned char reef__record_magic[8]; /* a head begins with it */
void reef__record_head_write(unsigned char *to, const record_head *h);
/* False: these bytes aren't the head of a record. */
bool reef__record_head_read(const unsigned char *from, record_head *h);
struct section_in;
/* Reads the head from the section that begins a record; goes to the next section of a record; reads the section that
 * ends it, behind so many others. False: CORRUPT. */
bool reef__record_begins(struct section_in *in, record_head *h);
bool reef__record_next(struct section_in *in);
bool reef__record_ends(struct section_in *in, uint64_t sections, uint64_t *after);

/* ---- writing ---- */

/* A piece of a payload: bytes outside of the buffer, or with NULL the next bytes of the buffer. */
typedef struct section_piece {
    const void *outside;
    size_t bytes;
} section_piece;

/* A section that is being made. */
typedef struct section_payload {
    uint32_t kind;
    unsigned char *buffer;
    size_t fill, room;
    section_piece *pieces;
    size_t piece_count, piece_room;
} section_payload;

typedef struct section_out {
    reef_writer to;
    memory *memory;
    reef_status status;
    uint64_t chain, bytes; /* bytes: number of bytes written so far */
    uint64_t sections;     /* number of sections written since a record set it to 0 */
    bool dry;              /* everything is left out: a record is only looked through (src/file/encode.c) */
    section_payload now, aside;
} section_out;

/* Begins a file; its header starts the chain. To continue a file, set `chain` to what its reader ended with. */
void reef__out_begin(section_out *o, memory *m, reef_writer to);
void reef__out_header(section_out *o, uint16_t flags);
void reef__out_drop(section_out *o); /* frees its buffers */

void reef__section_begin(section_out *o, uint32_t kind);
void reef__section_end(section_out *o);
/* Lays the section that is being made aside, so that another one can be made and written before it; and takes it up
 * again. */
void reef__section_swap(section_out *o);

void reef__put_bytes(section_out *o, const void *bytes, size_t count);
/* As reef__put_bytes, but the bytes must stay until reef__section_end, since large blocks aren't copied. */
void reef__put_block(section_out *o, const void *bytes, size_t count);
/* Room for `count` bytes, which the caller fills before the next call. NULL: no memory, or an error before. */
unsigned char *reef__put_room(section_out *o, size_t count);
void reef__put_u8(section_out *o, uint32_t x);
void reef__put_u16(section_out *o, uint32_t x);
void reef__put_u32(section_out *o, uint32_t x);
void reef__put_u64(section_out *o, uint64_t x);
void reef__put_f64(section_out *o, double x);
void reef__put_handle(section_out *o, reef_entity e);
void reef__put_handles(section_out *o, const reef_entity *e, size_t n); /* which must stay, as for reef__put_block */
void reef__put_text(section_out *o, const char *text);                  /* NULL is written as "" */
/* A u32 whose value is known later: reef__put_later answers where it stands, reef__put_now sets it. */
size_t reef__put_later(section_out *o);
void reef__put_now(section_out *o, size_t where, uint32_t x);

/* ---- reading ---- */

typedef struct section_in {
    reef_reader from;
    const unsigned char *data; /* the whole file in memory; NULL: it is read by `from` */
    uint64_t size;             /* size of the file; UINT64_MAX: not known */
    memory *memory;
    reef_status status;
    char detail[SECTION_DETAIL]; /* what is wrong */
    uint64_t wrong_at;           /* the byte where it is wrong; 0: the error isn't in the bytes */
    uint64_t at;                 /* number of bytes read */
    uint64_t chain;
    uint64_t section_at; /* where the current section begins */
    uint32_t kind;
    const unsigned char *payload;
    size_t length, got; /* length of the payload, number of bytes taken from it */
    uint32_t element;   /* number of the element of the section that is read, from 1; 0: none. For messages */
    unsigned char *buffer;
    size_t room;
} section_in;

void reef__in_begin(section_in *in, memory *m, reef_reader from, uint64_t size);
void reef__in_begin_memory(section_in *in, memory *m, const void *data, size_t size);
void reef__in_drop(section_in *in);
/* Reads the header. False: CORRUPT (this isn't a file of reef), VERSION, or an error of the reader. */
bool reef__in_header(section_in *in, uint16_t *flags);
/* Reads the next section. False: `status` says why; OK: the file ends here. */
bool reef__section_next(section_in *in);
/* Records what is wrong, unless an error is recorded already, and the byte that would be taken next. Of content that
 * can't be, the text begins with the section and the element. Answers false. */
bool reef__in_wrong(section_in *in, reef_status status, const char *format, ...) REEF_PRINTF(3, 4);

INLINE size_t in_left(const section_in *in) { return in->length - in->got; }
/* The next `count` bytes of the payload, good until the next section. NULL: it has fewer, which is CORRUPT. */
const unsigned char *reef__get_bytes(section_in *in, size_t count);
uint32_t reef__get_u16(section_in *in);
uint32_t reef__get_u32(section_in *in);
uint64_t reef__get_u64(section_in *in);
double reef__get_f64(section_in *in);
reef_entity reef__get_handle(section_in *in);
reef_entity reef__handle_at(const unsigned char *handles, size_t i); /* handle i of an array of the payload */
void reef__handles_copy(reef_entity *to, const unsigned char *handles, size_t n);
/* A number that is at most `most`; the count of elements of which each takes at least `bytes` of what is left of the
 * section; so many elements. Else CORRUPT, with the field's name: nothing that a file says is used unchecked. */
uint64_t reef__get_most(section_in *in, const char *field, unsigned bytes, uint64_t most);
uint32_t reef__get_count(section_in *in, const char *field, size_t bytes);
const unsigned char *reef__get_array(section_in *in, size_t count, size_t bytes);
/* Reads a string of at most `most` bytes into `text`, which has room for one more. A zero within it is CORRUPT. */
bool reef__get_text(section_in *in, char *text, size_t most);
/* Counts the records of a journal in memory that have to be read: the whole ones, and one that reading refuses. Behind
 * the header, `in` stays there. False: whole records follow a damaged one, which is CORRUPT. */
bool reef__journal_scan(section_in *in, uint64_t *records);
/* Walks the elements of a section, so that an error names its element. It ends after an error, which the reader that
 * follows answers. */
#define EACH_ELEMENT(in, i, count) for (uint32_t i = 0; reef__get_element(in, i, count); i++)
INLINE bool reef__get_element(section_in *in, uint32_t i, uint32_t count)
{
    const bool more = i < count && in->status == REEF_OK;
    if (more || in->status == REEF_OK) in->element = more ? i + 1 : 0;
    return more;
}
/* Was the section taken to its end? If not, it is CORRUPT. */
bool reef__section_taken(section_in *in);
/* The number of the section's kind in SECTION_KINDS. SECTION_KIND_COUNT: it isn't known, which is CORRUPT. */
uint32_t reef__section_kind(section_in *in);

#endif
