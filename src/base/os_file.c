/* Files of the operating system: src/base/os_file.h says what the calls promise. The Windows half has only been run
 * under wine (docs/rules/platforms.md).
 *
 * A writer holds its file by flock. Such a lock belongs to the open file, not to the process: two threads hold each
 * other off as well, the lock goes when the process is killed, and closing another descriptor of the file doesn't
 * release it (as it does with the locks of fcntl). */
#define _DEFAULT_SOURCE /* flock, fsync and pwrite, which -std=c11 hides */
#if !defined(__LP64__)
#define _FILE_OFFSET_BITS 64
#endif
#include "base/os_file.h"
#include <stdio.h>

#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DISK_LINKS_MAX = 40, DISK_PART_MAX = 1 << 30, DISK_LOCK_STEP_MS = 5 };

/* Repeats a call while signals interrupt it. */
#define UNINTERRUPTED(result, call) \
    do { \
        (result) = (call); \
    } while ((result) < 0 && errno == EINTR)

/* Bytes of the folder's part of a path, with its last slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

COLD int reef__disk_target(const char *path, char *target)
{
    size_t length = strlen(path);
    if (length >= DISK_PATH_MAX) return DISK_LONG_NAME;
    memcpy(target, path, length + 1);
    for (int links = 0; links < DISK_LINKS_MAX; links++) {
        char link[DISK_PATH_MAX];
        ssize_t got = readlink(target, link, sizeof link);
        if (got < 0) return errno == EINVAL || errno == ENOENT ? 0 : errno; /* it is no link */
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

COLD int reef__disk_look_at(const char *path, disk_look *seen)
{
    struct stat s;
    memset(seen, 0, sizeof *seen);
    if (stat(path, &s) < 0) return errno == ENOENT ? 0 : errno;
    look_from(&s, seen);
    return 0;
}

COLD int reef__disk_look_into(disk_file f, disk_look *seen)
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

COLD int reef__disk_open_read(const char *path, disk_file *f) { return opened(path, O_RDONLY, 0, f); }

static int lock_wait(int fd)
{
    const struct timespec step = {0, DISK_LOCK_STEP_MS * 1000000L};
    for (int waited = 0;; waited += DISK_LOCK_STEP_MS) {
        int result;
        UNINTERRUPTED(result, flock(fd, LOCK_EX | LOCK_NB));
        if (result == 0 || errno != EWOULDBLOCK) return 0; /* where there are no locks, the file is simply written */
        if (waited >= DISK_LOCK_WAIT_MS) return DISK_HELD;
        (void)nanosleep(&step, NULL);
    }
}

/* *same: the file still has this name. Whoever held it while we waited may have renamed it. */
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

COLD int reef__disk_open_write(const char *path, bool create, uint32_t mode, disk_file *f)
{
    for (;;) {
        /* O_NONBLOCK, so that opening a pipe doesn't wait */
        int error = opened(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | (create ? O_CREAT : 0), mode, f);
        if (error) return error;
        bool same = false;
        error = lock_wait((int)*f);
        if (!error) error = is_named((int)*f, path, &same);
        if (!error && same) return 0;
        reef__disk_close(*f);
        *f = DISK_NONE;
        if (error) return error;
    }
}

COLD int reef__disk_set_mode(disk_file f, uint32_t mode) { return fchmod((int)f, (mode_t)mode) < 0 ? errno : 0; }

COLD int reef__disk_open_folder(const char *path, disk_file *folder)
{
    char name[DISK_PATH_MAX];
    size_t length = folder_length(path);
    memcpy(name, path, length);
    memcpy(name + length, ".", 2); /* "/a/." is /a */
    return opened(name, O_RDONLY | O_DIRECTORY, 0, folder);
}

COLD int reef__disk_check(disk_file f)
{
#if defined(__wasi__) /* it has no second descriptor for a file, and no locks that closing would give up */
    (void)f;
    return 0;
#else
    /* A network file system reports errors of writing at every close, and the second descriptor keeps the lock. */
    int second = dup((int)f);
    if (second < 0) return errno;
    return close(second) < 0 && errno != EINTR ? errno : 0;
#endif
}

