/* Files that are never half written (file.h explains how).
 *
 *      appending:   [ settled bytes ][ bytes that the system has got ][ buffered bytes ]
 *                                   settled                           end
 *
 * An error of the writer is kept in `failed`, with its reason: the writer is called by code of the caller, which may
 * lose its answer. */
#include "file/file.h"
#include "base/os_file.h"
#include "reef/file.h"
#include <stdio.h>

enum {
    /* size of the read buffer; larger reads go past it and aren't copied (loading a file of 56 MB: 9 ms less) */
    FILE_AHEAD = 4096,
    REASON_PATH = 56 /* most bytes of a path that a reason shows */
};

struct file_out {
    memory *memory;
    disk_file file, folder;
    disk_look look;   /* the file when it was opened: its device and number identify it */
    uint64_t settled; /* number of bytes that are part of the file */
    uint64_t end;     /* end of the bytes that the system has got; settled <= end */
    size_t buffered;  /* number of bytes in the buffer, which follow them */
    bool unknown;     /* reef__file_append_unknown */
    bool failed;      /* a write failed since the last commit or undo */
    char reason[REEF_DETAIL_MAX];
    char path[DISK_PATH_MAX], temporary[DISK_PATH_MAX];
    char buffer[FILE_BUFFER];
};

struct file_in {
    memory *memory;
    disk_file file;
    disk_look look;
    size_t at, filled; /* bytes of the buffer that were taken, and that are there */
    char reason[REEF_DETAIL_MAX];
    char path[DISK_PATH_MAX];
    char buffer[FILE_AHEAD];
};

COLD void reef__file_say(char *reason, const char *call, const char *path, int error)
{
    char text[REEF_DETAIL_MAX];
    size_t length = strlen(path), skipped = length > REASON_PATH ? length - REASON_PATH : 0;
    while (skipped && ((unsigned char)path[skipped] & 0xC0) == 0x80) skipped++; /* not within a UTF-8 sequence */
    reef__disk_error_text(error, text, sizeof text);
    (void)snprintf(reason, REEF_DETAIL_MAX, "%s of %s%.*s: %.48s", call, skipped ? "..." : "", REASON_PATH,
                   path + skipped, text);
}

COLD static reef_status file_failed(file_out *f, const char *call, const char *path, int error)
{
    reef__file_say(f->reason, call, path, error);
    f->failed = true;
    return REEF_IO;
}

static void reason_copy(char *reason, const char *from)
{
    if (reason) memcpy(reason, from, strlen(from) + 1);
}

/* ---- writing ---- */

COLD static file_out *file_out_make(memory *m)
{
    file_out *f = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, sizeof *f, PLAIN_ALIGN);
    if (f == NULL) return NULL;
    memset(f, 0, offsetof(file_out, buffer));
    f->memory = m;
    f->file = f->folder = DISK_NONE;
    return f;
}

COLD static void file_out_free(file_out *f)
{
    reef__disk_close(f->folder);
    reef__disk_close(f->file);
    reef__memory_free(f->memory, MEMORY_OTHER, f, sizeof *f);
}

static const char *name_now(const file_out *f) { return f->temporary[0] ? f->temporary : f->path; }

static reef_status file_put(file_out *f, const void *bytes, size_t count)
{
    int error = reef__disk_write(f->file, f->end, bytes, count);
    if (error) return file_failed(f, "write", name_now(f), error);
    f->end += count;
    return REEF_OK;
}

static reef_status file_flush(file_out *f)
{
    size_t count = f->buffered;
    if (f->failed) return REEF_IO;
    f->buffered = 0;
    return count ? file_put(f, f->buffer, count) : REEF_OK;
}

static reef_status file_write(void *context, const void *bytes, size_t count)
{
    file_out *f = context;
    if (f->failed || f->unknown) return REEF_IO;
    if (count > FILE_BUFFER - f->buffered) {
        reef_status s = file_flush(f);
        if (s != REEF_OK) return s;
        if (count >= FILE_BUFFER) return file_put(f, bytes, count);
    }
    if (count) memcpy(f->buffer + f->buffered, bytes, count);
    f->buffered += count;
    return REEF_OK;
}

/* ---- replacing ---- */

