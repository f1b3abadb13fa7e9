/* Checking a file without loading it: all sums, the order of its records, and what it consists of.
 *
 * A journal whose last record isn't whole is either torn, since the program died while it wrote, or damaged. It is
 * damaged if a later record follows that was written when this one was on the disk. The head of a record can be
 * recognised anywhere by its magic and its own sum, so all bytes that are read are searched for heads on their way
 * (frame_read), and after an error the rest of the file is searched too. */
#include "file/file.h"
#include "file/section.h"
#include "reef/file.h"
#include <stdio.h>

enum { DRAIN_STEP = 4096 };

typedef struct frame {
    reef_reader from;
    section_in in;
    reef_file_info *info;
    uint64_t bytes; /* number of bytes read */
    bool ended;
    unsigned char last[RECORD_HEAD_BYTES]; /* the newest bytes, in which a head may begin */
    size_t last_count;
    bool head_seen; /* a head of a later record was seen since the end of the last whole record */
    bool refused;   /* the content is wrong though its sums are right: the file isn't torn */
    reef_file_part part[SECTION_KIND_COUNT]; /* parts of the record that is read */
} frame;

/* ---- searching for heads ---- */

static void head_look(frame *f, const unsigned char *p)
{
    record_head h;
    if (reef__record_head_read(p, &h)) f->head_seen |= h.number > f->info->records && !(h.flags & RECORD_UNSYNCED);
}

/* Searches these bytes for heads, and heads that began in the bytes before them. */
static void frame_watch(frame *f, const unsigned char *p, size_t count)
{
    unsigned char both[2 * RECORD_HEAD_BYTES];
    const size_t more = count < RECORD_HEAD_BYTES ? count : RECORD_HEAD_BYTES, had = f->last_count;
    memcpy(both, f->last, had);
    if (more) memcpy(both + had, p, more);
    for (size_t i = 0; i < had && i + RECORD_HEAD_BYTES <= had + more; i++) head_look(f, both + i);
    for (const unsigned char *at = p, *end = p + count; (size_t)(end - at) >= RECORD_HEAD_BYTES; at++) {
        at = memchr(at, reef__record_magic[0], (size_t)(end - at) - RECORD_HEAD_BYTES + 1);
        if (at == NULL) break;
        head_look(f, at);
    }
    /* A head may begin in the last RECORD_HEAD_BYTES - 1 bytes, so they are kept. */
    if (count >= RECORD_HEAD_BYTES - 1) {
        f->last_count = RECORD_HEAD_BYTES - 1;
        memcpy(f->last, p + count - f->last_count, f->last_count);
        return;
    }
    const size_t all = had + count, keep = all < RECORD_HEAD_BYTES - 1 ? all : RECORD_HEAD_BYTES - 1;
    memmove(f->last, both + all - keep, keep);
    f->last_count = keep;
}

static reef_status frame_read(void *context, void *bytes, size_t count, size_t *got)
{
    frame *f = context;
    *got = 0;
    const reef_status s = f->ended ? REEF_OK : f->from.read(f->from.context, bytes, count, got);
    if (s != REEF_OK) return s;
    f->ended |= *got < count;
    f->bytes += *got;
    frame_watch(f, bytes, *got);
    return REEF_OK;
}

/* ---- records ---- */

static bool frame_kind(frame *f)
{
    const uint32_t i = reef__section_kind(&f->in);
    f->refused |= i == SECTION_KIND_COUNT;
    if (i == SECTION_KIND_COUNT) return false;
    f->part[i].sections++;
    f->part[i].bytes += SECTION_HEAD_BYTES + f->in.length + SECTION_SUM_BYTES;
    return true;
}

static bool frame_head(frame *f)
{
    section_in *in = &f->in;
    record_head h;
    if (!reef__record_begins(in, &h)) return false;
    if (h.number != f->info->records) return reef__in_wrong(in, REEF_CORRUPT, "a record is in the wrong place");
    f->refused = ((h.flags & RECORD_DIFFERENCE) != 0) != (f->info->difference || f->info->records);
    return !f->refused || reef__in_wrong(in, REEF_CORRUPT, "a record is in the wrong place");
}

/* Checks the next record. False: it is wrong, or the file ends here. */
static bool frame_record(frame *f)
{
    section_in *in = &f->in;
    uint64_t sections = 0, after;
    memset(f->part, 0, sizeof f->part);
    if (!reef__section_next(in)) return false;
    if (f->info->records && !f->info->journal) return reef__in_wrong(in, REEF_CORRUPT, "bytes follow the only record");
    if (!frame_head(f)) return false;
    for (; in->kind != SECTION_DONE; sections++) {
        if (!frame_kind(f)) return false;
        if (!reef__record_next(in)) return false;
        if (in->kind != SECTION_RECORD) continue;
        f->refused = true;
        return reef__in_wrong(in, REEF_CORRUPT, "a record begins in the middle of another");
    }
    if (!reef__record_ends(in, sections, &after) || !frame_kind(f)) return false;
    f->info->sections += sections + 1;
    return true;
}

static void frame_count(frame *f)
{
    reef_file_info *info = f->info;
    for (uint32_t i = 0; i < SECTION_KIND_COUNT; i++) {
        info->part[i].sections += f->part[i].sections;
        info->part[i].bytes += f->part[i].bytes;
    }
    info->records++;
    info->sound_bytes = f->in.at;
    if (info->records == 1) info->whole_bytes = f->in.at;
    f->head_seen = false;
}