COLD void reef__disk_close(disk_file f)
{
    if (f != DISK_NONE) (void)close((int)f); /* no second try after EINTR: the descriptor is closed then */
}

int reef__disk_read(disk_file f, void *bytes, size_t count, size_t *got)
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

int reef__disk_write(disk_file f, uint64_t offset, const void *bytes, size_t count)
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

COLD int reef__disk_truncate(disk_file f, uint64_t length)
{
    int result;
    if (length > INT64_MAX) return EFBIG;
    UNINTERRUPTED(result, ftruncate((int)f, (off_t)length));
    return result < 0 ? errno : 0;
}

COLD int reef__disk_sync(disk_file f)
{
    int result;
#if defined(__APPLE__)
    UNINTERRUPTED(result, fcntl((int)f, F_FULLFSYNC)); /* on this system fsync ends at the cache of the drive */
    if (result == 0) return 0;
#endif
    UNINTERRUPTED(result, fsync((int)f));
    return result < 0 ? errno : 0;
}

COLD int reef__disk_sync_name(disk_file folder, disk_file f)
{
    (void)f;
    if (folder == DISK_NONE) return 0;
    int error = reef__disk_sync(folder);
    return error == EINVAL || error == ENOTSUP ? 0 : error; /* the file system can't sync folders */
}

COLD int reef__disk_rename(const char *from, const char *to) { return rename(from, to) < 0 ? errno : 0; }
COLD int reef__disk_remove(const char *path) { return unlink(path) < 0 ? errno : 0; }

#else /* ---- Windows ---- */

/* Paths are UTF-8, as everywhere in reef; the system's own calls take UTF-16. The conversion refuses a path that isn't
 * valid UTF-8. */
#define DISK_HANDLE(f) ((HANDLE)(f))
#define DISK_SHARED (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

enum { DISK_PART_MAX = 1 << 30, DISK_LOCK_STEP_MS = 5 };

static int last_error(void) { return (int)GetLastError(); }

/* `wide` has room for DISK_PATH_MAX units, which is enough: no text has more units than bytes. */
static int widened(const char *path, wchar_t *wide)
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, DISK_PATH_MAX) ? 0 : last_error();
}

static int opened(const char *path, DWORD access, DWORD shared, DWORD how, DWORD flags, disk_file *f)
{
    wchar_t wide[DISK_PATH_MAX];
    int error = widened(path, wide);
    *f = error ? DISK_NONE : (disk_file)CreateFileW(wide, access, shared, NULL, how, flags, NULL);
    return error ? error : *f == DISK_NONE ? last_error() : 0;
}

COLD int reef__disk_target(const char *path, char *target)
{
    const size_t length = strlen(path);
    if (length >= DISK_PATH_MAX) return DISK_LONG_NAME;
    memcpy(target, path, length + 1);
    return 0;
}

COLD int reef__disk_look_into(disk_file f, disk_look *seen)
{
    BY_HANDLE_FILE_INFORMATION i;
    memset(seen, 0, sizeof *seen);
    seen->exists = true;
    if (GetFileType(DISK_HANDLE(f)) != FILE_TYPE_DISK) return 0;
    if (!GetFileInformationByHandle(DISK_HANDLE(f), &i)) return last_error();
    seen->plain = !(i.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE));
    seen->size = (uint64_t)i.nFileSizeHigh << 32 | i.nFileSizeLow;
    seen->device = i.dwVolumeSerialNumber;
    seen->number = (uint64_t)i.nFileIndexHigh << 32 | i.nFileIndexLow;
    return 0;
}

/* FILE_FLAG_BACKUP_SEMANTICS opens folders as well. */
COLD int reef__disk_look_at(const char *path, disk_look *seen)
{
    disk_file f;
    memset(seen, 0, sizeof *seen);
    int error = opened(path, FILE_READ_ATTRIBUTES, DISK_SHARED, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, &f);
    if (error) return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ? 0 : error;
    error = reef__disk_look_into(f, seen);
    reef__disk_close(f);
    return error;
}

