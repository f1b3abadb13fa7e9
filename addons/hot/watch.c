/* Has the file at a path been replaced? On Linux inotify tells, which costs one read that answers EAGAIN; it watches
 * the folder, since compilers and build systems put a new file in the place of the old one. Elsewhere, and if the
 * folder itself was replaced, the time, size and number of the file are compared. */
#include "hot.h"
#include <stdio.h>
#include <string.h>
#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/stat.h>
#endif
#if defined(__linux__)
#include <sys/inotify.h>
#include <unistd.h>
#endif

/* Time, size and number of the file; nothing where it isn't there. A build may take less than a second, so whole
 * seconds aren't enough. */
#if defined(_WIN32)
static void file_look(const char *path, uint64_t now[3])
{
    WIN32_FILE_ATTRIBUTE_DATA s;
    if (!GetFileAttributesExA(path, GetFileExInfoStandard, &s)) return;
    now[0] = (uint64_t)s.ftLastWriteTime.dwHighDateTime << 32 | s.ftLastWriteTime.dwLowDateTime;
    now[1] = (uint64_t)s.nFileSizeHigh << 32 | s.nFileSizeLow;
}
#else
static void file_look(const char *path, uint64_t now[3])
{
    struct stat s;
    if (stat(path, &s) != 0) return;
#if defined(__APPLE__)
    now[0] = (uint64_t)s.st_mtimespec.tv_sec * 1000000000u + (uint64_t)s.st_mtimespec.tv_nsec;
#else
    now[0] = (uint64_t)s.st_mtim.tv_sec * 1000000000u + (uint64_t)s.st_mtim.tv_nsec;
#endif
    now[1] = (uint64_t)s.st_size;
    now[2] = (uint64_t)s.st_ino;
}
#endif

/* Looks at the file itself. */
static bool file_differs(hot_watch *x)
{
    uint64_t now[3] = {0, 0, 0};
    file_look(x->path, now);
    const bool differs = memcmp(x->seen, now, sizeof now) != 0;
    memcpy(x->seen, now, sizeof now);
    return differs && now[1] != 0;
}

#if defined(__linux__)
static bool watch_ready(hot_watch *x)
{
    if (x->queue >= 0 && x->watch < 0) x->watch = inotify_add_watch(x->queue, x->folder, IN_CLOSE_WRITE | IN_MOVED_TO);
    return x->watch >= 0;
}

/* Takes all messages. */
static bool queue_read(hot_watch *x)
{
    union {
        struct inotify_event event; /* for its alignment */
        char bytes[4096];
    } room;
    bool told = false;
    ssize_t got;
    while ((got = read(x->queue, room.bytes, sizeof room.bytes)) > 0) {
        for (const char *at = room.bytes; at < room.bytes + got;) {
            const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
            told |= e->len && strcmp(e->name, x->name) == 0;
            told |= (e->mask & (IN_Q_OVERFLOW | IN_IGNORED)) != 0;
            if (e->mask & IN_IGNORED) x->watch = -1;
            at += sizeof *e + e->len;
        }
    }
    return told;
}
#endif

bool hot_watch_begin(hot_watch *x, const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash - path) : 0;
    const char *name = slash ? slash + 1 : path;
    *x = (hot_watch){.queue = -1, .watch = -1};
    if (strlen(path) >= sizeof x->path || strlen(name) >= sizeof x->name || name[0] == 0) return false;
    (void)snprintf(x->path, sizeof x->path, "%s", path);
    (void)snprintf(x->name, sizeof x->name, "%s", name);
    if (slash == NULL) (void)snprintf(x->folder, sizeof x->folder, ".");
    else (void)snprintf(x->folder, sizeof x->folder, "%.*s", (int)(folder ? folder : 1), path);
#if defined(__linux__)
    x->queue = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    (void)watch_ready(x);
#endif
    (void)file_differs(x);
    return true;
}

bool hot_watch_changed(hot_watch *x)
{
#if defined(__linux__)
    if (x->watch >= 0) {
        const bool told = queue_read(x);
        if (told) (void)file_differs(x);
        return told;
    }
    (void)watch_ready(x);
#endif
    return file_differs(x);
}

void hot_watch_end(hot_watch *x)
{
#if defined(__linux__)
    if (x->queue >= 0) (void)close(x->queue);
#endif
    x->queue = -1;
}
