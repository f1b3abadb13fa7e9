/* The system's calls for files behind one small contract, for POSIX and for Windows. Only src/base/os_file.c knows
 * descriptors.
 *
 * Every function that can fail answers 0, an error number of the system, or one of reef's own numbers below, which
 * reef__disk_error_text explains. A call that a signal interrupts, or a write that takes less than it was given, is no
 * failure: the function continues. */
#ifndef REEF_BASE_OS_FILE_H
#define REEF_BASE_OS_FILE_H

#include "base/platform.h"

enum {
    DISK_PATH_MAX = 4096, /* with the zero at its end */
    DISK_LOCK_WAIT_MS = 1000,
    /* reef's own errors, beside those of the system */
    DISK_HELD = -1,      /* another holder writes this file */
    DISK_NOT_PLAIN = -2, /* it is a folder, a device or a pipe */
    DISK_LONG_NAME = -3,
    DISK_SHORTER = -4,  /* the file is shorter than it must be */
    DISK_UNKNOWN = -5,  /* nobody knows what has reached the disk */
    DISK_CHANGED = -6,  /* somebody else changed the file */
    DISK_REPLACED = -7, /* the name leads to another file now */
    DISK_GONE = -8      /* the name leads to no file any more */
};

typedef intptr_t disk_file; /* a descriptor, or a HANDLE */
#define DISK_NONE ((disk_file)-1)

typedef struct disk_look {
    bool exists, plain;
    uint32_t mode; /* permissions */
    uint64_t size;
    uint64_t device, number; /* identify a file: two looks with equal numbers saw the same file */
} disk_look;

/* Finds the file that `path` means. Symbolic links in its last name are followed; the file needn't exist. `target` has
 * room for DISK_PATH_MAX bytes. */
int reef__disk_target(const char *path, char *target);
/* Looks at a file by its path, or at an open file. A file that doesn't exist is no error: `exists` is false. */
int reef__disk_look_at(const char *path, disk_look *seen);
int reef__disk_look_into(disk_file f, disk_look *seen);

int reef__disk_open_read(const char *path, disk_file *f);
/* Opens a file for writing and keeps its content. With `create` a file that doesn't exist is made, with this mode.
 * Whoever opens a file this way holds it until it is closed: a second one waits for DISK_LOCK_WAIT_MS and then gets
 * DISK_HELD. (The file of a process that was killed may be held for that long.) The opened file is the one that has
 * this name now, and it is a plain file, no link. Where the file system has no locks, nobody is held off. */
int reef__disk_open_write(const char *path, bool create, uint32_t mode, disk_file *f);
int reef__disk_set_mode(disk_file f, uint32_t mode);
/* Opens the folder of a file, for reef__disk_sync_name. It is DISK_NONE where folders can't be synced. */
int reef__disk_open_folder(const char *path, disk_file *folder);
/* Reports the errors that a file system reports only when a file is closed. The file stays open and held. */
int reef__disk_check(disk_file f);
/* Closes a file. After reef__disk_sync or reef__disk_check no error of closing matters. DISK_NONE is allowed. */
void reef__disk_close(disk_file f);

/* *got is less than count only at the end of the file */
int reef__disk_read(disk_file f, void *bytes, size_t count, size_t *got);
int reef__disk_write(disk_file f, uint64_t offset, const void *bytes, size_t count);
int reef__disk_truncate(disk_file f, uint64_t length);
/* Waits until content and length are on the disk. After a failure nobody knows which part has reached the disk, and a
 * second call may answer 0 all the same. */
int reef__disk_sync(disk_file f);
/* Waits until the name of the open file f is on the disk. */
int reef__disk_sync_name(disk_file folder, disk_file f);
int reef__disk_rename(const char *from, const char *to); /* replaces `to` in one step */
int reef__disk_remove(const char *path);

/* Writes what an error number means, in the words of the system. */
void reef__disk_error_text(int error, char *text, size_t size);

#endif
