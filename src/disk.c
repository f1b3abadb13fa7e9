/* See disk.h. The Windows half follows the manuals and was never run.
 *
 * A writer holds its file by flock, whose locks belong to the open file, not to the process: two threads hold each other off too, the
 * lock goes when the process is killed, and closing some other descriptor doesn't release it (as it does with the locks of fcntl). */
#define _DEFAULT_SOURCE /* flock, fsync and pwrite beside -std=c11 */
#if !defined(__LP64__)
#define _FILE_OFFSET_BITS 64
#endif
#include "disk.h"
#include <stdio.h>

#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DISK_LINKS_MAX = 40, DISK_PART_MAX = 1 << 30, DISK_LOCK_STEP_MS = 5 };

/* A call again and again while signals interrupt it. */
#define UNINTERRUPTED(result, call) \
    do { \
        (result) = (call); \
    } while ((result) < 0 && errno == EINTR)

/* Bytes of the folder's part, with its last slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

COLD int disk_target(const char *path, char *target)
{
    size_t length = strlen(path);
    if (length >= DISK_PATH_MAX) return DISK_LONG_NAME;
    memcpy(target, path, length + 1);
    for (int links = 0; links < DISK_LINKS_MAX; links++) {
        char link[DISK_PATH_MAX];
        ssize_t got = readlink(target, link, sizeof link);
        if (got < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno; /* no link */
        size_t kept = got > 0 && link[0] == '/' ? 0 : folder_length(target);
        if (kept + (size_t)got >= DISK_PATH_MAX) return DISK_LONG_NAME;
        memcpy(target + kept, link, (size_t)got);
        target[kept + (size_t)got] = 0;
    }
    return ELOOP;
}

static void look_from(const struct stat *s, disk_look *seen)
{
    seen->exists = true;
    seen->plain = S_ISREG(s->st_mode);
    seen->mode = (uint32_t)s->st_mode & 0777;
    seen->size = s->st_size > 0 ? (uint64_t)s->st_size : 0;
    seen->device = (uint64_t)s->st_dev;
    seen->number = (uint64_t)s->st_ino;
}

COLD int disk_look_at(const char *path, disk_look *seen)
{
    struct stat s;
    memset(seen, 0, sizeof *seen);
    if (stat(path, &s) < 0) return errno == ENOENT ? 0 : errno;
    look_from(&s, seen);
    return 0;
}

COLD int disk_look_into(disk_file f, disk_look *seen)
{
    struct stat s;
    memset(seen, 0, sizeof *seen);
    if (fstat((int)f, &s) < 0) return errno;
    look_from(&s, seen);
    return 0;
}

static int opened(const char *path, int flags, uint32_t mode, disk_file *f)
{
    int fd;
    UNINTERRUPTED(fd, open(path, flags | O_CLOEXEC, (mode_t)mode));
    *f = fd;
    return fd < 0 ? errno : 0;
}

COLD int disk_open_read(const char *path, disk_file *f) { return opened(path, O_RDONLY, 0, f); }

static int lock_wait(int fd)
{
    const struct timespec step = {0, DISK_LOCK_STEP_MS * 1000000L};
    for (int waited = 0;; waited += DISK_LOCK_STEP_MS) {
        int result;
        UNINTERRUPTED(result, flock(fd, LOCK_EX | LOCK_NB));
        if (result == 0 || errno != EWOULDBLOCK) return 0; /* without locks we go on */
        if (waited >= DISK_LOCK_WAIT_MS) return DISK_HELD;
        (void)nanosleep(&step, NULL);
    }
}

/* *same: the file has this name still. Whoever held it while we waited may have renamed it. */
static int is_named(int fd, const char *path, bool *same)
{
    struct stat ours, named;
    *same = false;
    if (fstat(fd, &ours) < 0) return errno;
    if (!S_ISREG(ours.st_mode)) return DISK_NOT_PLAIN;
    if (stat(path, &named) < 0) return errno == ENOENT ? 0 : errno;
    *same = ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
    return 0;
}

COLD int disk_open_write(const char *path, bool create, uint32_t mode, disk_file *f)
{
    for (;;) {
        int error = opened(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | (create ? O_CREAT : 0), mode, f); /* a pipe doesn't make us wait */
        if (error) return error;
        bool same = false;
        error = lock_wait((int)*f);
        if (!error) error = is_named((int)*f, path, &same);
        if (!error && same) return 0;
        disk_close(*f);
        *f = DISK_NONE;
        if (error) return error;
    }
}

