/* The system's calls for files behind one small contract: POSIX, and Windows. Only src/base/os_file.c knows
 * descriptors.
 *
 * Every function that can fail answers 0, a number of the system, or one of our own, which reef__disk_error_text
 * explains. An interruption by a signal and a write that took less than it was given aren't failures: they are gone
 * on with. */
#ifndef REEF_BASE_OS_FILE_H
#define REEF_BASE_OS_FILE_H

#include "base/platform.h"

enum {
    DISK_PATH_MAX = 4096, /* with the zero at its end */
    DISK_LOCK_WAIT_MS = 1000,
    /* errors beside the system's */
    DISK_HELD = -1,      /* another holder writes this file */
    DISK_NOT_PLAIN = -2, /* a folder, a device, a pipe */
    DISK_LONG_NAME = -3,
    DISK_SHORTER = -4,  /* than it must be */
    DISK_UNKNOWN = -5,  /* what reached the disk */
    DISK_CHANGED = -6,  /* by somebody else */
    DISK_REPLACED = -7, /* the name leads to another file now */
    DISK_GONE = -8      /* or to none */
};

typedef intptr_t disk_file; /* a descriptor, or a HANDLE */
#define DISK_NONE ((disk_file)-1)

typedef struct disk_look {
    bool exists, plain;
    uint32_t mode; /* permissions */
    uint64_t size;
    uint64_t device, number; /* the same for two looks: it was the same file */
} disk_look;

/* What `path` means: symbolic links in its last name are followed, to a file that needn't exist. `target` has room
 * for DISK_PATH_MAX bytes. */
int reef__disk_target(const char *path, char *target);
/* A file that isn't there is no error. */
int reef__disk_look_at(const char *path, disk_look *seen);
int reef__disk_look_into(disk_file f, disk_look *seen);

int reef__disk_open_read(const char *path, disk_file *f);
/* For writing, kept as it is; `create`: made, with this mode, where it isn't there. Whoever opens a file so holds it
 * until he closes it: the second one waits for DISK_LOCK_WAIT_MS and is then told DISK_HELD (a process that was
 * killed may take that long to go). What was opened is what has this name now, a plain file and no link. Where the
 * file system has no locks, nobody is held off. */
int reef__disk_open_write(const char *path, bool create, uint32_t mode, disk_file *f);
int reef__disk_set_mode(disk_file f, uint32_t mode);
/* The folder that has the name, for reef__disk_sync_name. DISK_NONE where folders aren't synced. */
int reef__disk_open_folder(const char *path, disk_file *folder);
/* Says what a file system tells only to who closes; the file stays open and held. */
int reef__disk_settle(disk_file f);
/* After reef__disk_sync or reef__disk_settle a close has nothing to say that matters. DISK_NONE is allowed. */
void reef__disk_close(disk_file f);

int reef__disk_read(disk_file f, void *bytes, size_t count, size_t *got); /* fewer only at the end */
int reef__disk_write(disk_file f, uint64_t offset, const void *bytes, size_t count);
int reef__disk_truncate(disk_file f, uint64_t length);
/* Waits until content and length are on the disk. After a failure nobody knows which part is: a second call may
 * answer 0 all the same. */
int reef__disk_sync(disk_file f);
/* Waits until the name is on the disk that was given to f, which is open. */
int reef__disk_sync_name(disk_file folder, disk_file f);
int reef__disk_rename(const char *from, const char *to); /* replaces `to` in one step */
int reef__disk_remove(const char *path);

/* What is wrong, as the system says it. */
void reef__disk_error_text(int error, char *text, size_t size);

#endif