/* Opens, locks and empties the temporary file. */
COLD static reef_status replace_open(file_out *f, const char *path, bool synced)
{
    disk_look old;
    int error = reef__disk_target(path, f->path);
    if (error) return file_failed(f, "readlink", path, error);
    if ((error = reef__disk_look_at(f->path, &old)) != 0) return file_failed(f, "stat", f->path, error);
    if (old.exists && !old.plain) return file_failed(f, "open", f->path, DISK_NOT_PLAIN);
    if (synced && (error = reef__disk_open_folder(f->path, &f->folder)) != 0)
        return file_failed(f, "opening the folder", f->path, error);
    int length = snprintf(f->temporary, sizeof f->temporary, "%s" FILE_TEMPORARY, f->path);
    if (length < 0 || (size_t)length >= sizeof f->temporary) return file_failed(f, "open", path, DISK_LONG_NAME);
    /* No other user may read it before it has the permissions of the old file. */
    error = reef__disk_open_write(f->temporary, true, old.exists ? 0600 : 0666, &f->file);
    if (error) return file_failed(f, "open", f->temporary, error);
    if ((error = reef__disk_look_into(f->file, &f->look)) != 0) return file_failed(f, "stat", f->temporary, error);
    if (old.exists && (error = reef__disk_set_mode(f->file, old.mode)) != 0)
        return file_failed(f, "chmod", f->temporary, error);
    if ((error = reef__disk_truncate(f->file, 0)) != 0) return file_failed(f, "truncate", f->temporary, error);
    return REEF_OK;
}

/* Syncs and renames the file. It stays open and locked until it has its name: another program that waits for the lock
 * would else take a temporary file that is still in use. */
COLD static reef_status replace_finish(file_out *f, bool synced, bool *placed)
{
    int error;
    reef_status s = file_flush(f);
    if (s != REEF_OK) return s;
    error = synced ? reef__disk_sync(f->file) : reef__disk_check(f->file);
    if (error) return file_failed(f, synced ? "fsync" : "close", f->temporary, error);
    if ((error = reef__disk_rename(f->temporary, f->path)) != 0) return file_failed(f, "rename", f->temporary, error);
    *placed = true;
    f->temporary[0] = 0;
    f->settled = f->end;
    if (synced && (error = reef__disk_sync_name(f->folder, f->file)) != 0) {
        f->unknown = true;
        return file_failed(f, "fsync of the folder", f->path, error);
    }
    return REEF_OK;
}

COLD reef_status reef__file_replace(memory *m, const char *path, bool synced,
                                    reef_status (*produce)(void *context, reef_writer writer), void *context,
                                    file_out **keep, char *reason)
{
    bool placed = false;
    if (keep) *keep = NULL;
    reason_copy(reason, "");
    file_out *f = file_out_make(m);
    if (f == NULL) return REEF_NO_MEMORY;
    reef_status s = replace_open(f, path, synced);
    if (s == REEF_OK) s = produce(context, (reef_writer){file_write, f});
    if (f->failed) s = REEF_IO; /* even if `produce` answered something else */
    if (s == REEF_OK) s = replace_finish(f, synced, &placed);
    if (s == REEF_IO) reason_copy(reason, f->reason);
    if (!placed && f->file != DISK_NONE) (void)reef__disk_remove(f->temporary); /* while it is locked */
    if (placed && keep) {
        reef__disk_close(f->folder);
        f->folder = DISK_NONE;
        *keep = f;
        return s;
    }
    file_out_free(f);
    return s;
}

COLD reef_status reef_file_replace(const char *path, bool synced,
                                   reef_status (*produce)(void *context, reef_writer writer), void *context,
                                   char *reason)
{
    memory m;
    reason_copy(reason, "");
    if (path == NULL || produce == NULL) return REEF_BAD_ARGUMENT;
    if (!reef__memory_make(&m, &reef__memory_standard)) return REEF_NO_MEMORY;
    reef_status s = reef__file_replace(&m, path, synced, produce, context, NULL, reason);
    reef__memory_drop(&m);
    return s;
}

/* ---- appending ---- */

COLD static reef_status append_open(file_out *f, const char *path, uint64_t length, const file_in *read)
{
    int error = reef__disk_target(path, f->path);
    if (error) return file_failed(f, "readlink", path, error);
    if ((error = reef__disk_open_write(f->path, false, 0, &f->file)) != 0)
        return file_failed(f, "open", f->path, error);
    if ((error = reef__disk_look_into(f->file, &f->look)) != 0) return file_failed(f, "stat", f->path, error);
    const disk_look now = f->look;
    if (read && (now.device != read->look.device || now.number != read->look.number || now.size != read->look.size))
        return file_failed(f, "appending to the end", f->path, DISK_CHANGED);
    if (now.size < length) return file_failed(f, "appending to the end", f->path, DISK_SHORTER);
    if (now.size > length && (error = reef__disk_truncate(f->file, length)) != 0)
        return file_failed(f, "truncate", f->path, error);
    f->settled = f->end = length;
    return REEF_OK;
}