bool reef__journal_scan(section_in *in, uint64_t *records)
{
    reef_file_info info = {.journal = true};
    frame f = {.in = *in, .info = &info};
    while (frame_record(&f)) frame_count(&f);
    const uint64_t sound = info.records ? info.sound_bytes : in->at;
    *records = info.records + (info.records == 0 || f.refused); /* reading that one will say what is wrong */
    if (info.records == 0 || f.refused) return true;
    frame_watch(&f, in->data + sound, (size_t)(in->size - sound));
    if (!f.head_seen) return true;
    in->at = sound;
    return reef__in_wrong(in, REEF_CORRUPT, "record %llu is damaged, but complete records follow it",
                          (unsigned long long)info.records);
}

/* Moves the kinds that the file has to the front, and names them. */
static void frame_name_parts(reef_file_info *info)
{
    for (uint32_t i = 0; i < SECTION_KIND_COUNT; i++) {
        if (info->part[i].sections == 0) continue;
        info->part[info->part_count] = info->part[i];
        for (uint32_t k = 0; k < 4; k++) info->part[info->part_count].kind[k] = (char)(reef__section_kinds[i] >> 8 * k);
        info->part_count++;
    }
    memset(info->part + info->part_count, 0, (REEF_FILE_PARTS_MAX - info->part_count) * sizeof info->part[0]);
}

/* Reads the rest of the file, which is counted and searched for heads. */
static void frame_drain(frame *f)
{
    unsigned char room[DRAIN_STEP];
    reef_status s = REEF_OK;
    size_t got;
    while (s == REEF_OK && !f->ended) s = frame_read(f, room, sizeof room, &got);
    if (s == REEF_OK) return;
    f->in.status = s;
    f->in.wrong_at = f->bytes;
    (void)snprintf(f->in.detail, sizeof f->in.detail, "reading failed");
}

static reef_status frame_check(memory *m, reef_reader from, uint64_t size, reef_file_info *info)
{
    uint16_t flags = 0;
    frame f = {.from = from, .info = info};
    section_in *in = &f.in;
    reef__in_begin(in, m, (reef_reader){frame_read, &f}, size);
    if (reef__in_header(in, &flags)) {
        info->version = FILE_VERSION;
        info->journal = (flags & FILE_JOURNAL) != 0;
        info->difference = (flags & FILE_DIFFERENCE) != 0;
        info->raw = (flags & FILE_RAW) != 0;
        info->big_endian = (flags & FILE_BIG) != 0;
        while (frame_record(&f)) frame_count(&f);
        in->payload = NULL;
        if (info->records == 0) (void)reef__in_wrong(in, REEF_CORRUPT, "the file has no record");
    }
    /* What follows a damage matters only in a journal. Of what has no header of reef nothing more is read: it may be
     * large, or have no end. */
    if (in->status == REEF_CORRUPT && info->version && (info->journal || size == UINT64_MAX)) frame_drain(&f);
    else if (in->status == REEF_CORRUPT && info->version) f.bytes = size;
    info->torn = in->status == REEF_CORRUPT && info->journal && info->records && !f.head_seen && !f.refused;
    info->bytes = f.bytes;
    info->wrong_at = in->wrong_at;
    memcpy(info->wrong, in->detail, sizeof info->wrong);
    frame_name_parts(info);
    reef__in_drop(in);
    return info->torn ? REEF_OK : in->status;
}

COLD static bool frame_memory(memory *m, const reef_allocator *allocator, reef_file_info *info)
{
    if (reef__memory_make(m, allocator && allocator->resize ? allocator : &reef__memory_standard)) return true;
    (void)snprintf(info->wrong, sizeof info->wrong, "no memory");
    return false;
}

COLD reef_status reef_file_check_from(reef_reader reader, const reef_allocator *allocator, reef_file_info *info)
{
    memory m;
    if (info) memset(info, 0, sizeof *info);
    if (info == NULL || reader.read == NULL) return REEF_BAD_ARGUMENT;
    if (!frame_memory(&m, allocator, info)) return REEF_NO_MEMORY;
    const reef_status s = frame_check(&m, reader, UINT64_MAX, info);
    reef__memory_drop(&m);
    return s;
}

COLD reef_status reef_file_check(const char *path, const reef_allocator *allocator, reef_file_info *info)
{
    memory m;
    file_in *file;
    if (info) memset(info, 0, sizeof *info);
    if (info == NULL || path == NULL) return REEF_BAD_ARGUMENT;
    if (!frame_memory(&m, allocator, info)) return REEF_NO_MEMORY;
    reef_status s = reef__file_in_open(&m, path, &file, info->wrong);
    if (s == REEF_OK) {
        s = frame_check(&m, reef__file_in_reader(file), reef__file_in_size(file), info);
        if (s == REEF_IO) (void)snprintf(info->wrong, sizeof info->wrong, "%s", reef__file_in_reason(file));
        reef__file_in_close(file);
    } else if (s == REEF_NO_MEMORY) {
        (void)snprintf(info->wrong, sizeof info->wrong, "no memory");
    }
    reef__memory_drop(&m);
    return s;
}