COLD int disk_set_mode(disk_file f, uint32_t mode) { return fchmod((int)f, (mode_t)mode) < 0 ? errno : 0; }

COLD int disk_open_folder(const char *path, disk_file *folder)
{
    char name[DISK_PATH_MAX];
    size_t length = folder_length(path);
    memcpy(name, path, length);
    memcpy(name + length, ".", 2); /* "/a/." is /a */
    return opened(name, O_RDONLY | O_DIRECTORY, 0, folder);
}

COLD int disk_settle(disk_file f)
{
    /* Network file systems write at every close of the file, and a second descriptor keeps the lock. */
    int second = dup((int)f);
    if (second < 0) return errno;
    return close(second) < 0 && errno != EINTR ? errno : 0;
}

COLD void disk_close(disk_file f)
{
    if (f != DISK_NONE) (void)close((int)f); /* not again after EINTR: it is closed */
}

int disk_read(disk_file f, void *bytes, size_t count, size_t *got)
{
    for (*got = 0; *got < count;) {
        size_t part = count - *got < DISK_PART_MAX ? count - *got : DISK_PART_MAX;
        ssize_t done;
        UNINTERRUPTED(done, read((int)f, (char *)bytes + *got, part));
        if (done < 0) return errno;
        if (done == 0) break;
        *got += (size_t)done;
    }
    return 0;
}

int disk_write(disk_file f, uint64_t offset, const void *bytes, size_t count)
{
    if (offset > (uint64_t)INT64_MAX - count) return EFBIG;
    for (size_t written = 0; written < count;) {
        size_t part = count - written < DISK_PART_MAX ? count - written : DISK_PART_MAX;
        ssize_t done;
        UNINTERRUPTED(done, pwrite((int)f, (const char *)bytes + written, part, (off_t)(offset + written)));
        if (done < 0) return errno;
        if (done == 0) return EIO;
        written += (size_t)done;
    }
    return 0;
}

COLD int disk_truncate(disk_file f, uint64_t length)
{
    int result;
    if (length > INT64_MAX) return EFBIG;
    UNINTERRUPTED(result, ftruncate((int)f, (off_t)length));
    return result < 0 ? errno : 0;
}

COLD int disk_sync(disk_file f)
{
    int result;
#if defined(__APPLE__)
    UNINTERRUPTED(result, fcntl((int)f, F_FULLFSYNC)); /* there fsync ends at the drive's cache */
    if (result == 0) return 0;
#endif
    UNINTERRUPTED(result, fsync((int)f));
    return result < 0 ? errno : 0;
}

COLD int disk_sync_folder(disk_file folder)
{
    if (folder == DISK_NONE) return 0;
    int error = disk_sync(folder);
    return error == EINVAL || error == ENOTSUP ? 0 : error; /* file systems that have no such thing */
}

COLD int disk_rename(const char *from, const char *to) { return rename(from, to) < 0 ? errno : 0; }
COLD int disk_remove(const char *path) { return unlink(path) < 0 ? errno : 0; }

#else /* ---- Windows ---- */

#include <windows.h>

#define DISK_HANDLE(f) ((HANDLE)(f))

static int last_error(void) { return (int)GetLastError(); }

int disk_target(const char *path, char *target)
{
    size_t length = strlen(path);
    if (length >= DISK_PATH_MAX) return DISK_LONG_NAME;
    memcpy(target, path, length + 1);
    return 0;
}

int disk_look_at(const char *path, disk_look *seen)
{
    WIN32_FILE_ATTRIBUTE_DATA data;
    memset(seen, 0, sizeof *seen);
    if (!GetFileAttributesExA(path, GetFileExInfoStandard, &data))
        return GetLastError() == ERROR_FILE_NOT_FOUND ? 0 : last_error();
    seen->exists = true;
    seen->plain = !(data.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE));
    seen->size = (uint64_t)data.nFileSizeHigh << 32 | data.nFileSizeLow;
    return 0;
}