COLD reef_status reef__file_append_open(memory *m, const char *path, uint64_t length, const file_in *read,
                                        file_out **out, char *reason)
{
    *out = NULL;
    reason_copy(reason, "");
    file_out *f = file_out_make(m);
    if (f == NULL) return REEF_NO_MEMORY;
    reef_status s = append_open(f, path, length, read);
    if (s == REEF_OK) {
        *out = f;
        return s;
    }
    reason_copy(reason, f->reason);
    file_out_free(f);
    return s;
}

reef_writer reef__file_append_writer(file_out *f) { return (reef_writer){file_write, f}; }

reef_status reef__file_append_commit(file_out *f, bool synced, char *reason)
{
    int error;
    reason_copy(reason, "");
    if (f->unknown) (void)file_failed(f, "appending to the end", f->path, DISK_UNKNOWN);
    reef_status s = file_flush(f);
    if (s == REEF_OK && synced && (error = reef__disk_sync(f->file)) != 0) {
        s = file_failed(f, "fsync", f->path, error);
        f->unknown = true;
    }
    if (s != REEF_OK) {
        reason_copy(reason, f->reason);
        reef__file_append_undo(f);
        return s;
    }
    f->settled = f->end;
    return REEF_OK;
}

void reef__file_append_undo(file_out *f)
{
    f->buffered = 0;
    /* A failed write may have left bytes behind `end`. */
    if ((f->failed || f->end > f->settled) && reef__disk_truncate(f->file, f->settled) != 0) f->unknown = true;
    f->end = f->settled;
    f->failed = false;
}

reef_status reef__file_append_named(const file_out *f, char *reason)
{
    disk_look named;
    int error = reef__disk_look_at(f->path, &named);
    if (error) return reef__file_say(reason, "stat", f->path, error), REEF_IO;
    if (!named.exists) error = DISK_GONE;
    else if (named.device != f->look.device || named.number != f->look.number) error = DISK_REPLACED;
    if (error) return reef__file_say(reason, "appending to the end", f->path, error), REEF_IO;
    return REEF_OK;
}

bool reef__file_append_unknown(const file_out *f) { return f->unknown; }
uint64_t reef__file_append_length(const file_out *f) { return f->settled; }

void reef__file_append_close(file_out *f)
{
    if (f == NULL) return;
    reef__file_append_undo(f);
    file_out_free(f);
}

/* ---- reading ---- */

COLD reef_status reef__file_in_open(memory *m, const char *path, file_in **in, char *reason)
{
    *in = NULL;
    reason_copy(reason, "");
    file_in *f = reef__memory_resize(m, MEMORY_OTHER, NULL, 0, sizeof *f, PLAIN_ALIGN);
    if (f == NULL) return REEF_NO_MEMORY;
    memset(f, 0, offsetof(file_in, buffer));
    f->memory = m;
    (void)snprintf(f->path, sizeof f->path, "%s", path);
    int error = reef__disk_open_read(path, &f->file);
    if (error) reef__file_say(f->reason, "open", path, error);
    else if ((error = reef__disk_look_into(f->file, &f->look)) != 0) reef__file_say(f->reason, "stat", path, error);
    if (!error) {
        *in = f;
        return REEF_OK;
    }
    reason_copy(reason, f->reason);
    reef__file_in_close(f);
    return REEF_IO;
}

uint64_t reef__file_in_size(const file_in *in) { return in->look.plain ? in->look.size : UINT64_MAX; }

static reef_status file_fetch(file_in *f, void *bytes, size_t count, size_t *got)
{
    int error = reef__disk_read(f->file, bytes, count, got);
    if (error) reef__file_say(f->reason, "read", f->path, error);
    return error ? REEF_IO : REEF_OK;
}

static reef_status file_read_into(void *context, void *bytes, size_t count, size_t *got)
{
    file_in *f = context;
    reef_status s = REEF_OK;
    size_t more = 0;
    for (*got = 0; *got < count && s == REEF_OK;) {
        size_t part = f->filled - f->at < count - *got ? f->filled - f->at : count - *got;
        if (part) memcpy((char *)bytes + *got, f->buffer + f->at, part);
        f->at += part;
        *got += part;
        if (*got == count) break;
        if (count - *got >= FILE_AHEAD) { /* the buffer is empty, so the read can go past it */
            s = file_fetch(f, (char *)bytes + *got, count - *got, &more);
            *got += more;
            break;
        }
        f->at = 0;
        s = file_fetch(f, f->buffer, FILE_AHEAD, &f->filled);
        if (f->filled == 0) break;
    }
    return s;
}

reef_reader reef__file_in_reader(file_in *in) { return (reef_reader){file_read_into, in}; }
const char *reef__file_in_reason(const file_in *in) { return in->reason; }

COLD void reef__file_in_close(file_in *in)
{
    if (in == NULL) return;
    reef__disk_close(in->file);
    reef__memory_free(in->memory, MEMORY_OTHER, in, sizeof *in);
}