COLD int reef__disk_open_read(const char *path, disk_file *f)
{
    return opened(path, GENERIC_READ, DISK_SHARED, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, f);
}

/* Whoever opens without FILE_SHARE_WRITE is the only writer. A folder is recognised afterwards, since the system only
 * says "denied". */
COLD int reef__disk_open_write(const char *path, bool create, uint32_t mode, disk_file *f)
{
    disk_look seen;
    int error;
    (void)mode;
    for (int waited = 0;; waited += DISK_LOCK_STEP_MS) {
        error = opened(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, create ? OPEN_ALWAYS : OPEN_EXISTING,
                       FILE_ATTRIBUTE_NORMAL, f);
        if (error != ERROR_SHARING_VIOLATION) break;
        if (waited >= DISK_LOCK_WAIT_MS) return DISK_HELD;
        Sleep(DISK_LOCK_STEP_MS);
    }
    if (error == ERROR_ACCESS_DENIED && reef__disk_look_at(path, &seen) == 0 && seen.exists && !seen.plain)
        return DISK_NOT_PLAIN;
    if (error) return error;
    error = reef__disk_look_into(*f, &seen);
    if (!error && seen.plain) return 0;
    reef__disk_close(*f);
    *f = DISK_NONE;
    return error ? error : DISK_NOT_PLAIN;
}

COLD int reef__disk_set_mode(disk_file f, uint32_t mode) { return (void)f, (void)mode, 0; }

COLD int reef__disk_open_folder(const char *path, disk_file *folder)
{
    (void)path;
    *folder = DISK_NONE; /* syncing a file syncs its name as well */
    return 0;
}

COLD int reef__disk_check(disk_file f) { return (void)f, 0; }

COLD void reef__disk_close(disk_file f)
{
    if (f != DISK_NONE) (void)CloseHandle(DISK_HANDLE(f));
}

int reef__disk_read(disk_file f, void *bytes, size_t count, size_t *got)
{
    for (*got = 0; *got < count;) {
        DWORD done, part = count - *got < DISK_PART_MAX ? (DWORD)(count - *got) : DISK_PART_MAX;
        if (!ReadFile(DISK_HANDLE(f), (char *)bytes + *got, part, &done, NULL))
            return GetLastError() == ERROR_BROKEN_PIPE ? 0 : last_error();
        if (done == 0) break;
        *got += done;
    }
    return 0;
}