int disk_look_into(disk_file f, disk_look *seen)
{
    LARGE_INTEGER size;
    memset(seen, 0, sizeof *seen);
    seen->exists = true;
    seen->plain = GetFileType(DISK_HANDLE(f)) == FILE_TYPE_DISK;
    if (!seen->plain) return 0;
    if (!GetFileSizeEx(DISK_HANDLE(f), &size)) return last_error();
    seen->size = (uint64_t)size.QuadPart;
    return 0;
}

int disk_open_read(const char *path, disk_file *f)
{
    *f = (disk_file)CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    return *f == DISK_NONE ? last_error() : 0;
}

/* Who opens without FILE_SHARE_WRITE is the only one who writes. */
int disk_open_write(const char *path, bool create, uint32_t mode, disk_file *f)
{
    (void)mode;
    for (DWORD waited = 0;; waited += 5) {
        *f = (disk_file)CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, create ? OPEN_ALWAYS : OPEN_EXISTING,
                                    FILE_ATTRIBUTE_NORMAL, NULL);
        if (*f != DISK_NONE) return 0;
        if (GetLastError() != ERROR_SHARING_VIOLATION) return last_error();
        if (waited >= DISK_LOCK_WAIT_MS) return DISK_HELD;
        Sleep(5);
    }
}

int disk_set_mode(disk_file f, uint32_t mode) { return (void)f, (void)mode, 0; }

int disk_open_folder(const char *path, disk_file *folder)
{
    (void)path;
    *folder = DISK_NONE; /* MOVEFILE_WRITE_THROUGH waits for the name */
    return 0;
}

int disk_settle(disk_file f) { return (void)f, 0; }

void disk_close(disk_file f)
{
    if (f != DISK_NONE) (void)CloseHandle(DISK_HANDLE(f));
}

int disk_read(disk_file f, void *bytes, size_t count, size_t *got)
{
    for (*got = 0; *got < count;) {
        DWORD done, part = count - *got < 1u << 30 ? (DWORD)(count - *got) : 1u << 30;
        if (!ReadFile(DISK_HANDLE(f), (char *)bytes + *got, part, &done, NULL)) return GetLastError() == ERROR_BROKEN_PIPE ? 0 : last_error();
        if (done == 0) break;
        *got += done;
    }
    return 0;
}

int disk_write(disk_file f, uint64_t offset, const void *bytes, size_t count)
{
    for (size_t written = 0; written < count;) {
        DWORD done, part = count - written < 1u << 30 ? (DWORD)(count - written) : 1u << 30;
        OVERLAPPED place;
        memset(&place, 0, sizeof place);
        place.Offset = (DWORD)(offset + written);
        place.OffsetHigh = (DWORD)((offset + written) >> 32);
        if (!WriteFile(DISK_HANDLE(f), (const char *)bytes + written, part, &done, &place)) return last_error();
        if (done == 0) return ERROR_WRITE_FAULT;
        written += done;
    }
    return 0;
}

int disk_truncate(disk_file f, uint64_t length)
{
    LARGE_INTEGER to;
    to.QuadPart = (LONGLONG)length;
    return SetFilePointerEx(DISK_HANDLE(f), to, NULL, FILE_BEGIN) && SetEndOfFile(DISK_HANDLE(f)) ? 0 : last_error();
}

int disk_sync(disk_file f) { return FlushFileBuffers(DISK_HANDLE(f)) ? 0 : last_error(); }
int disk_sync_folder(disk_file folder) { return (void)folder, 0; }

int disk_rename(const char *from, const char *to)
{
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ? 0 : last_error();
}

int disk_remove(const char *path) { return DeleteFileA(path) ? 0 : last_error(); }

#endif

COLD void disk_error_text(int error, char *text, size_t size)
{
    static const char *const own[] = {"", "somebody else has it open for writing", "it is no plain file", "the name is too long",
                                      "it is shorter than it was", "it isn't known what reached the disk", "somebody else has changed it",
                                      "another file has its name now", "it isn't there any more"};
    if (error < 0) {
        (void)snprintf(text, size, "%s", error >= DISK_GONE ? own[-error] : "");
        return;
    }
#if defined(_WIN32)
    if (!FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, (DWORD)error, 0, text, (DWORD)size, NULL))
        (void)snprintf(text, size, "error %d", error);
    text[strcspn(text, "\r\n")] = 0;
#else
    (void)snprintf(text, size, "%s", strerror(error)); /* several threads may ask for numbers that the system knows */
#endif
}
