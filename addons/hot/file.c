/* The file of a library, as bytes. What would harm the process when it is opened is looked for before: a file that is
 * shorter than its segments (reading them would end the process by SIGBUS), and one that was compiled for another reef,
 * whose constructors would run. */
#include "hot.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <elf.h>
#include <link.h>
#endif

static uint64_t bytes_hash(const unsigned char *p, size_t n)
{
    uint64_t h = 0xCBF29CE484222325u; /* FNV-1a */
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001B3u;
    return h;
}

bool hot_file_read(hot_file *f, const char *path, char *why, size_t size)
{
    unsigned char chunk[16384];
    size_t room = 0, got;
    *f = (hot_file){0};
    FILE *in = fopen(path, "rb");
    bool ok = in != NULL;
    while (ok && (got = fread(chunk, 1, sizeof chunk, in)) > 0) {
        if (f->size + got > room) {
            room = 2 * room + sizeof chunk;
            unsigned char *more = realloc(f->bytes, room);
            if (more == NULL) ok = false;
            else f->bytes = more;
        }
        if (ok) memcpy(f->bytes + f->size, chunk, got);
        if (ok) f->size += got;
    }
    ok = ok && !ferror(in);
    if (!ok) (void)snprintf(why, size, "%.300s can't be read: %s", path, strerror(errno));
    if (in) (void)fclose(in);
    if (ok) f->hash = bytes_hash(f->bytes, f->size);
    else hot_file_drop(f);
    return ok;
}

void hot_file_drop(hot_file *f)
{
    free(f->bytes);
    *f = (hot_file){0};
}

bool hot_file_copy(const hot_file *f, const char *path, char *why, size_t size)
{
    FILE *out = fopen(path, "wb");
    bool ok = out && fwrite(f->bytes, 1, f->size, out) == f->size;
    if (out && fclose(out) != 0) ok = false;
    if (ok) return true;
    (void)snprintf(why, size, "the copy %.300s can't be written: %s", path, strerror(errno));
    (void)remove(path);
    return false;
}

/* ---- is it whole? ---- */

#if defined(__linux__)
/* Does a part of the file end behind its end? */
static bool part_beyond(const hot_file *f, uint64_t at, uint64_t bytes)
{
    return bytes > f->size || at > f->size - bytes;
}

static bool file_whole(const hot_file *f)
{
    ElfW(Ehdr) head;
    if (f->size < sizeof head) return false;
    memcpy(&head, f->bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? 2 : 1))
        return false;
    if (head.e_type != ET_DYN || head.e_phentsize != sizeof(ElfW(Phdr)) || head.e_phnum == 0) return false;
    if (part_beyond(f, head.e_phoff, (uint64_t)head.e_phnum * sizeof(ElfW(Phdr)))) return false;
    if (part_beyond(f, head.e_shoff, (uint64_t)head.e_shnum * head.e_shentsize)) return false;
    for (uint32_t i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        memcpy(&part, f->bytes + head.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type != PT_NULL && part_beyond(f, part.p_offset, part.p_filesz)) return false;
    }
    return true;
}
#else
static bool file_whole(const hot_file *f) { return f->size > sizeof(reef_hot_library); }
#endif

/* ---- for which reef was it compiled? ---- */

/* The record of the library, without its pointers, which are filled in when it is opened. */
static bool record_find(const hot_file *f, reef_hot_library *record)
{
    static const unsigned char mark[] = REEF_HOT_MARK_;
    for (size_t at = 0; at + sizeof *record <= f->size; at += 4) {
        if (f->bytes[at] != mark[0] || memcmp(f->bytes + at, mark, sizeof mark) != 0) continue;
        memcpy(record, f->bytes + at, sizeof *record);
        return true;
    }
    return false;
}

static const char *build_text(uint32_t checked) { return checked ? "checked" : "unchecked"; }

bool hot_file_check(const hot_file *f, char *why, size_t size)
{
    static const uint32_t sizes[REEF_HOT_SIZES] = REEF_HOT_SIZES_;
    reef_hot_library r;
    why[0] = 0;
    if (!file_whole(f)) (void)snprintf(why, size, "it isn't a whole library");
    else if (!record_find(f, &r)) (void)snprintf(why, size, "it has no REEF_HOT_LIBRARY");
    else if (r.version != REEF_HOT_VERSION_)
        (void)snprintf(why, size, "it was compiled for reef %u.%u.%u, and this is %d.%d.%d", r.version >> 16,
                       r.version >> 8 & 255, r.version & 255, REEF_VERSION_MAJOR, REEF_VERSION_MINOR,
                       REEF_VERSION_PATCH);
    else if (r.checked != REEF_HOT_CHECKED_)
        (void)snprintf(why, size, "it was compiled for the %s build, and this is the %s one (REEF_CHECKED)",
                       build_text(r.checked), build_text(REEF_HOT_CHECKED_));
    else if (memcmp(r.sizes, sizes, sizeof sizes) != 0)
        (void)snprintf(why, size, "it was compiled with other headers of reef: structs have other sizes");
    return why[0] == 0;
}