int reef__disk_write(disk_file f, uint64_t offset, const void *bytes, size_t count)
{
    if (offset > (uint64_t)INT64_MAX - count) return ERROR_FILE_TOO_LARGE;
    for (size_t written = 0; written < count;) {
        DWORD done, part = count - written < DISK_PART_MAX ? (DWORD)(count - written) : DISK_PART_MAX;
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

COLD int reef__disk_truncate(disk_file f, uint64_t length)
{
    LARGE_INTEGER to;
    if (length > INT64_MAX) return ERROR_FILE_TOO_LARGE;
    to.QuadPart = (LONGLONG)length;
    return SetFilePointerEx(DISK_HANDLE(f), to, NULL, FILE_BEGIN) && SetEndOfFile(DISK_HANDLE(f)) ? 0 : last_error();
}

COLD int reef__disk_sync(disk_file f) { return FlushFileBuffers(DISK_HANDLE(f)) ? 0 : last_error(); }
COLD int reef__disk_sync_name(disk_file folder, disk_file f) { return (void)folder, reef__disk_sync(f); }

/* Renames as POSIX does: `to` may be open, by this process or by another one, which goes on reading the old file.
 * Windows 10 (1607) and later can do this. */
static bool rename_over_open(const wchar_t *from, const wchar_t *to)
{
    /* FileRenameInfoEx and its flags, which older headers don't have */
    enum { INFO_EX = 22, REPLACE_IF_EXISTS = 1, POSIX_SEMANTICS = 2 };
    union {
        FILE_RENAME_INFO info;
        char room[sizeof(FILE_RENAME_INFO) + DISK_PATH_MAX * sizeof(wchar_t)];
    } x;
    wchar_t full[DISK_PATH_MAX];
    const DWORD length = GetFullPathNameW(to, DISK_PATH_MAX, full, NULL);
    if (length == 0 || length >= DISK_PATH_MAX) return false;
    const size_t bytes = (length + 1) * sizeof(wchar_t);
    const DWORD flags = REPLACE_IF_EXISTS | POSIX_SEMANTICS;
    memset(&x.info, 0, sizeof x.info);
    memcpy(&x.info, &flags, sizeof flags); /* where older headers have ReplaceIfExists */
    x.info.FileNameLength = (DWORD)(bytes - sizeof(wchar_t));
    memcpy(x.room + offsetof(FILE_RENAME_INFO, FileName), full, bytes);
    HANDLE f = CreateFileW(from, DELETE | SYNCHRONIZE, DISK_SHARED, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (f == INVALID_HANDLE_VALUE) return false;
    const bool done = SetFileInformationByHandle(f, (FILE_INFO_BY_HANDLE_CLASS)INFO_EX, &x, sizeof x);
    (void)CloseHandle(f);
    return done;
}

/* For systems without that call: the old file is first renamed to a name of its own. A crash in between leaves both
 * files, but none under the name `to`. */
static bool rename_by_turns(const wchar_t *from, const wchar_t *to)
{
    static const wchar_t suffix[] = L".reef-old";
    wchar_t old[DISK_PATH_MAX + sizeof suffix / sizeof suffix[0]];
    const size_t length = wcslen(to);
    memcpy(old, to, length * sizeof *to);
    memcpy(old + length, suffix, sizeof suffix);
    if (!MoveFileExW(to, old, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return false;
    const bool done = MoveFileExW(from, to, MOVEFILE_WRITE_THROUGH);
    if (done) (void)DeleteFileW(old); /* the system removes it when nobody has it open any more */
    else (void)MoveFileExW(old, to, MOVEFILE_WRITE_THROUGH);
    return done;
}

COLD int reef__disk_rename(const char *from, const char *to)
{
    wchar_t wide_from[DISK_PATH_MAX], wide_to[DISK_PATH_MAX];
    int error = widened(from, wide_from);
    if (!error) error = widened(to, wide_to);
    if (error) return error;
    if (MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return 0;
    error = last_error();
    if (error != ERROR_ACCESS_DENIED && error != ERROR_SHARING_VIOLATION) return error;
    const DWORD kind = GetFileAttributesW(wide_to);
    if (kind == INVALID_FILE_ATTRIBUTES || kind & FILE_ATTRIBUTE_DIRECTORY) return error;
    return rename_over_open(wide_from, wide_to) || rename_by_turns(wide_from, wide_to) ? 0 : error;
}

COLD int reef__disk_remove(const char *path)
{
    wchar_t wide[DISK_PATH_MAX];
    const int error = widened(path, wide);
    return error ? error : DeleteFileW(wide) ? 0 : last_error();
}

static void system_error_text(int error, char *text, size_t size)
{
    wchar_t wide[256];
    const DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, (DWORD)error,
                                        0, wide, 256, NULL);
    if (length == 0 || !WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, (int)size, NULL, NULL))
        (void)snprintf(text, size, "error %d", error);
    text[strcspn(text, "\r\n")] = 0;
}

#endif

COLD void reef__disk_error_text(int error, char *text, size_t size)
{
    static const char *const own[] = {"",
                                      "it is open for writing elsewhere",
                                      "it isn't a plain file",
                                      "the name is too long",
                                      "it is shorter than it was",
                                      "it isn't known what reached the disk",
                                      "it was changed by something else",
                                      "another file has its name now",
                                      "it no longer exists"};
    if (error < 0) {
        (void)snprintf(text, size, "%s", error >= DISK_GONE ? own[-error] : "");
        return;
    }
#if defined(_WIN32)
    system_error_text(error, text, size);
#else
    /* safe for several threads: the numbers are those that the system knows */
    (void)snprintf(text, size, "%s", strerror(error));
#endif
}
